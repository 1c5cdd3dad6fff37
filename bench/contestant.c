/* SPDX-License-Identifier: MIT */
/* One aggregator in a process of its own: see contestant.h. The upper half of this file runs in the child, the lower
 * half in the parent; a request and a measurement are all that passes between them. */
#include "contestant.h"

#include "groups_file.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

typedef struct request {
    enum { COUNT, WRITE_GROUPS } what;
    unsigned pass;
    bool with_top;
    bool resident;           /* the twin's rows instead of the table's */
} request;

/* ---- In the child ------------------------------------------------------------------------------------------------ */

/* What lives as long as the child. */
typedef struct stage {
    const agb_contestant *self;
    const agb_aggregator *aggregator;    /* self->aggregator; of a plug-in: the one that can run */
    agb_error error;            /* why the stage could not be set up */
    agb_pool *pool;
    agb_memory *memory;
    agb_sink *sink, *resident_sink;    /* the twin's groups must not stand where --groups looks */
    agb_counters *counters;
    agb_observer counting;      /* the counters' own observer, all NULL without counters */
    uint64_t nulls;             /* of the last count */
} stage;

static void stage_enter(void *context, unsigned worker)
{
    stage *stage = context;
    if (worker == 0)
        stage->self->last->phase = 0;
    if (stage->counting.enter)
        stage->counting.enter(stage->counting.context, worker);
}

/* Leaves word of the phase where the parent finds it should this process crash or hang. */
static void stage_phase(void *context, unsigned worker, unsigned phase)
{
    stage *stage = context;
    if (worker == 0)
        stage->self->last->phase = (int32_t)phase;
    if (stage->counting.phase)
        stage->counting.phase(stage->counting.context, worker, phase);
}

static void stage_leave(void *context, unsigned worker)
{
    stage *stage = context;
    if (stage->counting.leave)
        stage->counting.leave(stage->counting.context, worker);
}

static agb_status stage_set(stage *stage)
{
    const agb_contest *contest = stage->self->contest;
    bool parallel = stage->self->aggregator->traits & AGB_PARALLEL;
    unsigned workers = parallel ? stage->self->threads : 1;
    agb_error *err = &stage->error;
    stage->aggregator = stage->self->aggregator;
    agb_status status = agb_plugins_load(contest->plugins, &stage->aggregator, err);
    if (status == AGB_OK)
        status = agb_pool_create(&stage->pool, workers, contest->cpus, err);
    if (status == AGB_OK)
        status = agb_memory_create(&stage->memory, &contest->memory, err);
    if (status == AGB_OK)
        status = agb_sink_collect(&stage->sink, err);
    if (status == AGB_OK && contest->resident)
        status = agb_sink_collect(&stage->resident_sink, err);
    if (status == AGB_OK && contest->support && agb_counters_passes(contest->support) > 0) {
        status = agb_counters_create(&stage->counters, contest->support, workers, err);
        if (status == AGB_OK)
            stage->counting = *agb_counters_observer(stage->counters);
    }
    return status;
}

typedef struct arming {
    agb_counters *counters;
    unsigned pass;
} arming;

static void arm_worker(void *argument, unsigned worker, size_t task)
{
    (void)task;
    const arming *arming = argument;
    agb_counters_arm(arming->counters, worker, arming->pass);
}

static void collect_counts(stage *stage, agb_repetition_counts *counts)
{
    const agb_contest *contest = stage->self->contest;
    counts->pass = -1;
    if (stage->counters)
        agb_counters_collect(stage->counters, counts);
    else
        snprintf(counts->reason, sizeof counts->reason, "%.*s", (int)sizeof counts->reason - 1,
                 contest->support ? contest->support->reason : "switched off");
}

/* The clock is the engine's and ends before the check begins. */
static void check_answer(const stage *stage, const agb_sink *sink, const agb_reference *reference,
                         agb_measurement *out)
{
    const agb_contest *contest = stage->self->contest;
    double start = agb_now_s();
    out->digest = agb_sink_digest(sink);
    out->wrong = reference && !agb_reference_agrees(reference, &out->digest, &out->stats);
    out->verify_s = agb_now_s() - start;
    if (out->wrong)
        agb_reference_explain(reference, sink, &out->stats, contest->layout, &out->error);
}

static void count_once(stage *stage, const request *request, agb_measurement *out)
{
    const agb_contest *contest = stage->self->contest;
    const agb_table *table = request->resident ? contest->resident->table : contest->table;
    agb_sink *sink = request->resident ? stage->resident_sink : stage->sink;
    if (stage->counters && !request->resident) {
        arming arming = {stage->counters, request->pass};
        agb_pool_each(stage->pool, arm_worker, &arming);
    }
    agb_observer observer = {stage, stage_enter, stage_phase, stage_leave};
    agb_plan plan = {.table = table, .column = contest->column, .filter = contest->filter,
                     .aggregator = stage->aggregator, .params = stage->self->params,
                     .batch_rows = contest->batch_rows, .hash = contest->hash, .pool = stage->pool,
                     .memory = stage->memory, .observer = &observer, .spill_folder = contest->spill_folder};
    agb_memory_fault_in(stage->memory);
    stage->self->last->phase = -1;
    agb_os_usage before, after;
    agb_os_usage_read(&before);
    agb_status status = agb_count_groups(&plan, sink, &out->stats, &out->error);
    agb_os_usage_read(&after);
    out->usage = agb_os_usage_between(&before, &after);
    collect_counts(stage, &out->counts);
    out->error.status = status;
    if (status == AGB_OK)
        check_answer(stage, sink, request->resident ? &contest->resident->reference : contest->reference, out);
    if (!request->resident)
        stage->nulls = out->stats.nulls;
    out->memory = agb_memory_usage_of(stage->memory);
    out->peak_rss_bytes = agb_peak_rss_bytes();
}

/* The largest groups in one piece, strings behind them at a distance from its beginning; NULL without memory. */
static agb_group *pack_top(const stage *stage, agb_top_size *size)
{
    const agb_contest *contest = stage->self->contest;
    bool strings = contest->layout->kind == AGB_KEYS_BYTES;
    agb_group *groups = calloc(contest->top + 1, sizeof *groups);
    size_t n = groups ? agb_sink_top_groups(stage->sink, groups, contest->top, contest->layout) : 0, bytes = 0;
    for (size_t i = 0; strings && i < n; i++)
        bytes += groups[i].key.bytes.length;
    unsigned char *packed = calloc(1, n * sizeof *groups + bytes + 1);
    size_t at = n * sizeof *groups;
    for (size_t i = 0; packed && i < n; i++) {
        agb_group group = groups[i];
        if (strings) {
            if (group.key.bytes.length)
                memcpy(packed + at, group.key.bytes.data, group.key.bytes.length);
            group.key.bytes.data = (const unsigned char *)(uintptr_t)at;
            at += group.key.bytes.length;
        }
        memcpy(packed + i * sizeof group, &group, sizeof group);
    }
    free(groups);
    if (packed)
        *size = (agb_top_size){n, bytes};
    return (agb_group *)(void *)packed;
}

static void answer_count(stage *stage, const request *request, int out)
{
    agb_measurement measurement = {.error = stage->error};
    agb_group *top = NULL;
    if (stage->error.status == AGB_OK)
        count_once(stage, request, &measurement);
    if (request->with_top && measurement.error.status == AGB_OK)
        top = pack_top(stage, &measurement.top);
    if (agb_process_answer(out, &measurement, sizeof measurement) && measurement.top.groups > 0)
        agb_process_answer(out, top, measurement.top.groups * sizeof *top + measurement.top.bytes);
    free(top);
}

static void answer_write(stage *stage, int out)
{
    const agb_contest *contest = stage->self->contest;
    agb_error error = {0};
    error.status = agb_groups_write(contest->groups, stage->sink, stage->nulls, contest->layout, &error);
    agb_process_answer(out, &error, sizeof error);
}

/* Ends with its process: what it holds goes back to the system at once. */
static void contestant_body(void *context, int in, int out)
{
    stage stage = {.self = context};
    agb_crash_watch(stage.self->last);
    stage.error.status = stage_set(&stage);
    request request;
    while (agb_pipe_read(in, &request, sizeof request)) {
        if (request.what == COUNT)
            answer_count(&stage, &request, out);
        else
            answer_write(&stage, out);
    }
}

/* ---- In the parent ----------------------------------------------------------------------------------------------- */

agb_status agb_contestant_start(agb_contestant *out, const agb_contest *contest, const agb_aggregator *aggregator,
                                const char *params, unsigned threads, agb_error *err)
{
    *out = (agb_contestant){.contest = contest, .aggregator = aggregator, .params = params,
                             .threads = threads ? threads : contest->threads,
                             .oom_kills = agb_oom_kills("")};
    out->last = mmap(NULL, sizeof *out->last, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (out->last == MAP_FAILED) {
        out->last = NULL;
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for its process", aggregator->name);
    }
    out->last->phase = -1;
    FILE *groups = contest->groups ? contest->groups->file : NULL;    /* one that can be opened only once */
    return agb_process_start(&out->process, contestant_body, out, groups ? fileno(groups) : -1, err);
}

/* Where it was when it was last heard of. */
static const char *last_phase(const agb_contestant *contestant)
{
    return agb_crash_phase(contestant->last, contestant->aggregator->phases);
}

static agb_state say_late(agb_contestant *contestant, agb_error *err)
{
    agb_process_end(&contestant->process, true);
    agb_fail(err, AGB_ERR_CONTRACT, "no answer after %g s, in phase %s: ended it: --timeout sets the limit",
             contestant->contest->timeout_s, last_phase(contestant));
    return AGB_STATE_TIMEOUT;
}

static agb_state say_spoiled(agb_contestant *contestant, agb_error *err)
{
    agb_process_end(&contestant->process, true);
    agb_fail(err, AGB_ERR_CONTRACT, "contract broken: %s", AGB_SPOILED_ANSWER);
    return AGB_STATE_FAILED;
}

static agb_state say_ended(agb_contestant *contestant, agb_error *err)
{
    agb_process_end(&contestant->process, false);
    char how[128];
    agb_process_describe_end(&contestant->process, how, sizeof how);
    bool killed = agb_process_signal(&contestant->process) == SIGKILL;
    if (killed && agb_oom_kills("") > contestant->oom_kills) {
        agb_fail(err, AGB_ERR_MEMORY, "%s in phase %s: the system had no memory left: free memory or take fewer rows",
                 how, last_phase(contestant));
        return AGB_STATE_OUT_OF_MEMORY;
    }
    char where[96];
    agb_crash_describe(contestant->last, where, sizeof where);
    agb_fail(err, AGB_ERR_CONTRACT, "%s%s in phase %s%s", how, where, last_phase(contestant),
             killed ? ": from outside, or the system ran out of memory" : "");
    return agb_process_signal(&contestant->process) ? AGB_STATE_CRASHED : AGB_STATE_FAILED;
}

/* What a child says is a claim, and what it counted may not be what its descriptor promised. */
static void limit_claims(const agb_contestant *contestant, agb_measurement *measurement)
{
    agb_stats *stats = &measurement->stats;
    size_t phases = 0;
    while (contestant->aggregator->phases[phases])
        phases++;
    stats->phases = stats->phases < phases ? stats->phases : phases;
    stats->note[sizeof stats->note - 1] = '\0';
    measurement->error.text[sizeof measurement->error.text - 1] = '\0';
}

static agb_state state_of(const agb_measurement *measurement)
{
    if (measurement->wrong)
        return AGB_STATE_WRONG;
    switch (measurement->error.status) {
    case AGB_OK:
        return AGB_STATE_OK;
    case AGB_ERR_MEMORY:
    case AGB_ERR_BUDGET:
        return AGB_STATE_OUT_OF_MEMORY;
    default:
        return AGB_STATE_FAILED;
    }
}

/* From distances to addresses. What a child says is a claim. */
static bool place_strings(agb_group *groups, agb_top_size size)
{
    size_t first = size.groups * sizeof *groups, end = first + size.bytes;
    for (size_t i = 0; i < size.groups; i++) {
        agb_bytes *string = &groups[i].key.bytes;
        uintptr_t at = (uintptr_t)string->data;
        if (at < first || at > end || string->length > end - at)
            return false;
        string->data = (unsigned char *)groups + at;
    }
    return true;
}

static agb_answer hear_top(agb_contestant *contestant, agb_top_size size, agb_group **top)
{
    const agb_contest *contest = contestant->contest;
    enum { MOST_BYTES = 1 << 30 };
    if (!top || size.groups > contest->top || size.bytes > MOST_BYTES)
        return AGB_ANSWER_ENDED;
    size_t bytes = size.groups * sizeof **top + size.bytes;
    *top = malloc(bytes + 1);
    agb_answer heard = AGB_ANSWER_ENDED;
    if (*top)
        heard = agb_process_hear(&contestant->process, *top, bytes, contest->timeout_s);
    if (heard == AGB_ANSWER_WHOLE && contest->layout->kind == AGB_KEYS_BYTES && !place_strings(*top, size))
        heard = AGB_ANSWER_ENDED;
    return heard;
}

static agb_state ask(agb_contestant *contestant, const request *request, agb_measurement *measurement, agb_group **top)
{
    const agb_contest *contest = contestant->contest;
    agb_answer heard = AGB_ANSWER_ENDED;
    if (agb_process_tell(&contestant->process, request, sizeof *request))
        heard = agb_process_hear(&contestant->process, measurement, sizeof *measurement, contest->timeout_s);
    if (heard == AGB_ANSWER_WHOLE && measurement->top.groups > 0)
        heard = hear_top(contestant, measurement->top, top);
    if (heard == AGB_ANSWER_LATE)
        return say_late(contestant, &measurement->error);
    if (heard == AGB_ANSWER_SPOILED)
        return say_spoiled(contestant, &measurement->error);
    if (heard == AGB_ANSWER_ENDED)
        return say_ended(contestant, &measurement->error);
    limit_claims(contestant, measurement);
    agb_state state = state_of(measurement);
    if (state != AGB_STATE_OK)
        agb_process_end(&contestant->process, true);
    return state;
}

agb_state agb_contestant_run(agb_contestant *contestant, unsigned pass, agb_measurement *measurement, agb_group **top)
{
    return ask(contestant, &(request){.what = COUNT, .pass = pass, .with_top = top != NULL}, measurement, top);
}

agb_state agb_contestant_run_resident(agb_contestant *contestant, agb_measurement *measurement)
{
    return ask(contestant, &(request){.what = COUNT, .resident = true}, measurement, NULL);
}

agb_status agb_contestant_write_groups(agb_contestant *contestant, agb_error *err)
{
    request request = {.what = WRITE_GROUPS};
    agb_error error;
    agb_answer heard = AGB_ANSWER_ENDED;
    if (agb_process_tell(&contestant->process, &request, sizeof request))
        heard = agb_process_hear(&contestant->process, &error, sizeof error, contestant->contest->timeout_s);
    if (heard != AGB_ANSWER_WHOLE)
        return agb_fail(err, AGB_ERR_IO, "--groups: %s: the process that wrote it %s",
                        contestant->contest->groups->path,
                        heard == AGB_ANSWER_LATE ? "took too long: raise --timeout" : "ended");
    if (error.status != AGB_OK)
        return agb_fail(err, error.status, "%s", error.text);
    return AGB_OK;
}

void agb_contestant_end(agb_contestant *contestant)
{
    agb_process_end(&contestant->process, true);
    if (contestant->last)
        munmap(contestant->last, sizeof *contestant->last);
    contestant->last = NULL;
}
