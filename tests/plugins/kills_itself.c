/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it is killed from outside, as it seems, while there is memory enough. */
#include "counting.h"

#include <signal.h>

static agb_status kills_itself_finish(void *state)
{
    raise(SIGKILL);
    return counting_finish(state);
}

const agb_aggregator agb_aggregator_kills_itself = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "kills_itself",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = kills_itself_finish,
    .destroy = counting_destroy,
};
