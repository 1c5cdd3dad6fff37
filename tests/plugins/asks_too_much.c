/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it asks for more memory than any machine has. */
#include "counting.h"

static agb_status asks_too_much_create(agb_host *host, const agb_config *config, void **out)
{
    agb_status status = counting_create(host, config, out);
    if (status != AGB_OK)
        return status;
    size_t bytes = (size_t)1 << 60;
    void *block = agb_alloc(host, bytes, 0);
    agb_release(host, block, bytes);
    return block ? AGB_OK : AGB_ERR_MEMORY;
}

const agb_aggregator agb_aggregator_asks_too_much = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "asks_too_much",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = asks_too_much_create,
    .consume = counting_consume,
    .finish = counting_finish,
    .destroy = counting_destroy,
};
