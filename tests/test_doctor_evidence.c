/* SPDX-License-Identifier: MIT */
/* How doctor gathers evidence, from a small /proc with control groups, and of a process that ends meanwhile. */
#include "fake_root.h"

#include "doctor.h"

static void write_process(const fake_root *root, char state, unsigned user_ticks, const char *schedstat)
{
    char text[256];
    snprintf(text, sizeof text, "50 (server) %c 1 50 50 0 -1 0 10 0 2 0 %u 10 0 0 20 0 1 0 77 0 500 0 0 0 0 0 0 0 0 0 "
             "0 "
             "0 0 0 17 1 0 0 0 0 0\n", state, user_ticks);
    fake_root_write(root, "/proc/50/stat", text);
    fake_root_write(root, "/proc/50/task/50/stat", text);
    fake_root_write(root, "/proc/50/task/50/schedstat", schedstat);
}

static agb_evidence begin_gathering(const fake_root *root)
{
    fake_root_write(root, "/proc/stat", "cpu  10 0 0 100 0 0 0 0 0 0\ncpu0 5 0 0 50 0 0 0 0 0 0\n"
                                        "cpu1 5 0 0 50 0 0 0 0 0 0\nintr 5 1 2\nctxt 9\n");
    fake_root_write(root, "/proc/50/status", "Name:\tserver\nVmRSS:\t  2048 kB\nVmSwap:\t 4 kB\n"
                                             "Cpus_allowed_list:\t1\n");
    fake_root_write(root, "/proc/50/smaps_rollup", "Rss: 2048 kB\nAnonymous:  1024 kB\nAnonHugePages:  512 kB\n");
    fake_root_write(root, "/proc/50/numa_maps", "7f00 default anon=3 N0=2 N1=1 kernelpagesize_kB=4\n"
                                                "7f80 default anon=1 N1=1 kernelpagesize_kB=2048\n");
    fake_root_write(root, "/proc/50/cgroup", "0::/box\n");
    fake_root_write(root, "/sys/fs/cgroup/box/cpu.max", "50000 100000\n");
    fake_root_write(root, "/sys/fs/cgroup/box/cpu.stat", "nr_periods 10\nnr_throttled 4\nthrottled_usec 1500000\n");
    fake_root_write(root, "/sys/fs/cgroup/box/cpuset.cpus.effective", "0-1\n");
    fake_root_write(root, "/sys/devices/system/node/online", "0-1\n");
    fake_root_write(root, "/sys/devices/system/node/node0/cpulist", "0\n");
    fake_root_write(root, "/sys/devices/system/node/node1/cpulist", "1\n");
    write_process(root, 'R', 100, "1000 2000 3\n");
    return (agb_evidence){.subject = AGB_SUBJECT_PROCESS, .root = root->path, .pid = 50};
}

static void evidence_is_gathered_from_proc_and_control_groups(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    agb_evidence evidence = begin_gathering(&root);
    assert_ok(agb_evidence_look(&evidence, err));
    write_process(&root, 'R', 150, "500001000 250002000 9\n");
    fake_root_write(&root, "/sys/fs/cgroup/box/cpu.stat", "nr_periods 20\nnr_throttled 9\nthrottled_usec 2500000\n");
    assert_ok(agb_evidence_look(&evidence, err));
    agb_evidence_close(&evidence);
    assert_string_equal(evidence.name, "server");
    assert_int_equal(evidence.online, 2);
    assert_string_equal(evidence.allowed, "1");
    assert_string_equal(evidence.cpuset, "0-1");
    assert_float_equal(evidence.quota_cpus, 0.5, 1e-9);
    assert_float_equal(evidence.last.throttling.throttled_s - evidence.first.throttling.throttled_s, 1, 1e-9);
    assert_int_equal(evidence.nodes, 2);
    assert_true(evidence.footprint.has_nodes);
    assert_int_equal(evidence.footprint.on_node[0], 2 * 4096);
    assert_int_equal(evidence.footprint.on_node[1], 4096 + 2048 * 1024);
    assert_int_equal(evidence.footprint.resident, 2048 * 1024);
    assert_int_equal(evidence.footprint.huge, 512 * 1024);
    assert_float_equal(agb_evidence_ran_s(&evidence), 0.5, 1e-3);
    assert_float_equal(agb_evidence_waited_s(&evidence), 0.25, 1e-3);
    agb_evidence_release(&evidence);
    fake_root_destroy(&root);
}

static void process_that_vanishes_keeps_what_was_seen_last(void **state)
{
    (void)state;
    fake_root root = fake_root_create(), gone = {{0}};
    agb_evidence evidence = begin_gathering(&root);
    assert_ok(agb_evidence_look(&evidence, err));
    write_process(&root, 'R', 150, "500001000 250002000 9\n");
    fake_root_write(&root, "/sys/fs/cgroup/box/cpu.stat", "nr_periods 20\nnr_throttled 9\nthrottled_usec 2500000\n");
    assert_ok(agb_evidence_look(&evidence, err));
    double seen_s = evidence.seen_s;
    snprintf(gone.path, sizeof gone.path, "%.40s/proc/50", root.path);
    fake_root_destroy(&gone);
    assert_ok(agb_evidence_look(&evidence, err));
    assert_ok(agb_evidence_look(&evidence, err));
    agb_evidence_close(&evidence);
    assert_true(evidence.vanished);
    assert_true(evidence.window_s == seen_s - evidence.first.at_s);
    assert_int_equal(evidence.last.process.user, 150);
    assert_float_equal(evidence.quota_cpus, 0.5, 1e-9);    /* its control group, too, is known no more */
    assert_string_equal(evidence.cpuset, "0-1");
    assert_int_equal(evidence.last.throttling.throttled - evidence.first.throttling.throttled, 5);
    assert_int_equal(evidence.footprint.resident, 2048 * 1024);
    assert_float_equal(agb_evidence_ran_s(&evidence), 0.5, 1e-3);
    agb_evidence_release(&evidence);
    fake_root_destroy(&root);
}

static void process_that_has_ended_before_is_refused_in_words(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    agb_evidence evidence = begin_gathering(&root);
    agb_evidence none = {.subject = AGB_SUBJECT_PROCESS, .root = root.path, .pid = 51};
    write_process(&root, 'Z', 100, "1000 2000 3\n");
    assert_fails(AGB_ERR_NOT_FOUND, "--pid 50|has ended", agb_evidence_look(&evidence, err));
    assert_fails(AGB_ERR_NOT_FOUND, "--pid 51|no such process", agb_evidence_look(&none, err));
    fake_root_write(&root, "/proc/52/stat", "52 (cut");
    evidence = (agb_evidence){.subject = AGB_SUBJECT_PROCESS, .root = root.path, .pid = 52};
    assert_fails(AGB_ERR_IO, "--pid 52|cannot be read", agb_evidence_look(&evidence, err));
    fake_root_destroy(&root);
}

static void proc_that_is_not_mounted_is_refused_in_words(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    agb_evidence machine = {.subject = AGB_SUBJECT_MACHINE, .root = root.path};
    agb_evidence process = {.subject = AGB_SUBJECT_PROCESS, .root = root.path, .pid = 50};
    assert_fails(AGB_ERR_NOT_FOUND, "/proc/stat|mount", agb_evidence_look(&machine, err));
    assert_fails(AGB_ERR_NOT_FOUND, "/proc/stat|mount", agb_evidence_look(&process, err));
    write_process(&root, 'S', 100, "1000 2000 3\n");    /* only the machine's account is hidden */
    assert_ok(agb_evidence_look(&process, err));
    agb_evidence_release(&process);
    fake_root_destroy(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(evidence_is_gathered_from_proc_and_control_groups),
        cmocka_unit_test(process_that_vanishes_keeps_what_was_seen_last),
        cmocka_unit_test(process_that_has_ended_before_is_refused_in_words),
        cmocka_unit_test(proc_that_is_not_mounted_is_refused_in_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
