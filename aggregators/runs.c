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
#include "key_table_part.h"
#include "runs_part.h"

typedef struct runs {
    agb_host *host;
    bool prefetch;
    key_table table;
    run_block block;
} runs;

static const char *const phases[] = {"build", NULL};

enum { PREFETCH, LOAD, START };
static const agb_param params[] = {
    {"prefetch", 0, 0, 1, "1: request the cells of a block's runs ahead"},
    {"load", 70, 10, 90, "most occupied cells before the table grows, in percent"},
    {"start", 10, 4, 32, "log2 of the number of cells at the beginning"},
    {0},
};

/* weights is a constant NULL where rows count once. */
static inline agb_status runs_count_words(runs *self, const agb_batch *block, const uint64_t *weights)
{
    linear_table *table = &self->table.words;
    const uint64_t *keys = block->keys;
    const uint32_t *starts = self->block.starts;
    if (!linear_table_reserve(table, self->host, block->rows))
        return AGB_ERR_MEMORY;
    size_t n = runs_find(&self->block, block, AGB_KEYS_WORD);
    if (self->prefetch)
        for (size_t i = 0; i < n; i++)
            __builtin_prefetch(linear_table_home(table, agb_hash_word(table->hash, keys[starts[i]])), 1);
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[starts[i]];
        linear_table_add(table, agb_hash_word(table->hash, key), key, runs_weight(weights, starts[i], starts[i + 1]));
    }
    return AGB_OK;
}

PER_KIND agb_status runs_count_wide(runs *self, const agb_batch *block, agb_key_kind kind)
{
    agb_batch collapsed = runs_collapse(&self->block, block, kind);
    return wide_table_count(&self->table.wide, &collapsed, RUN_ROWS, self->prefetch);
}

static agb_status runs_count(runs *self, const agb_batch *block)
{
    if (self->table.kind == AGB_KEYS_PAIR)
        return runs_count_wide(self, block, AGB_KEYS_PAIR);
    if (self->table.kind == AGB_KEYS_BYTES)
        return runs_count_wide(self, block, AGB_KEYS_BYTES);
    return block->weights ? runs_count_words(self, block, block->weights) : runs_count_words(self, block, NULL);
}

static agb_status runs_create(agb_host *host, const agb_config *config, void **out)
{
    runs *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->prefetch = config->params[PREFETCH];
    unsigned bits = (unsigned)config->params[START], load = (unsigned)config->params[LOAD];
    table_plan plan = {host, bits, 0, load, config->hash, true};
    return key_table_open(&self->table, config->kind, plan) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status runs_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    runs *self = state;
    agb_status status = AGB_OK;
    for (size_t first = 0; first < batch->rows && status == AGB_OK; first += RUN_ROWS) {
        agb_batch block = batch_part(batch, first, RUN_ROWS, self->table.kind);
        status = runs_count(self, &block);
    }
    return status;
}

static agb_status runs_finish(void *state)
{
    runs *self = state;
    return key_table_emit(&self->table, self->host, 0);
}

static void runs_destroy(void *state)
{
    runs *self = state;
    key_table_close(&self->table, self->host);
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
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = runs_create,
    .consume = runs_consume,
    .finish = runs_finish,
    .destroy = runs_destroy,
    .need = {.bytes_per_group = 69, .fixed_bytes = 100e3},
};
