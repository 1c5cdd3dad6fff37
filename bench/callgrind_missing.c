/* SPDX-License-Identifier: MIT */
/* Built in place of callgrind_present.c where valgrind's headers are not installed. */
#include "bracket.h"

bool agb_callgrind_is_built_in(void)
{
    return false;
}

void agb_callgrind_begin(void)
{
}

void agb_callgrind_end(void)
{
}
