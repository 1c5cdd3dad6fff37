/* SPDX-License-Identifier: MIT */
/* A sweep over two axes as maps, one for each strategy that is on both, and what was best. See shown.h. */
#include "shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { AXES = 2, MOST_VALUES = 64 };

/* An axis of the sweep. */
typedef struct axis {
    const char *name;
    const char *value[MOST_VALUES];
    size_t n;
    bool of_source;
} axis;

/* Where each row lies on them; -1: nowhere. */
typedef struct place {
    int at[AXES];
} place;

static void read_axis(axis *out, const agb_json *at)
{
    agb_json values = agb_read_list(at, "values");
    *out = (axis){.name = agb_read_words(at, "name"), .of_source = strcmp(agb_read_words(at, "of"), "source") == 0};
    if (agb_read_length(&values) > MOST_VALUES)
        agb_read_fail(&values, "has %zu entries: allowed range is 0..%d", agb_read_length(&values), MOST_VALUES);
    for (size_t i = 0; i < agb_read_length(&values) && i < MOST_VALUES; i++)
        out->value[out->n++] = agb_read_words_entry(&values, i);
}

/* places: room for all rows. */
static void read_places(const agb_shown *shown, const agb_json *sweep, const axis axes[AXES], place *places)
{
    agb_json cells = agb_read_list(sweep, "cells");
    for (size_t i = 0; i < shown->n; i++)
        places[i] = (place){{-1, -1}};
    for (size_t i = 0; i < agb_read_length(&cells); i++) {
        agb_json at = agb_read_entry(&cells, i), list = agb_read_list(&at, "at");
        agb_read_need(&at, "result at");
        const agb_shown_row *row = agb_shown_result(shown, &at);
        if (!row)
            return;
        for (size_t k = 0; k < AXES; k++) {
            json_t *value = json_array_get(list.value, k);
            bool inside = json_is_integer(value) && json_integer_value(value) >= 0 &&
                          json_integer_value(value) < (json_int_t)axes[k].n;
            places[row - shown->rows].at[k] = inside ? (int)json_integer_value(value) : -1;
        }
    }
}

static bool is_placed(const place *place)
{
    return place->at[0] >= 0 && place->at[1] >= 0;
}

/* The strategy with the parameters that are not swept. */
static void base_of(const agb_shown_row *row, const axis axes[AXES], char *text, size_t size)
{
    agb_json params = agb_read_object(&row->at, "params");
    size_t at = (size_t)snprintf(text, size, "%s", row->aggregator);
    const char *name;
    json_t *value;
    json_object_foreach(params.value, name, value) {
        bool swept = false;
        for (size_t k = 0; k < AXES; k++)
            swept = swept || (!axes[k].of_source && strcmp(axes[k].name, name) == 0);
        if (!swept && json_is_number(value) && at < size)
            at += (size_t)snprintf(text + at, size - at, " %s=%.15g", name, json_number_value(value));
    }
}

/* ---- One map ----------------------------------------------------------------------------------------------------- */

typedef struct field {
    const agb_shown_row *row;
    agb_text text;
} field;

static void maps_table(agb_page *page, const axis axes[AXES], const field *fields)
{
    char headings[200];
    snprintf(headings, sizeof headings, "%.60s|%.60s|#ns a row|#median|#95 %% interval", axes[0].name, axes[1].name);
    agb_html_table_begin(page->to, NULL, headings);
    for (size_t i = 0; i < axes[0].n * axes[1].n; i++) {
        const agb_shown_row *row = fields[i].row;
        if (!row)
            continue;
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", axes[0].value[i / axes[1].n]);
        agb_html_cell(page->to, "%s", axes[1].value[i % axes[1].n]);
        agb_html_number_cell(page->to, "%s", fields[i].text.s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(row->median_s, "s").s);
        agb_interval_cell(page, row->low_s, row->high_s, "s", "too few runs");
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

static void draw(agb_page *page, const char *base, const axis axes[AXES], const field *fields, double least,
                 double most)
{
    size_t n = axes[0].n * axes[1].n;
    agb_map_cell *cells = calloc(n + 1, sizeof *cells);
    agb_text names[MOST_VALUES];
    const char *rows[MOST_VALUES];
    char title[160], about[240];
    double span = log(most / least);
    for (size_t i = 0; i < n && cells; i++) {
        double part = fields[i].row && span > 0 ? log(fields[i].row->ns_per_row / least) / span : 0;
        unsigned shade = (unsigned)(part * AGB_MAP_SHADES);
        cells[i] = (agb_map_cell){.value = fields[i].text.s,
                                  .shade = shade < AGB_MAP_SHADES ? shade : AGB_MAP_SHADES - 1};
    }
    for (size_t i = 0; i < axes[0].n; i++) {
        snprintf(names[i].s, sizeof names[i].s, "%.38s=%.38s", axes[0].name, axes[0].value[i]);
        rows[i] = names[i].s;
    }
    snprintf(title, sizeof title, "%.80s: ns a row", base);
    snprintf(about, sizeof about, "Time a row over %.40s and %.40s, from %.20s to %.20s ns; the table under the "
             "picture has every field", axes[0].name, axes[1].name, agb_text_number(least).s, agb_text_number(most).s);
    agb_map map = {title, about, axes[1].name, rows, axes[1].value, axes[0].n, axes[1].n, cells};
    agb_html_element(page->to, "h3", NULL, "%s", title);
    agb_figure_begin(page);
    if (cells)
        agb_draw_map(page, &map);
    agb_figure_caption(page, "Medians, in ns a row; the stronger the colour, the slower, in equal ratios from %s to "
                       "%s.",
                       agb_text_number(least).s, agb_text_number(most).s);
    agb_figure_table_begin(page);
    maps_table(page, axes, fields);
    agb_figure_table_end(page);
    agb_figure_end(page);
    free(cells);
}

/* The rows with the base of row `first`. */
static void show_map(agb_page *page, const agb_shown *shown, const axis axes[AXES], const place *places, size_t first)
{
    char base[128], other[128];
    field *fields = calloc(axes[0].n * axes[1].n + 1, sizeof *fields);
    double least = INFINITY, most = 0;
    base_of(&shown->rows[first], axes, base, sizeof base);
    for (size_t i = first; i < shown->n && fields; i++) {
        const agb_shown_row *row = &shown->rows[i];
        base_of(row, axes, other, sizeof other);
        if (!row->ok || !is_placed(&places[i]) || !(row->ns_per_row > 0) || strcmp(base, other) != 0)
            continue;
        fields[(size_t)places[i].at[0] * axes[1].n + (size_t)places[i].at[1]] =
            (field){row, agb_text_number(row->ns_per_row)};
        least = fmin(least, row->ns_per_row);
        most = fmax(most, row->ns_per_row);
    }
    if (most > 0)
        draw(page, base, axes, fields, least, most);
    free(fields);
}

void agb_show_maps(agb_page *page, const agb_shown *shown)
{
    agb_json sweep = agb_read_object(&shown->file, "sweep"), list = agb_read_list(&sweep, "axes");
    axis axes[AXES];
    place *places = calloc(shown->n + 1, sizeof *places);
    bool two = places && agb_read_length(&list) == AXES;
    for (size_t k = 0; two && k < AXES; k++) {
        agb_json at = agb_read_entry(&list, k);
        read_axis(&axes[k], &at);
    }
    if (two)
        read_places(shown, &sweep, axes, places);
    for (size_t i = 0; two && i < shown->n && !shown->file.file->failed; i++) {
        char base[128], other[128];
        bool told = !is_placed(&places[i]);
        base_of(&shown->rows[i], axes, base, sizeof base);
        for (size_t j = 0; j < i && !told; j++) {
            base_of(&shown->rows[j], axes, other, sizeof other);
            told = is_placed(&places[j]) && strcmp(base, other) == 0;
        }
        if (!told)
            show_map(page, shown, axes, places, i);
    }
    free(places);
}

/* ---- The best ---------------------------------------------------------------------------------------------------- */

static void say_best(agb_page *page, const agb_json *at, bool several)
{
    const char *params = agb_read_words(at, "params"), *second = agb_read_words(at, "second");
    double low = agb_read_amount(at, "ci95_low");
    agb_text lead = agb_text_ratio(agb_read_amount(at, "lead"), low, agb_read_amount(at, "ci95_high"));
    fputs("<li>", page->to);
    if (several)
        agb_html_print(page->to, "%s: ", agb_read_words(at, "source"));
    agb_html_print(page->to, "%s%s%s", agb_read_words(at, "aggregator"), *params ? " " : "", params);
    if (!*second)
        agb_html_print(page->to, " is the only one that is right");
    else if (isnan(low))
        agb_html_print(page->to, " is before %s by %s, but too few runs say whether that is more than noise", second,
                       lead.s);
    else if (agb_read_truth(at, "claimed"))
        agb_html_print(page->to, " is the fastest, before %s by %s: outside the noise", second, lead.s);
    else
        agb_html_print(page->to, " has the least median, but its lead on %s, %s, is inside the noise: either may be "
                       "the fastest", second, lead.s);
    fputs("</li>\n", page->to);
}

void agb_show_best(agb_page *page, const agb_shown *shown)
{
    agb_json sweep = agb_read_object(&shown->file, "sweep"), best = agb_read_list(&sweep, "best");
    size_t n = agb_read_length(&best);
    if (n > 0)
        fputs("<ul class=\"says\">\n", page->to);
    for (size_t i = 0; i < n; i++) {
        agb_json at = agb_read_entry(&best, i);
        say_best(page, &at, shown->n_sources > 1);
    }
    if (n > 0)
        fputs("</ul>\n", page->to);
}
