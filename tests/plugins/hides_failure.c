/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it goes on with the rows that fit when memory is refused, and says that all is well. */
#include "counting.h"

static agb_status hides_failure_consume(void *state, unsigned worker, const agb_batch *batch)
{
    agb_status status = counting_consume(state, worker, batch);
    return status == AGB_ERR_MEMORY ? AGB_OK : status;
}

const agb_aggregator agb_aggregator_hides_failure = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "hides_failure",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = hides_failure_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
