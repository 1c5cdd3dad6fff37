/* SPDX-License-Identifier: MIT */
/* runs: collapse neighbouring rows of one key into one, then count those in naive's table.
 *
 * Idea
 *   Files are written in some order, and in the hits data that order puts a user's rows side by side: a row and the
 *   next one mostly ask the table for the same cell. So find the runs first, and look up each run once. Whether a row
 *   starts a run is as good as a coin toss for the branch predictor; so it is not asked: every row's number is written
 *   down, and the place to write to moves on only if a run starts there.
 *
 * Layout
 *     keys    a a a b b c a ...          block of rows
 *     starts  0 3 5 6 ...                the rows that start a run; stays in L1
 *     table   naive's
 *
 * Cost per row
 *   A load, a comparison, a store, an addition; no branch. Per run: naive's look-up, with the run's length for a
 *   weight. naive itself hits L1 on a repeated key, so what is saved is not the waiting but the hash, the look-up and
 *   its branches: the gain is far smaller than the mean run length. With `prefetch` the runs are a ready-made list of
 *   what to request.
 *
 * Where the slots should go
 *   Fewer operations than naive, the same number of lines from DRAM: still memory-bound. On shuffled rows: naive plus
 *   two instructions a row.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator naive,runs,prefetch,runs:prefetch=1
 *   aggbench run synth:uniform,rows=10M,groups=1M --aggregator naive,runs      (no runs: what the look-out costs)
 *
 * Tried: predicted was that collapsing and prefetching multiply. On a 2-core Zen 4 virtual machine, 20 million rows of
 * mean run length 2.5, one core: runs 1.15 times naive, prefetch 1.55, both together 1.5. Once the waits overlap, what
 * is left is fetching every new line and growing the table, and neither has anything to do with runs. Blocks of 256
 * rows request too much at a time: 1.4. */
#include "linear_table.h"

enum { BLOCK_ROWS = 128 };

typedef struct runs {
    agb_host *host;
    bool prefetch;
    linear_table table;
    uint32_t starts[BLOCK_ROWS + 1];
} runs;

static const char *const phases[] = {"build", NULL};

enum { PREFETCH, LOAD, START };
static const agb_param params[] = {
    {"prefetch", 0, 0, 1, "1: request the cells of a block's runs ahead"},
    {"load", 70, 10, 90, "most occupied cells before the table grows, in percent"},
    {"start", 10, 4, 32, "log2 of the number of cells at the beginning"},
    {0},
};

/* Fills starts and returns the number of runs. A run does not reach across blocks: at worst one look-up more in 128. */
static inline size_t runs_find(runs *self, const uint64_t *keys, size_t rows)
{
    size_t n = 1;
    self->starts[0] = 0;
    for (size_t i = 1; i < rows; i++) {
        self->starts[n] = (uint32_t)i;
        n += keys[i] != keys[i - 1];
    }
    self->starts[n] = (uint32_t)rows;
    return n;
}

static inline uint64_t runs_weight(const uint64_t *weights, size_t first, size_t end)
{
    if (!weights)
        return end - first;
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++)
        sum += weights[i];
    return sum;
}

static inline void runs_block(runs *self, const uint64_t *keys, const uint64_t *weights, size_t rows)
{
    linear_table *table = &self->table;
    size_t n = runs_find(self, keys, rows);
    if (self->prefetch)
        for (size_t i = 0; i < n; i++)
            __builtin_prefetch(linear_table_home(table, agb_hash_word(table->hash, keys[self->starts[i]])), 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[self->starts[i]];
        linear_table_add(table, agb_hash_word(table->hash, key), key,
                         runs_weight(weights, self->starts[i], self->starts[i + 1]));
    }
}

static inline agb_status runs_add(runs *self, const uint64_t *keys, const uint64_t *weights, size_t rows)
{
    while (rows) {
        size_t block = rows < BLOCK_ROWS ? rows : BLOCK_ROWS;
        if (!linear_table_reserve(&self->table, self->host, block))
            return AGB_ERR_MEMORY;
        runs_block(self, keys, weights, block);
        keys += block;
        weights = weights ? weights + block : NULL;
        rows -= block;
    }
    return AGB_OK;
}

static agb_status runs_create(agb_host *host, const agb_config *config, void **out)
{
    runs *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->prefetch = config->params[PREFETCH];
    bool opened = linear_table_open(&self->table, host, (unsigned)config->params[START], 0,
                                    (unsigned)config->params[LOAD], config->hash);
    return opened ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status runs_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    return batch->weights ? runs_add(state, batch->keys, batch->weights, batch->rows)
                          : runs_add(state, batch->keys, NULL, batch->rows);
}

static agb_status runs_finish(void *state)
{
    runs *self = state;
    return linear_table_emit(&self->table, self->host, 0);
}

static void runs_destroy(void *state)
{
    runs *self = state;
    linear_table_close(&self->table, self->host);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_runs = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "runs",
    .summary = "neighbouring rows of one key are collapsed before naive's table",
    .prediction = "fewer operations than naive, the same lines from DRAM: still memory-bound",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS,
    .create = runs_create,
    .consume = runs_consume,
    .finish = runs_finish,
    .destroy = runs_destroy,
    .need = {.bytes_per_group = 69, .fixed_bytes = 100e3},
};
