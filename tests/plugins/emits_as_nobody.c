/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it emits as a worker that there is not. */
#include "counting.h"

static agb_status emits_as_nobody_finish(void *state)
{
    counting *self = state;
    return linear_table_emit(&self->table, self->host, 1000000);
}

const agb_aggregator agb_aggregator_emits_as_nobody = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "emits_as_nobody",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = emits_as_nobody_finish,
    .destroy = counting_destroy,
};
