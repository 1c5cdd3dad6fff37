/* SPDX-License-Identifier: MIT */
/* Children that answer, crash, hang or end, and files that appear only when they are complete. */
#include "output.h"
#include "process.h"
#include "test.h"

#include <signal.h>
#include <sys/stat.h>

static void doubles(void *context, int in, int out)
{
    (void)context;
    int number;
    while (agb_pipe_read(in, &number, sizeof number)) {
        number *= 2;
        agb_pipe_write(out, &number, sizeof number);
    }
}

static void reads_nothing(void *context, int in, int out)
{
    (void)context;
    (void)in;
    (void)out;
    raise(SIGSEGV);
}

static void hangs(void *context, int in, int out)
{
    (void)context;
    (void)in;
    agb_pipe_write(out, "x", 1);
    pause();
}

static void prints_on_stdout(void *context, int in, int out)
{
    (void)context;
    (void)in;
    char byte = read(STDIN_FILENO, &byte, 1) == 0 ? 'e' : 'r';    /* its standard input is empty */
    if (write(STDOUT_FILENO, "", 0) == 0)
        agb_pipe_write(out, &byte, 1);
}

static void a_child_answers_again_and_again(void **state)
{
    (void)state;
    agb_process process;
    assert_ok(agb_process_start(&process, doubles, NULL, err));
    for (int i = 0; i < 100; i++) {
        int answer = 0;
        assert_true(agb_process_tell(&process, &i, sizeof i));
        assert_int_equal(agb_process_hear(&process, &answer, sizeof answer, 10), AGB_ANSWER_WHOLE);
        assert_int_equal(answer, 2 * i);
    }
    agb_process_end(&process, false);
    assert_int_equal(process.pid, 0);
    assert_int_equal(agb_process_signal(&process), 0);
}

static void a_crash_is_told_by_the_name_of_its_signal(void **state)
{
    (void)state;
    agb_process process;
    char byte, how[128];
    assert_ok(agb_process_start(&process, reads_nothing, NULL, err));
    assert_int_equal(agb_process_hear(&process, &byte, 1, 10), AGB_ANSWER_ENDED);
    agb_process_end(&process, false);
    agb_process_describe_end(&process, how, sizeof how);
    assert_string_equal(how, "segmentation fault (SIGSEGV)");
    assert_int_equal(agb_process_signal(&process), SIGSEGV);
}

static void half_an_answer_is_none(void **state)
{
    (void)state;
    agb_process process;
    char bytes[2];
    double start = agb_now_s();
    assert_ok(agb_process_start(&process, hangs, NULL, err));
    assert_int_equal(agb_process_hear(&process, bytes, 2, 0.2), AGB_ANSWER_LATE);
    agb_process_end(&process, true);
    assert_true(agb_now_s() - start < 5);
}

static void a_child_that_does_not_end_is_ended(void **state)
{
    (void)state;
    agb_process process;
    assert_ok(agb_process_start(&process, hangs, NULL, err));
    agb_process_end(&process, false);
    assert_int_equal(agb_process_signal(&process), SIGKILL);
}

static void a_child_has_no_input_and_keeps_our_output_clean(void **state)
{
    (void)state;
    agb_process process;
    char byte = 0;
    assert_ok(agb_process_start(&process, prints_on_stdout, NULL, err));
    assert_int_equal(agb_process_hear(&process, &byte, 1, 10), AGB_ANSWER_WHOLE);
    assert_int_equal(byte, 'e');
    agb_process_end(&process, true);
}

/* ---- Output ------------------------------------------------------------------------------------------------------ */

/* The name of a file that is not there. */
static void make_unused(char *path)
{
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    unlink(path);
}

static void a_file_appears_only_when_it_is_complete(void **state)
{
    (void)state;
    char path[] = "/tmp/aggbench-test-XXXXXX";
    make_unused(path);
    agb_output output;
    assert_ok(agb_output_open(&output, path, err));
    fputs("whole", output.file);
    fflush(output.file);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(agb_output_close(&output, err));
    assert_int_equal(access(path, F_OK), 0);
    assert_ok(agb_output_open(&output, path, err));    /* over an existing one */
    fputs("new", output.file);
    assert_ok(agb_output_close(&output, err));
    struct stat there;
    assert_int_equal(stat(path, &there), 0);
    assert_int_equal(there.st_size, 3);
    unlink(path);
}

static void checking_an_output_leaves_nothing_behind(void **state)
{
    (void)state;
    char path[] = "/tmp/aggbench-test-XXXXXX";
    make_unused(path);
    assert_ok(agb_output_check(path, err));
    assert_int_not_equal(access(path, F_OK), 0);
    assert_fails(AGB_ERR_IO, "/nonexistent/file|No such file", agb_output_check("/nonexistent/file", err));
}

static void a_full_disk_is_one_sentence(void **state)
{
    (void)state;
    agb_output output;
    assert_ok(agb_output_open(&output, "/dev/full", err));
    for (int i = 0; i < 100000; i++)
        fputs("more than the buffer holds", output.file);
    assert_fails(AGB_ERR_IO, "/dev/full|No space left", agb_output_close(&output, err));
    struct stat there;
    assert_int_equal(stat("/dev/full", &there), 0);
    assert_true(S_ISCHR(there.st_mode));
}

int main(void)
{
    signal(SIGPIPE, SIG_IGN);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_child_answers_again_and_again),
        cmocka_unit_test(a_crash_is_told_by_the_name_of_its_signal),
        cmocka_unit_test(half_an_answer_is_none),
        cmocka_unit_test(a_child_that_does_not_end_is_ended),
        cmocka_unit_test(a_child_has_no_input_and_keeps_our_output_clean),
        cmocka_unit_test(a_file_appears_only_when_it_is_complete),
        cmocka_unit_test(checking_an_output_leaves_nothing_behind),
        cmocka_unit_test(a_full_disk_is_one_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
