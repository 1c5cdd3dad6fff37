/* SPDX-License-Identifier: MIT */
/* Counters under load: see hammer.h. */
#include "hammer.h"

#include "interrupt.h"
#include "lab_team.h"
#include "lab_turns.h"
#include "process.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* LINE: two lines of 64 bytes, because neighbours in a pair are fetched together by some processors. */
enum { REPETITIONS = 7, MOST_COUNTS = 16, MOST_SERIES = 8, BLOCK = 256, LINE = 128 };

static const double usual_s = 6, least_slot_s = 0.03;

typedef struct hammer {
    agb_lab_run *run;
    agb_pool *pool;
    const agb_hammer_series *series;
    unsigned counts[MOST_COUNTS];
    size_t n_counts;
    double slot_s;
    pthread_mutex_t mutex;
    char *counters;              /* a line for each worker; also what stands side by side begins here */
    uint64_t *increments;        /* of each worker in the last measurement, a line apart */
    agb_hammer_kind kind;        /* of the measurement under way */
} hammer;

static _Atomic uint64_t *counter_of(const hammer *hammer, unsigned worker)
{
    switch (hammer->kind) {
    case AGB_HAMMER_MUTEX:
    case AGB_HAMMER_ATOMIC:
        worker = 0;
        break;
    case AGB_HAMMER_LINE:
    case AGB_HAMMER_LINE_ATOMIC:
        return (_Atomic uint64_t *)(hammer->counters + worker * sizeof(uint64_t));
    case AGB_HAMMER_SHARDED:
    case AGB_HAMMER_OWN_LINES:
        break;
    }
    return (_Atomic uint64_t *)(hammer->counters + (size_t)worker * LINE);
}

/* A plain addition that no compiler may gather with the next ones. */
static void add_plainly(_Atomic uint64_t *counter)
{
    atomic_store_explicit(counter, atomic_load_explicit(counter, memory_order_relaxed) + 1, memory_order_relaxed);
}

static void increment_block(hammer *hammer, _Atomic uint64_t *counter)
{
    switch (hammer->kind) {
    case AGB_HAMMER_MUTEX:
        for (int i = 0; i < BLOCK; i++) {
            pthread_mutex_lock(&hammer->mutex);
            add_plainly(counter);
            pthread_mutex_unlock(&hammer->mutex);
        }
        break;
    case AGB_HAMMER_LINE:
    case AGB_HAMMER_OWN_LINES:
        for (int i = 0; i < BLOCK; i++)
            add_plainly(counter);
        break;
    case AGB_HAMMER_ATOMIC:
    case AGB_HAMMER_SHARDED:
    case AGB_HAMMER_LINE_ATOMIC:
        for (int i = 0; i < BLOCK; i++)
            atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
        break;
    }
}

static void increment(void *context, unsigned worker)
{
    hammer *hammer = context;
    _Atomic uint64_t *counter = counter_of(hammer, worker);
    uint64_t done = 0;
    for (double end_s = agb_now_s() + hammer->slot_s; agb_now_s() < end_s && !agb_interrupt_signal(); done += BLOCK)
        increment_block(hammer, counter);
    hammer->increments[(size_t)worker * LINE / sizeof(uint64_t)] = done;
}

static unsigned threads_of(const void *context, size_t trial)
{
    const hammer *hammer = context;
    return hammer->counts[trial % hammer->n_counts];
}

static agb_status measure(void *context, size_t trial, double *millions, agb_error *err)
{
    hammer *hammer = context;
    unsigned threads = threads_of(context, trial);
    const agb_hammer_series *series = &hammer->series[trial / hammer->n_counts];
    hammer->kind = series->kind;
    memset(hammer->counters, 0, (size_t)agb_pool_workers(hammer->pool) * LINE);
    double wall_s = agb_team_wall_s(hammer->pool, threads, increment, hammer), rate;
    uint64_t done = 0, counted = 0;
    for (unsigned worker = 0; worker < threads; worker++) {
        done += hammer->increments[(size_t)worker * LINE / sizeof(uint64_t)];
        bool shared = series->kind == AGB_HAMMER_MUTEX || series->kind == AGB_HAMMER_ATOMIC;
        counted += shared && worker > 0 ? 0 : atomic_load(counter_of(hammer, worker));
    }
    agb_status status = agb_lab_rate((double)done, wall_s, series->name, &rate, err);
    *millions = rate / 1e6;
    if (status == AGB_OK && counted != done)
        status = agb_fail(err, AGB_ERR_CONTRACT, "lab: %s: %llu increments were made, %llu were counted: report this",
                          series->name, (unsigned long long)done, (unsigned long long)counted);
    return status;
}

/* ---- The record -------------------------------------------------------------------------------------------------- */

static agb_status add_record(hammer *hammer, const char *title, size_t n, const agb_lab_point *points, agb_error *err)
{
    static const agb_lab_column columns[] = {{"", ""}, {"one", "M/s"}, {"all", "M/s"},
                                             {"all / one", ""}, {"an increment", "ns"}};
    agb_lab_chart *chart = agb_lab_add_chart(hammer->run->record, title, (agb_lab_axis){"threads", "", false},
                                             (agb_lab_axis){"increments", "million a second", true});
    agb_lab_table *table = agb_lab_add_table(hammer->run->record, "all threads against one; what an increment takes "
                                             "its thread", columns, 5);
    agb_status status = AGB_OK;
    for (size_t i = 0; i < n && status == AGB_OK; i++) {
        const agb_lab_point *own = &points[i * hammer->n_counts], *all = &own[hammer->n_counts - 1];
        agb_lab_series *series = agb_lab_add_series(chart, hammer->series[i].name);
        for (size_t k = 0; k < hammer->n_counts && status == AGB_OK; k++)
            status = agb_lab_add_point(hammer->run->record, series, own[k], err);
        agb_lab_cell row[] = {agb_lab_text("%s", hammer->series[i].name), agb_lab_number(own->y),
                              agb_lab_number(all->y), agb_lab_number(all->y / own->y),
                              agb_lab_number(1e3 * all->x / all->y)};
        if (status == AGB_OK)
            status = agb_lab_add_row(table, row, err);
    }
    if (hammer->n_counts == 1)
        agb_lab_note(hammer->run->record, "with one thread nothing is shared: two processors are needed to show it");
    return status;
}

/* ---- The work ---------------------------------------------------------------------------------------------------- */

static agb_status prepare(hammer *hammer, size_t n, agb_error *err)
{
    agb_lab_crew crew;
    agb_status status = agb_lab_crew_of(hammer->run, &crew, err);
    if (status == AGB_OK)
        status = agb_pool_create(&hammer->pool, crew.threads, crew.pins.n ? crew.pins.cpu : NULL, err);
    if (status != AGB_OK)
        return status;
    hammer->n_counts = agb_lab_worker_counts(crew.threads, hammer->counts);
    double whole_s = hammer->run->seconds > 0 ? hammer->run->seconds : usual_s;
    hammer->slot_s = fmax(least_slot_s, whole_s / (double)(n * hammer->n_counts) / REPETITIONS);
    hammer->counters = aligned_alloc(LINE, (size_t)crew.threads * LINE);
    hammer->increments = calloc(crew.threads, LINE);
    if (!hammer->counters || !hammer->increments)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: no memory for the counters of %u workers: free some, and run again",
                        crew.threads);
    return AGB_OK;
}

agb_status agb_hammer_measure(agb_lab_run *run, const char *title, const agb_hammer_series *series, size_t n,
                              agb_error *err)
{
    hammer hammer = {.run = run, .series = series, .mutex = PTHREAD_MUTEX_INITIALIZER};
    agb_lab_point points[MOST_SERIES * MOST_COUNTS] = {{0}};
    agb_status status = prepare(&hammer, n, err);
    agb_lab_turns turns = {.what = "counting", .trials = n * hammer.n_counts, .repetitions = REPETITIONS,
                           .threads_of = threads_of, .measure = measure, .context = &hammer};
    for (size_t i = 0; i < turns.trials; i++)
        points[i].x = hammer.counts[i % hammer.n_counts];
    if (status == AGB_OK)
        status = agb_lab_take_turns(run, &turns, points, err);
    if (status == AGB_OK)
        status = add_record(&hammer, title, n, points, err);
    agb_pool_destroy(hammer.pool);
    free(hammer.counters);
    free(hammer.increments);
    return status;
}
