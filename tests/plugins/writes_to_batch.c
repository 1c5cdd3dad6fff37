/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it overwrites the keys that it was lent. */
#include "counting.h"

static agb_status writes_to_batch_consume(void *state, unsigned worker, const agb_batch *batch)
{
    agb_status status = counting_consume(state, worker, batch);
    for (size_t i = 0; i < batch->rows; i++)
        ((uint64_t *)batch->keys)[i] = 0;
    return status;
}

const agb_aggregator agb_aggregator_writes_to_batch = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "writes_to_batch",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = writes_to_batch_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
