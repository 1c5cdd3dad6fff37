/* SPDX-License-Identifier: MIT */
/* What more threads brought: each number of a swept --sweep threads=... against the fewest of them, same strategy, same
 * parameters, same rows. A slowdown is a figure like any other. */
#ifndef AGB_SCALING_H
#define AGB_SCALING_H

#include "results.h"

#include <jansson.h>
#include <stdio.h>

typedef struct agb_scaling {
    size_t base;             /* the result with the fewest threads */
    agb_ratio speedup;       /* over it; its interval is NAN where there are too few runs */
    bool paired;             /* both ran in the same rounds */
    agb_verdict verdict;
} agb_scaling;

bool agb_scaling_is_asked(const agb_settings *settings);
/* false: result number i has nothing to be compared with: it is the base, failed, or its threads are not swept. */
bool agb_scaling_of(const agb_results *results, size_t i, agb_scaling *out);

/* A line for each result that has one; nothing when threads were not swept. */
void agb_report_scaling(FILE *to, const agb_results *results);
/* [{"result", "base", "threads", "base_threads", "speedup", "ci95_low", "ci95_high", "efficiency_pct", "pairing":
 * "rounds"|"none", "verdict"}]; efficiency: the speed-up's share of what so many times the threads promise. */
json_t *agb_scaling_json(const agb_results *results);

#endif
