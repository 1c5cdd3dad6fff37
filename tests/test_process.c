/* SPDX-License-Identifier: MIT */
/* Children that answer, crash, hang or end, and files that appear only when they are complete. */
#include "output.h"
#include "process.h"
#include "test.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>

static void doubles(void *context, int in, int out)
{
    (void)context;
    int number;
    while (agb_pipe_read(in, &number, sizeof number)) {
        number *= 2;
        agb_process_answer(out, &number, sizeof number);
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
    agb_process_answer(out, "x", 1);
    pause();
}

static void prints_on_stdout(void *context, int in, int out)
{
    (void)context;
    (void)in;
    char byte = read(STDIN_FILENO, &byte, 1) == 0 ? 'e' : 'r';    /* its standard input is empty */
    if (write(STDOUT_FILENO, "", 0) == 0)
        agb_process_answer(out, &byte, 1);
}

static void a_child_answers_again_and_again(void **state)
{
    (void)state;
    agb_process process;
    assert_ok(agb_process_start(&process, doubles, NULL, -1, err));
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
    assert_ok(agb_process_start(&process, reads_nothing, NULL, -1, err));
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
    assert_ok(agb_process_start(&process, hangs, NULL, -1, err));
    assert_int_equal(agb_process_hear(&process, bytes, 2, 0.2), AGB_ANSWER_LATE);
    agb_process_end(&process, true);
    assert_true(agb_now_s() - start < 5);
}

static void a_child_that_does_not_end_is_ended(void **state)
{
    (void)state;
    agb_process process;
    assert_ok(agb_process_start(&process, hangs, NULL, -1, err));
    agb_process_end(&process, false);
    assert_int_equal(agb_process_signal(&process), SIGKILL);
}

static void a_child_has_no_input_and_keeps_our_output_clean(void **state)
{
    (void)state;
    agb_process process;
    char byte = 0;
    assert_ok(agb_process_start(&process, prints_on_stdout, NULL, -1, err));
    assert_int_equal(agb_process_hear(&process, &byte, 1, 10), AGB_ANSWER_WHOLE);
    assert_int_equal(byte, 'e');
    agb_process_end(&process, true);
}

/* context: descriptors of the parent's, -1 behind them. Answers which of them are open. */
static void looks_for(void *context, int in, int out)
{
    (void)in;
    unsigned open = 0;
    const int *fd = context;
    for (unsigned i = 0; fd[i] >= 0; i++)
        open |= (unsigned)(fcntl(fd[i], F_GETFD) >= 0) << i;
    agb_process_answer(out, &open, sizeof open);
}

static void a_child_has_one_file_of_its_parent_if_any(void **state)
{
    (void)state;
    agb_process process, other;
    int fd[5];
    unsigned open;
    for (int i = 0; i < 2; i++)
        assert_true((fd[i] = memfd_create("aggbench test", 0)) >= 0);
    assert_ok(agb_process_start(&other, hangs, NULL, -1, err));
    fd[2] = other.to;
    fd[3] = other.from;
    fd[4] = -1;
    for (int kept = -1; kept < 2; kept++) {
        assert_ok(agb_process_start(&process, looks_for, fd, kept < 0 ? -1 : fd[kept], err));
        assert_int_equal(agb_process_hear(&process, &open, sizeof open, 10), AGB_ANSWER_WHOLE);
        assert_int_equal(open, kept < 0 ? 0 : 1u << kept);
        agb_process_end(&process, true);
    }
    agb_process_end(&other, true);
    close(fd[0]);
    close(fd[1]);
}

static void chatters(void *context, int in, int out)
{
    (void)in;
    agb_pipe_write(out, context, strlen(context));
    agb_process_answer(out, "answer", 6);
}

static void what_comes_before_an_answer_spoils_it(void **state)
{
    (void)state;
    static const char *const said[] = {"x", "12345678", "longer than an answer and its mark"};
    char answer[6];
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++) {
        agb_process process;
        assert_ok(agb_process_start(&process, chatters, (void *)said[i], -1, err));
        assert_int_equal(agb_process_hear(&process, answer, sizeof answer, 10), AGB_ANSWER_SPOILED);
        agb_process_end(&process, true);
    }
}

static void leaves_a_child(void *context, int in, int out)
{
    (void)context;
    (void)in;
    pid_t left = fork();
    if (left == 0) {
        setsid();
        if (fork() == 0)
            signal(SIGTERM, SIG_IGN);
        for (;;)
            pause();
    }
    agb_process_answer(out, &left, sizeof left);
}

static void what_a_child_leaves_running_is_ended(void **state)
{
    (void)state;
    agb_older_children older;
    agb_process process;
    pid_t left = 0, own = fork();
    if (own == 0)
        for (;;)
            pause();
    agb_strays_adopt(&older);
    assert_int_equal(older.n, 1);
    assert_ok(agb_process_start(&process, leaves_a_child, NULL, -1, err));
    assert_int_equal(agb_process_hear(&process, &left, sizeof left, 10), AGB_ANSWER_WHOLE);
    agb_process_end(&process, false);
    assert_int_equal(kill(left, 0), 0);
    agb_strays_end(&older);
    assert_int_equal(kill(left, 0), -1);
    assert_int_equal(kill(own, 0), 0);    /* it was there before */
    kill(own, SIGKILL);
    assert_int_equal(waitpid(own, NULL, 0), own);
    assert_int_equal(waitpid(-1, NULL, 0), -1);
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

static void open_output(agb_output *output, const char *path)
{
    assert_ok(agb_output_prepare(output, path, err));
    assert_ok(agb_output_begin(output, err));
}

static void write_whole(const char *path, const char *text)
{
    agb_output output;
    open_output(&output, path);
    fputs(text, output.file);
    assert_ok(agb_output_close(&output, err));
}

static void assert_holds(const char *path, const char *text)
{
    char held[64] = "";
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    assert_true(fgets(held, sizeof held, file) || *text == '\0');
    fclose(file);
    assert_string_equal(held, text);
}

static void a_file_appears_only_when_it_is_complete(void **state)
{
    (void)state;
    char path[] = "/tmp/aggbench-test-XXXXXX";
    make_unused(path);
    agb_output output;
    open_output(&output, path);
    fputs("whole", output.file);
    fflush(output.file);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_ok(agb_output_close(&output, err));
    assert_holds(path, "whole");
    write_whole(path, "new");    /* over an existing one */
    assert_holds(path, "new");
    open_output(&output, path);
    fputs("given up", output.file);
    agb_output_release(&output);
    assert_holds(path, "new");
    unlink(path);
}

static void preparing_an_output_leaves_nothing_behind(void **state)
{
    (void)state;
    char path[] = "/tmp/aggbench-test-XXXXXX";
    make_unused(path);
    agb_output output;
    assert_ok(agb_output_prepare(&output, path, err));
    agb_output_release(&output);
    assert_int_not_equal(access(path, F_OK), 0);
    assert_fails(AGB_ERR_IO, "/nonexistent/file|No such file",
                 agb_output_prepare(&output, "/nonexistent/file", err));
    agb_output_release(&output);
    assert_fails(AGB_ERR_IO, "/tmp/|Is a directory", agb_output_prepare(&output, "/tmp/", err));
    agb_output_release(&output);
}

static void a_full_disk_is_one_sentence(void **state)
{
    (void)state;
    agb_output output;
    open_output(&output, "/dev/full");
    for (int i = 0; i < 100000; i++)
        fputs("more than the buffer holds", output.file);
    assert_fails(AGB_ERR_IO, "/dev/full|No space left", agb_output_close(&output, err));
    struct stat there;
    assert_int_equal(stat("/dev/full", &there), 0);
    assert_true(S_ISCHR(there.st_mode));
}

/* A folder of its own, with `to/file` in it. */
static void make_folder(char *folder)
{
    char path[96];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/to", folder);
    assert_int_equal(mkdir(path, 0700), 0);
    strcat(path, "/file");
    write_whole(path, "old");
}

static void remove_folder(const char *folder)
{
    char command[96];
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    assert_int_equal(system(command), 0);
}

/* In a folder of links: `name` -> text is written through; what it leads to holds the name, the link stays. */
static void write_through_link(const char *folder, const char *name, const char *text, const char *leads_to)
{
    char link[96], real[96], back[96] = "";
    snprintf(link, sizeof link, "%s/%s", folder, name);
    snprintf(real, sizeof real, "%s/%s", folder, leads_to);
    assert_int_equal(symlink(text, link), 0);
    write_whole(link, name);
    assert_true(readlink(link, back, sizeof back - 1) > 0);
    assert_string_equal(back, text);
    assert_holds(real, name);
}

static void links_are_followed_and_stay_links(void **state)
{
    (void)state;
    char folder[] = "/tmp/aggbench-test-XXXXXX", whole[96], loop[96];
    make_folder(folder);
    write_through_link(folder, "relative", "to/file", "to/file");
    snprintf(whole, sizeof whole, "%s/to/file", folder);
    write_through_link(folder, "absolute", whole, "to/file");
    write_through_link(folder, "chain", "relative", "to/file");
    write_through_link(folder, "dangling", "to/new", "to/new");
    snprintf(loop, sizeof loop, "%s/loop", folder);
    assert_int_equal(symlink("loop", loop), 0);
    agb_output output;
    assert_fails(AGB_ERR_IO, "loop|symbolic links", agb_output_prepare(&output, loop, err));
    agb_output_release(&output);
    remove_folder(folder);
}

static void an_existing_file_keeps_its_mode(void **state)
{
    (void)state;
    char folder[] = "/tmp/aggbench-test-XXXXXX", path[96];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/to/file", folder);
    static const mode_t modes[] = {0600, 0640, 0666, 0755};
    struct stat there;
    for (size_t i = 0; i < sizeof modes / sizeof modes[0]; i++) {
        assert_int_equal(chmod(path, modes[i]), 0);
        write_whole(path, "again");
        assert_int_equal(stat(path, &there), 0);
        assert_int_equal(there.st_mode & 07777, modes[i]);
    }
    remove_folder(folder);
}

static void an_open_descriptor_is_written_where_it_stands(void **state)
{
    (void)state;
    char folder[] = "/tmp/aggbench-test-XXXXXX", path[96], name[64];
    make_folder(folder);
    snprintf(path, sizeof path, "%s/to/file", folder);
    FILE *file = fopen(path, "a");
    static const char *const folders[] = {"/dev/fd", "/proc/self/fd"};
    for (size_t i = 0; i < sizeof folders / sizeof folders[0]; i++) {
        snprintf(name, sizeof name, "%s/%d", folders[i], fileno(file));
        write_whole(name, "+new");
    }
    assert_holds(path, "old+new+new");
    fclose(file);
    file = fopen(path, "r");
    snprintf(name, sizeof name, "/dev/fd/%d", fileno(file));
    agb_output output;
    assert_fails(AGB_ERR_IO, "Bad file descriptor", agb_output_prepare(&output, name, err));
    agb_output_release(&output);
    fclose(file);
    remove_folder(folder);
}

static void two_names_of_one_file_are_the_same_output(void **state)
{
    (void)state;
    char folder[] = "/tmp/aggbench-test-XXXXXX", path[4][96];
    static const char *const names[] = {"to/file", "link", "to/../to/new", "to/new"};
    make_folder(folder);
    agb_output output[4], null[2];
    for (size_t i = 0; i < 4; i++)
        snprintf(path[i], sizeof path[i], "%s/%s", folder, names[i]);
    assert_int_equal(symlink("to/file", path[1]), 0);
    for (size_t i = 0; i < 4; i++)
        assert_ok(agb_output_prepare(&output[i], path[i], err));
    for (size_t i = 0; i < 2; i++)
        assert_ok(agb_output_prepare(&null[i], "/dev/null", err));
    assert_true(agb_output_same(&output[0], &output[1]));
    assert_true(agb_output_same(&output[2], &output[3]));
    assert_false(agb_output_same(&output[0], &output[2]));
    assert_false(agb_output_same(&null[0], &null[1]));
    for (size_t i = 0; i < 4; i++)
        agb_output_release(&output[i]);
    agb_output_release(&null[0]);
    agb_output_release(&null[1]);
    remove_folder(folder);
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
        cmocka_unit_test(a_child_has_one_file_of_its_parent_if_any),
        cmocka_unit_test(what_comes_before_an_answer_spoils_it),
        cmocka_unit_test(what_a_child_leaves_running_is_ended),
        cmocka_unit_test(a_file_appears_only_when_it_is_complete),
        cmocka_unit_test(preparing_an_output_leaves_nothing_behind),
        cmocka_unit_test(links_are_followed_and_stay_links),
        cmocka_unit_test(an_existing_file_keeps_its_mode),
        cmocka_unit_test(an_open_descriptor_is_written_where_it_stands),
        cmocka_unit_test(two_names_of_one_file_are_the_same_output),
        cmocka_unit_test(a_full_disk_is_one_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
