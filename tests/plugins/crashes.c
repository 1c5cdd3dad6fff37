/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it reads through a null pointer in finish. */
#include "counting.h"

__attribute__((no_sanitize("undefined"))) static agb_status crashes_finish(void *state)
{
    (void)state;
    uint64_t *volatile nowhere = NULL;
    return (agb_status)*nowhere;
}

const agb_aggregator agb_aggregator_crashes = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "crashes",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = crashes_finish,
    .destroy = counting_destroy,
};
