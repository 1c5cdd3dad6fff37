/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: loading it writes to every open file. */
#include "scribble.h"

__attribute__((constructor)) static void begin(void)
{
    scribble();
}

const agb_aggregator agb_aggregator_writes_on_load = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "writes_on_load",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
