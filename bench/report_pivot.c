/* SPDX-License-Identifier: MIT */
/* The published experiment (published.h) beside the measured one. */
#include "report_pivot.h"

#include "ipc_place.h"
#include "published.h"
#include "report.h"
#include "statistics.h"
#include "text.h"

#include <math.h>

enum { LABEL = 27, PUBLISHED = 13, COLUMN = 15, MOST_COLUMNS = 3 };

/* ---- Side by side ------------------------------------------------------------------------------------------------ */

/* Ours alone: nothing of the kind was published. */
typedef struct own_figure {
    const char *label;
    agb_text (*measured)(const agb_results *results, const agb_result *result);
} own_figure;

static agb_text no_text(void)
{
    return (agb_text){"-"};
}

static agb_text low_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return isnan(result->wall.ci95_low) ? no_text() : agb_text_seconds(result->wall.ci95_low);
}

static agb_text high_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return isnan(result->wall.ci95_high) ? no_text() : agb_text_seconds(result->wall.ci95_high);
}

static agb_text floor_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    if (result->in_cache)
        return (agb_text){"in cache"};
    return result->floor_s > 0 ? agb_text_number(result->times_floor) : no_text();
}

static agb_text estimate_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_estimate(&result->estimate);
}

static agb_text estimate_low_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_estimate_end(&result->estimate, result->estimate.ci95_low_pct);
}

static agb_text estimate_high_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_estimate_end(&result->estimate, result->estimate.ci95_high_pct);
}

static agb_text instructions_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_simulated(&result->simulation, result->simulation.instructions);
}

static agb_text l1_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_simulated(&result->simulation, result->simulation.l1_misses);
}

static agb_text last_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_simulated(&result->simulation, result->simulation.last_misses);
}

static agb_text branches_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_simulated(&result->simulation, result->simulation.mispredictions);
}

static const own_figure timed[] = {
    {"  95 % interval, from", low_here},
    {"  to", high_here},
    {"times the machine's floor", floor_here},
};

/* Substitutes where nothing can be counted: rows of their own, below a line. */
static const own_figure estimated[] = {
    {"waits beyond the cache", estimate_here},
    {"  95 % interval, from", estimate_low_here},
    {"  to", estimate_high_here},
};
static const own_figure simulated[] = {
    {"instructions a row", instructions_here},
    {"L1d misses a row", l1_here},
    {"last-level misses a row", last_here},
    {"branch mispredictions a row", branches_here},
};

/* published: as it was printed there. */
static agb_text figure_text(const agb_published_figure *figure, double value, bool published)
{
    agb_text out = no_text();
    if (isnan(value))
        return out;
    switch (figure->unit) {
    case AGB_FIGURE_COUNT:
        return agb_text_count((uint64_t)value);
    case AGB_FIGURE_S:
        if (!published)
            return agb_text_seconds(value);
        snprintf(out.s, sizeof out.s, "%.1f s", value);
        return out;
    case AGB_FIGURE_PCT:
        snprintf(out.s, sizeof out.s, "%.1f %%", value);
        return out;
    case AGB_FIGURE_BYTES:
        if (!published)
            return agb_text_bytes((uint64_t)value);
        snprintf(out.s, sizeof out.s, "about %.1f GB", value / 1e9);
        return out;
    }
    return out;
}

static void print_published_figure(FILE *to, const agb_published_figure *figure, const agb_results *results,
                                   size_t columns)
{
    fprintf(to, "%-*s", LABEL, figure->label);
    for (unsigned i = 0; i < AGB_PUBLISHED_STRATEGIES; i++)
        fprintf(to, " %*s", PUBLISHED + 1, figure_text(figure, figure->value[i], true).s);
    fprintf(to, "  |");
    for (size_t i = 0; i < columns; i++) {
        const agb_result *result = &results->results[i];
        double value = NAN;
        bool has = result->state == AGB_STATE_OK && figure->measured(results, result, &value);
        fprintf(to, " %*s", COLUMN - 2, figure_text(figure, has ? value : NAN, false).s);
    }
    fputc('\n', to);
}

static void print_published(FILE *to, bool counted, const agb_results *results, size_t columns)
{
    for (const agb_published_figure *figure = agb_published_figures; figure->key; figure++) {
        if (figure->counted == counted)
            print_published_figure(to, figure, results, columns);
    }
}

static void print_heading(FILE *to, const char *heading)
{
    for (int i = fprintf(to, "-- %s ", heading); i < AGB_TEXT_CELLS; i++)
        fputc('-', to);
    fputc('\n', to);
}

static void print_own(FILE *to, const own_figure *figures, size_t n, const agb_results *results, size_t columns)
{
    for (size_t figure = 0; figure < n; figure++) {
        fprintf(to, "%-*s %*s %*s  |", LABEL, figures[figure].label, PUBLISHED + 1, "-", PUBLISHED + 1, "-");
        for (size_t i = 0; i < columns; i++) {
            const agb_result *result = &results->results[i];
            agb_text text = result->state == AGB_STATE_OK ? figures[figure].measured(results, result) : no_text();
            fprintf(to, " %*s", COLUMN - 2, text.s);
        }
        fputc('\n', to);
    }
}

static void print_side_by_side(FILE *to, const agb_results *results)
{
    size_t columns = results->n_results < MOST_COLUMNS ? results->n_results : MOST_COLUMNS;
    fprintf(to, "%-*s %*s  | measured here\n", LABEL, "", 2 * PUBLISHED + 3, "published, AMD EPYC 9124");
    fprintf(to, "%-*s %*s %*s  |", LABEL, "", PUBLISHED + 1, "simple", PUBLISHED + 1, "partitioned");
    for (size_t i = 0; i < columns; i++)
        fprintf(to, " %*.*s", COLUMN - 2, COLUMN - 2, results->results[i].name);
    fputc('\n', to);
    agb_report_rule(to);
    print_published(to, false, results, columns);
    print_own(to, timed, sizeof timed / sizeof timed[0], results, columns);
    if (results->replay) {
        char replayed[AGB_TEXT_CELLS - 8];
        snprintf(replayed, sizeof replayed, "replayed from counts of %.40s, not measured here",
                 agb_text_clean(results->support.processor).s);
        print_heading(to, replayed);
    }
    print_published(to, true, results, columns);
    if (results->estimated) {
        print_heading(to, "estimated, not measured");
        print_own(to, estimated, sizeof estimated / sizeof estimated[0], results, columns);
    }
    if (results->simulated) {
        print_heading(to, "simulated, not measured");
        print_own(to, simulated, sizeof simulated / sizeof simulated[0], results, columns);
    }
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->state != AGB_STATE_OK)
            agb_report_line(to, agb_state_name(result->state), "%s: %s", result->name, result->reason);
    }
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

static void print_ratio(FILE *to, const agb_comparison *speedup)
{
    const agb_ratio *here = &speedup->speedup;
    char interval[200] = ": too few repetitions for an interval, and for more";
    if (!isnan(here->ci95_low))
        snprintf(interval, sizeof interval, " [%s, %s]", agb_text_number(here->ci95_low).s,
                 agb_text_number(here->ci95_high).s);
    agb_report_line(to, "speed-up", "partitioned against simple: published %s x, here %s x%s%s",
                    agb_text_number(agb_published_speedup).s, agb_text_number(here->ratio).s, interval,
                    speedup->verdict == AGB_VERDICT_SAME && !isnan(here->ci95_low) ? ": no difference seen" : "");
}

static const char *outcome_of(const agb_comparison *speedup)
{
    static const char *const outcomes[] = {"with no difference to be seen in time", "and it was faster",
                                           "and it was slower"};    /* by verdict */
    return isnan(speedup->speedup.ci95_low) ? "in too few repetitions to tell which is faster"
                                            : outcomes[speedup->verdict];
}

/* Only what the counters measured. */
static void explain_measured(FILE *to, const agb_result *naive, const agb_result *radix, const agb_comparison *speedup)
{
    double more = radix->metrics.value[AGB_OPS_RETIRED] / naive->metrics.value[AGB_OPS_RETIRED];
    double before = naive->metrics.value[AGB_MEMORY_BOUND_PCT], after = radix->metrics.value[AGB_MEMORY_BOUND_PCT];
    bool as_published = more > 1 && after < before && speedup->verdict == AGB_VERDICT_FASTER;
    agb_report_line(to, "in words", "radix retired %s times the operations of naive; its slots stalled on memory went "
                    "from %.1f %% to %.1f %%, %s. %s", agb_text_number(more).s, before, after, outcome_of(speedup),
                    as_published ? "More work and less waiting: what the published experiment says"
                                 : "This is not what the published experiment says: look at the figures above");
}

/* Counts of one machine and times of another make no argument together. */
static void explain_replayed(FILE *to, const agb_results *results, const agb_result *naive, const agb_result *radix)
{
    double more = radix->metrics.value[AGB_OPS_RETIRED] / naive->metrics.value[AGB_OPS_RETIRED];
    agb_report_line(to, "in words", "by the replayed counts of %s radix retired %s times the operations of naive, and "
                    "its slots stalled on memory went from %.1f %% to %.1f %%; all times are of this machine, so they "
                    "prove nothing about those counts", results->support.processor, agb_text_number(more).s,
                    naive->metrics.value[AGB_MEMORY_BOUND_PCT], radix->metrics.value[AGB_MEMORY_BOUND_PCT]);
}

/* The share that an estimate claims: none where its interval leaves room for none. */
static agb_text estimate_in_words(const agb_estimate *estimate)
{
    agb_text out;
    double low = estimate->ci95_low_pct, high = estimate->ci95_high_pct;
    if (estimate->own_twin)
        snprintf(out.s, sizeof out.s, "0 %% by construction (all its groups fit in the cache)");
    else if (isnan(low))
        snprintf(out.s, sizeof out.s, "%.0f %% (too few repetitions for an interval)", estimate->waiting_pct);
    else if (low <= 0 && high >= 0)
        snprintf(out.s, sizeof out.s, "an unclear part (%.0f to %.0f %%: it may be none)", low, high);
    else
        snprintf(out.s, sizeof out.s, "%.0f %% [%.0f, %.0f]", estimate->waiting_pct, low, high);
    return out;
}

/* Without counters, as far as the two substitutes go. */
static void explain_substitutes(FILE *to, const agb_result *naive, const agb_result *radix)
{
    const agb_simulation *simple_run = &naive->simulation, *parted = &radix->simulation;
    if (naive->estimate.has && radix->estimate.has)
        agb_report_line(to, "", "Estimated, not measured: of its time naive spends %s waiting beyond the cache, radix "
                        "%s", estimate_in_words(&naive->estimate).s, estimate_in_words(&radix->estimate).s);
    if (simple_run->has && parted->has && parted->rows == simple_run->rows)
        agb_report_line(to, "", "Simulated, not measured: radix takes %s times the instructions of naive and %s times "
                        "its last-level misses",
                        agb_text_number((double)parted->instructions / (double)simple_run->instructions).s,
                        agb_text_number((double)parted->last_misses / (double)simple_run->last_misses).s);
}

static bool is_counted(const agb_result *result)
{
    return result->metrics.has[AGB_OPS_RETIRED] && result->metrics.has[AGB_MEMORY_BOUND_PCT] &&
           result->metrics.has[AGB_RETIRING_PCT];
}

/* Why the counters have no say: of the contestant that lacks some. */
static void explain_lack(FILE *to, const agb_results *results, const agb_result *naive, const agb_result *radix)
{
    const agb_result *lacking = is_counted(naive) ? radix : naive;
    if (results->counters_off)
        agb_report_line(to, "in words", "stalls and operations were not counted: switched off");
    else if (!results->support.available && !results->replay)
        agb_report_line(to, "in words", "stalls and operations could not be counted here: %s", results->support.reason);
    else
        agb_report_line(to, "in words", "nothing is concluded from the counters, because %s lacks some of the three "
                        "that it takes (memory, retiring, operations): %s", lacking->name,
                        lacking->metrics.reason[0] ? lacking->metrics.reason : "this family cannot count them");
}

/* Without counters: what wall time alone can carry, and not more. */
static void explain_times(FILE *to, const agb_comparison *speedup)
{
    if (isnan(speedup->speedup.ci95_low))
        agb_report_line(to, "", "Wall time says nothing yet: too few repetitions, at least %d are wanted",
                        AGB_LEAST_FOR_INTERVAL);
    else if (speedup->verdict == AGB_VERDICT_FASTER)
        agb_report_line(to, "",
                        "What wall time alone still says: radix handles every row twice, first moving it to its "
                        "partition, then counting it, and ends sooner all the same. That naive, which handles it once, "
                        "waits for memory meanwhile is the published explanation, and it fits; only counters can "
                        "show it");
    else
        agb_report_line(to, "", "Wall time alone does not confirm the published result here: %s",
                        speedup->verdict == AGB_VERDICT_SAME ? "no difference is seen" : "radix was slower");
}

static void print_words(FILE *to, const agb_results *results)
{
    const agb_result *naive = agb_published_result(results, AGB_PUBLISHED_SIMPLE);
    const agb_result *radix = agb_published_result(results, AGB_PUBLISHED_PARTITIONED);
    const agb_comparison *comparison = NULL;
    if (naive && radix)
        comparison = agb_results_comparison_of(results, (size_t)(radix - results->results));
    if (!comparison || agb_results_comparison_of(results, (size_t)(naive - results->results))) {
        agb_report_line(to, "in words", "no comparison: it takes %s as the baseline and %s beside it, both right",
                        agb_published_aggregator[AGB_PUBLISHED_SIMPLE],
                        agb_published_aggregator[AGB_PUBLISHED_PARTITIONED]);
        return;
    }
    print_ratio(to, comparison);
    bool counted = is_counted(naive) && is_counted(radix);
    if (counted && results->replay)
        explain_replayed(to, results, naive, radix);
    else if (counted)
        explain_measured(to, naive, radix, comparison);
    else
        explain_lack(to, results, naive, radix);
    if (!counted && !results->replay)
        explain_times(to, comparison);
    explain_substitutes(to, naive, radix);
}

/* What the rows of substitutes are, and what they cannot say. */
static void print_substitute_terms(FILE *to, const agb_results *results)
{
    const agb_simulation *any = NULL;
    const char *reason = "";
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_simulation *simulation = &results->results[i].simulation;
        any = simulation->has ? simulation : any;
        reason = simulation->reason[0] ? simulation->reason : reason;
    }
    if (results->estimated)
        agb_report_estimate_terms(to, &results->sources[0]);
    if (any)
        agb_report_simulation_terms(to, results, any);
    if (results->simulated && *reason)
        agb_report_line(to, "sim.", "none: %s", reason);
}

static void print_three_times(FILE *to, const agb_results *results)
{
    const agb_source_info *source = &results->sources[0];
    agb_report_line(to, "load", "%s by %s, %s in memory: once, before all runs, in no figure above",
                    agb_text_seconds(source->load_s).s, source->format, agb_text_bytes(source->bytes).s);
    agb_report_line(to, "first run", "touches memory for the first time and pays for it; warm runs reuse memory, as a "
                    "server would");
}

void agb_report_pivot(FILE *to, const agb_results *results)
{
    const agb_settings *settings = &results->settings;
    fprintf(to, "SELECT count(*), %s FROM %s%s%s GROUP BY %s\n\n", settings->group_by,
            agb_text_clean(results->sources[0].name).s, settings->where ? " WHERE " : "",
            settings->where ? settings->where : "", settings->group_by);
    print_side_by_side(to, results);
    fputc('\n', to);
    print_words(to, results);
    agb_report_counters_remarks(to, results, 0);
    print_substitute_terms(to, results);
    if (results->ipc_line)
        agb_report_ipc_line(to, results, 0, LABEL);
    print_three_times(to, results);
    agb_report_line(to, "check", "every run's answer was equal to a reference answer, outside the clock");
    agb_report_environment(to, results);
}
