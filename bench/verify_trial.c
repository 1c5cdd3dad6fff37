/* SPDX-License-Identifier: MIT */
/* One run of an aggregator under verification, and its judgement: see verify_parts.h. */
#include "verify_parts.h"

#include "reference.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool agb_verify_fails(agb_verify_session *self, const char *why)
{
    agb_fail(&self->error, AGB_ERR_CONTRACT, "%s: %s", self->place->what, why);
    return false;
}

void agb_name_case(agb_verify_session *self, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(self->place->what, sizeof self->place->what, format, arguments);
    va_end(arguments);
}

static void note_phase(void *context, unsigned worker, unsigned phase)
{
    if (worker == 0)
        ((agb_verify_session *)context)->place->last.phase = (int32_t)phase;
}

/* The first phase begins without being named. */
static void note_enter(void *context, unsigned worker)
{
    note_phase(context, worker, 0);
}

static bool compare(agb_verify_session *self, const agb_trial *trial, const agb_sink *sink)
{
    const agb_sample *sample = trial->sample;
    agb_reference right = {.groups = sample->groups, .n = sample->n_groups, .kind = sample->kind};
    agb_stats stats = {0};
    size_t n;
    agb_group *mine = agb_sorted_groups(sink, &n);
    bool same = mine && n == sample->n_groups;
    for (size_t i = 0; same && i < n; i++)
        same = agb_same_group(sample->kind, &mine[i], &sample->groups[i]);
    free(mine);
    if (same)
        return true;
    agb_error why = {0};
    agb_reference_explain(&right, sink, &stats, trial->layout, &why);
    return agb_verify_fails(self, why.text);
}

static bool judge(agb_verify_session *self, agb_trial *trial, agb_status status, const agb_sink *sink,
                  const agb_error *why)
{
    bool may_refuse = trial->setup.budget || trial->setup.fail_at;
    bool out_of_memory = status == AGB_ERR_MEMORY || status == AGB_ERR_BUDGET;
    trial->refused = out_of_memory;
    if (status == AGB_OK)
        return compare(self, trial, sink);
    if (out_of_memory && may_refuse)
        return true;
    return agb_verify_fails(self, why->text);
}

static bool run_with(agb_verify_session *self, agb_trial *trial, agb_pool *pool, agb_memory *memory)
{
    agb_error why = {0};
    agb_table *table = NULL;
    agb_sink *sink = NULL;
    const agb_sample *sample = trial->sample;
    agb_observer observer = {.context = self, .enter = note_enter, .phase = note_phase};
    agb_plan plan = {.weights = sample->weights, .aggregator = self->verify->aggregator,
                     .params = self->verify->params, .batch_rows = trial->setup.batch_rows,
                     .hash = trial->setup.hash[0] ? trial->setup.hash : NULL, .pool = pool, .memory = memory,
                     .observer = &observer, .spill_folder = self->verify->spill_folder};
    bool good = agb_sink_collect(&sink, &why) == AGB_OK &&
                agb_sample_lend(sample, &table, &plan.column, &why) == AGB_OK &&
                agb_key_layout_create(&trial->layout, table, plan.column, &why) == AGB_OK;
    if (good) {
        self->place->last.phase = -1;
        plan.table = table;
        agb_status status = agb_count_groups(&plan, sink, NULL, &why);
        agb_memory_usage usage = agb_memory_usage_of(memory);
        trial->peak = usage.peak;
        trial->allocations = usage.allocations;
        good = judge(self, trial, status, sink, &why);
        if (good && usage.live != 0)
            good = agb_verify_fails(self, "memory was left unreleased");
    } else {
        agb_verify_fails(self, why.text);
    }
    agb_sink_destroy(sink);
    agb_key_layout_destroy(trial->layout);
    agb_table_destroy(table);
    return good;
}

/* Should it fail, or not come back, the parent finds its input there. */
static void leave_word(agb_verify_session *self, const agb_trial *trial)
{
    agb_place *place = self->place;
    place->cases++;
    place->setup = trial->setup;
    if (!self->given)    /* of a replay the parent has it */
        place->has_input = agb_sample_store(trial->sample, place->input, sizeof place->input);
}

bool agb_try(agb_verify_session *self, agb_trial *trial)
{
    agb_error why = {0};
    agb_pool *pool = NULL;
    agb_memory *memory = NULL;
    const agb_setup *setup = &trial->setup;
    agb_memory_options limits = {.budget = setup->budget, .fail_at = setup->fail_at, .guarded = setup->guarded};
    agb_sample guarded = {0}, plain = *trial->sample;
    leave_word(self, trial);
    bool ready = agb_pool_create(&pool, setup->workers ? (unsigned)setup->workers : 1, NULL, &why) == AGB_OK &&
                 (trial->memory || agb_memory_create(&memory, &limits, &why) == AGB_OK);
    if (ready && setup->guarded) {
        ready = agb_sample_of_rows(&guarded, &plain, NULL, plain.rows, true, &why) == AGB_OK &&
                agb_sample_guard(&guarded, &why) == AGB_OK;
        trial->sample = &guarded;
    }
    bool good = ready || agb_verify_fails(self, why.text[0] ? why.text : "no memory");
    for (int round = 0; good && round < (setup->again ? 2 : 1); round++)
        good = run_with(self, trial, pool, trial->memory ? trial->memory : memory);
    agb_sample_release(&guarded);
    agb_memory_destroy(memory);
    agb_pool_destroy(pool);
    return good;
}

bool agb_try_shape(agb_verify_session *self, const agb_shape *shape, size_t rows, bool weighted, agb_trial trial)
{
    agb_sample sample;
    bool good = agb_sample_of_shape(&sample, shape, trial.kind, rows, weighted, &self->error) == AGB_OK;
    trial.sample = &sample;
    good = good && agb_try(self, &trial);
    agb_sample_release(&sample);
    return good;
}
