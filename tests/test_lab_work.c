/* SPDX-License-Identifier: MIT */
/* What labs measure with: teams with one start and one window, turns, disturbances; and labs on a tree of /proc and
 * /sys of their own. Their loops: test_lab_loops.c. */
#include "disturbance.h"
#include "fake_root.h"
#include "lab_team.h"
#include "lab_turns.h"
#include "nodes.h"
#include "page_settings.h"
#include "process.h"

#include <math.h>
#include <time.h>

extern const agb_lab agb_lab_numa;

static void pause_s(double seconds)
{
    struct timespec time = {.tv_nsec = (long)(seconds * 1e9)};
    nanosleep(&time, NULL);
}

/* ---- Teams and rates --------------------------------------------------------------------------------------------- */

static void late_second(void *context, unsigned worker)
{
    if (worker == 1)
        pause_s(*(const double *)context);
}

static void a_delayed_worker_lowers_the_total(void **state)
{
    (void)state;
    agb_pool *pool;
    double none_s = 0, delay_s = 0.05, quick, slow;
    assert_ok(agb_pool_create(&pool, 2, NULL, err));
    double together_s = agb_team_wall_s(pool, 2, late_second, &none_s);
    double delayed_s = agb_team_wall_s(pool, 2, late_second, &delay_s);
    agb_pool_destroy(pool);
    assert_true(delayed_s >= 0.05);    /* one window around both: the first one's own rate does not count */
    assert_ok(agb_lab_rate(1e9, together_s, "test", &quick, err));
    assert_ok(agb_lab_rate(1e9, delayed_s, "test", &slow, err));
    assert_true(slow <= 1e9 / 0.05);
}

static void count_worker(void *context, unsigned worker)
{
    __atomic_fetch_add((unsigned *)context + worker, 1, __ATOMIC_RELAXED);
}

static void only_the_active_workers_of_a_team_work_and_each_once(void **state)
{
    (void)state;
    agb_pool *pool;
    unsigned calls[4] = {0};
    assert_ok(agb_pool_create(&pool, 4, NULL, err));
    assert_true(agb_team_wall_s(pool, 3, count_worker, calls) >= 0);
    agb_pool_destroy(pool);
    assert_true(calls[0] == 1 && calls[1] == 1 && calls[2] == 1 && calls[3] == 0);
}

static void zero_elapsed_is_a_named_error_and_never_infinite(void **state)
{
    (void)state;
    double rate = 1;
    assert_fails(AGB_ERR_UNSUPPORTED, "copy|no time", agb_lab_rate(1e9, 0, "copy", &rate, err));
    assert_true(isnan(rate));
    assert_fails(AGB_ERR_UNSUPPORTED, "no time", agb_lab_rate(1e9, -1e-9, "copy", &rate, err));
    assert_fails(AGB_ERR_UNSUPPORTED, "no time", agb_lab_rate(1e300, 1e-300, "copy", &rate, err));
}

static void worker_counts_rise_from_one_to_all(void **state)
{
    (void)state;
    for (unsigned most = 1; most <= 300; most++) {
        unsigned counts[16];
        size_t n = agb_lab_worker_counts(most, counts);
        assert_in_range(n, 1, 12);
        assert_int_equal(counts[0], 1);
        assert_int_equal(counts[n - 1], most);
        for (size_t i = 1; i < n; i++)
            assert_true(counts[i] > counts[i - 1]);
    }
}

/* ---- A run with nothing around it -------------------------------------------------------------------------------- */

typedef struct bench {
    agb_options options;
    agb_command command;
    agb_machine machine;
    agb_lab_record record;
    agb_lab_run run;
} bench;

static const char *const no_options[] = {NULL};
static const agb_lab nothing = {.name = "nothing"};

static void bench_begin(bench *bench, const char *root)
{
    *bench = (struct bench){.command = {.name = "lab", .options = no_options}, .record = {.lab = &nothing}};
    bench->options.command = &bench->command;
    agb_machine_read(&bench->machine);
    bench->run = (agb_lab_run){.options = &bench->options, .machine = &bench->machine, .root = root,
                               .record = &bench->record};
}

static void pins_that_are_not_allowed_are_refused_and_more_threads_only_noted(void **state)
{
    (void)state;
    bench bench;
    agb_lab_crew crew;
    bench_begin(&bench, "");
    bench.options.pins = (agb_pins){.cpu = {1 << 19}, .n = 1};
    assert_fails(AGB_ERR_ARGUMENT, "--pin|allowed are", agb_lab_crew_of(&bench.run, &crew, err));
    assert_fails(AGB_ERR_ARGUMENT, "--pin|allowed are", agb_lab_pin_self(&bench.run, err));
    bench.options.pins.n = 0;
    assert_ok(agb_lab_crew_of(&bench.run, &crew, err));
    assert_int_equal(crew.threads, bench.machine.cores);
    assert_int_equal(bench.record.n_notes, 0);
    bench.options.threads = 1000;
    assert_ok(agb_lab_crew_of(&bench.run, &crew, err));
    assert_int_equal(crew.threads, 1000);
    assert_int_equal(crew.pins.n, 0);
    assert_int_equal(bench.record.n_notes, 1);
    assert_non_null(strstr(bench.record.notes[0], "1000 threads share"));
    agb_lab_record_release(&bench.record);
}

/* ---- Turns ------------------------------------------------------------------------------------------------------- */

typedef struct turns_seen {
    size_t order[64], n;
    const fake_root *root;       /* in which waiting grows whenever trial 1 is measured */
    unsigned waited_ms;
} turns_seen;

static agb_status see_turn(void *context, size_t trial, double *value, agb_error *err)
{
    turns_seen *seen = context;
    (void)err;
    seen->order[seen->n++] = trial;
    *value = (double)(trial * 100 + seen->n);
    if (seen->root && trial == 1) {
        char text[64];
        seen->waited_ms += 1000;
        snprintf(text, sizeof text, "900000000 %u000000 7\n", seen->waited_ms);
        fake_root_write(seen->root, "/proc/self/task/1/schedstat", text);
    }
    return AGB_OK;
}

static void every_trial_has_one_turn_in_each_round(void **state)
{
    (void)state;
    enum { TRIALS = 4, ROUNDS = 5 };
    bench bench;
    turns_seen seen = {0};
    agb_lab_point points[TRIALS] = {{0}};
    bench_begin(&bench, "/nowhere");
    agb_lab_turns turns = {.what = "", .trials = TRIALS, .repetitions = ROUNDS, .threads = 1, .measure = see_turn,
                           .context = &seen};
    assert_ok(agb_lab_take_turns(&bench.run, &turns, points, err));
    assert_int_equal(seen.n, TRIALS * ROUNDS);
    bool shuffled = false;
    for (size_t round = 0; round < ROUNDS; round++) {
        unsigned had = 0;
        for (size_t i = 0; i < TRIALS; i++) {
            had |= 1u << seen.order[round * TRIALS + i];
            shuffled |= seen.order[round * TRIALS + i] != i;
        }
        assert_int_equal(had, (1u << TRIALS) - 1);
    }
    assert_true(shuffled);
    for (size_t i = 0; i < TRIALS; i++) {
        assert_true(points[i].low <= points[i].y && points[i].y <= points[i].high);
        assert_false(points[i].noisy);
    }
}

static void a_point_whose_worker_waited_is_noisy_and_no_other(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/self/task/1/schedstat", "900000000 0 7\n");
    bench bench;
    turns_seen seen = {.root = &root};
    agb_lab_point points[2] = {{0}};
    bench_begin(&bench, root.path);
    agb_lab_turns turns = {.what = "", .trials = 1, .repetitions = 3, .threads = 1, .measure = see_turn,
                           .context = &seen};
    assert_ok(agb_lab_take_turns(&bench.run, &turns, points, err));    /* trial 0 never waits */
    assert_false(points[0].noisy);
    turns.trials = 2;
    assert_ok(agb_lab_take_turns(&bench.run, &turns, points, err));
    assert_true(points[1].noisy);
    fake_root_destroy(&root);
}

static agb_status fail_turn(void *context, size_t trial, double *value, agb_error *err)
{
    (void)context;
    (void)trial;
    return agb_lab_rate(1, 0, "fake", value, err);
}

static void a_failed_turn_ends_them_all_with_its_sentence(void **state)
{
    (void)state;
    bench bench;
    agb_lab_point point = {0};
    bench_begin(&bench, "/nowhere");
    agb_lab_turns turns = {.what = "", .trials = 1, .repetitions = 3, .threads = 1, .measure = fail_turn};
    assert_fails(AGB_ERR_UNSUPPORTED, "fake|no time", agb_lab_take_turns(&bench.run, &turns, &point, err));
}

/* ---- Disturbances ------------------------------------------------------------------------------------------------ */

static void waiting_stealing_and_others_at_work_disturb(void **state)
{
    (void)state;
    double cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    agb_disturbance before = {.at_s = 100, .cpu_s = 5, .waited_s = 1, .stolen_s = 1, .busy_s = 50};
    agb_disturbance after = before;
    after.at_s += 1;
    after.cpu_s += 1;
    after.busy_s += 1;
    assert_false(agb_disturbance_between(&before, &after, 1));
    after.waited_s += 0.03;
    assert_true(agb_disturbance_between(&before, &after, 1));
    assert_false(agb_disturbance_between(&before, &after, 2));    /* 1.5 % of two threads' time */
    after.waited_s = before.waited_s;
    after.stolen_s += 0.03;
    assert_true(agb_disturbance_between(&before, &after, 1));
    after.stolen_s = before.stolen_s;
    after.busy_s += 0.06 * cores;
    assert_true(agb_disturbance_between(&before, &after, 1));
}

static void what_the_kernel_does_not_tell_or_takes_back_does_not_disturb(void **state)
{
    (void)state;
    agb_disturbance unknown = {.at_s = 100, .waited_s = -1, .stolen_s = -1, .busy_s = -1}, after = unknown;
    after.at_s += 1;
    assert_false(agb_disturbance_between(&unknown, &after, 1));
    agb_disturbance before = {.at_s = 100, .cpu_s = 5, .waited_s = 1e6, .stolen_s = 1e6, .busy_s = 1e6};
    after = (agb_disturbance){.at_s = 101, .cpu_s = 6, .waited_s = 0, .stolen_s = 0, .busy_s = 0};
    assert_false(agb_disturbance_between(&before, &after, 1));
}

static void ticks_are_not_judged_over_a_short_time(void **state)
{
    (void)state;
    agb_disturbance before = {.at_s = 100}, after = {.at_s = 100.05, .stolen_s = 0.01, .busy_s = 0.06};
    assert_false(agb_disturbance_between(&before, &after, 1));
}

static void throttled_time_comes_from_either_version_of_control_groups(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    assert_true(agb_machine_throttled_s(root.path) < 0);
    fake_root_write(&root, "/proc/self/cgroup", "3:cpu:/job\n");
    fake_root_write(&root, "/sys/fs/cgroup/cpu/job/cpu.stat",
                    "nr_periods 9\nnr_throttled 3\nthrottled_time 250000000\n");
    assert_true(agb_machine_throttled_s(root.path) == 0.25);
    fake_root_write(&root, "/proc/self/cgroup", "0::/job\n");
    fake_root_write(&root, "/sys/fs/cgroup/job/cpu.stat", "usage_usec 5\nnr_throttled 3\nthrottled_usec 1500000\n");
    assert_true(agb_machine_throttled_s(root.path) == 1.5);
    fake_root_destroy(&root);
}

/* ---- Trees of /proc and /sys ------------------------------------------------------------------------------------- */

static void add_node(const fake_root *root, int number, const char *cpus, const char *distance)
{
    char path[96], text[256];
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", number);
    fake_root_write(root, path, cpus);
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/distance", number);
    fake_root_write(root, path, distance);
    snprintf(path, sizeof path, "/sys/devices/system/node/node%d/meminfo", number);
    snprintf(text, sizeof text, "Node %d MemTotal:       8388608 kB\nNode %d MemFree:        4194304 kB\n", number,
             number);
    fake_root_write(root, path, text);
}

static void nodes_are_read_with_gaps_and_without_processors(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    agb_nodes nodes;
    agb_nodes_read(root.path, &nodes);
    assert_int_equal(nodes.n, 0);
    fake_root_write(&root, "/sys/devices/system/node/online", "0,2\n");
    add_node(&root, 0, "0-4095\n", "10 32\n");
    add_node(&root, 2, "\n", "32 10\n");
    agb_nodes_read(root.path, &nodes);
    assert_int_equal(nodes.n, 2);
    assert_int_equal(nodes.node[1].number, 2);
    assert_int_equal(nodes.node[1].n_cpus, 0);
    assert_int_equal(nodes.node[1].distance[0], 32);
    assert_true(nodes.node[0].n_cpus >= 1);
    assert_true(nodes.node[0].memory_bytes == 8ull << 30 && nodes.node[0].free_bytes == 4ull << 30);
    fake_root_destroy(&root);
}

static bool found(const agb_lab_record *record, const char *words)
{
    for (size_t i = 0; i < record->n_findings; i++)
        if (strstr(record->findings[i], words))
            return true;
    for (size_t i = 0; i < record->n_notes; i++)
        if (strstr(record->notes[i], words))
            return true;
    return false;
}

static void one_node_says_that_it_cannot_show_remote_memory(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    bench bench;
    fake_root_write(&root, "/sys/devices/system/node/online", "0\n");
    add_node(&root, 0, "0-1\n", "10\n");
    bench_begin(&bench, root.path);
    assert_ok(agb_lab_perform(&bench.run, &agb_lab_numa, err));
    assert_true(found(&bench.record, "this machine has one node"));
    assert_true(found(&bench.record, "on two nodes or more it would"));
    assert_int_equal(bench.record.tables[0].n_rows, 1);
    assert_int_equal(bench.record.n_charts, 0);
    agb_lab_record_release(&bench.record);
    fake_root_destroy(&root);
}

/* The tree claims a second node, number 13, that this machine does not have: its memory is refused, and said. */
static void two_nodes_are_measured_and_memory_that_is_refused_is_said(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    bench bench;
    fake_root_write(&root, "/sys/devices/system/node/online", "0,13\n");
    add_node(&root, 0, "0-4095\n", "10 21\n");
    add_node(&root, 13, "\n", "21 10\n");
    bench_begin(&bench, root.path);
    bench.options.working_set = 1 << 20;
    assert_ok(agb_lab_perform(&bench.run, &agb_lab_numa, err));
    assert_int_equal(bench.record.n_tables, 2);
    assert_int_equal(bench.record.tables[1].n_rows, 2);
    if (!found(&bench.record, "node 0 gives no memory")) {    /* some sandboxes have no mbind at all */
        assert_true(bench.record.tables[1].cells[3].number > 0);
        assert_true(bench.record.tables[1].cells[4].number > 0);
        assert_true(found(&bench.record, "first touch"));
    }
    assert_true(isnan(bench.record.tables[1].cells[5 + 3].number));
    assert_true(found(&bench.record, "node 13 gives no memory"));
    agb_lab_record_release(&bench.record);
    fake_root_destroy(&root);
}

static void settings_of_huge_pages_come_with_their_meaning(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    agb_lab_record record = {.lab = &nothing};
    fake_root_write(&root, "/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]\n");
    fake_root_write(&root, "/sys/kernel/mm/transparent_hugepage/defrag",
                    "always defer [defer+madvise] madvise never\n");
    fake_root_write(&root, "/proc/sys/vm/nr_hugepages", "512\n");
    fake_root_write(&root, "/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "500\n");
    assert_ok(agb_page_settings_add(&record, root.path, err));
    const agb_lab_cell *cells = record.tables[0].cells;
    assert_string_equal(cells[1].text, "never");
    assert_non_null(strstr(cells[2].text, "no memory gets huge pages"));
    assert_string_equal(cells[4].text, "defer+madvise");
    assert_string_equal(cells[7].text, "-");
    assert_non_null(strstr(cells[8].text, "no such file"));
    assert_string_equal(cells[10].text, "512");
    assert_int_equal(agb_page_settings_free(root.path), 500);
    agb_lab_record_release(&record);
    fake_root_destroy(&root);
}

static void explicit_pages_are_refused_when_the_pool_is_empty(void **state)
{
    (void)state;
    if (agb_page_settings_free("") > 0)
        skip();    /* a machine whose pool is in use for something else */
    agb_memory_options options = {.pages = AGB_PAGES_EXPLICIT};
    agb_memory *memory;
    agb_registry *registry;
    agb_sink *sink;
    agb_table *table;
    static const uint64_t keys[] = {1, 2, 2};
    assert_ok(agb_memory_create(&memory, &options, err));
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_sink_collect(&sink, err));
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "k", AGB_TYPE_UINT64, keys, 3, err));
    agb_plan plan = {.table = table, .column = "k", .memory = memory,
                     .aggregator = agb_registry_find_aggregator(registry, "naive")};
    assert_fails(AGB_ERR_MEMORY, "", agb_count_groups(&plan, sink, NULL, err));
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    agb_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_delayed_worker_lowers_the_total),
        cmocka_unit_test(only_the_active_workers_of_a_team_work_and_each_once),
        cmocka_unit_test(zero_elapsed_is_a_named_error_and_never_infinite),
        cmocka_unit_test(worker_counts_rise_from_one_to_all),
        cmocka_unit_test(pins_that_are_not_allowed_are_refused_and_more_threads_only_noted),
        cmocka_unit_test(every_trial_has_one_turn_in_each_round),
        cmocka_unit_test(a_point_whose_worker_waited_is_noisy_and_no_other),
        cmocka_unit_test(a_failed_turn_ends_them_all_with_its_sentence),
        cmocka_unit_test(waiting_stealing_and_others_at_work_disturb),
        cmocka_unit_test(what_the_kernel_does_not_tell_or_takes_back_does_not_disturb),
        cmocka_unit_test(ticks_are_not_judged_over_a_short_time),
        cmocka_unit_test(throttled_time_comes_from_either_version_of_control_groups),
        cmocka_unit_test(nodes_are_read_with_gaps_and_without_processors),
        cmocka_unit_test(one_node_says_that_it_cannot_show_remote_memory),
        cmocka_unit_test(two_nodes_are_measured_and_memory_that_is_refused_is_said),
        cmocka_unit_test(settings_of_huge_pages_come_with_their_meaning),
        cmocka_unit_test(explicit_pages_are_refused_when_the_pool_is_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
