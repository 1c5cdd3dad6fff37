/* SPDX-License-Identifier: MIT */
/* Two results of earlier runs against each other: what differs in their circumstances, and who became slower.
 *
 * Where both files come from one design (same seed, contestants, rounds and processes) the same round had the same
 * order in both, so rounds are pairs and the speed-up is the median of their ratios. Otherwise it is the ratio of the
 * medians, each side resampled by itself. A change is claimed only when the 95 % interval leaves 1 out, and the
 * speed-up is farther from 1 than the twins' noise of either file, and than 5 % unless both files sampled several
 * processes: two processes' memory layouts alone can differ by that much. */
#ifndef AGB_COMPARE_H
#define AGB_COMPARE_H

#include "past.h"
#include "summary.h"

#include <stdio.h>

/* One circumstance that is not the same in both. */
typedef struct agb_difference {
    const char *what;       /* "machine.cpu" */
    char *old, *new;
    bool refused;           /* times cannot be compared across it; else it may be the very thing that is compared */
} agb_difference;

typedef enum agb_change {
    AGB_CHANGE_NONE,        /* no difference seen */
    AGB_CHANGE_FASTER, AGB_CHANGE_SLOWER,
    AGB_CHANGE_FAILS,       /* a right answer in OLD, none in NEW */
    AGB_CHANGE_WORKS,       /* the other way round */
    AGB_CHANGE_BOTH_FAIL, AGB_CHANGE_ONLY_OLD, AGB_CHANGE_ONLY_NEW
} agb_change;

typedef struct agb_compared {
    const agb_past_row *old, *new;    /* one of them may be NULL */
    agb_change change;
    bool paired;                      /* by rounds */
    agb_ratio speedup;                /* of NEW against OLD; NAN where there is none */
    double old_median_s, new_median_s;
} agb_compared;

typedef struct agb_compare {
    agb_past old, new;
    bool forced;
    agb_difference *differences;
    size_t n_differences;
    agb_compared *rows;
    size_t n;
    agb_ratio noise;          /* the widest of both files */
    double least_claim;       /* 1.05, or 1: see above */
    size_t regressions;       /* slower, or failing now */
} agb_compare;

/* Files whose times cannot be compared, or that have no contestant in common, are refused with AGB_ERR_ARGUMENT; force
 * takes those that differ only in circumstances. After a failure, too, release it. */
agb_status agb_compare_files(agb_compare *out, const char *old, const char *new, bool force, agb_error *err);
void agb_compare_release(agb_compare *compare);
const char *agb_change_name(agb_change change);
bool agb_change_is_regression(agb_change change);

void agb_report_compare_table(FILE *to, const agb_compare *compare);
void agb_report_compare_csv(FILE *to, const agb_compare *compare);
/* {"aggbench": 1, "kind": "compare", "old": {"path", "commit", "compiler"}, "new": {..}, "forced": bool,
 *  "differences": [{"what", "old", "new", "refused": bool}], "noise": {"ci95_low", "ci95_high"}, "least_claim",
 *  "regressions": n, "comparisons": [{"aggregator", "params", "source", "verdict", "regression": bool,
 *  "pairing": "rounds"|"none", "speedup", "ci95_low", "ci95_high", "old_median_s", "new_median_s", "old_runs",
 *  "new_runs", "old_state", "new_state", "reason"}]}: keys are only ever added. */
void agb_report_compare_json(FILE *to, const agb_compare *compare);

#endif
