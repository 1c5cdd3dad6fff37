/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it says that it is parallel, and counts what one worker saw. */
#include "counting.h"

static agb_status forgets_workers_consume(void *state, unsigned worker, const agb_batch *batch)
{
    return worker == 0 ? counting_consume(state, worker, batch) : AGB_OK;
}

const agb_aggregator agb_aggregator_forgets_workers = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "forgets_workers",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS | AGB_PARALLEL,
    .create = counting_create,
    .consume = forgets_workers_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
