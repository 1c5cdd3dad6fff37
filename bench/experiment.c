/* SPDX-License-Identifier: MIT */
/* The measuring itself: see experiment.h.
 *
 * Order of things for each source: the table is loaded by all processors and the load's threads end; the reference
 * answer and the machine's floor are found in child processes; then every contestant is forked from this process, which
 * has one thread and the loaded table, and waits. A round lets each of them count once, in an order shuffled anew, so
 * that a machine that slows down slows all of them alike. */
#include "experiment.h"

#include "contestant.h"
#include "summary.h"

#include <inttypes.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_REPETITIONS = 2 };    /* an interval of one is none */
static const double noisy_share = 0.02;

/* One source's part of the experiment. The twin, if there is one, is the last of the field. */
typedef struct session {
    const agb_experiment *experiment;
    agb_results *results;
    size_t source;
    double start_s;
    agb_table *table;
    agb_reference reference;
    agb_contest contest;
    agb_contestant *contestants;
    agb_result *field;
    agb_group *top;          /* room for one contestant's */
    size_t *order;
    size_t n;
    unsigned repetitions;
    uint64_t random;
    uint64_t program_bytes;  /* of this process before the load */
} session;

static void tell_progress(const agb_experiment *experiment, const char *what, const char *subject, uint64_t done,
                          uint64_t total)
{
    if (experiment->progress)
        experiment->progress(experiment->context, &(agb_progress){what, subject, done, total});
}

/* ---- The table ---------------------------------------------------------------------------------------------------- */

static void loading(void *context, uint64_t done, uint64_t total)
{
    tell_progress(context, "loading", "rows", done, total);
}

static agb_status load_table(session *self, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    const agb_settings *settings = &experiment->settings;
    agb_source_info *info = &self->results->sources[self->source];
    const char *source = experiment->sources[self->source];
    double start = agb_now_s();
    agb_pool *pool = NULL;
    agb_status status = agb_pool_create(&pool, agb_machine_default_threads(""), NULL, err);
    if (status == AGB_OK) {
        agb_load_options options = {.pages = settings->pages, .pool = pool, .loader = experiment->input_format,
                                    .progress = experiment->progress ? loading : NULL, .context = (void *)experiment};
        const char *columns[] = {settings->group_by};
        status = agb_table_load(&self->table, experiment->registry, source, columns, 1, &options, err);
    }
    agb_pool_destroy(pool);
    malloc_trim(0);    /* the loader's buffers must not be copied into every contestant's account */
    if (status != AGB_OK)
        return status;
    agb_column column;
    agb_table_find_column(self->table, settings->group_by, &column);
    *info = (agb_source_info){.name = strdup(source), .format = strdup(agb_table_format(self->table)),
                              .rows = agb_table_rows(self->table), .bytes = agb_table_bytes(self->table),
                              .load_s = agb_now_s() - start, .signed_keys = agb_type_is_signed(column.type)};
    if (column.type == AGB_TYPE_BYTES || column.type == AGB_TYPE_OTHER)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "--group-by: %s: is a %s column: only integer and bool columns can be "
                        "grouped by", column.name, agb_type_name(column.type));
    return AGB_OK;
}

/* ---- The machine's floor ------------------------------------------------------------------------------------------ */

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
        status = agb_floor_measure(&answer.floor, pool, settings->pages, &answer.error);
    answer.error.status = status;
    agb_pipe_write(out, &answer, sizeof answer);
}

static void measure_floor(session *self)
{
    agb_source_info *info = &self->results->sources[self->source];
    agb_process process;
    floor_answer answer = {0};
    if (agb_process_start(&process, floor_in_child, (void *)&self->experiment->settings, &answer.error) != AGB_OK) {
        agb_results_note(self->results, "no floor: %s", answer.error.text);
        return;
    }
    agb_answer heard = agb_process_hear(&process, &answer, sizeof answer, self->experiment->timeout_s);
    agb_process_end(&process, true);
    info->has_floor = heard == AGB_ANSWER_WHOLE && answer.error.status == AGB_OK;
    if (info->has_floor)
        info->floor = answer.floor;
    else
        agb_results_note(self->results, "no floor: the machine's bandwidth was not measured: %s",
                         heard == AGB_ANSWER_WHOLE ? answer.error.text : "its process ended");
}

/* ---- The contestants ---------------------------------------------------------------------------------------------- */

static void set_contest(session *self)
{
    const agb_experiment *experiment = self->experiment;
    const agb_settings *settings = &experiment->settings;
    self->contest = (agb_contest){
        .table = self->table, .column = settings->group_by,
        .signed_keys = self->results->sources[self->source].signed_keys, .threads = settings->threads,
        .cpus = settings->cpus, .batch_rows = settings->batch_rows, .hash = settings->hash,
        .memory = {.pages = settings->pages, .mode = settings->memory, .budget = settings->memory_budget},
        .support = experiment->support, .reference = &self->reference, .timeout_s = experiment->timeout_s,
        .top = settings->top};
}

static void refuse(agb_result *result, agb_state state, const agb_error *error)
{
    result->state = state;
    snprintf(result->reason, sizeof result->reason, "%s", error->text);
}

static void enter_contestant(session *self, size_t i, const agb_entry *entry)
{
    agb_result *result = &self->field[i];
    unsigned rounds = self->experiment->settings.warmup + self->repetitions;
    agb_error error = {0};
    result->name = strdup(entry->name);
    result->params = strdup(entry->params);
    result->aggregator = entry->aggregator;
    result->source = self->source;
    result->runs = calloc(rounds, sizeof *result->runs);
    if (!entry->aggregator) {
        refuse(result, AGB_STATE_FAILED, &entry->refused);
    } else if (!(entry->aggregator->traits & AGB_TAKES_WORDS)) {
        agb_fail(&error, AGB_ERR_UNSUPPORTED, "does not take integer keys");
        refuse(result, AGB_STATE_SKIPPED, &error);
    } else if (!result->runs ||
               agb_contestant_start(&self->contestants[i], &self->contest, entry->aggregator, result->params,
                                    &error) != AGB_OK) {
        refuse(result, AGB_STATE_FAILED, &error);
    } else {
        agb_params_parse(entry->aggregator, result->params, result->param_values, NULL);
        if (self->experiment->settings.threads > 1 && !(entry->aggregator->traits & AGB_PARALLEL))
            agb_results_note(self->results, "%s runs on one worker: it is not a parallel aggregator", result->name);
    }
}

static agb_status enter_all(session *self, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    bool twin = experiment->twin && experiment->n_entries > 0 && experiment->entries[0].aggregator;
    self->n = experiment->n_entries + twin;
    self->contestants = calloc(self->n + 1, sizeof *self->contestants);
    self->field = calloc(self->n + 1, sizeof *self->field);
    self->order = calloc(self->n + 1, sizeof *self->order);
    self->top = calloc(experiment->settings.top + 1, sizeof *self->top);
    if (!self->contestants || !self->field || !self->order || !self->top)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the table of results");
    set_contest(self);
    for (size_t i = 0; i < self->n; i++)
        enter_contestant(self, i, &experiment->entries[i < experiment->n_entries ? i : 0]);
    return AGB_OK;
}

/* ---- The rounds --------------------------------------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void shuffle(session *self)
{
    for (size_t i = 0; i < self->n; i++)
        self->order[i] = i;
    for (size_t i = self->n; i > 1; i--) {
        size_t j = next_random(&self->random) % i, kept = self->order[i - 1];
        self->order[i - 1] = self->order[j];
        self->order[j] = kept;
    }
}

static void record_run(const session *self, agb_result *result, const agb_measurement *measurement, unsigned round,
                       unsigned position)
{
    const agb_stats *stats = &measurement->stats;
    agb_run *run = &result->runs[result->n_runs++];
    *run = (agb_run){.round = round, .position = position, .warmup = round < self->experiment->settings.warmup,
                     .wall_s = (double)stats->wall_ns * 1e-9, .setup_s = (double)stats->setup_ns * 1e-9,
                     .teardown_s = (double)stats->teardown_ns * 1e-9, .verify_s = measurement->verify_s,
                     .usage = measurement->usage, .counts = measurement->counts};
    double span_s = run->wall_s + run->setup_s + run->teardown_s;
    run->noisy = run->usage.runq_wait_s > noisy_share * span_s;
    for (size_t phase = 0; phase < stats->phases && phase < AGB_MOST_PHASES; phase++)
        run->phase_s[phase] = (double)stats->phase_ns[phase] * 1e-9;
    result->n_warmup += run->warmup;
    result->stats = *stats;
    result->digest = measurement->digest;
    result->accounted_peak_bytes = self->program_bytes + agb_table_bytes(self->table) + measurement->memory.mapped_peak;
    result->peak_rss_bytes = measurement->peak_rss_bytes;
}

static void keep_top(const session *self, agb_result *result, size_t n)
{
    result->top = calloc(n + 1, sizeof *result->top);
    if (!result->top)
        return;
    memcpy(result->top, self->top, n * sizeof *result->top);
    result->n_top = n;
}

static void run_one(session *self, size_t i, unsigned round, unsigned position, bool last)
{
    agb_result *result = &self->field[i];
    if (result->state != AGB_STATE_OK)
        return;
    unsigned passes = self->contest.support ? self->contest.support->passes : 0;
    agb_measurement measurement = {0};
    result->state = agb_contestant_run(&self->contestants[i], passes ? round % passes : 0, last, &measurement,
                                       self->top);
    if (result->state != AGB_STATE_OK) {
        refuse(result, result->state, &measurement.error);
        return;
    }
    record_run(self, result, &measurement, round, position);
    if (last)
        keep_top(self, result, measurement.top);
}

/* After the first rounds: as many repetitions as the time that is left allows. */
static void fit_repetitions(session *self, double round_s)
{
    double left_s = self->experiment->most_s - (agb_now_s() - self->start_s);
    double fit = left_s / round_s;
    unsigned wanted = self->repetitions;
    if (fit < LEAST_REPETITIONS)
        fit = LEAST_REPETITIONS;
    if (fit >= wanted)
        return;
    self->repetitions = (unsigned)fit;
    agb_results_note(self->results, "%u repetitions instead of %u, to keep the whole command within %.0f s",
                     self->repetitions, wanted, self->experiment->most_s);
}

static void run_rounds(session *self)
{
    const agb_experiment *experiment = self->experiment;
    unsigned warmup = experiment->settings.warmup;
    for (unsigned round = 0; round < warmup + self->repetitions; round++) {
        double start = agb_now_s();
        shuffle(self);
        for (unsigned position = 0; position < self->n; position++) {
            size_t i = self->order[position];
            tell_progress(experiment, round < warmup ? "warming up" : "measuring", self->field[i].name,
                          round * self->n + position, (warmup + self->repetitions) * self->n);
            run_one(self, i, round, position, round + 1 == warmup + self->repetitions);
        }
        if (experiment->most_s > 0 && round + 1 == (warmup ? warmup : 1))
            fit_repetitions(self, agb_now_s() - start);
    }
    tell_progress(experiment, "measured", "", 1, 1);
}

/* ---- The whole ---------------------------------------------------------------------------------------------------- */

static agb_status write_groups(session *self, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    if (!experiment->groups)
        return AGB_OK;
    for (size_t i = 0; i < experiment->n_entries; i++) {
        if (self->field[i].state == AGB_STATE_OK) {
            tell_progress(experiment, "writing groups", experiment->groups, 0, 0);
            return agb_contestant_write_groups(&self->contestants[i], experiment->groups, err);
        }
    }
    return agb_fail(err, AGB_ERR_CONTRACT, "--groups: %s: not written: no aggregator gave a right answer",
                    experiment->groups);
}

static void end_session(session *self)
{
    for (size_t i = 0; i < self->n && self->contestants; i++)
        agb_contestant_end(&self->contestants[i]);
    free(self->contestants);
    free(self->order);
    free(self->top);
    if (self->field) {
        for (size_t i = 0; i < self->n; i++)
            agb_result_release(&self->field[i]);
    }
    free(self->field);
    agb_reference_release(&self->reference);
    agb_table_destroy(self->table);
}

static agb_status run_source(session *self, agb_error *err)
{
    const agb_experiment *experiment = self->experiment;
    const agb_settings *settings = &experiment->settings;
    agb_status status = load_table(self, err);
    if (status != AGB_OK)
        return status;
    agb_source_info *info = &self->results->sources[self->source];
    tell_progress(experiment, "counting the reference answer", "", 0, 0);
    status = agb_reference_count(&self->reference, experiment->registry, self->table, settings->group_by,
                                 experiment->timeout_s, err);
    if (status != AGB_OK)
        return status;
    info->reference_s = self->reference.seconds;
    info->groups = self->reference.digest.groups;
    info->nulls = self->reference.nulls;
    tell_progress(experiment, "measuring the machine's bandwidth", "", 0, 0);
    measure_floor(self);
    status = enter_all(self, err);
    if (status != AGB_OK)
        return status;
    run_rounds(self);
    status = write_groups(self, err);
    bool twin = self->n > experiment->n_entries;
    agb_summarize_source(self->results, self->field, experiment->n_entries,
                         twin ? &self->field[experiment->n_entries] : NULL, experiment->support);
    if (self->repetitions != settings->repetitions)
        self->results->settings.repetitions = self->repetitions;
    return status;
}

/* A pass of counters is one repetition: with fewer repetitions than passes some counters would never be read. */
static unsigned repetitions_for(const agb_experiment *experiment, agb_results *out)
{
    unsigned asked = experiment->settings.repetitions;
    unsigned passes = experiment->support && experiment->support->available ? experiment->support->passes : 0;
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
    out->sources = calloc(experiment->n_sources + 1, sizeof *out->sources);
    out->results = calloc(rows + 1, sizeof *out->results);
    out->comparisons = calloc(rows + 1, sizeof *out->comparisons);
    out->noises = calloc(experiment->n_sources + 1, sizeof *out->noises);
    if (!out->sources || !out->results || !out->comparisons || !out->noises)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the table of results");
    uint64_t program_bytes = agb_peak_rss_bytes();
    agb_status status = AGB_OK;
    for (size_t i = 0; i < experiment->n_sources && status == AGB_OK; i++) {
        session session = {.experiment = experiment, .results = out, .source = i, .start_s = agb_now_s(),
                           .random = experiment->settings.seed + i, .program_bytes = program_bytes};
        session.repetitions = repetitions_for(experiment, out);
        out->n_sources = i + 1;
        status = run_source(&session, err);
        end_session(&session);
    }
    return status;
}
