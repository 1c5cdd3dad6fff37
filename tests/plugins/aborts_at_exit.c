/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it counts right, but closing it would end the program. */
#include "counting.h"

#include <stdlib.h>

__attribute__((destructor)) static void crash(void)
{
    abort();
}

const agb_aggregator agb_aggregator_aborts_at_exit = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "aborts_at_exit",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
