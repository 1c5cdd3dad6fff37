/* SPDX-License-Identifier: MIT */
/* What every strategy says of its memory (`aggbench list`) is held to what it takes. One that says nothing, as the
 * contract allows, is named as skipped. */
#include "test.h"

static const char *const shapes[] = {
    "synth:hits,rows=1M", "synth:hits,rows=1M,order=shuffled", "synth:same,rows=1M", "synth:zipf,rows=1M,groups=300000",
    "synth:uniform,rows=1M,groups=1000", "synth:uniform,rows=1M,groups=1M",
    "synth:uniform,rows=1500000,groups=1500000", "synth:sequential,rows=1M,groups=1M"};
enum { SHAPES = sizeof shapes / sizeof shapes[0], MOST_STRATEGIES = 64 };

static const agb_caches caches = {.line = 64, .l1d = 32 << 10, .l2 = 1 << 20, .l3 = 32 << 20};

static bool says_nothing(const agb_aggregator *aggregator)
{
    agb_need need = aggregator->need;
    return need.bytes_per_row == 0 && need.bytes_per_group == 0 && need.fixed_bytes == 0;
}

/* Peak over stated bound. */
static double part_of_the_bound(const agb_aggregator *aggregator, const agb_table *table, agb_sink *sink)
{
    agb_need need = aggregator->need;
    agb_plan plan = {.table = table, .column = "UserID", .aggregator = aggregator, .caches = &caches};
    agb_stats stats;
    assert_ok(agb_count_groups(&plan, sink, &stats, err));
    double bound = need.fixed_bytes + need.bytes_per_row * (double)stats.rows +
                   need.bytes_per_group * (double)agb_sink_digest(sink).groups;
    return (double)stats.peak_bytes / bound;
}

static void no_strategy_takes_more_than_it_states_or_states_twice_what_it_takes(void **state)
{
    (void)state;
    agb_registry *registry;
    agb_sink *sink;
    const char *columns[] = {"UserID"};
    const agb_aggregator *aggregator;
    double most[MOST_STRATEGIES] = {0};
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_sink_checksum(&sink, err));
    for (size_t shape = 0; shape < SHAPES; shape++) {
        agb_table *table;
        assert_ok(agb_table_load(&table, registry, shapes[shape], columns, 1, NULL, err));
        for (size_t i = 0; (aggregator = agb_registry_aggregator_at(registry, i)); i++) {
            assert_true(i < MOST_STRATEGIES);
            if (says_nothing(aggregator))
                continue;
            double part = part_of_the_bound(aggregator, table, sink);
            if (part > 1)
                fail_msg("%s on %s: %.2f times what it states", aggregator->name, shapes[shape], part);
            most[i] = part > most[i] ? part : most[i];
        }
        agb_table_destroy(table);
    }
    for (size_t i = 0; (aggregator = agb_registry_aggregator_at(registry, i)); i++)
        if (says_nothing(aggregator))
            printf("skipped: %s states no need: aggregators/template.c shows how\n", aggregator->name);
        else if (most[i] < 0.5)
            fail_msg("%s: never takes more than %.2f of what it states", aggregator->name, most[i]);
    agb_sink_destroy(sink);
    agb_registry_destroy(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_strategy_takes_more_than_it_states_or_states_twice_what_it_takes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
