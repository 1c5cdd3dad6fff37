/* SPDX-License-Identifier: MIT */
/* Workers: every task once, balance, nesting refused, turns, pinning. */
#include "test.h"

#include <sched.h>
#include <stdatomic.h>

enum { TASKS = 5000 };

typedef struct job {
    agb_pool *pool;
    atomic_int done[TASKS];
    atomic_int by_worker[8];
    agb_status nested;
} job;

static void mark(void *argument, unsigned worker, size_t task)
{
    job *j = argument;
    atomic_fetch_add(&j->done[task], 1);
    atomic_fetch_add(&j->by_worker[worker], 1);
}

static void every_task_runs_exactly_once(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 5; workers += 2) {
        job *j = calloc(1, sizeof *j);
        assert_ok(agb_pool_create(&j->pool, workers, NULL, err));
        assert_int_equal(agb_pool_workers(j->pool), workers);
        for (int round = 0; round < 20; round++)
            assert_int_equal(agb_pool_run(j->pool, TASKS, mark, j), AGB_OK);
        for (size_t i = 0; i < TASKS; i++)
            assert_int_equal(j->done[i], 20);
        agb_pool_destroy(j->pool);
        free(j);
    }
}

static void each_worker_gets_its_own_call(void **state)
{
    (void)state;
    job *j = calloc(1, sizeof *j);
    assert_ok(agb_pool_create(&j->pool, 4, NULL, err));
    assert_int_equal(agb_pool_each(j->pool, mark, j), AGB_OK);
    for (int i = 0; i < 4; i++)
        assert_int_equal(j->by_worker[i], 1);
    agb_pool_destroy(j->pool);
    free(j);
}

static void no_pool_means_the_calling_thread(void **state)
{
    (void)state;
    job *j = calloc(1, sizeof *j);
    assert_int_equal(agb_pool_workers(NULL), 1);
    assert_int_equal(agb_pool_run(NULL, TASKS, mark, j), AGB_OK);
    assert_int_equal(j->by_worker[0], TASKS);
    free(j);
}

static void nest(void *argument, unsigned worker, size_t task)
{
    job *j = argument;
    (void)worker;
    (void)task;
    j->nested = agb_pool_run(j->pool, 1, mark, j);
}

static void nested_jobs_are_refused(void **state)
{
    (void)state;
    job *j = calloc(1, sizeof *j);
    assert_ok(agb_pool_create(&j->pool, 2, NULL, err));
    assert_int_equal(agb_pool_run(j->pool, 1, nest, j), AGB_OK);
    assert_int_equal(j->nested, AGB_ERR_CONTRACT);
    assert_int_equal(agb_pool_run(j->pool, 1, mark, j), AGB_OK);
    agb_pool_destroy(j->pool);
    free(j);
}

/* Each task notes, in its turn, how many have been there. */
typedef struct turns {
    agb_pool *pool;
    size_t passed;
    size_t place[TASKS];
} turns;

static void take_turn(void *argument, unsigned worker, size_t task)
{
    turns *all = argument;
    if ((task + worker) % 64 == 0)
        sched_yield();    /* so that some are late */
    agb_pool_await_turn(all->pool, task);
    all->place[task] = all->passed++;
    agb_pool_pass_turn(all->pool);
}

static void turns_come_in_the_order_of_the_tasks(void **state)
{
    (void)state;
    for (unsigned workers = 0; workers <= 7; workers++) {
        turns *all = calloc(1, sizeof *all);
        if (workers)
            assert_ok(agb_pool_create(&all->pool, workers, NULL, err));
        for (size_t round = 1; round <= 3; round++) {
            assert_int_equal(agb_pool_run(all->pool, TASKS, take_turn, all), AGB_OK);
            assert_int_equal(all->passed, round * TASKS);
            for (size_t i = 0; i < TASKS; i++)
                assert_int_equal(all->place[i], (round - 1) * TASKS + i);
        }
        agb_pool_destroy(all->pool);
        free(all);
    }
}

enum { WORKERS = 3 };

typedef struct affinity {
    cpu_set_t allowed;
    int alike[WORKERS];    /* rounds in which the worker was allowed the same processors */
} affinity;

static void compare_affinity(void *argument, unsigned worker, size_t task)
{
    affinity *process = argument;
    cpu_set_t allowed;
    (void)task;
    if (sched_getaffinity(0, sizeof allowed, &allowed) == 0 && CPU_EQUAL(&allowed, &process->allowed))
        process->alike[worker]++;
}

/* A worker that has moved off the poster's processor may go back there. */
static void workers_may_run_wherever_the_process_may(void **state)
{
    enum { ROUNDS = 50 };
    affinity seen = {.alike = {0}};
    agb_pool *pool;
    (void)state;
    assert_int_equal(sched_getaffinity(0, sizeof seen.allowed, &seen.allowed), 0);
    assert_ok(agb_pool_create(&pool, WORKERS, NULL, err));
    for (int round = 0; round < ROUNDS; round++)
        assert_int_equal(agb_pool_each(pool, compare_affinity, &seen), AGB_OK);
    for (int i = 0; i < WORKERS; i++)
        assert_int_equal(seen.alike[i], ROUNDS);
    agb_pool_destroy(pool);
}

static void a_processor_that_is_not_allowed_is_named(void **state)
{
    (void)state;
    cpu_set_t before;
    agb_pool *pool;
    assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
    assert_fails(AGB_ERR_ARGUMENT, "processor 999999", agb_pool_create(&pool, 1, (int[]){999999}, err));
    assert_null(pool);
    assert_fails(AGB_ERR_ARGUMENT, "at least 1", agb_pool_create(&pool, 0, NULL, err));
    sched_setaffinity(0, sizeof before, &before);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_runs_exactly_once),
        cmocka_unit_test(each_worker_gets_its_own_call),
        cmocka_unit_test(no_pool_means_the_calling_thread),
        cmocka_unit_test(nested_jobs_are_refused),
        cmocka_unit_test(turns_come_in_the_order_of_the_tasks),
        cmocka_unit_test(workers_may_run_wherever_the_process_may),
        cmocka_unit_test(a_processor_that_is_not_allowed_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
