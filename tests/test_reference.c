/* SPDX-License-Identifier: MIT */
/* The reference answer, when its process fails: nothing is measured without it, and one sentence says why. */
#include "experiment.h"
#include "plugins/counting.h"
#include "process.h"
#include "test.h"

#include <signal.h>

/* An experiment whose reference answer this aggregator is to give. */
static void run_with_reference(agb_status wanted, const char *words, agb_status (*finish)(void *state))
{
    const agb_aggregator sort = {
        .abi = AGB_AGGREGATOR_ABI, .size = sizeof sort, .name = "sort", .summary = "for tests",
        .phases = counting_phases, .traits = AGB_TAKES_WORDS, .create = counting_create, .consume = counting_consume,
        .finish = finish, .destroy = counting_destroy};
    agb_entry entries[] = {{.aggregator = &sort, .name = "sort", .params = ""}};
    char source[] = "synth:uniform,rows=20000,groups=500";
    char *sources[] = {source};
    agb_registry *registry;
    assert_ok(agb_registry_create_empty(&registry, err));
    assert_ok(agb_registry_add_aggregator(registry, &sort, err));
    agb_experiment experiment = {.registry = registry, .sources = sources, .n_sources = 1, .entries = entries,
                                 .n_entries = 1, .timeout_s = 0.3,
                                 .settings = {.group_by = "UserID", .threads = 1, .repetitions = 1, .batch_rows = 1000,
                                              .hash = "fold"}};
    agb_results results = {0};
    assert_fails(wanted, words, agb_experiment_run(&experiment, &results, err));
    agb_results_release(&results);
    agb_registry_destroy(registry);
}

static agb_status hang(void *state)
{
    (void)state;
    pause();
    return AGB_OK;
}

static agb_status stop(void *state)
{
    (void)state;
    raise(SIGSTOP);
    return AGB_OK;
}

static agb_status ask_too_much(void *state)
{
    counting *self = state;
    return agb_alloc(self->host, (size_t)1 << 60, 0) ? AGB_OK : AGB_ERR_MEMORY;
}

static void a_reference_that_hangs_is_ended_in_time(void **state)
{
    (void)state;
    double start = agb_now_s();
    run_with_reference(AGB_ERR_CONTRACT, "reference answer: sort|not ready after 0.3 s|--timeout", hang);
    run_with_reference(AGB_ERR_CONTRACT, "reference answer: sort|not ready after 0.3 s|--timeout", stop);
    assert_true(agb_now_s() - start < 10);
}

static void a_reference_without_memory_says_how_much_it_takes(void **state)
{
    (void)state;
    run_with_reference(AGB_ERR_MEMORY, "reference answer: sort|2 x 8 bytes a row|320000 bytes for 20000 rows",
                       ask_too_much);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reference_that_hangs_is_ended_in_time),
        cmocka_unit_test(a_reference_without_memory_says_how_much_it_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
