/* SPDX-License-Identifier: MIT */
/* Measures the cells of a matrix: see matrix.h. */
#include "matrix.h"

#include "json_text.h"
#include "lineup.h"
#include "process.h"
#include "progress.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- One cell ---------------------------------------------------------------------------------------------------- */

static json_t *row_json(const agb_results *results, size_t i)
{
    const agb_result *result = &results->results[i];
    char label[256];
    json_t *walls = json_array();
    bool ok = result->state == AGB_STATE_OK;
    agb_result_label(result, label, sizeof label);
    for (size_t run = result->n_warmup; ok && run < result->n_runs; run++)
        json_array_append_new(walls, json_real(result->runs[run].wall_s));
    return json_pack("{s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o}", "aggregator", agb_json_text(label), "state",
                     agb_state_name(result->state), "reason", agb_json_text_or_null(result->reason), "median_s",
                     agb_json_number(ok ? result->wall.median : NAN), "ci95_low",
                     agb_json_number(ok ? result->wall.ci95_low : NAN), "ci95_high",
                     agb_json_number(ok ? result->wall.ci95_high : NAN), "ns_per_row",
                     agb_json_number(ok ? result->ns_per_row : NAN), "heat", json_integer((json_int_t)result->heat),
                     "wall_s", walls);
}

static json_t *cell_json(const agb_matrix_cell *cell, const agb_results *results, double seconds)
{
    json_t *rows = json_array();
    for (size_t i = 0; i < results->n_results; i++)
        json_array_append_new(rows, row_json(results, i));
    const agb_noise *noise = agb_results_noise_of(results, 0);
    json_t *twin =
        noise ? json_pack("[o, o]", agb_json_number(noise->ratio.ci95_low), agb_json_number(noise->ratio.ci95_high))
              : json_null();
    return json_pack("{s:s, s:o, s:o, s:s, s:o, s:o, s:o}", "distribution", cell->distribution->name, "groups",
                     json_integer((json_int_t)cell->groups), "threads", json_integer((json_int_t)cell->threads),
                     "source", cell->source, "seconds", agb_json_number(seconds), "noise", twin, "results", rows);
}

/* On several threads a strategy for one of them would only be measured again; the baseline stays, as the measure. */
static void keep_parallel(agb_experiment *experiment)
{
    size_t kept = 1;
    for (size_t i = 1; i < experiment->n_entries; i++) {
        agb_entry *entry = &experiment->entries[i];
        if (entry->aggregator && !(entry->aggregator->traits & AGB_PARALLEL)) {
            free(entry->name);
            free(entry->params);
            continue;
        }
        experiment->entries[kept++] = *entry;
    }
    experiment->n_entries = kept;
}

typedef struct teller {
    agb_progress_printer printer;
    char what[96];
} teller;

static void tell(void *context, const agb_progress *progress)
{
    teller *teller = context;
    agb_progress mine = {teller->what, progress->subject, progress->done, progress->total};
    agb_progress_print(&teller->printer, &mine);
}

/* *line: the cell as JSON. */
static agb_status run_cell(const agb_matrix_cell *cell, const agb_options *options,
                           teller *teller, json_t **line, agb_error *err)
{
    agb_lineup lineup = {0};
    agb_results results = {0};
    double start = agb_now_s();
    agb_status status = agb_lineup_create(&lineup, options, cell->source, "all", err);
    if (status == AGB_OK) {
        lineup.experiment.no_floor = true;
        lineup.experiment.progress = teller ? tell : NULL;
        lineup.experiment.context = teller;
        if (cell->threads > 1)
            keep_parallel(&lineup.experiment);
        status = agb_lineup_run(&lineup, &results, err);
    }
    if (status == AGB_OK)
        *line = cell_json(cell, &results, agb_now_s() - start);
    agb_results_release(&results);
    agb_lineup_release(&lineup);
    return status;
}

static agb_options options_of(const agb_matrix *matrix, unsigned threads)
{
    agb_options options = *matrix->options;
    options.threads = threads;
    options.top = 0;
    options.counters = AGB_COUNTERS_OFF;
    options.time_limit_s = 0;
    return options;
}

/* ---- How long it will take --------------------------------------------------------------------------------------- */

/* Seconds of one cell of `rows` rows, each contestant once warm and once timed. */
static agb_status time_pilot(const agb_matrix *matrix, uint64_t rows, uint64_t groups, double *seconds, agb_error *err)
{
    agb_matrix_cell cell = {.distribution = matrix->distribution[0], .groups = groups, .threads = 1};
    agb_options options = options_of(matrix, 1);
    json_t *line = NULL;
    options.repetitions = options.warmup = 1;
    snprintf(cell.source, sizeof cell.source, "synth:uniform,rows=%llu,groups=%llu", (unsigned long long)rows,
             (unsigned long long)groups);
    double start = agb_now_s();
    agb_status status = run_cell(&cell, &options, NULL, &line, err);
    *seconds = agb_now_s() - start;
    json_decref(line);
    return status;
}

/* A pilot over few rows with few groups and with as many as it has rows; what a row costs is taken to lie between them
 * on a logarithmic scale of the groups. What does not grow with the rows is told by a pilot over hardly any. */
agb_status agb_matrix_estimate(const agb_matrix *matrix, double *seconds, double *pilot_s, agb_error *err)
{
    enum { MOST_ROWS = 200000, HARDLY_ANY = 1000, FEW_GROUPS = 10 };
    uint64_t rows = matrix->rows < MOST_ROWS ? matrix->rows : MOST_ROWS;
    uint64_t few = rows < FEW_GROUPS ? rows : FEW_GROUPS, hardly = rows < HARDLY_ANY ? rows : HARDLY_ANY;
    double fixed_s = 0, few_s = 0, many_s = 0;
    agb_status status = time_pilot(matrix, hardly, few < hardly ? few : hardly, &fixed_s, err);
    if (status == AGB_OK)
        status = time_pilot(matrix, rows, few, &few_s, err);
    if (status == AGB_OK)
        status = time_pilot(matrix, rows, rows / 2 + 1, &many_s, err);
    *pilot_s = fixed_s + few_s + many_s;
    *seconds = 0;
    double runs = (double)(matrix->options->repetitions + matrix->options->warmup) / 2;
    for (size_t i = 0; i < matrix->n; i++) {
        const agb_matrix_cell *cell = &matrix->cells[i];
        if (cell->done)
            continue;
        double place = log((double)cell->groups / (double)few + 1) / log((double)matrix->rows / (double)few + 1);
        double growing = fmax(few_s - fixed_s, 0) + fmin(place, 1) * fmax(many_s - few_s, 0);
        *seconds += fixed_s + growing * (double)matrix->rows / (double)rows * runs / cell->threads;
    }
    return status;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* By what the cells of this run took; before the first of them, the estimate. */
static double time_left(const agb_matrix *matrix, double estimate_s, double spent_s, size_t before)
{
    size_t wanted = matrix->n - before, done = matrix->n_done - before;
    if (done == 0)
        return estimate_s;
    return spent_s / (double)done * (double)(wanted - done);
}

agb_status agb_matrix_run(agb_matrix *matrix, double estimate_s, agb_error *err)
{
    const agb_options *options = matrix->options;
    teller teller = {.printer = agb_progress_printer_of(stderr, options->quiet, true)};
    double start = agb_now_s(), longest_s = 0;
    size_t before = matrix->n_done;
    agb_status status = AGB_OK;
    for (size_t i = 0; i < matrix->n && status == AGB_OK; i++) {
        agb_matrix_cell *cell = &matrix->cells[i];
        double spent_s = agb_now_s() - start;
        if (cell->done)
            continue;
        if (options->time_limit_s && matrix->n_done > before && spent_s + longest_s > (double)options->time_limit_s) {
            matrix->out_of_time = true;
            break;
        }
        snprintf(teller.what, sizeof teller.what,
                 "cell %zu of %zu, about %.0f s left: %s, %llu groups, %u thread%s:", matrix->n_done + 1, matrix->n,
                 time_left(matrix, estimate_s, spent_s, before), cell->distribution->name,
                 (unsigned long long)cell->groups, cell->threads, cell->threads == 1 ? "" : "s");
        agb_options own = options_of(matrix, cell->threads);
        json_t *line = NULL;
        status = run_cell(cell, &own, &teller, &line, err);
        if (status == AGB_OK)
            status = agb_matrix_state_add(matrix, cell, line, err);
        longest_s = fmax(longest_s, agb_now_s() - start - spent_s);
    }
    agb_progress_end(&teller.printer);
    return status;
}

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

/* Who takes part, as a line-up of the first cell finds it, and what else a state file must agree in. */
static json_t *head_of(const agb_matrix *matrix, const agb_lineup *lineup)
{
    const agb_settings *settings = &lineup->experiment.settings;
    json_t *names = json_array();
    agb_machine machine;
    agb_machine_read(&machine);
    for (size_t i = 0; i < lineup->experiment.n_entries; i++) {
        const agb_entry *entry = &lineup->experiment.entries[i];
        char label[256];
        snprintf(label, sizeof label, "%s%s%s", entry->name, *entry->params ? " " : "", entry->params);
        json_array_append_new(names, agb_json_text(label));
    }
    return json_pack(
        "{s:i, s:o, s:o, s:o, s:s, s:s, s:o, s:s, s:o, s:o, s:o, s:o, s:o}", "aggbench_matrix", 1, "rows",
        json_integer((json_int_t)matrix->rows), "repetitions", json_integer((json_int_t)settings->repetitions),
        "warmup", json_integer((json_int_t)settings->warmup), "pages", agb_pages_name(settings->pages), "memory",
        agb_memory_mode_name(settings->memory), "seed", json_integer((json_int_t)settings->seed),
        "hash", settings->hash, "batch_rows", json_integer((json_int_t)settings->batch_rows), "aggregators", names,
        "cpu", agb_json_text(machine.cpu), "cores", json_integer((json_int_t)machine.cores), "commit",
        agb_json_text(machine.commit));
}

agb_status agb_matrix_plan(agb_matrix *out, const agb_options *options, agb_error *err)
{
    agb_lineup lineup = {0};
    agb_registry *registry = NULL;
    *out = (agb_matrix){.options = options, .state = -1,
                        .state_path = options->state ? options->state : "aggbench-matrix.state"};
    agb_status status = agb_registry_create(&registry, err);
    if (status == AGB_OK)
        status = agb_matrix_grid(out, registry, err);
    if (status == AGB_OK) {
        agb_options own = options_of(out, out->cells[0].threads);
        status = agb_lineup_create(&lineup, &own, out->cells[0].source, "all", err);
        if (status == AGB_OK && !(out->head = head_of(out, &lineup)))
            status = agb_fail(err, AGB_ERR_MEMORY, "matrix: no memory for its settings");
        agb_lineup_release(&lineup);
    }
    agb_registry_destroy(registry);
    return status;
}

void agb_matrix_release(agb_matrix *matrix)
{
    for (size_t i = 0; i < matrix->n; i++)
        json_decref(matrix->cells[i].done);
    free(matrix->cells);
    json_decref(matrix->head);
    if (matrix->state >= 0)
        close(matrix->state);
    *matrix = (agb_matrix){.state = -1};
}
