/* SPDX-License-Identifier: MIT */
/* The driver: takes an aggregator through create, consume*, finish, destroy over a column; gives it the host's
 * services; times its phases; and holds it to the contract. Start reading at agb_count_groups, at the end. */
#include "batch.h"
#include "internal.h"

#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { STANDARD_BATCH_ROWS = 65536 };

typedef struct lane {    /* what belongs to one worker */
    agb_batcher batcher;    /* unused where a stream gives the batches */
    uint64_t nulls, rows;   /* rows: of a stream */
    unsigned phase;
    size_t lent;         /* groups of the open loan */
    char apart[64];      /* lanes of different workers share no cache line */
} lane;

typedef struct run {
    agb_host host;               /* first, so that a host pointer is a run pointer */
    const agb_plan *plan;
    const agb_aggregator *aggregator;
    agb_config config;
    agb_pool *pool;              /* NULL when one worker takes part */
    agb_memory *memory;
    agb_sink *sink;
    agb_key_layout *layout;
    agb_selection *selection;    /* NULL without a filter */
    agb_spill_file *spill;
    agb_batch_source source;     /* what the lanes' batchers read */
    unsigned phases;
    lane *lane;
    void *self;
    bool created;
    uint64_t phase_since_ns;     /* worker 0 has been in its phase since then */
    atomic_bool in_parallel;
    atomic_uint failure;         /* first failed status of any worker */
    _Atomic(const char *) broken;    /* which rule of the contract was broken, or NULL */
    _Atomic(const char *) stream_failure;    /* why the caller's stream ended the run, or NULL */
    agb_stats stats;
} run;

static uint64_t now_ns(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * UINT64_C(1000000000) + (uint64_t)t.tv_nsec;
}

/* ---- The services that an aggregator calls ---- */

static void *host_alloc(agb_host *host, size_t bytes, unsigned flags)
{
    return agb_memory_alloc(((run *)host)->memory, AGB_OWNER_AGGREGATOR, bytes, flags);
}

static void host_release(agb_host *host, void *block, size_t bytes)
{
    agb_memory_release(((run *)host)->memory, AGB_OWNER_AGGREGATOR, block, bytes);
}

static void close_phase(run *r)
{
    uint64_t now = now_ns();
    r->stats.phase_ns[r->lane[0].phase] += now - r->phase_since_ns;
    r->phase_since_ns = now;
}

/* A number past the lanes would write into memory of others. */
static bool is_worker(run *r, unsigned worker)
{
    if (worker >= r->config.workers)
        r->broken = "it named a worker that there is not: they are 0..config->workers-1";
    return worker < r->config.workers;
}

static void host_phase(agb_host *host, unsigned worker, unsigned phase)
{
    run *r = (run *)host;
    if (!is_worker(r, worker))
        return;
    lane *l = &r->lane[worker];
    if (phase == l->phase)
        return;
    if (phase >= r->phases) {
        r->broken = "it entered a phase that it does not name";
        return;
    }
    if (worker == 0)
        close_phase(r);
    l->phase = phase;
    const agb_observer *observer = r->plan->observer;
    if (observer && observer->phase)
        observer->phase(observer->context, worker, phase);
}

static agb_status host_emit_begin(agb_host *host, unsigned worker, size_t groups, uint64_t **keys, uint64_t **counts)
{
    run *r = (run *)host;
    if (!is_worker(r, worker))
        return AGB_ERR_CONTRACT;
    if (r->config.kind == AGB_KEYS_BYTES) {
        r->broken = "it emitted words although the keys are strings";
        return AGB_ERR_CONTRACT;
    }
    r->lane[worker].lent = groups;
    return agb_sink_lend(r->sink, worker, groups, keys, counts);
}

static agb_status host_emit_end(agb_host *host, unsigned worker, size_t groups)
{
    run *r = (run *)host;
    if (!is_worker(r, worker))
        return AGB_ERR_CONTRACT;
    if (groups > r->lane[worker].lent) {
        r->broken = "it emitted more groups than it had borrowed room for";
        return AGB_ERR_CONTRACT;
    }
    r->lane[worker].lent = 0;
    return agb_sink_take(r->sink, worker, groups);
}

static agb_status host_emit_bytes(agb_host *host, unsigned worker, const agb_bytes *keys, const uint64_t *counts,
                                  size_t groups)
{
    run *r = (run *)host;
    if (!is_worker(r, worker))
        return AGB_ERR_CONTRACT;
    if (r->config.kind != AGB_KEYS_BYTES) {
        r->broken = "it emitted strings although the keys are words";
        return AGB_ERR_CONTRACT;
    }
    return agb_sink_take_bytes(r->sink, worker, keys, counts, groups);
}

static void host_hash_bytes(agb_host *host, const agb_bytes *keys, size_t n, uint64_t *hashes)
{
    agb_hash hash = ((run *)host)->config.hash;
    for (size_t i = 0; i < n; i++)
        hashes[i] = agb_hash_word(hash, XXH3_64bits(keys[i].data, keys[i].length));
}

static agb_status host_parallel_for(agb_host *host, size_t tasks, agb_task_fn task, void *argument)
{
    run *r = (run *)host;
    if (atomic_exchange(&r->in_parallel, true)) {
        r->broken = "it called parallel_for from within a task";
        return AGB_ERR_CONTRACT;
    }
    agb_status status = agb_pool_run(r->pool, tasks, task, argument);
    atomic_store(&r->in_parallel, false);
    return status;
}

static void host_note(agb_host *host, const char *text)
{
    run *r = (run *)host;
    snprintf(r->stats.note, sizeof r->stats.note, "%s", text);
}

static agb_status host_spill(agb_host *host, const void *bytes, size_t n, uint64_t *ticket)
{
    return agb_spill_file_write(((run *)host)->spill, bytes, n, ticket);
}

static agb_status host_fetch(agb_host *host, uint64_t ticket, void *bytes, size_t n)
{
    return agb_spill_file_read(((run *)host)->spill, ticket, bytes, n);
}

static const agb_host services = {
    .abi = AGB_AGGREGATOR_ABI, .size = sizeof(agb_host), .alloc = host_alloc, .release = host_release,
    .phase = host_phase, .emit_begin = host_emit_begin, .emit_end = host_emit_end,
    .parallel_for = host_parallel_for, .note = host_note, .emit_bytes = host_emit_bytes,
    .hash_bytes = host_hash_bytes, .spill = host_spill, .fetch = host_fetch,
};

/* ---- Checking a plan ---- */

static agb_status read_query(run *r, agb_error *err)
{
    const agb_plan *plan = r->plan;
    if (plan->stream) {
        if (plan->table || plan->column || plan->filter || plan->weights)
            return agb_fail(err, AGB_ERR_ARGUMENT, "plan: stream: takes the place of table, column, filter and "
                            "weights: leave those NULL");
        if (!plan->aggregator || !plan->stream->next || (unsigned)plan->stream->kind > AGB_KEYS_BYTES)
            return agb_fail(err, AGB_ERR_ARGUMENT, "plan: stream: an aggregator, next and a kind of key are all "
                            "needed");
        return AGB_OK;
    }
    if (!plan->table || !plan->column || !plan->aggregator)
        return agb_fail(err, AGB_ERR_ARGUMENT, "plan: table, column and aggregator are all needed");
    agb_status status = agb_key_layout_create(&r->layout, plan->table, plan->column, err);
    if (status == AGB_OK && plan->filter)
        status = agb_selection_create(&r->selection, plan->filter, plan->table, err);
    return status;
}

const char *agb_key_kind_refusal(const agb_aggregator *aggregator, agb_key_kind kind)
{
    static const char *const refusals[] = {"it does not take 64-bit keys", "it does not take two-word keys",
                                           "it does not take string keys"};
    return aggregator->traits & 1u << kind ? NULL : refusals[kind];
}

static agb_key_kind kind_of(const run *r)
{
    return r->layout ? r->layout->kind : r->plan->stream->kind;
}

static bool is_weighted(const run *r)
{
    return r->plan->stream ? r->plan->stream->weighted : r->plan->weights != NULL;
}

static agb_status check_traits(const run *r, agb_error *err)
{
    const agb_aggregator *a = r->plan->aggregator;
    const char *refusal = agb_key_kind_refusal(a, kind_of(r));
    if (refusal)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: %s", a->name, refusal);
    if (is_weighted(r) && !(a->traits & AGB_TAKES_WEIGHTS))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: it does not take weights", a->name);
    return AGB_OK;
}

static agb_status make_config(run *r, agb_error *err)
{
    const agb_plan *plan = r->plan;
    const char *hash = plan->hash ? plan->hash : agb_hash_names()[0];
    r->config = (agb_config){.size = sizeof(agb_config), .kind = kind_of(r), .rows = r->source.rows,
                             .workers = agb_pool_workers(r->pool), .weighted = is_weighted(r),
                             .caches = plan->caches ? *plan->caches : agb_caches_of(sched_getcpu())};
    if (!agb_hash_named(hash, &r->config.hash)) {
        const char *near = agb_nearest_name(agb_hash_names(), hash);
        return agb_fail(err, AGB_ERR_NOT_FOUND, "hash '%s': unknown%s%s: choose fold, fibonacci, identity or constant",
                        hash, near ? ": did you mean " : "", near ? near : "");
    }
    return agb_params_parse(plan->aggregator, plan->params, r->config.params, err);
}

static agb_status make_lanes(run *r, agb_error *err)
{
    r->lane = calloc(r->config.workers, sizeof *r->lane);
    if (!r->lane)
        return agb_fail(err, AGB_ERR_MEMORY, "run: no memory for %u workers", r->config.workers);
    for (unsigned i = 0; i < r->config.workers && !r->plan->stream; i++) {
        agb_status status = agb_batcher_create(&r->lane[i].batcher, &r->source, err);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

static agb_batch_source make_source(const run *r)
{
    const agb_plan *plan = r->plan;
    if (plan->stream)
        return (agb_batch_source){.rows = plan->stream->rows};
    size_t batch_rows = plan->batch_rows ? plan->batch_rows : STANDARD_BATCH_ROWS;
    return (agb_batch_source){.table = plan->table, .layout = r->layout, .selection = r->selection,
                              .weights = plan->weights, .rows = agb_table_rows(plan->table),
                              .batch_rows = batch_rows < AGB_MOST_BATCH_ROWS ? batch_rows : AGB_MOST_BATCH_ROWS};
}

static agb_status prepare(run *r, agb_error *err)
{
    const agb_plan *plan = r->plan;
    agb_status status = read_query(r, err);
    if (status == AGB_OK)
        status = check_traits(r, err);
    if (status != AGB_OK)
        return status;
    r->aggregator = plan->aggregator;
    r->source = make_source(r);
    r->pool = plan->aggregator->traits & AGB_PARALLEL ? plan->pool : NULL;
    while (plan->aggregator->phases[r->phases])
        r->phases++;
    status = make_config(r, err);
    if (status == AGB_OK)
        status = make_lanes(r, err);
    r->memory = plan->memory;
    if (status == AGB_OK && !plan->memory)
        status = agb_memory_create(&r->memory, NULL, err);
    if (status != AGB_OK)
        return status;
    r->config.memory_budget = agb_memory_budget(r->memory);
    status = agb_sink_open(r->sink, r->config.kind, r->memory, !plan->memory, r->config.workers, err);
    agb_memory_reset(r->memory);
    if (status == AGB_OK)
        status = agb_spill_file_create(&r->spill, plan->spill_folder ? plan->spill_folder : "/var/tmp", err);
    return status;
}

/* ---- Running ---- */

/* Keeps the first failure; whether this was it. */
static bool fail_run(run *r, agb_status status)
{
    unsigned none = AGB_OK;
    return atomic_compare_exchange_strong(&r->failure, &none, (unsigned)status);
}

static void consume_batch(void *argument, unsigned worker, size_t number)
{
    run *r = argument;
    agb_batch batch;
    size_t nulls;
    if (atomic_load_explicit(&r->failure, memory_order_relaxed) != AGB_OK)
        return;
    agb_status status = agb_batcher_at(&r->lane[worker].batcher, number, &batch, &nulls);
    if (status == AGB_OK) {
        r->lane[worker].nulls += nulls;
        status = r->aggregator->consume(r->self, worker, &batch);
    }
    if (status != AGB_OK)
        fail_run(r, status);
}

/* What is wrong with a batch of the caller's, or NULL. */
static const char *batch_problem(const agb_stream *stream, const agb_batch *batch)
{
    if (batch->rows == 0)
        return NULL;
    if (stream->kind == AGB_KEYS_BYTES ? !batch->bytes : !batch->keys)
        return "a batch with rows has no keys of the stream's kind: set keys or bytes";
    if (stream->weighted != (batch->weights != NULL))
        return "a batch has weights and another one, or `weighted`, says that there are none: give all or none";
    return NULL;
}

static void consume_stream(void *argument, unsigned worker, size_t task)
{
    (void)task;
    run *r = argument;
    const agb_stream *stream = r->plan->stream;
    agb_batch batch = {.rows = 1};
    while (batch.rows && atomic_load_explicit(&r->failure, memory_order_relaxed) == AGB_OK) {
        batch = (agb_batch){0};
        agb_status status = stream->next(stream->context, worker, &batch);
        const char *problem = status == AGB_OK ? batch_problem(stream, &batch) : agb_status_text(status);
        if (problem) {
            if (fail_run(r, agb_status_is_known(status) && status != AGB_OK ? status : AGB_ERR_ARGUMENT))
                r->stream_failure = problem;
            return;
        }
        r->lane[worker].rows += batch.rows;
        if (batch.rows)
            status = r->aggregator->consume(r->self, worker, &batch);
        if (status != AGB_OK)
            fail_run(r, status);
    }
}

static void enter_worker(void *argument, unsigned worker, size_t task)
{
    (void)task;
    const agb_observer *observer = ((run *)argument)->plan->observer;
    if (observer->enter)
        observer->enter(observer->context, worker);
}

static void leave_worker(void *argument, unsigned worker, size_t task)
{
    (void)task;
    const agb_observer *observer = ((run *)argument)->plan->observer;
    if (observer->leave)
        observer->leave(observer->context, worker);
}

static void consume_and_finish(run *r)
{
    size_t batches = r->plan->stream ? 0 : agb_batch_count(r->source.rows, r->source.batch_rows);
    if (r->plan->observer)
        agb_pool_each(r->pool, enter_worker, r);
    uint64_t start = now_ns();
    r->phase_since_ns = start;
    if (r->plan->stream)
        agb_pool_each(r->pool, consume_stream, r);
    else
        agb_pool_run(r->pool, batches, consume_batch, r);
    if (atomic_load(&r->failure) == AGB_OK) {
        agb_status status = r->aggregator->finish(r->self);
        if (status != AGB_OK)
            fail_run(r, status);
    }
    close_phase(r);
    r->stats.wall_ns = r->phase_since_ns - start;
    if (r->plan->observer)
        agb_pool_each(r->pool, leave_worker, r);
}

/* From a failed status to a sentence, and from a broken rule to a failed status. */
static agb_status judge(run *r, agb_status status, agb_memory_usage before, agb_error *err)
{
    const char *name = r->aggregator->name;
    agb_memory_usage after = agb_memory_usage_of(r->memory);
    const char *broken = atomic_load(&r->broken);
    if (broken)
        return agb_fail(err, AGB_ERR_CONTRACT, "%s: contract broken: %s", name, broken);
    if (after.misuses != before.misuses)
        return agb_fail(err, AGB_ERR_CONTRACT, "%s: contract broken: it wrote outside a block, or released one "
                        "with a wrong size", name);
    if (after.live != before.live)
        return agb_fail(err, AGB_ERR_CONTRACT, "%s: contract broken: it left %lld bytes unreleased", name,
                        (long long)(after.live - before.live));
    if (status == AGB_OK)
        return AGB_OK;
    const char *stream = atomic_load(&r->stream_failure);
    if (stream)
        return agb_fail(err, status, "plan: stream: %s", stream);
    const agb_error *spill = agb_spill_file_failure(r->spill);
    if (spill)
        return agb_fail(err, spill->status, "%s: %s", name, spill->text);
    const char *advice = r->created ? "" : r->stats.note;
    agb_status refused = status == AGB_ERR_MEMORY ? agb_memory_refusal(r->memory, name, advice, err) : AGB_OK;
    if (refused != AGB_OK)
        return refused;
    if (!agb_status_is_known(status))
        return agb_fail(err, AGB_ERR_CONTRACT, "%s: contract broken: it returned the status %d, which is none: return "
                        "one of engine/status.h", name, (int)status);
    return agb_fail(err, status, "%s: %s", name, agb_status_text(status));
}

static agb_status execute(run *r, agb_error *err)
{
    agb_memory_usage before = agb_memory_usage_of(r->memory);
    uint64_t t0 = now_ns();
    agb_status status = r->aggregator->create(&r->host, &r->config, &r->self);
    uint64_t t1 = now_ns();
    r->created = status == AGB_OK;
    if (r->created) {
        consume_and_finish(r);
        status = (agb_status)atomic_load(&r->failure);
    }
    r->stats.peak_bytes = agb_memory_usage_of(r->memory).peak - before.live;
    uint64_t t2 = now_ns();
    if (r->self)
        r->aggregator->destroy(r->self);
    r->stats.setup_ns = t1 - t0;
    r->stats.teardown_ns = now_ns() - t2;
    return judge(r, status, before, err);
}

static void sum_up(run *r)
{
    r->stats.rows = r->plan->stream ? 0 : r->source.rows;
    r->stats.kind = r->config.kind;
    r->stats.workers = r->config.workers;
    r->stats.phases = r->phases;
    r->stats.result_bytes = agb_sink_bytes(r->sink);
    r->stats.spilled_bytes = agb_spill_file_bytes(r->spill);
    for (unsigned i = 0; i < r->config.workers; i++) {
        r->stats.nulls += r->lane[i].nulls;
        r->stats.rows += r->lane[i].rows;
    }
}

agb_status agb_count_groups(const agb_plan *plan, agb_sink *sink, agb_stats *stats, agb_error *err)
{
    run r = {.host = services, .plan = plan, .sink = sink};
    agb_status status = prepare(&r, err);
    if (status == AGB_OK) {
        status = execute(&r, err);
        sum_up(&r);
    }
    for (unsigned i = 0; r.lane && i < r.config.workers; i++)
        agb_batcher_release(&r.lane[i].batcher);
    free(r.lane);
    agb_spill_file_destroy(r.spill);
    agb_selection_destroy(r.selection);
    agb_key_layout_destroy(r.layout);
    if (stats)
        *stats = r.stats;
    return status;
}
