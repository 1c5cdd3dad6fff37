/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it writes to every open file, the pipe of its answer among them. */
#include "scribble.h"

static agb_status scribble_and_finish(void *state)
{
    scribble();
    return counting_finish(state);
}

const agb_aggregator agb_aggregator_writes_to_descriptors = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "writes_to_descriptors",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = scribble_and_finish,
    .destroy = counting_destroy,
};
