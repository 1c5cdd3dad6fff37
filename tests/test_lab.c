/* SPDX-License-Identifier: MIT */
/* A lab's record and its outputs, on a lab that measures nothing. */
#include "lab.h"
#include "report.h"
#include "test.h"

#include <jansson.h>
#include <math.h>

static agb_status run_nothing(agb_lab_run *run, agb_error *err)
{
    (void)run;
    (void)err;
    return AGB_OK;
}

static const char *const heeded[] = {"threads", NULL};
static const agb_lab fake = {.name = "fake", .summary = "what a lab looks like", .prediction = "it rises",
                             .limits = "it says nothing", .options = heeded, .run = run_nothing};

static agb_lab_record record_of_a_curve(void)
{
    agb_lab_record record = {.lab = &fake};
    agb_lab_chart *chart = agb_lab_add_chart(&record, "latency", (agb_lab_axis){"working set", "bytes", true},
                                             (agb_lab_axis){"a load", "ns", true});
    agb_lab_series *random = agb_lab_add_series(chart, "random"), *sequential = agb_lab_add_series(chart, "sequential");
    for (double bytes = 16384; bytes <= 1 << 30; bytes *= 2) {
        double ns = bytes <= 32768 ? 1.4 : bytes <= 1 << 20 ? 4.5 : bytes <= 32 << 20 ? 36 : 130;
        agb_lab_point point = {bytes, ns, ns * 0.98, ns * 1.03, bytes == 1 << 20};
        assert_ok(agb_lab_add_point(&record, random, point, err));
        assert_ok(agb_lab_add_point(&record, sequential, (agb_lab_point){bytes, 1.4 + ns / 50, NAN, NAN, false}, err));
    }
    agb_lab_add_mark(chart, 32768, "L1d 32 KiB");
    agb_lab_add_mark(chart, 1 << 20, "L2 1 MiB");
    agb_lab_add_mark(chart, 32 << 20, "L3 32 MiB");
    static const agb_lab_column columns[] = {{"level", ""}, {"size", "bytes"}, {"time", "ns"}};
    agb_lab_table *table = agb_lab_add_table(&record, "steps", columns, 3);
    agb_lab_cell row[] = {agb_lab_text("L%d \"quoted\"", 1), agb_lab_number(32768), agb_lab_number(NAN)};
    assert_ok(agb_lab_add_row(table, row, err));
    agb_lab_find(&record, "it rose from %.1f to %d ns", 1.4, 130);
    agb_lab_note(&record, "nothing disturbed it");
    return record;
}

/* What a report function wrote, as text. */
static char *written;
static size_t written_size;

static FILE *begin_text(void)
{
    FILE *to = open_memstream(&written, &written_size);
    assert_non_null(to);
    return to;
}

static void json_has_the_promised_shape(void **state)
{
    (void)state;
    agb_lab_record record = record_of_a_curve();
    const agb_lab_record *one = &record;
    agb_machine machine;
    agb_machine_read(&machine);
    FILE *to = begin_text();
    agb_lab_report_json(to, &one, 1, &machine, false);
    fclose(to);
    int version, noisy, measured, log, point_noisy;
    const char *lab, *prediction, *limits, *unit, *series, *finding, *note, *text, *mark;
    double x, y, low, mark_x, cell;
    json_t *failed, *no_interval, *nothing, *cpu;
    json_t *root = json_loads(written, 0, NULL);
    assert_non_null(root);
    json_t *chart = json_array_get(json_object_get(root, "charts"), 0);
    assert_int_equal(json_unpack(root, "{s:i, s:s, s:s, s:s, s:i, s:i, s:o, s:{s:o}, s:[s], s:[s]}", "aggbench",
                                 &version, "lab", &lab, "prediction", &prediction, "limits", &limits, "noisy", &noisy,
                                 "measured", &measured, "failed", &failed, "machine", "cpu", &cpu, "findings",
                                 &finding, "notes", &note), 0);
    assert_int_equal(json_unpack(chart, "{s:{s:s, s:b}, s:[{s:F, s:s}], s:[{s:s, s:[{s:F, s:F, s:F, s:b}]}]}", "x",
                                 "unit", &unit, "log", &log, "marks", "x", &mark_x, "label", &mark, "series", "name",
                                 &series, "points", "x", &x, "y", &y, "low", &low, "noisy", &point_noisy), 0);
    assert_int_equal(json_unpack(chart, "{s:[o, {s:[{s:o}]}]}", "series", &nothing, "points", "low", &no_interval), 0);
    assert_true(json_is_null(no_interval));
    assert_int_equal(json_unpack(json_array_get(json_object_get(root, "tables"), 0), "{s:[[s, F, o]]}", "rows", &text,
                                 &cell, &nothing), 0);
    assert_true(json_is_null(nothing) && json_is_null(failed));
    assert_string_equal(lab, "fake");
    assert_string_equal(unit, "bytes");
    assert_int_equal(measured, 34);
    assert_int_equal(noisy, 1);
    assert_true(x == 16384 && y == 1.4 && mark_x == 32768 && cell == 32768);
    json_decref(root);
    free(written);
    agb_lab_record_release(&record);
}

static void several_labs_are_one_json_object_with_a_list(void **state)
{
    (void)state;
    agb_lab_record record = record_of_a_curve(), failed = {.lab = &fake, .failed = "lab: fake: broken"};
    const agb_lab_record *both[] = {&record, &failed};
    agb_machine machine;
    agb_machine_read(&machine);
    FILE *to = begin_text();
    agb_lab_report_json(to, both, 2, &machine, true);
    fclose(to);
    const char *first, *reason;
    json_t *root = json_loads(written, 0, NULL);
    assert_int_equal(json_unpack(root, "{s:[{s:s}, {s:s}]}", "labs", "lab", &first, "failed", &reason), 0);
    assert_string_equal(reason, "lab: fake: broken");
    json_decref(root);
    free(written);
    agb_lab_record_release(&record);
}

static void csv_has_one_line_for_each_figure(void **state)
{
    (void)state;
    agb_lab_record record = record_of_a_curve();
    const agb_lab_record *one = &record;
    FILE *to = begin_text();
    agb_lab_report_csv(to, &one, 1);
    fclose(to);
    size_t lines = 0, commas = 0;
    for (const char *at = written; *at; at++)
        lines += *at == '\n';
    assert_int_equal(lines, 1 + 34 + 3);
    const char *line = strstr(written,
                              "fake,chart,\"latency\",\"random\",1048576,\"bytes\",4.5,\"ns\",4.41,4.635,1,\n");
    assert_non_null(line);
    for (; *line != '\n'; line++)
        commas += *line == ',';
    assert_int_equal(commas, 11);    /* twelve fields, as in the head */
    assert_non_null(strstr(written, "fake,table,\"steps\",\"level\",0,\"row\",,\"\",,,,\"L1 \"\"quoted\"\"\"\n"));
    assert_non_null(strstr(written, "fake,table,\"steps\",\"time\",0,\"row\",,\"ns\",,,,\n"));
    free(written);
    agb_lab_record_release(&record);
}

static void report_says_what_to_expect_what_it_showed_and_its_limits(void **state)
{
    (void)state;
    agb_lab_record record = record_of_a_curve();
    agb_machine machine;
    agb_machine_read(&machine);
    FILE *to = begin_text();
    agb_lab_report_head(to, record.lab);
    agb_lab_report_body(to, &record);
    agb_report_machine(to, &machine);
    fclose(to);
    const char *in_order[] = {"fake: what a lab looks like", "predict    it rises", "latency", "L2 1 MiB", "16 KiB",
                              "a random; b sequential", "1 MiB  4.50 [4.41, 4.63]!", "steps",
                              "found      it rose from 1.4 to 130 ns", "note       nothing disturbed it",
                              "caution    1 of 34 points are noisy", "limits     it says nothing", "machine    "};
    const char *at = written;
    for (size_t i = 0; i < sizeof in_order / sizeof in_order[0]; i++) {
        const char *found = strstr(at, in_order[i]);
        if (!found)
            fail_msg("'%s' does not stand where it should in:\n%s", in_order[i], written);
        at = found;
    }
    free(written);
    agb_lab_record_release(&record);
}

static void picture_is_ascii_where_it_must_be_and_never_wider_than_told(void **state)
{
    (void)state;
    agb_lab_record record = record_of_a_curve();
    for (int utf8 = 0; utf8 <= 1; utf8++) {
        FILE *to = begin_text();
        agb_lab_picture(to, &record.charts[0], 80, utf8);
        fclose(to);
        size_t beyond = 0;
        for (const char *at = written; *at; at++)
            beyond += (unsigned char)*at >= 0x80;
        assert_int_equal(beyond > 0, utf8);
        for (const char *line = written; *line; line += strcspn(line, "\n") + 1) {
            char copy[512];
            snprintf(copy, sizeof copy, "%.*s", (int)strcspn(line, "\n"), line);
            assert_in_range(agb_text_cells(copy), 0, 100);    /* the legend wraps as all text does */
        }
        assert_non_null(strchr(written, 'A'));    /* the noisy point */
        free(written);
    }
    agb_lab_record_release(&record);
}

static void picture_of_nothing_or_of_one_point_is_drawn_without_harm(void **state)
{
    (void)state;
    agb_lab_record record = {.lab = &fake};
    agb_lab_chart *chart = agb_lab_add_chart(&record, "empty", (agb_lab_axis){"x", "", true},
                                             (agb_lab_axis){"y", "", true});
    agb_lab_series *series = agb_lab_add_series(chart, "one");
    FILE *to = begin_text();
    agb_lab_picture(to, chart, 100, false);
    assert_ok(agb_lab_add_point(&record, series, (agb_lab_point){0, NAN, NAN, NAN, false}, err));
    agb_lab_picture(to, chart, 100, false);
    assert_ok(agb_lab_add_point(&record, series, (agb_lab_point){5, 7, NAN, NAN, false}, err));
    agb_lab_picture(to, chart, 100, false);
    chart->x.log = chart->y.log = false;
    agb_lab_picture(to, chart, 100, false);
    assert_ok(agb_lab_add_point(&record, series, (agb_lab_point){6, -7, NAN, NAN, false}, err));
    agb_lab_picture(to, chart, 20, false);
    fclose(to);
    assert_non_null(strchr(written, 'a'));
    free(written);
    agb_lab_record_release(&record);
}

static void chart_takes_no_more_series_and_marks_than_it_has_room_for(void **state)
{
    (void)state;
    agb_lab_record record = {.lab = &fake};
    agb_lab_chart *chart = agb_lab_add_chart(&record, "full", (agb_lab_axis){"x", "", false},
                                             (agb_lab_axis){"y", "", false});
    for (int i = 0; i < AGB_LAB_MOST_SERIES; i++) {
        assert_non_null(agb_lab_add_series(chart, "s"));
        agb_lab_add_mark(chart, i, "m");
    }
    agb_lab_add_mark(chart, 1, "one too many");
    assert_null(agb_lab_add_series(chart, "one too many"));
    assert_int_equal(chart->n_marks, AGB_LAB_MOST_MARKS);
    assert_fails(AGB_ERR_MEMORY, "no memory", agb_lab_add_point(&record, NULL, (agb_lab_point){0}, err));
    agb_lab_record_release(&record);
}

static void every_lab_says_what_to_expect_and_what_it_cannot_say(void **state)
{
    (void)state;
    for (const agb_lab *const *lab = agb_labs; *lab; lab++) {
        assert_true((*lab)->summary[0] && (*lab)->prediction[0] && (*lab)->limits[0] && (*lab)->run);
        assert_ptr_equal(agb_lab_named((*lab)->name), *lab);
    }
    assert_null(agb_lab_named("nothing"));
    assert_true(agb_lab_heeds(&fake, "threads") && !agb_lab_heeds(&fake, "pages"));
}

static void a_ratio_is_bounded_and_what_overlaps_is_no_difference(void **state)
{
    (void)state;
    agb_lab_point slow = {1, 100, 90, 120, false}, fast = {1, 50, 45, 60, true}, near = {1, 80, 70, 95, false};
    agb_lab_point once = {1, 10, NAN, NAN, false};
    assert_string_equal(agb_lab_times(&slow, &fast).s, "2.00 x [1.50, 2.67]");
    assert_string_equal(agb_lab_times(&once, &fast).s, "0.200 x");
    assert_true(agb_lab_differ(&slow, &fast) && agb_lab_differ(&fast, &slow));
    assert_false(agb_lab_differ(&slow, &near) || agb_lab_differ(&near, &slow));
    assert_string_equal(agb_lab_doubt(&slow, &fast), " (from noisy points)");
    assert_string_equal(agb_lab_doubt(&slow, &near), "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ratio_is_bounded_and_what_overlaps_is_no_difference),
        cmocka_unit_test(json_has_the_promised_shape),
        cmocka_unit_test(several_labs_are_one_json_object_with_a_list),
        cmocka_unit_test(csv_has_one_line_for_each_figure),
        cmocka_unit_test(report_says_what_to_expect_what_it_showed_and_its_limits),
        cmocka_unit_test(picture_is_ascii_where_it_must_be_and_never_wider_than_told),
        cmocka_unit_test(picture_of_nothing_or_of_one_point_is_drawn_without_harm),
        cmocka_unit_test(chart_takes_no_more_series_and_marks_than_it_has_room_for),
        cmocka_unit_test(every_lab_says_what_to_expect_and_what_it_cannot_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
