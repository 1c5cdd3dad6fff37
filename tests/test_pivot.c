/* SPDX-License-Identifier: MIT */
/* What the report of the published experiment says: the figures side by side, as many words as the counts carry, and
 * not one more. */
#include "replay.h"
#include "report_pivot.h"
#include "slots.h"
#include "two_results.h"

#include <jansson.h>
#include <math.h>

/* Without counts; radix is faster. */
static void run(agb_results *results)
{
    two_results(results);
    results->published = true;
    results->comparisons[0].speedup = (agb_ratio){1.33, 1.3, 1.4};
    results->comparisons[0].verdict = AGB_VERDICT_FASTER;
}

static void set_counts(agb_results *results, size_t row, double stalled, double retiring, double operations)
{
    agb_metrics *metrics = &results->results[row].metrics;
    results->support.available = true;
    metrics->has[AGB_MEMORY_BOUND_PCT] = metrics->has[AGB_RETIRING_PCT] = metrics->has[AGB_OPS_RETIRED] = true;
    metrics->value[AGB_MEMORY_BOUND_PCT] = stalled;
    metrics->value[AGB_RETIRING_PCT] = retiring;
    metrics->value[AGB_OPS_RETIRED] = operations;
}

/* The report on one line. */
static char *flat_report(const agb_results *results)
{
    char *text = report(agb_report_pivot, results), *flat = text;
    for (char *at = text; *at; at++) {
        if (*at != '\n' && (*at != ' ' || flat == text || flat[-1] != ' '))
            *flat++ = *at;
        else if (*at == '\n')
            *flat++ = ' ';
    }
    *flat = '\0';
    return text;
}

static void assert_said(const agb_results *results, const char *words)
{
    char *text = flat_report(results);
    if (!strstr(text, words))
        fail_msg("\"%s\" is not in: %s", words, text);
    free(text);
}

static void assert_not_said(const agb_results *results, const char *words)
{
    char *text = flat_report(results);
    if (strstr(text, words))
        fail_msg("\"%s\" is in: %s", words, text);
    free(text);
}

/* With the published counts as if they had been measured here. */
static void it_says_in_words_what_the_counters_say(void **state)
{
    (void)state;
    agb_results results;
    run(&results);
    set_counts(&results, 0, 50.1, 16.1, 11431618219);
    set_counts(&results, 1, 23.5, 32.2, 19350459182);
    assert_said(&results, "radix retired 1.69 times the operations of naive; its slots stalled on memory went from "
                          "50.1 % to 23.5 %, and it was faster. More work and less waiting");
    assert_said(&results, "published 1.33 x, here 1.33 x [1.30, 1.40]");
    set_counts(&results, 1, 60, 32.2, 19350459182);
    assert_said(&results, "This is not what the published experiment says");
    agb_results_release(&results);
}

static void a_share_that_is_withheld_leaves_no_conclusion_and_its_reason_is_told(void **state)
{
    (void)state;
    agb_results results;
    run(&results);
    set_counts(&results, 0, 50.1, 16.1, 11431618219);
    set_counts(&results, 1, 23.5, 32.2, 19350459182);
    agb_metrics *naive = &results.results[0].metrics;
    naive->has[AGB_RETIRING_PCT] = false;
    snprintf(naive->reason, sizeof naive->reason, "retiring_pct: unreliable: came out as 151.0 %%");
    assert_said(&results, "nothing is concluded from the counters, because naive lacks some of the three that it takes "
                          "(memory, retiring, operations): retiring_pct: unreliable: came out as 151.0 %");
    assert_said(&results, "counters naive: retiring_pct: unreliable: came out as 151.0 %");
    assert_not_said(&results, "More work and less waiting");
    assert_not_said(&results, "went from 50.1 %");
    agb_results_release(&results);
}

static void it_concludes_no_more_than_wall_time_carries(void **state)
{
    (void)state;
    agb_results results;
    run(&results);
    snprintf(results.support.reason, sizeof results.support.reason, "no PMU in this test");
    assert_said(&results, "stalls and operations could not be counted here: no PMU in this test");
    assert_said(&results, "What wall time alone still says");
    results.comparisons[0].verdict = AGB_VERDICT_SAME;
    assert_said(&results, "Wall time alone does not confirm the published result here: no difference is seen");
    results.comparisons[0].speedup = (agb_ratio){1.33, NAN, NAN};
    assert_said(&results, "here 1.33 x: too few repetitions for an interval");
    assert_said(&results, "Wall time says nothing yet: too few repetitions, at least 5 are wanted");
    results.n_comparisons = 0;
    assert_said(&results, "no comparison: it takes naive as the baseline and radix beside it");
    agb_results_release(&results);
}

static void an_estimate_has_its_interval_and_claims_nothing_where_that_holds_0(void **state)
{
    (void)state;
    agb_results results;
    run(&results);
    results.estimated = true;
    results.sources[0].resident_groups = 64;
    agb_estimate *naive = &results.results[0].estimate, *radix = &results.results[1].estimate;
    *naive = (agb_estimate){.has = true, .waiting_pct = 84, .ci95_low_pct = 80.2, .ci95_high_pct = 88.1};
    *radix = (agb_estimate){.has = true, .waiting_pct = 4, .ci95_low_pct = -3.4, .ci95_high_pct = 11.2};
    assert_said(&results, "95 % interval, from - - | 80.2 % -3.4 %");
    assert_said(&results, "to - - | 88.1 % 11.2 %");
    assert_said(&results, "of its time naive spends 84 % [80, 88] waiting beyond the cache, radix an unclear part (-3 "
                          "to 11 %: it may be none)");
    naive->ci95_low_pct = naive->ci95_high_pct = NAN;
    assert_said(&results, "naive spends 84 % (too few repetitions for an interval)");
    assert_said(&results, "| too few runs -3.4 %");
    *naive = (agb_estimate){.has = true, .own_twin = true};
    results.sources[0].own_twin = true;
    assert_said(&results, "| 0, own twin est. 4.0 %");
    assert_said(&results, "naive spends 0 % by construction (all its groups fit in the cache)");
    assert_said(&results, "all 64 groups of these rows fit in the L2 cache: the rows are their own twin");
    agb_results_release(&results);
}

static void control_bytes_of_a_replayed_name_do_not_reach_the_terminal(void **state)
{
    (void)state;
    agb_results results;
    agb_replay replay = {.file = "counts.json", .about = "made up\033[2J"};
    run(&results);
    set_counts(&results, 0, 50.1, 16.1, 11431618219);
    set_counts(&results, 1, 23.5, 32.2, 19350459182);
    results.replay = &replay;
    results.support.family = agb_slots_families[0];
    snprintf(results.support.processor, sizeof results.support.processor, "EPYC\033[31m\a9124");
    char *text = report(agb_report_pivot, &results);
    for (const char *at = text; *at; at++)
        assert_true((unsigned char)*at >= ' ' || *at == '\n');
    free(text);
    assert_said(&results, "replayed from counts of EPYC\\x1b[31m\\x079124, not measured here");
    assert_said(&results, "made up\\x1b[2J");
    agb_results_release(&results);
}

static json_t *figure(json_t *published, size_t strategy, const char *key)
{
    json_t *strategies = json_object_get(published, "strategies");
    return json_object_get(json_object_get(json_array_get(strategies, strategy), "figures"), key);
}

static double number(json_t *object, const char *key)
{
    return json_number_value(json_object_get(object, key));
}

static void json_has_the_published_figures_as_numbers_beside_ours(void **state)
{
    (void)state;
    agb_results results;
    run(&results);
    set_counts(&results, 0, 51, 17, 12000000000);
    char *text = report(agb_report_json, &results);
    json_t *out = json_loads(text, 0, NULL), *published = json_object_get(out, "published");
    assert_non_null(published);
    static const struct {
        const char *key;
        double simple, partitioned;    /* 0: not published */
    } wanted[] = {{"rows", 99997497, 99997497}, {"groups", 17630976, 17630976}, {"first_s", 3.9, 0},
                  {"warm_s", 3.6, 2.7}, {"memory_bound_pct", 50.1, 23.5}, {"retiring_pct", 16.1, 32.2},
                  {"ops_retired", 11431618219, 19350459182}, {"dram_demand_bytes", 4.5e9, 1.5e9}};
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        assert_true(number(figure(published, 0, wanted[i].key), "published") == wanted[i].simple);
        assert_true(number(figure(published, 1, wanted[i].key), "published") == wanted[i].partitioned);
    }
    assert_true(json_is_null(json_object_get(figure(published, 1, "first_s"), "published")));
    assert_true(number(figure(published, 0, "memory_bound_pct"), "measured") == 51);
    assert_true(json_is_null(json_object_get(figure(published, 1, "memory_bound_pct"), "measured")));
    assert_true(number(figure(published, 1, "rows"), "measured") == 20000);
    assert_true(number(figure(published, 0, "warm_s"), "measured") > 0);
    assert_true(fabs(number(json_object_get(published, "speedup"), "published") - 4.0 / 3) < 1e-6);
    assert_true(number(json_object_get(published, "speedup"), "ci95_low") == 1.3);
    json_decref(out);
    free(text);
    results.published = false;
    text = report(agb_report_json, &results);
    assert_null(strstr(text, "\"published\""));
    free(text);
    agb_results_release(&results);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_says_in_words_what_the_counters_say),
        cmocka_unit_test(a_share_that_is_withheld_leaves_no_conclusion_and_its_reason_is_told),
        cmocka_unit_test(it_concludes_no_more_than_wall_time_carries),
        cmocka_unit_test(an_estimate_has_its_interval_and_claims_nothing_where_that_holds_0),
        cmocka_unit_test(control_bytes_of_a_replayed_name_do_not_reach_the_terminal),
        cmocka_unit_test(json_has_the_published_figures_as_numbers_beside_ours),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
