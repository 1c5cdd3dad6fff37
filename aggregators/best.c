/* SPDX-License-Identifier: MIT */
/* best: radix again, with half of the bytes, and no branch that data decides.
 *
 * Idea
 *   radix pays for every row: 8 bytes of key to its part and back, 16 bytes of table, a probe whose end the processor
 *   cannot foresee. Each can be had for less. An entry of 8 bytes holds a hash and a count, because the hash is a
 *   bijection and the part's number need not be stored (packed_list_part.h). Neighbouring rows of one key become one
 *   entry, found 64 rows at a time; where there are few, this is left out, batch by batch. Tables never probe: the
 *   first key to come owns the slot, all others go on to a smaller table (packed_table_part.h). Keys are computed
 *   back when emitting. So keys are words: of a pair or a string, no hash of 8 bytes is a bijection.
 *
 * Layout
 *     hash(key) = pppppppppp rrrrrrrrrr....r         p: part, top 8 to 10 bits
 *     part p      chunk -> chunk -> chunk            8 KiB each, of entries rrrrrrrrrr....r cccccccccc (c: rows - 1)
 *     first       [r|c][r|c][ 0 ][r|c] ...           8 bytes a slot, half of L2 at most
 *     second      [r|c][r|c] ...                     half as many slots, for a fifth of the entries
 *     last        [key|count] ...                    linear probing, for a fiftieth
 *
 * Cost per row
 *   Partition: 13 instructions a row, or 10 with 2.5 rows in a run; the stores go to `parts` open lines, half of them
 *   in L1. Aggregate: 19 to 22 instructions an entry, all tables included (callgrind), and one line in L2. Bytes to
 *   memory and back: 8 an entry. Per part one scan of a table. Memory: 8 bytes an entry, at most the size of the
 *   input, and 2 MiB a worker.
 *
 * Where the slots should go
 *   Retiring about 40 %, memory-bound 25 to 40 %: what is left to wait for is L2, not memory.
 *
 * Try
 *   aggbench run synth:hits,rows=20M --aggregator naive,radix,best --pages huge
 *   aggbench run synth:hits,rows=20M,order=shuffled --aggregator best --sweep bits=6..12      (too many open lines)
 *
 * Where it stands: 100 million rows, 17.6 million groups, one Zen 4 core (3.6 GHz), huge pages, medians of 11
 * interleaved runs: hits order 0.259 s (partition 0.130, count 0.097, emit 0.031), shuffled 0.389 s (0.154, 0.203,
 * 0.031). By callgrind 31 instructions a row in hits order, all passes, and 0.02 mispredictions. What holds it up is
 * not instructions but stores that miss L1 and wait for L2. Partition, shuffled: 0.98 ns a row without the stores of
 * the entries, 1.28 with 256 open lines in cached memory, 1.58 with 1024, and no more when they go to DRAM. So
 * whatever else comes to L1 costs: rows fetched so that they leave it first took a tenth off the phase. Aggregate: one
 * store a row to a random slot of 256 KiB takes 1.03 ns whatever else is done, 0.34 in 8 KiB; the whole step of the
 * first table 1.61, misses 0.45, the rest is reading chunks and emitting. Less than that needs fewer stores that miss,
 * say, parts of neighbouring keys, as rows in hits order ascend within a segment. With two threads: 1.90 times faster
 * in hits order, 1.92 shuffled; nothing is shared but the memory's bandwidth. At the same share of groups a row took
 * 2.7 ns of 1 million rows in hits order, 2.4 of 10 million and 2.7 of 100 million.
 *
 * Tried and left out (ns a row or an entry in the phase, shuffled unless said, interleaved on that core):
 *     partition, before rows were fetched ahead           1.52     hits order, likewise                         1.27
 *     hashes eight at a time (AVX-512) by way of a buffer 1.58     runs compressed by AVX-512, then stored      1.46
 *     line fetched for writing 16 rows ahead              1.79     the same by AVX2 and a table                 1.64
 *     write-combining, streaming stores: 1 line a list    2.71     positions of runs first, then stored         1.44
 *         2 lines, 4 lines                      2.55 and  1.99
 *     blocks of 8192 rows sorted, then copied             2.38 to 2.78
 *     512 or 256 lists instead of 1024                    1.48 and 1.32, but aggregate +15 and +47 %
 *     first table, a miss appended at once                1.68     as it is: 1.61
 *     gather, compare and scatter eight at a time         1.61     misses packed by AVX-512: 1.49
 *     last key to come owns the slot, by a pass before    2.20     the same and counts apart: 2.21
 * Twice the slots, 0 %; half of them, aggregate +14 %. Of emitting, 31 ms of 100 million rows: streaming stores of
 * whole lines of the result, 34; the result's lines requested while the part before is counted, 26, but counting +6
 * to +12. Rows fetched 320 ahead instead of 128: 1 % slower. The loops inlined into one function, for want of
 * registers: the partition of shuffled rows +9 %, but once that of runs -7 %: worth another look. */
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
    .prediction = "retiring about 40 %, memory-bound 25 to 40 %: what is left to wait for is L2, not memory",
    .phases = exchange_phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = best_create,
    .consume = best_consume,
    .finish = best_finish,
    .destroy = best_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 6e6},
};
