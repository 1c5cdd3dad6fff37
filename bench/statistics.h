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

/* The same for values of several processes: whole processes are resampled, then the runs of each (the two-stage
 * bootstrap of A. C. Davison, D. V. Hinkley, "Bootstrap Methods and their Application", 1997, 3.8), so that what one
 * process's memory layout does is inside the interval. process: whose each value is, counted from 0; NULL = all of
 * one. */
agb_summary agb_summarize_processes(const double *values, const unsigned *process, size_t n, uint64_t seed);

/* The median alone; sorts values. n >= 1. */
double agb_median(double *values, size_t n);

typedef struct agb_ratio {
    double ratio;                  /* median of baseline[i] / candidate[i]: above 1 the candidate is faster */
    double ci95_low, ci95_high;    /* bootstrap over pairs */
} agb_ratio;

/* Pairs are repetitions of one round; both arrays have n >= 1 entries. process: as above, or NULL. */
agb_ratio agb_paired_ratio(const double *baseline, const double *candidate, const unsigned *process, size_t n,
                           uint64_t seed);
/* Values that may be of several processes: as above. */
typedef struct agb_values {
    const double *value;
    const unsigned *process;    /* or NULL */
    size_t n;
} agb_values;

/* Values that have no partners: the ratio of the medians, each side resampled by itself. */
agb_ratio agb_unpaired_ratio(agb_values baseline, agb_values candidate, uint64_t seed);

#endif
