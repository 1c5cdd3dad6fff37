/* SPDX-License-Identifier: MIT */
/* TSV: ClickBench's form and files with a header, escapes, line ends, and what must be refused. */
#include "text_fixture.h"

extern const agb_loader agb_loader_tsv;

static void samples_give_the_expected_answers(void **state)
{
    (void)state;
    test_check_samples("tsv");
}

static void all_105_columns_load_at_once(void **state)
{
    (void)state;
    char path[512];
    const char *names[AGB_TEXT_HITS_COLUMNS];
    agb_table *table;
    for (size_t i = 0; i < AGB_TEXT_HITS_COLUMNS; i++)
        names[AGB_TEXT_HITS_COLUMNS - 1 - i] = agb_text_hits[i].name;
    snprintf(path, sizeof path, "%s/text/escapes.tsv", test_samples());
    assert_ok(test_load(&table, path, names, AGB_TEXT_HITS_COLUMNS, NULL, 2, err));
    assert_int_equal(agb_table_rows(table), 100);
    assert_int_equal(((const int64_t *)test_column(table, "WatchID").values)[0], INT64_C(5304531394993042822));
    assert_int_equal(((const int32_t *)test_column(table, "CLID").values)[0], 0);
    test_check_string(table, "Title", 1, "Заголовок bs\bff\f", strlen("Заголовок bs\bff\f"));
    agb_table_destroy(table);
}

static void line_ends_do_not_change_values_at_any_block_size(void **state)
{
    (void)state;
    test_check_line_ends(&agb_loader_tsv, "UserID\r\n1\r\n2\r\n2\r\n");
    test_check_line_ends(&agb_loader_tsv, "UserID\r\n1\r\n2\r\n2");
    test_check_line_ends(&agb_loader_tsv, "UserID\n1\n2\n2\n");
    test_check_line_ends(&agb_loader_tsv, "UserID\n1\n2\n2");
    test_check_line_ends(&agb_loader_tsv, "\xef\xbb\xbfUserID\n1\n2\r\n2");
}

static void sample_is_the_same_at_any_block_size_and_worker_number(void **state)
{
    (void)state;
    test_check_steps(&agb_loader_tsv, "text/escapes.tsv");
}

static void integers_are_parsed_exactly_or_refused(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "UserID\n-9223372036854775808\n9223372036854775807\n007\n-0\n"
                               "000000000000000000000000000012\n", "UserID", err));
    assert_numbers(table, "UserID", INT64_MIN, INT64_MAX, 7, 0, 12);
    agb_table_destroy(table);
    static const char *const bad[] = {"9223372036854775808", "-9223372036854775809", "99999999999999999999", "12abc",
                                      "1.5", " 7", "+7", "", "-", "--1", "7 ", "0x10", "1e3",
                                      "340282366920938463463374607431768211456"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[80], words[120];
        snprintf(text, sizeof text, "UserID\n1\n%s\n3\n", bad[i]);
        snprintf(words, sizeof words, "line 3|column 'UserID'|\"%s\"|-9223372036854775808..9223372036854775807",
                 bad[i]);
        assert_fails(AGB_ERR_FORMAT, words, test_load_column(&table, text, "UserID", err));
    }
}

static void narrow_integers_keep_their_range(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "OS\n-32768\n32767\n", "OS", err));
    assert_numbers(table, "OS", -32768, 32767);
    assert_int_equal(test_column(table, "OS").type, AGB_TYPE_INT32);
    agb_table_destroy(table);
    assert_fails(AGB_ERR_FORMAT, "line 2|column 'OS'|\"32768\"|-32768..32767",
                 test_load_column(&table, "OS\n32768\n", "OS", err));
    assert_fails(AGB_ERR_FORMAT, "\"-2147483649\"|-2147483648..2147483647",
                 test_load_column(&table, "CounterID\n-2147483649\n", "CounterID", err));
}

static void dates_and_times_become_the_numbers_of_parquet(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "EventDate\n2013-07-15\n2013-07-15\n2013-07-16\n1970-01-01\n2149-06-06\n"
                               "2000-02-29\n", "EventDate", err));
    assert_numbers(table, "EventDate", 15901, 15901, 15902, 0, 65535, 11016);
    assert_int_equal(test_column(table, "EventDate").type, AGB_TYPE_UINT32);
    agb_table_destroy(table);
    assert_ok(test_load_column(&table, "EventTime\n2013-07-14 20:38:47\n1970-01-01 00:00:00\n1969-12-31 23:59:59\n"
                               "0000-03-01 00:00:00\n9999-12-31 23:59:59\n", "EventTime", err));
    assert_numbers(table, "EventTime", 1373834327, 0, -1, INT64_C(-62162035200), INT64_C(253402300799));
    agb_table_destroy(table);
    static const char *const bad[] = {"2013-02-29", "2013-13-01", "2013-00-10", "2013-1-1", "15901", "2149-06-07",
                                      "1969-12-31", "2013/07/15", "2013-07-15 00:00:00", "1900-02-29", ""};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[80];
        snprintf(text, sizeof text, "EventDate\n%s\n", bad[i]);
        assert_fails(AGB_ERR_FORMAT, "line 2|column 'EventDate'|no date YYYY-MM-DD",
                     test_load_column(&table, text, "EventDate", err));
    }
    static const char *const bad_times[] = {"2013-07-15 24:00:00", "2013-07-15 00:60:00", "2013-07-15 00:00:60",
                                            "2013-07-15T00:00:00", "2013-07-15", "2013-07-15 00:00:00Z"};
    for (size_t i = 0; i < sizeof bad_times / sizeof bad_times[0]; i++) {
        char text[80];
        snprintf(text, sizeof text, "EventTime\n%s\n", bad_times[i]);
        assert_fails(AGB_ERR_FORMAT, "line 2|column 'EventTime'|no time",
                     test_load_column(&table, text, "EventTime", err));
    }
}

static void escapes_are_undone_as_clickhouse_does(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes;
        size_t length;
    } cases[] = {
        {"a\\tb\\nc\\rd\\\\e\\'f\\0g\\bh\\fi", "a\tb\nc\rd\\e'f\0g\bh\fi", 17},
        {"\\\\t", "\\t", 2},
        {"100\\%", "100\\%", 5},
        {"\\x41\\x7a\\xfF", "Az\xff", 3},
        {"\\xg1", "\\xg1", 4},
        {"\\\\N", "\\N", 2},
        {"", "", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[80];
        agb_table *table;
        snprintf(text, sizeof text, "UserID\tURL\n1\t%s\n", cases[i].text);
        assert_ok(test_load_column(&table, text, "URL", err));
        test_check_string(table, "URL", 0, cases[i].bytes, cases[i].length);
        agb_table_destroy(table);
    }
    agb_table *table;
    assert_fails(AGB_ERR_FORMAT, "line 2|column 'URL'|backslash", test_load_column(&table, "URL\nab\\\n", "URL", err));
}

static void unnamed_types_are_bytes_and_keep_their_zeros(void **state)
{
    (void)state;
    agb_table *table;
    const char text[] = "code\tUserID\n007\t1\n\0\t2\n\xff\xfe\t3\n";
    assert_ok(test_load_bytes(&table, text, sizeof text - 1, (const char *[]){"code", "UserID"}, 2, NULL, err));
    test_check_string(table, "code", 0, "007", 3);
    test_check_string(table, "code", 1, "\0", 1);
    test_check_string(table, "code", 2, "\xff\xfe", 2);
    assert_numbers(table, "UserID", 1, 2, 3);
    agb_table_destroy(table);
}

static void a_lone_backslash_n_is_null(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "UserID\tURL\n\\N\tx\n5\t\\N\n\\N\t\\N\n", "UserID", err));
    agb_column column = test_column(table, "UserID");
    assert_int_equal(column.null_count, 2);
    assert_int_equal(column.nulls[0], 1);
    assert_int_equal(column.nulls[1], 0);
    assert_numbers(table, "UserID", 0, 5, 0);
    agb_table_destroy(table);
}

static void long_values_stay_whole(void **state)
{
    (void)state;
    enum { SHORT = 10 << 10, LONG = 5 << 20 };
    char *text = malloc(SHORT + LONG + 16);
    size_t size = (size_t)sprintf(text, "URL\n");
    memset(text + size, 'a', SHORT);
    text[size += SHORT] = '\n';
    memset(text + ++size, 'b', LONG);
    text[size += LONG] = '\n';
    agb_table *table;
    assert_ok(test_load_bytes(&table, text, size + 1, (const char *[]){"URL"}, 1, NULL, err));
    const agb_bytes *values = test_column(table, "URL").values;
    assert_int_equal(agb_table_rows(table), 2);
    assert_bytes_equal(values[0], text + 4, SHORT);
    assert_bytes_equal(values[1], text + 5 + SHORT, LONG);
    agb_table_destroy(table);
    free(text);
}

static void rows_of_another_length_are_refused_by_line(void **state)
{
    (void)state;
    agb_table *table;
    assert_fails(AGB_ERR_FORMAT, "line 3|1 field instead of 2",
                 test_load_column(&table, "UserID\tURL\n1\tx\n2\n", "UserID", err));
    assert_fails(AGB_ERR_FORMAT, "line 2|3 fields instead of 2",
                 test_load_column(&table, "UserID\tURL\n1\tx\ty\n", "UserID", err));
    assert_fails(AGB_ERR_FORMAT, "line 3|1 field instead of 2",
                 test_load_column(&table, "UserID\tURL\n1\tx\n\n", "URL", err));
    assert_fails(AGB_ERR_FORMAT, "line 2|1 field instead of 2",    /* and not: "x" is no integer */
                 test_load_column(&table, "UserID\tURL\nx\n", "UserID", err));
}

static void first_rows_that_name_nothing_are_refused(void **state)
{
    (void)state;
    agb_table *table;
    assert_fails(AGB_ERR_FORMAT, "line 1|field 2|\"2\"|is a number",
                 test_load_column(&table, "a\t2\tc\n1\t2\t3\n", "a", err));
    assert_fails(AGB_ERR_FORMAT, "field 2|is empty", test_load_column(&table, "a\t\n1\t2\n", "a", err));
    assert_fails(AGB_ERR_FORMAT, "field 3|is there twice", test_load_column(&table, "a\tb\ta\n", "a", err));
    assert_fails(AGB_ERR_NOT_FOUND, "UserID", test_load_column(&table, "UserID\tURL\n", "userid", err));
    assert_fails(AGB_ERR_FORMAT, "the text is empty",
                 test_load_bytes(&table, "\xef\xbb\xbf", 3, (const char *[]){"a"}, 1, "tsv", err));
}

static void header_of_any_order_wins_over_positions(void **state)
{
    (void)state;
    char path[512], *text = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&text, &size);
    for (size_t i = 0; i < AGB_TEXT_HITS_COLUMNS; i++)    /* the names of hits, each one place further on */
        fprintf(to, "%s%c", agb_text_hits[(i + 104) % 105].name, i == 104 ? '\n' : '\t');
    for (size_t i = 0; i < AGB_TEXT_HITS_COLUMNS; i++)
        fprintf(to, "%zu%c", i, i == 104 ? '\n' : '\t');
    fclose(to);
    agb_table *table;
    assert_ok(test_load_bytes(&table, text, size, (const char *[]){"UserID", "CLID", "URL"}, 3, NULL, err));
    assert_numbers(table, "UserID", 10);
    assert_numbers(table, "CLID", 0);
    test_check_string(table, "URL", 0, "14", 2);
    agb_table_destroy(table);
    free(text);
    snprintf(path, sizeof path, "%s/text/escapes.tsv", test_samples());
    assert_fails(AGB_ERR_NOT_FOUND, "'UserID'|all columns",
                 test_load(&table, path, (const char *[]){"userid"}, 1, NULL, 1, err));
}

static void header_alone_is_a_table_without_rows(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "UserID\tURL", "URL", err));
    assert_int_equal(agb_table_rows(table), 0);
    agb_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_give_the_expected_answers),
        cmocka_unit_test(all_105_columns_load_at_once),
        cmocka_unit_test(line_ends_do_not_change_values_at_any_block_size),
        cmocka_unit_test(sample_is_the_same_at_any_block_size_and_worker_number),
        cmocka_unit_test(integers_are_parsed_exactly_or_refused),
        cmocka_unit_test(narrow_integers_keep_their_range),
        cmocka_unit_test(dates_and_times_become_the_numbers_of_parquet),
        cmocka_unit_test(escapes_are_undone_as_clickhouse_does),
        cmocka_unit_test(unnamed_types_are_bytes_and_keep_their_zeros),
        cmocka_unit_test(a_lone_backslash_n_is_null),
        cmocka_unit_test(long_values_stay_whole),
        cmocka_unit_test(rows_of_another_length_are_refused_by_line),
        cmocka_unit_test(first_rows_that_name_nothing_are_refused),
        cmocka_unit_test(header_of_any_order_wins_over_positions),
        cmocka_unit_test(header_alone_is_a_table_without_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
