/* SPDX-License-Identifier: MIT */
/* The measuring itself: see experiment.h.
 *
 * Order of things for each source: the table is loaded by all processors and the load's threads end; the reference
 * answer and the machine's floor are found in child processes; then the contestants are forked from this process, which
 * has one thread and the loaded table, and take turns: see rounds.c. */
#include "experiment.h"

#include "perf_check.h"
#include "processes.h"
#include "query.h"
#include "rounds.h"
#include "sampling.h"
#include "summary.h"

#include <malloc.h>
#include <stdlib.h>
#include <string.h>

/* For measuring the floor: the code is ours, and --timeout is for what it judges. */
static const double patience_s = 60;

/* One source's part of the experiment. */
typedef struct session {
    const agb_experiment *experiment;
    agb_results *results;
    size_t source;
    agb_table *table;
    agb_reference reference;
    agb_resident resident;
    agb_contest contest;
    agb_field field;
} session;

void agb_tell_progress(const agb_experiment *experiment, const char *what, const char *subject, uint64_t done,
                       uint64_t total)
{
    if (experiment->progress)
        experiment->progress(experiment->context, &(agb_progress){what, subject, done, total});
}

/* ---- The table --------------------------------------------------------------------------------------------------- */

static void loading(void *context, uint64_t done, uint64_t total)
{
    agb_tell_progress(context, "loading", "rows", done, total);
}

/* The source's columns by name, so that one whose name has a comma is found; where they cannot be looked at beforehand,
 * commas part names. *of_rows: as the source says. */
static agb_status find_columns(const session *self, agb_query_columns *columns, uint64_t *of_rows, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    const char *source = experiment->sources[self->source];
    agb_schema schema;
    agb_load_options options = {.loader = experiment->input_format, .schema = experiment->schema};
    bool known = !agb_source_is_stream(source) &&
                 agb_source_describe_as(&schema, experiment->registry, source, &options, NULL) == AGB_OK;
    agb_status status = agb_query_columns_find(columns, experiment->settings.group_by, experiment->settings.filter,
                                               known ? &schema : NULL, err);
    *of_rows = known ? schema.rows : UINT64_MAX;
    if (known)
        agb_schema_release(&schema);
    return status;
}

static agb_status load_columns(session *self, const agb_query_columns *columns, uint64_t *of_rows, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    agb_pool *pool = NULL;
    agb_status status = agb_pool_create(&pool, agb_machine_default_threads(""), NULL, err);
    if (status == AGB_OK) {
        /* Columns are filled and read in order: huge pages spare the loading its page faults and change little else. */
        bool small = experiment->settings.pages == AGB_PAGES_4K;
        agb_load_options options = {.pages = small ? AGB_PAGES_4K : AGB_PAGES_HUGE, .pool = pool,
                                    .loader = experiment->input_format, .schema = experiment->schema,
                                    .may_map = true, .head = experiment->settings.sample.head,
                                    .progress = experiment->progress ? loading : NULL, .context = (void *)experiment};
        status = agb_table_load(&self->table, experiment->registry, experiment->sources[self->source], columns->name,
                                columns->n, &options, err);
        if (status == AGB_OK)
            status = agb_sampling_take(&self->table, &experiment->settings.sample, options.pages, of_rows, err);
    }
    agb_pool_destroy(pool);
    malloc_trim(0);    /* the loader's buffers must not be copied into every contestant's account */
    return status;
}

static agb_status load_table(session *self, agb_error *err)
{
    agb_source_info *info = &self->results->sources[self->source];
    double start = agb_now_s();
    agb_query_columns columns;
    uint64_t of_rows;
    agb_status status = find_columns(self, &columns, &of_rows, err);
    if (status == AGB_OK)
        status = load_columns(self, &columns, &of_rows, err);
    agb_query_columns_release(&columns);
    if (status != AGB_OK)
        return status;
    *info = (agb_source_info){.name = strdup(self->experiment->sources[self->source]),
                              .format = strdup(agb_table_format(self->table)), .rows = agb_table_rows(self->table),
                              .of_rows = of_rows, .bytes = agb_table_bytes(self->table), .load_s = agb_now_s() - start};
    status = agb_query_check_values(self->experiment->settings.filter, self->table, err);
    if (status != AGB_OK)
        return status;
    return agb_key_layout_create(&info->layout, self->table, self->experiment->settings.group_by, err);
}

/* ---- The machine's floor ----------------------------------------------------------------------------------------- */

typedef struct floor_answer {
    agb_error error;
    agb_floor floor;
} floor_answer;

/* In a child, because a pool that pins its workers pins the thread that made it. */
static void floor_in_child(void *context, int in, int out)
{
    (void)in;
    const agb_settings *settings = context;
    floor_answer answer = {0};
    agb_pool *pool = NULL;
    agb_status status = agb_pool_create(&pool, settings->threads, settings->cpus, &answer.error);
    if (status == AGB_OK)
        status = agb_floor_measure(&answer.floor, pool, &answer.error);
    answer.error.status = status;
    agb_process_answer(out, &answer, sizeof answer);
}

static void measure_floor(session *self)
{
    agb_source_info *info = &self->results->sources[self->source];
    agb_process process;
    floor_answer answer = {0};
    agb_tell_progress(self->experiment, "measuring the machine's bandwidth", "", 0, 0);
    if (agb_process_start(&process, floor_in_child, (void *)&self->experiment->settings, -1, &answer.error) != AGB_OK) {
        agb_results_note(self->results, "no floor: %s", answer.error.text);
        return;
    }
    agb_answer heard = agb_process_hear(&process, &answer, sizeof answer, patience_s);
    agb_process_end(&process, true);
    info->has_floor = heard == AGB_ANSWER_WHOLE && answer.error.status == AGB_OK;
    if (info->has_floor)
        info->floor = answer.floor;
    else
        agb_results_note(self->results, "no floor: the machine's bandwidth was not measured: %s",
                         heard == AGB_ANSWER_WHOLE ? answer.error.text : heard == AGB_ANSWER_LATE ? "it took too long"
                                                                                          : "its process ended");
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void set_contest(session *self)
{
    const agb_experiment *experiment = self->experiment;
    const agb_settings *settings = &experiment->settings;
    self->contest = (agb_contest){
        .plugins = experiment->plugins, .table = self->table, .column = settings->group_by, .filter = settings->filter,
        .layout = self->results->sources[self->source].layout, .threads = settings->threads,
        .cpus = settings->cpus, .batch_rows = settings->batch_rows, .hash = settings->hash,
        .memory = {.pages = settings->pages, .mode = settings->memory, .budget = settings->memory_budget},
        .groups = experiment->groups, .support = experiment->replay ? NULL : experiment->support,
        .reference = &self->reference, .resident = self->resident.table ? &self->resident : NULL,
        .timeout_s = experiment->timeout_s, .spill_folder = experiment->spill_folder,
        .top = settings->top + settings->offset};
}

/* A twin that cannot be had costs the estimate, not the run, unless the estimate was demanded. */
static agb_status make_resident(session *self, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    agb_source_info *info = &self->results->sources[self->source];
    agb_caches caches = agb_caches_of(experiment->settings.cpus ? experiment->settings.cpus[0] : 0);
    agb_resident_plan plan = {.registry = experiment->registry, .table = self->table,
                              .column = experiment->settings.group_by, .reference = &self->reference,
                              .filter = experiment->settings.filter, .most_groups = agb_resident_groups(&caches),
                              .pages = experiment->settings.pages};
    agb_error error = {0};
    agb_tell_progress(experiment, "making the cache-resident twin", "", 0, 0);
    agb_status status = agb_resident_create(&self->resident, &plan, &error);
    info->resident_groups = self->resident.groups;
    info->own_twin = self->resident.own;
    if (status == AGB_OK)
        return AGB_OK;
    if (experiment->demanded)
        return agb_fail(err, status, "--counters estimate: %s", error.text);
    snprintf(info->no_twin, sizeof info->no_twin, "%.199s", error.text);
    agb_results_note(self->results, "no estimate: %s", error.text);
    return AGB_OK;
}

static agb_job_query job_query_of(const session *self)
{
    const agb_settings *settings = &self->experiment->settings;
    return (agb_job_query){.table = self->table, .group_by = settings->group_by, .where = settings->where,
                           .filter = settings->filter};
}

/* By the number of simulations alone, so that the same command always simulates the same rows: all of them together
 * took 20 s on two busy processors, and none has more than tells the strategies apart. */
static uint64_t simulated_rows(const agb_experiment *experiment)
{
    enum { ROWS_TOGETHER = 1 << 23, MOST_ROWS = 1 << 21, LEAST_ROWS = 1 << 12 };
    uint64_t simulations = experiment->n_entries * experiment->n_sources, rows = MOST_ROWS;
    while (rows > LEAST_ROWS && rows * simulations > ROWS_TOGETHER)
        rows /= 2;
    return rows;
}

/* Every good row of this source once more under valgrind, over fewer rows. */
static agb_status simulate_rows(session *self, agb_error *err)
{
    enum { TIMEOUT_S = 55 };
    const agb_experiment *experiment = self->experiment;
    const agb_settings *settings = &experiment->settings;
    agb_results *results = self->results;
    agb_simulated_run run = {.program = experiment->program, .query = job_query_of(self), .hash = settings->hash,
                             .plugins = experiment->plugin_words.word, .n_plugins = experiment->plugin_words.n,
                             .most_rows = simulated_rows(experiment), .batch_rows = settings->batch_rows,
                             .caches = agb_caches_of(settings->cpus ? settings->cpus[0] : 0), .timeout_s = TIMEOUT_S};
    agb_simulated *entries = calloc(results->n_results + 1, sizeof *entries);
    if (!entries)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the simulations");
    size_t n = 0;
    for (size_t i = 0; i < results->n_results; i++) {
        agb_result *result = &results->results[i];
        if (result->source != self->source || result->state != AGB_STATE_OK)
            continue;
        agb_simulate_reason(results->machine.flags, result->simulation.reason, sizeof result->simulation.reason);
        if (!result->simulation.reason[0])
            entries[n++] = (agb_simulated){result->name, result->params, &result->simulation};
    }
    agb_tell_progress(experiment, "simulating", "", 0, 0);
    agb_status status = n > 0 ? agb_simulate(&run, experiment->registry, entries, n, err) : AGB_OK;
    free(entries);
    return status;
}

static agb_status check_by_perf(session *self, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    agb_results *results = self->results;
    agb_perf_check_plan plan = {.program = experiment->program, .query = job_query_of(self), .source = self->source,
                                .plugins = experiment->plugin_words.word, .n_plugins = experiment->plugin_words.n,
                                .timeout_s = experiment->timeout_s};
    if (!results->perf_check)
        results->perf_check = calloc(1, sizeof *results->perf_check);
    if (!results->perf_check)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the check by perf stat");
    agb_tell_progress(experiment, "counting with perf stat", "", 0, 0);
    agb_perf_check_run(results->perf_check, &plan, results);
    return AGB_OK;
}

/* A contestant may copy every row with its hash, and hold each group in a growing table and in the result: this is on
 * the safe side of what was measured for words; of strings it also copies the bytes. A fifth of the memory stays
 * free. */
static size_t most_at_once(const agb_source_info *info)
{
    enum { BYTES_PER_ROW = 16, BYTES_PER_GROUP = 32, LEAST_BYTES = 1 << 24, LEAST = 2 };
    uint64_t each = info->rows * BYTES_PER_ROW + info->groups * BYTES_PER_GROUP + LEAST_BYTES;
    if (info->layout->kind != AGB_KEYS_WORD)
        each = 2 * each + info->bytes;
    uint64_t fit = agb_machine_available_bytes("") / 5 * 4 / each;
    return fit < LEAST ? LEAST : fit;
}

static agb_status find_reference(session *self, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    agb_source_info *info = &self->results->sources[self->source];
    agb_tell_progress(experiment, "counting the reference answer", "", 0, 0);
    agb_plan query = {.table = self->table, .column = experiment->settings.group_by,
                      .filter = experiment->settings.filter};
    agb_status status = agb_reference_count(&self->reference, experiment->registry, &query,
                                            experiment->timeout_s, err);
    info->reference_s = self->reference.seconds;
    info->reference_peak_rss_bytes = self->reference.peak_rss_bytes;
    info->groups = self->reference.digest.groups;
    info->nulls = self->reference.nulls;
    info->selected = self->reference.digest.rows + self->reference.nulls;
    if (status == AGB_OK)
        agb_sampling_note(self->results, info);
    return status;
}

static void note_layout(session *self)
{
    agb_results *results = self->results;
    if (results->n_layouts < AGB_MOST_LAYOUTS)
        results->layouts[results->n_layouts++] = agb_layout_here(self->table);
}

static agb_status run_source(session *self, agb_error *err)
{
    agb_field *field = &self->field;
    agb_status status = load_table(self, err);
    if (status == AGB_OK)
        status = find_reference(self, err);
    if (status != AGB_OK)
        return status;
    if (!self->experiment->share && !self->experiment->no_floor)
        measure_floor(self);
    if (self->experiment->estimate)
        status = make_resident(self, err);
    if (status != AGB_OK)
        return status;
    set_contest(self);
    field->table_bytes = agb_table_bytes(self->table) + self->resident.bytes;
    field->most_at_once = self->experiment->most_at_once;
    if (field->most_at_once == 0)
        field->most_at_once = most_at_once(&self->results->sources[self->source]);
    status = agb_rounds_run(field, err);
    if (self->experiment->share)
        return status == AGB_OK ? agb_share_write(self->experiment->share, field, err) : status;
    note_layout(self);
    if (status == AGB_OK && self->results->settings.processes > 1)
        status = agb_processes_run(field, err);
    if (field->rows)
        agb_summarize_source(self->results, field->rows, self->experiment->n_entries, field->twin,
                             self->experiment->support);
    self->results->settings.repetitions = field->repetitions;
    if (status == AGB_OK && self->experiment->simulate)
        status = simulate_rows(self, err);
    if (status == AGB_OK && self->experiment->perf_check)
        status = check_by_perf(self, err);
    return status;
}

/* A pass of counters is one repetition: with fewer repetitions than passes some counters would never be read. */
static unsigned repetitions_for(const agb_experiment *experiment, agb_results *out)
{
    unsigned asked = experiment->settings.repetitions;
    unsigned passes = experiment->support && !experiment->replay ? agb_counters_passes(experiment->support) : 0;
    if (asked >= passes)
        return asked;
    agb_results_note(out, "%u repetitions instead of %u: the counters need one for each of their %u passes", passes,
                     asked, passes);
    return passes;
}

agb_status agb_experiment_run(const agb_experiment *experiment, agb_results *out, agb_error *err)
{
    size_t rows = experiment->n_sources * experiment->n_entries;
    out->settings = experiment->settings;
    out->replay = experiment->replay;
    out->estimated = experiment->estimate;
    out->simulated = experiment->simulate;
    out->ipc_line = experiment->ipc_line;
    out->sources = calloc(experiment->n_sources + 1, sizeof *out->sources);
    out->results = calloc(rows + 1, sizeof *out->results);
    out->comparisons = calloc(rows + 1, sizeof *out->comparisons);
    out->noises = calloc(experiment->n_sources + 1, sizeof *out->noises);
    if (!out->sources || !out->results || !out->comparisons || !out->noises)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the table of results");
    uint64_t program_bytes = agb_peak_rss_bytes();
    agb_status status = AGB_OK;
    out->processes = 1;
    for (size_t i = 0; i < experiment->n_sources && status == AGB_OK; i++) {
        if (experiment->share && experiment->share->source != i)
            continue;
        session session = {.experiment = experiment, .results = out, .source = i};
        session.field = (agb_field){.experiment = experiment, .results = out, .source = i, .contest = &session.contest,
                                    .start_s = agb_now_s(), .random = experiment->settings.seed + i,
                                    .program_bytes = program_bytes, .repetitions = repetitions_for(experiment, out)};
        out->n_sources = i + 1;
        status = run_source(&session, err);
        agb_field_release(&session.field);
        agb_resident_release(&session.resident);
        agb_reference_release(&session.reference);
        agb_table_destroy(session.table);
    }
    out->largest_rss_bytes = agb_largest_rss_bytes();
    return status;
}
