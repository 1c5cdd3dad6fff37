/* SPDX-License-Identifier: MIT */
/* Estimates and simulations inside an experiment: they take part, are checked, and keep their label in every report. */
#include "contestants.h"
#include "experiment.h"
#include "process.h"
#include "report_pivot.h"
#include "test.h"

#include <jansson.h>
#include <math.h>
#include <sys/stat.h>
#include <time.h>

/* More groups than any second-level cache of today holds by resident.h's rule. */
static char many_groups[] = "synth:uniform,rows=150000,groups=100000";
enum { MANY = 70000 };

static agb_status waits_for_many_groups(void *state)
{
    counting *self = state;
    if (self->table.groups > MANY)
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
    return counting_finish(state);
}

static agb_status drops_when_groups_are_few(void *state)
{
    counting *self = state;
    return self->table.groups > MANY ? counting_finish(state) : AGB_OK;
}

static const agb_aggregator even = CONTESTANT("even", counting_finish);
static const agb_aggregator waits = CONTESTANT("waits", waits_for_many_groups);
static const agb_aggregator drops = CONTESTANT("drops", drops_when_groups_are_few);

static void run(agb_results *results, const agb_aggregator *aggregator, const char *groups, bool simulate)
{
    agb_registry *registry;
    agb_entry entry = {.aggregator = aggregator, .name = (char *)aggregator->name, .params = ""};
    char *sources[] = {many_groups};
    assert_ok(agb_registry_create(&registry, err));
    agb_output output = {0};
    if (groups)
        assert_ok(agb_output_prepare(&output, groups, err));
    agb_experiment experiment = {.registry = registry, .sources = sources, .n_sources = 1, .entries = &entry,
                                 .n_entries = 1, .timeout_s = 60, .estimate = true, .simulate = simulate,
                                 .program = "/nonexistent", .groups = groups ? &output : NULL,
                                 .settings = {.group_by = "UserID", .threads = 1, .repetitions = AGB_LEAST_FOR_INTERVAL,
                                              .warmup = 1, .seed = 1, .batch_rows = 65536, .hash = "fold", .top = 3}};
    *results = (agb_results){0};
    assert_ok(agb_experiment_run(&experiment, results, err));
    agb_output_release(&output);
    agb_registry_destroy(registry);
}

static void what_the_real_rows_cost_beyond_their_twin_is_the_estimate(void **state)
{
    (void)state;
    agb_results results;
    run(&results, &waits, NULL, false);
    const agb_estimate *estimate = &results.results[0].estimate;
    assert_true(agb_results_all_ok(&results));
    assert_true(estimate->has);
    assert_true(estimate->waiting_pct > 50 && estimate->waiting_pct < 100);
    assert_true(estimate->ci95_low_pct <= estimate->waiting_pct && estimate->waiting_pct <= estimate->ci95_high_pct);
    assert_true(estimate->resident_s > 0 && estimate->resident_s < results.results[0].wall.median);
    assert_in_range(results.sources[0].resident_groups, 64, MANY);
    for (size_t i = 0; i < results.results[0].n_runs; i++)
        assert_true(results.results[0].runs[i].resident_s > 0);
    agb_results_release(&results);
}

static void a_wrong_answer_on_the_twin_is_a_wrong_answer(void **state)
{
    (void)state;
    agb_results results;
    run(&results, &drops, NULL, false);
    assert_int_equal(results.results[0].state, AGB_STATE_WRONG);
    assert_non_null(strstr(results.results[0].reason, "cache-resident twin"));
    agb_results_release(&results);
}

static void the_twins_groups_are_not_what_groups_writes(void **state)
{
    (void)state;
    agb_results results;
    char path[] = "/tmp/agb_groups_XXXXXX";
    close(mkstemp(path));
    run(&results, &even, path, false);
    uint64_t lines = 0;
    FILE *file = fopen(path, "r");
    for (int letter; file && (letter = fgetc(file)) != EOF;)
        lines += letter == '\n';
    fclose(file);
    unlink(path);
    assert_in_range(lines, results.sources[0].groups, results.sources[0].groups + 1);
    agb_results_release(&results);
}

/* A valgrind that hangs: both simulations are ended when the time that all have together is over. */
static void a_valgrind_that_hangs_is_ended_in_time(void **state)
{
    (void)state;
    char folder[] = "/tmp/agb_path_XXXXXX", fake[64], path[4096];
    const char *before = getenv("PATH"), *columns[] = {"UserID"};
    assert_non_null(mkdtemp(folder));
    snprintf(fake, sizeof fake, "%s/valgrind", folder);
    FILE *script = fopen(fake, "w");
    assert_non_null(script);
    fputs("#!/bin/sh\nexec sleep 600\n", script);
    fchmod(fileno(script), 0755);
    fclose(script);
    char *saved = strdup(before ? before : "");
    snprintf(path, sizeof path, "%s:%s", folder, saved);
    setenv("PATH", path, 1);
    agb_registry *registry;
    agb_table *table;
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_table_load(&table, registry, "synth:hits,rows=1000", columns, 1, NULL, err));
    agb_simulation one = {0}, two = {0};
    agb_simulated entries[] = {{"naive", "", &one}, {"radix", "", &two}};
    agb_simulated_run run = {.program = "/bin/true", .query = {.table = table, .group_by = "UserID"}, .hash = "fold",
                             .batch_rows = 65536, .most_rows = 1000, .timeout_s = 2};
    double start_s = agb_now_s();
    assert_ok(agb_simulate(&run, registry, entries, 2, err));
    assert_true(agb_now_s() - start_s < 30);
    assert_false(one.has || two.has);
    assert_non_null(strstr(one.reason, "had not ended when the 2 s"));
    assert_true(strstr(two.reason, "had not ended when the 2 s") || strstr(two.reason, "no time was left for it"));
    setenv("PATH", saved, 1);
    free(saved);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    unlink(fake);
    rmdir(folder);
}

static void assert_has(char *text, const char *words)
{
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in: %s", words, text);
    free(text);
}

/* Figures that no machine gave. */
static void give_figures(agb_results *results)
{
    agb_result *result = &results->results[0];
    result->estimate = (agb_estimate){.has = true, .waiting_pct = 61.5, .ci95_low_pct = 60, .ci95_high_pct = 63,
                                      .resident_s = 0.01};
    result->simulation = (agb_simulation){.has = true, .rows = 1000, .groups = 10, .instructions = 78100,
                                          .l1_misses = 1400, .last_misses = 440, .mispredictions = 950};
    snprintf(result->metrics.reason, sizeof result->metrics.reason, "no PMU");
}

static void substitutes_are_labelled_and_stand_in_no_measured_column(void **state)
{
    (void)state;
    agb_results results;
    run(&results, &even, NULL, true);
    give_figures(&results);
    assert_has(report(agb_report_table, &results), "est. 61.5 %");
    assert_has(report(agb_report_table, &results), "sim. 78.1");
    assert_has(report(agb_report_table, &results), "not counted but estimated");
    assert_has(report(agb_report_table, &results), "not measured but simulated");
    assert_has(report(agb_report_pivot, &results), "-- estimated, not measured -");
    assert_has(report(agb_report_pivot, &results), "-- simulated, not measured -");
    assert_has(report(agb_report_csv, &results), ",,61.5,60,63,1000,78.1,1.4,0.44,0.95,150000\n");
    char *text = report(agb_report_json, &results);
    json_t *out = json_loads(text, 0, NULL);
    json_t *counters = json_object_get(json_array_get(json_object_get(out, "results"), 0), "counters");
    assert_true(json_is_null(json_object_get(counters, "memory_bound_pct")));
    assert_true(json_is_null(json_object_get(counters, "instructions")));
    assert_string_equal(json_string_value(json_object_get(counters, "source")), "estimate");
    json_t *estimate = json_object_get(counters, "estimate"), *simulated = json_object_get(counters, "simulate");
    assert_string_equal(json_string_value(json_object_get(estimate, "source")), "estimate");
    assert_true(json_number_value(json_object_get(estimate, "waiting_beyond_cache_pct")) == 61.5);
    assert_string_equal(json_string_value(json_object_get(simulated, "source")), "simulate");
    assert_true(json_number_value(json_object_get(simulated, "instructions_per_row")) == 78.1);
    json_decref(out);
    free(text);
    agb_results_release(&results);
}

static void a_simulation_that_fails_costs_no_row(void **state)
{
    (void)state;
    agb_results results;
    run(&results, &even, NULL, true);
    assert_true(agb_results_all_ok(&results));
    assert_false(results.results[0].simulation.has);
    assert_true(results.results[0].simulation.reason[0] != '\0');
    agb_results_release(&results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_real_rows_cost_beyond_their_twin_is_the_estimate),
        cmocka_unit_test(a_wrong_answer_on_the_twin_is_a_wrong_answer),
        cmocka_unit_test(the_twins_groups_are_not_what_groups_writes),
        cmocka_unit_test(substitutes_are_labelled_and_stand_in_no_measured_column),
        cmocka_unit_test(a_simulation_that_fails_costs_no_row),
        cmocka_unit_test(a_valgrind_that_hangs_is_ended_in_time),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
