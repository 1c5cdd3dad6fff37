/* SPDX-License-Identifier: MIT */
/* Recorded counts: read with every check there is, written and read again, judged like counts of this machine. */
#include "recorded.h"

#include "replay.h"

static const char golden[] = "tests/replay/pivot_zen4.json";

static agb_metrics metrics_of_row(const agb_replay *replay, const char *aggregator, int phase)
{
    agb_metrics metrics;
    const agb_replay_row *row = agb_replay_find(replay, aggregator, "");
    assert_non_null(row);
    agb_metrics_compute(&replay->support, row->repetitions, row->n, phase, &metrics);
    return metrics;
}

static void the_published_experiment_replays_to_its_published_figures(void **state)
{
    (void)state;
    agb_replay replay;
    assert_ok(agb_replay_load(&replay, golden, err));
    agb_metrics naive = metrics_of_row(&replay, "naive", -1), radix = metrics_of_row(&replay, "radix", -1);
    check(&naive, AGB_RETIRING_PCT, 16.1);
    check(&naive, AGB_MEMORY_BOUND_PCT, 50.1);
    check(&radix, AGB_RETIRING_PCT, 32.2);
    check(&radix, AGB_MEMORY_BOUND_PCT, 23.5);
    assert_true(naive.value[AGB_OPS_RETIRED] == 11431618219.0);
    assert_true(radix.value[AGB_OPS_RETIRED] == 19350459182.0);
    assert_true(naive.value[AGB_DRAM_DEMAND_BYTES] == 4.5e9 && radix.value[AGB_DRAM_DEMAND_BYTES] == 1.5e9);
    assert_non_null(strstr(naive.reason, "the run was disturbed"));
    assert_string_equal(replay.support.processor, "AMD EPYC 9124");
    agb_replay_release(&replay);
}

static void phases_and_threads_add_up_to_the_whole(void **state)
{
    (void)state;
    agb_replay replay;
    assert_ok(agb_replay_load(&replay, golden, err));
    const agb_replay_row *row = agb_replay_find(&replay, "radix", "");
    agb_metrics whole = metrics_of_row(&replay, "radix", -1), one = metrics_of_row(&replay, "radix", 0);
    agb_metrics two = metrics_of_row(&replay, "radix", 1), thread[2];
    assert_true(one.value[AGB_CYCLES] + two.value[AGB_CYCLES] == whole.value[AGB_CYCLES]);
    for (unsigned i = 0; i < 2; i++)
        agb_metrics_compute_thread(&replay.support, row->repetitions, row->n, i, &thread[i]);
    assert_true(thread[0].value[AGB_CYCLES] + thread[1].value[AGB_CYCLES] == whole.value[AGB_CYCLES]);
    check(&thread[1], AGB_RETIRING_PCT, whole.value[AGB_RETIRING_PCT]);
    assert_null(agb_replay_find(&replay, "radix", "bits=4"));
    assert_null(agb_replay_find(&replay, "runs", ""));
    agb_replay_release(&replay);
}

/* ---- Bad files --------------------------------------------------------------------------------------------------- */

static void refuse(const char *text, const char *words)
{
    char path[] = "/tmp/agb_replay_XXXXXX";
    int file = mkstemp(path);
    agb_replay replay;
    assert_true(write(file, text, strlen(text)) == (ssize_t)strlen(text));
    close(file);
    assert_fails(AGB_ERR_FORMAT, words, agb_replay_load(&replay, path, err));
    assert_null(replay.rows);
    unlink(path);
}

#define HEAD "{\"aggbench_counts\": 1, \"family\": \"zen4\", \"results\": [{\"aggregator\": \"naive\", "
#define ZEN4 "{\"aggbench_counts\": 1, \"family\": \"zen4\", "
#define TIMES "\"enabled_ns\": 5, \"running_ns\": 5, "

static void bad_files_are_refused_with_the_place_in_them(void **state)
{
    (void)state;
    agb_replay replay;
    assert_fails(AGB_ERR_IO, "/nonexistent.json|No such file", agb_replay_load(&replay, "/nonexistent.json", err));
    assert_fails(AGB_ERR_IO, "/tmp|cannot be read|Is a directory", agb_replay_load(&replay, "/tmp", err));
    refuse("", "line 1|not JSON");
    refuse("{\"a\":\n 1,}", "line 2|not JSON");
    refuse("{}", "not a file of counts|aggbench_counts|--record");
    refuse("{\"aggbench_counts\": 2, \"results\": [{}]}", "aggbench_counts");
    refuse("{\"aggbench_counts\": 1, \"results\": [{}]}", "family (missing)");
    refuse("{\"aggbench_counts\": 1, \"family\": \"zen44\", \"results\": [{}]}", "family zen44|did you mean zen4|list");
    refuse(ZEN4 "\"results\": [{}]}", "result 1|aggregator|repetitions");
    refuse("{\"aggbench_counts\": 1, \"family\": 4, \"results\": [{}]}", "family: wanted a text");
    refuse(ZEN4 "\"results\": []}", "results: the list is empty");
    refuse(ZEN4 "\"switch_ns\": -1, \"results\": [{}]}", "switch_ns|0 or more");
    refuse(ZEN4 "\"switch_ns\": \"1\", \"results\": [{}]}", "switch_ns|number");
    refuse(ZEN4 "\"processor\": 9124, \"results\": [{}]}", "processor|text");
    refuse(ZEN4 "\"about\": [], \"results\": [{}]}", "about: wanted a text");
    refuse("{\"aggbench_counts\": 1,\n \"family\": \"zen4\", \"family\": \"zen5\"}", "line 2|duplicate|family");
    refuse(HEAD "\"params\": 12, \"repetitions\": [{}]}]}", "params|bits=12");
    refuse(HEAD "\"repetitions\": [{\"reason\": \"x\"}]}, {\"aggregator\": \"naive\", \"repetitions\": [{}]}]}",
           "result 2|naive|second time");
    refuse(HEAD "\"repetitions\": []}]}", "result 1|repetitions");
    refuse(HEAD "\"repetitions\": [{}]}]}", "repetition 1|pass (missing)|slots");
    refuse(HEAD "\"repetitions\": [{\"reason\": \"x\"}, {\"pass\": \"slot\"}]}]}", "repetition 2|pass slot|slots");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\"}]}]}", "enabled_ns|whole number");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\", " TIMES "\"counts\": 3}]}]}", "counts|object");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\", " TIMES "\"counts\": {\"CYC\": -1}}]}]}", "CYC|0 or more");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\", " TIMES "\"counts\": {\"CYC\": 1.5}}]}]}", "CYC|whole number");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\", " TIMES
                "\"counts\": {\"CYC\": 1, \"OPS\": 1, \"BE\": 1, \"LDNC\": 1, \"NC\": 1, \"MORE\": 1}}]}]}",
           "has 6 events|slots has 5");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\", " TIMES
                "\"counts\": {\"CYC\": 1, \"OPS\": 1, \"BE\": 1, \"LDNC\": 1, \"NC\": 1}, "
                "\"phases\": [1,2,3,4,5,6,7,8,9]}]}]}",
           "phases|has 9 entries|0..8");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\", " TIMES
                "\"counts\": {\"CYC\": 1, \"OPS\": 1, \"BE\": 1, \"LDNC\": 1, \"NC\": 1}, \"threads\": [{}]}]}]}",
           "enabled_ns");
    refuse(HEAD "\"phases\": \"build\", \"repetitions\": [{}]}]}", "phases: wanted a list of 0..8 names");
    refuse(HEAD "\"phases\": [\"build\", 7], \"repetitions\": [{}]}]}", "phases: name 2: wanted a text");
}

static void unknown_keys_are_refused_by_name(void **state)
{
    (void)state;
    refuse(ZEN4 "\"proccessor\": \"x\", \"results\": [{}]}", "proccessor: no such key: did you mean processor");
    refuse(HEAD "\"repetitons\": [{\"reason\": \"x\"}]}]}",
           "result 1|repetitons: no such key: did you mean repetitions");
    refuse(HEAD "\"repetitions\": [{\"reason\": \"x\"}, {\"reason\": \"x\", \"note\": 1}]}]}",
           "repetition 2|note: no such key");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\", \"thread\": []}]}]}",
           "thread: no such key: did you mean threads");
    refuse(HEAD "\"repetitions\": [{\"pass\": \"slots\", " TIMES
                "\"counts\": {\"CYC\": 1, \"OPS\": 1, \"BE\": 1, \"LDNC\": 1, \"NC\": 1}, "
                "\"phases\": [{\"pass\": \"slots\"}]}]}]}", "repetition 1|pass: no such key");
}

#define COUNTS(cycles) "\"counts\": {\"CYC\": " cycles ", \"OPS\": 1, \"BE\": 1, \"LDNC\": 1, \"NC\": 1}"

#define SLOTS_9 HEAD "\"repetitions\": [{\"pass\": \"slots\", " TIMES COUNTS("9") ", "

static void parts_above_their_whole_are_refused(void **state)
{
    (void)state;
    refuse(SLOTS_9 "\"phases\": [{" TIMES COUNTS("10") "}]}]}]}", "repetition 1|phases: CYC|more than the whole's 9");
    refuse(SLOTS_9 "\"threads\": [{" TIMES COUNTS("5") "}, {\"enabled_ns\": 0, \"running_ns\": 0, "
           COUNTS("5") "}]}]}]}",
           "threads: CYC|more than the whole's 9");
    refuse(SLOTS_9 "\"threads\": [{" TIMES COUNTS("4") "}, {" TIMES COUNTS("4") "}]}]}]}",
           "threads: enabled_ns|more than the whole's 5");
}

static void phases_are_known_by_their_names(void **state)
{
    (void)state;
    agb_replay replay;
    assert_ok(agb_replay_load(&replay, golden, err));
    const agb_replay_row *row = agb_replay_find(&replay, "radix", "");
    assert_true(agb_replay_names_phases(row, (const char *const[]){"partition", "aggregate", NULL}));
    assert_true(agb_replay_names_phases(row, (const char *const[]){"partition", "aggregate", "more", NULL}));
    assert_false(agb_replay_names_phases(row, (const char *const[]){"aggregate", "partition", NULL}));
    assert_false(agb_replay_names_phases(row, (const char *const[]){"partition", NULL}));
    agb_replay_release(&replay);
}

static void counts_that_did_not_run_all_the_time_are_refused_in_a_replay_too(void **state)
{
    (void)state;
    char path[] = "/tmp/agb_replay_XXXXXX";
    agb_replay replay;
    int file = mkstemp(path);
    dprintf(file, HEAD "\"repetitions\": [{\"pass\": \"slots\", \"enabled_ns\": 1000000000, \"running_ns\": 300000000, "
                       "\"counts\": {\"CYC\": 3000000000, \"OPS\": 1, \"BE\": 1, \"LDNC\": 1, \"NC\": 1}}]}]}");
    close(file);
    assert_ok(agb_replay_load(&replay, path, err));
    unlink(path);
    agb_metrics metrics = metrics_of_row(&replay, "naive", -1);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "30 %");
    agb_replay_release(&replay);
}

/* ---- Recording --------------------------------------------------------------------------------------------------- */

static const char *const phases[] = {"build", NULL};
static const agb_aggregator recorded_aggregator = {.name = "naive", .phases = phases};

static void what_is_recorded_is_replayed(void **state)
{
    (void)state;
    char path[] = "/tmp/agb_record_XXXXXX";
    close(mkstemp(path));
    const agb_slots *family = family_named("zen4");
    agb_run runs[3] = {{.warmup = true}};
    runs[1].counts = repetition_of(family, pass_named(family, "slots"),
                                   (count[]){{"CYC", 4e9}, {"OPS", 8e9}, {"BE", 3e9}, {"LDNC", 1}, {"NC", 2}, {0}});
    runs[1].counts.phase[0] = runs[1].counts.thread[0] = runs[1].counts.total;
    runs[1].counts.threads = 1;
    runs[2].counts = (agb_repetition_counts){.pass = -1, .reason = "disturbed: \"twice\""};
    agb_result result = {.name = "naive", .params = "", .aggregator = &recorded_aggregator, .runs = runs, .n_runs = 3,
                         .n_warmup = 1, .stats.phases = 1};
    agb_results results = {.support = support_of(family), .results = &result, .n_results = 1};
    snprintf(results.machine.cpu, sizeof results.machine.cpu, "Test 1");
    agb_output record;
    assert_ok(agb_output_prepare(&record, path, err));
    assert_ok(agb_record_write(&record, &results, err));
    agb_replay replay;
    assert_ok(agb_replay_load(&replay, path, err));
    unlink(path);
    const agb_replay_row *row = agb_replay_find(&replay, "naive", "");
    assert_non_null(row);
    assert_int_equal(row->n, 2);
    assert_memory_equal(&row->repetitions[0].total, &runs[1].counts.total, sizeof runs[1].counts.total);
    assert_memory_equal(&row->repetitions[0].phase[0], &runs[1].counts.total, sizeof runs[1].counts.total);
    assert_int_equal(row->repetitions[0].threads, 1);
    assert_int_equal(row->repetitions[1].pass, -1);
    assert_string_equal(row->repetitions[1].reason, "disturbed: \"twice\"");
    assert_string_equal(replay.support.processor, "Test 1");
    agb_replay_release(&replay);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_published_experiment_replays_to_its_published_figures),
        cmocka_unit_test(phases_and_threads_add_up_to_the_whole),
        cmocka_unit_test(bad_files_are_refused_with_the_place_in_them),
        cmocka_unit_test(unknown_keys_are_refused_by_name),
        cmocka_unit_test(parts_above_their_whole_are_refused),
        cmocka_unit_test(phases_are_known_by_their_names),
        cmocka_unit_test(counts_that_did_not_run_all_the_time_are_refused_in_a_replay_too),
        cmocka_unit_test(what_is_recorded_is_replayed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
