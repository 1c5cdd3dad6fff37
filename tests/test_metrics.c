/* SPDX-License-Identifier: MIT */
/* Metrics over repetitions and passes, and counts that cannot be true: a reason, never a number. */
#include "recorded.h"

static agb_metrics computed(const agb_repetition_counts *repetitions, size_t n)
{
    agb_counter_support support = support_of(family_named("zen4"));
    agb_metrics metrics;
    agb_metrics_compute(&support, repetitions, n, -1, &metrics);
    return metrics;
}

static agb_repetition_counts zen4_slots(double cycles, double retired, double backend, double loads, double waits)
{
    return repetition_of(family_named("zen4"), 0, (count[]){
        {"CYC", cycles}, {"OPS", retired}, {"BE", backend}, {"LDNC", loads}, {"NC", waits}, {0}});
}

static agb_repetition_counts zen4_frontend(double cycles, double retired, double dispatched, double frontend,
                                            double smt)
{
    return repetition_of(family_named("zen4"), 1, (count[]){
        {"CYC", cycles}, {"OPS", retired}, {"DISP", dispatched}, {"FE", frontend}, {"SMT", smt}, {0}});
}

static void passes_are_joined_by_medians(void **state)
{
    (void)state;
    agb_repetition_counts repetitions[] = {
        zen4_slots(1e9, 1.2e9, 3e9, 1, 2), zen4_frontend(1e9, 1.2e9, 1.5e9, 1.5e9, 0),
        zen4_slots(1e9, 1.1e9, 3e9, 1, 2), zen4_frontend(1e9, 1.2e9, 1.5e9, 1.5e9, 0),
        zen4_slots(1e9, 5e9, 0, 1, 2), {.pass = -1, .reason = "this one was refused"},
    };
    agb_metrics metrics = computed(repetitions, 6);
    check(&metrics, AGB_RETIRING_PCT, 20);
    check(&metrics, AGB_BACKEND_BOUND_PCT, 50);
    check(&metrics, AGB_FRONTEND_BOUND_PCT, 25);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 5);
    assert_non_null(strstr(metrics.reason, "this one was refused"));
    assert_int_equal(metrics.counted[AGB_RETIRING_PCT], 5);
    assert_float_equal(metrics.least[AGB_RETIRING_PCT], 100 * 1.1 / 6, 1e-9);
    assert_float_equal(metrics.most[AGB_RETIRING_PCT], 100 * 5.0 / 6, 1e-9);
}

static void shares_that_do_not_close_are_withheld(void **state)
{
    (void)state;
    agb_repetition_counts too_much[] = {zen4_slots(1e9, 4e9, 2e9, 1, 2), zen4_frontend(1e9, 4e9, 5.2e9, 3.6e9, 0)};
    agb_metrics metrics = computed(too_much, 2);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "180.0 %");
    assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "unreliable");
    assert_true(metrics.has[AGB_CYCLES]);
    agb_repetition_counts too_little[] = {zen4_slots(1e9, 1e9, 2e9, 1, 2), zen4_frontend(1e9, 1e9, 1e9, 1e9, 0)};
    metrics = computed(too_little, 2);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "66.7 %");
    agb_repetition_counts within[] = {zen4_slots(1e9, 3e9, 2e9, 1, 2), zen4_frontend(1e9, 3e9, 3.1e9, 0.99e9, 0)};
    metrics = computed(within, 2);
    assert_true(metrics.has[AGB_RETIRING_PCT]);
}

static void retired_above_the_width_is_withheld_not_clamped(void **state)
{
    (void)state;
    agb_repetition_counts repetition = zen4_slots(1e9, 9.06e9, 1e8, 1, 2);
    agb_metrics metrics = computed(&repetition, 1);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "retiring_pct: unreliable: came out as 151.0 %");
}

static void one_impossible_share_withholds_its_whole_group_with_the_reason(void **state)
{
    (void)state;
    static const agb_metric shares[] = {AGB_RETIRING_PCT, AGB_BACKEND_BOUND_PCT, AGB_MEMORY_BOUND_PCT,
                                        AGB_CORE_BOUND_PCT};
    agb_repetition_counts repetition = zen4_slots(1e9, 9.06e9, 3e9, 1, 2);
    agb_metrics metrics = computed(&repetition, 1);
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++)
        assert_withheld(&metrics, shares[i], "151.0 %, outside 0..100; all shares of pass slots are withheld");
    assert_true(metrics.has[AGB_CYCLES] && metrics.has[AGB_OPS_RETIRED]);
    repetition = zen4_slots(1e9, 1e9, 3e9, 3, 2);
    metrics = computed(&repetition, 1);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "a part above its whole; all shares of pass slots are withheld");
    agb_repetition_counts other[] = {zen4_slots(1e9, 9.06e9, 3e9, 1, 2), zen4_frontend(1e9, 1.2e9, 1.5e9, 1.5e9, 0)};
    metrics = computed(other, 2);
    check(&metrics, AGB_RETIRING_PCT, 20);    /* by the other group */
    assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "151.0 %");
}

static void counters_that_were_never_switched_on_say_so(void **state)
{
    (void)state;
    agb_repetition_counts repetition = zen4_slots(0, 0, 0, 0, 0);
    repetition.total.enabled_ns = repetition.total.running_ns = 0;
    agb_metrics metrics = computed(&repetition, 1);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "never switched on");
}

static void negative_memory_share_is_withheld(void **state)
{
    (void)state;
    agb_metrics metrics = {0};
    agb_metrics_set_share(&metrics, AGB_MEMORY_BOUND_PCT, -0.2, 1);
    assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "came out as -20.0 %");
    agb_metrics_set_share(&metrics, AGB_BAD_SPECULATION_PCT, -0.002, 1);
    check(&metrics, AGB_BAD_SPECULATION_PCT, 0);
    agb_metrics_set_share(&metrics, AGB_RETIRING_PCT, NAN, 1);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "retiring_pct: unreliable");
}

static void zero_denominators_give_a_reason(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("zen4", "slots", (count[]){{"CYC", 0}, {"OPS", 5}, {"BE", 5}, {"NC", 1}, {0}});
    assert_withheld(&metrics, AGB_RETIRING_PCT, "counted as 0");
    metrics = metrics_of("zen4", "slots", (count[]){{"CYC", 100}, {"OPS", 5}, {"BE", 5}, {"NC", 0}, {0}});
    assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "NC is 0");
    check(&metrics, AGB_BACKEND_BOUND_PCT, 100.0 * 5 / 600);
    metrics = metrics_of("zen4", "slots", (count[]){{"CYC", 100}, {"BE", 5}, {"LDNC", 3}, {"NC", 2}, {0}});
    assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "LDNC/NC is 1.50");
}

static void more_retired_than_dispatched_is_no_bad_speculation(void **state)
{
    (void)state;
    agb_metrics metrics = metrics_of("zen4", "frontend", (count[]){{"CYC", 100}, {"OPS", 90}, {"DISP", 80}, {0}});
    check(&metrics, AGB_BAD_SPECULATION_PCT, 0);
    assert_non_null(strstr(metrics.reason, "fewer operations dispatched than retired"));
}

static void guest_with_fantasy_counts_is_not_believed(void **state)
{
    (void)state;
    agb_repetition_counts idle = zen4_slots(4000, 395, 100, 1, 2);
    idle.total.enabled_ns = idle.total.running_ns = 1000000000;
    agb_metrics metrics = computed(&idle, 1);
    assert_withheld(&metrics, AGB_CYCLES, "4000 cycles a second");
    agb_repetition_counts few = repetition_of(family_named("zen4"), 2, (count[]){{"CYC", 3e9}, {"INS", 395}, {0}});
    metrics = computed(&few, 1);
    assert_withheld(&metrics, AGB_INSTRUCTIONS, "395");
    assert_withheld(&metrics, AGB_IPC, "unreliable");
    agb_repetition_counts fast = zen4_slots(5e10, 1e9, 1e9, 1, 2);
    fast.total.enabled_ns = fast.total.running_ns = 1000000000;
    metrics = computed(&fast, 1);
    assert_withheld(&metrics, AGB_CYCLES, "50.0 GHz");
}

static void times_near_two_to_the_forty_do_not_overflow(void **state)
{
    (void)state;
    double large = (double)(1ull << 40);
    agb_repetition_counts repetition = zen4_slots(large, large, 2 * large, 1, 2);
    repetition.total.enabled_ns = repetition.total.running_ns = 1ull << 40;
    agb_metrics metrics = computed(&repetition, 1);
    check(&metrics, AGB_RETIRING_PCT, 100.0 / 6);
    check(&metrics, AGB_COVERAGE_PCT, 100);
}

static void short_or_unentered_phases_say_so(void **state)
{
    (void)state;
    agb_counter_support support = support_of(family_named("zen4"));
    agb_repetition_counts repetition = zen4_slots(1e9, 1e9, 1e9, 1, 2);
    repetition.phase[1] = (agb_counts){.value = {1000, 1000, 1000, 1, 2}, .enabled_ns = 2000, .running_ns = 2000};
    agb_metrics metrics;
    agb_metrics_compute(&support, &repetition, 1, 1, &metrics);
    assert_withheld(&metrics, AGB_RETIRING_PCT, "too short");
    agb_metrics_compute(&support, &repetition, 1, 2, &metrics);
    assert_false(metrics.has[AGB_RETIRING_PCT]);
}

static void without_counters_every_metric_is_absent_with_the_reason(void **state)
{
    (void)state;
    agb_counter_support support = {.reason = "no PMU in this machine"};
    agb_metrics metrics;
    agb_metrics_compute(&support, NULL, 0, -1, &metrics);
    for (unsigned metric = 0; metric < AGB_METRICS; metric++)
        assert_withheld(&metrics, metric, "no PMU in this machine");
}

static void every_metric_has_a_name_of_its_own(void **state)
{
    (void)state;
    for (unsigned metric = 0; metric < AGB_METRICS; metric++)
        for (unsigned other = 0; other < metric; other++)
            assert_string_not_equal(agb_metric_name(metric), agb_metric_name(other));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes_are_joined_by_medians),
        cmocka_unit_test(shares_that_do_not_close_are_withheld),
        cmocka_unit_test(retired_above_the_width_is_withheld_not_clamped),
        cmocka_unit_test(one_impossible_share_withholds_its_whole_group_with_the_reason),
        cmocka_unit_test(counters_that_were_never_switched_on_say_so),
        cmocka_unit_test(negative_memory_share_is_withheld),
        cmocka_unit_test(zero_denominators_give_a_reason),
        cmocka_unit_test(more_retired_than_dispatched_is_no_bad_speculation),
        cmocka_unit_test(guest_with_fantasy_counts_is_not_believed),
        cmocka_unit_test(times_near_two_to_the_forty_do_not_overflow),
        cmocka_unit_test(short_or_unentered_phases_say_so),
        cmocka_unit_test(without_counters_every_metric_is_absent_with_the_reason),
        cmocka_unit_test(every_metric_has_a_name_of_its_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
