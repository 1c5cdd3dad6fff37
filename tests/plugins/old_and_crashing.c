/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it was built for another version of the interface, and merely loading it crashes. Whoever checks
 * the version first never gets that far. */
#include "counting.h"

__attribute__((constructor)) static void crash(void)
{
    __builtin_trap();
}

const agb_aggregator agb_aggregator_old_and_crashing = {
    .abi = AGB_AGGREGATOR_ABI + 98,
    .size = sizeof(agb_aggregator),
    .name = "old_and_crashing",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
