/* SPDX-License-Identifier: MIT */
/* Measuring: rounds, states, the reference answer, verdicts, and what the reports make of them. */
#include "commands.h"
#include "contestants.h"
#include "experiment.h"
#include "reference.h"
#include "report.h"
#include "summary.h"
#include "test.h"
#include "text.h"

#include <jansson.h>
#include <math.h>
#include <signal.h>

/* ---- Contestants of our own -------------------------------------------------------------------------------------- */

static agb_status one_too_many(void *state)
{
    counting *self = state;
    uint64_t key = 987654321, count = 1;
    agb_status status = agb_emit(self->host, 0, &key, &count, 1);
    return status == AGB_OK ? counting_finish(state) : status;
}

static agb_status drop_all(void *state)
{
    (void)state;
    return AGB_OK;
}

static agb_status crash(void *state)
{
    (void)state;
    raise(SIGSEGV);
    return AGB_OK;
}

/* Each contestant lives in a process of its own: this counts its own runs. */
static agb_status crash_in_the_third_run(void *state)
{
    static int runs;
    return ++runs == 3 ? crash(state) : counting_finish(state);
}

/* Asks for memory that the first run leaves untouched, as the last block of a result often is. */
static agb_status touch_more_from_the_second_run_on(void *state)
{
    enum { BYTES = 8 << 20 };
    static int runs;
    counting *self = state;
    void *block = agb_alloc(self->host, BYTES, 0);
    if (!block)
        return AGB_ERR_MEMORY;
    if (++runs > 1)
        memset(block, 1, BYTES);
    agb_release(self->host, block, BYTES);
    return counting_finish(state);
}

static agb_status hang(void *state)
{
    (void)state;
    pause();
    return AGB_OK;
}

static const agb_aggregator good = CONTESTANT("good", counting_finish);
static const agb_aggregator too_many = CONTESTANT("too_many", one_too_many);
static const agb_aggregator drops = CONTESTANT("drops", drop_all);
static const agb_aggregator crashing = CONTESTANT("crashing", crash);
static const agb_aggregator late = CONTESTANT("late", crash_in_the_third_run);
static const agb_aggregator touching = CONTESTANT("touching", touch_more_from_the_second_run_on);
static const agb_aggregator hanging = CONTESTANT("hanging", hang);

static char source[] = "synth:uniform,rows=20000,groups=500";

/* Runs n contestants five times after one warm-up; the limits: see agb_experiment. */
static void run_limited(agb_results *results, const agb_aggregator *const *aggregators, size_t n, uint64_t seed,
                        bool twin, size_t most_at_once, double most_s)
{
    agb_registry *registry;
    agb_entry entries[8] = {0};
    char *sources[] = {source};
    for (size_t i = 0; i < n; i++)
        entries[i] = (agb_entry){.aggregator = aggregators[i], .name = (char *)aggregators[i]->name, .params = ""};
    assert_ok(agb_registry_create(&registry, err));
    agb_experiment experiment = {.registry = registry, .sources = sources, .n_sources = 1, .entries = entries,
                                 .n_entries = n, .timeout_s = 1, .twin = twin,
                                 .most_at_once = most_at_once, .most_s = most_s,
                                 .settings = {.group_by = "UserID", .threads = 1, .repetitions = 5, .warmup = 1,
                                              .seed = seed, .batch_rows = 1000, .hash = "fold", .top = 3}};
    *results = (agb_results){0};
    assert_ok(agb_experiment_run(&experiment, results, err));
    agb_registry_destroy(registry);
}

static void run(agb_results *results, const agb_aggregator *const *aggregators, size_t n, uint64_t seed, bool twin)
{
    run_limited(results, aggregators, n, seed, twin, 0, 0);
}

static void a_run_that_goes_well_has_all_its_figures(void **state)
{
    (void)state;
    agb_results results;
    run(&results, (const agb_aggregator *[]){&good, &good}, 2, 1, true);
    assert_int_equal(results.n_results, 2);
    assert_true(agb_results_all_ok(&results));
    const agb_result *result = &results.results[1];
    assert_int_equal(result->n_runs, 6);
    assert_int_equal(result->n_warmup, 1);
    assert_true(result->runs[0].warmup && !result->runs[1].warmup);
    assert_true(result->first_s == result->runs[0].wall_s);
    assert_true(result->wall.min > 0 && result->wall.min <= result->wall.median);
    assert_true(result->wall.median <= result->wall.max);
    assert_int_equal(result->digest.groups, 500);
    assert_int_equal(result->digest.rows, 20000);
    assert_int_equal(result->n_top, 3);
    assert_true(result->top[0].count >= result->top[1].count);
    assert_true(result->peak_rss_bytes > 0 && result->accounted_peak_bytes > 0);
    assert_true(results.sources[0].reference_peak_rss_bytes > 0);
    assert_true(results.largest_rss_bytes >= result->peak_rss_bytes);
    assert_true(results.largest_rss_bytes >= results.sources[0].reference_peak_rss_bytes);
    assert_int_equal(results.n_comparisons, 1);
    assert_int_equal(results.n_noises, 1);
    assert_int_equal(results.sources[0].rows, 20000);
    assert_int_equal(results.sources[0].groups, 500);
    agb_results_release(&results);
}

static void no_timed_run_pays_for_touching_what_the_warm_up_was_given(void **state)
{
    (void)state;
    agb_results results;
    run(&results, (const agb_aggregator *[]){&touching}, 1, 1, false);
    assert_int_equal(results.results[0].n_runs, 6);
    for (size_t i = 1; i < 6; i++)
        assert_true(results.results[0].runs[i].usage.minor_faults < 500);
    agb_results_release(&results);
}

static void every_round_holds_every_contestant_once(void **state)
{
    (void)state;
    agb_results results;
    run(&results, (const agb_aggregator *[]){&good, &good, &good}, 3, 7, false);
    for (unsigned round = 0; round < 4; round++) {
        unsigned seen = 0;
        for (size_t i = 0; i < 3; i++) {
            assert_int_equal(results.results[i].runs[round].round, round);
            seen |= 1u << results.results[i].runs[round].position;
        }
        assert_int_equal(seen, 7);
    }
    agb_results_release(&results);
}

/* The positions of three contestants in four rounds, as one number. */
static uint64_t order_of(uint64_t seed)
{
    agb_results results;
    uint64_t order = 0;
    run(&results, (const agb_aggregator *[]){&good, &good, &good}, 3, seed, false);
    for (unsigned round = 0; round < 4; round++) {
        for (size_t i = 0; i < 3; i++)
            order = order * 3 + results.results[i].runs[round].position;
    }
    agb_results_release(&results);
    return order;
}

static void the_seed_decides_the_order(void **state)
{
    (void)state;
    assert_int_equal(order_of(5), order_of(5));
    assert_int_not_equal(order_of(5), order_of(6));
}

static void a_bad_contestant_costs_its_own_row_only(void **state)
{
    (void)state;
    agb_results results;
    run(&results, (const agb_aggregator *[]){&good, &crashing, &hanging, &too_many, &drops, &late, &good}, 7, 1, true);
    static const agb_state wanted[] = {AGB_STATE_OK, AGB_STATE_CRASHED, AGB_STATE_TIMEOUT, AGB_STATE_WRONG,
                                       AGB_STATE_WRONG, AGB_STATE_CRASHED, AGB_STATE_OK};
    static const char *const reasons[] = {"", "segmentation fault (SIGSEGV) in phase build", "no answer after 1 s",
                                          "wrong at key 987654321: counted 1, but no row has this key",
                                          "its group is missing", "SIGSEGV", ""};
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(results.results[i].state, wanted[i]);
        assert_non_null(strstr(results.results[i].reason, reasons[i]));
    }
    assert_int_equal(results.results[5].n_runs, 2);
    assert_int_equal(results.results[6].n_runs, 6);
    assert_int_equal(results.n_comparisons, 1);
    assert_false(agb_results_all_ok(&results));
    agb_results_release(&results);
}

static void contestants_that_do_not_fit_run_in_heats_with_the_baseline(void **state)
{
    (void)state;
    agb_results results;
    run_limited(&results, (const agb_aggregator *[]){&good, &good, &crashing, &good, &good}, 5, 1, true, 2, 0);
    assert_int_equal(results.n_results, 5);
    assert_int_equal(results.n_comparisons, 3);
    assert_int_equal(results.n_noises, 1);
    for (size_t i = 0; i < results.n_comparisons; i++)
        assert_true(results.comparisons[i].speedup.ratio > 0 && results.comparisons[i].baseline == 0);
    assert_int_equal(results.results[4].n_runs, 6);
    assert_true(results.results[4].runs[1].position < 2);
    assert_int_equal(results.n_notes, 1);
    assert_non_null(strstr(results.notes[0], "2 contestants at once: they ran in 5 heats"));
    agb_results_release(&results);
}

static void time_that_runs_out_cuts_repetitions_and_says_so(void **state)
{
    (void)state;
    agb_results results;
    run_limited(&results, (const agb_aggregator *[]){&good, &good}, 2, 1, false, 0, 1e-6);
    assert_int_equal(results.settings.repetitions, 1);
    assert_int_equal(results.results[1].n_runs, 2);
    assert_int_equal(results.results[1].n_top, 3);
    assert_true(isnan(results.results[1].wall.ci95_low));
    assert_int_equal(results.comparisons[0].verdict, AGB_VERDICT_SAME);
    assert_non_null(strstr(results.notes[0], "1 repetition instead of 5"));
    agb_results_release(&results);
}

static void without_a_right_baseline_nothing_is_compared(void **state)
{
    (void)state;
    agb_results results;
    run(&results, (const agb_aggregator *[]){&drops, &good, &good}, 3, 1, true);
    assert_int_equal(results.results[1].state, AGB_STATE_OK);
    assert_int_equal(results.n_comparisons, 0);
    assert_int_equal(results.n_noises, 0);
    agb_results_release(&results);
}

/* ---- Why an answer is wrong -------------------------------------------------------------------------------------- */

/* A sink that holds these groups, by way of an aggregator that emits what it is told to. */
static agb_group told[4];
static size_t n_told;

static agb_status emit_told(void *state)
{
    counting *self = state;
    agb_status status = AGB_OK;
    for (size_t i = 0; i < n_told && status == AGB_OK; i++)
        status = agb_emit(self->host, 0, &told[i].key.word, &told[i].count, 1);
    return status;
}

static void check_explanation(const agb_group *groups, size_t n, const char *wanted)
{
    static const agb_aggregator teller = CONTESTANT("teller", emit_told);
    static const uint64_t keys[] = {5, 5, UINT64_MAX, 9};
    static agb_group right[] = {{{5}, 2}, {{9}, 1}, {{UINT64_MAX}, 1}};
    agb_reference reference = {.digest = {.groups = 3}, .groups = right, .n = 3};
    agb_table *table;
    agb_memory *memory;
    agb_sink *sink;
    agb_key_layout *layout;
    agb_stats stats;
    agb_error why = {0};
    memcpy(told, groups, n * sizeof *groups);
    n_told = n;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "k", AGB_TYPE_INT64, keys, 4, err));
    assert_ok(agb_memory_create(&memory, &(agb_memory_options){0}, err));
    assert_ok(agb_sink_collect(&sink, err));
    agb_plan plan = {.table = table, .column = "k", .aggregator = &teller, .memory = memory};
    assert_ok(agb_count_groups(&plan, sink, &stats, err));
    assert_ok(agb_key_layout_create(&layout, table, "k", err));
    agb_reference_explain(&reference, sink, &stats, layout, &why);
    assert_string_equal(why.text, wanted);
    agb_key_layout_destroy(layout);
    agb_sink_destroy(sink);
    agb_memory_destroy(memory);
    agb_table_destroy(table);
}

static void the_first_wrong_key_is_named_with_both_counts(void **state)
{
    (void)state;
    check_explanation((agb_group[]){{{9}, 1}, {{UINT64_MAX}, 1}, {{5}, 3}}, 3, "wrong at key 5: counted 3, right is 2");
    check_explanation((agb_group[]){{{5}, 1}, {{9}, 2}, {{UINT64_MAX}, 1}}, 3, "wrong at key 5: counted 1, right is 2");
    check_explanation((agb_group[]){{{5}, 2}, {{9}, 1}}, 2, "wrong at key -1: its group is missing, right is 1");
    check_explanation((agb_group[]){{{5}, 2}, {{7}, 1}, {{9}, 1}, {{UINT64_MAX}, 1}}, 4,
                      "wrong at key 7: counted 1, but no row has this key");
    check_explanation((agb_group[]){{{5}, 1}, {{9}, 1}, {{5}, 1}, {{UINT64_MAX}, 1}}, 4, "emitted twice: key 5");
    check_explanation((agb_group[]){{{5}, 2}, {{9}, 1}, {{9}, 1}, {{UINT64_MAX}, 1}}, 4, "emitted twice: key 9");
}

static void a_digest_that_differs_anywhere_does_not_agree(void **state)
{
    (void)state;
    agb_reference reference = {.digest = {.groups = 3, .rows = 4, .max_count = 2, .checksum = 77}, .nulls = 1};
    agb_stats stats = {.nulls = 1};
    agb_digest same = reference.digest, groups = same, rows = same, most = same, checksum = same;
    groups.groups++;
    rows.rows++;
    most.max_count++;
    checksum.checksum++;
    assert_true(agb_reference_agrees(&reference, &same, &stats));
    assert_false(agb_reference_agrees(&reference, &groups, &stats));
    assert_false(agb_reference_agrees(&reference, &rows, &stats));
    assert_false(agb_reference_agrees(&reference, &most, &stats));
    assert_false(agb_reference_agrees(&reference, &checksum, &stats));
    stats.nulls = 0;
    assert_false(agb_reference_agrees(&reference, &same, &stats));
}

/* ---- Verdicts ---------------------------------------------------------------------------------------------------- */

static void a_winner_needs_an_interval_clear_of_one_and_of_the_noise(void **state)
{
    (void)state;
    agb_ratio faster = {1.5, 1.4, 1.6}, slower = {0.6, 0.5, 0.7}, open = {1.2, 0.9, 1.5};
    agb_ratio quiet = {1.0, 0.98, 1.02}, loud = {1.0, 0.6, 1.1};
    assert_int_equal(agb_verdict_of(&faster, NULL, agb_least_claim), AGB_VERDICT_FASTER);
    assert_int_equal(agb_verdict_of(&slower, &quiet, agb_least_claim), AGB_VERDICT_SLOWER);
    assert_int_equal(agb_verdict_of(&open, &quiet, agb_least_claim), AGB_VERDICT_SAME);
    assert_int_equal(agb_verdict_of(&faster, &quiet, agb_least_claim), AGB_VERDICT_FASTER);
    assert_int_equal(agb_verdict_of(&faster, &loud, agb_least_claim), AGB_VERDICT_SAME);
    agb_ratio slight = {1.04, 1.03, 1.045};
    assert_int_equal(agb_verdict_of(&slight, NULL, agb_least_claim), AGB_VERDICT_SAME);
    agb_ratio one_run = {1.5, NAN, NAN};
    assert_int_equal(agb_verdict_of(&one_run, NULL, agb_least_claim), AGB_VERDICT_SAME);
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

static void assert_keys(json_t *object, const char *names)
{
    char copy[512], *save = NULL;
    snprintf(copy, sizeof copy, "%s", names);
    assert_true(json_is_object(object));
    for (char *name = strtok_r(copy, " ", &save); name; name = strtok_r(NULL, " ", &save)) {
        if (!json_object_get(object, name))
            fail_msg("the JSON report lacks the key %s", name);
    }
}

static void the_json_report_keeps_its_promised_keys(void **state)
{
    (void)state;
    agb_results results;
    run(&results, (const agb_aggregator *[]){&good, &crashing, &good}, 3, 1, true);
    char *text = report(agb_report_json, &results);
    json_t *out = json_loads(text, 0, NULL);
    assert_non_null(out);
    assert_keys(out, "aggbench source query machine floor results comparisons");
    assert_keys(json_object_get(out, "source"), "name format rows load_s bytes");
    assert_keys(json_object_get(out, "query"), "group_by where top offset clickbench");
    assert_keys(json_object_get(out, "machine"), "cpu uarch cores caches memory_bytes kernel hypervisor pages governor "
                                                 "reports_free_pages compiler flags commit pmu");
    assert_keys(json_object_get(out, "floor"), "read_gbps write_gbps floor_s");
    json_t *rows = json_object_get(out, "results");
    assert_int_equal(json_array_size(rows), 3);
    for (size_t i = 0; i < 3; i++) {
        json_t *row = json_array_get(rows, i);
        assert_keys(row, "aggregator state params threads pages memory verified groups rows nulls max_count checksum "
                         "peak_bytes wall_s ns_per_row rows_per_s times_floor runs counters phases top reason");
        assert_keys(json_object_get(row, "wall_s"), "min median max ci95_low ci95_high");
        assert_keys(json_object_get(row, "counters"), "source reason retiring_pct memory_bound_pct backend_bound_pct "
                    "frontend_bound_pct bad_speculation_pct ipc instructions ops_retired cycles dram_demand_bytes "
                    "llc_misses dtlb_walks coverage_pct");
        assert_true(json_is_string(json_object_get(json_object_get(row, "counters"), "reason")));
    }
    json_t *crashed = json_array_get(rows, 1), *well = json_array_get(rows, 2);
    assert_string_equal(json_string_value(json_object_get(crashed, "state")), "crashed");
    assert_true(json_is_null(json_object_get(json_object_get(crashed, "wall_s"), "median")));
    assert_true(json_is_false(json_object_get(crashed, "verified")));
    assert_keys(json_array_get(json_object_get(well, "runs"), 0), "wall_s user_s sys_s runq_wait_s minor_faults "
                "major_faults involuntary_switches noisy round position");
    assert_int_equal(json_array_size(json_object_get(well, "runs")), 5);
    assert_true(json_is_string(json_object_get(json_array_get(json_object_get(well, "top"), 0), "key")));
    assert_keys(json_array_get(json_object_get(out, "comparisons"), 0),
                "aggregator baseline speedup ci95_low ci95_high verdict");
    json_decref(out);
    free(text);
    agb_results_release(&results);
}

static void the_table_fits_a_hundred_cells_and_has_no_loose_ends(void **state)
{
    (void)state;
    agb_results results;
    run(&results, (const agb_aggregator *[]){&good, &crashing, &hanging, &drops, &good}, 5, 1, true);
    free(results.results[4].params);
    results.results[4].params = strdup("one=12345678:another=12345678:a_third=12345678");
    char *text = report(agb_report_table, &results);
    for (char *line = text; *line; line += strcspn(line, "\n") + 1) {
        size_t length = strcspn(line, "\n");
        assert_true(length <= AGB_TEXT_CELLS);
        assert_true(length == 0 || line[length - 1] != ' ');
    }
    assert_null(strstr(text, "nan"));
    assert_null(strstr(text, "inf"));
    free(text);
    agb_results_release(&results);
}

static void the_csv_report_has_as_many_fields_in_every_line(void **state)
{
    (void)state;
    agb_results results;
    run(&results, (const agb_aggregator *[]){&good, &hanging, &good}, 3, 1, false);
    char *text = report(agb_report_csv, &results);
    size_t lines = 0, fields = 0;
    for (char *line = text; *line; line += strcspn(line, "\n") + 1, lines++) {
        size_t commas = 0;
        bool quoted = false;
        for (char *at = line; *at != '\n'; at++) {
            quoted ^= *at == '"';
            commas += *at == ',' && !quoted;
        }
        fields = lines == 0 ? commas : fields;
        assert_int_equal(commas, fields);
    }
    assert_int_equal(lines, 4);
    free(text);
    agb_results_release(&results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_that_goes_well_has_all_its_figures),
        cmocka_unit_test(no_timed_run_pays_for_touching_what_the_warm_up_was_given),
        cmocka_unit_test(every_round_holds_every_contestant_once),
        cmocka_unit_test(the_seed_decides_the_order),
        cmocka_unit_test(a_bad_contestant_costs_its_own_row_only),
        cmocka_unit_test(contestants_that_do_not_fit_run_in_heats_with_the_baseline),
        cmocka_unit_test(time_that_runs_out_cuts_repetitions_and_says_so),
        cmocka_unit_test(without_a_right_baseline_nothing_is_compared),
        cmocka_unit_test(the_first_wrong_key_is_named_with_both_counts),
        cmocka_unit_test(a_digest_that_differs_anywhere_does_not_agree),
        cmocka_unit_test(a_winner_needs_an_interval_clear_of_one_and_of_the_noise),
        cmocka_unit_test(the_json_report_keeps_its_promised_keys),
        cmocka_unit_test(the_table_fits_a_hundred_cells_and_has_no_loose_ends),
        cmocka_unit_test(the_csv_report_has_as_many_fields_in_every_line),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
