/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it was built for another version of the interface. */
#include "counting.h"

const agb_aggregator agb_aggregator_wrong_abi = {
    .abi = AGB_AGGREGATOR_ABI + 98,
    .size = sizeof(agb_aggregator),
    .name = "wrong_abi",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
