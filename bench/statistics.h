/* SPDX-License-Identifier: MIT */
/* Order statistics with bootstrap intervals. Never a mean, never one run. */
#ifndef AGB_STATISTICS_H
#define AGB_STATISTICS_H

#include <stddef.h>
#include <stdint.h>

/* Below so many values there is no interval: NAN. Least and greatest of n values hold the median of all that there
 * could be between them in all but 2 / 2^n of the cases: in 94 % of them for five, in 88 % for four, which is no 95 %
 * any more. */
enum { AGB_LEAST_FOR_INTERVAL = 5 };

typedef struct agb_summary {
    size_t n;
    double min, median, max;
    double ci95_low, ci95_high;    /* percentile bootstrap interval of the median (Efron 1979), 2000 resamples */
} agb_summary;

/* n >= 1. Does not change values. The same seed gives the same interval. */
agb_summary agb_summarize(const double *values, size_t n, uint64_t seed);

/* The median alone; sorts values. n >= 1. */
double agb_median(double *values, size_t n);

typedef struct agb_ratio {
    double ratio;                  /* median of baseline[i] / candidate[i]: above 1 the candidate is faster */
    double ci95_low, ci95_high;    /* bootstrap over pairs */
} agb_ratio;

/* Pairs are repetitions of one round; both arrays have n >= 1 entries. */
agb_ratio agb_paired_ratio(const double *baseline, const double *candidate, size_t n, uint64_t seed);

#endif
