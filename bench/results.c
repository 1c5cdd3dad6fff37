/* SPDX-License-Identifier: MIT */
/* Small questions that every report asks of the results: see results.h. */
#include "results.h"

#include "perf_check.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *agb_state_name(agb_state state)
{
    static const char *const names[] = {"ok", "wrong", "timeout", "crashed", "out-of-memory", "failed", "skipped"};
    return names[state];
}

const char *agb_verdict_name(agb_verdict verdict)
{
    static const char *const names[] = {"no difference seen", "faster", "slower"};
    return names[verdict];
}

const char *agb_pages_name(agb_pages pages)
{
    static const char *const names[] = {"default", "4k", "huge"};
    return names[pages];
}

const char *agb_memory_mode_name(agb_memory_mode mode)
{
    return mode == AGB_MEMORY_WARM ? "warm" : "fresh";
}

void agb_result_release(agb_result *result)
{
    free(result->name);
    free(result->params);
    free(result->runs);
    free(result->paired_s);
    free(result->process_s);
    free(result->top);
    *result = (agb_result){0};
}

void agb_results_release(agb_results *results)
{
    for (size_t i = 0; i < results->n_results; i++)
        agb_result_release(&results->results[i]);
    for (size_t i = 0; i < results->n_sources; i++) {
        free(results->sources[i].name);
        free(results->sources[i].format);
        agb_key_layout_destroy(results->sources[i].layout);
    }
    for (size_t i = 0; i < results->n_notes; i++)
        free(results->notes[i]);
    if (results->perf_check)
        free(results->perf_check->event);
    free(results->perf_check);
    free(results->results);
    free(results->sources);
    free(results->comparisons);
    free(results->noises);
    free(results->notes);
    *results = (agb_results){0};
}

void agb_results_note(agb_results *results, const char *format, ...)
{
    char *note;
    va_list arguments;
    va_start(arguments, format);
    int length = vasprintf(&note, format, arguments);
    va_end(arguments);
    if (length < 0)
        return;
    char **notes = results->notes;
    for (size_t i = 0; i < results->n_notes; i++) {
        if (strcmp(notes[i], note) == 0) {
            free(note);
            return;
        }
    }
    notes = realloc(notes, (results->n_notes + 1) * sizeof *notes);
    if (!notes) {
        free(note);
        return;
    }
    notes[results->n_notes++] = note;
    results->notes = notes;
}

bool agb_results_all_ok(const agb_results *results)
{
    size_t ok = 0, skipped = 0;
    for (size_t i = 0; i < results->n_results; i++) {
        ok += results->results[i].state == AGB_STATE_OK;
        skipped += results->results[i].state == AGB_STATE_SKIPPED;
    }
    return ok + skipped == results->n_results && (ok > 0 || skipped == 0);
}

bool agb_results_any_ok(const agb_results *results, size_t source)
{
    for (size_t i = 0; i < results->n_results; i++)
        if (results->results[i].source == source && results->results[i].state == AGB_STATE_OK)
            return true;
    return false;
}

void agb_result_params(const agb_result *result, char *params, size_t size)
{
    int at = snprintf(params, size, "%s", result->params);
    if (result->threads && at >= 0 && (size_t)at < size)
        snprintf(params + at, size - (size_t)at, "%sthreads=%u", at ? ":" : "", result->threads);
}

void agb_result_label(const agb_result *result, char *label, size_t size)
{
    char params[256];
    agb_result_params(result, params, sizeof params);
    snprintf(label, size, "%s%s%s", result->name, *params ? " " : "", params);
}

const char *agb_results_counters_source(const agb_results *results, const agb_metrics *metrics)
{
    return !agb_metrics_any(metrics) ? "none" : results->replay ? "replay" : "pmu";
}

const char *agb_results_counters_reason(const agb_results *results, const agb_metrics *metrics)
{
    if (metrics->reason[0] || agb_metrics_any(metrics))
        return metrics->reason;
    return results->support.reason[0] ? results->support.reason : "nothing was counted";
}

const agb_comparison *agb_results_comparison_of(const agb_results *results, size_t result)
{
    for (size_t i = 0; i < results->n_comparisons; i++) {
        if (results->comparisons[i].result == result)
            return &results->comparisons[i];
    }
    return NULL;
}

const agb_noise *agb_results_noise_of(const agb_results *results, size_t source)
{
    for (size_t i = 0; i < results->n_noises; i++) {
        if (results->results[results->noises[i].baseline].source == source)
            return &results->noises[i];
    }
    return NULL;
}

void agb_results_count_noisy(const agb_results *results, size_t *noisy, size_t *all)
{
    *noisy = *all = 0;
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        *noisy += result->noisy;
        *all += result->n_runs - result->n_warmup;
    }
}

double agb_process_spread(const agb_result *result)
{
    if (!result->process_s || result->n_process == 0)
        return NAN;
    double least = result->process_s[0], most = least;
    for (size_t i = 1; i < result->n_process; i++) {
        least = fmin(least, result->process_s[i]);
        most = fmax(most, result->process_s[i]);
    }
    return (most - least) / result->wall.median;
}
