/* SPDX-License-Identifier: MIT */
/* Medians and percentile bootstrap intervals (B. Efron, "Bootstrap methods: another look at the jackknife", 1979).
 *
 * The median of a resample needs no sorting: the resample is drawn as indices into the sorted sample, so counting how
 * often each index was drawn and walking to the middle rank gives it in linear time. With few repetitions the interval
 * is coarse (5 values have at most 5 different medians): it says how sure one can be, not more. */
#include "statistics.h"

#include <math.h>
#include <stdbool.h>
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

/* A sorted sample, and which of its values belong to which process. */
typedef struct sample {
    size_t n, processes;
    double *sorted;
    size_t *member;    /* indices into sorted, process by process */
    size_t *first;     /* of each process's members; one more at the end */
    size_t *drawn;     /* how often each value is in the resample */
} sample;

static double resampled_median(const sample *self, uint64_t *state)
{
    size_t total = 0;
    memset(self->drawn, 0, self->n * sizeof *self->drawn);
    for (size_t i = 0; i < self->processes; i++) {
        size_t process = self->processes > 1 ? random_below(state, self->processes) : 0;
        size_t first = self->first[process], n = self->first[process + 1] - first;
        for (size_t k = 0; k < n; k++)
            self->drawn[self->member[first + random_below(state, n)]]++;
        total += n;
    }
    double upper = self->sorted[index_at_rank(self->drawn, total / 2)];
    return total % 2 ? upper : (self->sorted[index_at_rank(self->drawn, total / 2 - 1)] + upper) / 2;
}

typedef struct owned_value {
    double value;
    unsigned process;
} owned_value;

static int ascending_owned(const void *a, const void *b)
{
    return ascending(&((const owned_value *)a)->value, &((const owned_value *)b)->value);
}

static void sample_release(sample *self)
{
    free(self->sorted);
    free(self->member);
    free(self->first);
    free(self->drawn);
}

/* Processes that have no value are left out. */
static void find_members(sample *self, const owned_value *values)
{
    size_t placed = 0;
    for (unsigned process = 0; placed < self->n; process++) {
        size_t before = placed;
        for (size_t i = 0; i < self->n; i++)
            if (values[i].process == process)
                self->member[placed++] = i;
        if (placed > before)
            self->first[++self->processes] = placed;
    }
}

/* false without memory; release it all the same. */
static bool sample_of(sample *out, const double *values, const unsigned *process, size_t n)
{
    *out = (sample){.n = n, .sorted = malloc(n * sizeof *out->sorted), .member = malloc(n * sizeof *out->member),
                    .first = calloc(n + 1, sizeof *out->first), .drawn = malloc(n * sizeof *out->drawn)};
    owned_value *owned = malloc(n * sizeof *owned);
    bool good = out->sorted && out->member && out->first && out->drawn && owned;
    if (good) {
        for (size_t i = 0; i < n; i++)
            owned[i] = (owned_value){values[i], process ? process[i] : 0};
        qsort(owned, n, sizeof *owned, ascending_owned);
        for (size_t i = 0; i < n; i++)
            out->sorted[i] = owned[i].value;
        find_members(out, owned);
    }
    free(owned);
    return good;
}

/* Sorts the resamples' figures. */
static void percentiles(double *figures, double *low, double *high)
{
    qsort(figures, RESAMPLES, sizeof *figures, ascending);
    *low = figures[RESAMPLES * 25 / 1000 - 1];
    *high = figures[RESAMPLES * 975 / 1000];
}

/* Without memory nothing can be said but that: n = 0. */
agb_summary agb_summarize_processes(const double *values, const unsigned *process, size_t n, uint64_t seed)
{
    sample sample;
    agb_summary summary = {0};
    if (sample_of(&sample, values, process, n)) {
        double medians[RESAMPLES];
        summary = (agb_summary){.n = n, .min = sample.sorted[0], .median = median_of_sorted(sample.sorted, n),
                                .max = sample.sorted[n - 1], .ci95_low = NAN, .ci95_high = NAN};
        for (size_t i = 0; i < RESAMPLES && n >= AGB_LEAST_FOR_INTERVAL; i++)
            medians[i] = resampled_median(&sample, &seed);
        if (n >= AGB_LEAST_FOR_INTERVAL)
            percentiles(medians, &summary.ci95_low, &summary.ci95_high);
    }
    sample_release(&sample);
    return summary;
}

agb_summary agb_summarize(const double *values, size_t n, uint64_t seed)
{
    return agb_summarize_processes(values, NULL, n, seed);
}

agb_ratio agb_paired_ratio(const double *baseline, const double *candidate, const unsigned *process, size_t n,
                           uint64_t seed)
{
    double *ratios = malloc(n * sizeof *ratios);
    if (!ratios)
        return (agb_ratio){0};
    for (size_t i = 0; i < n; i++)
        ratios[i] = baseline[i] / candidate[i];
    agb_summary summary = agb_summarize_processes(ratios, process, n, seed);
    free(ratios);
    return (agb_ratio){summary.median, summary.ci95_low, summary.ci95_high};
}

agb_ratio agb_unpaired_ratio(agb_values baseline, agb_values candidate, uint64_t seed)
{
    sample old, new;
    agb_ratio out = {0};
    bool good = sample_of(&old, baseline.value, baseline.process, baseline.n);
    good = sample_of(&new, candidate.value, candidate.process, candidate.n) && good;
    if (good) {
        double ratios[RESAMPLES];
        out.ratio = median_of_sorted(old.sorted, old.n) / median_of_sorted(new.sorted, new.n);
        for (size_t i = 0; i < RESAMPLES; i++)
            ratios[i] = resampled_median(&old, &seed) / resampled_median(&new, &seed);
        percentiles(ratios, &out.ci95_low, &out.ci95_high);
        if (baseline.n < AGB_LEAST_FOR_INTERVAL || candidate.n < AGB_LEAST_FOR_INTERVAL)
            out.ci95_low = out.ci95_high = NAN;
    }
    sample_release(&old);
    sample_release(&new);
    return out;
}
