/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it writes past the end of the memory that the sink lends it. */
#include "counting.h"

static agb_status writes_past_buffer_finish(void *state)
{
    counting *self = state;
    uint64_t *keys, *counts;
    agb_status status = agb_emit_begin(self->host, 0, 1, &keys, &counts);
    if (status != AGB_OK)
        return status;
    for (size_t i = 0; i < (size_t)1 << 40; i++)
        ((volatile uint64_t *)keys)[i] = i;
    return agb_emit_end(self->host, 0, 1);
}

const agb_aggregator agb_aggregator_writes_past_buffer = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "writes_past_buffer",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = writes_past_buffer_finish,
    .destroy = counting_destroy,
};
