/* SPDX-License-Identifier: MIT */
/* Threads followed over a window: every one of them, what vanishes keeps its last value, and never a huge number. */
#include "fake_root.h"

#include "proc.h"
#include "process.h"
#include "tasks.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>

/* A thread whose state is S and that began at `start` ticks. */
static void write_stat(const fake_root *root, int pid, int tid, uint64_t start)
{
    char path[96], text[256];
    snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    snprintf(text, sizeof text, "%d (a (b) c) S 7 1 1 0 -1 0 10 0 2 0 30 40 5 6 20 0 2 0 %llu 4096 250 "
             "0 0 0 0 0 0 0 0 0 0 0 0 0 17 3 0 0 0 0 0\n", tid, (unsigned long long)start);
    fake_root_write(root, path, text);
}

static void write_thread(const fake_root *root, int pid, int tid, const char *schedstat)
{
    char path[96];
    write_stat(root, pid, tid, 100);
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
    fake_root_write(root, path, schedstat);
}

static void remove_below(const fake_root *root, const char *path)
{
    fake_root part;
    snprintf(part.path, sizeof part.path, "%.30s%.30s", root->path, path);
    fake_root_destroy(&part);
}

typedef struct scene {
    fake_root root;
    agb_tasks tasks;
} scene;

static int set_up(void **state)
{
    scene *scene = calloc(1, sizeof *scene);
    scene->root = fake_root_create();
    scene->tasks.root = scene->root.path;
    fake_root_write(&scene->root, "/proc/uptime", "5.00 1.00\n");
    fake_root_write(&scene->root, "/proc/meminfo", "not a process\n");
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    scene *scene = *state;
    agb_tasks_release(&scene->tasks);
    fake_root_destroy(&scene->root);
    free(scene);
    return 0;
}

static void look(scene *scene)
{
    assert_ok(agb_tasks_look(&scene->tasks, err));
}

static const agb_task *thread(const scene *scene, int tid)
{
    const agb_task *found = NULL;
    for (size_t i = 0; i < scene->tasks.n; i++)
        if (scene->tasks.task[i].tid == tid)
            found = &scene->tasks.task[i];
    assert_non_null(found);
    return found;
}

static void waits_of_workers_count_though_the_leader_idles(void **state)
{
    scene *scene = *state;
    write_thread(&scene->root, 50, 50, "1000 0 1\n");
    write_thread(&scene->root, 50, 51, "5000 1000000000 7\n");
    look(scene);
    write_thread(&scene->root, 50, 51, "500005000 3000000000 9\n");
    look(scene);
    agb_tasks_sum sum = agb_tasks_sum_of(&scene->tasks);
    assert_float_equal(sum.waited_s, 2, 1e-9);
    assert_float_equal(sum.ran_s, 0.5, 1e-9);
    assert_int_equal(sum.both, 2);
    assert_string_equal(thread(scene, 51)->name, "a (b) c");
    assert_int_equal(thread(scene, 51)->cpu, 3);
}

static void without_file_descriptors_it_says_so_and_takes_no_thread_for_gone(void **state)
{
    scene *scene = *state;
    struct rlimit before, few;
    write_thread(&scene->root, 50, 50, "1000 0 1\n");
    look(scene);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    int next = dup(0);    /* the lowest that is free: room for none, for one folder, for two, but for no file */
    close(next);
    for (rlim_t more = 0; more < 3; more++) {
        few = (struct rlimit){.rlim_cur = (rlim_t)next + more, .rlim_max = before.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
        agb_error error = {0};
        agb_status status = agb_tasks_look(&scene->tasks, &error);
        setrlimit(RLIMIT_NOFILE, &before);
        assert_int_equal(status, AGB_ERR_IO);
        assert_non_null(strstr(error.text, "Too many open files: raise the limit (ulimit -n)"));
    }
}

static void thread_that_vanished_keeps_its_last_value_and_is_marked(void **state)
{
    scene *scene = *state;
    write_thread(&scene->root, 50, 50, "1000 0 1\n");
    write_thread(&scene->root, 50, 51, "5000 1000000000 7\n");
    look(scene);
    write_thread(&scene->root, 50, 51, "5000 1250000000 8\n");
    look(scene);
    remove_below(&scene->root, "/proc/50/task/51/stat");    /* the folder is listed, its files are gone: ENOENT */
    remove_below(&scene->root, "/proc/50/task/51/schedstat");
    look(scene);
    assert_true(thread(scene, 51)->gone);
    assert_float_equal(agb_task_waited_s(thread(scene, 51)), 0.25, 1e-9);
    assert_false(thread(scene, 50)->gone);
    remove_below(&scene->root, "/proc/50");
    look(scene);
    agb_tasks_sum sum = agb_tasks_sum_of(&scene->tasks);
    assert_int_equal(sum.gone, 2);
    assert_int_equal(sum.both, 0);
    assert_float_equal(sum.waited_s, 0.25, 1e-9);
}

/* The real thing: a descriptor of an ended process's file, which opens and then says ESRCH. */
static void file_that_opens_and_says_that_its_process_is_gone_is_a_vanished_thread(void **state)
{
    scene *scene = *state;
    char path[64], link[128], entry[64];
    pid_t child = fork();
    if (child == 0) {
        pause();
        _exit(0);
    }
    snprintf(path, sizeof path, "/proc/%d/schedstat", child);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    write_thread(&scene->root, 50, 51, "5000 1000000000 7\n");
    look(scene);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    assert_true(fd >= 0);
    snprintf(entry, sizeof entry, "/proc/self/fd/%d", fd);
    snprintf(link, sizeof link, "%s/proc/50/task/51/schedstat", scene->root.path);
    assert_int_equal(unlink(link), 0);
    assert_int_equal(symlink(entry, link), 0);
    char text[8];
    int probe = open(link, O_RDONLY);
    assert_true(probe >= 0);
    assert_int_equal(read(probe, text, sizeof text), -1);
    assert_int_equal(errno, ESRCH);
    close(probe);
    look(scene);
    assert_true(thread(scene, 51)->gone);
    assert_float_equal(agb_task_waited_s(thread(scene, 51)), 0, 0);
    close(fd);
}

static void account_that_went_back_is_not_available(void **state)
{
    scene *scene = *state;
    write_thread(&scene->root, 50, 50, "9000 5000000000 7\n");
    write_thread(&scene->root, 60, 60, "9000 5000000000 7\n");
    write_thread(&scene->root, 70, 70, "9000 5000000000 7\n");
    look(scene);
    write_thread(&scene->root, 50, 50, "9500 4999999999 7\n");
    write_thread(&scene->root, 60, 60, "8999 5000000000 7\n");
    write_thread(&scene->root, 70, 70, "9000 5000000000 6\n");
    look(scene);
    assert_true(isnan(agb_task_waited_s(thread(scene, 50))));
    assert_true(isnan(agb_task_waited_s(thread(scene, 60))));
    assert_true(isnan(agb_task_waited_s(thread(scene, 70))));
    assert_int_equal(agb_tasks_sum_of(&scene->tasks).unreadable, 3);
    assert_float_equal(agb_tasks_sum_of(&scene->tasks).waited_s, 0, 0);
}

static void missing_malformed_and_short_accounts_are_not_available(void **state)
{
    scene *scene = *state;
    write_stat(&scene->root, 50, 50, 100);
    write_thread(&scene->root, 50, 51, "1000 2000\n");
    write_thread(&scene->root, 50, 52, "what is this\n");
    write_thread(&scene->root, 50, 53, "");
    look(scene);
    look(scene);
    for (int tid = 50; tid <= 53; tid++)
        assert_true(isnan(agb_task_waited_s(thread(scene, tid))));
    assert_non_null(agb_tasks_refusal(&scene->tasks, 0));
}

static void accounts_that_stand_still_are_refused_only_when_processors_worked(void **state)
{
    scene *scene = *state;
    write_thread(&scene->root, 50, 50, "0 0 0\n");
    look(scene);
    look(scene);
    assert_null(agb_tasks_refusal(&scene->tasks, 0.01));
    assert_non_null(agb_tasks_refusal(&scene->tasks, 1.0));
    write_thread(&scene->root, 50, 50, "7000 0 3\n");
    look(scene);
    assert_null(agb_tasks_refusal(&scene->tasks, 1.0));
}

static void setting_of_the_scheduler_statistics_is_not_asked(void **state)
{
    scene *scene = *state;
    fake_root_write(&scene->root, "/proc/sys/kernel/sched_schedstats", "0\n");
    write_thread(&scene->root, 50, 50, "1000 0 1\n");
    look(scene);
    write_thread(&scene->root, 50, 50, "1000000000 1000000000 2\n");
    look(scene);
    assert_null(agb_tasks_refusal(&scene->tasks, 1.0));
    assert_float_equal(agb_tasks_sum_of(&scene->tasks).waited_s, 1, 1e-9);
}

static void thread_born_in_the_window_counts_from_its_birth(void **state)
{
    scene *scene = *state;
    write_thread(&scene->root, 50, 50, "1000 0 1\n");
    look(scene);
    write_thread(&scene->root, 50, 51, "3000 500000000 1\n");
    write_stat(&scene->root, 50, 51, 500);        /* 5.00 s after boot */
    write_thread(&scene->root, 50, 52, "3000 700000000 1\n");
    write_stat(&scene->root, 50, 52, 300);        /* older: it was only not seen before */
    look(scene);
    assert_true(thread(scene, 51)->born);
    assert_float_equal(agb_task_waited_s(thread(scene, 51)), 0.5, 1e-9);
    assert_false(thread(scene, 52)->born);
    assert_float_equal(agb_task_waited_s(thread(scene, 52)), 0, 0);
}

static void number_given_to_another_thread_is_not_the_old_one(void **state)
{
    scene *scene = *state;
    write_thread(&scene->root, 50, 50, "9000 8000000000 9\n");
    look(scene);
    write_thread(&scene->root, 50, 50, "10 20 1\n");
    write_stat(&scene->root, 50, 50, 600);
    look(scene);
    agb_tasks_sum sum = agb_tasks_sum_of(&scene->tasks);
    assert_int_equal(scene->tasks.n, 2);
    assert_int_equal(sum.gone, 1);
    assert_int_equal(sum.born, 1);
    assert_float_equal(sum.waited_s, 20e-9, 1e-12);
}

static void only_the_wanted_process_or_also_its_descendants(void **state)
{
    scene *scene = *state;
    write_thread(&scene->root, 50, 50, "1 1 1\n");
    write_thread(&scene->root, 60, 60, "1 1 1\n");
    write_thread(&scene->root, 70, 70, "1 1 1\n");
    fake_root_write(&scene->root, "/proc/50/stat", "50 (top) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 9 0 0\n");
    fake_root_write(&scene->root, "/proc/60/stat", "60 (child) S 50 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 9 0 0\n");
    fake_root_write(&scene->root, "/proc/70/stat", "70 (other) S 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 9 0 0\n");
    scene->tasks.pid = 50;
    look(scene);
    assert_int_equal(scene->tasks.n, 1);
    scene->tasks.descendants = true;
    look(scene);
    assert_int_equal(scene->tasks.n, 2);
    thread(scene, 60);
}

/* ---- On this machine --------------------------------------------------------------------------------------------- */

static void *spin(void *flag)
{
    while (!atomic_load((atomic_bool *)flag))
        continue;
    return NULL;
}

static void running_threads_of_this_process_are_all_seen(void **state)
{
    (void)state;
    enum { THREADS = 3 };
    atomic_bool stop = false;
    pthread_t threads[THREADS];
    agb_tasks tasks = {.root = "", .pid = getpid()};
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, spin, &stop), 0);
    agb_status first = agb_tasks_look(&tasks, NULL);
    for (double end = agb_now_s() + 0.3; agb_now_s() < end;)
        usleep(10000);
    agb_status second = agb_tasks_look(&tasks, NULL);
    atomic_store(&stop, true);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    agb_tasks_sum sum = agb_tasks_sum_of(&tasks);
    size_t both = sum.both;
    double wanted_s = sum.ran_s + sum.waited_s, window_s = tasks.last_s - tasks.first_s;
    bool kept = !agb_tasks_refusal(&tasks, sum.ran_s > 0 ? 0 : 1);
    agb_tasks_release(&tasks);
    assert_int_equal(first, AGB_OK);
    assert_int_equal(second, AGB_OK);
    assert_int_equal(both, THREADS + 1);
    if (!kept)
        skip();
    /* Three threads that always want to run, and one that sleeps: together they ran or waited 3 s a second. */
    assert_true(wanted_s > 2.2 * window_s && wanted_s < 3.9 * window_s);
}

/* ---- The two files of /proc -------------------------------------------------------------------------------------- */

static void utilization_leaves_out_what_was_stolen_and_never_runs_back(void **state)
{
    scene *scene = *state;
    agb_cpu_ticks before, after;
    fake_root_write(&scene->root, "/proc/stat", "cpu  10 0 10 80 50 0 0 0 0 0\ncpu0 5 0 5 40 25 0 0 0 0 0\n"
                                                "cpu1 5 0 5 40 25 0 0 0 0 0\nctxt 77\n");
    assert_true(agb_cpu_ticks_read(scene->root.path, &before));
    assert_int_equal(agb_cpus_online(scene->root.path), 2);
    uint64_t switches;
    assert_true(agb_proc_number(scene->root.path, "/proc/stat", "ctxt", &switches));
    assert_int_equal(switches, 77);
    fake_root_write(&scene->root, "/proc/stat", "cpu  50 0 20 110 40 0 0 20 0 0\ncpu0 5 0 5 40 25 0 0 0 0 0\n"
                                                "cpu1 6 0 5 40 25 0 0 0 0 0\n");
    assert_true(agb_cpu_ticks_read(scene->root.path, &after));
    agb_cpu_ticks passed = agb_cpu_ticks_between(&before, &after);
    assert_int_equal(passed.iowait, 0);
    assert_int_equal(agb_cpu_ticks_all(&passed), 100);
    assert_float_equal(agb_cpu_busy_pct(&passed), 50, 1e-9);
    const int cpus[] = {1, 0}, none_such[] = {7};
    assert_true(agb_cpu_ticks_sum(scene->root.path, cpus, 1, &after));
    assert_int_equal(after.user, 6);
    assert_true(agb_cpu_ticks_sum(scene->root.path, cpus, 2, &after));
    assert_int_equal(after.user, 11);
    assert_false(agb_cpu_ticks_sum(scene->root.path, none_such, 1, &after));
    agb_cpu_ticks none = {0};
    assert_true(isnan(agb_cpu_busy_pct(&none)));
}

static void malformed_stat_lines_are_refused(void **state)
{
    (void)state;
    agb_proc_stat stat;
    char none[] = "12 no brackets", cut[] = "12 (x) S 1 2 3", backwards[] = "12 )x( S 1";
    assert_false(agb_proc_stat_parse(none, &stat));
    assert_false(agb_proc_stat_parse(cut, &stat));
    assert_false(agb_proc_stat_parse(backwards, &stat));
    assert_int_equal(agb_proc_stat_read("", getpid(), 0, &stat), 0);
    assert_int_equal(stat.parent, getppid());
}

#define IN_A_SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_SCENE(waits_of_workers_count_though_the_leader_idles),
        IN_A_SCENE(without_file_descriptors_it_says_so_and_takes_no_thread_for_gone),
        IN_A_SCENE(thread_that_vanished_keeps_its_last_value_and_is_marked),
        IN_A_SCENE(file_that_opens_and_says_that_its_process_is_gone_is_a_vanished_thread),
        IN_A_SCENE(account_that_went_back_is_not_available),
        IN_A_SCENE(missing_malformed_and_short_accounts_are_not_available),
        IN_A_SCENE(accounts_that_stand_still_are_refused_only_when_processors_worked),
        IN_A_SCENE(setting_of_the_scheduler_statistics_is_not_asked),
        IN_A_SCENE(thread_born_in_the_window_counts_from_its_birth),
        IN_A_SCENE(number_given_to_another_thread_is_not_the_old_one),
        IN_A_SCENE(only_the_wanted_process_or_also_its_descendants),
        IN_A_SCENE(utilization_leaves_out_what_was_stolen_and_never_runs_back),
        cmocka_unit_test(malformed_stat_lines_are_refused),
        cmocka_unit_test(running_threads_of_this_process_are_all_seen),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
