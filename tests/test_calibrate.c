/* SPDX-License-Identifier: MIT */
/* Two loops must land where theory says before shares are shown; and events of the user's choice. A backend whose
 * counts depend on the loop that runs stands in for the kernel. */
#include "recorded.h"

#include "perf.h"
#include "pfm.h"

#include <errno.h>

enum { MOST_HANDLES = 64, SPIN, CHASE };

/* What one loop shall count, in percent of the slots. */
typedef struct landing {
    double retiring, backend, memory;
} landing;

typedef struct fake {
    landing spin, chase;
    uint64_t refuse;      /* this code cannot be opened */
    uint64_t user;        /* what every other code counts */
    int running;
    uint64_t config[MOST_HANDLES];
    int leader[MOST_HANDLES];
    int handles;
    double running_share;
} fake;

static int fake_open(void *context, uint32_t type, uint64_t config, uint64_t config1, int leader)
{
    fake *self = context;
    (void)type;
    (void)config1;
    if (config == self->refuse)
        return -ENOENT;
    self->config[self->handles] = config;
    self->leader[self->handles] = leader < 0 ? self->handles : leader;
    return self->handles++;
}

static int fake_switch(void *context, int leader)
{
    (void)context;
    (void)leader;
    return 0;
}

/* Zen 4's codes, see counters.md: 1e9 cycles of 6 slots. */
static uint64_t count_of(const fake *self, uint64_t config)
{
    const landing *now = self->running == SPIN ? &self->spin : &self->chase;
    const double cycles = 1e9, slots = 6e9;
    switch (config) {
    case 0x76: return (uint64_t)cycles;
    case 0xc1: return (uint64_t)(slots * now->retiring / 100);
    case 0x100001ea0: return (uint64_t)(slots * now->backend / 100);
    case 0xa2d6: return (uint64_t)(1e6 * now->memory / now->backend);
    case 0x2d6: return 1000000;
    default: return self->user;
    }
}

static int fake_read(void *context, int leader, agb_perf_reading *out)
{
    const fake *self = context;
    *out = (agb_perf_reading){.enabled_ns = 1000000000, .running_ns = (uint64_t)(1e9 * self->running_share)};
    for (int handle = leader; handle < self->handles && self->leader[handle] == leader; handle++)
        out->value[out->events++] = count_of(self, self->config[handle]);
    return 0;
}

static void fake_close(void *context, int handle)
{
    (void)context;
    (void)handle;
}

static void run_spin(void *context)
{
    ((fake *)context)->running = SPIN;
}

static void run_chase(void *context)
{
    ((fake *)context)->running = CHASE;
}

static fake sound(void)
{
    return (fake){.spin = {80, 10, 2}, .chase = {1, 95, 93}, .running_share = 1, .refuse = UINT64_MAX, .user = 12345};
}

static agb_perf backend_of(fake *fake)
{
    return (agb_perf){fake, fake_open, fake_switch, fake_switch, fake_read, fake_close};
}

/* Zen 4's first pass alone: the one with the shares in question. */
static agb_counter_support calibrate(fake *fake)
{
    agb_perf perf = backend_of(fake);
    agb_perf_place place = {.root = "/nonexistent", .perf = &perf};
    agb_counter_support support = support_of(family_named("zen4"));
    support.passes = 1;
    agb_calibration_loops loops = {.context = fake, .spin = run_spin, .chase = run_chase};
    agb_counters_calibrate_on(&place, &support, &loops);
    return support;
}

static void loops_that_land_where_theory_says_let_shares_be_shown(void **state)
{
    (void)state;
    fake fake = sound();
    agb_counter_support support = calibrate(&fake);
    assert_string_equal(support.uncalibrated, "");
    assert_non_null(strstr(support.calibration, "retiring 80.0 % while computing, 1.0 % while chasing pointers"));
    assert_non_null(strstr(support.calibration, "memory bound 2.0 and 93.0 %"));
}

static void loops_that_land_elsewhere_withhold_the_shares_and_say_why(void **state)
{
    (void)state;
    for (int broken = 0; broken < 4; broken++) {
        fake fake = sound();
        if (broken == 0)
            fake.spin.retiring = 5;    /* computing hardly retires */
        else if (broken == 1)
            fake.chase = (landing){50, 50, 48};    /* waiting retires */
        else if (broken == 2)
            fake.spin = (landing){50, 48, 45};
        else
            fake.chase.memory = 10;
        agb_counter_support support = calibrate(&fake);
        assert_non_null(strstr(support.uncalibrated, "withheld"));
        agb_repetition_counts counts =
            repetition_of(support.family, 0, (count[]){{"CYC", 4e9}, {"OPS", 8e9}, {"BE", 3e9}, {"LDNC", 1}, {"NC", 2},
                                                       {0}});
        agb_metrics metrics;
        agb_metrics_compute(&support, &counts, 1, -1, &metrics);
        assert_withheld(&metrics, AGB_RETIRING_PCT, "two loops do not land where theory says");
        assert_withheld(&metrics, AGB_MEMORY_BOUND_PCT, "withheld");
        assert_true(metrics.has[AGB_OPS_RETIRED] && metrics.has[AGB_CYCLES]);    /* counts are no shares */
    }
}

static void loops_that_cannot_be_counted_withhold_the_shares(void **state)
{
    (void)state;
    fake fake = sound();
    fake.running_share = 0.5;
    agb_counter_support support = calibrate(&fake);
    assert_non_null(strstr(support.uncalibrated, "could not be counted"));
    assert_non_null(strstr(support.uncalibrated, "50 %"));
}

static void families_without_slots_have_nothing_to_calibrate(void **state)
{
    (void)state;
    agb_perf perf = {0};
    agb_perf_place place = {.root = "/nonexistent", .perf = &perf};
    agb_counter_support support = support_of(family_named("neoverse_n1"));
    agb_counters_calibrate_on(&place, &support, &(agb_calibration_loops){0});
    assert_string_equal(support.uncalibrated, "");
    assert_string_equal(support.calibration, "");
}

/* ---- Events of the user's choice --------------------------------------------------------------------------------- */

static agb_status add(fake *fake, agb_counter_support *support, const char *list, agb_error *err)
{
    agb_perf perf = backend_of(fake);
    agb_perf_place place = {.root = "/nonexistent", .perf = &perf};
    return agb_counters_add_events_on(&place, support, list, err);
}

static void raw_codes_and_names_become_passes_of_their_own(void **state)
{
    (void)state;
    fake fake = sound();
    agb_counter_support support = support_of(family_named("zen4"));
    unsigned passes = support.passes;
    assert_ok(add(&fake, &support, "r1c0,r100001EA0", err));
    assert_int_equal(support.events, 2);
    assert_int_equal(support.event[0].config, 0x1c0);
    assert_int_equal(support.event[1].config, 0x100001ea0);
    assert_int_equal(agb_counters_passes(&support), passes + 2);
    assert_string_equal(agb_counters_event_of(&support, passes + 1)->name, "r100001EA0");
    assert_null(agb_counters_event_of(&support, passes + 2));
    assert_null(agb_counters_event_of(&support, 0));
    if (agb_pfm_is_built_in()) {
        assert_ok(add(&fake, &support, "amd64_fam19h_zen4::RETIRED_OPS", err));
        assert_int_equal(support.event[2].config, 0xc1);
    }
}

/* Their codes would open here, and count something else. */
static void names_of_another_processor_are_refused(void **state)
{
    (void)state;
    fake fake = sound();
    agb_counter_support zen5 = support_of(family_named("zen5")), unknown = {.reason = "no table"};
    if (!agb_pfm_is_built_in())
        skip();
    assert_fails(AGB_ERR_ARGUMENT, "skx::INST_RETIRED:ANY_P|another processor (skx)|Zen 5",
                 add(&fake, &zen5, "skx::INST_RETIRED:ANY_P", err));
    assert_fails(AGB_ERR_ARGUMENT, "another processor (nhm)|raw code",
                 add(&fake, &unknown, "nhm::INST_RETIRED:ANY_P", err));
    assert_ok(add(&fake, &zen5, "amd64_fam19h_zen4::RETIRED_OPS", err));    /* the library has no table of Zen 5 */
    assert_ok(add(&fake, &unknown, "perf::page-faults", err));
}

static void an_event_that_cannot_count_keeps_its_reason_and_takes_no_pass(void **state)
{
    (void)state;
    fake fake = sound();
    agb_counter_support support = {.reason = "no PMU"};
    fake.refuse = 0x77;
    assert_ok(add(&fake, &support, "r77,r78", err));
    assert_false(support.event[0].counts);
    assert_true(support.event[0].reason[0] != '\0');
    assert_int_equal(agb_counters_passes(&support), 1);
    assert_string_equal(agb_counters_event_of(&support, 0)->name, "r78");
}

static void wrong_names_are_one_sentence(void **state)
{
    (void)state;
    fake fake = sound();
    agb_counter_support support = {.reason = "no PMU"};
    assert_fails(AGB_ERR_ARGUMENT, "--events: nosuch: |libpfm4|r01c0", add(&fake, &support, "nosuch", err));
    assert_fails(AGB_ERR_ARGUMENT, "rxyz|libpfm4", add(&fake, &support, "rxyz", err));
    assert_fails(AGB_ERR_ARGUMENT, "r12345678123456781|libpfm4", add(&fake, &support, "r12345678123456781", err));
    assert_fails(AGB_ERR_ARGUMENT, "empty", add(&fake, &support, "", err));
    assert_fails(AGB_ERR_ARGUMENT, "empty", add(&fake, &support, "r1,,r2", err));
}

static void an_event_is_counted_in_its_own_repetitions(void **state)
{
    (void)state;
    fake fake = sound();
    agb_perf perf = backend_of(&fake);
    agb_perf_place place = {.root = "/nonexistent", .perf = &perf};
    agb_counter_support support = {.reason = "no PMU"};
    agb_counters *counters;
    agb_repetition_counts counts;
    agb_metrics metrics;
    assert_ok(add(&fake, &support, "r55", err));
    assert_ok(agb_counters_create_on(&counters, &place, &support, 1, err));
    agb_counters_arm(counters, 0, 0);
    const agb_observer *observer = agb_counters_observer(counters);
    observer->enter(observer->context, 0);
    observer->leave(observer->context, 0);
    agb_counters_collect(counters, &counts);
    agb_counters_destroy(counters);
    counts.total = (agb_counts){.value = {777}, .enabled_ns = 5, .running_ns = 5};    /* the fake's are equal */
    counts.pass = 0;
    agb_metrics_compute(&support, &counts, 1, -1, &metrics);
    assert_true(metrics.has_event[0] && metrics.event[0] == 777);
    counts.total.running_ns = 2;
    agb_metrics_compute(&support, &counts, 1, -1, &metrics);
    assert_false(metrics.has_event[0]);
    assert_non_null(strstr(metrics.reason, "r55: refused: it was counted 40 % of the time"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(loops_that_land_where_theory_says_let_shares_be_shown),
        cmocka_unit_test(loops_that_land_elsewhere_withhold_the_shares_and_say_why),
        cmocka_unit_test(loops_that_cannot_be_counted_withhold_the_shares),
        cmocka_unit_test(families_without_slots_have_nothing_to_calibrate),
        cmocka_unit_test(raw_codes_and_names_become_passes_of_their_own),
        cmocka_unit_test(names_of_another_processor_are_refused),
        cmocka_unit_test(an_event_that_cannot_count_keeps_its_reason_and_takes_no_pass),
        cmocka_unit_test(wrong_names_are_one_sentence),
        cmocka_unit_test(an_event_is_counted_in_its_own_repetitions),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
