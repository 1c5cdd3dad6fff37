/* SPDX-License-Identifier: MIT */
/* Counters without hardware: a scripted backend in place of the kernel. The real one is tried in test_perf.c. */
#include "fake_root.h"

#include "machine.h"
#include "perf.h"
#include "processor.h"

#include <errno.h>
#include <linux/perf_event.h>

/* ---- A backend that counts what it is told ----------------------------------------------------------------------- */

enum { MOST_GROUPS = 64, MEMBER = 1000 };

typedef struct fake {
    int open_error;                  /* given by every open, or: */
    int raw_error;                   /* by opens that are not of the kernel's generic events */
    int second_error;                /* by the second of a group */
    unsigned most_events;            /* the group's (n+1)-th open is EINVAL; 0 = no limit */
    uint64_t cycles, instructions;   /* of the generic events, for the self-test */
    uint64_t step[AGB_MOST_EVENTS];  /* what each reading of a running group adds */
    uint64_t enabled_ns, running_ns; /* likewise */
    int read_error;
    /* state */
    unsigned groups, opened, closed;
    struct group {
        bool generic, started;
        unsigned events;
        uint64_t readings;
    } group[MOST_GROUPS];
} fake;

static int fake_open(void *context, uint32_t type, uint64_t config, uint64_t config1, int leader)
{
    fake *self = context;
    (void)config;
    (void)config1;
    if (self->open_error)
        return -self->open_error;
    if (type != PERF_TYPE_HARDWARE && self->raw_error)
        return -self->raw_error;
    if (leader >= 0 && self->second_error)
        return -self->second_error;
    self->opened++;
    if (leader < 0) {
        unsigned new = self->groups++ % MOST_GROUPS;
        self->group[new] = (struct group){.generic = type == PERF_TYPE_HARDWARE, .events = 1};
        return (int)new;
    }
    struct group *group = &self->group[leader];
    if (self->most_events && group->events >= self->most_events) {
        self->opened--;
        return -EINVAL;
    }
    group->events++;
    return MEMBER;
}

static int fake_enable(void *context, int leader)
{
    ((fake *)context)->group[leader].started = true;
    return 0;
}

static int fake_disable(void *context, int leader)
{
    (void)context;
    (void)leader;
    return 0;
}

static int fake_read(void *context, int leader, agb_perf_reading *out)
{
    fake *self = context;
    struct group *group = &self->group[leader];
    if (self->read_error)
        return -self->read_error;
    if (group->started)
        group->readings++;
    *out = (agb_perf_reading){.events = group->events, .enabled_ns = group->readings * self->enabled_ns,
                              .running_ns = group->readings * self->running_ns};
    for (unsigned i = 0; i < group->events; i++)
        out->value[i] = group->readings * self->step[i];
    if (group->generic) {
        out->value[0] = self->cycles;
        out->value[1] = self->instructions;
    }
    return 0;
}

static void fake_close(void *context, int handle)
{
    (void)handle;
    ((fake *)context)->closed++;
}

/* One second of a core at 3 GHz: retiring 16.67 %, backend bound 50 %, memory bound 40 %. */
static fake healthy(void)
{
    return (fake){.cycles = 1500000, .instructions = 3000000, .enabled_ns = 1000000000, .running_ns = 1000000000,
                  .step = {3000000000u, 3000000000u, 9000000000u, 1600000000u, 2000000000u}};
}

static agb_perf backend_of(fake *fake)
{
    return (agb_perf){fake, fake_open, fake_enable, fake_disable, fake_read, fake_close};
}

static const agb_cpu_id zen4 = {.vendor = "AuthenticAMD", .family = 25, .model = 17};

static agb_counter_support probe(fake *fake, const char *root, agb_cpu_id cpu)
{
    agb_perf perf = backend_of(fake);
    agb_perf_place place = {.root = root, .perf = &perf, .cpu = cpu};
    agb_counter_support support;
    agb_counters_probe_on(&place, &support);
    assert_int_equal(fake->opened, fake->closed);
    return support;
}

static void assert_says(const char *text, const char *words)
{
    agb_error err = {.status = AGB_ERR_UNSUPPORTED};
    snprintf(err.text, sizeof err.text, "%s", text);
    test_check_failure(text, AGB_ERR_UNSUPPORTED, words, AGB_ERR_UNSUPPORTED, &err, __FILE__, __LINE__);
}

/* ---- Probing ----------------------------------------------------------------------------------------------------- */

static void healthy_machine_counts_every_pass(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    assert_true(support.available);
    assert_string_equal(support.reason, "");
    assert_string_equal(support.processor, "Zen 4");
    assert_int_equal(support.passes, 3);
}

static void each_refusal_names_its_cause_and_its_cure(void **state)
{
    (void)state;
    static const struct {
        int error;
        const char *words;
    } cases[] = {
        {ENOENT, "no hardware counters in this virtual machine|KVM|no PMU|bare metal"},
        {EOPNOTSUPP, "no hardware counters in this virtual machine|bare metal"},
        {EACCES, "permission denied|kernel.perf_event_paranoid is 4|sysctl kernel.perf_event_paranoid=2|CAP_PERFMON"},
        {EPERM, "seccomp|--cap-add=PERFMON"},
        {ENOSYS, "CONFIG_PERF_EVENTS|sandbox"},
        {EMFILE, "ulimit -n"},
        {ENXIO, "extra register|bare metal"},
        {EBUSY, "another program"},
        {EIO, "dmesg"},
    };
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/sys/kernel/perf_event_paranoid", "4\n");
    fake_root_write(&root, "/sys/class/dmi/id/product_name", "KVM\n");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        fake fake = {.open_error = cases[i].error};
        agb_counter_support support = probe(&fake, root.path, zen4);
        assert_false(support.available);
        assert_int_equal(support.passes, 0);
        assert_says(support.reason, cases[i].words);
    }
    fake_root_destroy(&root);
}

static void bare_metal_without_driver_is_not_called_a_virtual_machine(void **state)
{
    (void)state;
    fake fake = {.open_error = ENOENT};
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    assert_says(support.reason, "no driver|dmesg");
    assert_null(strstr(support.reason, "virtual"));
}

static void unknown_processor_is_named_and_its_width_not_guessed(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_cpu_id unknown = {.vendor = "GenuineIntel", .family = 6, .model = 250, .stepping = 3};
    agb_counter_support support = probe(&fake, "/nowhere", unknown);
    assert_false(support.available);
    assert_null(support.family);
    assert_says(support.reason, "GenuineIntel family 6 model 250 stepping 3|in no table|not guessed");
}

static void pmu_without_instructions_is_not_called_missing(void **state)
{
    (void)state;
    fake fake = healthy();
    fake.second_error = ENOENT;
    assert_says(probe(&fake, "/nowhere", zen4).reason, "instructions|lacks the event");
}

static void group_too_large_says_how_many_counters_it_needs(void **state)
{
    (void)state;
    fake fake = healthy();
    fake.most_events = 2;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/cpuinfo", "flags\t\t: fpu hypervisor\n");
    agb_counter_support support = probe(&fake, root.path, zen4);
    fake_root_destroy(&root);
    assert_false(support.available);
    assert_says(support.reason, "3 counters|perfctr_core");
}

static void group_that_does_not_fit_is_spread_over_more_passes(void **state)
{
    (void)state;
    fake fake = healthy();
    fake.most_events = 4;
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    assert_true(support.available);
    assert_string_equal(support.reason, "");
    assert_int_equal(support.passes, 4);
    for (unsigned pass = 0; pass < support.passes; pass++)
        assert_in_range(agb_pass_events(&support.family->passes[support.pass_of[pass]]), 3, 4);
}

static void counters_that_miscount_a_known_loop_are_not_offered(void **state)
{
    (void)state;
    fake fake = healthy();
    fake.instructions = 395;
    assert_says(probe(&fake, "/nowhere", zen4).reason, "not believed|395 instructions");
    fake.instructions = 0;
    assert_false(probe(&fake, "/nowhere", zen4).available);
    fake.instructions = 900000000;
    assert_false(probe(&fake, "/nowhere", zen4).available);
    fake.instructions = 3000000;
    fake.cycles = 10;
    assert_false(probe(&fake, "/nowhere", zen4).available);
}

static void raw_events_that_stay_zero_are_not_offered(void **state)
{
    (void)state;
    fake fake = healthy();
    fake.step[0] = 0;
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    assert_false(support.available);
    assert_says(support.reason, "not believed|CYC");
}

static void watchdog_that_takes_a_counter_is_named(void **state)
{
    (void)state;
    fake fake = healthy();
    fake.running_ns = 0;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/sys/kernel/nmi_watchdog", "1\n");
    agb_counter_support support = probe(&fake, root.path, zen4);
    assert_false(support.available);
    assert_says(support.reason, "never ran|nmi_watchdog=0");
    fake.running_ns = fake.enabled_ns / 2;
    assert_says(probe(&fake, root.path, zen4).reason, "50 % of the time|nmi_watchdog=0");
    agb_cpu_id hybrid = zen4;
    hybrid.core = AGB_CORE_PERFORMANCE;
    assert_says(probe(&fake, root.path, hybrid).reason, "kinds of cores|--pin|or the NMI watchdog|nmi_watchdog=0");
    fake_root_write(&root, "/sys/bus/event_source/devices/cpu_core/cpus", "0-4095\n");
    agb_counter_support pinned = probe(&fake, root.path, hybrid);
    assert_says(pinned.reason, "the NMI watchdog holds a counter");
    assert_null(strstr(pinned.reason, "kinds of cores"));    /* it can not have left its kind */
    fake_root_write(&root, "/proc/sys/kernel/nmi_watchdog", "0\n");
    assert_says(probe(&fake, root.path, hybrid).reason, "another user of the counters");
    fake_root_destroy(&root);
}

static void kernel_and_table_must_agree_on_the_width(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_cpu_id wider = zen4;
    wider.slots = 9;
    agb_counter_support support = probe(&fake, "/nowhere", wider);
    assert_false(support.available);
    assert_says(support.reason, "9 slots|says 6");
}

static void this_machine_counts_or_says_why_not(void **state)
{
    (void)state;
    agb_counter_support support;
    agb_counters_probe(&support);
    printf("this machine: %s: %s\n", support.processor, support.available ? "counts" : support.reason);
    assert_true(support.available ? support.passes > 0 : support.reason[0] != '\0');
}

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

/* A repetition of `workers` that go through the phases 0, 1, 2 and back to 1. */
static agb_repetition_counts run(fake *fake, const agb_counter_support *support, unsigned workers, unsigned pass)
{
    agb_perf perf = backend_of(fake);
    agb_perf_place place = {.root = "/nowhere", .perf = &perf, .cpu = zen4};
    agb_counters *counters;
    agb_repetition_counts counts;
    assert_ok(agb_counters_create_on(&counters, &place, support, workers, err));
    const agb_observer *observer = agb_counters_observer(counters);
    for (unsigned worker = 0; worker < workers; worker++)
        agb_counters_arm(counters, worker, pass);
    for (unsigned worker = 0; worker < workers; worker++) {
        observer->enter(observer->context, worker);
        for (unsigned i = 0; i < 4; i++)
            observer->phase(observer->context, worker, (unsigned[]){0, 1, 2, 1}[i]);
        observer->leave(observer->context, worker);
    }
    agb_counters_collect(counters, &counts);
    agb_counters_destroy(counters);
    assert_int_equal(fake->opened, fake->closed);
    return counts;
}

static void phases_are_differences_and_add_up_to_the_total(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    agb_repetition_counts counts = run(&fake, &support, 1, 0);
    assert_int_equal(counts.pass, 0);
    assert_string_equal(counts.reason, "");
    assert_int_equal(counts.phase[0].value[0], 3000000000u);
    assert_int_equal(counts.phase[1].value[0], 6000000000u);
    assert_int_equal(counts.phase[2].value[0], 3000000000u);
    assert_int_equal(counts.phase[3].enabled_ns, 0);
    assert_int_equal(counts.total.value[0], 12000000000u);
    assert_int_equal(counts.total.enabled_ns, 4000000000u);
}

static void workers_are_summed_before_ratios_are_taken(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    agb_repetition_counts counts = run(&fake, &support, 3, 0);
    assert_int_equal(counts.total.value[1], 36000000000u);
    agb_metrics metrics;
    agb_metrics_compute(&support, &counts, 1, -1, &metrics);
    assert_true(metrics.has[AGB_MEMORY_BOUND_PCT]);
    assert_float_equal(metrics.value[AGB_MEMORY_BOUND_PCT], 40, 1e-9);
    assert_float_equal(metrics.value[AGB_RETIRING_PCT], 100.0 / 6, 1e-9);
    assert_float_equal(metrics.value[AGB_CYCLES], 36e9, 1);
    assert_float_equal(metrics.value[AGB_GHZ], 3, 1e-9);
    assert_float_equal(metrics.value[AGB_COVERAGE_PCT], 100, 1e-9);
    agb_metrics_compute(&support, &counts, 1, 2, &metrics);
    assert_float_equal(metrics.value[AGB_CYCLES], 9e9, 1);
}

static void partly_measured_group_is_refused_not_scaled(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    fake.running_ns = 330000000;
    agb_repetition_counts counts = run(&fake, &support, 2, 0);
    assert_int_equal(counts.pass, -1);
    assert_says(counts.reason, "33 % of the time|not scaled");
    agb_metrics metrics;
    agb_metrics_compute(&support, &counts, 1, -1, &metrics);
    assert_false(metrics.has[AGB_RETIRING_PCT] || metrics.has[AGB_CYCLES]);
    assert_float_equal(metrics.value[AGB_COVERAGE_PCT], 33, 1e-9);
    assert_says(metrics.reason, "33 %");
}

static void group_that_never_ran_is_not_measured(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    fake.running_ns = 0;
    agb_repetition_counts counts = run(&fake, &support, 1, 0);
    assert_int_equal(counts.pass, -1);
    assert_says(counts.reason, "not measured|never ran");
}

static void failure_while_counting_is_a_reason(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    fake.read_error = EIO;
    agb_repetition_counts counts = run(&fake, &support, 2, 1);
    assert_int_equal(counts.pass, -1);
    assert_says(counts.reason, "frontend|Input/output error");
    fake.read_error = 0;
    fake.raw_error = EMFILE;
    counts = run(&fake, &support, 2, 0);
    assert_int_equal(counts.pass, -1);
    assert_says(counts.reason, "ulimit -n");
    counts = run(&fake, &support, 1, 7);
    assert_says(counts.reason, "pass 7|0..2");
}

static void run_that_was_never_entered_counts_nothing(void **state)
{
    (void)state;
    fake fake = healthy();
    agb_counter_support support = probe(&fake, "/nowhere", zen4);
    agb_perf perf = backend_of(&fake);
    agb_perf_place place = {.root = "", .perf = &perf, .cpu = zen4};
    agb_counters *counters;
    agb_repetition_counts counts;
    assert_ok(agb_counters_create_on(&counters, &place, &support, 1, err));
    agb_counters_arm(counters, 0, 0);
    agb_counters_collect(counters, &counts);
    assert_int_equal(counts.pass, -1);
    assert_says(counts.reason, "nothing was counted");
    agb_counters_destroy(counters);
}

static void counters_are_not_created_where_they_are_not_available(void **state)
{
    (void)state;
    agb_counters *counters;
    agb_counter_support support = {.reason = "no PMU here"};
    assert_fails(AGB_ERR_UNSUPPORTED, "no PMU here", agb_counters_create(&counters, &support, 1, err));
    assert_null(counters);
    agb_counters_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(healthy_machine_counts_every_pass),
        cmocka_unit_test(each_refusal_names_its_cause_and_its_cure),
        cmocka_unit_test(bare_metal_without_driver_is_not_called_a_virtual_machine),
        cmocka_unit_test(unknown_processor_is_named_and_its_width_not_guessed),
        cmocka_unit_test(pmu_without_instructions_is_not_called_missing),
        cmocka_unit_test(group_too_large_says_how_many_counters_it_needs),
        cmocka_unit_test(group_that_does_not_fit_is_spread_over_more_passes),
        cmocka_unit_test(counters_that_miscount_a_known_loop_are_not_offered),
        cmocka_unit_test(raw_events_that_stay_zero_are_not_offered),
        cmocka_unit_test(watchdog_that_takes_a_counter_is_named),
        cmocka_unit_test(kernel_and_table_must_agree_on_the_width),
        cmocka_unit_test(this_machine_counts_or_says_why_not),
        cmocka_unit_test(phases_are_differences_and_add_up_to_the_total),
        cmocka_unit_test(workers_are_summed_before_ratios_are_taken),
        cmocka_unit_test(partly_measured_group_is_refused_not_scaled),
        cmocka_unit_test(group_that_never_ran_is_not_measured),
        cmocka_unit_test(failure_while_counting_is_a_reason),
        cmocka_unit_test(run_that_was_never_entered_counts_nothing),
        cmocka_unit_test(counters_are_not_created_where_they_are_not_available),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
