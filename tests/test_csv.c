/* SPDX-License-Identifier: MIT */
/* CSV: quoting, line feeds inside of quotes wherever a block ends, and what must be refused. */
#include "text_fixture.h"

extern const agb_loader agb_loader_csv;

static void samples_give_the_expected_answers(void **state)
{
    (void)state;
    test_check_samples("csv");
}

static void line_ends_do_not_change_values_at_any_block_size(void **state)
{
    (void)state;
    test_check_line_ends(&agb_loader_csv, "UserID,URL\r\n1,a\r\n2,b\r\n2,c\r\n");
    test_check_line_ends(&agb_loader_csv, "UserID,URL\r\n1,\"a\"\r\n2,\"b\"\r\n2,\"c\"");
    test_check_line_ends(&agb_loader_csv, "\"UserID\",\"URL\"\n\"1\",\"a\n\"\"\r\n,\"\n2,\"\"\n2,\"\n\n\"\r\n");
    test_check_line_ends(&agb_loader_csv, "UserID\n1\n2\n2");
    test_check_line_ends(&agb_loader_csv, "\xef\xbb\xbf\"UserID\"\r\n1\n\"2\"\n2\r");
}

static void sample_is_the_same_at_any_block_size_and_worker_number(void **state)
{
    (void)state;
    test_check_steps(&agb_loader_csv, "text/quotes.csv");
}

static void quoted_fields_hold_any_byte(void **state)
{
    (void)state;
    static const struct {
        const char *text, *bytes;
        size_t length;
    } cases[] = {
        {"\"a,b\"", "a,b", 3},          {"\"a\nb\r\nc\"", "a\nb\r\nc", 6}, {"\"say \"\"hi\"\"\"", "say \"hi\"", 8},
        {"\"\"", "", 0},                {"", "", 0},                       {"\"\"\"\"", "\"", 1},
        {"\"\"\"\"\"\"", "\"\"", 2},    {" a ", " a ", 3},                 {"\\t", "\\t", 2},
        {"\"\\N\"", "\\N", 2},          {"'x'", "'x'", 3},                 {"\xff\xfe", "\xff\xfe", 2},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char text[80];
        agb_table *table;
        snprintf(text, sizeof text, "UserID,URL\n1,%s\n2,end\n", cases[i].text);
        assert_ok(test_load_column(&table, text, "URL", err));
        test_check_string(table, "URL", 0, cases[i].bytes, cases[i].length);
        test_check_string(table, "URL", 1, "end", 3);
        agb_table_destroy(table);
    }
}

static void numbers_may_stand_in_quotes(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "UserID,EventDate\n\"-9223372036854775808\",\"2013-07-15\"\n7,2013-07-16\n",
                               "UserID", err));
    assert_numbers(table, "UserID", INT64_MIN, 7);
    agb_table_destroy(table);
    assert_ok(test_load_column(&table, "UserID,EventDate\n1,\"2013-07-15\"\n7,2013-07-16\n", "EventDate", err));
    assert_numbers(table, "EventDate", 15901, 15902);
    agb_table_destroy(table);
}

static void a_bare_backslash_n_is_null(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "UserID,URL\n\\N,x\n5,\\N\n", "UserID", err));
    assert_int_equal(test_column(table, "UserID").null_count, 1);
    assert_numbers(table, "UserID", 0, 5);
    agb_table_destroy(table);
}

static void a_comma_at_the_end_begins_an_empty_field(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "a,b,c\n1,2,\n", "c", err));
    test_check_string(table, "c", 0, "", 0);
    agb_table_destroy(table);
    assert_fails(AGB_ERR_FORMAT, "line 2|3 fields instead of 2", test_load_column(&table, "a,b\n1,2,\n", "a", err));
    assert_fails(AGB_ERR_FORMAT, "line 2|3 fields instead of 2",
                 test_load_column(&table, "UserID,b\nx,2,\n", "UserID", err));
    assert_fails(AGB_ERR_FORMAT, "line 3|1 field instead of 2", test_load_column(&table, "a,b\n1,2\n\n", "a", err));
}

static void broken_quoting_is_refused_by_line_and_field(void **state)
{
    (void)state;
    agb_table *table;
    assert_fails(AGB_ERR_FORMAT, "line 5|field 2|\"x\"|follows the closing",    /* the row of line 3 takes two lines */
                 test_load_column(&table, "a,b\n1,y\n2,\"\n\"\n3,\"z\"x\n", "a", err));
    assert_fails(AGB_ERR_FORMAT, "line 2|field 1|\" \"|follows", test_load_column(&table, "a,b\n\"1\" ,2\n", "b", err));
    assert_fails(AGB_ERR_FORMAT, "line 2|field 2|inside of it|\" \"",
                 test_load_column(&table, "a,b\n1, \"2\"\n", "a", err));
    assert_fails(AGB_ERR_FORMAT, "line 3|field 2|not closed",
                 test_load_column(&table, "a,b\n1,2\n3,\"4\n5,6\n7,8\n", "a", err));
    assert_fails(AGB_ERR_FORMAT, "line 2|not closed", test_load_column(&table, "a,b\n1,\"", "a", err));
    assert_fails(AGB_ERR_FORMAT, "line 1|follows", test_load_column(&table, "\"a\"x,b\n1,2\n", "a", err));
}

/* Whatever the block size, the first fault is the one that is told, though blocks behind it are misread. */
static void first_fault_is_told_at_any_block_size(void **state)
{
    (void)state;
    const char text[] = "UserID,b\n1,\"x\ny\"\n2,z\"\n3,\"\n\"\nbad,\"\"\"\n";
    const char *path = test_file(text, sizeof text - 1);
    agb_pool *pool;
    assert_ok(agb_pool_create(&pool, 2, NULL, err));
    for (size_t step = 1; step <= 64; step++) {
        agb_table *table;
        assert_fails(AGB_ERR_FORMAT, "line 4|field 2|inside of it",
                     test_load_stepped(&table, &agb_loader_csv, path, step % 2, 0, step, pool, err));
        agb_table_destroy(table);
    }
    agb_pool_destroy(pool);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(samples_give_the_expected_answers),
        cmocka_unit_test(line_ends_do_not_change_values_at_any_block_size),
        cmocka_unit_test(sample_is_the_same_at_any_block_size_and_worker_number),
        cmocka_unit_test(quoted_fields_hold_any_byte),
        cmocka_unit_test(numbers_may_stand_in_quotes),
        cmocka_unit_test(a_bare_backslash_n_is_null),
        cmocka_unit_test(a_comma_at_the_end_begins_an_empty_field),
        cmocka_unit_test(broken_quoting_is_refused_by_line_and_field),
        cmocka_unit_test(first_fault_is_told_at_any_block_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
