/* SPDX-License-Identifier: MIT */
/* JSON lines: exact numbers in both spellings, keys in any order, and what must be refused. */
#include "text_fixture.h"

extern const agb_loader agb_loader_jsonl;

static void samples_give_the_expected_answers(void **state)
{
    (void)state;
    test_check_samples("jsonl");
}

static void line_ends_do_not_change_values_at_any_block_size(void **state)
{
    (void)state;
    test_check_line_ends(&agb_loader_jsonl, "{\"UserID\":1}\r\n{\"UserID\":\"2\"}\r\n{\"UserID\":2}\r\n");
    test_check_line_ends(&agb_loader_jsonl, "{\"UserID\":1}\n{\"UserID\":\"2\"}\n{\"UserID\":2}");
    test_check_line_ends(&agb_loader_jsonl, "\xef\xbb\xbf{\"UserID\":1}\n"
                         " { \"x\" : [{}, []] , \"UserID\" : 2 } \n{\"UserID\":2}");
}

static void sample_is_the_same_at_any_block_size_and_worker_number(void **state)
{
    (void)state;
    test_check_steps(&agb_loader_jsonl, "text/escapes.jsonl");
}

static void numbers_are_exact_bare_and_quoted(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "{\"UserID\":1413617112501850121}\n{\"UserID\":\"1413617112501850121\"}\n"
                               "{\"UserID\":-9223372036854775808}\n{\"UserID\":9223372036854775807}\n", "UserID", err));
    assert_numbers(table, "UserID", INT64_C(1413617112501850121), INT64_C(1413617112501850121), INT64_MIN, INT64_MAX);
    agb_table_destroy(table);
    static const char *const bad[] = {"9223372036854775808", "\"9223372036854775808\"", "1.0", "1e3", "\"\"", "\" 1\"",
                                      "true", "123456789012345678901234567890"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char text[120];
        snprintf(text, sizeof text, "{\"UserID\":1}\n{\"UserID\":%s}\n", bad[i]);
        assert_fails(AGB_ERR_FORMAT, "line 2|column 'UserID'|is no such integer",
                     test_load_column(&table, text, "UserID", err));
    }
}

static void strings_keep_zeros_escapes_and_broken_utf8(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes;
        size_t length;
    } cases[] = {
        {"\"007\"", "007", 3},       {"\"\\/\\\"\\\\\\b\\f\\n\\r\\t\"", "/\"\\\b\f\n\r\t", 8},
        {"\"a\\u0000b\"", "a\0b", 3}, {"\"\\u0416\\uD83D\\ude00\"", "\xd0\x96\xf0\x9f\x98\x80", 6},
        {"\"\"", "", 0},             {"\"\xff\xfe\"", "\xff\xfe", 2},
        {"12.50", "12.50", 5},       {"18446744073709551616", "18446744073709551616", 20},
        {"true", "true", 4},         {"\"\\\\ud800\"", "\\ud800", 6},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[120];
        agb_table *table;
        snprintf(text, sizeof text, "{\"code\":\"\",\"URL\":\"\"}\n{\"URL\":%s,\"code\":%s}\n", cases[i].text,
                 cases[i].text);
        assert_ok(test_load_column(&table, text, "URL", err));
        test_check_string(table, "URL", 1, cases[i].bytes, cases[i].length);
        agb_table_destroy(table);
        assert_ok(test_load_column(&table, text, "code", err));
        test_check_string(table, "code", 1, cases[i].bytes, cases[i].length);
        agb_table_destroy(table);
    }
}

static void zeros_stay_at_row_30000(void **state)
{
    (void)state;
    enum { ROWS = 30000 };
    char *text = malloc(ROWS * 16), *at = text;
    for (int i = 0; i < ROWS; i++)
        at += sprintf(at, i < ROWS - 1 ? "{\"code\":\"7\"}\n" : "{\"code\":\"007\"}\n");
    agb_table *table;
    assert_ok(test_load_column(&table, text, "code", err));
    assert_int_equal(agb_table_rows(table), ROWS);
    test_check_string(table, "code", 0, "7", 1);
    test_check_string(table, "code", ROWS - 1, "007", 3);
    agb_table_destroy(table);
    free(text);
}

static void null_is_null_and_order_is_free(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "{\"UserID\":null,\"OS\":1}\n"
                               "{\"OS\":2,\"extra\":[1,{\"UserID\":9}],\"UserID\":5}\n",
                               "UserID", err));
    assert_int_equal(test_column(table, "UserID").null_count, 1);
    assert_numbers(table, "UserID", 0, 5);
    agb_table_destroy(table);
}

static void lines_that_are_not_one_object_are_refused_by_line(void **state)
{
    (void)state;
    static const struct {
        const char *line, *words;
    } cases[] = {
        {"{\"OS\":1}", "column 'UserID'|missing"},
        {"", "blank"},
        {"   ", "blank"},
        {"{\"UserID\":1", "cut short"},
        {"{\"UserID\":\"12", "line 2"},
        {"{\"UserID\":1,\"UserID\":1}", "column 'UserID'|twice"},
        {"{\"UserID\":1} {\"UserID\":2}", "one object"},
        {"{\"UserID\":1} 7", "one object"},
        {"[1]", "one object"},
        {"7", "one object"},
        {"null", "one object"},
        {"{\"UserID\":[1]}", "column 'UserID'|an array"},
        {"{\"UserID\":{\"a\":1}}", "column 'UserID'|an object"},
        {"{\"UserID\":1,}", "byte"},
        {"{\"UserID\":01}", "byte"},
        {"{UserID:1}", "byte"},
        {"{\"UserID\":1,\"x\":\"\\ud800\"}", "surrogate"},
        {"{\"UserID\":1,\"x\":\"\\udc00\"}", "surrogate"},
        {"{\"UserID\":1,\"x\":\"a\tb\"}", "byte"},
        {"{\"UserID\":1}}", "byte"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[120], words[120];
        agb_table *table;
        snprintf(text, sizeof text, "{\"UserID\":1}\n%s\n{\"UserID\":3}\n", cases[i].line);
        snprintf(words, sizeof words, "line 2|%s", cases[i].words);
        assert_fails(AGB_ERR_FORMAT, words, test_load_column(&table, text, "UserID", err));
    }
}

static void first_line_names_the_columns(void **state)
{
    (void)state;
    agb_table *table;
    assert_fails(AGB_ERR_NOT_FOUND, "'UserID'", test_load_column(&table, "{\"UserID\":1}\n", "userid", err));
    assert_fails(AGB_ERR_FORMAT, "line 1|cut short", test_load_column(&table, "{\"UserID\":1", "UserID", err));
    assert_fails(AGB_ERR_FORMAT, "line 1|twice",
                 test_load_column(&table, "{\"UserID\":1,\"UserID\":2}", "UserID", err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_give_the_expected_answers),
        cmocka_unit_test(line_ends_do_not_change_values_at_any_block_size),
        cmocka_unit_test(sample_is_the_same_at_any_block_size_and_worker_number),
        cmocka_unit_test(numbers_are_exact_bare_and_quoted),
        cmocka_unit_test(strings_keep_zeros_escapes_and_broken_utf8),
        cmocka_unit_test(zeros_stay_at_row_30000),
        cmocka_unit_test(null_is_null_and_order_is_free),
        cmocka_unit_test(lines_that_are_not_one_object_are_refused_by_line),
        cmocka_unit_test(first_line_names_the_columns),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
