/* SPDX-License-Identifier: MIT */
/* The report for spreadsheets: one line for each contestant; a figure that is not there is an empty field. */
#include "report.h"

#include "csv_field.h"
#include "ipc_place.h"
#include "report_sweep.h"
#include "scaling.h"

#include <inttypes.h>
#include <math.h>

static void number_field(FILE *to, bool has, double value)
{
    agb_csv_number(to, has ? value : NAN);
}

static void count_field(FILE *to, bool has, uint64_t value)
{
    if (has)
        fprintf(to, ",%" PRIu64, value);
    else
        fputc(',', to);
}

static void print_substitutes(FILE *to, const agb_result *result)
{
    const agb_estimate *estimate = &result->estimate;
    const agb_simulation *simulation = &result->simulation;
    double rows = (double)simulation->rows;
    number_field(to, estimate->has, estimate->waiting_pct);
    number_field(to, estimate->has, estimate->ci95_low_pct);
    number_field(to, estimate->has, estimate->ci95_high_pct);
    count_field(to, simulation->has, simulation->rows);
    number_field(to, simulation->has, (double)simulation->instructions / rows);
    number_field(to, simulation->has, (double)simulation->l1_misses / rows);
    number_field(to, simulation->has, (double)simulation->last_misses / rows);
    number_field(to, simulation->has, (double)simulation->mispredictions / rows);
}

static void sweep_field(FILE *to, const agb_results *results, const agb_result *result, const agb_sweep *axis)
{
    char value[32] = "";
    agb_sweep_value_of(results, result, axis, value, sizeof value);
    agb_csv_text(to, value);
}

static void print_counters_source(FILE *to, const agb_results *results, const agb_result *result)
{
    bool ok = result->state == AGB_STATE_OK;
    const char *source = ok ? agb_results_counters_source(results, &result->metrics) : "none";
    agb_csv_text(to, source);
    agb_csv_text(to, ok ? agb_results_counters_reason(results, &result->metrics) : "");
}

/* Where each strategy stands against --ipc-line. */
static void print_ipc_place(FILE *to, const agb_results *results, const agb_result *result)
{
    if (!results->ipc_line)
        return;
    agb_ipc_place place = {.has = false};
    if (result->state == AGB_STATE_OK)
        place = agb_ipc_place_of(results, result);
    agb_csv_text(to, !place.has ? "none" : place.simulated ? "simulate" : "pmu");
    number_field(to, place.has, place.value);
    agb_csv_text(to, place.has ? agb_ipc_side(results->ipc_line, place.value) : place.reason);
}

/* What a swept number of threads brought over the fewest. */
static void print_scaling(FILE *to, const agb_results *results, size_t i)
{
    agb_scaling scaling;
    if (!agb_scaling_is_asked(&results->settings))
        return;
    bool has = agb_scaling_of(results, i, &scaling);
    number_field(to, has, has ? scaling.speedup.ratio : 0);
    number_field(to, has, has ? scaling.speedup.ci95_low : 0);
    number_field(to, has, has ? scaling.speedup.ci95_high : 0);
}

static void print_row(FILE *to, const agb_results *results, size_t i)
{
    const agb_result *result = &results->results[i];
    const agb_source_info *source = &results->sources[result->source];
    const agb_comparison *comparison = agb_results_comparison_of(results, i);
    bool ok = result->state == AGB_STATE_OK;
    char params[256];
    agb_result_params(result, params, sizeof params);
    fprintf(to, "%s", result->name);
    agb_csv_text(to, params);
    agb_csv_text(to, source->name);
    agb_csv_text(to, agb_state_name(result->state));
    agb_csv_text(to, result->reason);
    count_field(to, true, source->rows);
    count_field(to, ok, result->digest.groups);
    number_field(to, true, source->load_s);
    number_field(to, ok, result->first_s);
    number_field(to, ok, result->wall.min);
    number_field(to, ok, result->wall.median);
    number_field(to, ok, result->wall.max);
    number_field(to, ok, result->wall.ci95_low);
    number_field(to, ok, result->wall.ci95_high);
    number_field(to, ok, result->ns_per_row);
    number_field(to, ok && result->floor_s > 0 && !result->in_cache, result->times_floor);
    number_field(to, comparison, comparison ? comparison->speedup.ratio : 0);
    number_field(to, comparison, comparison ? comparison->speedup.ci95_low : 0);
    number_field(to, comparison, comparison ? comparison->speedup.ci95_high : 0);
    count_field(to, ok, result->stats.peak_bytes);
    count_field(to, ok, result->noisy);
    print_counters_source(to, results, result);
    for (int metric = 0; metric < AGB_METRICS; metric++)
        number_field(to, ok && result->metrics.has[metric], result->metrics.value[metric]);
    print_substitutes(to, result);
    count_field(to, source->of_rows != UINT64_MAX, source->of_rows);
    print_ipc_place(to, results, result);
    for (unsigned event = 0; event < results->support.events; event++)
        number_field(to, ok && result->metrics.has_event[event], result->metrics.event[event]);
    for (size_t axis = 0; axis < results->settings.n_sweeps; axis++)
        sweep_field(to, results, result, &results->settings.sweeps[axis]);
    print_scaling(to, results, i);
    fputc('\n', to);
}

void agb_report_csv(FILE *to, const agb_results *results)
{
    fputs("aggregator,params,source,state,reason,rows,groups,load_s,first_s,min_s,median_s,max_s,ci95_low_s,"
          "ci95_high_s,ns_per_row,times_floor,speedup,speedup_ci95_low,speedup_ci95_high,peak_bytes,noisy_runs,"
          "counters_source,counters_reason", to);
    for (int metric = 0; metric < AGB_METRICS; metric++)
        fprintf(to, ",%s", agb_metric_name((agb_metric)metric));
    fputs(",est_waiting_beyond_cache_pct,est_ci95_low,est_ci95_high,sim_rows,sim_instructions_per_row,"
          "sim_l1_misses_per_row,sim_last_level_misses_per_row,sim_branch_mispredictions_per_row,source_rows", to);
    if (results->ipc_line)
        fprintf(to, ",line_source,line_%s,line_side", agb_ipc_unit_name(results->ipc_line->unit));
    for (unsigned event = 0; event < results->support.events; event++)
        agb_csv_text(to, results->support.event[event].name);
    for (size_t axis = 0; axis < results->settings.n_sweeps; axis++)
        agb_csv_text(to, results->settings.sweeps[axis].name);
    if (agb_scaling_is_asked(&results->settings))
        fputs(",threads_speedup,threads_speedup_ci95_low,threads_speedup_ci95_high", to);
    fputc('\n', to);
    for (size_t i = 0; i < results->n_results; i++)
        print_row(to, results, i);
}
