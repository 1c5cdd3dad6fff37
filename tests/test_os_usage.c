/* SPDX-License-Identifier: MIT */
/* Accounts of the operating system: never a huge number, never a wrong zero. */
#include "fake_root.h"

#include "os_usage.h"

static double wait_of(const char *leader, const char *worker)
{
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/self/task/100/schedstat", leader);
    if (worker)
        fake_root_write(&root, "/proc/self/task/101/schedstat", worker);
    else
        fake_root_write(&root, "/proc/self/task/101/comm", "vanished between list and read\n");
    double wait_s = agb_runq_wait_s(root.path);
    fake_root_destroy(&root);
    return wait_s;
}

static void wait_is_summed_over_all_threads_in_nanoseconds(void **state)
{
    (void)state;
    assert_float_equal(wait_of("5000 0 1\n", "900000000 2000000000 40\n"), 2, 1e-9);
    assert_float_equal(wait_of("5000 500000000 1\n", "1 2000000000 40\n"), 2.5, 1e-9);
}

static void vanished_thread_is_passed_over(void **state)
{
    (void)state;
    assert_float_equal(wait_of("5000 1000000000 1\n", NULL), 1, 1e-9);
}

static void kernel_without_scheduler_statistics_is_not_zero_wait(void **state)
{
    (void)state;
    assert_true(wait_of("0 0 0\n", "0 0 0\n") < 0);
}

static void malformed_account_is_not_available(void **state)
{
    (void)state;
    assert_true(wait_of("5000 7000\n", "12 34\n") < 0);
    assert_true(wait_of("", "what is this\n") < 0);
}

static void missing_folder_is_not_available(void **state)
{
    (void)state;
    assert_true(agb_runq_wait_s("/tmp/there/is/no/such/root") < 0);
}

static void differences_are_never_below_zero(void **state)
{
    (void)state;
    agb_os_usage before = {5, 5, 5, 50, 50, 50}, after = {4, 6, 7, 40, 55, 49};
    agb_os_usage between = agb_os_usage_between(&before, &after);
    assert_float_equal(between.user_s, 0, 0);
    assert_float_equal(between.sys_s, 1, 0);
    assert_float_equal(between.runq_wait_s, 2, 0);
    assert_int_equal(between.minor_faults, 0);
    assert_int_equal(between.major_faults, 5);
    assert_int_equal(between.involuntary_switches, 0);
}

static void shrunken_or_unknown_wait_is_not_available(void **state)
{
    (void)state;
    agb_os_usage known = {.runq_wait_s = 3}, smaller = {.runq_wait_s = 2}, unknown = {.runq_wait_s = -1};
    assert_true(agb_os_usage_between(&known, &smaller).runq_wait_s < 0);
    assert_true(agb_os_usage_between(&unknown, &known).runq_wait_s < 0);
    assert_true(agb_os_usage_between(&known, &unknown).runq_wait_s < 0);
}

static void touched_pages_show_as_faults_and_in_the_peak(void **state)
{
    (void)state;
    enum { BYTES = 32 << 20, PAGE = 4096 };
    agb_os_usage before, after;
    agb_os_usage_read(&before);
    volatile char *memory = malloc(BYTES);
    assert_non_null(memory);
    for (size_t at = 0; at < BYTES; at += PAGE)
        memory[at] = 1;
    agb_os_usage_read(&after);
    free((void *)memory);
    agb_os_usage between = agb_os_usage_between(&before, &after);
    assert_true(between.minor_faults > 0);
    assert_true(between.user_s + between.sys_s < 10);
    assert_true(agb_peak_rss_bytes() >= BYTES);
}

static void oom_kills_are_read_where_the_kernel_counts_them(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    assert_int_equal(agb_oom_kills(root.path), 0);
    fake_root_write(&root, "/proc/vmstat", "nr_free_pages 12\noom_kill 3\nnuma_hit 9\n");
    assert_int_equal(agb_oom_kills(root.path), 3);
    fake_root_write(&root, "/sys/fs/cgroup/memory.events", "low 0\noom 5\noom_kill 2\noom_group_kill 1\n");
    assert_int_equal(agb_oom_kills(root.path), 5);
    fake_root_destroy(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wait_is_summed_over_all_threads_in_nanoseconds),
        cmocka_unit_test(vanished_thread_is_passed_over),
        cmocka_unit_test(kernel_without_scheduler_statistics_is_not_zero_wait),
        cmocka_unit_test(malformed_account_is_not_available),
        cmocka_unit_test(missing_folder_is_not_available),
        cmocka_unit_test(differences_are_never_below_zero),
        cmocka_unit_test(shrunken_or_unknown_wait_is_not_available),
        cmocka_unit_test(oom_kills_are_read_where_the_kernel_counts_them),
        cmocka_unit_test(touched_pages_show_as_faults_and_in_the_peak),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
