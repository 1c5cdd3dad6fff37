/* SPDX-License-Identifier: MIT */
/* The report for spreadsheets: one line for each contestant; a figure that is not there is an empty field. */
#include "report.h"

#include "csv_fields.h"

static void print_substitutes(FILE *to, const agb_result *result)
{
    const agb_estimate *estimate = &result->estimate;
    const agb_simulation *simulation = &result->simulation;
    double rows = (double)simulation->rows;
    agb_csv_number_field(to, estimate->has, estimate->waiting_pct);
    agb_csv_number_field(to, estimate->has, estimate->ci95_low_pct);
    agb_csv_number_field(to, estimate->has, estimate->ci95_high_pct);
    agb_csv_count_field(to, simulation->has, simulation->rows);
    agb_csv_number_field(to, simulation->has, (double)simulation->instructions / rows);
    agb_csv_number_field(to, simulation->has, (double)simulation->l1_misses / rows);
    agb_csv_number_field(to, simulation->has, (double)simulation->last_misses / rows);
    agb_csv_number_field(to, simulation->has, (double)simulation->mispredictions / rows);
}

static void sweep_field(FILE *to, const agb_results *results, const agb_result *result, const agb_sweep *axis)
{
    char value[32] = "";
    const char *text = axis->of_source ? results->sources[result->source].name : result->params;
    agb_sweep_get(text, axis->of_source ? ',' : ':', axis->name, value, sizeof value);
    agb_csv_text_field(to, value);
}

static void print_row(FILE *to, const agb_results *results, size_t i)
{
    const agb_result *result = &results->results[i];
    const agb_source_info *source = &results->sources[result->source];
    const agb_comparison *comparison = agb_results_comparison_of(results, i);
    bool ok = result->state == AGB_STATE_OK;
    fprintf(to, "%s", result->name);
    agb_csv_text_field(to, result->params);
    agb_csv_text_field(to, source->name);
    agb_csv_text_field(to, agb_state_name(result->state));
    agb_csv_text_field(to, result->reason);
    agb_csv_count_field(to, true, source->rows);
    agb_csv_count_field(to, ok, result->digest.groups);
    agb_csv_number_field(to, true, source->load_s);
    agb_csv_number_field(to, ok, result->first_s);
    agb_csv_number_field(to, ok, result->wall.min);
    agb_csv_number_field(to, ok, result->wall.median);
    agb_csv_number_field(to, ok, result->wall.max);
    agb_csv_number_field(to, ok, result->wall.ci95_low);
    agb_csv_number_field(to, ok, result->wall.ci95_high);
    agb_csv_number_field(to, ok, result->ns_per_row);
    agb_csv_number_field(to, ok && result->floor_s > 0 && !result->in_cache, result->times_floor);
    agb_csv_number_field(to, comparison, comparison ? comparison->speedup.ratio : 0);
    agb_csv_number_field(to, comparison, comparison ? comparison->speedup.ci95_low : 0);
    agb_csv_number_field(to, comparison, comparison ? comparison->speedup.ci95_high : 0);
    agb_csv_count_field(to, ok, result->stats.peak_bytes);
    agb_csv_count_field(to, ok, result->noisy);
    for (int metric = 0; metric < AGB_METRICS; metric++)
        agb_csv_number_field(to, ok && result->metrics.has[metric], result->metrics.value[metric]);
    print_substitutes(to, result);
    for (unsigned event = 0; event < results->support.events; event++)
        agb_csv_number_field(to, ok && result->metrics.has_event[event], result->metrics.event[event]);
    for (size_t axis = 0; axis < results->settings.n_sweeps; axis++)
        sweep_field(to, results, result, &results->settings.sweeps[axis]);
    fputc('\n', to);
}

void agb_report_csv(FILE *to, const agb_results *results)
{
    fputs("aggregator,params,source,state,reason,rows,groups,load_s,first_s,min_s,median_s,max_s,ci95_low_s,"
          "ci95_high_s,ns_per_row,times_floor,speedup,speedup_ci95_low,speedup_ci95_high,peak_bytes,noisy_runs", to);
    for (int metric = 0; metric < AGB_METRICS; metric++)
        fprintf(to, ",%s", agb_metric_name((agb_metric)metric));
    fputs(",est_waiting_beyond_cache_pct,est_ci95_low,est_ci95_high,sim_rows,sim_instructions_per_row,"
          "sim_l1_misses_per_row,sim_last_level_misses_per_row,sim_branch_mispredictions_per_row", to);
    for (unsigned event = 0; event < results->support.events; event++)
        agb_csv_text_field(to, results->support.event[event].name);
    for (size_t axis = 0; axis < results->settings.n_sweeps; axis++)
        agb_csv_text_field(to, results->settings.sweeps[axis].name);
    fputc('\n', to);
    for (size_t i = 0; i < results->n_results; i++)
        print_row(to, results, i);
}
