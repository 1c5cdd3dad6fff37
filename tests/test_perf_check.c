/* SPDX-License-Identifier: MIT */
/* perf stat beside our own counting: its output, and its brackets, tried on events that every kernel has. */
#include "perf_check.h"
#include "test.h"
#include "tool.h"

static void lines_of_counts_are_read_and_others_are_passed_over(void **state)
{
    (void)state;
    agb_perf_count counts[4];
    const char text[] = "Events disabled\nEvents enabled\n"
                        "11431618219;;rc1:u;3600000000;100.00;;\n"
                        "12.5;msec;task-clock:u;12500000;100.00;0.9;CPUs utilized\n"
                        "<not counted>;;r76:u;0;0.00;;\n"
                        "<not supported>;;r77:u;0;100.00;;\n"
                        "5;;r78:u;0;100.00;;\n";
    assert_int_equal(agb_perf_parse(text, counts, 4), 4);
    assert_true(counts[0].counted && counts[0].value == 11431618219.0 && counts[0].running_pct == 100);
    assert_true(counts[1].counted && counts[1].value == 12.5);
    assert_false(counts[2].counted);
    assert_false(counts[3].counted);
    assert_int_equal(agb_perf_parse("", counts, 4), 0);
    assert_int_equal(agb_perf_parse("a;b\n;;;\n", counts, 4), 0);
}

static void perf_counts_only_between_the_brackets(void **state)
{
    (void)state;
    const char *build = getenv("BUILD");
    char program[4096];
    agb_registry *registry;
    agb_table *table;
    agb_jobs jobs;
    agb_perf_count counts[2];
    agb_error err = {0};
    const char *columns[] = {"UserID"};
    if (!agb_tool_exists("perf")) {
        printf("skipped: perf is not installed\n");
        skip();
    }
    snprintf(program, sizeof program, "%s/aggbench", build ? build : "build");
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_table_load(&table, registry, "synth:hits,rows=2000000", columns, 1, NULL, err));
    agb_job_query query = {.table = table, .group_by = "UserID"};
    assert_ok(agb_jobs_create(&jobs, 1, &query, UINT64_MAX, err));
    agb_job_order(&jobs.job[0], "naive", "", "fold", NULL, 0);
    jobs.job[0].batch_rows = 65536;
    agb_status status = agb_perf_stat(program, &jobs, "task-clock:u,page-faults:u", counts, 2, 60, &err);
    double wall_ms = (double)jobs.job[0].stats.wall_ns * 1e-6;
    uint64_t rows = jobs.job[0].digest.rows;
    agb_jobs_release(&jobs);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    if (status != AGB_OK && strstr(err.text, "ermi")) {
        printf("skipped: perf may not count here: %s\n", err.text);
        skip();
    }
    if (status != AGB_OK)
        fail_msg("%s", err.text);
    assert_int_equal(rows, 2000000);
    if (!counts[0].counted) {
        printf("skipped: perf could not count here\n");
        skip();
    }
    assert_true(counts[0].value > 0 && counts[0].value < wall_ms + 20);    /* neither start nor first count */
}

static void without_a_pmu_or_perf_it_says_why_not(void **state)
{
    (void)state;
    agb_results results = {.support.reason = "no PMU in this test"};
    agb_perf_check check = {.n = 0};
    agb_perf_check_plan plan = {.program = "x"};
    agb_perf_check_run(&check, &plan, &results);
    assert_string_equal(check.reason, "no PMU in this test");
    results.support.available = true;
    char *path = strdup(getenv("PATH"));
    setenv("PATH", "/nonexistent", 1);
    check = (agb_perf_check){.n = 0};
    agb_perf_check_run(&check, &plan, &results);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(check.reason, "apt-get install linux-perf"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_of_counts_are_read_and_others_are_passed_over),
        cmocka_unit_test(perf_counts_only_between_the_brackets),
        cmocka_unit_test(without_a_pmu_or_perf_it_says_why_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
