/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it has no symbol that is named after its file. */
#include "counting.h"

const agb_aggregator agb_aggregator_another_symbol = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "no_symbol",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
