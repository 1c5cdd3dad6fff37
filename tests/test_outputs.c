/* SPDX-License-Identifier: MIT */
/* The files that a run is to write: none may replace another, or a file of the source. */
#include "outputs.h"
#include "test.h"

static char folder[] = "/tmp/aggbench-test-XXXXXX";
static char source[64], other[64], new_file[64];

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(folder));
    snprintf(source, sizeof source, "%s/source.csv", folder);
    snprintf(other, sizeof other, "%s/other", folder);
    snprintf(new_file, sizeof new_file, "%s/new", folder);
    fclose(fopen(source, "w"));
    return symlink("source.csv", other);
}

static int tear_down(void **state)
{
    (void)state;
    unlink(source);
    unlink(other);
    return rmdir(folder);
}

static agb_status prepare(const char *report, const char *groups, const char *record, agb_error *err)
{
    char *sources[] = {source};
    agb_options options = {.output = report, .groups = groups, .record = record};
    agb_outputs outputs;
    agb_status status = agb_outputs_prepare(&outputs, &options, sources, 1, err);
    agb_outputs_release(&outputs);
    return status;
}

static void no_output_replaces_a_file_of_the_source(void **state)
{
    (void)state;
    static const char words[] = "is a file of the source";
    assert_fails(AGB_ERR_ARGUMENT, words, prepare(source, NULL, NULL, err));
    assert_fails(AGB_ERR_ARGUMENT, words, prepare(NULL, other, NULL, err));
    assert_fails(AGB_ERR_ARGUMENT, words, prepare(NULL, NULL, source, err));
    assert_ok(prepare(new_file, NULL, NULL, err));
    assert_int_not_equal(access(new_file, F_OK), 0);
}

static void no_two_outputs_are_one_file(void **state)
{
    (void)state;
    assert_fails(AGB_ERR_ARGUMENT, "--groups|--output|two files", prepare(new_file, new_file, NULL, err));
    assert_fails(AGB_ERR_ARGUMENT, "--record|--output|two files", prepare(new_file, NULL, new_file, err));
    assert_fails(AGB_ERR_ARGUMENT, "--record|--groups|two files", prepare(NULL, new_file, new_file, err));
    assert_ok(prepare("/dev/null", "/dev/null", "/dev/null", err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_output_replaces_a_file_of_the_source),
        cmocka_unit_test(no_two_outputs_are_one_file),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
