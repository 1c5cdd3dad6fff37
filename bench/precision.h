/* SPDX-License-Identifier: MIT */
/* --precision: rounds go on until the intervals are as narrow as was asked for, or a cap ends them. Stopping at a width
 * looks at the data while it comes in, so the interval is a little too narrow (by less than its own coarseness, from
 * AGB_LEAST_PRECISE runs on); stopping at a verdict would be worse, and is not offered.
 *
 * JSON: settings.precision is null, or {"wanted_pct", "of": "medians"|"speed-ups", "reached", "widest_pct", "widest" (a
 * label), "repetitions"}; each result has precision_pct. */
#ifndef AGB_PRECISION_H
#define AGB_PRECISION_H

#include "results.h"

enum { AGB_LEAST_PRECISE = 6, AGB_PRECISION_CAP = 100 };    /* timed runs: before a look at it; unless --repetitions */

/* "2%" or "2": of each median; "speedup:2%": of each speed-up. */
agb_status agb_precision_parse(const char *text, agb_settings *settings, agb_error *err);

/* The farther end of an interval, from its middle, as a share of it: 0.02 is +-2 %. NAN without an interval. */
double agb_precision_of(double middle, double low, double high);

/* The widest of all right results, or of their speed-ups; NAN when there is none. *widest: its index, or NULL. */
double agb_precision_worst(const agb_results *results, size_t *widest);

#endif
