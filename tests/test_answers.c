/* SPDX-License-Identifier: MIT */
/* Whole counts of real rows: keys of every kind and filters against DuckDB's answers, and every column of every sample
 * file against samples/expected.json. */
#include "expected.h"
#include "loader.h"
#include "query.h"

/* Over hits/nano_hits.parquet, by DuckDB 1.5: groups, rows, largest count, sum of the counts' squares, and the fifth
 * group by count (from large to small) and key, its values parted by |. */
static const struct answer {
    const char *group_by, *where;
    uint64_t groups, rows, max_count, squares;
    const char *fifth;
    uint64_t fifth_count;
} answers[] = {
    {"UserID,SearchPhrase", NULL, 2703, 24586, 182, 1019588,
     "-2398344306775305602|", 142},
    {"WatchID,ClientIP", NULL, 24586, 24586, 1, 24586,
     "4613137157364279657|1820858951", 1},
    {"URL", NULL, 5639, 24586, 600, 1043702,
     "https://produkty%2F", 238},
    {"1,URL", NULL, 5639, 24586, 600, 1043702,
     "1|https://produkty%2F", 238},
    {"ClientIP,ClientIP-1,ClientIP-2,ClientIP-3", NULL, 1916, 24586, 194, 1127590,
     "797371404|797371403|797371402|797371401", 140},
    {"RegionID,OS", NULL, 383, 24586, 6240, 69526834,
     "1|2", 503},
    {"RegionID,OS,UserAgent", NULL, 628, 24586, 2518, 18510212,
     "229|2|7", 1012},
    {"CounterID,UserID,RegionID,OS,SearchPhrase", NULL, 2706, 24586, 182, 1019138,
     "38|-2398344306775305602|229|74|", 142},
    {"Title,URL,Referer", NULL, 9762, 24586, 168, 173668,
     "Convent-мененщин скейтшоп Proskater.ru - звезды услуги у BS-book Proskater.ru, мире - Яндекс.Погода|"
     "https://produkty%2Fproduct|https://google.com/fee=меньше", 72},
    {"WatchID,UserID,ClientIP,RegionID", NULL, 24586, 24586, 1, 24586,
     "4613137157364279657|-2878906195322192703|1820858951|229", 1},
    {"AdvEngineID", "AdvEngineID <> 0", 2, 765, 456, 303417,
     "", 0},
    {"SearchPhrase", "SearchPhrase <> ''", 1006, 3398, 238, 106500,
     "авторий", 53},
    {"SearchEngineID,SearchPhrase", "SearchPhrase <> ''", 1042, 3398, 186, 74872,
     "2|авторий", 49},
    {"UserID", "EventTime >= '2013-07-15 12:00:00'", 636, 7169, 130, 264525,
     "-4975559395456095104", 102},
    {"UserID", "EventTime < '2013-07-15 00:00:00'", 387, 4579, 194, 199153,
     "-8351596774216514728", 94},
    {"URL", "CounterID = 38 AND EventDate >= '2013-07-01' AND EventDate <= '2013-07-31' AND DontCountHits = 0 "
     "AND IsRefresh = 0 AND URL <> ''", 5621, 12335, 301, 252661,
     "https://produkty%2F", 111},
    {"Title", "CounterID = 38 AND EventDate >= '2013-07-15' AND IsRefresh <> 0", 4449, 12020, 611, 868172,
     "Друговицы Бритни Спирс", 170},
    {"URL", "EventDate > '2013-07-15'", 0, 0, 0, 0,
     "", 0},
    {"ClientIP", "UserID < 0 AND RegionID >= 229 AND URL > 'http://k' AND URL <= 'http://y'", 12, 109, 38, 2561,
     "-1513964642", 4},
    {"SearchPhrase", "UserID <> -7918574344944952583 AND ClientIP > -100000000", 698, 16878, 14567, 212246910,
     "авторий", 41},
    {"WindowClientWidth,WindowClientHeight", "IsRefresh = 0 AND WindowClientWidth > 1000", 1291, 10039, 191, 341033,
     "1863|580", 106},
};

static agb_registry *registry;

static int set_up(void **state)
{
    (void)state;
    assert_ok(agb_registry_create(&registry, err));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    agb_registry_destroy(registry);
    return 0;
}

static void print_key(const agb_key_layout *layout, const agb_key *key, char *out, size_t size)
{
    size_t at = 0;
    for (size_t i = 0; i < layout->columns; i++) {
        agb_value value = agb_key_value(layout, key, i);
        const char *bar = i ? "|" : "";
        if (value.type == AGB_TYPE_BYTES)
            at += (size_t)snprintf(out + at, size - at, "%s%.*s", bar, (int)value.bytes.length,
                                   (const char *)value.bytes.data);
        else
            at += (size_t)snprintf(out + at, size - at, agb_type_is_signed(value.type) ? "%s%lld" : "%s%llu", bar,
                                   (unsigned long long)value.word);
    }
}

static uint64_t sum_squares(const agb_sink *sink)
{
    agb_block block;
    uint64_t squares = 0;
    for (size_t number = 0; agb_sink_block(sink, number, &block); number++)
        for (size_t i = 0; i < block.groups; i++)
            squares += block.counts[i] * block.counts[i];
    return squares;
}

static void check_answer(const struct answer *wanted, const agb_plan *plan, const agb_key_layout *layout)
{
    agb_sink *sink;
    agb_group top[5];
    char fifth[1000] = "";
    assert_ok(agb_sink_collect(&sink, err));
    assert_ok(agb_count_groups(plan, sink, NULL, err));
    agb_digest digest = agb_sink_digest(sink);
    size_t n = agb_sink_top_groups(sink, top, 5, layout);
    if (n == 5)
        print_key(layout, &top[4].key, fifth, sizeof fifth);
    if (digest.groups != wanted->groups || digest.rows != wanted->rows || digest.max_count != wanted->max_count ||
        sum_squares(sink) != wanted->squares || strcmp(fifth, wanted->fifth) != 0 ||
        (n == 5 && top[4].count != wanted->fifth_count))
        fail_msg("%s: %s where %s: %llu groups, %llu rows, max %llu, fifth %s", plan->aggregator->name,
                 wanted->group_by, wanted->where ? wanted->where : "-", (unsigned long long)digest.groups,
                 (unsigned long long)digest.rows, (unsigned long long)digest.max_count, fifth);
    agb_sink_destroy(sink);
}

static void keys_and_filters_give_the_answers_of_duckdb(void **state)
{
    (void)state;
    char path[1000];
    agb_pool *pool;
    snprintf(path, sizeof path, "%s/hits/nano_hits.parquet", test_samples());
    assert_ok(agb_pool_create(&pool, 2, NULL, err));
    for (size_t q = 0; q < sizeof answers / sizeof *answers; q++) {
        const struct answer *wanted = &answers[q];
        agb_filter *filter = NULL;
        agb_query_columns columns;
        agb_table *table;
        agb_key_layout *layout;
        const agb_aggregator *a;
        if (wanted->where)
            assert_ok(agb_filter_parse(&filter, wanted->where, err));
        assert_ok(agb_query_columns_find(&columns, wanted->group_by, filter, NULL, err));
        assert_ok(agb_table_load(&table, registry, path, columns.name, columns.n, NULL, err));
        assert_ok(agb_key_layout_create(&layout, table, wanted->group_by, err));
        for (size_t i = 0; (a = agb_registry_aggregator_at(registry, i)); i++) {
            agb_plan plan = {.table = table, .column = wanted->group_by, .filter = filter, .aggregator = a,
                             .pool = pool, .batch_rows = 1000 + 7 * i};
            if (!agb_key_kind_refusal(a, layout->kind))
                check_answer(wanted, &plan, layout);
        }
        agb_key_layout_destroy(layout);
        agb_table_destroy(table);
        agb_query_columns_release(&columns);
        agb_filter_destroy(filter);
    }
    agb_pool_destroy(pool);
}

/* ---- Every sample ---- */

static uint64_t checksum_of_keys(const agb_sink *sink)
{
    agb_block block;
    uint64_t sum = 0;
    for (size_t number = 0; agb_sink_block(sink, number, &block); number++)
        for (size_t i = 0; i < block.groups; i++)
            sum += (block.bytes ? expected_fnv(block.bytes[i]) : block.keys[i]) * block.counts[i];
    return sum;
}

static int check_top(const char *where, const agb_sink *sink, const agb_key_layout *layout, const json_t *top)
{
    agb_group groups[10];
    size_t n = agb_sink_top_groups(sink, groups, 10, layout);
    agb_type type = layout->column[0].type;
    for (size_t i = 0; i < json_array_size(top) && i < n; i++) {
        const json_t *pair = json_array_get(top, i);
        expected_key key = {.word = groups[i].key.word, .count = groups[i].count};
        if (type == AGB_TYPE_BYTES)
            key = (expected_key){.bytes = groups[i].key.bytes, .count = groups[i].count};
        else if (agb_type_is_signed(type))
            key.word ^= UINT64_C(1) << 63;    /* as expected.h has them */
        if (!expected_key_is(json_array_get(pair, 0), type, &key) ||
            (uint64_t)json_integer_value(json_array_get(pair, 1)) != key.count) {
            print_error("%s: top group %zu is another one\n", where, i + 1);
            return 1;
        }
    }
    return n < json_array_size(top);
}

/* By one of the aggregators that take every kind, in turn. */
static int check_column(const char *path, const char *name, const json_t *wanted, unsigned turn)
{
    static const char *const aggregators[] = {"naive", "prefetch", "radix", "sort"};
    char where[1200];
    agb_table *table;
    agb_key_layout *layout;
    agb_sink *sink;
    agb_stats stats;
    agb_plan plan = {.column = name, .aggregator = agb_registry_find_aggregator(registry, aggregators[turn % 4])};
    snprintf(where, sizeof where, "%s: %s by %s", path, name, plan.aggregator->name);
    assert_ok(agb_table_load(&table, registry, path, &name, 1, NULL, err));
    assert_ok(agb_key_layout_create(&layout, table, name, err));
    assert_ok(agb_sink_collect(&sink, err));
    plan.table = table;
    assert_ok(agb_count_groups(&plan, sink, &stats, err));
    agb_digest digest = agb_sink_digest(sink);
    int wrong = expected_check_number(where, "groups", expected_number(wanted, "groups"), digest.groups) +
                expected_check_number(where, "total", expected_number(wanted, "total"), digest.rows) +
                expected_check_number(where, "nulls", expected_number(wanted, "nulls"), stats.nulls) +
                expected_check_number(where, "max_count", expected_number(wanted, "max_count"), digest.max_count) +
                expected_check_number(where, "checksum_keys", expected_number(wanted, "checksum_keys"),
                                      checksum_of_keys(sink));
    /* Text files' dates are written as text there. */
    const char *type = json_string_value(json_object_get(wanted, "type"));
    if (strncmp(type, "date", 4) != 0)
        wrong += check_top(where, sink, layout, json_object_get(wanted, "top"));
    agb_sink_destroy(sink);
    agb_key_layout_destroy(layout);
    agb_table_destroy(table);
    return wrong;
}

static void every_column_of_every_parquet_sample_is_counted_right(void **state)
{
    (void)state;
    const char *samples = test_samples();
    json_t *root = expected_load(samples), *files = json_object_get(root, "files"), *column;
    unsigned columns = 0;
    int wrong = 0;
    for (size_t i = 0; i < json_array_size(files); i++) {
        const json_t *file = json_array_get(files, i);
        const char *name, *format = json_string_value(json_object_get(file, "format"));
        char path[1000];
        if (strcmp(json_string_value(json_object_get(file, "verdict")), "readable") != 0 ||
            strcmp(format, "parquet") != 0 || json_object_get(file, "either_columns"))
            continue;
        snprintf(path, sizeof path, "%s/%s", samples, json_string_value(json_object_get(file, "file")));
        json_object_foreach(json_object_get(file, "columns"), name, column)
            wrong += check_column(path, name, column, columns++);
    }
    json_decref(root);
    assert_int_equal(wrong, 0);
    assert_true(columns > 100);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(keys_and_filters_give_the_answers_of_duckdb),
        cmocka_unit_test(every_column_of_every_parquet_sample_is_counted_right),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
