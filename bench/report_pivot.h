/* SPDX-License-Identifier: MIT */
/* The published experiment beside the measured one. */
#ifndef AGB_REPORT_PIVOT_H
#define AGB_REPORT_PIVOT_H

#include "results.h"

#include <stdio.h>

/* Size of the published data set. */
enum { AGB_PIVOT_ROWS = 99997497, AGB_PIVOT_GROUPS = 17630976 };

/* What was published, as it was written; "-" where nothing was said. */
typedef struct agb_published {
    const char *name, *simple, *partitioned;
} agb_published;

enum {
    AGB_PUBLISHED_ROWS, AGB_PUBLISHED_GROUPS, AGB_PUBLISHED_FIRST, AGB_PUBLISHED_WARM, AGB_PUBLISHED_STALLED,
    AGB_PUBLISHED_RETIRING, AGB_PUBLISHED_OPERATIONS, AGB_PUBLISHED_DRAM, AGB_PUBLISHED_FIGURES
};

extern const agb_published agb_published_figures[AGB_PUBLISHED_FIGURES];
extern const double agb_published_speedup;
/* The aggregators that stand for the two here. */
extern const char agb_published_simple[], agb_published_partitioned[];

void agb_report_pivot(FILE *to, const agb_results *results);

#endif
