/* SPDX-License-Identifier: MIT */
/* doctor's steps on evidence of our own: what each measures, rules out and cannot see, and where the path stops. */
#include "fake_root.h"

#include "doctor.h"

#include <jansson.h>
#include <math.h>
#include <unistd.h>

/* ---- Evidence ---------------------------------------------------------------------------------------------------- */

enum { MOST_TASKS = 4 };

typedef struct scene {
    fake_root root;
    agb_evidence evidence;
    agb_task task[MOST_TASKS];
    agb_finding finding;
    agb_diagnosis diagnosis;
} scene;

/* Two seconds of a process on a machine of four processors, idle but for it. */
static int set_up(void **state)
{
    scene *scene = calloc(1, sizeof *scene);
    agb_evidence *evidence = &scene->evidence;
    scene->root = fake_root_create();
    *evidence = (agb_evidence){.subject = AGB_SUBJECT_PROCESS, .root = scene->root.path, .pid = 50, .name = "server",
                               .online = 4, .allowed = "0-3", .quota_cpus = -1, .nodes = 1, .window_s = 2};
    evidence->machine.caches = (agb_caches){.l1d = 32 << 10, .l2 = 1 << 20, .l3 = 32 << 20, .line = 64};
    evidence->first.at_s = 10;
    evidence->last.at_s = 12;
    evidence->last.cpu = (agb_cpu_ticks){.user = 200, .idle = 600};
    evidence->first.pressure_s = evidence->last.pressure_s = NAN;
    evidence->tasks = (agb_tasks){.root = scene->root.path, .task = scene->task, .looks = 5, .first_s = 10,
                                  .last_s = 12};
    snprintf(evidence->support.reason, sizeof evidence->support.reason, "no PMU in this test");
    snprintf(evidence->loads.reason, sizeof evidence->loads.reason, "no sampling in this test");
    evidence->footprint = (agb_footprint){.known = true, .resident = 1 << 20, .has_pages = true, .anonymous = 1 << 20};
    *state = scene;
    return 0;
}

static int tear_down(void **state)
{
    scene *scene = *state;
    fake_root_destroy(&scene->root);
    free(scene);
    return 0;
}

static void add_thread(scene *scene, double ran_s, double waited_s)
{
    size_t n = scene->evidence.tasks.n++;
    scene->task[n] = (agb_task){.pid = 50, .tid = 50 + (int)n, .cpu = (int)n, .ran_ns = (uint64_t)(ran_s * 1e9),
                                .waited_ns = (uint64_t)(waited_s * 1e9), .looks = 10, .running = 10};
    scene->evidence.last.process.user += (uint64_t)(ran_s * (double)sysconf(_SC_CLK_TCK));
}

static const agb_finding *examine(scene *scene, void (*step)(const agb_evidence *, agb_finding *))
{
    memset(&scene->finding, 0, sizeof scene->finding);
    step(&scene->evidence, &scene->finding);
    return &scene->finding;
}

static double figure(const agb_finding *finding, const char *name)
{
    for (unsigned i = 0; i < finding->n_figures; i++)
        if (strcmp(finding->figures[i].name, name) == 0)
            return finding->figures[i].value;
    fail_msg("there is no figure %s", name);
    return 0;
}

/* The verdict, and words (parted by |) in what it means or what to do next. */
static void assert_finding(const agb_finding *finding, agb_ruling verdict, const char *words)
{
    char all[2048], copy[256], *save = NULL;
    snprintf(all, sizeof all, "%s / %s / %s", finding->measured, finding->means, finding->next);
    if (finding->verdict != verdict)
        fail_msg("%s instead of %s: %s", agb_ruling_word(finding->verdict), agb_ruling_word(verdict), all);
    snprintf(copy, sizeof copy, "%s", words);
    for (char *word = strtok_r(copy, "|", &save); word; word = strtok_r(NULL, "|", &save))
        if (!strstr(all, word))
            fail_msg("\"%s\" is not in: %s", word, all);
}

static void assert_unseen(const agb_finding *finding, const char *reason, const char *command)
{
    assert_true(finding->n_unseen > 0);
    bool found = false;
    for (unsigned i = 0; i < finding->n_unseen; i++)
        found |= strstr(finding->unseen[i].reason, reason) && strstr(finding->unseen[i].command, command);
    if (!found)
        fail_msg("no \"%s\" with \"%s\", but: %s: %s", reason, command, finding->unseen[0].reason,
                 finding->unseen[0].command);
}

/* ---- On a processor? --------------------------------------------------------------------------------------------- */

static void sleeping_process_is_found_off_cpu_and_nothing_more_is_asked(void **state)
{
    scene *scene = *state;
    add_thread(scene, 0.01, 0.001);
    fake_root_write(&scene->root, "/proc/50/wchan", "do_epoll_wait");
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_FOUND, "not busy|do_epoll_wait|strace -f -c -p 50");
    agb_doctor_walk(&scene->evidence, &scene->diagnosis);
    assert_int_equal(scene->diagnosis.answered, 0);
    for (int i = 1; i < AGB_DOCTOR_STEPS; i++)
        assert_int_equal(scene->diagnosis.findings[i].verdict == AGB_SKIPPED, !agb_doctor_steps[i].always);
}

static void advice_is_of_use_to_what_sleeps(void **state)
{
    scene *scene = *state;
    add_thread(scene, 0.01, 0.001);
    scene->evidence.footprint = (agb_footprint){.known = false};
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_FOUND, "kernel thread|/proc/50/stack");
    scene->evidence.vanished = true;
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_FOUND, "it has ended|aggbench doctor -- PROGRAM");
    assert_finding(examine(scene, agb_examine_noise), AGB_RULED_OUT, "rules out steal and interrupts as");
}

static void process_that_waits_for_a_device_is_told_apart_from_one_that_sleeps(void **state)
{
    scene *scene = *state;
    add_thread(scene, 0.01, 0.001);
    scene->task[0].device = 8;
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_FOUND, "device|iostat");
    assert_float_equal(figure(&scene->finding, "looks in device wait"), 80, 1e-9);
}

static void busy_process_rules_sleep_out(void **state)
{
    scene *scene = *state;
    add_thread(scene, 1.96, 0.01);
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_RULED_OUT, "98.0 %|0.5 %|rules out sleep");
    assert_float_equal(figure(&scene->finding, "on processors"), 98, 0.01);
}

static void process_that_waits_for_a_processor_is_suspect_and_told_who_to_ask(void **state)
{
    scene *scene = *state;
    add_thread(scene, 1.0, 1.0);
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_SUSPECT, "does not get a processor|aggbench lab runq");
}

static void process_that_works_in_the_kernel_is_suspect(void **state)
{
    scene *scene = *state;
    add_thread(scene, 1.9, 0);
    scene->evidence.last.process.system = scene->evidence.last.process.user;
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_SUSPECT, "kernel|perf trace");
}

static void wait_is_not_known_where_accounts_stand_still_but_running_is(void **state)
{
    scene *scene = *state;
    add_thread(scene, 0, 0);
    scene->evidence.last.process.user = (uint64_t)(1.9 * (double)sysconf(_SC_CLK_TCK));
    const agb_finding *finding = examine(scene, agb_examine_on_cpu);
    assert_float_equal(figure(finding, "on processors"), 95, 0.01);
    assert_true(isnan(figure(finding, "waited for a processor")));
    assert_unseen(finding, "CONFIG_SCHED_INFO", "perf sched");
    assert_int_equal(finding->verdict, AGB_RULED_OUT);
}

static void end_of_a_command_counts_what_its_children_did(void **state)
{
    scene *scene = *state;
    add_thread(scene, 0.01, 0);
    scene->evidence.subject = AGB_SUBJECT_COMMAND;
    scene->evidence.command = (agb_command_end){.ended = true, .wall_s = 2, .user_s = 1.8, .sys_s = 0.1};
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_RULED_OUT, "95.0 %");
}

static void idle_machine_is_found_and_a_busy_one_is_not(void **state)
{
    scene *scene = *state;
    scene->evidence.subject = AGB_SUBJECT_MACHINE;
    add_thread(scene, 0.02, 0);
    scene->evidence.last.cpu = (agb_cpu_ticks){.user = 10, .idle = 790};
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_FOUND, "idle");
    scene->evidence.last.cpu = (agb_cpu_ticks){.user = 600, .idle = 200};
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_RULED_OUT, "75.0 %");
    scene->evidence.last.cpu = (agb_cpu_ticks){.user = 200, .idle = 300, .iowait = 300};
    assert_finding(examine(scene, agb_examine_on_cpu), AGB_SUSPECT, "iostat");
}

/* ---- Pinned? ----------------------------------------------------------------------------------------------------- */

static void quota_that_throttles_is_found(void **state)
{
    scene *scene = *state;
    add_thread(scene, 1, 0.5);
    scene->evidence.quota_cpus = 0.5;
    scene->evidence.first.throttling = (agb_throttling){true, 100, 7, 1.0};
    scene->evidence.last.throttling = (agb_throttling){true, 120, 25, 2.0};
    assert_finding(examine(scene, agb_examine_pinned), AGB_FOUND, "0.50 processors|18 of 20 periods|50.0 %|cpu.max");
}

static void threads_that_wait_while_others_idle_are_found_pinned(void **state)
{
    scene *scene = *state;
    add_thread(scene, 1, 1);
    add_thread(scene, 1, 1);
    snprintf(scene->evidence.allowed, sizeof scene->evidence.allowed, "2");
    assert_finding(examine(scene, agb_examine_pinned), AGB_FOUND, "while others are idle|taskset -a -p -c 0-3 50");
}

static void pinned_without_loss_is_no_cause(void **state)
{
    scene *scene = *state;
    add_thread(scene, 2, 0);
    snprintf(scene->evidence.allowed, sizeof scene->evidence.allowed, "2");
    assert_finding(examine(scene, agb_examine_pinned), AGB_RULED_OUT, "pinned, but loses nothing");
    snprintf(scene->evidence.allowed, sizeof scene->evidence.allowed, "0-3");
    assert_finding(examine(scene, agb_examine_pinned), AGB_RULED_OUT, "0-3 of 4 online|no quota");
}

static void unreadable_affinity_is_not_seen(void **state)
{
    scene *scene = *state;
    add_thread(scene, 2, 0);
    scene->evidence.allowed[0] = '\0';
    assert_unseen(examine(scene, agb_examine_pinned), "Cpus_allowed_list", "taskset -p 50");
    assert_int_equal(scene->finding.verdict, AGB_UNSEEN);
}

/* ---- The pipeline ------------------------------------------------------------------------------------------------ */

static void give(scene *scene, agb_metric metric, double value)
{
    scene->evidence.counted = scene->evidence.support.available = true;
    scene->evidence.metrics.has[metric] = true;
    scene->evidence.metrics.value[metric] = value;
}

static void without_counters_ipc_and_slots_name_the_reason_and_a_command(void **state)
{
    scene *scene = *state;
    assert_unseen(examine(scene, agb_examine_ipc), "no PMU in this test", "perf stat -e instructions:u,cycles:u -p 50");
    assert_int_equal(scene->finding.verdict, AGB_UNSEEN);
    assert_true(isnan(figure(&scene->finding, "IPC")));
    assert_unseen(examine(scene, agb_examine_slots), "no PMU in this test", "--topdown -p 50");
}

static void ipc_is_judged_by_the_machines_own_line(void **state)
{
    scene *scene = *state;
    give(scene, AGB_IPC, 0.4);
    snprintf(scene->evidence.no_line, sizeof scene->evidence.no_line, "there is none yet");
    assert_unseen(examine(scene, agb_examine_ipc), "there is none yet", "aggbench lab calibrate");
    scene->evidence.has_line = true;
    scene->evidence.line = (agb_ipc_line){.unit = AGB_IPC_PER_CYCLE, .cpu_bound = 4, .memory_bound = 0.1,
                                          .midpoint = 0.6};
    assert_finding(examine(scene, agb_examine_ipc), AGB_SUSPECT, "0.40|waiting side");
    give(scene, AGB_IPC, 1.0);
    assert_finding(examine(scene, agb_examine_ipc), AGB_RULED_OUT, "rules out waiting");
    give(scene, AGB_IPC, 3.5);
    assert_finding(examine(scene, agb_examine_ipc), AGB_FOUND, "it computes|perf record -p 50");
    scene->evidence.line.unit = AGB_IPC_PER_NS;
    assert_int_equal(examine(scene, agb_examine_ipc)->verdict, AGB_UNSEEN);
}

static void slots_that_wait_lead_on_and_slots_that_work_answer(void **state)
{
    scene *scene = *state;
    give(scene, AGB_RETIRING_PCT, 16.1);
    give(scene, AGB_MEMORY_BOUND_PCT, 50.1);
    assert_finding(examine(scene, agb_examine_slots), AGB_SUSPECT, "16.1 %|50.1 %|waits for memory");
    give(scene, AGB_RETIRING_PCT, 70);
    give(scene, AGB_MEMORY_BOUND_PCT, 4);
    assert_finding(examine(scene, agb_examine_slots), AGB_FOUND, "it computes");
    give(scene, AGB_BAD_SPECULATION_PCT, 80);
    assert_finding(examine(scene, agb_examine_slots), AGB_FOUND, "mispredicted|branch");
    scene->evidence.metrics.has[AGB_MEMORY_BOUND_PCT] = false;
    give(scene, AGB_BACKEND_BOUND_PCT, 60);
    assert_finding(examine(scene, agb_examine_slots), AGB_SUSPECT, "back end");
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void sample(scene *scene, uint64_t l1, uint64_t dram, uint64_t modified, uint64_t walks)
{
    scene->evidence.loads = (agb_load_samples){.had = true, .loads = l1 + dram, .hit_modified = modified,
                                               .tlb_known = l1 + dram, .tlb_walks = walks};
    scene->evidence.loads.by_level[AGB_LOAD_L1] = l1;
    scene->evidence.loads.by_level[AGB_LOAD_DRAM] = dram;
}

static void sampled_loads_tell_the_level_by_their_time(void **state)
{
    scene *scene = *state;
    sample(scene, 990, 10, 0, 0);
    assert_finding(examine(scene, agb_examine_memory), AGB_RULED_OUT, "rules out DRAM");
    agb_load_samples *loads = &scene->evidence.loads;
    loads->weighed = 1000;    /* one load in a hundred, but most of the time */
    loads->cycles[AGB_LOAD_L1] = 990 * 4;
    loads->cycles[AGB_LOAD_DRAM] = 10 * 900;
    assert_finding(examine(scene, agb_examine_memory), AGB_SUSPECT, "69 %|wait for DRAM");
    assert_int_equal(scene->finding.n_unseen, 0);
}

static void few_samples_say_nothing(void **state)
{
    scene *scene = *state;
    sample(scene, 9, 90, 0, 0);
    assert_unseen(examine(scene, agb_examine_memory), "too few", "perf mem record -p 50");
}

static void footprint_bounds_the_level_and_is_called_an_estimate(void **state)
{
    scene *scene = *state;
    assert_finding(examine(scene, agb_examine_memory), AGB_RULED_OUT, "by estimate|fits");
    assert_unseen(&scene->finding, "no sampling in this test", "perf mem record -p 50");
    scene->evidence.footprint.resident = 3ull << 30;
    assert_finding(examine(scene, agb_examine_memory), AGB_UNSEEN, "DRAM is possible (estimate)|96.0 times");
    bool estimate = false;
    for (unsigned i = 0; i < scene->finding.n_figures; i++)
        estimate |= scene->finding.figures[i].estimate;
    assert_true(estimate);
    scene->evidence.footprint.resident = 0;
    assert_finding(examine(scene, agb_examine_memory), AGB_UNSEEN, "not known");
}

static void one_busy_thread_shares_with_nobody(void **state)
{
    scene *scene = *state;
    add_thread(scene, 1.9, 0);
    add_thread(scene, 0.01, 0);
    assert_finding(examine(scene, agb_examine_sharing), AGB_RULED_OUT, "one busy thread");
    scene->evidence.subject = AGB_SUBJECT_COMMAND;    /* which may have had others between two looks */
    assert_finding(examine(scene, agb_examine_sharing), AGB_UNSEEN, "1 thread is busy|a second one was not seen");
    scene->evidence.subject = AGB_SUBJECT_PROCESS;
    add_thread(scene, 1.9, 0);
    assert_finding(examine(scene, agb_examine_sharing), AGB_UNSEEN, "possible|aggbench lab sharing");
    assert_unseen(&scene->finding, "no sampling in this test", "perf c2c record -p 50");
    sample(scene, 900, 100, 80, 0);
    assert_finding(examine(scene, agb_examine_sharing), AGB_SUSPECT, "8.0 %|take lines");
    sample(scene, 900, 100, 1, 0);
    assert_finding(examine(scene, agb_examine_sharing), AGB_RULED_OUT, "0.10 %");
}

static void one_node_rules_remote_memory_out_and_two_are_weighed(void **state)
{
    scene *scene = *state;
    agb_evidence *evidence = &scene->evidence;
    add_thread(scene, 1.9, 0);
    assert_finding(examine(scene, agb_examine_numa), AGB_RULED_OUT, "one node");
    evidence->nodes = 2;
    snprintf(evidence->node_cpus[0], sizeof evidence->node_cpus[0], "0-1");
    snprintf(evidence->node_cpus[1], sizeof evidence->node_cpus[1], "2-3");
    assert_unseen(examine(scene, agb_examine_numa), "numa_maps", "numastat -p 50");
    evidence->footprint.has_nodes = true;
    evidence->footprint.on_node[0] = 100;
    evidence->footprint.on_node[1] = 900;
    assert_finding(examine(scene, agb_examine_numa), AGB_SUSPECT, "90 %|numactl");
    evidence->footprint.on_node[1] = 0;
    assert_finding(examine(scene, agb_examine_numa), AGB_RULED_OUT, "by estimate");
}

static void huge_pages_and_walks_are_weighed(void **state)
{
    scene *scene = *state;
    agb_footprint *footprint = &scene->evidence.footprint;
    fake_root_write(&scene->root, "/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    assert_finding(examine(scene, agb_examine_tlb), AGB_RULED_OUT, "by estimate");
    footprint->anonymous = 1 << 30;
    assert_finding(examine(scene, agb_examine_tlb), AGB_UNSEEN, "possible (estimate)|[never]|tee");
    assert_unseen(&scene->finding, "no PMU in this test", "dTLB-load-misses:u");
    footprint->huge = 1 << 30;
    assert_finding(examine(scene, agb_examine_tlb), AGB_RULED_OUT, "huge pages");
    give(scene, AGB_INSTRUCTIONS, 1e6);
    give(scene, AGB_DTLB_WALKS, 5e3);
    assert_finding(examine(scene, agb_examine_tlb), AGB_SUSPECT, "5.00 page walks in 1000");
    sample(scene, 900, 100, 0, 200);
    assert_finding(examine(scene, agb_examine_tlb), AGB_SUSPECT, "20.0 %|huge pages");
    sample(scene, 900, 100, 0, 1);
    assert_finding(examine(scene, agb_examine_tlb), AGB_RULED_OUT, "0.1 %");
    footprint->has_pages = false;
    scene->evidence.loads.tlb_known = 0;
    scene->evidence.counted = false;
    snprintf(footprint->refused, sizeof footprint->refused, "smaps_rollup: Permission denied");
    assert_unseen(examine(scene, agb_examine_tlb), "Permission denied", "/proc/50/smaps_rollup");
}

/* ---- Noise, and the whole path ----------------------------------------------------------------------------------- */

static void steal_interrupts_others_and_a_low_clock_are_noise(void **state)
{
    scene *scene = *state;
    add_thread(scene, 2, 0);
    scene->evidence.last.cpu = (agb_cpu_ticks){.user = 200, .idle = 600};
    assert_finding(examine(scene, agb_examine_noise), AGB_RULED_OUT, "stolen 0.0 %");
    assert_unseen(&scene->finding, "cpufreq", "turbostat");
    scene->task[0].ran_ns = scene->evidence.last.process.user = 0;    /* it only waited for those others */
    scene->task[0].waited_ns = 2000000000;
    scene->evidence.last.cpu = (agb_cpu_ticks){.user = 400, .softirq = 100, .idle = 250, .steal = 50};
    fake_root_write(&scene->root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq", "1500000\n");
    fake_root_write(&scene->root, "/sys/devices/system/cpu/cpu0/cpufreq/cpuinfo_max_freq", "3000000\n");
    assert_finding(examine(scene, agb_examine_noise), AGB_SUSPECT,
                   "6.2 %|12.5 %|other processes ran|clock|1500 of at most 3000 MHz");
}

static void figures_that_are_not_had_are_null_and_estimates_are_marked(void **state)
{
    scene *scene = *state;
    char *text = NULL;
    size_t length = 0;
    add_thread(scene, 1.9, 0);
    scene->evidence.subject = AGB_SUBJECT_COMMAND;
    snprintf(scene->evidence.name, sizeof scene->evidence.name, "caf\xe9");    /* no UTF-8 */
    agb_doctor_walk(&scene->evidence, &scene->diagnosis);
    assert_int_equal(scene->diagnosis.answered, -1);
    assert_non_null(strstr(scene->diagnosis.conclusion, "not seen here: IPC, slots"));
    FILE *to = open_memstream(&text, &length);
    agb_doctor_report_json(to, &scene->evidence, &scene->diagnosis);
    fclose(to);
    json_t *out = json_loads(text, 0, NULL), *doctor = json_object_get(out, "doctor");
    assert_non_null(doctor);
    json_t *steps = json_object_get(doctor, "steps"), *ipc = json_array_get(steps, 2);
    assert_int_equal(json_array_size(steps), AGB_DOCTOR_STEPS);
    assert_string_equal(json_string_value(json_object_get(ipc, "verdict")), "not seen");
    json_t *value = json_object_get(json_array_get(json_object_get(ipc, "figures"), 0), "value");
    assert_true(json_is_null(value));
    assert_true(json_is_null(json_object_get(doctor, "answered_by")));
    json_decref(out);
    free(text);
    to = open_memstream(&text, &length);
    agb_doctor_report_table(to, &scene->evidence, &scene->diagnosis);
    fclose(to);
    for (int i = 0; i < AGB_DOCTOR_STEPS; i++)
        assert_non_null(strstr(text, agb_doctor_steps[i].name));
    assert_non_null(strstr(text, "estimate"));
    assert_null(strstr(text, "nan"));
    free(text);
}

#define IN_A_SCENE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        IN_A_SCENE(sleeping_process_is_found_off_cpu_and_nothing_more_is_asked),
        IN_A_SCENE(advice_is_of_use_to_what_sleeps),
        IN_A_SCENE(process_that_waits_for_a_device_is_told_apart_from_one_that_sleeps),
        IN_A_SCENE(busy_process_rules_sleep_out),
        IN_A_SCENE(process_that_waits_for_a_processor_is_suspect_and_told_who_to_ask),
        IN_A_SCENE(process_that_works_in_the_kernel_is_suspect),
        IN_A_SCENE(wait_is_not_known_where_accounts_stand_still_but_running_is),
        IN_A_SCENE(end_of_a_command_counts_what_its_children_did),
        IN_A_SCENE(idle_machine_is_found_and_a_busy_one_is_not),
        IN_A_SCENE(quota_that_throttles_is_found),
        IN_A_SCENE(threads_that_wait_while_others_idle_are_found_pinned),
        IN_A_SCENE(pinned_without_loss_is_no_cause),
        IN_A_SCENE(unreadable_affinity_is_not_seen),
        IN_A_SCENE(without_counters_ipc_and_slots_name_the_reason_and_a_command),
        IN_A_SCENE(ipc_is_judged_by_the_machines_own_line),
        IN_A_SCENE(slots_that_wait_lead_on_and_slots_that_work_answer),
        IN_A_SCENE(sampled_loads_tell_the_level_by_their_time),
        IN_A_SCENE(few_samples_say_nothing),
        IN_A_SCENE(footprint_bounds_the_level_and_is_called_an_estimate),
        IN_A_SCENE(one_busy_thread_shares_with_nobody),
        IN_A_SCENE(one_node_rules_remote_memory_out_and_two_are_weighed),
        IN_A_SCENE(huge_pages_and_walks_are_weighed),
        IN_A_SCENE(steal_interrupts_others_and_a_low_clock_are_noise),
        IN_A_SCENE(figures_that_are_not_had_are_null_and_estimates_are_marked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
