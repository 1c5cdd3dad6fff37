/* SPDX-License-Identifier: MIT */
/* Where a tool from outside shall begin and end to count: valgrind by requests in the code (exactly one of
 * callgrind_present.c and callgrind_missing.c is built), perf stat by words through a pipe. */
#ifndef AGB_BRACKET_H
#define AGB_BRACKET_H

#include <stdbool.h>

bool agb_callgrind_is_built_in(void);
/* Without valgrind around the program they cost a few instructions and do nothing. */
void agb_callgrind_begin(void);
void agb_callgrind_end(void);

#endif
