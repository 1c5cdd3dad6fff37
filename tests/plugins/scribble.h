/* SPDX-License-Identifier: MIT */
/* Writes to every open file but the standard ones. */
#ifndef SCRIBBLE_H
#define SCRIBBLE_H

#include "counting.h"

#include <string.h>
#include <unistd.h>

static void scribble(void)
{
    char text[32];
    memset(text, 'x', sizeof text);
    for (int fd = STDERR_FILENO + 1; fd < 64; fd++)
        if (write(fd, text, sizeof text) < 0)
            continue;
}

#endif
