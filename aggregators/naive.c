/* SPDX-License-Identifier: MIT */
/* naive: one hash table for everything, grown as needed. The baseline of the published experiment.
 *
 * Idea
 *   Look every key up in one linear-probing table; add one to its count, or put it there. When the table is too full,
 *   take one of twice the size and move everything over. This is what most people write first.
 *
 * Layout
 *     hash(key) = ............   top bits = slot
 *     table   [key|count][key|count][  0  ][key|count] ...       16 bytes a cell, at most `load` percent occupied
 *     for pairs and strings: the cells of wide_table_part.h      32 bytes a cell, a group's string stands elsewhere
 *
 * Cost per row
 *   One multiplication; one random cell, that is one cache line, in a table that for millions of groups is far larger
 *   than any cache: about one trip to DRAM (and, with 4 KiB pages, one page walk) per row that does not repeat its
 *   predecessor's key. One branch on "is it mine", well predicted while probes are short.
 *
 * Where the slots should go
 *   Nearly all of them wait for that one line: memory-bound well above 40 %, retiring below 20 %.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator naive --pages 4k      (then --pages huge: page walks disappear)
 *   aggbench run synth:uniform,rows=10M --sweep groups=1000,100000,10000000 --aggregator naive */
#include "key_table_part.h"

typedef struct naive {
    agb_host *host;
    key_table table;
} naive;

enum { BUILD };
static const char *const phases[] = {"build", NULL};

enum { LOAD, START };
static const agb_param params[] = {
    {"load", 70, 10, 90, "most occupied cells before the table grows, in percent"},
    {"start", 10, 4, 32, "log2 of the number of cells at the beginning"},
    {0},
};

/* weights is a constant NULL where rows count once, and the compiler then drops the load. */
static inline agb_status naive_add(naive *self, const uint64_t *keys, const uint64_t *weights, size_t rows)
{
    linear_table *table = &self->table.words;
    for (size_t i = 0; i < rows; i++) {
        if (table->groups == table->limit && !linear_table_grow(table, self->host))
            return AGB_ERR_MEMORY;
        linear_table_add(table, agb_hash_word(table->hash, keys[i]), keys[i], weights ? weights[i] : 1);
    }
    return AGB_OK;
}

static agb_status naive_create(agb_host *host, const agb_config *config, void **out)
{
    naive *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    unsigned bits = (unsigned)config->params[START], load = (unsigned)config->params[LOAD];
    table_plan plan = {host, bits, 0, load, config->hash, true};
    return key_table_open(&self->table, config->kind, plan) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status naive_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    naive *self = state;
    if (self->table.kind != AGB_KEYS_WORD)
        return wide_table_count(&self->table.wide, batch, MOST_WIDE_BLOCK, false);
    return batch->weights ? naive_add(self, batch->keys, batch->weights, batch->rows)
                          : naive_add(self, batch->keys, NULL, batch->rows);
}

static agb_status naive_finish(void *state)
{
    naive *self = state;
    return key_table_emit(&self->table, self->host, 0);
}

static void naive_destroy(void *state)
{
    naive *self = state;
    key_table_close(&self->table, self->host);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_naive = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "naive",
    .summary = "one growing linear-probing hash table",
    .prediction = "memory-bound above 40 %, retiring below 20 %: every new key waits for one line from DRAM",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = naive_create,
    .consume = naive_consume,
    .finish = naive_finish,
    .destroy = naive_destroy,
    .need = {.bytes_per_group = 69, .fixed_bytes = 100e3},
};
