/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it does not release what it holds. */
#include "counting.h"

static void leaves_memory_destroy(void *state)
{
    (void)state;
}

const agb_aggregator agb_aggregator_leaves_memory = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "leaves_memory",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = leaves_memory_destroy,
};
