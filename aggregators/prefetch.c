/* SPDX-License-Identifier: MIT */
/* prefetch: the naive table, asked for a block of keys ahead of time.
 *
 * Idea
 *   naive waits for one cache line at a time although the core could have a dozen or more on their way. So hash the
 *   keys of the next `block` rows, request the line of each, and look a key up only when its line has had that long to
 *   arrive: the waits overlap. The block slides by one row at a time, so that a block of requests is always under way:
 *   on a Zen 4 that gained 2 times, emptying a block before the next is requested (group prefetching) 1.45 times.
 *   Chen, Ailamaki, Gibbons, Mowry, "Improving Hash Join Performance through Prefetching" (2004), have both.
 *
 * Layout
 *     keys    ... k7 | k8 ... k39 | k40 ...          looked up | requested: the block | not touched yet
 *     hashes  a ring of those of the block           stays in L1
 *     table   [key|count][key|count] ...             the same as naive's, for pairs and strings too; of a string's
 *                                                    group the cell is requested first, and then the string
 *
 * Cost per row
 *   naive's, plus one store and load of the hash and two prefetch instructions: more instructions, fewer waits. The
 *   number of lines in flight is limited by the core's fill buffers, not by the block.
 *
 * Where the slots should go
 *   Retiring higher than naive's by the factor of the speed-up; still memory-bound, since every line is still fetched.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator naive,prefetch --sweep block=1,2,4,8,16,32,64
 *   aggbench run synth:uniform,rows=10M,groups=1000 --aggregator naive,prefetch      (when it only costs)
 *
 * Where it stands: 100 million rows of synth:hits, huge pages, one Zen 4 core of a virtual machine: 1.42 s, naive 2.9.
 * Growing takes 0.17 s of it and emitting 0.04, as with naive. Of the rest, 7 ns a row remain where the table is in L2:
 * 40 rows of 100 begin a run, and neither the end of their walk nor whether their key is new can be foreseen (callgrind
 * simulates 1.3 mispredictions a row). Requests cannot help there.
 *
 * Tried, in seconds; figures of one line are medians of one run:
 *     100 million rows: home cell requested only 1.51, its walk's second line, too (19 % of walks get there), 1.40
 *         the same again on a noisier day 1.68 and 1.52, the line three cells on instead of two 1.47
 *         24, 32, 48 or 64 rows ahead 1.48, 1.42, 1.43, 1.48
 *     20 million rows, home cell only: a sliding block 0.36, groups one after another 0.47, each group requested before
 *         the one before it is looked up 0.47, no ring but every key hashed twice 0.38
 *         walks walked ahead to the line's end, halfway between, 0.40 against 0.35
 *         "empty or mine" as a selection instead of two branches: no difference, in cache or out of it
 * Packing a table's groups before they move to a larger one: a fifth off growing in cache, nothing in memory.
 * Pairs and strings still go by groups: 0.95 of naive's speed on 10 million pairs (UserID,UserID-1). */
#include "linear_table.h"
#include "wide_table_part.h"

enum { LARGEST_BLOCK = MOST_WIDE_BLOCK };

typedef struct prefetch {
    agb_host *host;
    agb_key_kind kind;
    size_t block_rows;
    linear_table table;    /* of words */
    wide_table wide;       /* of pairs or strings */
    uint64_t hashes[LARGEST_BLOCK];
} prefetch;

enum { BUILD };
static const char *const phases[] = {"build", NULL};

enum { BLOCK, LOAD, START };
static const agb_param params[] = {
    {"block", 32, 1, LARGEST_BLOCK, "keys requested ahead, in rows"},
    {"load", 70, 10, 90, "most occupied cells before the table grows, in percent"},
    {"start", 10, 4, 32, "log2 of the number of cells at the beginning"},
    {0},
};

/* Hashes a key into its place in the ring and asks for its cell, and for the line that a walk gets to when that cell
 * and the next are taken: the same line half of the time. A table that grows meanwhile makes the requests idle, not
 * wrong: the ring keeps hashes, not cells. */
static inline void prefetch_request(const linear_table *table, uint64_t *hashes, const uint64_t *keys, size_t row)
{
    uint64_t hash = agb_hash_word(table->hash, keys[row]);
    const linear_cell *home = linear_table_home(table, hash);
    hashes[row % LARGEST_BLOCK] = hash;
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 2, 1);
}

/* Looks rows `row` to `end` up, and requests those that come `lead` rows later. The copy of the table stays in
 * registers: no store to a cell can change it. */
static inline void prefetch_step(prefetch *self, const uint64_t *keys, const uint64_t *weights, size_t row, size_t end,
                                 size_t lead, size_t rows)
{
    linear_table table = self->table;
    for (; row < end; row++) {
        uint64_t hash = self->hashes[row % LARGEST_BLOCK];
        if (row + lead < rows)
            prefetch_request(&table, self->hashes, keys, row + lead);
        linear_table_add(&table, hash, keys[row], weights ? weights[row] : 1);
    }
    self->table = table;
}

/* weights is a constant NULL where rows count once. */
static inline agb_status prefetch_add(prefetch *self, const uint64_t *keys, const uint64_t *weights, size_t rows)
{
    size_t lead = self->block_rows < rows ? self->block_rows : rows;
    for (size_t row = 0; row < lead; row++)
        prefetch_request(&self->table, self->hashes, keys, row);
    for (size_t row = 0; row < rows; row += LARGEST_BLOCK) {
        size_t end = rows - row < LARGEST_BLOCK ? rows : row + LARGEST_BLOCK;
        if (!linear_table_reserve(&self->table, self->host, end - row))
            return AGB_ERR_MEMORY;
        prefetch_step(self, keys, weights, row, end, lead, rows);
    }
    return AGB_OK;
}

static agb_status prefetch_create(agb_host *host, const agb_config *config, void **out)
{
    prefetch *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->block_rows = (size_t)config->params[BLOCK];
    self->kind = config->kind;
    unsigned bits = (unsigned)config->params[START], load = (unsigned)config->params[LOAD];
    bool opened = self->kind == AGB_KEYS_WORD
                      ? linear_table_open(&self->table, host, bits, 0, load, config->hash)
                      : wide_table_open(&self->wide, (wide_table_plan){host, bits, 0, load, config->hash, true});
    return opened ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status prefetch_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    prefetch *self = state;
    if (self->kind != AGB_KEYS_WORD)
        return wide_table_count(&self->wide, batch, self->block_rows, true);
    return batch->weights ? prefetch_add(self, batch->keys, batch->weights, batch->rows)
                          : prefetch_add(self, batch->keys, NULL, batch->rows);
}

static agb_status prefetch_finish(void *state)
{
    prefetch *self = state;
    return self->kind == AGB_KEYS_WORD ? linear_table_emit(&self->table, self->host, 0)
                                       : wide_table_emit(&self->wide, 0, self->kind);
}

static void prefetch_destroy(void *state)
{
    prefetch *self = state;
    linear_table_close(&self->table, self->host);
    wide_table_close(&self->wide);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_prefetch = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "prefetch",
    .summary = "naive's table, with the cache lines of the next block of keys requested ahead",
    .prediction = "retiring higher than naive's by the factor of the speed-up; still memory-bound",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = prefetch_create,
    .consume = prefetch_consume,
    .finish = prefetch_finish,
    .destroy = prefetch_destroy,
    .need = {.bytes_per_group = 69, .fixed_bytes = 100e3},
};
