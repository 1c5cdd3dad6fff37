/* SPDX-License-Identifier: MIT */
/* Curves over one axis, with places marked that explain their steps. See charts.h. */
#include "charts.h"
#include "svg.h"

#include <math.h>
#include <string.h>

enum { LEFT = 64, RIGHT = 14, FOOT = 46, LEVEL = 16 };

typedef struct plot {
    agb_svg svg;
    double top, bottom;
    agb_scale x, y;
} plot;

/* A point can stand on the axes: a log axis has no place for 0 and below. */
static bool can_stand(const agb_curves *curves, const agb_curve_point *point)
{
    return !isnan(point->x) && !isnan(point->y) && (!curves->x.log || point->x > 0) && (!curves->y.log || point->y > 0);
}

/* ---- Scales ------------------------------------------------------------------------------------------------------ */

static void take(double value, bool log, double *low, double *high)
{
    if (isnan(value) || (log && value <= 0))
        return;
    *low = fmin(*low, value);
    *high = fmax(*high, value);
}

/* y has no place yet: marks above the plot, which stand on x, push it down. false when there is nothing to draw. */
static bool set_scales(plot *plot, const agb_curves *curves)
{
    double x_low = INFINITY, x_high = -INFINITY, y_low = INFINITY, y_high = -INFINITY;
    for (size_t i = 0; i < curves->n; i++)
        for (size_t j = 0; j < curves->curves[i].n; j++) {
            const agb_curve_point *point = &curves->curves[i].points[j];
            if (!can_stand(curves, point))
                continue;
            take(point->x, curves->x.log, &x_low, &x_high);
            take(point->y, curves->y.log, &y_low, &y_high);
            take(point->low, curves->y.log, &y_low, &y_high);
            take(point->high, curves->y.log, &y_low, &y_high);
        }
    if (!(x_high >= x_low))
        return false;
    bool whole = true;
    for (size_t i = 0; i < curves->n; i++)
        for (size_t j = 0; j < curves->curves[i].n; j++)
            whole = whole && curves->curves[i].points[j].x == floor(curves->curves[i].points[j].x);
    bool bytes = strcmp(curves->x.unit, "bytes") == 0;
    if (curves->y.log) {
        y_low *= 0.9;
        y_high *= 1.1;
    }
    double left = LEFT, right = plot->svg.width - RIGHT;
    plot->x = curves->x.log || x_high == x_low
                  ? agb_scale_over(x_low, x_high, curves->x.log, bytes, left, right)
                  : (agb_scale){x_low, x_high, left, right, .whole = whole};
    plot->y = agb_scale_over(y_low, y_high, curves->y.log, strcmp(curves->y.unit, "bytes") == 0, 0, 0);
    return true;
}

/* ---- What stands around the curves ------------------------------------------------------------------------------- */

static void axis_title(char *text, size_t size, const agb_curve_axis *axis)
{
    bool said = *axis->unit == '\0' || strcmp(axis->unit, "bytes") == 0 || strcmp(axis->unit, "s") == 0;
    snprintf(text, size, "%s%s%s", axis->label, said ? "" : ", ", said ? "" : axis->unit);
}

static void draw_axes(plot *plot, const agb_curves *curves)
{
    agb_svg *svg = &plot->svg;
    double ticks[AGB_MOST_TICKS], right = svg->width - RIGHT;
    size_t n = agb_scale_ticks(&plot->y, 8, ticks);
    for (size_t i = 0; i < n; i++) {
        double y = agb_scale_at(&plot->y, ticks[i]);
        agb_svg_line(svg, "grid", LEFT, y, right, y);
        agb_svg_text(svg, "tick", AGB_END, LEFT - 8, y + 4, LEFT, agb_tick_text(ticks[i], plot->y.high,
                                                                              curves->y.unit).s);
    }
    n = agb_scale_ticks(&plot->x, (size_t)((right - LEFT) / 72) + 1, ticks);
    for (size_t i = 0; i < n; i++) {
        double x = agb_scale_at(&plot->x, ticks[i]);
        agb_text text = agb_tick_text(ticks[i], plot->x.high, curves->x.unit);
        bool over = x + agb_svg_text_width(text.s) / 2 > svg->width;
        agb_svg_line(svg, "axis", x, plot->bottom, x, plot->bottom + 4);
        agb_svg_text(svg, "tick", over ? AGB_END : AGB_MIDDLE, over ? svg->width - 1 : x, plot->bottom + 18, 0, text.s);
    }
    agb_svg_line(svg, "axis", LEFT, plot->bottom, right, plot->bottom);
    char title[100];
    axis_title(title, sizeof title, &curves->x);
    agb_svg_text(svg, "label", AGB_END, right, plot->bottom + 38, right - LEFT, title);
    axis_title(title, sizeof title, &curves->y);
    agb_svg_text(svg, "label", AGB_START, 2, 13, svg->width - 4, title);
}

enum { MOST_LEVELS = 4 };

/* Labels of marks stand on as many levels above the plot as keep them apart. Gives the level of each, or -1 where even
 * the last one has no room; returns how many levels are taken. */
static int place_marks(const agb_curves *curves, const plot *plot, int *levels)
{
    double taken[MOST_LEVELS];
    int n = 0;
    for (size_t i = 0; i < curves->n_marks; i++) {
        const agb_curve_mark *mark = &curves->marks[i];
        levels[i] = -1;
        if (!(mark->x >= plot->x.low && mark->x <= plot->x.high))
            continue;
        double half = agb_svg_text_width(mark->label) / 2, x = agb_scale_at(&plot->x, mark->x);
        double from = fmin(fmax(x - half, LEFT), plot->svg.width - 2 * half);
        for (int level = 0; level < MOST_LEVELS && levels[i] < 0; level++)
            if (level == n || taken[level] + 8 < from)
                levels[i] = level;
        if (levels[i] < 0)
            continue;
        n = levels[i] == n ? n + 1 : n;
        taken[levels[i]] = from + 2 * half;
    }
    return n;
}

static void draw_marks(plot *plot, const agb_curves *curves, const int *levels)
{
    for (size_t i = 0; i < curves->n_marks; i++) {
        if (levels[i] < 0)
            continue;
        double x = agb_scale_at(&plot->x, curves->marks[i].x), half = agb_svg_text_width(curves->marks[i].label) / 2;
        double y = 22 + LEVEL * (levels[i] + 1);
        bool over = x + half > plot->svg.width, under = x - half < LEFT;
        agb_svg_line(&plot->svg, "mark", x, y + 4, x, plot->bottom);
        agb_svg_text(&plot->svg, "marked", over ? AGB_END : under ? AGB_START : AGB_MIDDLE,
                     over ? plot->svg.width - 1 : under ? LEFT : x, y, 0, curves->marks[i].label);
    }
}

/* ---- Curves ------------------------------------------------------------------------------------------------------ */

static void draw_curve(plot *plot, const agb_curves *curves, size_t which)
{
    const agb_curve *curve = &curves->curves[which];
    char class[32];
    snprintf(class, sizeof class, "curve c%zu", which % 8);
    agb_svg_path_begin(&plot->svg, class);
    bool first = true;
    for (size_t i = 0; i < curve->n; i++) {
        if (!can_stand(curves, &curve->points[i]))
            continue;
        agb_svg_path_point(&plot->svg, agb_scale_at(&plot->x, curve->points[i].x),
                           agb_scale_at(&plot->y, curve->points[i].y), first);
        first = false;
    }
    agb_svg_path_end(&plot->svg);
    for (size_t i = 0; i < curve->n; i++) {
        const agb_curve_point *point = &curve->points[i];
        if (!can_stand(curves, point))
            continue;
        double x = agb_scale_at(&plot->x, point->x);
        if (!isnan(point->low) && !isnan(point->high)) {
            snprintf(class, sizeof class, "whisker c%zu", which % 8);
            agb_svg_line(&plot->svg, class, x, agb_scale_at(&plot->y, point->low), x,
                         agb_scale_at(&plot->y, point->high));
        }
        snprintf(class, sizeof class, "point c%zu%s", which % 8, point->noisy ? " noisy" : "");
        agb_svg_dot(&plot->svg, class, x, agb_scale_at(&plot->y, point->y), 3, (unsigned)which);
    }
}

enum { MOST_MARKS = 32 };

static void draw_plot(agb_page *page, const agb_curves *curves, bool narrow)
{
    plot plot = {.svg = {page->to, narrow ? AGB_NARROW : AGB_WIDE, 0}};
    int levels[MOST_MARKS];
    if (!set_scales(&plot, curves))
        return;
    plot.top = 26 + LEVEL * place_marks(curves, &plot, levels);
    plot.bottom = plot.top + (narrow ? 260 : 300);
    plot.svg.height = plot.bottom + FOOT;
    plot.y.from = plot.bottom;
    plot.y.to = plot.top;
    agb_svg_begin(&plot.svg, page->pictures++, narrow ? "narrow" : "wide", curves->title, curves->about);
    draw_axes(&plot, curves);
    draw_marks(&plot, curves, levels);
    for (size_t i = 0; i < curves->n; i++)
        draw_curve(&plot, curves, i);
    agb_svg_end(&plot.svg);
}

enum { MOST_CURVES = 64 };

void agb_draw_curves(agb_page *page, const agb_curves *curves)
{
    agb_curves shown = *curves;
    const char *names[MOST_CURVES];
    shown.n = shown.n > MOST_CURVES ? MOST_CURVES : shown.n;
    shown.n_marks = shown.n_marks > MOST_MARKS ? MOST_MARKS : shown.n_marks;
    for (size_t i = 0; i < shown.n; i++)
        names[i] = shown.curves[i].name;
    agb_draw_legend(page, names, shown.n, "line");
    draw_plot(page, &shown, false);
    draw_plot(page, &shown, true);
}

void agb_curves_table(agb_page *page, const agb_curves *curves)
{
    char headings[200];
    snprintf(headings, sizeof headings, "curve|#%.80s|#%.80s|#interval", curves->x.label, curves->y.label);
    agb_html_table_begin(page->to, NULL, headings);
    for (size_t i = 0; i < curves->n; i++)
        for (size_t j = 0; j < curves->curves[i].n; j++) {
            const agb_curve_point *point = &curves->curves[i].points[j];
            agb_html_row_begin(page->to);
            agb_html_row_name(page->to, "%s", curves->curves[i].name);
            agb_html_number_cell(page->to, "%s", agb_text_amount(point->x, curves->x.unit).s);
            agb_html_number_cell(page->to, "%s%s", agb_text_amount(point->y, curves->y.unit).s,
                                 point->noisy ? " (noisy)" : "");
            agb_interval_cell(page, point->low, point->high, curves->y.unit, "-");
            agb_html_row_end(page->to);
        }
    agb_html_table_end(page->to);
}
