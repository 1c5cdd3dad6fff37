/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: its finish goes on for ever. */
#include "counting.h"

static agb_status never_returns_finish(void *state)
{
    (void)state;
    for (volatile bool on = true; on;)
        continue;
    return AGB_OK;
}

const agb_aggregator agb_aggregator_never_returns = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "never_returns",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = never_returns_finish,
    .destroy = counting_destroy,
};
