/* SPDX-License-Identifier: MIT */
/* Complete results of a small run of two right contestants, called naive and radix, without counts, for tests of the
 * reports to put figures into. */
#ifndef AGB_TWO_RESULTS_H
#define AGB_TWO_RESULTS_H

#include "contestants.h"
#include "experiment.h"

static const agb_aggregator two_results_contestant = CONTESTANT("good", counting_finish);

static inline void rename_result(agb_result *result, const char *name)
{
    free(result->name);
    result->name = strdup(name);
}

static inline void two_results(agb_results *results)
{
    agb_registry *registry;
    agb_entry entries[] = {{.aggregator = &two_results_contestant, .name = "good", .params = ""},
                           {.aggregator = &two_results_contestant, .name = "good", .params = ""}};
    char *sources[] = {"synth:uniform,rows=20000,groups=500"};
    assert_ok(agb_registry_create(&registry, err));
    agb_experiment experiment = {.registry = registry, .sources = sources, .n_sources = 1, .entries = entries,
                                 .n_entries = 2, .timeout_s = 60,
                                 .settings = {.group_by = "UserID", .threads = 1, .repetitions = 5, .warmup = 1,
                                              .seed = 1, .batch_rows = 1000, .hash = "fold", .top = 3}};
    *results = (agb_results){0};
    assert_ok(agb_experiment_run(&experiment, results, err));
    agb_registry_destroy(registry);
    for (size_t i = 0; i < 2; i++) {
        rename_result(&results->results[i], i ? "radix" : "naive");
        results->results[i].metrics = (agb_metrics){0};
    }
}

#endif
