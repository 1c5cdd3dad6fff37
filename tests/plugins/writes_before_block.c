/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it writes in front of its own block. */
#include "counting.h"

static agb_status writes_before_block_finish(void *state)
{
    ((volatile uint64_t *)state)[-1] = 1;
    return counting_finish(state);
}

const agb_aggregator agb_aggregator_writes_before_block = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "writes_before_block",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = writes_before_block_finish,
    .destroy = counting_destroy,
};
