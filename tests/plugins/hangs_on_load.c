/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: loading it never ends. */
#include "counting.h"

#include <unistd.h>

__attribute__((constructor)) static void hang(void)
{
    for (;;)
        pause();
}

const agb_aggregator agb_aggregator_hangs_on_load = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "hangs_on_load",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
