/* SPDX-License-Identifier: MIT */
/* The published experiment beside the measured one. */
#ifndef AGB_REPORT_PIVOT_H
#define AGB_REPORT_PIVOT_H

#include "results.h"

#include <stdio.h>

/* Size of the published data set. */
enum { AGB_PIVOT_ROWS = 99997497, AGB_PIVOT_GROUPS = 17630976 };

void agb_report_pivot(FILE *to, const agb_results *results);

#endif
