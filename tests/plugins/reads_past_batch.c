/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it looks one key ahead, also behind the last one. */
#include "counting.h"

static agb_status reads_past_batch_consume(void *state, unsigned worker, const agb_batch *batch)
{
    for (size_t i = 0; i < batch->rows; i++)
        if (((volatile const uint64_t *)batch->keys)[i + 1] == batch->keys[i])
            continue;
    return counting_consume(state, worker, batch);
}

const agb_aggregator agb_aggregator_reads_past_batch = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "reads_past_batch",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = reads_past_batch_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
