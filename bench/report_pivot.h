/* SPDX-License-Identifier: MIT */
/* The published experiment beside the measured one. */
#ifndef AGB_REPORT_PIVOT_H
#define AGB_REPORT_PIVOT_H

#include "results.h"

#include <stdio.h>

void agb_report_pivot(FILE *to, const agb_results *results);

#endif
