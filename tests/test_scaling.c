/* SPDX-License-Identifier: MIT */
/* What more threads brought: each number of them against the fewest, same strategy, same rows, and nothing else. */
#include "scaling.h"
#include "test.h"

#include <math.h>

enum { RUNS = 7, MOST = 8 };

typedef struct fixture {
    agb_results results;
    agb_result rows[MOST];
    agb_run runs[MOST][RUNS];
    agb_source_info sources[2];
    agb_noise noise;
} fixture;

/* Results that are right, of runs that took about so long. */
typedef struct row {
    char *name, *params;
    unsigned threads;
    size_t source;
    double wall_s;
} row;

static void start(fixture *f, size_t n, const row *rows)
{
    *f = (fixture){.sources = {{.name = "one"}, {.name = "two"}}};
    f->results = (agb_results){.results = f->rows, .n_results = n, .sources = f->sources, .n_sources = 2,
                               .processes = 1, .noises = &f->noise, .settings = {.seed = 1, .processes = 1}};
    for (size_t i = 0; i < n; i++) {
        for (unsigned run = 0; run < RUNS; run++)
            f->runs[i][run] = (agb_run){.round = run, .wall_s = rows[i].wall_s * (1 + 0.001 * run)};
        f->rows[i] = (agb_result){.name = rows[i].name, .params = rows[i].params, .threads = rows[i].threads,
                                  .source = rows[i].source, .runs = f->runs[i], .n_runs = RUNS,
                                  .wall = {.median = rows[i].wall_s}};
    }
}

static void more_threads_are_laid_beside_the_fewest(void **state)
{
    fixture f;
    agb_scaling scaling;
    (void)state;
    start(&f, 4, (row[]){{"radix", "", 4, 0, 0.5}, {"naive", "", 0, 0, 0.01}, {"radix", "", 1, 0, 1},
                         {"radix", "", 2, 0, 0.6}});
    assert_true(agb_scaling_of(&f.results, 0, &scaling));
    assert_int_equal(scaling.base, 2);
    assert_float_equal(scaling.speedup.ratio, 2, 0.01);
    assert_true(scaling.speedup.ci95_low <= scaling.speedup.ratio);
    assert_true(scaling.speedup.ratio <= scaling.speedup.ci95_high);
    assert_true(scaling.paired);
    assert_int_equal(scaling.verdict, AGB_VERDICT_FASTER);
    assert_true(agb_scaling_of(&f.results, 3, &scaling));
    assert_float_equal(scaling.speedup.ratio, 1 / 0.6, 0.01);
    assert_false(agb_scaling_of(&f.results, 1, &scaling));
    assert_false(agb_scaling_of(&f.results, 2, &scaling));
}

static void other_parameters_and_sources_have_their_own_base(void **state)
{
    fixture f;
    agb_scaling scaling;
    (void)state;
    start(&f, 6, (row[]){{"radix", "bits=8", 1, 0, 1}, {"radix", "bits=9", 1, 0, 2}, {"radix", "bits=9", 2, 0, 1},
                         {"radix", "bits=9", 1, 1, 8}, {"radix", "bits=9", 2, 1, 1},
                         {"radix", "bits=7", 2, 0, 1}});
    assert_true(agb_scaling_of(&f.results, 2, &scaling));
    assert_int_equal(scaling.base, 1);
    assert_true(agb_scaling_of(&f.results, 4, &scaling));
    assert_int_equal(scaling.base, 3);
    assert_false(agb_scaling_of(&f.results, 5, &scaling));
}

static void a_slowdown_is_shown_as_one(void **state)
{
    fixture f;
    agb_scaling scaling;
    char *text = NULL;
    size_t size;
    (void)state;
    start(&f, 4, (row[]){{"shared_table", "", 1, 0, 1}, {"shared_table", "", 2, 0, 1.6}, {"radix", "", 1, 0, 1},
                         {"radix", "", 2, 0, 1.01}});
    f.results.n_sources = 1;
    assert_true(agb_scaling_of(&f.results, 1, &scaling));
    assert_int_equal(scaling.verdict, AGB_VERDICT_SLOWER);
    FILE *to = open_memstream(&text, &size);
    agb_report_scaling(to, &f.results);
    fclose(to);
    assert_non_null(strstr(text, "speed-up over 1 thread\n"));
    assert_non_null(strstr(text, "shared_table threads=2 "));
    assert_non_null(strstr(text, " 31.2 %  0.625 x [0.62"));
    assert_non_null(strstr(text, " slower\n"));
    assert_non_null(strstr(text, " no difference seen\n"));
    assert_null(strstr(text, "threads=1"));
    free(text);
    json_t *list = agb_scaling_json(&f.results), *first = json_array_get(list, 0);
    assert_int_equal(json_array_size(list), 2);
    assert_string_equal(json_string_value(json_object_get(first, "verdict")), "slower");
    assert_int_equal(json_integer_value(json_object_get(first, "base_threads")), 1);
    assert_float_equal(json_number_value(json_object_get(first, "efficiency_pct")), 31.25, 0.1);
    json_decref(list);
}

/* Against the next larger number the figure would mean something else from row to row. */
static void without_the_fewest_there_is_no_figure(void **state)
{
    fixture f;
    agb_scaling scaling;
    (void)state;
    start(&f, 3, (row[]){{"radix", "", 1, 0, 1}, {"radix", "", 2, 0, 1}, {"radix", "", 4, 0, 1}});
    f.rows[0].state = AGB_STATE_OUT_OF_MEMORY;
    assert_false(agb_scaling_of(&f.results, 1, &scaling));
    assert_false(agb_scaling_of(&f.results, 2, &scaling));
    f.rows[0].state = AGB_STATE_OK;
    f.rows[2].state = AGB_STATE_WRONG;
    assert_true(agb_scaling_of(&f.results, 1, &scaling));
    assert_false(agb_scaling_of(&f.results, 2, &scaling));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_threads_are_laid_beside_the_fewest),
        cmocka_unit_test(other_parameters_and_sources_have_their_own_base),
        cmocka_unit_test(a_slowdown_is_shown_as_one),
        cmocka_unit_test(without_the_fewest_there_is_no_figure),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
