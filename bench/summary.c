/* SPDX-License-Identifier: MIT */
/* From repetitions to figures: see summary.h. */
#include "summary.h"

#include "replay.h"
#include "slots.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Below this a result was not computed but optimised away, or its rows collapse into few groups. */
static const double least_ns_per_row = 0.2;
enum { FEW_GROUPS = 1000 };

const double agb_least_claim = 1.05;

double agb_least_claim_of(unsigned processes)
{
    enum { SEVERAL = 3 };
    return processes >= SEVERAL ? 1 : agb_least_claim;
}

/* The timed runs' values of one kind. */
static size_t timed(const agb_result *result, double *values, double (*value_of)(const agb_run *run, size_t which),
                    size_t which)
{
    size_t n = 0;
    for (size_t i = result->n_warmup; i < result->n_runs; i++)
        values[n++] = value_of(&result->runs[i], which);
    return n;
}

static double wall_of(const agb_run *run, size_t which)
{
    (void)which;
    return run->wall_s;
}

static double verify_of(const agb_run *run, size_t which)
{
    (void)which;
    return run->verify_s;
}

static double phase_of(const agb_run *run, size_t which)
{
    return run->phase_s[which];
}

/* NULL: nothing is replayed, or not of this contestant. */
static const agb_replay_row *replayed(const agb_result *result, const agb_results *results)
{
    char params[256];
    agb_result_params(result, params, sizeof params);
    return results->replay ? agb_replay_find(results->replay, result->name, params) : NULL;
}

/* The counts of the timed runs, or those of the replayed file; free() them. NULL without memory or counts. */
static agb_repetition_counts *counts_of(const agb_result *result, const agb_results *results, size_t *n)
{
    const agb_replay_row *row = replayed(result, results);
    *n = row ? row->n : results->replay ? 0 : result->n_runs - result->n_warmup;
    agb_repetition_counts *counts = calloc(*n + 1, sizeof *counts);
    for (size_t i = 0; counts && i < *n; i++)
        counts[i] = row ? row->repetitions[i] : result->runs[result->n_warmup + i].counts;
    return counts;
}

/* Counts of phases by other names would be shown under wrong ones. */
static bool phases_are_its_own(const agb_result *result, const agb_results *results)
{
    const agb_replay_row *row = replayed(result, results);
    return !row || agb_replay_names_phases(row, result->aggregator->phases);
}

static void compute_threads(agb_result *result, const agb_counter_support *support, const agb_repetition_counts *counts,
                            size_t n)
{
    for (size_t i = 0; i < n; i++)
        result->counted_threads = counts[i].threads > result->counted_threads ? counts[i].threads
                                                                              : result->counted_threads;
    for (unsigned thread = 0; thread < result->counted_threads && thread < AGB_MOST_COUNTED_THREADS; thread++)
        agb_metrics_compute_thread(support, counts, n, thread, &result->thread_metrics[thread]);
}

static void compute_metrics(agb_result *result, const agb_results *results, const agb_counter_support *support)
{
    size_t n = 0;
    agb_repetition_counts *counts = support ? counts_of(result, results, &n) : NULL;
    bool own_phases = phases_are_its_own(result, results);
    for (int phase = -1; phase < (int)result->stats.phases; phase++) {
        agb_metrics *metrics = phase < 0 ? &result->metrics : &result->phase_metrics[phase];
        *metrics = (agb_metrics){0};
        if (phase >= 0 && !own_phases)
            agb_metrics_note(metrics, "the replayed counts are of phases by other names");
        else if (counts)
            agb_metrics_compute(support, counts, n, phase, metrics);
        else
            snprintf(metrics->reason, sizeof metrics->reason, "switched off: --counters auto turns them on");
    }
    if (!own_phases)
        agb_metrics_note(&result->metrics, "phases: the replayed counts are of phases by other names");
    if (counts)
        compute_threads(result, support, counts, n);
    if (results->replay && n == 0)
        snprintf(result->metrics.reason, sizeof result->metrics.reason, "%.200s has no counts of this contestant",
                 results->replay->file);
    free(counts);
}

/* Whose each timed run is; free() it. NULL: all of one, or no memory. */
static unsigned *processes_of(const agb_result *result, const agb_results *results)
{
    size_t n = result->n_runs - result->n_warmup;
    unsigned *process = results->processes > 1 ? calloc(n + 1, sizeof *process) : NULL;
    for (size_t i = 0; process && i < n; i++)
        process[i] = result->runs[result->n_warmup + i].process;
    return process;
}

/* Runs of one process stand together. */
static void summarize_each_process(agb_result *result, const agb_results *results, const double *walls,
                                   const unsigned *process, size_t n)
{
    double *values = calloc(n + 1, sizeof *values);
    result->process_s = calloc(results->settings.processes + 1, sizeof *result->process_s);
    for (size_t i = 0, first = 0; values && result->process_s && i < n; i++) {
        if (i + 1 < n && process[i + 1] == process[i])
            continue;
        memcpy(values, walls + first, (i + 1 - first) * sizeof *values);
        if (result->n_process < results->settings.processes)
            result->process_s[result->n_process++] = agb_median(values, i + 1 - first);
        first = i + 1;
    }
    free(values);
}

static double resident_of(const agb_run *run, size_t which)
{
    (void)which;
    return run->resident_s;
}

/* The share grows with the ratio, so the ends of the ratio's interval are the ends of the share's. */
static double waiting_pct(double ratio)
{
    return 100 * (1 - 1 / ratio);
}

static void estimate_waiting(agb_result *result, const agb_source_info *source, uint64_t seed)
{
    agb_estimate *out = &result->estimate;
    double *walls = calloc(2 * result->n_runs + 1, sizeof *walls), *twins = walls + result->n_runs;
    if (source->own_twin)
        *out = (agb_estimate){.has = true, .own_twin = true, .resident_s = NAN};
    if (!walls || source->no_twin[0] || source->own_twin) {
        snprintf(out->reason, sizeof out->reason, "%s", walls ? source->no_twin : "no memory for the estimate");
        free(walls);
        return;
    }
    size_t n = timed(result, walls, wall_of, 0);
    timed(result, twins, resident_of, 0);
    agb_ratio cost = agb_paired_ratio(walls, twins, NULL, n, seed);
    out->has = true;
    out->waiting_pct = waiting_pct(cost.ratio);
    out->ci95_low_pct = waiting_pct(cost.ci95_low);
    out->ci95_high_pct = waiting_pct(cost.ci95_high);
    out->resident_s = agb_median(twins, n);
    free(walls);
}

/* What a filter leaves out is only read. Few enough rows stay in a cache from one run to the next. */
static void set_floor(agb_result *result, const agb_source_info *source, const agb_caches *caches)
{
    uint64_t key_bytes = source->rows ? source->bytes / source->rows : sizeof(uint64_t);
    uint64_t left_out = source->rows - source->selected, groups = result->digest.groups;
    result->floor_s = agb_floor_seconds(&source->floor, source->selected, key_bytes, groups) +
                      (double)(left_out * key_bytes) / (source->floor.read_gbps * 1e9);
    result->times_floor = result->wall.median / result->floor_s;
    result->in_cache = result->times_floor < 1 || source->rows * key_bytes + groups * sizeof(agb_group) <= caches->l2;
}

static void summarize(agb_result *result, const agb_results *results, const agb_counter_support *support)
{
    const agb_source_info *source = &results->sources[result->source];
    uint64_t seed = results->settings.seed;
    double *values = calloc(result->n_runs + 1, sizeof *values);
    if (!values || result->n_runs == result->n_warmup) {
        result->state = AGB_STATE_FAILED;
        snprintf(result->reason, sizeof result->reason, "no memory to sum up its runs");
        free(values);
        return;
    }
    size_t n = timed(result, values, wall_of, 0);
    unsigned *process = processes_of(result, results);
    result->wall = agb_summarize_processes(values, process, n, seed);
    if (process)
        summarize_each_process(result, results, values, process, n);
    free(process);
    result->verify_s = agb_summarize(values, timed(result, values, verify_of, 0), seed).median;
    for (size_t phase = 0; phase < result->stats.phases; phase++)
        result->phase_s[phase] = agb_summarize(values, timed(result, values, phase_of, phase), seed).median;
    free(values);
    result->first_s = result->runs[0].wall_s;
    result->ns_per_row = source->rows ? result->wall.median * 1e9 / (double)source->rows : NAN;
    result->too_fast = result->ns_per_row < least_ns_per_row && result->digest.groups > FEW_GROUPS;
    if (source->has_floor) {
        set_floor(result, source, &results->machine.caches);
    }
    for (size_t i = result->n_warmup; i < result->n_runs; i++)
        result->noisy += result->runs[i].noisy;
    compute_metrics(result, results, support);
    if (results->estimated)
        estimate_waiting(result, source, seed);
}

/* Against the baseline's runs in the same rounds. */
static agb_ratio speedup(const agb_result *candidate, const agb_results *results)
{
    unsigned *process = processes_of(candidate, results);
    size_t n = candidate->n_runs - candidate->n_warmup;
    double *walls = calloc(n + 1, sizeof *walls);
    agb_ratio ratio = {1, NAN, NAN};
    if (walls) {
        timed(candidate, walls, wall_of, 0);
        ratio = agb_paired_ratio(candidate->paired_s, walls, process, n, results->settings.seed);
    }
    free(process);
    free(walls);
    return ratio;
}

agb_verdict agb_verdict_of(const agb_ratio *speedup, const agb_ratio *noise, double least_claim)
{
    if (!(speedup->ci95_low > 1 || speedup->ci95_high < 1))    /* or unknown: not a number */
        return AGB_VERDICT_SAME;
    double widest = log(least_claim);
    if (noise)
        widest = fmax(widest, fmax(fabs(log(noise->ci95_low)), fabs(log(noise->ci95_high))));
    if (fabs(log(speedup->ratio)) <= widest)
        return AGB_VERDICT_SAME;
    return speedup->ratio > 1 ? AGB_VERDICT_FASTER : AGB_VERDICT_SLOWER;
}

static const agb_ratio *measure_noise(agb_results *results, size_t baseline, const agb_result *twin)
{
    if (!twin || !twin->paired_s || twin->n_runs - twin->n_warmup < AGB_LEAST_FOR_INTERVAL)
        return NULL;
    agb_noise *noise = &results->noises[results->n_noises++];
    *noise = (agb_noise){baseline, speedup(twin, results)};
    return &noise->ratio;
}

void agb_summarize_source(agb_results *results, agb_result *rows, size_t n, const agb_result *twin,
                          const agb_counter_support *support)
{
    size_t baseline = results->n_results;
    for (size_t i = 0; i < n; i++) {
        agb_result *result = &results->results[results->n_results++];
        *result = rows[i];
        rows[i] = (agb_result){0};
        if (result->state == AGB_STATE_OK)
            summarize(result, results, support);
    }
    if (n > 0 && results->sources[results->results[baseline].source].rows == 0)
        return;    /* nothing was counted, and nothing is faster at that */
    const agb_ratio *noise = n > 0 ? measure_noise(results, baseline, twin) : NULL;
    for (size_t i = baseline + 1; i < baseline + n; i++) {
        if (results->results[i].state != AGB_STATE_OK || !results->results[i].paired_s)
            continue;
        agb_comparison *comparison = &results->comparisons[results->n_comparisons++];
        *comparison = (agb_comparison){i, baseline, .speedup = speedup(&results->results[i], results)};
        comparison->verdict = agb_verdict_of(&comparison->speedup, noise, agb_least_claim_of(results->processes));
    }
}

static bool same_rounds(const agb_result *a, const agb_result *b)
{
    size_t n = a->n_runs - a->n_warmup;
    bool same = a->heat == b->heat && b->n_runs - b->n_warmup == n;
    for (size_t i = 0; same && i < n; i++) {
        const agb_run *mine = &a->runs[a->n_warmup + i], *theirs = &b->runs[b->n_warmup + i];
        same = mine->round == theirs->round && mine->process == theirs->process;
    }
    return same;
}

/* The median over rounds of loser by winner, or the medians' ratio. */
static agb_ratio ratio_of(const agb_results *of_loser, const agb_result *loser, const agb_results *of_winner,
                          const agb_result *winner, bool paired)
{
    uint64_t seed = of_winner->settings.seed;
    double *walls = calloc(winner->n_runs + loser->n_runs + 1, sizeof *walls);
    agb_ratio out = {NAN, NAN, NAN};
    if (!walls)
        return out;
    size_t n = timed(winner, walls, wall_of, 0), m = timed(loser, walls + n, wall_of, 0);
    unsigned *process = processes_of(winner, of_winner), *others = processes_of(loser, of_loser);
    out = paired ? agb_paired_ratio(walls + n, walls, process, n, seed)
                 : agb_unpaired_ratio((agb_values){walls + n, others, m}, (agb_values){walls, process, n}, seed);
    free(process);
    free(others);
    free(walls);
    return out;
}

agb_ratio agb_lead_of(const agb_results *results, size_t better, size_t other, bool *paired)
{
    const agb_result *winner = &results->results[better], *loser = &results->results[other];
    *paired = same_rounds(winner, loser);
    return ratio_of(results, loser, results, winner, *paired);
}

agb_ratio agb_unpaired_of(const agb_results *of_slower, const agb_result *slower, const agb_results *of_faster,
                          const agb_result *faster)
{
    return ratio_of(of_slower, slower, of_faster, faster, false);
}

bool agb_lead_is_claimed(const agb_results *results, size_t better, const agb_ratio *lead)
{
    const agb_noise *noise = agb_results_noise_of(results, results->results[better].source);
    return agb_verdict_of(lead, noise ? &noise->ratio : NULL, agb_least_claim_of(results->processes)) ==
           AGB_VERDICT_FASTER;
}
