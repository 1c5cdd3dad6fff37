/* SPDX-License-Identifier: MIT */
/* Filters: each operator at the edges of each type, strings, dates, NULLs, AND; and what is refused in which words. */
#include "internal.h"
#include "loader.h"
#include "test.h"

enum { ROWS = 6 };

static agb_table *table;
static agb_registry *registry;

static const int32_t ints[ROWS] = {INT32_MIN, -1, 0, 1, 15901, INT32_MAX};
static const int32_t days[ROWS] = {-719528, -719469, -719468, -719163, -719162, 2932896};
static const uint32_t unsigneds[ROWS] = {0, 1, 15901, 15902, INT32_MAX, UINT32_MAX};
static const int64_t longs[ROWS] = {INT64_MIN, -1, 0, 1373846400, 1373888730, INT64_MAX};
static const uint64_t wides[ROWS] = {0, 1, INT64_MAX, UINT64_C(1) << 63, UINT64_MAX - 1, UINT64_MAX};
static const uint8_t bools[ROWS] = {0, 1, 1, 0, 0, 1};
static const uint8_t nulls[ROWS] = {0, 1, 0, 0, 1, 0};

static int set_up(void **state)
{
    (void)state;
    static const agb_bytes strings[ROWS] = {{NULL, 0}, {(const unsigned char *)"a", 1},
                                            {(const unsigned char *)"ab", 2}, {(const unsigned char *)"it's", 4},
                                            {(const unsigned char *)"b", 1}, {(const unsigned char *)"b\0c", 3}};
    const struct { const char *name; agb_type type; const void *values; const uint8_t *nulls; } columns[] = {
        {"i", AGB_TYPE_INT32, ints, NULL}, {"u", AGB_TYPE_UINT32, unsigneds, NULL}, {"l", AGB_TYPE_INT64, longs, NULL},
        {"w", AGB_TYPE_UINT64, wides, NULL}, {"b", AGB_TYPE_BOOL, bools, NULL}, {"s", AGB_TYPE_BYTES, strings, NULL},
        {"n", AGB_TYPE_INT32, ints, nulls}, {"t", AGB_TYPE_BYTES, strings, nulls},
        {"odd name\"", AGB_TYPE_INT32, ints, NULL}, {"d", AGB_TYPE_INT32, days, NULL}};
    enum { COLUMNS = sizeof columns / sizeof *columns };
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_table_create(&table, err));
    for (size_t i = 0; i < COLUMNS; i++)
        assert_ok(agb_table_add(table, columns[i].name, columns[i].type, AGB_PAGES_DEFAULT, err));
    assert_ok(agb_table_extend(table, ROWS, err));
    for (size_t i = 0; i < COLUMNS; i++) {
        memcpy(agb_table_values(table, i), columns[i].values, ROWS * agb_type_bytes(columns[i].type));
        if (columns[i].nulls)
            memcpy(agb_table_nulls(table, i), columns[i].nulls, ROWS);
    }
    agb_table_loaded(table, "test", 0, agb_table_rows(table));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    return 0;
}

/* The numbers of the rows that are left, "0134", for batches of every size. */
static void select_rows(const char *where, const char *wanted)
{
    agb_filter *filter;
    agb_selection *selection;
    assert_ok(agb_filter_parse(&filter, where, err));
    assert_ok(agb_selection_create(&selection, filter, table, err));
    for (size_t batch = 1; batch <= ROWS; batch++) {
        char got[ROWS + 1] = "";
        size_t n = 0;
        for (size_t first = 0; first < ROWS; first += batch) {
            uint32_t selected[ROWS];
            uint64_t words[ROWS];
            size_t rows = ROWS - first < batch ? ROWS - first : batch;
            size_t kept = agb_selection_run(selection, first, rows, selected, words);
            for (size_t i = 0; i < kept; i++)
                got[n++] = (char)('0' + first + selected[i]);
        }
        if (strcmp(got, wanted) != 0)
            fail_msg("%s in batches of %zu: rows %s, must be %s", where, batch, got, wanted);
    }
    agb_selection_destroy(selection);
    agb_filter_destroy(filter);
}

static void operators_compare_signed_numbers(void **state)
{
    (void)state;
    select_rows("i = -1", "1");
    select_rows("i <> 0", "01345");
    select_rows("i != 0", "01345");
    select_rows("i < 0", "01");
    select_rows("i <= 0", "012");
    select_rows("i > 0", "345");
    select_rows("i >= 0", "2345");
    select_rows("l < -9223372036854775808", "");
    select_rows("l <= -9223372036854775808", "0");
    select_rows("l > 9223372036854775807", "");
    select_rows("l >= 9223372036854775807", "5");
    select_rows("l = +0", "2");
}

static void operators_compare_unsigned_numbers(void **state)
{
    (void)state;
    select_rows("u >= 4294967295", "5");
    select_rows("w > 9223372036854775807", "345");
    select_rows("w = 18446744073709551615", "5");
    select_rows("w < 1", "0");
    select_rows("w < 0", "");
    select_rows("w <= 0", "0");
    select_rows("b = 1", "125");
    select_rows("b <> 1", "034");
}

/* What no value of the type can be is smaller or larger than all of them, and equal to none. */
static void literals_beyond_the_type_are_compared_as_numbers(void **state)
{
    (void)state;
    select_rows("u > -1", "012345");
    select_rows("u = -1", "");
    select_rows("u <> -1", "012345");
    select_rows("u < -1", "");
    select_rows("w >= -5", "012345");
    select_rows("i < 3000000000", "012345");
    select_rows("i > 3000000000", "");
    select_rows("l < 18446744073709551615", "012345");
    select_rows("l >= 9223372036854775808", "");
    select_rows("l > -18446744073709551615", "012345");
    select_rows("l = 18446744073709551615", "");
}

static void strings_are_compared_by_their_bytes(void **state)
{
    (void)state;
    select_rows("s = ''", "0");
    select_rows("s <> ''", "12345");
    select_rows("s = 'it''s'", "3");
    select_rows("s < 'ab'", "01");
    select_rows("s <= 'ab'", "012");
    select_rows("s > 'b'", "35");
    select_rows("s >= 'b'", "345");
    select_rows("s <> 'b'", "01235");
    select_rows("s >= ''", "012345");
}

static void dates_are_days_in_narrow_and_seconds_in_wide_columns(void **state)
{
    (void)state;
    select_rows("u = '2013-07-15'", "2");
    select_rows("u > '2013-07-15'", "345");
    select_rows("i = '2013-07-15'", "4");
    select_rows("i < '1970-01-01'", "01");
    select_rows("i = '1969-12-31'", "1");
    select_rows("l = '2013-07-15'", "3");
    select_rows("l = '2013-07-15 00:00:00'", "3");
    select_rows("l = '2013-07-15 11:45:30'", "4");
    select_rows("l >= '2013-07-15 00:00:01' AND l < '2013-07-16'", "4");
    select_rows("u = '2000-02-29'", "");
}

static void dates_are_right_from_the_first_year_to_the_last(void **state)
{
    (void)state;
    select_rows("d = '0000-01-01'", "0");
    select_rows("d = '0000-02-29'", "1");
    select_rows("d IN ('0000-03-01', '0000-12-31')", "23");
    select_rows("d = '0001-01-01'", "4");
    select_rows("d = '9999-12-31'", "5");
}

static void a_list_is_met_by_what_is_equal_to_one_of_it(void **state)
{
    (void)state;
    select_rows("i IN (-1, 15901)", "14");
    select_rows("i in(1)", "3");
    select_rows("i IN (0,1 ,-1)", "123");
    select_rows("i\tIN\n( 1, 15901, 2147483647, -2147483648, 1 )", "0345");
    select_rows("u IN (4294967295, 0, 7)", "05");
    select_rows("l IN (9223372036854775807, -9223372036854775808, +0)", "025");
    select_rows("w IN (18446744073709551615, 9223372036854775807)", "25");
    select_rows("b IN (1, 5)", "125");
    select_rows("b IN (0, 1)", "012345");
    select_rows("s IN ('it''s', '', 'B', 'ab')", "023");
    select_rows("s IN ('b')", "4");
    select_rows("s IN ('a,b', 'a)')", "");
    select_rows("u IN ('2013-07-15', '2013-07-16')", "23");
    select_rows("l IN ('2013-07-15', '2013-07-15 11:45:30', 0)", "234");
    select_rows("n IN (-2147483648, -1, 15901, 0)", "02");
    select_rows("t IN ('', 'a', 'ab')", "02");
    select_rows("i IN (0, 1, 15901) AND s IN ('ab', 'b') AND i <> 0", "4");
    select_rows("\"odd name\"\"\" IN (1, 0)", "23");
    select_rows("i IN (1, 5)AND s <> ''", "3");
}

/* As with =. */
static void literals_of_a_list_beyond_the_type_are_equal_to_none(void **state)
{
    (void)state;
    select_rows("u IN (-1, 4294967296, 1)", "1");
    select_rows("u IN (-1)", "");
    select_rows("w IN (-1, -9223372036854775808)", "");
    select_rows("l IN (18446744073709551615, -1)", "1");
    select_rows("i IN (3000000000, 4294967295)", "");
    select_rows("i IN (2147483648, 0)", "2");
}

static void add_rows(const char *where, bool meets[ROWS])
{
    agb_filter *filter;
    agb_selection *selection;
    uint32_t selected[ROWS];
    uint64_t words[ROWS];
    assert_ok(agb_filter_parse(&filter, where, err));
    assert_ok(agb_selection_create(&selection, filter, table, err));
    size_t kept = agb_selection_run(selection, 0, ROWS, selected, words);
    for (size_t i = 0; i < kept; i++)
        meets[selected[i]] = true;
    agb_selection_destroy(selection);
    agb_filter_destroy(filter);
}

/* A list of any length is met by the rows that meet `=` with one of its literals. */
static void a_list_is_as_many_equals(void **state)
{
    (void)state;
    enum { LITERALS = 10, MOST = 19 };
    static const char *const literals[][LITERALS] = {
        {"i", "-2147483648", "-1", "0", "1", "15901", "2147483647", "2", "5000000000", "16"},
        {"l", "-9223372036854775808", "-1", "0", "1373846400", "1", "9223372036854775807", "-5", "77", "9"},
        {"w", "0", "1", "2", "9223372036854775807", "9223372036854775808", "18446744073709551615", "-1", "6", "7"},
        {"s", "''", "'a'", "'b'", "'ab'", "'it''s'", "'abc'", "'ba'", "'x'", "'B'"}};
    uint64_t random = 7;
    for (size_t round = 0; round < 2000; round++) {
        const char *const *literal = literals[round % 4];
        char list[600], wanted[ROWS + 1] = "";
        bool meets[ROWS] = {false};
        size_t n = 1 + round / 4 % MOST, at = (size_t)sprintf(list, "%s IN (", literal[0]);
        for (size_t k = 0; k < n; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            const char *one = literal[1 + (random >> 33) % (LITERALS - 1)];
            char equal[64];
            snprintf(equal, sizeof equal, "%s = %s", literal[0], one);
            add_rows(equal, meets);
            at += (size_t)sprintf(list + at, "%s%s", one, k + 1 < n ? ", " : ")");
        }
        for (size_t row = 0, k = 0; row < ROWS; row++)
            if (meets[row])
                wanted[k++] = (char)('0' + row);
        select_rows(list, wanted);
    }
}

static void conditions_are_joined_by_and(void **state)
{
    (void)state;
    select_rows("  i>=0 AND i<15901\tand s<>'ab' ", "3");
    select_rows("\"odd name\"\"\" = 1", "3");
    select_rows("i = 1 AND i = 2", "");
}

static void null_meets_no_condition(void **state)
{
    (void)state;
    select_rows("n = 0", "2");
    select_rows("n <> 0", "035");
    select_rows("n >= -9999999999", "0235");
    select_rows("t <> 'x'", "0235");
    select_rows("t = ''", "0");
    select_rows("b = 1 AND n > -5", "25");
}

static agb_status bind(const char *where, agb_error *err)
{
    agb_filter *filter;
    agb_selection *selection = NULL;
    agb_status status = agb_filter_parse(&filter, where, err);
    if (status == AGB_OK)
        status = agb_selection_create(&selection, filter, table, err);
    agb_selection_destroy(selection);
    agb_filter_destroy(filter);
    return status;
}

static void what_is_not_understood_is_named(void **state)
{
    (void)state;
    assert_fails(AGB_ERR_ARGUMENT, "where: a column's name is missing", bind("", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: a column's name is missing|'= 5'", bind("= 5", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i: no operator at '~ 5'", bind("i ~ 5", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i: no operator at 'LIKE|= <> < <= > >= IN", bind("i LIKE 'a'", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i: no operator at 'NOT IN", bind("i NOT IN (1)", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i: no operator at 'INTO", bind("i INTO (1)", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i IN: no '(' at '5'|(1, 2, 3)", bind("i IN 5", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i IN: no '(' at ''", bind("i IN", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i IN: no ',' at '2)'", bind("i IN (1 2)", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i IN: no ',' at ''", bind("i IN (1, 2", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i IN : no literal there", bind("i IN ()", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i IN : no literal there", bind("i IN (1,)", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i IN abc: no literal there", bind("i IN (1, abc)", err));
    assert_fails(AGB_ERR_ARGUMENT, "99999999999999999999|out of range", bind("i IN (1,99999999999999999999)", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: s IN 'b): the closing quote is missing", bind("s IN ('a', 'b)", err));
    assert_fails(AGB_ERR_ARGUMENT, "', 2' is not understood", bind("i = 1, 2", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i =|no literal|single quotes", bind("i = ", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i =|abc|single quotes", bind("i = abc", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i =|5x|single quotes", bind("i = 5x", err));
    assert_fails(AGB_ERR_ARGUMENT, "99999999999999999999|out of range|64 bits", bind("i = 99999999999999999999", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: s = 'abc: the closing quote is missing", bind("s = 'abc", err));
    assert_fails(AGB_ERR_ARGUMENT, "closing double quote", bind("\"i = 5", err));
    assert_fails(AGB_ERR_ARGUMENT, "'OR s = '''|joined by AND", bind("i = 5 OR s = ''", err));
    assert_fails(AGB_ERR_ARGUMENT, "a column's name is missing", bind("i = 5 AND ", err));
}

static void what_does_not_fit_is_named_with_its_type(void **state)
{
    (void)state;
    assert_fails(AGB_ERR_NOT_FOUND, "where: the table has no column 'odd nam'|did you mean 'odd name",
                 bind("\"odd nam\" = 5", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: s = 5|'s' is bytes|string in single quotes", bind("s = 5", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: s > -5|bytes", bind("s > -5", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: s IN -5|bytes|string in single quotes", bind("s IN ('a', -5)", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i IN '62'|'i' is int32|whole number", bind("i IN (62, '62')", err));
    assert_fails(AGB_ERR_ARGUMENT, "2013-02-30|no such date", bind("u IN ('2013-02-28', '2013-02-30')", err));
    assert_fails(AGB_ERR_ARGUMENT, "'u' is uint32|it holds days", bind("u IN (1, '2013-07-15 00:00:00')", err));
    assert_fails(AGB_ERR_ARGUMENT, "where: i = '62'|'i' is int32|whole number, or a date", bind("i = '62'", err));
    assert_fails(AGB_ERR_ARGUMENT, "2013-02-30|no such date", bind("u = '2013-02-30'", err));
    assert_fails(AGB_ERR_ARGUMENT, "2013-13-01|no such date", bind("u = '2013-13-01'", err));
    assert_fails(AGB_ERR_ARGUMENT, "1900-02-29|no such date", bind("u = '1900-02-29'", err));
    assert_fails(AGB_ERR_ARGUMENT, "24:00:00|no such date", bind("l = '2013-07-15 24:00:00'", err));
    assert_fails(AGB_ERR_ARGUMENT, "'u' is uint32|it holds days", bind("u = '2013-07-15 00:00:00'", err));
    assert_fails(AGB_ERR_ARGUMENT, "'b' is bool|0 or 1", bind("b = '2013-07-15'", err));
}

/* Every sentence of up to 12 pieces drawn at random is either understood or refused with a sentence. */
static void garbage_is_understood_or_refused(void **state)
{
    (void)state;
    static const char *const pieces[] = {"i", "s", "'", "''", "\"", "=", "<>", "<", "!", "5", "-", " ", "AND", " and ",
                                         "2013-07-15", "'2013-07-15'", "9999999999999999999", "\t", "x",
                                         " IN (", ",", ")"};
    uint64_t random = 1;
    size_t understood = 0;
    for (size_t i = 0; i < 100000; i++) {
        char where[300] = "";
        agb_error err = {0};
        size_t n = 1 + i % 12;
        for (size_t k = 0; k < n; k++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407;
            strcat(where, pieces[(random >> 33) % (sizeof pieces / sizeof *pieces)]);
        }
        if (bind(where, &err) == AGB_OK)
            understood++;
        else
            assert_true(strncmp(err.text, "where: ", 7) == 0);
    }
    assert_true(understood > 0);
}

static void weights_follow_the_rows_that_are_left(void **state)
{
    (void)state;
    static const uint64_t weights[ROWS] = {1, 10, 100, 1000, 10000, 100000};
    agb_filter *filter;
    agb_sink *sink;
    assert_ok(agb_filter_parse(&filter, "i >= 0 AND b = 0", err));
    assert_ok(agb_sink_collect(&sink, err));
    for (size_t batch = 1; batch <= ROWS; batch++) {
        agb_plan plan = {.table = table, .column = "b", .filter = filter, .weights = weights, .batch_rows = batch,
                         .aggregator = agb_registry_find_aggregator(registry, "naive")};
        assert_ok(agb_count_groups(&plan, sink, NULL, err));
        agb_digest digest = agb_sink_digest(sink);
        assert_true(digest.groups == 1 && digest.rows == 11000);
    }
    agb_sink_destroy(sink);
    agb_filter_destroy(filter);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operators_compare_signed_numbers),
        cmocka_unit_test(operators_compare_unsigned_numbers),
        cmocka_unit_test(literals_beyond_the_type_are_compared_as_numbers),
        cmocka_unit_test(strings_are_compared_by_their_bytes),
        cmocka_unit_test(dates_are_days_in_narrow_and_seconds_in_wide_columns),
        cmocka_unit_test(dates_are_right_from_the_first_year_to_the_last),
        cmocka_unit_test(a_list_is_met_by_what_is_equal_to_one_of_it),
        cmocka_unit_test(literals_of_a_list_beyond_the_type_are_equal_to_none),
        cmocka_unit_test(a_list_is_as_many_equals),
        cmocka_unit_test(conditions_are_joined_by_and),
        cmocka_unit_test(null_meets_no_condition),
        cmocka_unit_test(what_is_not_understood_is_named),
        cmocka_unit_test(what_does_not_fit_is_named_with_its_type),
        cmocka_unit_test(garbage_is_understood_or_refused),
        cmocka_unit_test(weights_follow_the_rows_that_are_left),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
