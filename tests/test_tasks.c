/* SPDX-License-Identifier: MIT */
/* Parts of a load: every one once, workers far from one another, and the error of the first that fails. */
#include "common/tasks.h"
#include "test.h"

#include <stdatomic.h>

enum { MOST = 100 };

static void every_task_is_claimed_exactly_once(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 9; workers++)
        for (size_t tasks = 0; tasks < MOST; tasks++) {
            bool seen[MOST] = {false};
            for (size_t claim = 0; claim < tasks; claim++) {
                size_t task = agb_tasks_at(claim, tasks, workers);
                assert_true(task < tasks);
                assert_false(seen[task]);
                seen[task] = true;
            }
        }
}

static void claims_at_the_same_time_are_far_apart(void **state)
{
    (void)state;
    assert_int_equal(agb_tasks_at(0, MOST, 2), 0);
    assert_int_equal(agb_tasks_at(1, MOST, 2), MOST / 2);
    assert_int_equal(agb_tasks_at(2, MOST, 2), 1);
    assert_int_equal(agb_tasks_at(3, MOST, 2), MOST / 2 + 1);
    for (size_t claim = 0; claim < MOST; claim++)
        assert_int_equal(agb_tasks_at(claim, MOST, 1), claim);
}

typedef struct load {
    agb_pool *pool;
    atomic_int runs[MOST];
    size_t first_bad;
    agb_status nested;
} load;

static agb_status read_part(void *argument, unsigned worker, size_t task, agb_error *error)
{
    load *self = argument;
    (void)worker;
    atomic_fetch_add(&self->runs[task], 1);
    if (task >= self->first_bad && task % 3 == 0)
        return agb_fail(error, AGB_ERR_FORMAT, "part %zu is damaged", task);
    return AGB_OK;
}

static void the_first_task_that_fails_gives_the_error(void **state)
{
    (void)state;
    for (unsigned workers = 1; workers <= 5; workers++)
        for (int round = 0; round < 20; round++) {
            load *self = calloc(1, sizeof *self);
            self->first_bad = 30;
            assert_ok(agb_pool_create(&self->pool, workers, NULL, err));
            assert_fails(AGB_ERR_FORMAT, "part 30 is damaged",
                         agb_tasks_run(self->pool, MOST, read_part, self, err));
            for (size_t i = 0; i <= 30; i++)
                assert_int_equal(self->runs[i], 1);
            agb_pool_destroy(self->pool);
            free(self);
        }
}

static agb_status nest(void *argument, unsigned worker, size_t task, agb_error *error)
{
    load *self = argument;
    (void)worker;
    (void)task;
    self->nested = agb_tasks_run(self->pool, 1, read_part, self, error);
    return AGB_OK;
}

static void loads_within_tasks_are_refused(void **state)
{
    (void)state;
    load *self = calloc(1, sizeof *self);
    self->first_bad = MOST;
    assert_ok(agb_pool_create(&self->pool, 2, NULL, err));
    assert_ok(agb_tasks_run(self->pool, 1, nest, self, err));
    assert_int_equal(self->nested, AGB_ERR_CONTRACT);
    assert_ok(agb_tasks_run(NULL, MOST, read_part, self, err));
    agb_pool_destroy(self->pool);
    free(self);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_task_is_claimed_exactly_once),
        cmocka_unit_test(claims_at_the_same_time_are_far_apart),
        cmocka_unit_test(the_first_task_that_fails_gives_the_error),
        cmocka_unit_test(loads_within_tasks_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
