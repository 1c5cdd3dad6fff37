/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: its counts go round at 2^32. */
#include "counting.h"

static agb_status counts_in_32_bits_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    counting *self = state;
    for (size_t i = 0; i < batch->rows; i++) {
        uint64_t key = batch->keys[i], weight = batch->weights ? batch->weights[i] : 1;
        if (!linear_table_reserve(&self->table, self->host, 1))
            return AGB_ERR_MEMORY;
        linear_table_add(&self->table, agb_hash_word(self->table.hash, key), key, weight);
    }
    return AGB_OK;
}

static agb_status counts_in_32_bits_finish(void *state)
{
    counting *self = state;
    for (size_t i = 0; i <= self->table.mask; i++)
        if (self->table.cells[i].count)
            self->table.cells[i].count = (uint32_t)self->table.cells[i].count;
    return counting_finish(state);
}

const agb_aggregator agb_aggregator_counts_in_32_bits = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "counts_in_32_bits",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS,
    .create = counting_create,
    .consume = counts_in_32_bits_consume,
    .finish = counts_in_32_bits_finish,
    .destroy = counting_destroy,
};
