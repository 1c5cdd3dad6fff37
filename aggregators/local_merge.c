/* SPDX-License-Identifier: MIT */
/* local_merge: every worker counts its rows in a table of its own; the tables are merged at the end, also in parallel.
 *
 * Idea
 *   What is not shared needs no lock. Each worker is a naive of its own until the rows are through. Then the tables are
 *   merged stretch by stretch of the hash: one task takes the same stretch of all tables, and no two tasks meet the
 *   same key. "Two-phase" in Shatdal, Naughton, "Adaptive Parallel Aggregation Algorithms" (1995).
 *
 * Layout
 *     worker 0    [key|count][key|count] ...        naive's table, one a worker
 *     worker 1    [key|count][key|count] ...
 *     merged      [key|count] ...                   one a worker, for one stretch at a time, sized to L2
 *
 * Cost per row
 *   naive's. Then each table is read once, in order, and every group of every table is looked up once more, in a table
 *   that fits L2. Few groups: that is nothing. Many: every worker meets nearly all of them, so memory and merging grow
 *   with workers times groups.
 *
 * Where the slots should go
 *   As naive in the first phase, worse by a smaller share of L3 for each worker; the merge reads in order and retires
 *   well.
 *
 * Try
 *   aggbench run synth:uniform,rows=10M,groups=1000 --aggregator local_merge,radix --threads 8
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator local_merge,radix --threads 8      (peak memory!) */
#include "local_tables_part.h"

typedef struct local_merge {
    local_tables tables;
} local_merge;

enum { BUILD, MERGE };
static const char *const phases[] = {"build", "merge", NULL};

enum { LOAD, START };
static const agb_param params[] = {
    {"load", 70, 10, 90, "most occupied cells before a table grows, in percent"},
    {"start", 10, 4, 32, "log2 of the number of cells of each table at the beginning"},
    {0},
};

/* weights is a constant NULL where rows count once, and the compiler then drops the load. */
static inline agb_status local_merge_add(local_merge *self, unsigned worker, const uint64_t *keys,
                                         const uint64_t *weights, size_t rows)
{
    linear_table *table = &self->tables.local[worker].table.words;
    for (size_t i = 0; i < rows; i++)
        if (!linear_table_put(table, self->tables.host, keys[i], weights ? weights[i] : 1))
            return AGB_ERR_MEMORY;
    return AGB_OK;
}

static agb_status local_merge_create(agb_host *host, const agb_config *config, void **out)
{
    local_merge *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    bool opened = local_tables_open(&self->tables, host, config, (unsigned)config->params[START],
                                    (unsigned)config->params[LOAD]);
    return opened ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status local_merge_consume(void *state, unsigned worker, const agb_batch *batch)
{
    local_merge *self = state;
    key_table *table = &self->tables.local[worker].table;
    if (table->kind != AGB_KEYS_WORD)
        return wide_table_count(&table->wide, batch, MOST_WIDE_BLOCK, false);
    return batch->weights ? local_merge_add(self, worker, batch->keys, batch->weights, batch->rows)
                          : local_merge_add(self, worker, batch->keys, NULL, batch->rows);
}

static agb_status local_merge_finish(void *state)
{
    local_merge *self = state;
    return local_tables_merge(&self->tables, MERGE);
}

static void local_merge_destroy(void *state)
{
    local_merge *self = state;
    agb_host *host = self->tables.host;
    local_tables_close(&self->tables);
    agb_release(host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_local_merge = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "local_merge",
    .summary = "a table per worker, merged at the end by stretches of the hash",
    .prediction = "as naive while rows come; the merge reads in order and retires well",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = local_merge_create,
    .consume = local_merge_consume,
    .finish = local_merge_finish,
    .destroy = local_merge_destroy,
    .need = {.bytes_per_group = 69, .fixed_bytes = 100e3},
};
