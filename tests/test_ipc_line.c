/* SPDX-License-Identifier: MIT */
/* The line of this machine between busy and waiting: saved whole, and believed only on the machine it is of. */
#include "ipc_place.h"
#include "test.h"

#include <math.h>
#include <sys/stat.h>

static char cache[] = "/tmp/aggbench-test-XXXXXX";
static char file[64];
static const agb_machine here = {.cpu = "Some Processor", .uarch = "Zen 4", .caches = {.l3 = 64 << 20}};

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(cache));
    snprintf(file, sizeof file, "%s/aggbench/ipc-line.json", cache);
    return setenv("XDG_CACHE_HOME", cache, 1);
}

static int tear_down(void **state)
{
    char folder[64];
    (void)state;
    unlink(file);
    snprintf(folder, sizeof folder, "%s/aggbench", cache);
    rmdir(folder);
    return rmdir(cache);
}

static agb_ipc_line line_of(const agb_machine *machine)
{
    agb_ipc_line line = {.unit = AGB_IPC_PER_NS, .cpu_bound = 7.5, .memory_bound = 0.04, .midpoint = 0.55,
                         .measured_s = 1793200000};
    agb_ipc_line_machine(machine, line.machine, sizeof line.machine);
    return line;
}

static void write_file(const char *text)
{
    FILE *to = fopen(file, "w");
    assert_non_null(to);
    fputs(text, to);
    assert_int_equal(fclose(to), 0);
}

static void a_saved_line_comes_back(void **state)
{
    (void)state;
    agb_ipc_line line = line_of(&here), back;
    assert_ok(agb_ipc_line_save(&line, err));
    assert_ok(agb_ipc_line_load(&back, &here, err));
    assert_string_equal(back.machine, "Some Processor, Zen 4, L3 65536 KiB, bare metal");
    assert_int_equal(back.unit, AGB_IPC_PER_NS);
    assert_float_equal(back.cpu_bound, 7.5, 0);
    assert_float_equal(back.memory_bound, 0.04, 0);
    assert_float_equal(back.midpoint, 0.55, 0);
    assert_int_equal(back.measured_s, line.measured_s);
}

static void a_second_one_replaces_the_first(void **state)
{
    (void)state;
    agb_ipc_line line = line_of(&here), back;
    assert_ok(agb_ipc_line_save(&line, err));
    line.unit = AGB_IPC_PER_CYCLE;
    line.cpu_bound = 3;
    assert_ok(agb_ipc_line_save(&line, err));
    assert_ok(agb_ipc_line_load(&back, &here, err));
    assert_int_equal(back.unit, AGB_IPC_PER_CYCLE);
    assert_float_equal(back.cpu_bound, 3, 0);
}

static void another_machine_is_refused_by_name(void **state)
{
    (void)state;
    agb_machine other = here;
    agb_ipc_line line = line_of(&here), back;
    assert_ok(agb_ipc_line_save(&line, err));
    snprintf(other.hypervisor, sizeof other.hypervisor, "KVM");
    assert_fails(AGB_ERR_UNSUPPORTED, "another machine|bare metal|KVM|lab calibrate",
                 agb_ipc_line_load(&back, &other, err));
    line.machine[0] = '\033';
    assert_ok(agb_ipc_line_save(&line, err));
    assert_fails(AGB_ERR_UNSUPPORTED, "\\x1b", agb_ipc_line_load(&back, &here, err));
}

static void none_yet_says_how_to_get_one(void **state)
{
    (void)state;
    agb_ipc_line back;
    unlink(file);
    assert_fails(AGB_ERR_NOT_FOUND, "there is none yet|lab calibrate|ipc-line.json",
                 agb_ipc_line_load(&back, &here, err));
}

static void damaged_files_are_refused(void **state)
{
    (void)state;
    static const char *const damaged[] = {
        "", "{", "[]", "{\"aggbench_ipc_line\": 2}",
        "{\"aggbench_ipc_line\": 1, \"machine\": 4, \"unit\": \"ipc\", \"measured\": \"2026-11-30T14:00:00Z\"}",
        "{\"aggbench_ipc_line\": 1, \"machine\": \"m\", \"unit\": \"ipc\", \"measured\": \"yesterday\", "
        "\"cpu_bound\": 3, \"memory_bound\": 1, \"midpoint\": 2}",
        "{\"aggbench_ipc_line\": 1, \"machine\": \"m\", \"unit\": \"cpi\", \"measured\": \"2026-11-30T14:00:00Z\", "
        "\"cpu_bound\": 3, \"memory_bound\": 1, \"midpoint\": 2}",
        "{\"aggbench_ipc_line\": 1, \"machine\": \"m\", \"unit\": \"ipc\", \"measured\": \"2026-11-30T14:00:00Z\", "
        "\"cpu_bound\": 3, \"memory_bound\": 1, \"midpoint\": 4}",
        "{\"aggbench_ipc_line\": 1, \"machine\": \"m\", \"unit\": \"ipc\", \"measured\": \"2026-11-30T14:00:00Z\", "
        "\"cpu_bound\": \"3\", \"memory_bound\": 1, \"midpoint\": 2}",
        "{\"aggbench_ipc_line\": 1, \"aggbench_ipc_line\": 1}"};
    agb_ipc_line line = line_of(&here), back;
    assert_ok(agb_ipc_line_save(&line, err));
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        write_file(damaged[i]);
        assert_fails(AGB_ERR_FORMAT, "damaged|lab calibrate|ipc-line.json", agb_ipc_line_load(&back, &here, err));
    }
}

static void what_is_no_line_is_not_saved(void **state)
{
    (void)state;
    agb_ipc_line good = line_of(&here), line = good, back;
    assert_ok(agb_ipc_line_save(&good, err));
    line.midpoint = line.cpu_bound;
    assert_fails(AGB_ERR_ARGUMENT, "no line|7.5", agb_ipc_line_save(&line, err));
    line = good;
    line.memory_bound = NAN;
    assert_fails(AGB_ERR_ARGUMENT, "no line", agb_ipc_line_save(&line, err));
    assert_ok(agb_ipc_line_load(&back, &here, err));
}

static void the_place_follows_the_environment(void **state)
{
    (void)state;
    char path[64], *home = getenv("HOME") ? strdup(getenv("HOME")) : NULL;
    setenv("HOME", "/home/x", 1);
    setenv("XDG_CACHE_HOME", "relative", 1);
    assert_ok(agb_ipc_line_path(path, sizeof path, err));
    assert_string_equal(path, "/home/x/.cache/aggbench/ipc-line.json");
    assert_fails(AGB_ERR_ARGUMENT, "too long", agb_ipc_line_path(path, 20, err));
    unsetenv("HOME");
    assert_fails(AGB_ERR_NOT_FOUND, "XDG_CACHE_HOME|HOME|set one", agb_ipc_line_path(path, sizeof path, err));
    if (home)
        setenv("HOME", home, 1);
    free(home);
    setenv("XDG_CACHE_HOME", "/proc/self/nowhere", 1);
    agb_ipc_line line = line_of(&here);
    assert_fails(AGB_ERR_IO, "writing /proc/self/nowhere", agb_ipc_line_save(&line, err));
    setenv("XDG_CACHE_HOME", cache, 1);
}

/* ---- Where a strategy stands against it -------------------------------------------------------------------------- */

static agb_result counted(double ipc, double ghz)
{
    agb_result result = {.state = AGB_STATE_OK, .name = "naive", .params = "", .ns_per_row = 10, .stats.workers = 1};
    result.metrics.has[AGB_IPC] = result.metrics.has[AGB_GHZ] = ipc > 0;
    result.metrics.value[AGB_IPC] = ipc;
    result.metrics.value[AGB_GHZ] = ghz;
    return result;
}

static void counted_instructions_stand_against_either_unit(void **state)
{
    (void)state;
    agb_ipc_line line = line_of(&here);
    agb_results results = {.ipc_line = &line, .support.available = true};
    agb_result slow = counted(0.1, 3), fast = counted(2, 3);
    agb_ipc_place place = agb_ipc_place_of(&results, &fast);
    assert_true(place.has && !place.simulated && place.value == 6);    /* a nanosecond: 2 a cycle at 3 GHz */
    assert_string_equal(agb_ipc_side(&line, place.value), "nearer to computing");
    place = agb_ipc_place_of(&results, &slow);
    assert_string_equal(agb_ipc_side(&line, place.value), "nearer to waiting");
    line.unit = AGB_IPC_PER_CYCLE;
    assert_true(agb_ipc_place_of(&results, &fast).value == 2);
    assert_string_equal(agb_ipc_side(&line, 7.6), "beyond computing");
    assert_string_equal(agb_ipc_side(&line, 0.01), "below waiting");
}

static void without_a_pmu_a_simulation_stands_in_and_is_called_so(void **state)
{
    (void)state;
    agb_ipc_line line = line_of(&here);
    agb_results results = {.ipc_line = &line, .support.reason = "no PMU here"};
    agb_result result = counted(0, 0);
    agb_ipc_place place = agb_ipc_place_of(&results, &result);
    assert_false(place.has);
    assert_string_equal(place.reason,
                        "instructions are not counted: no PMU here; --counters simulate stands in for them");
    result.simulation = (agb_simulation){.has = true, .rows = 100, .instructions = 5000};
    place = agb_ipc_place_of(&results, &result);
    assert_true(place.has && place.simulated && place.value == 5);    /* 50 a row in 10 ns */
    result.stats.workers = 2;    /* their nanoseconds overlap */
    place = agb_ipc_place_of(&results, &result);
    assert_false(place.has);
    assert_non_null(strstr(place.reason, "one thread only"));
    line.unit = AGB_IPC_PER_CYCLE;
    result.stats.workers = 1;
    place = agb_ipc_place_of(&results, &result);
    assert_false(place.has);
    assert_string_equal(place.reason, "instructions and cycles are not counted: no PMU here");
}

static void replayed_counts_are_not_of_the_machine_of_the_line(void **state)
{
    (void)state;
    agb_ipc_line line = line_of(&here);
    line.unit = AGB_IPC_PER_CYCLE;
    agb_results results = {.ipc_line = &line, .replay = (const agb_replay *)"", .support.available = true};
    agb_result result = counted(2, 3);
    agb_ipc_place place = agb_ipc_place_of(&results, &result);
    assert_false(place.has);
    assert_non_null(strstr(place.reason, "replayed"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_line_comes_back),
        cmocka_unit_test(a_second_one_replaces_the_first),
        cmocka_unit_test(another_machine_is_refused_by_name),
        cmocka_unit_test(none_yet_says_how_to_get_one),
        cmocka_unit_test(damaged_files_are_refused),
        cmocka_unit_test(what_is_no_line_is_not_saved),
        cmocka_unit_test(the_place_follows_the_environment),
        cmocka_unit_test(counted_instructions_stand_against_either_unit),
        cmocka_unit_test(without_a_pmu_a_simulation_stands_in_and_is_called_so),
        cmocka_unit_test(replayed_counts_are_not_of_the_machine_of_the_line),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
