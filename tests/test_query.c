/* SPDX-License-Identifier: MIT */
/* What is found out about a question before a row is read, and the queries of ClickBench. */
#include "clickbench.h"
#include "query.h"
#include "test.h"

static agb_column_info columns[] = {
    {"UserID", AGB_TYPE_INT64, false, "INT64, SNAPPY"},
    {"URL", AGB_TYPE_BYTES, false, "BYTE_ARRAY (STRING)"},
    {"Seen", AGB_TYPE_INT64, false, "INT64 (TIMESTAMP_MICROS), SNAPPY"},
    {"Clock", AGB_TYPE_INT32, false, "INT32 (TIME_MILLIS), SNAPPY"},
    {"Price", AGB_TYPE_OTHER, false, "DOUBLE"},
    {"a,b", AGB_TYPE_INT32, false, "INT32"},
};
static const agb_schema schema = {.columns = sizeof columns / sizeof *columns, .column = columns};

static agb_status check(const char *group_by, const char *where, agb_error *err)
{
    agb_filter *filter = NULL;
    agb_status status = where ? agb_filter_parse(&filter, where, err) : AGB_OK;
    if (status == AGB_OK)
        status = agb_query_check(group_by, filter, &schema, "x.parquet", err);
    agb_filter_destroy(filter);
    return status;
}

static void what_can_be_asked_is(void **state)
{
    (void)state;
    assert_ok(check("UserID,URL", "URL <> '' AND UserID > 5", err));
    assert_ok(check("UserID - 1,UserID", NULL, err));
    assert_ok(check("a,b", "Seen > 1373846400000000", err));
    assert_ok(check("UserID", "UserID >= '2013-07-15'", err));
}

static void float_keys_are_refused_by_name(void **state)
{
    (void)state;
    assert_fails(AGB_ERR_UNSUPPORTED, "--group-by: Price|DOUBLE|describe x.parquet", check("UserID,Price", NULL, err));
    assert_fails(AGB_ERR_ARGUMENT, "where: Price > 5|'Price' is other|cannot be compared",
                 check("UserID", "Price > 5", err));
}

static void what_does_not_fit_is_found_before_the_load(void **state)
{
    (void)state;
    assert_fails(AGB_ERR_ARGUMENT, "URL + 1|holds strings", check("URL+1", NULL, err));
    assert_fails(AGB_ERR_ARGUMENT, "URL = 5|single quotes", check("UserID", "URL = 5", err));
    assert_fails(AGB_ERR_ARGUMENT, "names no column", check("1,2", NULL, err));
    assert_fails(AGB_ERR_UNSUPPORTED, "'Seen'|TIMESTAMP_MICROS|not in seconds",
                 check("UserID", "Seen > '2013-07-15'", err));
    assert_fails(AGB_ERR_UNSUPPORTED, "'Clock'|TIME_MILLIS|not in days",
                 check("UserID", "Clock > '2013-07-15'", err));
}

static agb_status check_values(agb_type type, const void *value, const char *where, agb_error *err)
{
    agb_filter *filter;
    agb_table *table;
    assert_ok(agb_filter_parse(&filter, where, err));
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "Seen", type, value, 2, err));
    agb_status status = agb_query_check_values(filter, table, err);
    agb_table_destroy(table);
    agb_filter_destroy(filter);
    return status;
}

static void a_date_is_not_compared_with_values_of_another_unit(void **state)
{
    (void)state;
    static const int64_t seconds[] = {-62167219200, 253402300799}, millis[] = {0, 1373846400000};
    static const uint64_t top[] = {0, UINT64_MAX};
    static const uint32_t days[] = {0, 2932896}, stamps[] = {15901, 1373846400};
    static const char date[] = "Seen > '2013-07-15'", number[] = "Seen > 5";
    assert_ok(check_values(AGB_TYPE_INT64, seconds, date, err));
    assert_ok(check_values(AGB_TYPE_UINT32, days, date, err));
    assert_ok(check_values(AGB_TYPE_INT64, millis, number, err));
    assert_fails(AGB_ERR_UNSUPPORTED, "where|'Seen'|row 1|no seconds|with a number",
                 check_values(AGB_TYPE_INT64, millis, date, err));
    assert_fails(AGB_ERR_UNSUPPORTED, "row 1|no seconds", check_values(AGB_TYPE_UINT64, top, date, err));
    assert_fails(AGB_ERR_UNSUPPORTED, "row 1|no days", check_values(AGB_TYPE_UINT32, stamps, date, err));
}

static void each_column_is_loaded_once(void **state)
{
    (void)state;
    agb_filter *filter;
    agb_query_columns found;
    assert_ok(agb_filter_parse(&filter, "URL <> '' AND UserID > 5 AND Other = 1", err));
    assert_ok(agb_query_columns_find(&found, "UserID,UserID-1,7,URL", filter, &schema, err));
    assert_int_equal(found.n, 3);
    assert_string_equal(found.name[0], "UserID");
    assert_string_equal(found.name[1], "URL");
    assert_string_equal(found.name[2], "Other");
    agb_query_columns_release(&found);
    assert_ok(agb_query_columns_find(&found, "a,b", filter, &schema, err));
    assert_string_equal(found.name[0], "a,b");
    agb_query_columns_release(&found);
    assert_ok(agb_query_columns_find(&found, "a,b", filter, NULL, err));
    assert_string_equal(found.name[0], "a");
    agb_query_columns_release(&found);
    agb_filter_destroy(filter);
}

static void every_query_of_clickbench_is_understood(void **state)
{
    (void)state;
    const agb_clickbench *query;
    size_t n = 0;
    for (; (query = agb_clickbench_at(n)); n++) {
        agb_filter *filter = NULL;
        assert_ptr_equal(agb_clickbench_find(query->number, NULL), query);
        if (query->where)
            assert_ok(agb_filter_parse(&filter, query->where, err));
        agb_filter_destroy(filter);
    }
    assert_int_equal(n, 14);
    char *sql = agb_clickbench_sql(agb_clickbench_find(38, NULL));
    assert_string_equal(sql, "SELECT URL, COUNT(*) FROM hits WHERE CounterID = 62 AND EventDate >= '2013-07-01' AND "
                             "EventDate <= '2013-07-31' AND IsRefresh = 0 AND IsLink <> 0 AND IsDownload = 0 "
                             "GROUP BY URL ORDER BY COUNT(*) DESC LIMIT 10 OFFSET 1000");
    free(sql);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_can_be_asked_is),
        cmocka_unit_test(float_keys_are_refused_by_name),
        cmocka_unit_test(what_does_not_fit_is_found_before_the_load),
        cmocka_unit_test(a_date_is_not_compared_with_values_of_another_unit),
        cmocka_unit_test(each_column_is_loaded_once),
        cmocka_unit_test(every_query_of_clickbench_is_understood),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
