/* SPDX-License-Identifier: MIT */
/* The part of `aggbench list` that tells what this machine can count, what it cannot, why, and what would change it. */
#ifndef AGB_LIST_COUNTERS_H
#define AGB_LIST_COUNTERS_H

#include <jansson.h>
#include <stdio.h>

void agb_list_counters(FILE *to);
/* The same as the object "pmu" of the JSON form. */
json_t *agb_list_counters_json(void);

#endif
