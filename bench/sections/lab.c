/* SPDX-License-Identifier: MIT */
/* A lab on a page: what was to be expected, what it showed, its curves and its tables. */
#include "section.h"

#include "lab.h"

#include <math.h>
#include <stdlib.h>

static void lab_title(const agb_json *lab, char *text, size_t size)
{
    const char *summary = agb_read_words(lab, "summary");
    snprintf(text, size, "Lab %.60s%s%s", agb_read_words(lab, "lab"), *summary ? ": " : "", summary);
}

/* ---- Charts ------------------------------------------------------------------------------------------------------ */

static agb_curve_axis axis_of(const agb_json *chart, const char *key)
{
    agb_json axis = agb_read_object(chart, key);
    return (agb_curve_axis){agb_read_words(&axis, "label"), agb_read_words(&axis, "unit"),
                            agb_read_truth(&axis, "log")};
}

/* points: room for all of the series'; those without x or y are left out. */
static size_t read_points(const agb_json *list, agb_curve_point *points)
{
    size_t n = 0;
    for (size_t i = 0; i < agb_read_length(list); i++) {
        agb_json at = agb_read_entry(list, i);
        agb_curve_point point = {agb_read_number(&at, "x"), agb_read_number(&at, "y"), agb_read_number(&at, "low"),
                                 agb_read_number(&at, "high"), agb_read_truth(&at, "noisy")};
        if (!isnan(point.x) && !isnan(point.y))
            points[n++] = point;
    }
    return n;
}

static int by_x(const void *a, const void *b)
{
    const agb_curve_mark *left = a, *right = b;
    return (left->x > right->x) - (left->x < right->x);
}

static size_t read_marks(const agb_json *chart, agb_curve_mark marks[AGB_LAB_MOST_MARKS])
{
    agb_json list = agb_read_list(chart, "marks");
    size_t n = 0;
    for (size_t i = 0; i < agb_read_length(&list) && n < AGB_LAB_MOST_MARKS; i++) {
        agb_json at = agb_read_entry(&list, i);
        agb_curve_mark mark = {agb_read_number(&at, "x"), agb_read_words(&at, "label")};
        if (!isnan(mark.x))
            marks[n++] = mark;
    }
    qsort(marks, n, sizeof *marks, by_x);
    return n;
}

static void write_curves(agb_page *page, const agb_curves *curves)
{
    agb_html_sentence(page->to, "h3", NULL, "%s", curves->title);
    agb_figure_begin(page);
    agb_draw_curves(page, curves);
    agb_figure_caption(page, "%s over %s.%s Hollow points were disturbed; bars show from where to where a point may "
                       "lie.", curves->y.label, curves->x.label,
                       curves->n_marks ? " Dashed lines mark what explains a step." : "");
    agb_figure_table_begin(page);
    agb_curves_table(page, curves);
    agb_figure_table_end(page);
    agb_figure_end(page);
}

static void write_chart(agb_page *page, const agb_json *chart)
{
    agb_json series = agb_read_list(chart, "series");
    size_t n = agb_read_length(&series), points = 0, at = 0;
    for (size_t i = 0; i < n; i++) {
        agb_json entry = agb_read_entry(&series, i), list = agb_read_list(&entry, "points");
        points += agb_read_length(&list);
    }
    agb_curve *curves = calloc(n + 1, sizeof *curves);
    agb_curve_point *room = calloc(points + 1, sizeof *room);
    agb_curve_mark marks[AGB_LAB_MOST_MARKS];
    for (size_t i = 0; i < n && curves && room; i++) {
        agb_json entry = agb_read_entry(&series, i), list = agb_read_list(&entry, "points");
        curves[i] = (agb_curve){agb_read_words(&entry, "name"), room + at, read_points(&list, room + at)};
        at += curves[i].n;
    }
    char about[300];
    agb_curves all = {.title = agb_read_words(chart, "title"), .about = about, .x = axis_of(chart, "x"),
                      .y = axis_of(chart, "y"), .curves = curves, .n = n, .marks = marks,
                      .n_marks = read_marks(chart, marks)};
    snprintf(about, sizeof about, "%zu curves of %s over %s; the table under the picture has every point", n,
             all.y.label, all.x.label);
    if (!curves || !room)
        agb_read_fail(chart, "no memory for its points");
    else if (at > 0)
        write_curves(page, &all);
    free(curves);
    free(room);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void write_cell(agb_page *page, const agb_json *row, size_t i, const char *unit)
{
    json_t *value = json_array_get(row->value, i);
    agb_json member = {.file = row->file, .value = value};
    snprintf(member.place, sizeof member.place, "%.130s[%zu]", row->place, i);
    if (json_is_string(value))
        agb_html_cell(page->to, "%s", json_string_value(value));
    else if (json_is_number(value))
        agb_html_number_cell(page->to, "%s", agb_text_amount(json_number_value(value), unit).s);
    else if (!value || json_is_null(value))
        agb_html_number_cell(page->to, "-");
    else
        agb_read_fail(&member, "is no text, number or null: a table has nothing else");
}

static void write_table(agb_page *page, const agb_json *table)
{
    agb_json columns = agb_read_list(table, "columns"), rows = agb_read_list(table, "rows");
    const char *units[AGB_LAB_MOST_COLUMNS] = {0};
    char headings[AGB_LAB_MOST_COLUMNS * 52] = "";
    size_t n = agb_read_length(&columns), at = 0;
    if (n > AGB_LAB_MOST_COLUMNS)
        agb_read_fail(&columns, "has %zu entries: allowed range is 0..%d", n, AGB_LAB_MOST_COLUMNS);
    for (size_t i = 0; i < n && i < AGB_LAB_MOST_COLUMNS; i++) {
        agb_json column = agb_read_entry(&columns, i), first = agb_read_list_entry(&rows, 0);
        units[i] = agb_read_words(&column, "unit");
        at += (size_t)snprintf(headings + at, sizeof headings - at, "%s%s%.48s", i ? "|" : "",
                               json_is_string(json_array_get(first.value, i)) ? "" : "#",
                               agb_read_words(&column, "name"));
    }
    if (n == 0 || rows.file->failed)
        return;
    agb_html_sentence(page->to, "h3", NULL, "%s", agb_read_words(table, "title"));
    agb_html_table_begin(page->to, NULL, headings);
    for (size_t i = 0; i < agb_read_length(&rows); i++) {
        agb_json row = agb_read_list_entry(&rows, i);
        if (agb_read_length(&row) != n)
            agb_read_fail(&row, "has %zu entries: wanted one for each of the %zu columns", agb_read_length(&row), n);
        agb_html_row_begin(page->to);
        for (size_t j = 0; j < n && !row.file->failed; j++)
            write_cell(page, &row, j, units[j]);
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void write_lab(agb_page *page, const agb_json *lab)
{
    char over[120];
    agb_json findings = agb_read_list(lab, "findings"), notes = agb_read_list(lab, "notes");
    agb_json charts = agb_read_list(lab, "charts"), tables = agb_read_list(lab, "tables");
    double noisy = agb_read_amount(lab, "noisy"), measured = agb_read_amount(lab, "measured");
    agb_read_need(lab, "lab findings charts tables");
    snprintf(over, sizeof over, "lab %.80s", agb_read_words(lab, "lab"));
    const char *headline = agb_read_words_entry(&findings, 0);
    agb_section_head(page, over, *headline ? headline : "Nothing was found");
    if (*agb_read_words(lab, "failed"))
        agb_html_element(page->to, "p", "caution", "It failed: %s", agb_read_words(lab, "failed"));
    if (*agb_read_words(lab, "prediction"))
        agb_html_element(page->to, "p", NULL, "Expected: %s", agb_read_words(lab, "prediction"));
    agb_sentences(page, &findings, 1, "says");
    for (size_t i = 0; i < agb_read_length(&charts); i++) {
        agb_json chart = agb_read_entry(&charts, i);
        write_chart(page, &chart);
    }
    for (size_t i = 0; i < agb_read_length(&tables); i++) {
        agb_json table = agb_read_entry(&tables, i);
        write_table(page, &table);
    }
    if (noisy > 0)
        agb_html_element(page->to, "p", "caution", "%s of %s points were measured while something else disturbed the "
                         "machine.", agb_text_amount(noisy, "").s, agb_text_amount(measured, "").s);
    agb_sentences(page, &notes, 0, "says");
    if (*agb_read_words(lab, "limits"))
        agb_html_element(page->to, "p", "aside", "Limits: %s", agb_read_words(lab, "limits"));
}

const agb_section agb_section_lab = {
    .key = "lab", .kind = "a lab (lab NAME)", .title = lab_title, .write = write_lab};
