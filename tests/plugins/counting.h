/* SPDX-License-Identifier: MIT */
/* A plain, right aggregator in functions of its own, for the plug-ins of this folder: each of them takes these and gets
 * one thing wrong. */
#ifndef COUNTING_H
#define COUNTING_H

#include "linear_table.h"

typedef struct counting {
    agb_host *host;
    linear_table table;
} counting;

static const char *const counting_phases[] = {"build", NULL};

static inline agb_status counting_create(agb_host *host, const agb_config *config, void **out)
{
    counting *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    return linear_table_open(&self->table, host, 10, 0, 50, config->hash) ? AGB_OK : AGB_ERR_MEMORY;
}

static inline agb_status counting_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    counting *self = state;
    for (size_t i = 0; i < batch->rows; i++) {
        if (!linear_table_reserve(&self->table, self->host, 1))
            return AGB_ERR_MEMORY;
        linear_table_add(&self->table, agb_hash_word(self->table.hash, batch->keys[i]), batch->keys[i], 1);
    }
    return AGB_OK;
}

static inline agb_status counting_finish(void *state)
{
    counting *self = state;
    return linear_table_emit(&self->table, self->host, 0);
}

static inline void counting_destroy(void *state)
{
    counting *self = state;
    linear_table_close(&self->table, self->host);
    agb_release(self->host, self, sizeof *self);
}

#endif
