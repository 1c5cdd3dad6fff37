/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: one key is emitted twice. */
#include "counting.h"

static agb_status emits_twice_finish(void *state)
{
    counting *self = state;
    agb_status status = counting_finish(state);
    uint64_t key = 7, count = 1;
    if (status == AGB_OK)
        status = agb_emit(self->host, 0, &key, &count, 1);
    return status == AGB_OK ? agb_emit(self->host, 0, &key, &count, 1) : status;
}

const agb_aggregator agb_aggregator_emits_twice = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "emits_twice",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = emits_twice_finish,
    .destroy = counting_destroy,
};
