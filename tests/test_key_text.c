/* SPDX-License-Identifier: MIT */
/* Keys on paper: for people, as CSV and as JSON. */
#include "key_text.h"
#include "test.h"
#include "text.h"

static agb_value string_of(const char *bytes, size_t length)
{
    return (agb_value){.type = AGB_TYPE_BYTES, .bytes = {(const unsigned char *)bytes, length}};
}

#define STRING(words) string_of(words, sizeof words - 1)

static void check_value(agb_value value, int cells, const char *wanted)
{
    assert_string_equal(agb_text_value(&value, cells).s, wanted);
}

static void values_are_written_as_people_read_them(void **state)
{
    (void)state;
    check_value((agb_value){.type = AGB_TYPE_INT64, .word = UINT64_MAX}, 20, "-1");
    check_value((agb_value){.type = AGB_TYPE_UINT64, .word = UINT64_MAX}, 20, "18446744073709551615");
    check_value((agb_value){.type = AGB_TYPE_INT64, .null = true}, 20, "NULL");
    check_value(STRING(""), 20, "''");
    check_value(STRING("ведомосквы"), 20, "ведомосквы");
    check_value(STRING("a\nb\0\x1b[2J"), 30, "a\\x0ab\\x00\\x1b[2J");
    check_value(STRING("\xff\xc3"), 20, "\\xff\\xc3");
    check_value(STRING("\xc2\x9b" "1m"), 20, "\\xc2\\x9b1m");    /* a control sequence of terminals */
    check_value(STRING("\u202egpj"), 20, "\\xe2\\x80\\xaegpj");
    check_value(STRING("\xed\xa0\x80"), 20, "\\xed\\xa0\\x80");    /* half of a surrogate pair */
}

static void long_strings_end_in_dots(void **state)
{
    (void)state;
    char many[4000];
    check_value(STRING("12345678"), 8, "12345678");
    check_value(STRING("123456789"), 8, "12345...");
    check_value(STRING("éééééééééé"), 8, "ééééé...");
    check_value(STRING("1234\x01\x01\x01"), 8, "1234...");
    memset(many, 1, sizeof many);
    agb_value value = string_of(many, sizeof many);
    assert_int_equal(agb_text_cells(agb_text_value(&value, 1000).s), 59);    /* 14 times \x01 and the dots */
    for (size_t i = 0; i + 3 <= sizeof many; i += 3)
        memcpy(many + i, "\xe2\x82\xac", 3);
    value = string_of(many, sizeof many - 1);
    assert_int_equal(agb_text_cells(agb_text_value(&value, 1000).s), 60);
}

static void check_csv(agb_value value, const char *wanted)
{
    char *got = NULL;
    size_t length;
    FILE *to = open_memstream(&got, &length);
    agb_csv_bytes(to, value.bytes);
    fclose(to);
    assert_string_equal(got, wanted);
    free(got);
}

static void csv_fields_are_quoted_where_they_must_be(void **state)
{
    (void)state;
    check_csv(STRING("plain text"), "plain text");
    check_csv(STRING("a,b"), "\"a,b\"");
    check_csv(STRING("say \"x\""), "\"say \"\"x\"\"\"");
    check_csv(STRING("a\nb"), "\"a\nb\"");
    check_csv(STRING("\r"), "\"\r\"");
    check_csv(STRING(""), "\"\"");
    check_csv(STRING("NULL"), "\"NULL\"");
    check_csv(STRING("NULLS"), "NULLS");
}

static void json_keys_are_strings_or_arrays_of_them(void **state)
{
    (void)state;
    static const int64_t numbers[] = {-7};
    static const agb_bytes strings[] = {{(const unsigned char *)"a\xff\xc3\xa9\0", 5}};
    agb_table *table;
    agb_key_layout *layout;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "n", AGB_TYPE_INT64, numbers, 1, err));
    assert_ok(agb_table_lend(table, "s", AGB_TYPE_BYTES, strings, 1, err));
    static const char *const columns[] = {"n", "s", "s,s"};
    static const char *const wanted[] = {"\"-7\"", "\"a\\uFFFD\\u00E9\\u0000\"", NULL};
    for (size_t i = 0; i < 2; i++) {
        assert_ok(agb_key_layout_create(&layout, table, columns[i], err));
        agb_key key = i == 0 ? (agb_key){.word = (uint64_t)-7} : (agb_key){.bytes = strings[0]};
        json_t *json = agb_json_key(layout, &key);
        char *got = json_dumps(json, JSON_ENCODE_ANY | JSON_ENSURE_ASCII);
        assert_string_equal(got, wanted[i]);
        free(got);
        json_decref(json);
        agb_key_layout_destroy(layout);
    }
    assert_ok(agb_key_layout_create(&layout, table, "s,n", err));
    assert_int_equal(layout->kind, AGB_KEYS_BYTES);
    const unsigned char pair[] = {0xf9, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 'x'};
    agb_key key = {.bytes = {pair, sizeof pair}};
    json_t *json = agb_json_key(layout, &key);
    char *got = json_dumps(json, 0);
    assert_string_equal(got, "[\"x\", \"-7\"]");
    assert_string_equal(agb_text_key(layout, &key).s, "s=x, n=-7");
    free(got);
    json_decref(json);
    agb_key_layout_destroy(layout);
    agb_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(values_are_written_as_people_read_them),
        cmocka_unit_test(long_strings_end_in_dots),
        cmocka_unit_test(csv_fields_are_quoted_where_they_must_be),
        cmocka_unit_test(json_keys_are_strings_or_arrays_of_them),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
