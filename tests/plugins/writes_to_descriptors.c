/* SPDX-License-Identifier: MIT */
/* A faulty plug-in: it writes to every open file, the pipe of its answer among them. */
#include "counting.h"

#include <string.h>
#include <unistd.h>

static agb_status scribble(void *state)
{
    char text[32];
    memset(text, 'x', sizeof text);
    for (int fd = 3; fd < 64; fd++)
        if (write(fd, text, sizeof text) < 0)
            continue;
    return counting_finish(state);
}

const agb_aggregator agb_aggregator_writes_to_descriptors = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "writes_to_descriptors",
    .summary = "faulty: for tests",
    .phases = counting_phases,
    .traits = AGB_TAKES_WORDS,
    .create = counting_create,
    .consume = counting_consume,
    .finish = scribble,
    .destroy = counting_destroy,
};
