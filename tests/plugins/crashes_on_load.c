/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: merely loading it crashes. */
#include "counting.h"

__attribute__((constructor)) static void crash(void)
{
    __builtin_trap();
}

const agb_aggregator agb_aggregator_crashes_on_load = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "crashes_on_load",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
