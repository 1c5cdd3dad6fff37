/* SPDX-License-Identifier: MIT */
/* The published experiment beside the measured one. Published figures: Pivot, 28 October 2026, SELECT count(*), UserID
 * FROM hits GROUP BY UserID, one core of an AMD EPYC 9124, bare metal, data in page cache, perf stat -M
 * backend_bound_memory,retiring. Its simple hash table is `naive` here, its partitioned one (4096 partitions by the top
 * 12 bits of the hash) is `radix`. */
#include "report_pivot.h"

#include "report.h"
#include "resident.h"
#include "text.h"

#include <math.h>
#include <string.h>

enum { LABEL = 27, PUBLISHED = 13, COLUMN = 15, MOST_COLUMNS = 3 };

static const char simple[] = "naive", partitioned[] = "radix";
static const double published_speedup = 3.6 / 2.7;

/* ---- Side by side ------------------------------------------------------------------------------------------------ */

typedef struct figure {
    const char *label, *simple, *partitioned;    /* published */
    agb_text (*measured)(const agb_results *results, const agb_result *result);
} figure;

static agb_text no_text(void)
{
    return (agb_text){"-"};
}

static agb_text percent(const agb_result *result, agb_metric metric)
{
    agb_text out = no_text();
    if (result->metrics.has[metric])
        snprintf(out.s, sizeof out.s, "%.1f %%", result->metrics.value[metric]);
    return out;
}

static agb_text rows_here(const agb_results *results, const agb_result *result)
{
    return agb_text_count(results->sources[result->source].rows);
}

static agb_text groups_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_count(result->digest.groups);
}

static agb_text first_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_seconds(result->first_s);
}

static agb_text warm_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return agb_text_seconds(result->wall.median);
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

static agb_text stalled_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return percent(result, AGB_MEMORY_BOUND_PCT);
}

static agb_text retiring_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    return percent(result, AGB_RETIRING_PCT);
}

static agb_text operations_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    bool has = result->metrics.has[AGB_OPS_RETIRED];
    return has ? agb_text_count((uint64_t)result->metrics.value[AGB_OPS_RETIRED]) : no_text();
}

static agb_text dram_here(const agb_results *results, const agb_result *result)
{
    (void)results;
    bool has = result->metrics.has[AGB_DRAM_DEMAND_BYTES];
    return has ? agb_text_bytes((uint64_t)result->metrics.value[AGB_DRAM_DEMAND_BYTES]) : no_text();
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

/* Substitutes where nothing can be counted: rows of their own, below a line. */
static const figure estimated[] = {
    {"waits beyond the cache", "-", "-", estimate_here},
};
static const figure simulated[] = {
    {"instructions a row", "-", "-", instructions_here},
    {"L1d misses a row", "-", "-", l1_here},
    {"last-level misses a row", "-", "-", last_here},
    {"branch mispredictions a row", "-", "-", branches_here},
};

/* Counts of this run; where they are replayed, below a line that says so. */
static const figure counted[] = {
    {"slots stalled on memory", "50.1 %", "23.5 %", stalled_here},
    {"slots retiring", "16.1 %", "32.2 %", retiring_here},
    {"operations retired", "11,431,618,219", "19,350,459,182", operations_here},
    {"pulled from DRAM on demand", "about 4.5 GB", "about 1.5 GB", dram_here},
};

static const figure figures[] = {
    {"rows", "99,997,497", "99,997,497", rows_here},
    {"groups", "17,630,976", "17,630,976", groups_here},
    {"first run", "3.9 s", "-", first_here},
    {"warm run, median", "3.6 s", "2.7 s", warm_here},
    {"  95 % interval, from", "-", "-", low_here},
    {"  to", "-", "-", high_here},
    {"times the machine's floor", "-", "-", floor_here},
};

static void print_figure(FILE *to, const figure *figure, const agb_results *results, size_t columns)
{
    fprintf(to, "%-*s %*s %*s  |", LABEL, figure->label, PUBLISHED + 1, figure->simple, PUBLISHED + 1,
            figure->partitioned);
    for (size_t i = 0; i < columns; i++) {
        const agb_result *result = &results->results[i];
        agb_text text = result->state == AGB_STATE_OK ? figure->measured(results, result) : no_text();
        fprintf(to, " %*s", COLUMN - 2, text.s);
    }
    fputc('\n', to);
}

static void print_figures(FILE *to, const char *heading, const figure *figures, size_t n, const agb_results *results,
                          size_t columns)
{
    if (*heading) {
        for (int i = fprintf(to, "-- %s ", heading); i < AGB_TEXT_CELLS; i++)
            fputc('-', to);
        fputc('\n', to);
    }
    for (size_t i = 0; i < n; i++)
        print_figure(to, &figures[i], results, columns);
}

static void print_side_by_side(FILE *to, const agb_results *results)
{
    size_t columns = results->n_results < MOST_COLUMNS ? results->n_results : MOST_COLUMNS;
    fprintf(to, "%-*s %*s  | measured here\n", LABEL, "", 2 * PUBLISHED + 3, "published, AMD EPYC 9124");
    fprintf(to, "%-*s %*s %*s  |", LABEL, "", PUBLISHED + 1, "simple", PUBLISHED + 1, "partitioned");
    for (size_t i = 0; i < columns; i++)
        fprintf(to, " %*.*s", COLUMN - 2, COLUMN - 2, results->results[i].name);
    fputc('\n', to);
    for (int i = 0; i < AGB_TEXT_CELLS; i++)
        fputc('-', to);
    fputc('\n', to);
    print_figures(to, "", figures, sizeof figures / sizeof figures[0], results, columns);
    char replayed[AGB_TEXT_CELLS - 8] = "";
    if (results->replay)
        snprintf(replayed, sizeof replayed, "replayed from counts of %.40s, not measured here",
                 results->support.processor);
    print_figures(to, replayed, counted, sizeof counted / sizeof counted[0], results, columns);
    if (results->estimated)
        print_figures(to, "estimated, not measured", estimated, sizeof estimated / sizeof estimated[0], results,
                      columns);
    if (results->simulated)
        print_figures(to, "simulated, not measured", simulated, sizeof simulated / sizeof simulated[0], results,
                      columns);
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->state != AGB_STATE_OK)
            agb_report_line(to, agb_state_name(result->state), "%s: %s", result->name, result->reason);
    }
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

static const agb_result *find(const agb_results *results, const char *name, const agb_comparison **comparison)
{
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (strcmp(result->name, name) == 0 && result->state == AGB_STATE_OK) {
            *comparison = agb_results_comparison_of(results, i);
            return result;
        }
    }
    return NULL;
}

static void print_ratio(FILE *to, const agb_comparison *speedup)
{
    const agb_ratio *here = &speedup->speedup;
    char interval[200] = "";
    if (!isnan(here->ci95_low))
        snprintf(interval, sizeof interval, " [%s, %s]", agb_text_number(here->ci95_low).s,
                 agb_text_number(here->ci95_high).s);
    agb_report_line(to, "speed-up", "partitioned against simple: published %s x, here %s x%s%s",
                    agb_text_number(published_speedup).s, agb_text_number(here->ratio).s, interval,
                    speedup->verdict == AGB_VERDICT_SAME ? ": no difference seen" : "");
}

/* Only what the counters measured. */
static void explain_measured(FILE *to, const agb_result *naive, const agb_result *radix, const agb_comparison *speedup)
{
    static const char *const outcomes[] = {"with no difference to be seen in time", "and it was faster",
                                           "and it was slower"};    /* by verdict */
    double more = radix->metrics.value[AGB_OPS_RETIRED] / naive->metrics.value[AGB_OPS_RETIRED];
    double before = naive->metrics.value[AGB_MEMORY_BOUND_PCT], after = radix->metrics.value[AGB_MEMORY_BOUND_PCT];
    bool as_published = more > 1 && after < before && speedup->verdict == AGB_VERDICT_FASTER;
    agb_report_line(to, "in words", "radix retired %s times the operations of naive; its slots stalled on memory went "
                    "from %.1f %% to %.1f %%, %s. %s", agb_text_number(more).s, before, after,
                    outcomes[speedup->verdict],
                    as_published ? "More work and less waiting: what the published experiment says"
                                 : "This is not what the published experiment says: look at the figures above");
}

/* Counts of one machine and times of another make no argument together. */
static void explain_replayed(FILE *to, const agb_results *results, const agb_result *naive, const agb_result *radix)
{
    double more = radix->metrics.value[AGB_OPS_RETIRED] / naive->metrics.value[AGB_OPS_RETIRED];
    agb_report_line(to, "in words", "on %s, which was recorded, radix retired %s times the operations of naive, and "
                    "its slots stalled on memory went from %.1f %% to %.1f %%; all times are of this machine, so they "
                    "prove nothing about those counts", results->support.processor, agb_text_number(more).s,
                    naive->metrics.value[AGB_MEMORY_BOUND_PCT], radix->metrics.value[AGB_MEMORY_BOUND_PCT]);
}

/* Without counters, as far as the two substitutes go. */
static void explain_substitutes(FILE *to, const agb_result *naive, const agb_result *radix)
{
    const agb_simulation *simple_run = &naive->simulation, *parted = &radix->simulation;
    if (naive->estimate.has && radix->estimate.has)
        agb_report_line(to, "", "Estimated, not measured: naive spends %.0f %% of its time waiting beyond the cache, "
                        "radix %.0f %%", naive->estimate.waiting_pct, radix->estimate.waiting_pct);
    if (simple_run->has && parted->has && parted->rows == simple_run->rows)
        agb_report_line(to, "", "Simulated, not measured: radix takes %s times the instructions of naive and %s times "
                        "its last-level misses",
                        agb_text_number((double)parted->instructions / (double)simple_run->instructions).s,
                        agb_text_number((double)parted->last_misses / (double)simple_run->last_misses).s);
}

/* Without counters: what wall time alone can carry, and not more. */
static void explain_unmeasured(FILE *to, const agb_results *results, const agb_result *radix,
                               const agb_comparison *speedup)
{
    const char *reason = results->counters_off ? "switched off" : results->support.reason[0] ? results->support.reason
                                                                                          : radix->metrics.reason;
    agb_report_line(to, "in words", "stalls and operations could not be counted here: %s", reason);
    if (speedup->verdict == AGB_VERDICT_FASTER)
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
    const agb_comparison *of_naive, *of_radix;
    const agb_result *naive = find(results, simple, &of_naive);
    const agb_result *radix = find(results, partitioned, &of_radix);
    if (!naive || !radix || of_naive || !of_radix) {
        agb_report_line(to, "in words", "no comparison: it takes %s as the baseline and %s beside it, both right",
                        simple, partitioned);
        return;
    }
    print_ratio(to, of_radix);
    bool counted = naive->metrics.has[AGB_OPS_RETIRED] && radix->metrics.has[AGB_OPS_RETIRED] &&
                   naive->metrics.has[AGB_MEMORY_BOUND_PCT] && radix->metrics.has[AGB_MEMORY_BOUND_PCT];
    if (counted && results->replay)
        explain_replayed(to, results, naive, radix);
    else if (counted)
        explain_measured(to, naive, radix, of_radix);
    else
        explain_unmeasured(to, results, radix, of_radix);
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
        agb_report_line(to, "est.", "not counted but estimated: %s", agb_resident_limits);
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
    fprintf(to, "SELECT count(*), %s FROM %s%s%s GROUP BY %s\n\n", settings->group_by, results->sources[0].name,
            settings->where ? " WHERE " : "", settings->where ? settings->where : "", settings->group_by);
    print_side_by_side(to, results);
    fputc('\n', to);
    print_words(to, results);
    print_substitute_terms(to, results);
    print_three_times(to, results);
    agb_report_line(to, "check", "every run's answer was equal to a reference answer, outside the clock");
    agb_report_environment(to, results);
}
