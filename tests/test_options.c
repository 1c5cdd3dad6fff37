/* SPDX-License-Identifier: MIT */
/* The command line: values, ranges, suggestions, sweeps; and how figures are written. */
#include "commands.h"
#include "sweep.h"
#include "test.h"
#include "text.h"

static agb_status parse(agb_options *options, const agb_command *command, const char *line, agb_error *err)
{
    static char copy[512];
    char *words[32], *save = NULL;
    int n = 0;
    snprintf(copy, sizeof copy, "%s", line);
    for (char *word = strtok_r(copy, " ", &save); word; word = strtok_r(NULL, " ", &save))
        words[n++] = word;
    return agb_options_parse(options, command, n, words, err);
}

static void defaults_are_those_of_the_help(void **state)
{
    (void)state;
    agb_options options;
    assert_ok(parse(&options, &agb_command_run, "synth:hits", err));
    assert_string_equal(options.operand, "synth:hits");
    assert_string_equal(options.group_by, "UserID");
    assert_int_equal(options.threads, 1);
    assert_int_equal(options.repetitions, 5);
    assert_int_equal(options.warmup, 1);
    assert_int_equal(options.timeout_s, 300);
    assert_int_equal(options.top, 10);
    assert_int_equal(options.pages, AGB_PAGES_DEFAULT);
    assert_false(agb_option_given(&options, "threads"));
}

static void pivot_takes_huge_pages_unless_told_otherwise(void **state)
{
    (void)state;
    agb_options options;
    assert_ok(parse(&options, &agb_command_pivot, "", err));
    assert_int_equal(options.pages, AGB_PAGES_HUGE);
    assert_ok(parse(&options, &agb_command_pivot, "--pages 4k", err));
    assert_int_equal(options.pages, AGB_PAGES_4K);
}

static void values_may_follow_after_a_space_or_an_equals_sign(void **state)
{
    (void)state;
    agb_options options;
    assert_ok(
        parse(&options, &agb_command_run, "--threads=2 --memory fresh s --pin 1,0 --aggregator a --aggregator b", err));
    assert_int_equal(options.threads, 2);
    assert_int_equal(options.memory, AGB_MEMORY_FRESH);
    assert_int_equal(options.pins.n, 2);
    assert_int_equal(options.pins.cpu[0], 1);
    assert_int_equal(options.aggregators.n, 2);
    assert_true(agb_option_given(&options, "threads"));
}

static void after_two_dashes_everything_is_an_operand(void **state)
{
    (void)state;
    agb_options options;
    assert_ok(parse(&options, &agb_command_run, "-- --odd-name", err));
    assert_string_equal(options.operand, "--odd-name");
    assert_ok(parse(&options, &agb_command_run, "-", err));
    assert_string_equal(options.operand, "-");
}

static void wrong_values_are_answered_with_the_allowed_range(void **state)
{
    (void)state;
    agb_options options;
    assert_fails(AGB_ERR_ARGUMENT, "--threads|0|1..1024", parse(&options, &agb_command_run, "s --threads 0", err));
    assert_fails(AGB_ERR_ARGUMENT, "--threads|-1|1..1024", parse(&options, &agb_command_run, "s --threads -1", err));
    assert_fails(AGB_ERR_ARGUMENT, "--threads|99999999999999999999|1..1024",
                 parse(&options, &agb_command_run, "s --threads 99999999999999999999", err));
    assert_fails(AGB_ERR_ARGUMENT, "--repetitions|3x|1..10000",
                 parse(&options, &agb_command_run, "s --repetitions 3x", err));
    assert_fails(AGB_ERR_ARGUMENT, "--pages|2m|default|4k|huge",
                 parse(&options, &agb_command_run, "s --pages 2m", err));
    assert_fails(AGB_ERR_ARGUMENT, "--pin|0,,1", parse(&options, &agb_command_run, "s --pin 0,,1", err));
    assert_fails(AGB_ERR_ARGUMENT, "--memory-budget|12Q",
                 parse(&options, &agb_command_run, "s --memory-budget 12Q", err));
}

static void a_misspelt_option_gets_the_right_one(void **state)
{
    (void)state;
    agb_options options;
    assert_fails(AGB_ERR_NOT_FOUND, "--agregator|did you mean --aggregator",
                 parse(&options, &agb_command_run, "s --agregator x", err));
    assert_fails(AGB_ERR_NOT_FOUND, "describe|--threads", parse(&options, &agb_command_describe, "s --threads 1", err));
}

static void one_name_may_mean_different_things_to_two_commands(void **state)
{
    (void)state;
    agb_options options;
    assert_ok(parse(&options, &agb_command_list, "--counters", err));
    assert_true(options.show_counters);
    assert_ok(parse(&options, &agb_command_run, "s --counters off", err));
    assert_int_equal(options.counters, AGB_COUNTERS_OFF);
}

static void bytes_are_written_in_powers_of_1024(void **state)
{
    (void)state;
    static const struct { const char *text; uint64_t bytes; } good[] = {
        {"0", 0}, {"1048576", 1048576}, {"64k", 65536}, {"64K", 65536}, {"512M", 536870912}, {"2G", 2147483648},
        {"2GiB", 2147483648}, {"1T", 1099511627776}};
    static const char *const bad[] = {"", "-1", "k", "1.5G", "12X", "1GG", "99999999999999999999", "16777216T", " 1"};
    uint64_t bytes;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(agb_parse_bytes(good[i].text, &bytes));
        assert_int_equal(bytes, good[i].bytes);
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(agb_parse_bytes(bad[i], &bytes));
}

static void check_sweep(const char *text, const char *name, size_t n, const char *last)
{
    agb_sweep sweep;
    assert_ok(agb_sweep_parse(&sweep, text, err));
    assert_string_equal(sweep.name, name);
    assert_int_equal(sweep.n, n);
    assert_string_equal(sweep.value[n - 1], last);
}

static void sweeps_count_up_multiply_or_list(void **state)
{
    (void)state;
    check_sweep("bits=6..8", "bits", 3, "8");
    check_sweep("bits=6..12/4", "bits", 2, "10");
    check_sweep("groups=1000..1000000*10", "groups", 4, "1000000");
    check_sweep("skew=0.5,1.25", "skew", 2, "1.25");
    check_sweep("groups=10..1e8", "groups", 8, "100000000");
    check_sweep("groups=7..1000", "groups", 3, "700");
    check_sweep("bits=1..64", "bits", 64, "64");
    check_sweep("skew=0.1..0.8/0.1", "skew", 8, "0.8");
    check_sweep("skew=0.5..2*2", "skew", 3, "2");
    check_sweep("x=9223372036854775806..9223372036854775807", "x", 2, "9223372036854775807");
}

static void malformed_sweeps_are_refused(void **state)
{
    (void)state;
    static const char *const bad[] = {"",
                                      "bits",
                                      "=1..2",
                                      "bits=",
                                      "bits=2..1",
                                      "bits=1..2/0",
                                      "bits=0..8*2",
                                      "bits=1..8*1",
                                      "bits=0..1000",
                                      "bits=1..1000/2",
                                      "bits=1..inf",
                                      "bits=0x1..4",
                                      "bits=1..x",
                                      "bits=1..2/2/2",
                                      "bits=1,,2",
                                      "bits=1,"};
    agb_sweep sweep;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_fails(AGB_ERR_ARGUMENT, "--sweep", agb_sweep_parse(&sweep, bad[i], err));
}

static void check_set(const char *text, char separator, const char *name, const char *value, const char *wanted)
{
    char *got = agb_sweep_set(text, separator, name, value);
    assert_string_equal(got, wanted);
    free(got);
}

static void a_swept_value_takes_the_place_of_the_old_one(void **state)
{
    (void)state;
    check_set("synth:hits,rows=5,seed=1", ',', "rows", "7", "synth:hits,seed=1,rows=7");
    check_set("synth:hits", ',', "rows", "7", "synth:hits,rows=7");
    check_set("", ':', "bits", "3", "bits=3");
    check_set("bits=1:load=5", ':', "bits", "3", "load=5:bits=3");
    check_set("bitsy=1", ':', "bits", "3", "bitsy=1:bits=3");
}

static void figures_are_written_as_people_read_them(void **state)
{
    (void)state;
    assert_string_equal(agb_text_count(0).s, "0");
    assert_string_equal(agb_text_count(999).s, "999");
    assert_string_equal(agb_text_count(17630976).s, "17,630,976");
    assert_string_equal(agb_text_count(UINT64_MAX).s, "18,446,744,073,709,551,615");
    assert_string_equal(agb_text_seconds(5.518).s, "5.52 s");
    assert_string_equal(agb_text_seconds(0.0413).s, "41.3 ms");
    assert_string_equal(agb_text_seconds(0).s, "0 s");
    assert_string_equal(agb_text_bytes(999).s, "999 B");
    assert_string_equal(agb_text_bytes(799979976).s, "800.0 MB");
}

static void every_command_prints_help_for_options_that_exist(void **state)
{
    (void)state;
    static const agb_command *const commands[] = {&agb_command_run, &agb_command_pivot, &agb_command_list,
                                                  &agb_command_describe, &agb_command_load, &agb_command_verify,
                                                  &agb_command_compare, &agb_command_matrix, &agb_command_new,
                                                  &agb_command_lab, &agb_command_doctor, &agb_command_investigate,
                                                  &agb_command_report, &agb_command_help, &agb_command_completion,
                                                  &agb_command_manual};
    for (size_t i = 0; i < sizeof commands / sizeof commands[0]; i++) {
        char *text = NULL;
        size_t length;
        FILE *to = open_memstream(&text, &length);
        agb_help_command(to, commands[i]);
        fclose(to);
        assert_non_null(strstr(text, "Example: aggbench"));
        for (char *line = text; *line; line += strcspn(line, "\n") + 1)
            assert_true(strcspn(line, "\n") <= AGB_TEXT_CELLS);
        free(text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(defaults_are_those_of_the_help),
        cmocka_unit_test(pivot_takes_huge_pages_unless_told_otherwise),
        cmocka_unit_test(values_may_follow_after_a_space_or_an_equals_sign),
        cmocka_unit_test(after_two_dashes_everything_is_an_operand),
        cmocka_unit_test(wrong_values_are_answered_with_the_allowed_range),
        cmocka_unit_test(a_misspelt_option_gets_the_right_one),
        cmocka_unit_test(one_name_may_mean_different_things_to_two_commands),
        cmocka_unit_test(bytes_are_written_in_powers_of_1024),
        cmocka_unit_test(sweeps_count_up_multiply_or_list),
        cmocka_unit_test(malformed_sweeps_are_refused),
        cmocka_unit_test(a_swept_value_takes_the_place_of_the_old_one),
        cmocka_unit_test(figures_are_written_as_people_read_them),
        cmocka_unit_test(every_command_prints_help_for_options_that_exist),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
