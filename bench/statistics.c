/* SPDX-License-Identifier: MIT */
/* Medians and percentile bootstrap intervals (B. Efron, "Bootstrap methods: another look at the jackknife", 1979).
 *
 * The median of a resample needs no sorting: the resample is drawn as indices into the sorted sample, so counting how
 * often each index was drawn and walking to the middle rank gives it in linear time. With few repetitions the interval
 * is coarse (5 values have at most 5 different medians): it says how sure one can be, not more. */
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { RESAMPLES = 2000 };

/* SplitMix64 (G. L. Steele, D. Lea, C. H. Flood, "Fast splittable pseudorandom number generators", 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

/* 0..n-1. The bias of the multiplication is below n / 2^64. */
static size_t random_below(uint64_t *state, size_t n)
{
    return (size_t)(((unsigned __int128)next_random(state) * n) >> 64);
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of_sorted(const double *sorted, size_t n)
{
    return n % 2 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
}

double agb_median(double *values, size_t n)
{
    qsort(values, n, sizeof *values, ascending);
    return median_of_sorted(values, n);
}

/* Index of the value that has exactly `rank` values of the resample before it. */
static size_t index_at_rank(const size_t *drawn, size_t rank)
{
    size_t index = 0, passed = drawn[0];
    while (passed <= rank)
        passed += drawn[++index];
    return index;
}

static double resampled_median(const double *sorted, size_t n, size_t *drawn, uint64_t *state)
{
    memset(drawn, 0, n * sizeof *drawn);
    for (size_t i = 0; i < n; i++)
        drawn[random_below(state, n)]++;
    double upper = sorted[index_at_rank(drawn, n / 2)];
    return n % 2 ? upper : (sorted[index_at_rank(drawn, n / 2 - 1)] + upper) / 2;
}

static void bootstrap(agb_summary *out, const double *sorted, size_t n, size_t *drawn, uint64_t seed)
{
    double medians[RESAMPLES];
    for (size_t i = 0; i < RESAMPLES; i++)
        medians[i] = resampled_median(sorted, n, drawn, &seed);
    qsort(medians, RESAMPLES, sizeof *medians, ascending);
    out->ci95_low = medians[RESAMPLES * 25 / 1000 - 1];
    out->ci95_high = medians[RESAMPLES * 975 / 1000];
}

/* Takes the values: sorts them in place. */
static agb_summary summarize_in_place(double *values, size_t n, uint64_t seed)
{
    qsort(values, n, sizeof *values, ascending);
    agb_summary summary = {.n = n, .min = values[0], .median = median_of_sorted(values, n), .max = values[n - 1],
                           .ci95_low = NAN, .ci95_high = NAN};
    if (n < AGB_LEAST_FOR_INTERVAL)
        return summary;
    size_t *drawn = malloc(n * sizeof *drawn);
    if (drawn) {
        bootstrap(&summary, values, n, drawn, seed);
        free(drawn);
    } else {    /* the widest interval there is, rather than none */
        summary.ci95_low = summary.min;
        summary.ci95_high = summary.max;
    }
    return summary;
}

/* Without memory for a copy nothing can be said but that: n = 0. */
agb_summary agb_summarize(const double *values, size_t n, uint64_t seed)
{
    double *copy = malloc(n * sizeof *copy);
    if (!copy)
        return (agb_summary){0};
    memcpy(copy, values, n * sizeof *copy);
    agb_summary summary = summarize_in_place(copy, n, seed);
    free(copy);
    return summary;
}

agb_ratio agb_paired_ratio(const double *baseline, const double *candidate, size_t n, uint64_t seed)
{
    double *ratios = malloc(n * sizeof *ratios);
    if (!ratios)
        return (agb_ratio){0};
    for (size_t i = 0; i < n; i++)
        ratios[i] = baseline[i] / candidate[i];
    agb_summary summary = summarize_in_place(ratios, n, seed);
    free(ratios);
    return (agb_ratio){summary.median, summary.ci95_low, summary.ci95_high};
}
