/* SPDX-License-Identifier: MIT */
/* Requests to callgrind: magic no-operations that it recognises. Instrumentation itself is switched, not only counting,
 * so that what comes before runs faster and the simulated caches are cold at the beginning. */
#include "bracket.h"

#include <stddef.h>
#include <valgrind/callgrind.h>

bool agb_callgrind_is_built_in(void)
{
    return true;
}

void agb_callgrind_begin(void)
{
    CALLGRIND_START_INSTRUMENTATION;
}

void agb_callgrind_end(void)
{
    CALLGRIND_STOP_INSTRUMENTATION;
}
