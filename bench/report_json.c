/* SPDX-License-Identifier: MIT */
/* The report for programs: one JSON object whose keys are a promise. Keys are only ever added. A figure that is not
 * there is null, and a reason stands beside it. 64-bit keys are strings, because many readers' numbers are not exact.
 */
#include "report.h"

#include "ipc_place.h"
#include "json_text.h"
#include "key_text.h"
#include "machine_json.h"
#include "perf_check.h"
#include "precision.h"
#include "published.h"
#include "replay.h"
#include "report_sweep.h"
#include "resident.h"
#include "sampling.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

static json_t *number(bool has, double value)
{
    return has ? agb_json_number(value) : json_null();
}

/* Counts of events come as doubles: nine digits would not be all of them. */
static json_t *event_count(bool has, double value)
{
    const double exact = 9007199254740992;    /* 2^53 */
    return has && value == floor(value) && fabs(value) < exact ? json_integer((json_int_t)value) : number(has, value);
}

static json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

/* ---- Circumstances ----------------------------------------------------------------------------------------------- */

static json_t *source_json(const agb_results *results, const agb_source_info *source)
{
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "name", agb_json_text(source->name),
                     "format", agb_json_text(source->format), "rows", count(source->rows), "load_s",
                     number(true, source->load_s), "bytes", count(source->bytes), "groups", count(source->groups),
                     "nulls", count(source->nulls), "reference_s", number(true, source->reference_s), "selected",
                     count(source->selected), "sample",
                     agb_sampling_json(&results->settings.sample, source->rows, source->of_rows));
}

static json_t *query_json(const agb_results *results)
{
    const agb_settings *settings = &results->settings;
    const agb_key_layout *layout = results->sources[0].layout;
    json_t *group_by = json_array();
    for (size_t i = 0; i < layout->columns; i++)
        json_array_append_new(group_by, agb_json_text(layout->column[i].term.name));
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "group_by", group_by, "where",
                     agb_json_text_or_null(settings->where), "top", count(settings->top), "offset",
                     count(settings->offset), "clickbench",
                     settings->query ? json_integer(settings->query - 1) : json_null());
}

static json_t *machine_json(const agb_results *results)
{
    const agb_counter_support *support = &results->support;
    bool here = support->available && !results->replay;
    json_t *pmu = json_pack("{s:b, s:o, s:o, s:o, s:o, s:o}", "available", here, "reason",
                            agb_json_text_or_null(results->replay ? "not asked: counts are replayed" : support->reason),
                            "switch_ns", number(here, support->switch_ns), "calibration",
                            agb_json_text_or_null(support->calibration), "replayed_from",
                            agb_json_text_or_null(results->replay ? results->replay->file : ""), "replayed_about",
                            agb_json_text_or_null(results->replay ? results->replay->about : ""));
    json_t *out = agb_machine_json(&results->machine);
    json_object_set_new(out, "pmu", pmu);
    return out;
}

/* floor_s: the first right result's; each result has its own, for its own number of groups. */
static json_t *floor_json(const agb_results *results, size_t source)
{
    const agb_source_info *info = &results->sources[source];
    double floor_s = 0;
    for (size_t i = results->n_results; i-- > 0;) {
        const agb_result *result = &results->results[i];
        if (result->source == source && result->state == AGB_STATE_OK)
            floor_s = result->floor_s;
    }
    return json_pack("{s:o, s:o, s:o}", "read_gbps", number(info->has_floor, info->floor.read_gbps), "write_gbps",
                     number(info->has_floor, info->floor.write_gbps), "floor_s", number(floor_s > 0, floor_s));
}

/* What was wanted of the intervals, and whether it was reached. */
static json_t *precision_json(const agb_results *results)
{
    const agb_settings *settings = &results->settings;
    size_t widest = 0;
    double worst = agb_precision_worst(results, &widest);
    char label[256] = "";
    if (!isnan(worst))
        agb_result_label(&results->results[widest], label, sizeof label);
    if (settings->precision == 0)
        return json_null();
    return json_pack("{s:o, s:s, s:b, s:o, s:o, s:o}", "wanted_pct", number(true, 100 * settings->precision), "of",
                     settings->precise_speedups ? "speed-ups" : "medians", "reached", worst <= settings->precision,
                     "widest_pct", number(true, 100 * worst), "widest", agb_json_text_or_null(label), "repetitions",
                     count(settings->repetitions));
}

static json_t *settings_json(const agb_results *results)
{
    const agb_settings *settings = &results->settings;
    json_t *pins = settings->n_cpus ? json_array() : json_null();
    for (unsigned i = 0; i < settings->n_cpus; i++)
        json_array_append_new(pins, json_integer(settings->cpus[i]));
    json_t *out = json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:b, s:o, s:o}", "threads", count(settings->threads), "pin",
                            pins, "repetitions", count(settings->repetitions), "warmup", count(settings->warmup),
                            "batch_rows", count(settings->batch_rows), "hash", settings->hash, "final_size_known", 0,
                            "seed", count(settings->seed), "memory_budget",
                            settings->memory_budget ? count(settings->memory_budget) : json_null());
    json_object_set_new(out, "processes", count(results->processes));
    json_object_set_new(out, "precision", precision_json(results));
    return out;
}

/* ---- One contestant ---------------------------------------------------------------------------------------------- */

static json_t *params_json(const agb_result *result)
{
    json_t *params = json_object();
    const agb_param *param = result->aggregator ? result->aggregator->params : NULL;
    for (size_t i = 0; param && param[i].name; i++)
        json_object_set_new(params, param[i].name, json_integer(result->param_values[i]));
    if (result->threads)
        json_object_set_new(params, "threads", json_integer(result->threads));
    return params;
}

static json_t *wall_json(const agb_result *result)
{
    bool ok = result->state == AGB_STATE_OK;
    const agb_summary *wall = &result->wall;
    return json_pack("{s:o, s:o, s:o, s:o, s:o}", "min", number(ok, wall->min), "median", number(ok, wall->median),
                     "max", number(ok, wall->max), "ci95_low", number(ok, wall->ci95_low), "ci95_high",
                     number(ok, wall->ci95_high));
}

static json_t *run_json(const agb_run *run)
{
    const agb_os_usage *usage = &run->usage;
    return json_pack("{s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:b, s:o, s:o, s:o, s:o, s:o, s:o}", "wall_s",
                     number(true, run->wall_s), "user_s", number(true, usage->user_s), "sys_s",
                     number(true, usage->sys_s), "runq_wait_s", number(usage->runq_wait_s >= 0, usage->runq_wait_s),
                     "minor_faults", json_integer(usage->minor_faults), "major_faults",
                     json_integer(usage->major_faults), "involuntary_switches",
                     json_integer(usage->involuntary_switches), "noisy", run->noisy, "warmup", run->warmup, "round",
                     count(run->round), "process", count(run->process), "position", count(run->position), "setup_s",
                     number(true, run->setup_s), "teardown_s", number(true, run->teardown_s), "verify_s",
                     number(true, run->verify_s));
}

static json_t *runs_json(const agb_result *result, bool warmup)
{
    json_t *runs = json_array();
    for (size_t i = 0; i < result->n_runs; i++) {
        if (result->runs[i].warmup == warmup)
            json_array_append_new(runs, run_json(&result->runs[i]));
    }
    return runs;
}

/* {METRIC: {"repetitions", "least", "most"}} of those that were counted. */
static json_t *spread_json(const agb_metrics *metrics)
{
    json_t *out = json_object();
    for (int metric = 0; metric < AGB_METRICS; metric++) {
        if (metrics->has[metric] && metrics->counted[metric] > 0)
            json_object_set_new(out, agb_metric_name((agb_metric)metric),
                                json_pack("{s:o, s:o, s:o}", "repetitions", count(metrics->counted[metric]), "least",
                                          event_count(true, metrics->least[metric]), "most",
                                          event_count(true, metrics->most[metric])));
    }
    return out;
}

static json_t *metrics_json(const agb_results *results, const agb_result *result, const agb_metrics *metrics)
{
    bool ok = result->state == AGB_STATE_OK;
    json_t *out = json_object();
    json_object_set_new(out, "source", json_string(agb_results_counters_source(results, metrics)));
    json_object_set_new(out, "reason", agb_json_text_or_null(ok ? agb_results_counters_reason(results, metrics)
                                                                : result->reason));
    for (int metric = 0; metric < AGB_METRICS; metric++)
        json_object_set_new(out, agb_metric_name((agb_metric)metric),
                            event_count(metrics->has[metric], metrics->value[metric]));
    json_object_set_new(out, "spread", spread_json(metrics));
    return out;
}

/* Estimated and simulated values have objects of their own, so that none can be taken for a measured one. */
static json_t *estimate_json(const agb_results *results, const agb_result *result)
{
    const agb_estimate *estimate = &result->estimate;
    const char *reason = estimate->has ? "" : estimate->reason[0] ? estimate->reason : result->reason;
    if (!results->estimated)
        return json_null();
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:b, s:s}", "source", "estimate", "reason",
                     agb_json_text_or_null(reason),
                     "waiting_beyond_cache_pct", number(estimate->has, estimate->waiting_pct), "ci95_low",
                     number(estimate->has, estimate->ci95_low_pct), "ci95_high",
                     number(estimate->has, estimate->ci95_high_pct), "twin_wall_s",
                     number(estimate->has, estimate->resident_s), "twin_groups",
                     count(results->sources[result->source].resident_groups), "own_twin", estimate->own_twin, "limits",
                     agb_resident_limits);
}

static json_t *simulation_json(const agb_results *results, const agb_result *result)
{
    const agb_simulation *simulation = &result->simulation;
    if (!results->simulated)
        return json_null();
    bool has = simulation->has;
    const char *reason = has ? "" : simulation->reason[0] ? simulation->reason : result->reason;
    double rows = (double)simulation->rows;
    agb_models models = agb_models_of(&results->machine.caches);
    return json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "source", "simulate",
                     "reason", agb_json_text_or_null(reason), "rows", count(simulation->rows), "groups",
                     count(simulation->groups), "instructions",
                     has ? count(simulation->instructions) : json_null(), "instructions_per_row",
                     number(has, (double)simulation->instructions / rows), "l1_misses_per_row",
                     number(has, (double)simulation->l1_misses / rows), "last_level_misses_per_row",
                     number(has, (double)simulation->last_misses / rows), "branch_mispredictions_per_row",
                     number(has, (double)simulation->mispredictions / rows), "l1d_bytes", count(models.l1d.bytes),
                     "l1d_ways", count(models.l1d.ways), "last_level_bytes", count(models.last.bytes),
                     "last_level_ways", count(models.last.ways));
}

static json_t *threads_json(const agb_results *results, const agb_result *result)
{
    json_t *threads = json_array();
    for (unsigned i = 0; i < result->counted_threads && i < AGB_MOST_COUNTED_THREADS; i++)
        json_array_append_new(threads, metrics_json(results, result, &result->thread_metrics[i]));
    return threads;
}

static json_t *events_json(const agb_results *results, const agb_result *result)
{
    json_t *events = json_array();
    for (unsigned i = 0; i < results->support.events; i++) {
        const agb_user_event *event = &results->support.event[i];
        bool has = result->metrics.has_event[i];
        json_array_append_new(events, json_pack("{s:o, s:o, s:o}", "event", agb_json_text(event->name), "count",
                                                has ? count((uint64_t)result->metrics.event[i]) : json_null(), "reason",
                                                agb_json_text_or_null(has ? "" : event->reason[0] ? event->reason
                                                                                         : result->metrics.reason)));
    }
    return events;
}

/* The measured object of a contestant, and within it the two substitutes. `source` names the best that there is. */
static json_t *counters_json(const agb_results *results, const agb_result *result)
{
    json_t *out = metrics_json(results, result, &result->metrics);
    if (strcmp(json_string_value(json_object_get(out, "source")), "none") == 0 &&
        (result->estimate.has || result->simulation.has))
        json_object_set_new(out, "source", json_string(result->estimate.has ? "estimate" : "simulate"));
    json_object_set_new(out, "threads", threads_json(results, result));
    json_object_set_new(out, "events", events_json(results, result));
    json_object_set_new(out, "estimate", estimate_json(results, result));
    json_object_set_new(out, "simulate", simulation_json(results, result));
    return out;
}

static json_t *phases_json(const agb_results *results, const agb_result *result)
{
    json_t *phases = json_array();
    for (size_t i = 0; result->state == AGB_STATE_OK && i < result->stats.phases; i++)
        json_array_append_new(phases, json_pack("{s:o, s:o, s:o}", "name", agb_json_text(result->aggregator->phases[i]),
                                                "wall_s", number(true, result->phase_s[i]), "counters",
                                                metrics_json(results, result, &result->phase_metrics[i])));
    return phases;
}

static json_t *top_json(const agb_result *result, const agb_key_layout *layout, size_t first)
{
    json_t *top = json_array();
    for (size_t i = first; i < result->n_top; i++)
        json_array_append_new(top, json_pack("{s:o, s:o}", "key", agb_json_key(layout, &result->top[i].key), "count",
                                             count(result->top[i].count)));
    return top;
}

static void add_answer(json_t *out, const agb_result *result)
{
    bool ok = result->state == AGB_STATE_OK;
    const agb_digest *digest = &result->digest;
    char checksum[17];
    snprintf(checksum, sizeof checksum, "%016" PRIx64, digest->checksum);
    json_object_set_new(out, "verified", json_boolean(ok));
    json_object_set_new(out, "groups", ok ? count(digest->groups) : json_null());
    json_object_set_new(out, "rows", ok ? count(result->stats.rows) : json_null());
    json_object_set_new(out, "nulls", ok ? count(result->stats.nulls) : json_null());
    json_object_set_new(out, "max_count", ok ? count(digest->max_count) : json_null());
    json_object_set_new(out, "checksum", ok ? json_string(checksum) : json_null());
    json_object_set_new(out, "peak_bytes", ok ? count(result->stats.peak_bytes) : json_null());
}

/* reference_peak_rss_bytes: of the process that counted the right answer; largest_rss_bytes: of any of the command. */
static json_t *process_json(const agb_results *results, const agb_result *result)
{
    return json_pack("{s:o, s:o, s:o, s:o}", "accounted_peak_bytes", count(result->accounted_peak_bytes),
                     "peak_rss_bytes", count(result->peak_rss_bytes), "reference_peak_rss_bytes",
                     count(results->sources[result->source].reference_peak_rss_bytes), "largest_rss_bytes",
                     count(results->largest_rss_bytes));
}

/* Median of each of several processes; empty where there was one. */
static json_t *processes_json(const agb_result *result)
{
    json_t *processes = json_array();
    for (size_t i = 0; result->process_s && i < result->n_process; i++)
        json_array_append_new(processes, json_pack("{s:o}", "median_s", number(true, result->process_s[i])));
    return processes;
}

/* Addresses of code, stack and rows: that layouts differed. */
static json_t *layouts_json(const agb_results *results)
{
    json_t *layouts = json_array();
    for (size_t i = 0; i < results->n_layouts; i++) {
        const agb_layout *layout = &results->layouts[i];
        json_array_append_new(layouts, json_pack("{s:o, s:o, s:o}", "text", count(layout->text), "stack",
                                                 count(layout->stack), "rows", count(layout->rows)));
    }
    return layouts;
}

static json_t *result_json(const agb_results *results, const agb_result *result)
{
    const agb_settings *settings = &results->settings;
    const agb_source_info *source = &results->sources[result->source];
    bool ok = result->state == AGB_STATE_OK;
    unsigned wanted = result->threads ? result->threads : settings->threads;
    json_t *out = json_pack("{s:o, s:s, s:o, s:o, s:s, s:s}", "aggregator", agb_json_text(result->name), "state",
                            agb_state_name(result->state), "params", params_json(result), "threads",
                            count(ok ? result->stats.workers : wanted), "pages", agb_pages_name(settings->pages),
                            "memory", agb_memory_mode_name(settings->memory));
    add_answer(out, result);
    json_object_set_new(out, "wall_s", wall_json(result));
    json_object_set_new(out, "ns_per_row", number(ok, result->ns_per_row));
    json_object_set_new(out, "rows_per_s", number(ok, (double)source->rows / result->wall.median));
    json_object_set_new(out, "times_floor", number(ok && result->floor_s > 0 && !result->in_cache,
                                                          result->times_floor));
    json_object_set_new(out, "in_cache", json_boolean(ok && result->in_cache));
    json_object_set_new(out, "runs", runs_json(result, false));
    json_object_set_new(out, "counters", counters_json(results, result));
    json_object_set_new(out, "phases", phases_json(results, result));
    json_object_set_new(out, "top", top_json(result, source->layout, settings->offset));
    json_object_set_new(out, "reason", agb_json_text_or_null(result->reason));
    json_object_set_new(out, "first_s", number(ok, result->first_s));
    json_object_set_new(out, "warmup_runs", runs_json(result, true));
    json_object_set_new(out, "noisy_runs", count(result->noisy));
    json_object_set_new(out, "verify_s", number(ok, result->verify_s));
    json_object_set_new(out, "floor_s", number(ok && result->floor_s > 0, result->floor_s));
    json_object_set_new(out, "result_bytes", ok ? count(result->stats.result_bytes) : json_null());
    json_object_set_new(out, "process", ok ? process_json(results, result) : json_null());
    json_object_set_new(out, "suspiciously_fast", json_boolean(ok && result->too_fast));
    json_object_set_new(out, "spilled_bytes", ok ? count(result->stats.spilled_bytes) : json_null());
    json_object_set_new(out, "note", agb_json_text_or_null(result->stats.note));
    json_object_set_new(out, "prediction",
                        agb_json_text_or_null(result->aggregator ? result->aggregator->prediction : NULL));
    json_object_set_new(out, "source", agb_json_text(source->name));
    json_object_set_new(out, "precision_pct", number(ok, 100 * agb_precision_of(result->wall.median,
                                                         result->wall.ci95_low, result->wall.ci95_high)));
    json_object_set_new(out, "processes", processes_json(result));
    json_object_set_new(out, "process_spread_pct", number(ok && result->process_s, 100 * agb_process_spread(result)));
    return out;
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static json_t *comparisons_json(const agb_results *results)
{
    json_t *comparisons = json_array();
    for (size_t i = 0; i < results->n_comparisons; i++) {
        const agb_comparison *comparison = &results->comparisons[i];
        char label[256], baseline[256];
        agb_result_label(&results->results[comparison->result], label, sizeof label);
        agb_result_label(&results->results[comparison->baseline], baseline, sizeof baseline);
        json_array_append_new(comparisons,
                              json_pack("{s:o, s:o, s:o, s:o, s:o, s:s, s:o}", "aggregator", agb_json_text(label),
                                        "baseline", agb_json_text(baseline), "speedup",
                                        number(true, comparison->speedup.ratio), "ci95_low",
                                        number(true, comparison->speedup.ci95_low), "ci95_high",
                                        number(true, comparison->speedup.ci95_high), "verdict",
                                        agb_verdict_name(comparison->verdict), "result", count(comparison->result)));
    }
    return comparisons;
}

static json_t *noise_json(const agb_results *results)
{
    json_t *noises = json_array();
    for (size_t i = 0; i < results->n_noises; i++) {
        const agb_noise *noise = &results->noises[i];
        char label[256];
        agb_result_label(&results->results[noise->baseline], label, sizeof label);
        json_array_append_new(noises, json_pack("{s:o, s:o, s:o, s:o}", "aggregator", agb_json_text(label), "speedup",
                                                number(true, noise->ratio.ratio), "ci95_low",
                                                number(true, noise->ratio.ci95_low), "ci95_high",
                                                number(true, noise->ratio.ci95_high)));
    }
    return noises;
}

static json_t *perf_check_json(const agb_results *results)
{
    const agb_perf_check *check = results->perf_check;
    if (!check)
        return json_null();
    json_t *events = json_array();
    for (size_t i = 0; i < check->n; i++) {
        const agb_checked_event *event = &check->event[i];
        json_array_append_new(events, json_pack("{s:o, s:s, s:s, s:o, s:o, s:o}", "result", count(event->result),
                                                "pass", event->pass, "event", event->symbol, "aggbench",
                                                event_count(true, event->ours), "perf_stat",
                                                event_count(event->theirs.counted, event->theirs.value), "running_pct",
                                                number(event->theirs.counted, event->theirs.running_pct)));
    }
    return json_pack("{s:o, s:o}", "reason", agb_json_text_or_null(check->reason), "events", events);
}

json_t *agb_results_json(const agb_results *results)
{
    json_t *out = json_pack("{s:i, s:o, s:o, s:o, s:o}", "aggbench", 1, "source",
                            source_json(results, &results->sources[0]), "query", query_json(results), "machine",
                            machine_json(results), "floor", floor_json(results, 0));
    json_t *rows = json_array(), *sources = json_array(), *notes = json_array();
    for (size_t i = 0; i < results->n_results; i++)
        json_array_append_new(rows, result_json(results, &results->results[i]));
    for (size_t i = 0; i < results->n_sources; i++)
        json_array_append_new(sources, source_json(results, &results->sources[i]));
    for (size_t i = 0; i < results->n_notes; i++)
        json_array_append_new(notes, agb_json_text(results->notes[i]));
    json_object_set_new(out, "results", rows);
    json_object_set_new(out, "comparisons", comparisons_json(results));
    json_object_set_new(out, "noise_floor", noise_json(results));
    json_object_set_new(out, "settings", settings_json(results));
    json_object_set_new(out, "sources", sources);
    json_object_set_new(out, "notes", notes);
    json_object_set_new(out, "perf_check", perf_check_json(results));
    json_object_set_new(out, "layouts", layouts_json(results));
    json_object_set_new(out, "sweep", agb_sweep_json(results));
    if (results->ipc_line)
        json_object_set_new(out, "ipc_line", agb_ipc_line_json(results));
    if (results->published)
        json_object_set_new(out, "published", agb_published_json(results));
    return out;
}

void agb_report_json(FILE *to, const agb_results *results)
{
    agb_json_write(to, agb_results_json(results));
}
