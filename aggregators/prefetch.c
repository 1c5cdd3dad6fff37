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
 * Pairs, too, slide: 1.45 times naive's speed on 5 million (UserID,UserID-1), 1.20 in groups. Strings go by groups, as
 * they are hashed by the block. */
#include "key_table_part.h"

enum { LARGEST_BLOCK = MOST_WIDE_BLOCK };

typedef struct prefetch {
    agb_host *host;
    size_t block_rows;
    key_table table;
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
 * and, of words, the next are taken: the same line half of the time. A table that grows meanwhile makes the requests
 * idle, not wrong: the ring keeps hashes, not cells. */
PER_KIND void prefetch_request(const key_table *table, uint64_t *hashes, const agb_batch *batch, size_t row,
                               agb_key_kind kind)
{
    bool word = kind == AGB_KEYS_WORD;
    uint64_t hash = word ? agb_hash_word(table->words.hash, batch->keys[row])
                         : agb_hash_pair(table->wide.hash, &batch->keys[2 * row]);
    const char *home = word ? (const char *)linear_table_home(&table->words, hash)
                            : (const char *)wide_table_home(&table->wide, hash);
    hashes[row % LARGEST_BLOCK] = hash;
    __builtin_prefetch(home, 1);
    __builtin_prefetch(home + 32, 1);
}

/* Looks rows `row` to `end` up, and requests those that come `lead` rows later. The copy of the table stays in
 * registers: no store to a cell can change it. */
PER_KIND void prefetch_step(prefetch *self, const agb_batch *batch, const uint64_t *weights, size_t row, size_t end,
                            size_t lead, agb_key_kind kind)
{
    key_table table = self->table;
    for (; row < end; row++) {
        uint64_t hash = self->hashes[row % LARGEST_BLOCK];
        if (row + lead < batch->rows)
            prefetch_request(&table, self->hashes, batch, row + lead, kind);
        key_table_add(&table, hash, batch_key(batch, row, kind), weights ? weights[row] : 1, kind);
    }
    self->table = table;
}

/* weights is a constant NULL where words count once. */
PER_KIND agb_status prefetch_add(prefetch *self, const agb_batch *batch, const uint64_t *weights, agb_key_kind kind)
{
    size_t rows = batch->rows, lead = self->block_rows < rows ? self->block_rows : rows;
    for (size_t row = 0; row < lead; row++)
        prefetch_request(&self->table, self->hashes, batch, row, kind);
    for (size_t row = 0; row < rows; row += LARGEST_BLOCK) {
        size_t end = rows - row < LARGEST_BLOCK ? rows : row + LARGEST_BLOCK;
        if (!key_table_reserve(&self->table, self->host, end - row, kind))
            return AGB_ERR_MEMORY;
        prefetch_step(self, batch, weights, row, end, lead, kind);
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
    unsigned bits = (unsigned)config->params[START], load = (unsigned)config->params[LOAD];
    table_plan plan = {host, bits, 0, load, config->hash, true};
    return key_table_open(&self->table, config->kind, plan) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status prefetch_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    prefetch *self = state;
    if (self->table.kind == AGB_KEYS_BYTES)
        return wide_table_count(&self->table.wide, batch, self->block_rows, true);
    if (self->table.kind == AGB_KEYS_PAIR)
        return prefetch_add(self, batch, batch->weights, AGB_KEYS_PAIR);
    return batch->weights ? prefetch_add(self, batch, batch->weights, AGB_KEYS_WORD)
                          : prefetch_add(self, batch, NULL, AGB_KEYS_WORD);
}

static agb_status prefetch_finish(void *state)
{
    prefetch *self = state;
    return key_table_emit(&self->table, self->host, 0);
}

static void prefetch_destroy(void *state)
{
    prefetch *self = state;
    key_table_close(&self->table, self->host);
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
