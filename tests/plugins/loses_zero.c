/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: the key 0 marks its empty cells, so rows with that key are lost. */
#include "counting.h"

static agb_status loses_zero_consume(void *state, unsigned worker, const agb_batch *batch)
{
    agb_batch one = *batch;
    agb_status status = AGB_OK;
    one.rows = 1;
    for (size_t i = 0; status == AGB_OK && i < batch->rows; i++) {
        one.keys = batch->keys + i;
        status = batch->keys[i] ? counting_consume(state, worker, &one) : AGB_OK;
    }
    return status;
}

const agb_aggregator agb_aggregator_loses_zero = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "loses_zero",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = loses_zero_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
