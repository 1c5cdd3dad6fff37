/* SPDX-License-Identifier: MIT */
/* Measured counters on paper: shares of slots, counts, and memory, for each contestant, each of its phases, and each
 * thread where there are several. Replayed counts look the same and say that they are. */
#include "report.h"

#include "perf_check.h"
#include "replay.h"
#include "slots.h"
#include "text.h"

#include <inttypes.h>
#include <string.h>

enum { MOST_COLUMNS = 7 };

/* Columns that stand beside each other. */
typedef struct block {
    size_t columns;
    struct column {
        agb_metric metric;
        const char *heading;
        int width;
    } column[MOST_COLUMNS];
} block;

static const block blocks[] = {
    {7, {{AGB_RETIRING_PCT, "retiring", 9}, {AGB_BAD_SPECULATION_PCT, "bad spec.", 9},
         {AGB_FRONTEND_BOUND_PCT, "frontend", 9}, {AGB_BACKEND_BOUND_PCT, "backend", 9},
         {AGB_MEMORY_BOUND_PCT, "memory", 9}, {AGB_CORE_BOUND_PCT, "core", 9}, {AGB_SMT_CONTENTION_PCT, "smt", 8}}},
    {3, {{AGB_BACKEND_STALLED_CYCLES_PCT, "cycles stalled: backend", 24},
         {AGB_FRONTEND_STALLED_CYCLES_PCT, "frontend", 10}, {AGB_MEMORY_STALLED_CYCLES_PCT, "memory", 10}}},
    {6, {{AGB_CYCLES, "cycles", 17}, {AGB_INSTRUCTIONS, "instructions", 17}, {AGB_OPS_RETIRED, "operations", 17},
         {AGB_IPC, "ipc", 6}, {AGB_GHZ, "GHz", 6}, {AGB_LEVEL_1_PCT, "level 1", 8}}},
    {5, {{AGB_DRAM_DEMAND_BYTES, "DRAM, demand", 13}, {AGB_DRAM_FILL_BYTES, "any fill", 11},
         {AGB_LLC_MISSES, "LLC misses", 15}, {AGB_DTLB_WALKS, "dTLB walks", 15}, {AGB_COVERAGE_PCT, "coverage", 10}}},
};

static agb_text value_text(agb_metric metric, double value)
{
    agb_text out;
    switch (metric) {
    case AGB_INSTRUCTIONS:
    case AGB_OPS_RETIRED:
    case AGB_CYCLES:
    case AGB_LLC_MISSES:
    case AGB_DTLB_WALKS:
        return agb_text_count((uint64_t)value);
    case AGB_DRAM_DEMAND_BYTES:
    case AGB_DRAM_FILL_BYTES:
        return agb_text_bytes((uint64_t)value);
    case AGB_IPC:
    case AGB_GHZ:
        snprintf(out.s, sizeof out.s, "%.2f", value);
        return out;
    default:
        snprintf(out.s, sizeof out.s, "%.1f %%", value);
        return out;
    }
}

static agb_text metric_text(const agb_metrics *metrics, agb_metric metric)
{
    return metrics->has[metric] ? value_text(metric, metrics->value[metric]) : (agb_text){"-"};
}

/* How far the repetitions are apart, the greatest from the least. */
static agb_text spread_text(const agb_metrics *metrics, agb_metric metric)
{
    bool several = metrics->has[metric] && metrics->counted[metric] > 1 && metric != AGB_COVERAGE_PCT;
    return several ? value_text(metric, metrics->most[metric] - metrics->least[metric]) : (agb_text){"-"};
}

static bool has_spread(const block *block, const agb_metrics *metrics)
{
    for (size_t i = 0; i < block->columns; i++) {
        if (spread_text(metrics, block->column[i].metric).s[0] != '-')
            return true;
    }
    return false;
}

static bool has_any(const block *block, const agb_metrics *metrics)
{
    for (size_t i = 0; i < block->columns; i++) {
        if (metrics->has[block->column[i].metric] && block->column[i].metric != AGB_COVERAGE_PCT)
            return true;
    }
    return false;
}

static void print_row(FILE *to, const block *block, const char *label, const agb_metrics *metrics, int width,
                      agb_text (*text_of)(const agb_metrics *metrics, agb_metric metric))
{
    fprintf(to, "%-*.*s", width, width, label);
    for (size_t i = 0; i < block->columns; i++)
        fprintf(to, " %*s", block->column[i].width, text_of(metrics, block->column[i].metric).s);
    fputc('\n', to);
}

/* A contestant, how far its repetitions are apart, its phases where there are several, its threads likewise. */
static void print_result(FILE *to, const block *block, const agb_result *result, int width)
{
    char label[300];
    agb_result_label(result, label, sizeof label);
    print_row(to, block, label, &result->metrics, width, metric_text);
    if (has_spread(block, &result->metrics))
        print_row(to, block, "  spread", &result->metrics, width, spread_text);
    for (size_t i = 0; result->stats.phases > 1 && i < result->stats.phases; i++) {
        snprintf(label, sizeof label, "  %s", result->aggregator->phases[i]);
        if (has_any(block, &result->phase_metrics[i]))
            print_row(to, block, label, &result->phase_metrics[i], width, metric_text);
    }
    for (unsigned i = 0; result->counted_threads > 1 && i < result->counted_threads; i++) {
        if (i == AGB_MOST_COUNTED_THREADS) {
            fprintf(to, "  %u more threads: in the sum only\n", result->counted_threads - i);
            break;
        }
        snprintf(label, sizeof label, "  thread %u", i);
        if (has_any(block, &result->thread_metrics[i]))
            print_row(to, block, label, &result->thread_metrics[i], width, metric_text);
    }
}

static bool is_shown(const agb_result *result, size_t source)
{
    return result->source == source && result->state == AGB_STATE_OK;
}

static void print_block(FILE *to, const block *block, const agb_results *results, size_t source, int width)
{
    bool any = false;
    for (size_t i = 0; i < results->n_results; i++)
        any = any || (is_shown(&results->results[i], source) && has_any(block, &results->results[i].metrics));
    if (!any)
        return;
    fprintf(to, "\n%-*s", width, results->replay ? "replayed" : "");
    for (size_t i = 0; i < block->columns; i++)
        fprintf(to, " %*s", block->column[i].width, block->column[i].heading);
    fputc('\n', to);
    agb_report_rule(to);
    for (size_t i = 0; i < results->n_results; i++) {
        if (is_shown(&results->results[i], source))
            print_result(to, block, &results->results[i], width);
    }
}

/* ---- Events of the user's choice --------------------------------------------------------------------------------- */

enum { EVENT_WIDTH = 22, EVENTS_ABREAST = 3 };

/* The end of a long name tells more than its beginning. */
static void print_event_name(FILE *to, const char *name)
{
    size_t length = strlen(name);
    bool cut = length > EVENT_WIDTH;
    fprintf(to, " %*s%s", cut ? 0 : EVENT_WIDTH, cut ? "~" : name, cut ? name + length - EVENT_WIDTH + 1 : "");
}

static void print_events(FILE *to, const agb_results *results, size_t source, int width)
{
    const agb_counter_support *support = &results->support;
    for (unsigned first = 0; first < support->events; first += EVENTS_ABREAST) {
        unsigned end = first + EVENTS_ABREAST < support->events ? first + EVENTS_ABREAST : support->events;
        fprintf(to, "\n%-*s", width, "events");
        for (unsigned i = first; i < end; i++)
            print_event_name(to, support->event[i].name);
        fputc('\n', to);
        agb_report_rule(to);
        for (size_t row = 0; row < results->n_results; row++) {
            const agb_result *result = &results->results[row];
            char label[256];
            if (!is_shown(result, source))
                continue;
            agb_result_label(result, label, sizeof label);
            fprintf(to, "%-*.*s", width, width, label);
            for (unsigned i = first; i < end; i++)
                fprintf(to, " %*s", EVENT_WIDTH,
                        result->metrics.has_event[i] ? agb_text_count((uint64_t)result->metrics.event[i]).s : "-");
            fputc('\n', to);
        }
    }
    for (unsigned i = 0; i < support->events; i++) {
        if (!support->event[i].counts)
            agb_report_line(to, "event", "%s: not counted: %s", support->event[i].name, support->event[i].reason);
    }
}

/* ---- perf stat ------------------------------------------------------------------------------------------------ */

/* Ours and perf stat's, event by event; only the events of one source. */
static void print_perf_check(FILE *to, const agb_results *results, size_t source, int width)
{
    const agb_perf_check *check = results->perf_check;
    if (check->n > 0)
        fprintf(to, "\n%-*s %12s %10s %18s %18s %9s\n", width, "perf stat", "pass", "event", "counted here",
                "by perf stat", "ratio");
    if (check->n > 0)
        agb_report_rule(to);
    for (size_t i = 0; i < check->n; i++) {
        const agb_checked_event *event = &check->event[i];
        char label[256], ratio[32] = "-";
        if (results->results[event->result].source != source)
            continue;
        agb_result_label(&results->results[event->result], label, sizeof label);
        if (event->theirs.counted && event->theirs.value > 0)
            snprintf(ratio, sizeof ratio, "%.4f", event->ours / event->theirs.value);
        fprintf(to, "%-*.*s %12s %10s %18s %18s %9s\n", width, width, label, event->pass, event->symbol,
                agb_text_count((uint64_t)event->ours).s,
                event->theirs.counted ? agb_text_count((uint64_t)event->theirs.value).s : "not counted", ratio);
    }
    if (check->reason[0])
        agb_report_line(to, "perf stat", "no check: %s", check->reason);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

/* A sentence that several contestants share is said once. */
static bool said_before(const agb_results *results, size_t number)
{
    for (size_t i = 0; i < number; i++) {
        const agb_result *other = &results->results[i], *result = &results->results[number];
        if (is_shown(other, result->source) && strcmp(other->metrics.reason, result->metrics.reason) == 0)
            return true;
    }
    return false;
}

void agb_report_counters_remarks(FILE *to, const agb_results *results, size_t source)
{
    for (size_t i = 0; i < results->n_results && results->support.available; i++) {
        const agb_result *result = &results->results[i];
        char label[256];
        if (!is_shown(result, source) || !result->metrics.reason[0] || said_before(results, i))
            continue;
        agb_result_label(result, label, sizeof label);
        agb_report_line(to, "counters", "%s: %s", label, result->metrics.reason);
    }
}

/* What each strategy's own file predicts, where there is something to hold against it. */
static void print_predictions(FILE *to, const agb_results *results, size_t source)
{
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        char label[256];
        if (!is_shown(result, source) || !result->aggregator)
            continue;
        agb_result_label(result, label, sizeof label);
        if (results->support.available && result->aggregator->prediction)
            agb_report_line(to, "expected", "%s: %s", label, result->aggregator->prediction);
    }
}

void agb_report_counters(FILE *to, const agb_results *results, size_t source, int width)
{
    if (results->perf_check)
        print_perf_check(to, results, source, width);
    if (results->counters_off)
        return;
    for (size_t i = 0; i < sizeof blocks / sizeof blocks[0]; i++)
        print_block(to, &blocks[i], results, source, width);
    print_events(to, results, source, width);
    agb_report_counters_remarks(to, results, source);
    print_predictions(to, results, source);
}

void agb_report_counters_state(FILE *to, const agb_results *results)
{
    const agb_counter_support *support = &results->support;
    if (results->counters_off)
        agb_report_line(to, "counters", "switched off");
    else if (results->replay)
        agb_report_line(to, "counters", "replayed from %s, counts of %s (%s): not of this run; all times are of this "
                        "machine. %s", results->replay->file, support->processor, support->family->uarch,
                        results->replay->about[0] ? results->replay->about
                                                  : "The file does not say how they came to be");
    else if (!support->available)
        agb_report_line(to, "counters", "none: %s", support->reason);
    else
        agb_report_line(to, "counters", "user mode of the counted region, %u passes, one a repetition; medians, and "
                        "their spread from least to greatest; one phase switch costs %s, charged to the phase that "
                        "ends%s%s", agb_counters_passes(support),
                        agb_text_seconds(support->switch_ns * 1e-9).s, support->calibration[0] ? "; checked by " : "",
                        support->calibration);
}
