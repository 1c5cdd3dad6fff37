/* SPDX-License-Identifier: MIT */
/* The contestants' turns: see rounds.h.
 *
 * Every contestant waits in a process of its own. A round lets each of them count once, in an order shuffled anew, so
 * that a machine that slows down slows all of them alike, and a pair of runs of one round is a fair comparison. Warm
 * contestants keep their memory between their turns. Where memory cannot hold all of them at once they run in heats,
 * one after another, and the baseline takes part in each, so that every contestant is still paired with it round by
 * round.
 */
#include "rounds.h"

#include "precision.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double noisy_share = 0.02;

/* Contestants that run against each other: some rows of the field, and in later heats a stand-in for the baseline. */
typedef struct heat {
    agb_field *field;
    agb_contestant *contestants;
    agb_result **rows;
    size_t *order;
    size_t n;
    agb_result stand_in;
} heat;

/* ---- Who takes part ---------------------------------------------------------------------------------------------- */

/* The engine names the aggregator first; the row has its name already. */
static void refuse(agb_result *result, agb_state state, const agb_error *error)
{
    size_t length = result->name ? strlen(result->name) : 0;
    bool named = length > 0 && strncmp(error->text, result->name, length) == 0 &&
                 strncmp(error->text + length, ": ", 2) == 0;
    result->state = state;
    snprintf(result->reason, sizeof result->reason, "%s", error->text + (named ? length + 2 : 0));
}

/* Several integers that fit no pair of words become a string, too, which would be no word of the user's. */
static const char *refusal_of(const agb_aggregator *aggregator, const agb_key_layout *layout)
{
    const char *refusal = agb_key_kind_refusal(aggregator, layout->kind);
    for (size_t i = 0; i < layout->columns; i++)
        if (layout->kind != AGB_KEYS_BYTES || layout->column[i].type == AGB_TYPE_BYTES)
            return refusal;
    return refusal ? "it does not take keys of more than 128 bits" : NULL;
}

static void describe_row(const agb_field *field, agb_result *result, const agb_entry *entry)
{
    agb_error error = {0};
    const char *refusal = entry->aggregator ? refusal_of(entry->aggregator, field->contest->layout) : NULL;
    result->name = strdup(entry->name);
    result->params = strdup(entry->params);
    result->threads = entry->threads;
    result->aggregator = entry->aggregator;
    result->source = field->source;
    result->runs = calloc(field->experiment->settings.warmup + field->repetitions, sizeof *result->runs);
    if (!result->name || !result->params || !result->runs) {
        agb_fail(&error, AGB_ERR_MEMORY, "no memory for its row");
        refuse(result, AGB_STATE_FAILED, &error);
    } else if (!entry->aggregator) {
        refuse(result, AGB_STATE_FAILED, &entry->refused);
    } else if (refusal) {
        agb_fail(&error, AGB_ERR_UNSUPPORTED, "%s", refusal);
        refuse(result, AGB_STATE_SKIPPED, &error);
    } else {
        agb_params_parse(entry->aggregator, result->params, result->param_values, NULL);
        if (field->experiment->settings.threads > 1 && !(entry->aggregator->traits & AGB_PARALLEL))
            agb_results_note(field->results, "%s runs on one worker: it is not a parallel aggregator", result->name);
    }
}

static agb_status describe_rows(agb_field *field, agb_error *err)
{
    const agb_experiment *experiment = field->experiment;
    size_t n = experiment->n_entries;
    bool twin = experiment->twin && n > 0 && experiment->entries[0].aggregator;
    field->rows = calloc(n + 1, sizeof *field->rows);
    if (!field->rows)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for the table of results");
    for (size_t i = 0; i < n; i++)
        describe_row(field, &field->rows[i], &experiment->entries[i]);
    if (twin) {
        field->twin = &field->rows[n];
        describe_row(field, field->twin, &experiment->entries[0]);
    }
    return AGB_OK;
}

static void add_to_heat(heat *self, agb_result *row)
{
    agb_error error = {0};
    size_t i = self->n++;
    self->rows[i] = row;
    if (row->state == AGB_STATE_OK && agb_contestant_start(&self->contestants[i], self->field->contest, row->aggregator,
                                                           row->params, row->threads, &error) != AGB_OK)
        refuse(row, AGB_STATE_FAILED, &error);
}

/* ---- A heat's rounds --------------------------------------------------------------------------------------------- */

/* SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014). */
static uint64_t next_random(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
}

static void shuffle(heat *self)
{
    for (size_t i = 0; i < self->n; i++)
        self->order[i] = i;
    for (size_t i = self->n; i > 1; i--) {
        size_t j = next_random(&self->field->random) % i, kept = self->order[i - 1];
        self->order[i - 1] = self->order[j];
        self->order[j] = kept;
    }
}

static void record_run(const agb_field *field, agb_result *result, const agb_measurement *measurement, unsigned round,
                       unsigned position)
{
    const agb_stats *stats = &measurement->stats;
    agb_run *run = &result->runs[result->n_runs++];
    *run = (agb_run){.round = round, .position = position, .warmup = round < field->experiment->settings.warmup,
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
    result->accounted_peak_bytes = field->program_bytes + field->table_bytes + measurement->memory.mapped_peak;
    result->peak_rss_bytes = measurement->peak_rss_bytes;
}

/* The same strategy over the cache-resident twin, in the same turn: a pair of times for the estimate. */
static void run_twin(heat *self, size_t i)
{
    agb_result *result = self->rows[i];
    agb_measurement measurement = {0};
    agb_error error = {0};
    agb_state state = agb_contestant_run_resident(&self->contestants[i], &measurement);
    if (state == AGB_STATE_OK) {
        result->runs[result->n_runs - 1].resident_s = (double)measurement.stats.wall_ns * 1e-9;
        return;
    }
    agb_fail(&error, measurement.error.status, "over the cache-resident twin of the rows: %.900s",
             measurement.error.text);
    refuse(result, state, &error);
}

static void run_one(heat *self, size_t i, unsigned round, unsigned position, bool with_top)
{
    agb_result *result = self->rows[i];
    if (result->state != AGB_STATE_OK)
        return;
    const agb_counter_support *support = self->field->contest->support;
    unsigned passes = support ? agb_counters_passes(support) : 0;
    agb_measurement measurement = {0};
    agb_group *top = NULL;
    agb_state state = agb_contestant_run(&self->contestants[i], passes ? round % passes : 0, &measurement,
                                         with_top ? &top : NULL);
    if (state != AGB_STATE_OK) {
        free(top);
        refuse(result, state, &measurement.error);
        return;
    }
    record_run(self->field, result, &measurement, round, position);
    free(result->top);
    result->top = top;
    result->n_top = measurement.top.groups;
    if (self->field->contest->resident)
        run_twin(self, i);
}

/* One more timed round would take the whole command beyond its time, if it is as long as the one before. */
static bool out_of_time(const agb_field *field, double round_s)
{
    const double simulating_s = 25;    /* what follows the rounds */
    double most_s = field->experiment->most_s - (field->experiment->simulate ? simulating_s : 0);
    return field->experiment->most_s > 0 && agb_now_s() - field->start_s + round_s > most_s;
}

static void cut_repetitions(agb_field *field, unsigned done)
{
    agb_results_note(field->results, "%u repetition%s instead of %u, to keep the whole command within %.0f s", done,
                     done == 1 ? "" : "s", field->repetitions, field->experiment->most_s);
    field->repetitions = done;
}

/* Of this row's median, or of its speed-up against the first row; NAN where there is none. values: room for the times
 * of both. */
static double precision_of(const heat *self, const agb_result *row, double *values)
{
    const agb_settings *settings = &self->field->experiment->settings;
    const agb_result *baseline = self->rows[0];
    size_t n = row->n_runs - row->n_warmup;
    if (row->state != AGB_STATE_OK || n == 0)
        return NAN;
    for (size_t i = 0; i < n; i++)
        values[i] = row->runs[row->n_warmup + i].wall_s;
    if (!settings->precise_speedups) {
        agb_summary wall = agb_summarize(values, n, settings->seed);
        return agb_precision_of(wall.median, wall.ci95_low, wall.ci95_high);
    }
    if (row == baseline || baseline->state != AGB_STATE_OK)
        return NAN;
    for (size_t i = 0; i < n; i++)
        values[n + i] = baseline->runs[baseline->n_warmup + i].wall_s;
    agb_ratio speedup = agb_paired_ratio(values + n, values, NULL, n, settings->seed);
    return agb_precision_of(speedup.ratio, speedup.ci95_low, speedup.ci95_high);
}

/* Whether all intervals are as narrow as was asked for; a twin is there to tell the noise, not to be told. */
static bool is_precise(const heat *self, unsigned done)
{
    const agb_field *field = self->field;
    unsigned passes = field->contest->support ? agb_counters_passes(field->contest->support) : 0;
    if (field->experiment->settings.precision == 0 || done < AGB_LEAST_PRECISE || done < passes)
        return false;
    double *values = calloc(2 * (size_t)field->repetitions + 1, sizeof *values);
    bool precise = values != NULL;
    for (size_t i = 0; precise && i < self->n; i++)
        precise = self->rows[i] == field->twin ||
                  !(precision_of(self, self->rows[i], values) > field->experiment->settings.precision);
    free(values);
    return precise;
}

/* Where time or precision may end the rounds, any of them may prove to be the last, and each brings its largest
 * groups. */
static void run_rounds(heat *self)
{
    agb_field *field = self->field;
    unsigned warmup = field->experiment->settings.warmup, rounds = warmup + field->repetitions;
    bool may_be_cut = field->experiment->most_s > 0 || field->experiment->settings.precision > 0;
    unsigned least = field->experiment->least_repetitions ? field->experiment->least_repetitions : 1;
    double round_s = 0;
    for (unsigned round = 0; round < rounds; round++) {
        double start = agb_now_s();
        if (round >= warmup + least && out_of_time(field, round_s)) {
            cut_repetitions(field, round - warmup);
            return;
        }
        if (round > warmup && is_precise(self, round - warmup)) {
            field->most_done = round - warmup > field->most_done ? round - warmup : field->most_done;
            return;
        }
        shuffle(self);
        for (unsigned position = 0; position < self->n; position++) {
            size_t i = self->order[position];
            agb_tell_progress(field->experiment, round < warmup ? "warming up" : "measuring", self->rows[i]->name,
                              round * self->n + position, rounds * self->n);
            run_one(self, i, round, position, may_be_cut || round + 1 == rounds);
        }
        round_s = agb_now_s() - start;
    }
    field->most_done = field->repetitions;
}

/* ---- Heats ------------------------------------------------------------------------------------------------------- */

/* What the baseline took in the same rounds, for the comparison: the first row of the heat is the baseline. */
static void pair_rows(heat *self)
{
    const agb_result *baseline = self->rows[0];
    for (size_t i = 1; i < self->n; i++) {
        agb_result *row = self->rows[i];
        if (baseline->state != AGB_STATE_OK || row->state != AGB_STATE_OK)
            continue;
        row->paired_s = calloc(baseline->n_runs + 1, sizeof *row->paired_s);
        for (size_t run = baseline->n_warmup; row->paired_s && run < baseline->n_runs; run++)
            row->paired_s[run - baseline->n_warmup] = baseline->runs[run].wall_s;
    }
}

/* By the first contestant with a right answer; *written: no later heat need do it. */
static agb_status write_groups(heat *self, bool *written, agb_error *err)
{
    const agb_experiment *experiment = self->field->experiment;
    for (size_t i = 0; i < self->n && experiment->groups && !*written; i++) {
        if (self->rows[i]->state != AGB_STATE_OK)
            continue;
        agb_tell_progress(experiment, "writing groups to", experiment->groups->path, 0, 0);
        *written = true;
        return agb_contestant_write_groups(&self->contestants[i], err);
    }
    return AGB_OK;
}

/* Rows first..first+n-1 of the field, with the baseline in front where it is not among them. */
static agb_status run_heat(agb_field *field, size_t first, size_t n, bool *written, agb_error *err)
{
    size_t room = n + 1;
    heat self = {.field = field, .contestants = calloc(room, sizeof *self.contestants),
                 .rows = calloc(room, sizeof *self.rows), .order = calloc(room, sizeof *self.order)};
    agb_status status = AGB_OK;
    if (self.contestants && self.rows && self.order) {
        if (first > 0) {
            describe_row(field, &self.stand_in, &field->experiment->entries[0]);
            add_to_heat(&self, &self.stand_in);
        }
        for (size_t i = 0; i < n; i++) {
            field->rows[first + i].heat = first;
            add_to_heat(&self, &field->rows[first + i]);
        }
        run_rounds(&self);
        pair_rows(&self);
        status = write_groups(&self, written, err);
        for (size_t i = 0; i < self.n; i++)
            agb_contestant_end(&self.contestants[i]);
    } else {
        status = agb_fail(err, AGB_ERR_MEMORY, "no memory for the contestants' processes");
    }
    agb_result_release(&self.stand_in);
    free(self.contestants);
    free(self.rows);
    free(self.order);
    return status;
}

/* There will be no report that says of each contestant what it lacked: the baseline's lack is said here. */
static agb_status groups_not_written(const agb_field *field, agb_error *err)
{
    const agb_result *first = &field->rows[0];
    return agb_fail(err, AGB_ERR_CONTRACT, "--groups: %s: not written: no aggregator gave a right answer%s%s%s%s",
                    field->experiment->groups->path, *first->reason ? ": " : "", *first->reason ? first->name : "",
                    *first->reason ? ": " : "", first->reason);
}

agb_status agb_rounds_run(agb_field *field, agb_error *err)
{
    agb_status status = describe_rows(field, err);
    size_t n = field->experiment->n_entries + (field->twin != NULL), heats = 0;
    bool written = false;
    for (size_t first = 0; first < n && status == AGB_OK; heats++) {
        size_t room = field->most_at_once - (first > 0);    /* one place is the stand-in's */
        size_t share = n - first < room ? n - first : room;
        status = run_heat(field, first, share, &written, err);
        first += share;
    }
    agb_tell_progress(field->experiment, "measured", "", 1, 1);
    if (field->experiment->settings.precision > 0 && field->most_done > 0)
        field->repetitions = field->most_done;
    if (heats > 1)
        agb_results_note(field->results, "memory holds %zu contestants at once: they ran in %zu heats, the baseline in "
                         "each of them", field->most_at_once, heats);
    if (status == AGB_OK && field->experiment->groups && !written)
        status = groups_not_written(field, err);
    return status;
}

void agb_field_release(agb_field *field)
{
    for (size_t i = 0; field->rows && i <= field->experiment->n_entries; i++)
        agb_result_release(&field->rows[i]);
    free(field->rows);
    field->rows = field->twin = NULL;
}
