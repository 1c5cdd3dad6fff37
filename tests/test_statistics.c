/* SPDX-License-Identifier: MIT */
/* Medians and bootstrap intervals. */
#include "test.h"

#include "statistics.h"

#include <math.h>

static void median_of_odd_and_even_samples(void **state)
{
    (void)state;
    agb_summary odd = agb_summarize((double[]){9, 1, 5}, 3, 1);
    assert_float_equal(odd.min, 1, 0);
    assert_float_equal(odd.median, 5, 0);
    assert_float_equal(odd.max, 9, 0);
    assert_int_equal(odd.n, 3);
    agb_summary even = agb_summarize((double[]){4, 1, 3, 2}, 4, 1);
    assert_float_equal(even.median, 2.5, 0);
    assert_float_equal(agb_median((double[]){7, 3}, 2), 5, 0);
}

static void few_values_have_no_interval(void **state)
{
    (void)state;
    const double values[] = {1, 2, 3, 4, 5};
    for (size_t n = 1; n < AGB_LEAST_FOR_INTERVAL; n++) {
        agb_summary few = agb_summarize(values, n, 7);
        assert_true(isnan(few.ci95_low) && isnan(few.ci95_high) && !isnan(few.median));
        assert_true(isnan(agb_paired_ratio(values, values, NULL, n, 7).ci95_low));
    }
    agb_summary enough = agb_summarize(values, AGB_LEAST_FOR_INTERVAL, 7);
    assert_float_equal(enough.ci95_low, 1, 0);
    assert_float_equal(enough.ci95_high, 5, 0);
}

static void input_is_left_as_it_was(void **state)
{
    (void)state;
    double values[] = {3, 1, 2};
    agb_summarize(values, 3, 1);
    assert_float_equal(values[0], 3, 0);
    assert_float_equal(values[1], 1, 0);
    assert_float_equal(values[2], 2, 0);
}

static void same_seed_and_any_order_give_the_same_interval(void **state)
{
    (void)state;
    agb_summary one = agb_summarize((double[]){1, 2, 3, 4, 10, 20, 30}, 7, 42);
    agb_summary two = agb_summarize((double[]){30, 2, 20, 4, 10, 1, 3}, 7, 42);
    assert_memory_equal(&one, &two, sizeof one);
}

static void interval_holds_the_median_and_stays_inside_the_sample(void **state)
{
    (void)state;
    double values[25];
    for (size_t i = 0; i < 25; i++)
        values[i] = (double)((i * 7919) % 101);
    agb_summary summary = agb_summarize(values, 25, 3);
    assert_true(summary.min <= summary.ci95_low && summary.ci95_low <= summary.median);
    assert_true(summary.median <= summary.ci95_high && summary.ci95_high <= summary.max);
    assert_true(summary.ci95_low > summary.min && summary.ci95_high < summary.max);
}

/* Draws from 0..1, whose median is known, 1,000 times: the interval should hold it about 95 times in 100. */
static void interval_holds_the_true_median_about_95_times_in_100(void **state)
{
    (void)state;
    enum { TRIALS = 1000, SIZE = 21 };
    uint64_t x = 1;
    unsigned held = 0;
    for (unsigned trial = 0; trial < TRIALS; trial++) {
        double values[SIZE];
        for (unsigned i = 0; i < SIZE; i++) {
            x = x * 6364136223846793005u + 1442695040888963407u;
            values[i] = (double)(x >> 11) / (double)(1ull << 53);
        }
        agb_summary summary = agb_summarize(values, SIZE, trial);
        held += summary.ci95_low <= 0.5 && 0.5 <= summary.ci95_high;
    }
    assert_in_range(held, 920, 985);
}

static void ratio_of_pairs_ignores_what_both_share(void **state)
{
    (void)state;
    double baseline[] = {2, 20, 8, 4, 6}, candidate[] = {1, 10, 4, 2, 3};
    agb_ratio ratio = agb_paired_ratio(baseline, candidate, NULL, 5, 1);
    assert_float_equal(ratio.ratio, 2, 1e-12);
    assert_float_equal(ratio.ci95_low, 2, 1e-12);
    assert_float_equal(ratio.ci95_high, 2, 1e-12);
}

static void ratio_above_one_means_the_candidate_is_faster(void **state)
{
    (void)state;
    agb_ratio ratio = agb_paired_ratio((double[]){3, 3, 4, 4, 2}, (double[]){2, 1, 2, 2, 1}, NULL, 5, 1);
    assert_float_equal(ratio.ratio, 2, 1e-12);
    assert_true(ratio.ci95_low >= 1.5 - 1e-12 && ratio.ci95_high <= 3 + 1e-12);
}

/* Four processes of ten runs each; inside a process nothing varies. */
static void what_differs_between_processes_is_inside_the_interval(void **state)
{
    (void)state;
    enum { RUNS = 10, PROCESSES = 4, SIZE = RUNS * PROCESSES };
    static const double level[PROCESSES] = {1.00, 1.04, 0.96, 1.02};
    double values[SIZE], ones[SIZE];
    unsigned process[SIZE];
    for (unsigned i = 0; i < SIZE; i++) {
        process[i] = i % PROCESSES;
        values[i] = level[process[i]];
        ones[i] = 1;
    }
    agb_summary together = agb_summarize_processes(values, process, SIZE, 1);
    agb_summary alone = agb_summarize(values, SIZE, 1);
    assert_float_equal(together.median, alone.median, 0);
    assert_true(together.ci95_high - together.ci95_low > 1.5 * (alone.ci95_high - alone.ci95_low));
    assert_true(together.ci95_low <= 0.98 && together.ci95_high >= 1.02);
    agb_ratio ratio = agb_paired_ratio(ones, values, process, SIZE, 1);
    assert_true(ratio.ci95_low < 1 && ratio.ci95_high > 1);
}

static void numbers_of_processes_may_have_gaps(void **state)
{
    (void)state;
    const double values[] = {3, 1, 2, 5, 4, 6};
    agb_summary a = agb_summarize_processes(values, (unsigned[]){0, 1, 1, 0, 1, 0}, 6, 9);
    agb_summary b = agb_summarize_processes(values, (unsigned[]){3, 7, 7, 3, 7, 3}, 6, 9);
    assert_true(a.ci95_low < a.median && a.ci95_high > a.median);
    assert_memory_equal(&a, &b, sizeof a);
}

static void unpaired_ratio_is_that_of_the_medians(void **state)
{
    (void)state;
    agb_ratio ratio = agb_unpaired_ratio((agb_values){(double[]){4, 6, 5, 5, 5.5, 4.5}, NULL, 6},
                                         (agb_values){(double[]){2, 2.5, 3, 2.4, 2.6}, NULL, 5}, 1);
    assert_float_equal(ratio.ratio, 2, 1e-12);
    agb_values few = {(double[]){4, 6, 5}, NULL, 3};
    assert_true(isnan(agb_unpaired_ratio(few, few, 1).ci95_low));
    assert_true(ratio.ci95_low >= 4.0 / 3 && ratio.ci95_low < 2 && ratio.ci95_high > 2 && ratio.ci95_high <= 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(median_of_odd_and_even_samples),
        cmocka_unit_test(few_values_have_no_interval),
        cmocka_unit_test(input_is_left_as_it_was),
        cmocka_unit_test(same_seed_and_any_order_give_the_same_interval),
        cmocka_unit_test(interval_holds_the_median_and_stays_inside_the_sample),
        cmocka_unit_test(interval_holds_the_true_median_about_95_times_in_100),
        cmocka_unit_test(ratio_of_pairs_ignores_what_both_share),
        cmocka_unit_test(ratio_above_one_means_the_candidate_is_faster),
        cmocka_unit_test(what_differs_between_processes_is_inside_the_interval),
        cmocka_unit_test(numbers_of_processes_may_have_gaps),
        cmocka_unit_test(unpaired_ratio_is_that_of_the_medians),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
