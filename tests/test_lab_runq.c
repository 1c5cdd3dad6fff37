/* SPDX-License-Identifier: MIT */
/* The lab runq on threads that are known to wait, and on a /proc that does not tell. */
#include "fake_root.h"

#include "lab.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/wait.h>

extern const agb_lab agb_lab_runq;

static agb_status perform(agb_lab_record *record, const char *root, int pid, double seconds, agb_error *err)
{
    static agb_machine machine = {.cores = 1};
    agb_options options = {.pid = (uint64_t)pid};
    agb_lab_run run = {.options = &options, .machine = &machine, .root = root, .seconds = seconds, .record = record};
    return agb_lab_perform(&run, &agb_lab_runq, err);
}

static double number(const agb_lab_table *table, size_t row, const char *column)
{
    for (size_t i = 0; i < table->n_columns; i++)
        if (strcmp(table->columns[i].name, column) == 0)
            return table->cells[row * table->n_columns + i].number;
    fail_msg("no column %s", column);
    return 0;
}

static void *spin(void *nothing)
{
    for (;;)
        __asm__ volatile("");
    return nothing;
}

/* A process of three threads that share one processor and always want to run; it dies with its parent. */
static pid_t start_crowd(void)
{
    int ready[2];
    assert_int_equal(pipe(ready), 0);
    pid_t child = fork();
    if (child == 0) {
        cpu_set_t one, all;
        pthread_t thread;
        sched_getaffinity(0, sizeof all, &all);
        CPU_ZERO(&one);
        for (int cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
            if (CPU_ISSET(cpu, &all))
                CPU_SET(cpu, &one);
        sched_setaffinity(0, sizeof one, &one);
        alarm(20);
        for (int i = 0; i < 2; i++)
            if (pthread_create(&thread, NULL, spin, NULL) != 0)
                _exit(1);
        (void)!write(ready[1], "r", 1);
        spin(NULL);
    }
    char go;
    assert_int_equal(read(ready[0], &go, 1), 1);
    close(ready[0]);
    close(ready[1]);
    return child;
}

/* Three that want one processor wait two seconds a second, however busy the rest of the machine is: or more. */
static void threads_that_share_a_processor_are_seen_to_wait(void **state)
{
    (void)state;
    agb_lab_record record;
    pid_t crowd = start_crowd();
    agb_error error = {0};
    agb_status status = perform(&record, "", crowd, 1, &error);
    kill(crowd, SIGKILL);
    waitpid(crowd, NULL, 0);
    assert_int_equal(status, AGB_OK);
    const agb_lab_table *by_wait = &record.tables[0], *coverage = &record.tables[record.n_tables - 1];
    if (record.n_tables < 3) {    /* a kernel without these accounts */
        assert_non_null(strstr(record.findings[0], "not available"));
        skip();
    }
    double window_s = number(coverage, 0, "window"), all_ms = 0;
    assert_int_equal(by_wait->n_rows, 3);
    for (size_t row = 0; row < 3; row++) {
        all_ms += number(by_wait, row, "waited");
        assert_true(row == 0 || number(by_wait, row, "waited") <= number(by_wait, row - 1, "waited"));
    }
    assert_true(all_ms > 1700 * window_s && all_ms < 3100 * window_s);
    assert_non_null(strstr(record.findings[0], "the threads of this process"));
    assert_non_null(strstr(record.findings[1], "wait / (wall x processors)"));
    assert_true(number(coverage, 0, "in both ends") >= 4);
    assert_true(record.charts[0].series[0].n > 2);
    agb_lab_record_release(&record);
}

static void unknown_process_is_refused_in_words(void **state)
{
    (void)state;
    agb_lab_record record;
    assert_fails(AGB_ERR_NOT_FOUND, "runq: --pid 4194303|no such process", perform(&record, "", 4194303, 1, err));
    agb_lab_record_release(&record);
}

static void accounts_that_cannot_be_read_are_not_available(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    agb_lab_record record;
    fake_root_write(&root, "/proc/7/task/7/stat", "7 (x) R 1 0 0 0 0 0 0 0 0 0 5 5 0 0 0 0 1 0 9 0 0\n");
    fake_root_write(&root, "/proc/7/task/7/schedstat", "12 34\n");
    assert_ok(perform(&record, root.path, 0, 0.1, err));
    assert_int_equal(record.n_findings, 1);
    assert_non_null(strstr(record.findings[0], "not available"));
    assert_float_equal(number(&record.tables[0], 0, "no account"), 1, 0);
    agb_lab_record_release(&record);
    fake_root_destroy(&root);
}

static void proc_that_is_not_there_is_not_available_and_no_zero(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    agb_lab_record record;
    assert_ok(perform(&record, root.path, 0, 0.1, err));
    assert_int_equal(record.n_findings, 1);
    assert_non_null(strstr(record.findings[0], "not available: /proc shows no thread"));
    assert_non_null(strstr(record.notes[0], "noisy without a mark"));
    agb_lab_record_release(&record);
    fake_root_destroy(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(threads_that_share_a_processor_are_seen_to_wait),
        cmocka_unit_test(unknown_process_is_refused_in_words),
        cmocka_unit_test(accounts_that_cannot_be_read_are_not_available),
        cmocka_unit_test(proc_that_is_not_there_is_not_available_and_no_zero),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
