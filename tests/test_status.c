/* SPDX-License-Identifier: MIT */
/* Sentences about failures, whatever the names in them are. */
#include "test.h"

static void assert_shown(const char *name, const char *wanted)
{
    agb_error err;
    assert_int_equal(agb_fail(&err, AGB_ERR_IO, "%s: no", name), AGB_ERR_IO);
    assert_int_equal(err.status, AGB_ERR_IO);
    char sentence[256];
    snprintf(sentence, sizeof sentence, "%s: no", wanted);
    assert_string_equal(err.text, sentence);
}

static void names_keep_their_letters(void **state)
{
    (void)state;
    assert_shown("hits.tsv", "hits.tsv");
    assert_shown("Grüße/данные/表/😀 '\\'", "Grüße/данные/表/😀 '\\'");
}

static void bytes_that_act_on_a_terminal_are_shown(void **state)
{
    (void)state;
    assert_shown("a\nb\tc\r", "a\\x0ab\\x09c\\x0d");
    assert_shown("\x1b[31mred\x7f", "\\x1b[31mred\\x7f");
    assert_shown("\xc2\x9b" "31m", "\\xc2\\x9b31m");
    assert_shown("\xc2\xa0", "\xc2\xa0");
    assert_shown("\xff\xc3(\xed\xa0\x80", "\\xff\\xc3(\\xed\\xa0\\x80");
    assert_shown("\xe2\x82", "\\xe2\\x82");
}

static void marks_that_turn_or_break_the_line_are_shown(void **state)
{
    (void)state;
    assert_shown("\u202egpj.exe", "\\xe2\\x80\\xaegpj.exe");
    assert_shown("\u061c \u200e \u200f", "\\xd8\\x9c \\xe2\\x80\\x8e \\xe2\\x80\\x8f");
    assert_shown("\u2028 \u2066 \u2069", "\\xe2\\x80\\xa8 \\xe2\\x81\\xa6 \\xe2\\x81\\xa9");
    assert_shown("\u200d \u2027 \u202f \u2065 \u206a", "\u200d \u2027 \u202f \u2065 \u206a");
    assert_shown("\u05e9\u05dc\u05d5\u05dd", "\u05e9\u05dc\u05d5\u05dd");    /* letters that run leftwards stay */
}

static void a_sentence_can_be_taken_into_the_next(void **state)
{
    (void)state;
    agb_error err;
    agb_fail(&err, AGB_ERR_IO, "a\nb");
    agb_fail(&err, AGB_ERR_FORMAT, "outer: %s", err.text);
    assert_string_equal(err.text, "outer: a\\x0ab");
    assert_int_equal(agb_fail(NULL, AGB_ERR_IO, "nobody listens"), AGB_ERR_IO);
}

static void a_long_sentence_is_cut_between_characters(void **state)
{
    (void)state;
    static const char *const parts[] = {"x", "ü", "€", "😀", "\n"};
    for (size_t part = 0; part < sizeof parts / sizeof parts[0]; part++)
        for (size_t shift = 0; shift < 8; shift++) {
            char text[4 * 1100 + 16] = "";
            memset(text, 'x', shift);
            char *to = text + shift;
            for (int i = 0; i < 1100; i++)
                to = stpcpy(to, parts[part]);
            agb_error err;
            agb_fail(&err, AGB_ERR_IO, "%s", text);
            size_t length = strlen(err.text), at = 0;
            assert_in_range(length, sizeof err.text - 5, sizeof err.text - 1);
            for (size_t step; at < length; at += step) {
                step = agb_utf8_character((const unsigned char *)err.text + at, length - at);
                assert_true(step > 0);
            }
            assert_null(strstr(err.text, parts[4]));
            assert_true(part == 4 || !strchr(err.text, '\\'));
        }
}

static void a_long_sentence_keeps_its_beginning_and_its_reason(void **state)
{
    (void)state;
    char name[3000];
    memset(name, '.', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    agb_error err;
    agb_fail(&err, AGB_ERR_IO, "hits.tsv: column '%s': no: add one", name);
    assert_memory_equal(err.text, "hits.tsv: column '..", 20);
    assert_string_equal(err.text + strlen(err.text) - 17, "...': no: add one");
    assert_non_null(strstr(err.text, ".. ... .."));
}

static void a_number_that_is_no_status_is_told(void **state)
{
    (void)state;
    assert_true(agb_status_is_known(AGB_OK));
    assert_true(agb_status_is_known(AGB_ERR_CONTRACT));
    assert_false(agb_status_is_known((agb_status)99));
    assert_string_equal(agb_status_text((agb_status)99), "a status that is none");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_keep_their_letters),
        cmocka_unit_test(bytes_that_act_on_a_terminal_are_shown),
        cmocka_unit_test(marks_that_turn_or_break_the_line_are_shown),
        cmocka_unit_test(a_sentence_can_be_taken_into_the_next),
        cmocka_unit_test(a_long_sentence_is_cut_between_characters),
        cmocka_unit_test(a_long_sentence_keeps_its_beginning_and_its_reason),
        cmocka_unit_test(a_number_that_is_no_status_is_told),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
