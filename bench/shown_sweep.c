/* SPDX-License-Identifier: MIT */
/* A sweep as curves: over an aggregator's parameter, or over a number in the name of a generated source. See
 * shown.h. */
#include "shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_POINTS = 3, MOST_ROWS_OF_DOTS = 40 };

/* What is swept. */
typedef struct swept {
    char name[40];
    bool of_source;
} swept;

/* ---- What is it that differs? ------------------------------------------------------------------------------------ */

/* The number after "name=" in "synth:uniform,rows=1M,groups=4k"; NAN when there is none. */
static double source_number(const char *source, const char *name)
{
    size_t length = strlen(name);
    for (const char *at = strchr(source, ','); at; at = strchr(at, ',')) {
        at++;
        if (strncmp(at, name, length) != 0 || at[length] != '=')
            continue;
        char *end;
        double number = strtod(at + length + 1, &end);
        double scale = *end == 'k' || *end == 'K' ? 1e3 : *end == 'M' ? 1e6 : *end == 'G' ? 1e9 : 1;
        return end > at + length + 1 && isfinite(number) ? number * scale : NAN;
    }
    return NAN;
}

/* The key whose value is the first that differs between two sources. */
static bool find_source_key(const char *a, const char *b, swept *out)
{
    size_t i = 0, start = 0;
    for (; a[i] && a[i] == b[i]; i++)
        if (a[i] == ',')
            start = i + 1;
    size_t length = strcspn(a + start, "=");
    if (start == 0 || a[start + length] != '=' || start + length > i || length >= sizeof out->name)
        return false;
    snprintf(out->name, sizeof out->name, "%.*s", (int)length, a + start);
    out->of_source = true;
    return !isnan(source_number(a, out->name)) && !isnan(source_number(b, out->name));
}

static double param_of(const agb_shown_row *row, const char *name)
{
    agb_json params = agb_read_object(&row->at, "params");
    return agb_read_number(&params, name);
}

static double x_of(const agb_shown_row *row, const swept *swept)
{
    return swept->of_source ? source_number(row->source, swept->name) : param_of(row, swept->name);
}

/* The parameter that takes the most values among rows of one name. */
static bool find_param(const agb_shown *shown, swept *out)
{
    for (size_t i = 0; i < shown->n; i++) {
        agb_json params = agb_read_object(&shown->rows[i].at, "params");
        const char *param;
        json_t *value;
        json_object_foreach(params.value, param, value) {
            size_t values = 1;
            for (size_t j = i + 1; j < shown->n; j++)
                values += strcmp(shown->rows[j].aggregator, shown->rows[i].aggregator) == 0 &&
                          param_of(&shown->rows[j], param) != param_of(&shown->rows[j - 1], param);
            if (values < LEAST_POINTS || strlen(param) >= sizeof out->name)
                continue;
            snprintf(out->name, sizeof out->name, "%s", param);
            out->of_source = false;
            return true;
        }
    }
    return false;
}

static bool find_swept(const agb_shown *shown, swept *out)
{
    agb_json sweep = agb_read_object(&shown->file, "sweep"), axes = agb_read_list(&sweep, "axes");
    if (agb_read_length(&axes) > 1)
        return false;    /* that is a map */
    if (shown->n_sources >= LEAST_POINTS)
        for (size_t i = 1; i < shown->n; i++)
            if (strcmp(shown->rows[0].source, shown->rows[i].source) != 0)
                return find_source_key(shown->rows[0].source, shown->rows[i].source, out);
    return shown->n_sources == 1 && find_param(shown, out);
}

bool agb_shown_is_sweep(const agb_shown *shown)
{
    swept swept;
    return shown->n_sources > 1 || shown->n > MOST_ROWS_OF_DOTS || find_swept(shown, &swept);
}

/* ---- Curves ------------------------------------------------------------------------------------------------------ */

/* Rows of a source sweep have other numbers of rows: time a row can be compared. */
static agb_curve_point point_of(const agb_shown_row *row, const swept *swept)
{
    double scale = swept->of_source ? row->ns_per_row / row->median_s : 1;
    bool noisy = false;
    for (size_t i = 0; i < row->n_runs; i++)
        noisy = noisy || row->noisy[i];
    return (agb_curve_point){x_of(row, swept), row->median_s * scale, row->low_s * scale, row->high_s * scale, noisy};
}

static int by_x(const void *a, const void *b)
{
    const agb_curve_point *left = a, *right = b;
    return (left->x > right->x) - (left->x < right->x);
}

/* Rows that belong to one curve have one name; those without x (naive in a sweep of bits) become a level line. */
static size_t collect(const agb_shown *shown, const swept *swept, agb_curve *curves, agb_curve_point *points)
{
    size_t n = 0, at = 0;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < shown->n; i++) {
        low = fmin(low, x_of(&shown->rows[i], swept));
        high = fmax(high, x_of(&shown->rows[i], swept));
    }
    for (size_t i = 0; i < shown->n; i++) {
        const agb_shown_row *row = &shown->rows[i];
        bool done = !row->ok;
        for (size_t j = 0; j < n && !done; j++)
            done = strcmp(curves[j].name, row->aggregator) == 0;
        if (done)
            continue;
        agb_curve *curve = &curves[n++];
        *curve = (agb_curve){.name = row->aggregator, .points = points + at};
        for (size_t j = i; j < shown->n; j++) {
            if (!shown->rows[j].ok || strcmp(shown->rows[j].aggregator, row->aggregator) != 0)
                continue;
            agb_curve_point point = point_of(&shown->rows[j], swept);
            bool level = isnan(point.x);
            point.x = level ? low : point.x;
            points[at + curve->n++] = point;
            point.x = high;
            if (level)
                points[at + curve->n++] = point;
        }
        qsort(points + at, curve->n, sizeof *points, by_x);
        at += curve->n;
    }
    return n;
}

/* A key and its count take 16 bytes: from so many groups on, no table of them fits in that cache; in a sweep of the
 * number of parts as a power of two, none of a part's groups. */
static size_t mark_caches(const agb_shown *shown, const swept *swept, agb_curve_mark marks[3], char labels[3][48])
{
    static const char *const keys[] = {"l1d", "l2", "l3"}, *const names[] = {"L1d", "L2", "L3"};
    enum { GROUP_BYTES = 16 };
    agb_json machine = agb_read_object(&shown->file, "machine"), caches = agb_read_object(&machine, "caches");
    double groups = agb_read_amount(&shown->rows[0].at, "groups");
    bool parts = !swept->of_source && strcmp(swept->name, "bits") == 0;
    size_t n = 0;
    for (size_t i = 0; i < 3; i++) {
        size_t which = parts ? 2 - i : i;
        double bytes = agb_read_amount(&caches, keys[which]);
        double x = parts ? log2(groups * GROUP_BYTES / bytes) : bytes / GROUP_BYTES;
        if (!(bytes > 0) || !isfinite(x) || (!parts && strcmp(swept->name, "groups") != 0))
            continue;
        snprintf(labels[n], 48, "%s%s %.20s", parts ? "a part fills " : "", names[which],
                 agb_text_binary((uint64_t)bytes).s);
        marks[n] = (agb_curve_mark){x, labels[n]};
        n++;
    }
    return n;
}

static void draw(agb_page *page, const agb_curves *curves, const swept *swept)
{
    agb_html_element(page->to, "h3", NULL, "%s", curves->title);
    agb_figure_begin(page);
    agb_draw_curves(page, curves);
    agb_figure_caption(page, "Medians with their 95 %% intervals; hollow where a run lost the core.%s%s",
                       curves->n_marks ? " Dashed: from where 16 bytes for each group (its key and its count, the "
                                         "least that a table needs) fill a cache." : "",
                       swept->of_source ? "" : " A strategy that does not have the parameter is a level line.");
    agb_figure_table_begin(page);
    agb_curves_table(page, curves);
    agb_figure_table_end(page);
    agb_figure_end(page);
}

void agb_show_sweep(agb_page *page, const agb_shown *shown)
{
    swept swept;
    if (!find_swept(shown, &swept))
        return;
    agb_curve *curves = calloc(shown->n + 1, sizeof *curves);
    agb_curve_point *points = calloc(2 * shown->n + 1, sizeof *points);
    agb_curve_mark marks[3];
    char labels[3][48], title[120], about[200];
    size_t n = curves && points ? collect(shown, &swept, curves, points) : 0;
    double least = INFINITY, most = -INFINITY, least_y = INFINITY, most_y = -INFINITY;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < curves[i].n; j++) {
            least = fmin(least, curves[i].points[j].x);
            most = fmax(most, curves[i].points[j].x);
            least_y = fmin(least_y, curves[i].points[j].y);
            most_y = fmax(most_y, curves[i].points[j].y);
        }
    snprintf(title, sizeof title, "Time over %.40s", swept.name);
    snprintf(about, sizeof about, "%zu curves over %.40s from %g to %g; the table under the picture has every point", n,
             swept.name, least, most);
    agb_curves all = {.title = title, .about = about, .curves = curves, .n = n, .marks = marks,
                      .x = {swept.name, "", least > 0 && most > 40 * least},
                      .y = {swept.of_source ? "time a row" : "wall time", swept.of_source ? "ns" : "s",
                            least_y > 0 && most_y > 20 * least_y}};
    all.n_marks = n > 0 ? mark_caches(shown, &swept, marks, labels) : 0;
    if (n > 0)
        draw(page, &all, &swept);
    free(curves);
    free(points);
}
