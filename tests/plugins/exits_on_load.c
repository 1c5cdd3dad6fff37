/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: loading it ends the program as if all were well. */
#include "counting.h"

#include <stdlib.h>

__attribute__((constructor)) static void end(void)
{
    exit(0);
}

const agb_aggregator agb_aggregator_exits_on_load = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "exits_on_load",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
