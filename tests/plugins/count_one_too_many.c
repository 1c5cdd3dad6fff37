/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: the first key it sees is counted once too often. */
#include "counting.h"

static agb_status count_one_too_many_consume(void *state, unsigned worker, const agb_batch *batch)
{
    counting *self = state;
    if (batch->rows > 0 && self->table.groups == 0) {
        agb_batch first = {.rows = 1, .keys = batch->keys};
        agb_status status = counting_consume(state, worker, &first);
        if (status != AGB_OK)
            return status;
    }
    return counting_consume(state, worker, batch);
}

const agb_aggregator agb_aggregator_count_one_too_many = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "count_one_too_many",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = count_one_too_many_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
