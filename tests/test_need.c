/* SPDX-License-Identifier: MIT */
/* What every strategy says of its memory (`aggbench list`) is held to what it takes, of words and, by the contract's
 * rule, of larger keys. One that says nothing, as the contract allows, is named as skipped. */
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

/* Peak over stated bound, of which what grows counts `times`, and bytes of strings come on top. */
static double part_of_the_bound(const agb_aggregator *aggregator, const agb_table *table, const char *column,
                                agb_sink *sink, double times, double string_bytes)
{
    agb_need need = aggregator->need;
    agb_plan plan = {.table = table, .column = column, .aggregator = aggregator, .caches = &caches};
    agb_stats stats;
    assert_ok(agb_count_groups(&plan, sink, &stats, err));
    double bound = need.fixed_bytes + times * need.bytes_per_row * (double)stats.rows +
                   times * need.bytes_per_group * (double)agb_sink_digest(sink).groups + string_bytes;
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
            double part = part_of_the_bound(aggregator, table, "UserID", sink, 1, 0);
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

/* A table of the column UserID, and of strings made from it. */
typedef struct wide_source {
    agb_table *loaded, *strings;
    agb_bytes *string;
    char *text;
    double bytes;    /* of all strings */
} wide_source;

static wide_source wide_source_of(const agb_registry *registry, const char *spec)
{
    enum { MOST_LENGTH = 64 };
    const char *columns[] = {"UserID"};
    wide_source source = {0};
    agb_column column;
    assert_ok(agb_table_load(&source.loaded, registry, spec, columns, 1, NULL, err));
    assert_true(agb_table_find_column(source.loaded, "UserID", &column));
    size_t rows = (size_t)agb_table_rows(source.loaded);
    source.string = calloc(rows, sizeof *source.string);
    source.text = malloc(rows * MOST_LENGTH);
    char *at = source.text;
    for (size_t i = 0; i < rows; i++) {
        uint64_t word = ((const uint64_t *)column.values)[i];
        int length = snprintf(at, MOST_LENGTH, "%.*s%llx", (int)(word % 32), "https://example.org/a/beginning/",
                              (unsigned long long)word);
        source.string[i] = (agb_bytes){(const unsigned char *)at, (size_t)length};
        source.bytes += length;
        at += length;
    }
    assert_ok(agb_table_create(&source.strings, err));
    assert_ok(agb_table_lend(source.strings, "text", AGB_TYPE_BYTES, source.string, rows, err));
    return source;
}

static void wide_source_release(wide_source *source)
{
    agb_table_destroy(source->loaded);
    agb_table_destroy(source->strings);
    free(source->string);
    free(source->text);
}

static void larger_keys_take_no_more_than_the_contract_s_multiple(void **state)
{
    (void)state;
    static const char *const wide_shapes[] = {"synth:uniform,rows=200k,groups=200k",
                                              "synth:uniform,rows=200k,groups=1000"};
    agb_registry *registry;
    agb_sink *sink;
    const agb_aggregator *aggregator;
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_sink_checksum(&sink, err));
    for (size_t shape = 0; shape < sizeof wide_shapes / sizeof wide_shapes[0]; shape++) {
        wide_source source = wide_source_of(registry, wide_shapes[shape]);
        for (size_t i = 0; (aggregator = agb_registry_aggregator_at(registry, i)); i++) {
            if (says_nothing(aggregator) || agb_key_kind_refusal(aggregator, AGB_KEYS_PAIR))
                continue;
            double pairs = part_of_the_bound(aggregator, source.loaded, "1,UserID", sink, 2, 0);
            double strings = part_of_the_bound(aggregator, source.strings, "text", sink, 3, 2 * source.bytes);
            if (pairs > 1 || strings > 1)
                fail_msg("%s on %s: %.2f times what it states as pairs, %.2f as strings", aggregator->name,
                         wide_shapes[shape], pairs, strings);
        }
        wide_source_release(&source);
    }
    agb_sink_destroy(sink);
    agb_registry_destroy(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_strategy_takes_more_than_it_states_or_states_twice_what_it_takes),
        cmocka_unit_test(larger_keys_take_no_more_than_the_contract_s_multiple)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
