/* SPDX-License-Identifier: MIT */
/* Estimated and simulated values on paper: tables of their own, each headed by what it is, each followed by what it
 * cannot say. No value of them stands in a column of measured ones. */
#include "report.h"

#include "resident.h"
#include "statistics.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static void print_label(FILE *to, const agb_result *result, int width)
{
    char label[256];
    agb_result_label(result, label, sizeof label);
    fprintf(to, "%-*.*s", width, width, label);
}

agb_text agb_text_estimate(const agb_estimate *estimate)
{
    agb_text out = {"-"};
    if (estimate->has && estimate->own_twin)
        snprintf(out.s, sizeof out.s, "0, own twin");
    else if (estimate->has)
        snprintf(out.s, sizeof out.s, "est. %.1f %%", estimate->waiting_pct);
    return out;
}

agb_text agb_text_estimate_end(const agb_estimate *estimate, double percent)
{
    agb_text out = {"-"};
    if (estimate->has && !estimate->own_twin && isnan(percent))
        snprintf(out.s, sizeof out.s, "too few runs");
    else if (estimate->has && !estimate->own_twin)
        snprintf(out.s, sizeof out.s, "%.1f %%", percent);
    return out;
}

static void print_estimate(FILE *to, const agb_result *result, int width)
{
    const agb_estimate *estimate = &result->estimate;
    char interval[80];
    print_label(to, result, width);
    if (!estimate->has) {
        fprintf(to, "  none: %s\n", estimate->reason);
        return;
    }
    if (isnan(estimate->ci95_low_pct) || estimate->own_twin)
        snprintf(interval, sizeof interval, "%s", agb_text_estimate_end(estimate, estimate->ci95_low_pct).s);
    else
        snprintf(interval, sizeof interval, "%.1f..%.1f %%", estimate->ci95_low_pct, estimate->ci95_high_pct);
    fprintf(to, " %22s %20s %14s\n", agb_text_estimate(estimate).s, interval,
            isnan(estimate->resident_s) ? "-" : agb_text_seconds(estimate->resident_s).s);
}

void agb_report_estimate_terms(FILE *to, const agb_source_info *source)
{
    if (source->own_twin)
        agb_report_line(to, "est.", "all %s groups of these rows fit in the L2 cache: the rows are their own twin, and "
                        "what they cost beyond it is 0 by construction",
                        agb_text_count(source->resident_groups).s);
    else
        agb_report_line(to, "est.", "not counted but estimated: %s. The twin here has %s groups. An interval takes %d "
                        "repetitions, and one that contains 0 shows no waiting", agb_resident_limits,
                        agb_text_count(source->resident_groups).s, AGB_LEAST_FOR_INTERVAL);
}

static void print_estimates(FILE *to, const agb_results *results, size_t source, int width)
{
    fprintf(to, "\n%-*s %22s %20s %14s\n", width, "estimated", "waits beyond cache", "95 % interval", "twin's run");
    agb_report_rule(to);
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->source == source && result->state == AGB_STATE_OK)
            print_estimate(to, result, width);
    }
    agb_report_estimate_terms(to, &results->sources[source]);
}

agb_text agb_text_simulated(const agb_simulation *simulation, uint64_t count)
{
    agb_text out = {"-"};
    if (simulation->has && simulation->rows > 0)
        snprintf(out.s, sizeof out.s, "sim. %.40s", agb_text_number((double)count / (double)simulation->rows).s);
    return out;
}

static void print_simulation(FILE *to, const agb_result *result, int width)
{
    const agb_simulation *simulation = &result->simulation;
    print_label(to, result, width);
    if (!simulation->has) {
        fprintf(to, "  ");
        agb_text_wrap(to, simulation->reason, width + 2, width + 2);
        return;
    }
    fprintf(to, " %18s %16s %19s %18s\n", agb_text_simulated(simulation, simulation->instructions).s,
            agb_text_simulated(simulation, simulation->l1_misses).s,
            agb_text_simulated(simulation, simulation->last_misses).s,
            agb_text_simulated(simulation, simulation->mispredictions).s);
}

/* Fewer rows of a column whose keys come back have fewer rows a group: what a new group costs weighs more there. */
static void describe_sample(const agb_source_info *source, const agb_simulation *simulation, char *text, size_t size)
{
    double here = (double)simulation->rows / (double)(simulation->groups ? simulation->groups : 1);
    double all = (double)source->rows / (double)(source->groups ? source->groups : 1);
    snprintf(text, size, " (blocks of 256 neighbours from all over the source: %s rows a group where all rows have %s, "
             "so a new group's cost weighs %s)", agb_text_number(here).s, agb_text_number(all).s,
             here < all ? "more" : "as much");
}

void agb_report_simulation_terms(FILE *to, const agb_results *results, const agb_simulation *simulation)
{
    const agb_source_info *source = &results->sources[0];
    agb_models models = agb_models_of(&results->machine.caches);
    char sample[400] = "";
    if (simulation->rows < source->rows)
        describe_sample(source, simulation, sample, sizeof sample);
    agb_report_line(to, "sim.", "not measured but simulated by valgrind, for each row, over %s rows in %s groups%s, on "
                    "one worker. Instructions are exact; misses are those of a model, L1d %" PRIu64 " KiB and last "
                    "level %" PRIu64 " KiB, cold at the start, without prefetchers or TLBs; branches those of a simple "
                    "predictor. There is no time in it", agb_text_count(simulation->rows).s,
                    agb_text_count(simulation->groups).s, sample, models.l1d.bytes >> 10, models.last.bytes >> 10);
}

static void print_simulations(FILE *to, const agb_results *results, size_t source, int width)
{
    const agb_simulation *any = NULL;
    fprintf(to, "\n%-*s %18s %16s %19s %18s\n", width, "simulated, a row", "instructions", "L1d misses",
            "last-level misses", "mispredictions");
    agb_report_rule(to);
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->source != source || result->state != AGB_STATE_OK)
            continue;
        print_simulation(to, result, width);
        any = result->simulation.has ? &result->simulation : any;
    }
    if (any)
        agb_report_simulation_terms(to, results, any);
}

void agb_report_substitutes(FILE *to, const agb_results *results, size_t source, int width)
{
    if (!agb_results_any_ok(results, source))
        return;
    if (results->estimated)
        print_estimates(to, results, source, width);
    if (results->simulated)
        print_simulations(to, results, source, width);
}
