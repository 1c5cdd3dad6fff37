/* SPDX-License-Identifier: MIT */
/* best: radix again, with half of the bytes, and no branch that data decides.
 *
 * Idea
 *   radix pays for every row: 8 bytes of key to its part and back, 16 bytes of table, a probe whose end the processor
 *   cannot foresee. Each can be had for less. An entry of 8 bytes holds a hash and a count, because the hash is a
 *   bijection and the part's number need not be stored (packed_list_part.h). Neighbouring rows of one key become one
 *   entry, found 64 rows at a time; where there are few, this is left out, batch by batch. Tables never probe: the
 *   first key to come owns the slot, all others go on to a smaller table (packed_table_part.h). Keys are computed
 *   back when emitting.
 *
 * Layout
 *     hash(key) = pppppppppp rrrrrrrrrr....r         p: part, top 8 to 10 bits
 *     part p      chunk -> chunk -> chunk            4 KiB each, of entries rrrrrrrrrr....r cccccccccc (c: rows - 1)
 *     first       [r|c][r|c][ 0 ][r|c] ...           8 bytes a slot, half of L2 at most
 *     second      [r|c][r|c] ...                     as many slots, for a fifth of the entries
 *     last        [key|count] ...                    linear probing, for a fiftieth
 *
 * Cost per row
 *   Partition: 13 instructions a row, or 10 with 2.5 rows in a run; the stores go to `parts` open lines, most of them
 *   in L1. Aggregate: 19 to 22 instructions an entry, all tables included (callgrind), and one line in L2. Bytes to
 *   memory and back: 8 an entry. Per part one scan of a table. Memory: 8 bytes an entry, at most the size of the
 *   input, and 2 MiB a worker.
 *
 * Where the slots should go
 *   Retiring above 50 %, memory-bound below 25 %: what is left is instructions, not waiting.
 *
 * Try
 *   aggbench run synth:hits,rows=20M --aggregator naive,radix,best --pages huge
 *   aggbench run synth:hits,rows=20M,order=shuffled --aggregator best --sweep bits=6..12      (too many open lines)
 *
 * Where it stands: 100 million rows, 17.6 million groups, one Zen 4 core, huge pages, CPU time against naive in the
 * same run: 10.7 times faster in hits order (0.29 s: partition 0.14, aggregate 0.15), 8.6 shuffled (0.45 s: 0.165,
 * 0.28). The partition phase hardly changes between 256 and 1024 parts, nor when its loop is unrolled: we take it to be
 * bound by writing and fetching 800 MB of chunks (not measured: this machine shows no counters). Streaming stores
 * would save the fetch, if full lines came without a branch.
 *
 * Tried and left out, in time of the phase on shuffled rows (gcc 12; the headers tell of more): 9 bits instead of 10,
 * aggregate +15 %; twice the slots, 0 %; half of them, +14 %; second half as large as the first, +4 %; prefetching the
 * chunks to be written, +1 %. */
#include "packed_exchange_part.h"

typedef struct best {
    agb_host *host;
    exchange exchange;
} best;

enum { BITS, SPLIT };
static const agb_param params[] = {
    {"bits", 0, 0, 12, "log2 of the number of parts, at least 4; 0: 8 to 10, as few as make a part's groups fit L2"},
    {"split", STANDARD_OVERSIZE, 0, 1024, "a part with more entries than so many full tables is split again"},
    {0},
};

static agb_status best_create(agb_host *host, const agb_config *config, void **out)
{
    best *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    unsigned bits = (unsigned)config->params[BITS];
    return exchange_open(&self->exchange, host, config, bits && bits < 4 ? 4 : bits, (size_t)config->params[SPLIT]);
}

static agb_status best_consume(void *state, unsigned worker, const agb_batch *batch)
{
    exchange *e = &((best *)state)->exchange;
    exchange_worker *w = &e->worker[worker];
    return packed_add_batch(&w->lists, &w->arena, &e->packing, batch) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status best_finish(void *state)
{
    return exchange_finish(&((best *)state)->exchange);
}

static void best_destroy(void *state)
{
    best *self = state;
    exchange_close(&self->exchange);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_best = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "best",
    .summary = "radix with packed entries, collapsed runs and first-come tables that never probe",
    .prediction = "retiring above 50 %, memory-bound below 25 %: what is left is instructions, not waiting",
    .phases = exchange_phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = best_create,
    .consume = best_consume,
    .finish = best_finish,
    .destroy = best_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 6e6},
};
