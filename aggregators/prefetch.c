/* SPDX-License-Identifier: MIT */
/* prefetch: the naive table, asked for a block of keys ahead of time.
 *
 * Idea
 *   naive waits for one cache line at a time although the core could have a dozen or more on their way. So hash a
 *   block of keys, request the line of each, and only then look them up: the waits overlap. Group prefetching after
 *   Chen, Ailamaki, Gibbons, Mowry, "Improving Hash Join Performance through Prefetching" (2004).
 *
 * Layout
 *     keys    k0 k1 ... k31 | k32 ...                the block
 *     hashes  h0 h1 ... h31                          stay in L1
 *     table   [key|count][key|count] ...             the same as naive's, for pairs and strings too; of a group of
 *                                                    strings the cell is requested first, then the string
 *
 * Cost per row
 *   naive's, plus one store and load of the hash and one prefetch instruction: more instructions, fewer waits. The
 *   number of lines in flight is limited by the core's fill buffers, not by the block.
 *
 * Where the slots should go
 *   Retiring higher than naive's by the factor of the speed-up; still memory-bound, since every line is still fetched.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator naive,prefetch --sweep block=1,2,4,8,16,32,64
 *   aggbench run synth:uniform,rows=10M,groups=1000 --aggregator naive,prefetch      (when it only costs) */
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

static inline void prefetch_block(prefetch *self, const uint64_t *keys, const uint64_t *weights, size_t rows)
{
    linear_table *table = &self->table;
    for (size_t i = 0; i < rows; i++) {
        self->hashes[i] = agb_hash_word(table->hash, keys[i]);
        __builtin_prefetch(linear_table_home(table, self->hashes[i]), 1);
    }
    for (size_t i = 0; i < rows; i++)
        linear_table_add(table, self->hashes[i], keys[i], weights ? weights[i] : 1);
}

static inline agb_status prefetch_add(prefetch *self, const uint64_t *keys, const uint64_t *weights, size_t rows)
{
    while (rows) {
        size_t block = rows < self->block_rows ? rows : self->block_rows;
        /* The table must not move between request and look-up: make room for the whole block first. */
        if (!linear_table_reserve(&self->table, self->host, block))
            return AGB_ERR_MEMORY;
        prefetch_block(self, keys, weights, block);
        keys += block;
        weights = weights ? weights + block : NULL;
        rows -= block;
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
    .summary = "naive's table, with the cache lines of a block of keys requested ahead",
    .prediction = "retiring higher than naive's by the factor of the speed-up; still memory-bound",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = prefetch_create,
    .consume = prefetch_consume,
    .finish = prefetch_finish,
    .destroy = prefetch_destroy,
};
