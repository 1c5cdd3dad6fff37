/* SPDX-License-Identifier: MIT */
/* One file of counts for every family, through the formulas to every report. FAMILY.txt beside FAMILY.json is the page
 * that must come of it; AGB_RENEW_GOLDEN=1 writes those pages anew, for someone to read before they are believed. */
#include "replay.h"
#include "slots.h"
#include "two_results.h"

#include <jansson.h>
#include <math.h>

static agb_results results;

static int set_up(void **state)
{
    (void)state;
    two_results(&results);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    agb_results_release(&results);
    return 0;
}

/* The Zen 4 file is the published experiment. */
static void paths_of(const char *family, char *json, char *text, size_t size)
{
    const char *stem = strcmp(family, "zen4") == 0 ? "pivot_zen4" : family;
    snprintf(json, size, "tests/replay/%s.json", stem);
    snprintf(text, size, "tests/replay/%s.txt", stem);
}

/* Puts the replayed counts where an experiment puts them. */
static void use(const agb_replay *replay)
{
    results.replay = replay;
    results.support = replay->support;
    for (size_t i = 0; i < results.n_results; i++) {
        agb_result *result = &results.results[i];
        const agb_replay_row *row = agb_replay_find(replay, result->name, "");
        result->metrics = (agb_metrics){0};
        if (row)
            agb_metrics_compute(&replay->support, row->repetitions, row->n, -1, &result->metrics);
    }
}

static char *read_file(const char *path)
{
    char *text = calloc(1, 1 << 16);
    FILE *file = fopen(path, "r");
    assert_non_null(text);
    if (!file || fread(text, 1, (1 << 16) - 1, file) == 0)
        fail_msg("%s is not there: AGB_RENEW_GOLDEN=1 writes it", path);
    fclose(file);
    return text;
}

static void page(FILE *to, const agb_results *all)
{
    agb_report_counters(to, all, 0, 12);
    agb_report_counters_state(to, all);
}

static void check_page(const char *path)
{
    char *got = report(page, &results);
    if (getenv("AGB_RENEW_GOLDEN")) {
        FILE *file = fopen(path, "w");
        assert_non_null(file);
        fputs(got, file);
        fclose(file);
    }
    char *want = read_file(path);
    if (strcmp(got, want) != 0)
        fail_msg("%s:\n%s\nbut now:\n%s", path, want, got);
    free(want);
    free(got);
}

/* A number that is not there is null, and then there is a reason. */
static void check_json(const agb_result *result, json_t *counters)
{
    bool any = agb_metrics_any(&result->metrics);
    assert_string_equal(json_string_value(json_object_get(counters, "source")), any ? "replay" : "none");
    for (int metric = 0; metric < AGB_METRICS; metric++) {
        json_t *value = json_object_get(counters, agb_metric_name((agb_metric)metric));
        assert_non_null(value);
        assert_true(json_is_null(value) != result->metrics.has[metric]);
        double wanted = result->metrics.value[metric];
        assert_true(!result->metrics.has[metric] || fabs(json_number_value(value) - wanted) <= fabs(wanted) * 1e-8);
    }
    if (!result->metrics.has[AGB_MEMORY_BOUND_PCT])
        assert_true(json_is_string(json_object_get(counters, "reason")));
}

static void check_reports(void)
{
    char *text = report(agb_report_json, &results);
    json_t *out = json_loads(text, 0, NULL), *rows = json_object_get(out, "results");
    free(text);
    for (size_t i = 0; i < results.n_results; i++)
        check_json(&results.results[i], json_object_get(json_array_get(rows, i), "counters"));
    json_t *pmu = json_object_get(json_object_get(out, "machine"), "pmu");
    assert_string_equal(json_string_value(json_object_get(pmu, "replayed_about")), results.replay->about);
    json_decref(out);
    text = report(agb_report_csv, &results);
    char value[64];
    snprintf(value, sizeof value, ",%.0f,", results.results[0].metrics.value[AGB_CYCLES]);
    if (!strstr(text, value) || !strstr(text, ",\"replay\","))
        fail_msg("no %s or no \"replay\" in: %s", value, text);
    free(text);
}

static void every_family_replays_to_its_page(void **state)
{
    (void)state;
    for (size_t i = 0; agb_slots_families[i]; i++) {
        char json[64], text[64];
        agb_replay replay;
        paths_of(agb_slots_families[i]->name, json, text, sizeof json);
        assert_ok(agb_replay_load(&replay, json, err));
        assert_ptr_equal(replay.support.family, agb_slots_families[i]);
        assert_true(replay.about[0] != '\0');    /* each says what of it is made up */
        use(&replay);
        check_page(text);
        check_reports();
        agb_replay_release(&replay);
    }
    results.replay = NULL;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_family_replays_to_its_page),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
