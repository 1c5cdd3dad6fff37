/* SPDX-License-Identifier: MIT */
/* Pages: what a file says must stand there escaped, what is wrong with it must be one sentence, and whatever bytes come
 * in, what comes out is well-formed or nothing. */
#include "test.h"

#include "section.h"
#include "story.h"
#include "svg.h"

#include <ctype.h>
#include <math.h>

/* ---- A page, or the sentence ------------------------------------------------------------------------------------- */

static agb_status page_of(const char *bytes, size_t length, char **page, agb_error *err)
{
    char path[] = "/tmp/agb_report_XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, length), (ssize_t)length);
    close(fd);
    size_t size;
    FILE *to = open_memstream(page, &size);
    const char *names[] = {path};
    *err = (agb_error){0};
    agb_status status = agb_report_page(to, names, 1, err);
    fclose(to);
    unlink(path);
    return status;
}

static char *good_page(const char *json)
{
    char *page;
    agb_error err;
    if (page_of(json, strlen(json), &page, &err) != AGB_OK)
        fail_msg("%s", err.text);
    return page;
}

/* The sentence has all of the words (parted by '|'), names the file, and is one line. */
static void assert_refused(const char *json, const char *words)
{
    char *page;
    agb_error err;
    agb_status status = page_of(json, strlen(json), &page, &err);
    test_check_failure(json, AGB_ERR_FORMAT, words, status, &err, __FILE__, __LINE__);
    assert_non_null(strstr(err.text, "/tmp/agb_report_"));
    assert_null(strchr(err.text, '\n'));
    free(page);
}

/* What is between < and >; false when it is no tag as XML wants it. */
static bool check_tag(const char *tag, size_t length, char names[][16], size_t *depth, size_t most)
{
    bool closing = tag[0] == '/', empty = length > 0 && tag[length - 1] == '/';
    const char *name = tag + closing;
    size_t n = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789");
    if (n == 0 || n >= 16)
        return false;
    if (closing)
        return *depth > 0 && strlen(names[--*depth]) == n && memcmp(names[*depth], name, n) == 0;
    for (const char *at = name + n; at < tag + length - empty;) {
        at += strspn(at, " \n");
        if (at == tag + length - empty)
            break;
        at += strspn(at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-:");
        if (at[0] != '=' || at[1] != '"' || !(at = memchr(at + 2, '"', (size_t)(tag + length - at - 2))))
            return false;
        at++;
    }
    if (empty)
        return true;
    if (*depth == most)
        return false;
    snprintf(names[(*depth)++], 16, "%.*s", (int)n, name);
    return true;
}

/* Tags close in order, attributes are quoted, & begins a reference, no byte is a control character. */
static void assert_well_formed(const char *page)
{
    char names[64][16];
    size_t depth = 0;
    assert_int_equal(strncmp(page, "<!DOCTYPE html>", 15), 0);
    for (const char *at = page + 15; *at; at++) {
        if (*at == '<') {
            const char *end = strchr(at, '>');
            assert_non_null(end);
            if (!check_tag(at + 1, (size_t)(end - at - 1), names, &depth, 64))
                fail_msg("bad tag: %.80s", at);
            at = end;
        } else if (*at == '&') {
            assert_int_equal(at[1], '#');
            assert_int_equal(at[2 + strspn(at + 2, "0123456789")], ';');
        }
        if (iscntrl((unsigned char)*at) && *at != '\n')
            fail_msg("control character %d: %.40s", *at, at);
    }
    assert_int_equal(depth, 0);
}

#define ROW(name, state, more) TIMED_ROW(name, state, "1", more)
#define TIMED_ROW(name, state, median_s, more)                                                                         \
    "{\"aggregator\":\"" name "\",\"state\":\"" state "\",\"params\":{\"bits\":12},\"threads\":1,\"source\":\"s\","    \
    "\"wall_s\":{\"min\":0.4,\"median\":" median_s ",\"max\":1.2,\"ci95_low\":0.45,\"ci95_high\":1.1},\"first_s\":2," \
    "\"ns_per_row\":10,\"runs\":[{\"wall_s\":1,\"noisy\":false},{\"wall_s\":1.1,\"noisy\":true}]" more "}"
#define RUN(rows, more)                                                                                                \
    "{\"aggbench\":1,\"source\":{\"name\":\"s\",\"rows\":100,\"groups\":10},\"query\":{\"group_by\":[\"UserID\"]},"    \
    "\"machine\":{\"cpu\":\"C\",\"uarch\":\"U\",\"cores\":2,\"caches\":{\"l2\":1048576}},\"results\":[" rows "]" more  \
    "}"
#define COMPARED                                                                                                       \
    ",\"comparisons\":[{\"result\":1,\"speedup\":2,\"ci95_low\":1.8,\"ci95_high\":2.2,\"verdict\":\"faster\"}]"

static const char two_rows[] = RUN(ROW("naive", "ok", "") "," TIMED_ROW("radix", "ok", "0.5", ""), COMPARED);

static const char lab[] =
    "{\"aggbench\":1,\"lab\":\"chase\",\"prediction\":\"steps\",\"limits\":\"few\",\"noisy\":1,\"measured\":3,"
    "\"charts\":[{\"title\":\"Load\",\"x\":{\"label\":\"set\",\"unit\":\"bytes\",\"log\":true},\"y\":{"
    "\"label\":\"time\",\"unit\":\"ns\",\"log\":false},\"marks\":[{\"x\":32768,\"label\":\"L1d\"}],\"series\":[{"
    "\"name\":\"random\","
    "\"points\":[{\"x\":16384,\"y\":1.2,\"low\":null,\"high\":null,\"noisy\":false},{\"x\":65536,\"y\":4,\"low\":3,"
    "\"high\":5,\"noisy\":true},{\"x\":0,\"y\":4}]}]}],\"tables\":[{\"title\":\"T\",\"columns\":[{\"name\":\"a\","
    "\"unit\":\"\"},{\"name\":\"b\",\"unit\":\"ns\"}],\"rows\":[[\"x\",1.5],[\"y\",null]]}],"
    "\"findings\":[\"two steps\",\"more\"],\"notes\":[\"n\"]}";

/* ---- What a page says -------------------------------------------------------------------------------------------- */

static void a_run_becomes_a_page_with_pictures_and_the_same_as_text(void **state)
{
    (void)state;
    char *page = good_page(two_rows);
    assert_well_formed(page);
    assert_non_null(strstr(page, "it is 2.00 times as fast, 95\xc2\xa0% interval 1.80 to 2.20"));
    assert_non_null(strstr(page, "role=\"img\""));
    assert_non_null(strstr(page, "<details>"));
    assert_non_null(strstr(page, "run better noisy"));
    assert_null(strstr(page, "<script"));
    assert_null(strstr(page, "http://example"));
    free(page);
}

static void a_difference_that_is_not_seen_is_not_claimed(void **state)
{
    (void)state;
    char *page = good_page(RUN(ROW("naive", "ok", "") "," ROW("radix", "ok", ""),
                               ",\"comparisons\":[{\"result\":1,\"speedup\":1.3,\"ci95_low\":0.9,\"ci95_high\":2.2,"
                               "\"verdict\":\"no difference seen\"}]"));
    assert_null(strstr(page, "times as fast"));
    assert_non_null(strstr(page, "no difference seen"));
    free(page);
}

static void too_few_runs_are_no_headline(void **state)
{
    (void)state;
    char *page = good_page(RUN("{\"aggregator\":\"naive\",\"state\":\"ok\",\"wall_s\":{\"median\":1},\"runs\":"
                               "[{\"wall_s\":1}]},{\"aggregator\":\"radix\",\"state\":\"ok\","
                               "\"wall_s\":{\"median\":0.5},\"runs\":"
                               "[{\"wall_s\":0.5}]}", ",\"comparisons\":[{\"result\":1,\"speedup\":2,\"verdict\":"
                               "\"no difference seen\"}]"));
    assert_non_null(strstr(page, "Too few runs for an interval: nothing can be said about who is faster"));
    free(page);
}

#define TWINS(processes)                                                                                               \
    ",\"noise_floor\":[{\"ci95_low\":0.98,\"ci95_high\":1.02}],\"settings\":{\"processes\":" processes "}"

/* Of one process: two layouts of memory can differ by that much. */
static void under_five_percent_is_claimed_from_three_processes_on(void **state)
{
    (void)state;
    char *page = good_page(RUN(ROW("naive", "ok", ""), TWINS("1")));
    assert_non_null(strstr(page, "gives 0.980 to 1.02: a difference within that, or under 5\xc2\xa0%, is not claimed"));
    free(page);
    page = good_page(RUN(ROW("naive", "ok", ""), TWINS("3")));
    assert_non_null(strstr(page, "gives 0.980 to 1.02: a difference within that is not claimed"));
    free(page);
}

static void substitutes_stand_apart_from_measured_values(void **state)
{
    (void)state;
    char *page = good_page(RUN(ROW("naive", "ok", ",\"counters\":{\"source\":\"pmu\",\"retiring_pct\":16.1,"
                                   "\"memory_bound_pct\":50.1,\"estimate\":{\"waiting_beyond_cache_pct\":84}}"), ""));
    const char *measured = strstr(page, "Where the pipeline slots went, measured</h3>");
    const char *estimated = strstr(page, "Waiting beyond the cache, estimated</h3>");
    assert_non_null(measured);
    assert_non_null(estimated);
    assert_true(measured < estimated);
    for (const char *at = strstr(page, "est. 84"); at; at = strstr(at + 1, "est. 84"))
        assert_true(at > estimated);
    for (const char *at = measured; (at = strstr(at, "class=\"solid")) && at < estimated;)
        at++;
    assert_null(strstr(estimated, "class=\"solid"));
    free(page);
}

static void a_failed_strategy_is_said_with_its_reason(void **state)
{
    (void)state;
    char *page = good_page(RUN(ROW("naive", "ok",
                               "") ",{\"aggregator\":\"swiss\",\"state\":\"crashed\",\"reason\":\"by a "
                               "signal\"}", ""));
    assert_non_null(strstr(page, "swiss has no time: crashed: by a signal"));
    free(page);
}

static void a_lab_becomes_curves_with_marks_and_tables(void **state)
{
    (void)state;
    char *page = good_page(lab);
    assert_well_formed(page);
    assert_non_null(strstr(page, "<h2>Two steps</h2>"));
    assert_non_null(strstr(page, "class=\"mark\""));
    assert_non_null(strstr(page, "64 KiB"));
    assert_non_null(strstr(page, "1.50 ns"));
    free(page);
}

#define VISIT(subject, steps)                                                                                          \
    "{\"aggbench\":1,\"doctor\":{\"subject\":{\"threads\":3,\"window_s\":2," subject "},\"machine\":{\"cpu\":\"C\"," \
    "\"uarch\":\"U\",\"cores\":2},\"steps\":[" steps "],\"answered_by\":\"on CPU\",\"conclusion\":\"it sleeps\"}}"
#define STEP(name, verdict, more)                                                                                      \
    "{\"step\":\"" name "\",\"question\":\"does it run?\",\"verdict\":\"" verdict "\",\"means\":\"it waits\"" more "}"

static void a_visit_of_the_doctor_becomes_its_path_step_by_step(void **state)
{
    (void)state;
    char *page = good_page(VISIT(
        "\"kind\":\"process\",\"pid\":12,\"name\":\"<server>\",\"vanished\":true",
        STEP("on CPU", "found", ",\"measured\":\"it ran for 1 %\",\"next\":\"look\",\"figures\":[{\"name\":\"ran\","
             "\"value\":1.5,\"unit\":\"%\",\"estimate\":false},{\"name\":\"walks\",\"value\":20,\"unit\":\"%\","
             "\"estimate\":true},{\"name\":\"not had\",\"value\":null,\"unit\":\"%\"}]") ","
        STEP("slots", "not seen", ",\"unseen\":[{\"what\":\"slots\",\"reason\":\"no PMU\",\"command\":\"perf stat\"}"
             "]") ","
        STEP("TLB", "skipped", "")));
    assert_well_formed(page);
    static const char *const said[] = {
        "<h1>Doctor: process 12 (&#60;server&#62;)</h1>", "<h2>It sleeps.</h2>", "Watched for 2.00 s; threads seen: 3.",
        "It ended meanwhile", "<h3>1 on CPU: found</h3>", "It ran for 1\xc2\xa0%.", "ran</th><td class=\"n\">1.50",
        "walks, estimated</th>", "Next: look.", "Not seen: slots: no PMU.", "<pre>perf stat</pre>", "3 TLB</th>",
        "Measured on C (U)"};
    for (size_t i = 0; i < sizeof said / sizeof said[0]; i++)
        if (!strstr(page, said[i]))
            fail_msg("not there: %s", said[i]);
    assert_null(strstr(page, "not had"));
    assert_null(strstr(page, "3 TLB: skipped"));
    free(page);
    page = good_page(VISIT("\"kind\":\"command\",\"pid\":12,\"name\":\"sh\",\"vanished\":true,\"exit_status\":3",
                           ""));
    assert_non_null(strstr(page, "It ended with exit status 3."));
    assert_null(strstr(page, "It ended meanwhile"));
    free(page);
}

/* ---- Hostile files ----------------------------------------------------------------------------------------------- */

static void markup_in_names_is_escaped(void **state)
{
    (void)state;
    char *page = good_page(RUN(ROW("<script>alert('x')</script>&amp;\\\"", "ok", ""), ""));
    assert_well_formed(page);
    assert_null(strstr(page, "<script"));
    assert_non_null(strstr(page, "&#60;script&#62;alert(&#39;x&#39;)"));
    free(page);
}

static void control_bytes_and_marks_of_direction_are_shown_not_obeyed(void **state)
{
    (void)state;
    char *page = good_page(RUN(ROW("a\\u0001b\\u001b[31m\\u202Ec\\uFFFFd", "ok", ""), ""));
    assert_well_formed(page);
    assert_non_null(strstr(page, "a\\x01b\\x1b[31m\\xe2\\x80\\xaec\\xef\\xbf\\xbfd"));
    free(page);
}

static void very_long_names_keep_the_page_whole(void **state)
{
    (void)state;
    static char json[41000], name[20000];
    memset(name, 'w', sizeof name - 1);
    snprintf(json, sizeof json, "{\"aggbench\":1,\"results\":[{\"aggregator\":\"%s\",\"state\":\"%s\"}]}", name, name);
    char *page = good_page(json);
    assert_well_formed(page);
    free(page);
}

static void what_is_wrong_is_one_sentence_with_file_and_place(void **state)
{
    (void)state;
    static const struct { const char *json, *words; } cases[] = {
        {"", "is empty"},
        {"[1]", "no JSON object"},
        {"hello", "line 1|no whole JSON"},
        {"{\"name\":\"foreign\"}", "none of a kind|a run"},
        {"{\"results\":[{\"aggregator\":\"a\"}]}", "results[0]|state is missing"},
        {"{\"results\":5}", "results|is a number|wanted a list"},
        {"{\"aggbench\":99,\"labs\":[]}", "aggbench: is not 1"},
        {"{\"aggbench\":1,\"labs\":[]}", "labs: is empty"},
        {"{\"lab\":\"x\",\"findings\":[],\"charts\":[],\"tables\":[{\"title\":\"t\",\"columns\":[{\"name\":\"a\","
         "\"unit\":\"\"},{\"name\":\"b\",\"unit\":\"\"}],\"rows\":[[1]]}]}", "rows[0]|has 1 entries|2 columns"},
        {"{\"crossovers\":[],\"settings\":{},\"cells\":[],\"grid\":{\"distributions\":[\"u\"],\"groups\":[10,\"x\"],"
         "\"threads\":[1]}}", "grid.groups[1]|is text|wanted a number"},
        {"{\"results\":null}", "results|missing"},
        {"{\"results\":[7]}", "results[0]|is a number|wanted an object"},
        {RUN("{\"aggregator\":\"a\",\"state\":\"ok\"}", ""), "results[0]|wall_s is missing"},
        {RUN("{\"aggregator\":\"a\",\"state\":\"ok\",\"runs\":[],\"wall_s\":{\"median\":-1}}", ""),
         "results[0].wall_s.median|-1|allowed range is 0..1e+18"},
        {RUN("{\"aggregator\":\"a\",\"state\":\"ok\",\"runs\":[],\"wall_s\":{\"median\":1e300}}", ""),
         "results[0].wall_s.median|1e+300|allowed range"},
        {RUN("{\"aggregator\":\"a\",\"state\":\"ok\",\"runs\":[],\"wall_s\":{\"median\":1e999}}", ""), "no whole JSON"},
        {RUN("{\"aggregator\":\"a\",\"state\":\"ok\",\"runs\":[],\"wall_s\":{\"median\":NaN}}", ""), "no whole JSON"},
        {RUN("{\"aggregator\":\"a\",\"state\":\"ok\",\"runs\":[],\"wall_s\":{\"median\":\"1\"}}", ""),
         "results[0].wall_s.median|is text|wanted a number"},
        {RUN(ROW("a", "ok", ""), ",\"comparisons\":[{\"result\":9,\"speedup\":2}]"), "comparisons[0]|result: 9|0..0"},
        {RUN(ROW("a", "ok", ",\"a\":1,\"a\":2"), ""), "duplicate object key"},
        {"{\"lab\":\"x\"}", "findings is missing"},
        {"{\"doctor\":[]}", "doctor|is a list|wanted an object"},
        {"{\"doctor\":{\"steps\":[],\"conclusion\":\"x\"}}", "doctor|subject is missing"},
        {VISIT("\"pid\":-1", ""), "doctor.subject.pid|-1|allowed range"},
        {VISIT("\"pid\":1", "{\"step\":\"slots\"}"), "doctor.steps[0]|verdict is missing"},
        {"{\"lab\":\"x\",\"findings\":[3],\"charts\":[],\"tables\":[]}", "findings[0]|wanted text"},
        {"{\"lab\":\"x\",\"findings\":[],\"charts\":[{\"series\":[{\"points\":[{\"x\":\"1\"}]}]}],\"tables\":[]}",
         "charts[0].series[0].points[0].x|is text"},
        {"{\"lab\":\"x\",\"findings\":[],\"charts\":[],\"tables\":[{\"columns\":[{\"name\":\"a\"}],\"rows\":[[{}]]}]}",
         "tables[0].rows[0][0]"},
        {"{\"investigation\":[],\"measurements\":[{\"id\":\"x y\",\"title\":\"\",\"command\":\"\",\"result\":{}}]}",
         "measurements[0]|id"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
        assert_refused(cases[i].json, cases[i].words);
}

static void deep_nesting_is_refused(void **state)
{
    (void)state;
    enum { DEEP = 100000 };
    static char json[DEEP + 32];
    memset(json, '[', DEEP);
    memcpy(json, "{\"results\":", 11);
    assert_refused(json, "no whole JSON");
}

static void a_file_that_ends_early_never_becomes_a_page(void **state)
{
    (void)state;
    for (size_t length = 1; length + 1 < sizeof two_rows; length += 7) {
        char *page;
        agb_error err;
        assert_int_not_equal(page_of(two_rows, length, &page, &err), AGB_OK);
        assert_non_null(strstr(err.text, "/tmp/agb_report_"));
        free(page);
    }
}

/* Bytes changed at random: a sentence, or a page that is whole. */
static void any_damage_gives_a_sentence_or_a_whole_page(void **state)
{
    (void)state;
    static const char *const files[] = {two_rows, lab};
    static const char replacements[] = "0123456789-.eE{}[],:\"\\ntf<\x01\xff";
    uint64_t random = 7;
    for (int round = 0; round < 1200; round++) {
        const char *file = files[round % 2];
        size_t length = strlen(file);
        char *copy = strdup(file), *page;
        for (int change = 0; change <= round % 3; change++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            copy[(random >> 33) % length] = replacements[(random >> 20) % (sizeof replacements - 1)];
        }
        agb_error err;
        if (page_of(copy, length, &page, &err) == AGB_OK)
            assert_well_formed(page);
        else
            assert_true(err.text[0] && !strchr(err.text, '\n'));
        free(page);
        free(copy);
    }
}

static void files_that_are_not_there_are_named(void **state)
{
    (void)state;
    const char *missing[] = {"/nonexistent/a.json"}, *folder[] = {"/tmp"};
    FILE *to = tmpfile();
    assert_fails(AGB_ERR_IO, "/nonexistent/a.json|No such file", agb_report_page(to, missing, 1, err));
    assert_fails(AGB_ERR_IO, "/tmp|Is a directory", agb_report_page(to, folder, 1, err));
    fclose(to);
}

/* ---- Scales ------------------------------------------------------------------------------------------------------ */

static void ticks_are_round_and_inside(void **state)
{
    (void)state;
    double ticks[AGB_MOST_TICKS];
    agb_scale scale = agb_scale_over(0, 0.782, false, false, 0, 100);
    size_t n = agb_scale_ticks(&scale, 6, ticks);
    assert_true(n >= 3 && n <= 6);
    assert_true(fabs(ticks[1] - 0.2) < 1e-12);
    assert_true(scale.high >= 0.782);

    scale = agb_scale_over(16384, 1u << 30, true, true, 0, 100);
    n = agb_scale_ticks(&scale, 8, ticks);
    assert_true(n >= 3 && n <= 8);
    for (size_t i = 0; i < n; i++)
        assert_true(log2(ticks[i]) == floor(log2(ticks[i])) && ticks[i] >= 16384 && ticks[i] <= 1u << 30);

    scale = agb_scale_over(3, 70, true, false, 0, 100);
    n = agb_scale_ticks(&scale, 8, ticks);
    assert_int_equal(n, 4);
    assert_true(ticks[0] == 5 && ticks[3] == 50);
}

static void scales_of_one_value_or_none_stay_finite(void **state)
{
    (void)state;
    static const double values[] = {0, 1, -3, 1e-300, 1e18, NAN};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        double ticks[AGB_MOST_TICKS];
        agb_scale scale = agb_scale_over(values[i], values[i], false, false, 10, 90);
        assert_true(agb_scale_ticks(&scale, 5, ticks) <= AGB_MOST_TICKS);
        double at = agb_scale_at(&scale, values[i]);
        assert_true(at >= 10 && at <= 90);
    }
}

/* ---- Investigations ---------------------------------------------------------------------------------------------- */

static void an_investigation_has_its_twelve_fields_in_both_forms(void **state)
{
    (void)state;
    static const char *const fields[] = {
        "workload and success metric", "environment", "baseline distribution", "initial observations",
        "hypotheses considered", "measurements and overhead", "changes made", "before/after evidence",
        "bottleneck movement", "limitations", "rollback or safety considerations", "next experiment"};
    agb_story story;
    assert_ok(agb_story_create(&story, err));
    for (int field = 0; field < AGB_FIELDS; field++)
        agb_story_claim(&story, (agb_field)field, "M1 M2", "<claim> *%d* of 95 %%", field);
    agb_story_remark(&story, AGB_FIELD_NEXT, "a remark");
    json_t *json = agb_story_json(&story);
    char *text, *page;
    size_t size;
    FILE *to = open_memstream(&text, &size);
    agb_story_markdown(to, json);
    fclose(to);
    agb_error err = {0};
    to = open_memstream(&page, &size);
    assert_int_equal(agb_report_page_of(to, "story", json, &err), AGB_OK);
    fclose(to);
    assert_well_formed(page);
    assert_int_equal(AGB_FIELDS, 12);
    const char *in_text = text, *in_page = page;
    for (size_t i = 0; i < 12; i++) {
        char heading[80];
        snprintf(heading, sizeof heading, "\n## %c%s\n", toupper(fields[i][0]), fields[i] + 1);
        assert_non_null(in_text = strstr(in_text, heading));
        snprintf(heading, sizeof heading, ">%c%s<", toupper(fields[i][0]), fields[i] + 1);
        assert_non_null(in_page = strstr(in_page, heading));
    }
    assert_non_null(strstr(text, "- \\<claim\\> \\*11\\* of 95 % [M1][M2]\n- a remark\n"));
    assert_non_null(strstr(page, "<a href=\"#M2\">[M2]</a>"));
    free(text);
    free(page);
    json_decref(json);
    agb_story_release(&story);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_run_becomes_a_page_with_pictures_and_the_same_as_text),
        cmocka_unit_test(a_difference_that_is_not_seen_is_not_claimed),
        cmocka_unit_test(too_few_runs_are_no_headline),
        cmocka_unit_test(under_five_percent_is_claimed_from_three_processes_on),
        cmocka_unit_test(substitutes_stand_apart_from_measured_values),
        cmocka_unit_test(a_failed_strategy_is_said_with_its_reason),
        cmocka_unit_test(a_lab_becomes_curves_with_marks_and_tables),
        cmocka_unit_test(a_visit_of_the_doctor_becomes_its_path_step_by_step),
        cmocka_unit_test(markup_in_names_is_escaped),
        cmocka_unit_test(control_bytes_and_marks_of_direction_are_shown_not_obeyed),
        cmocka_unit_test(very_long_names_keep_the_page_whole),
        cmocka_unit_test(what_is_wrong_is_one_sentence_with_file_and_place),
        cmocka_unit_test(deep_nesting_is_refused),
        cmocka_unit_test(a_file_that_ends_early_never_becomes_a_page),
        cmocka_unit_test(any_damage_gives_a_sentence_or_a_whole_page),
        cmocka_unit_test(files_that_are_not_there_are_named),
        cmocka_unit_test(ticks_are_round_and_inside),
        cmocka_unit_test(scales_of_one_value_or_none_stay_finite),
        cmocka_unit_test(an_investigation_has_its_twelve_fields_in_both_forms),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
