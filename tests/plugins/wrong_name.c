/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: its name is not the stem of its file. */
#include "counting.h"

const agb_aggregator agb_aggregator_wrong_name = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "another_name",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
