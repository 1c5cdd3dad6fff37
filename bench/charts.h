/* SPDX-License-Identifier: MIT */
/* The pictures of a page. Each stands in a figure, drawn twice, wide and narrow, of which the page shows the one that
 * fits; a caption says how to read it, and a table holds the same figures as text. Nothing here knows what is drawn. */
#ifndef AGB_CHARTS_H
#define AGB_CHARTS_H

#include "html.h"
#include "text.h"

#include <stdbool.h>
#include <stddef.h>

/* What a colour says; words beside it always say it, too. */
typedef enum agb_tone { AGB_TONE_PLAIN, AGB_TONE_BETTER, AGB_TONE_WORSE, AGB_TONES } agb_tone;

/* A value with its unit: "s", "bytes", "%", "" or any other. "-" when it is not a number. */
agb_text agb_text_amount(double value, const char *unit);

void agb_figure_begin(agb_page *page);
/* What to see and how to read it. */
__attribute__((format(printf, 2, 3))) void agb_figure_caption(agb_page *page, const char *format, ...);
/* Between them the table: agb_html_table_begin ... */
void agb_figure_table_begin(agb_page *page);
void agb_figure_table_end(agb_page *page);
void agb_figure_end(agb_page *page);
/* A cell of such a table: from where to where, with the unit; `none` where an end is NAN. */
void agb_interval_cell(agb_page *page, double low, double high, const char *unit, const char *none);

/* ---- Spread: one row for each contestant, its runs as dots on its interval --------------------------------------- */

typedef struct agb_spread_row {
    const char *label, *note;         /* the note stands on the right: "2.58 x [2.15, 2.87]" */
    double low, middle, high;         /* low and high are NAN where there were too few runs */
    const double *runs;
    const bool *noisy;                /* drawn hollow */
    size_t n_runs;
    agb_tone tone;
} agb_spread_row;

typedef struct agb_spread {
    const char *title, *about;        /* in place of the picture */
    const char *axis, *unit;
    const agb_spread_row *rows;
    size_t n;
    double reference;                 /* a dashed line there; NAN = none */
    bool ratios;                      /* their axis need not begin at 0: it lies around the reference */
} agb_spread;

void agb_draw_spread(agb_page *page, const agb_spread *spread);

/* ---- Stack: one bar for each contestant, cut into parts ---------------------------------------------------------- */

enum { AGB_MOST_PARTS = 8 };

typedef struct agb_stack_row {
    const char *label, *note;
    double parts[AGB_MOST_PARTS];     /* NAN: not had, and nothing is drawn */
} agb_stack_row;

typedef struct agb_stack {
    const char *title, *about;
    const char *axis, *unit;
    const char *names[AGB_MOST_PARTS];
    size_t n_parts;
    const agb_stack_row *rows;
    size_t n;
    double whole;                     /* end of the axis, such as 100 %; NAN: of the longest bar */
    bool substitute;                  /* estimated or simulated: estimated, so that no bar looks measured */
} agb_stack;

void agb_draw_stack(agb_page *page, const agb_stack *stack);

/* ---- Curves ------------------------------------------------------------------------------------------------------ */

typedef struct agb_curve_point {
    double x, y, low, high;           /* low and high may be NAN */
    bool noisy;
} agb_curve_point;

typedef struct agb_curve {
    const char *name;
    const agb_curve_point *points;    /* x ascending */
    size_t n;
} agb_curve;

typedef struct agb_curve_mark {
    double x;
    const char *label;
} agb_curve_mark;

typedef struct agb_curve_axis {
    const char *label, *unit;
    bool log;
} agb_curve_axis;

typedef struct agb_curves {
    const char *title, *about;
    agb_curve_axis x, y;
    const agb_curve *curves;
    size_t n;
    const agb_curve_mark *marks;
    size_t n_marks;
} agb_curves;

void agb_draw_curves(agb_page *page, const agb_curves *curves);
/* Name, x, y and interval of every point. */
void agb_curves_table(agb_page *page, const agb_curves *curves);

/* ---- Map: a field for each pair of values on two axes ------------------------------------------------------------ */

enum { AGB_MAP_SHADES = 5 };

typedef struct agb_map_cell {
    const char *name, *value;         /* one above the other; NULL or "": not there */
    unsigned color, shade;            /* color: of the legend; shade: 0, hardly any, to AGB_MAP_SHADES - 1 */
} agb_map_cell;

typedef struct agb_map {
    const char *title, *about;
    const char *across;               /* what the columns are; the rows' names say it themselves */
    const char *const *row_names, *const *column_names;
    size_t rows, columns;
    const agb_map_cell *cells;        /* rows * columns, row by row */
} agb_map;

void agb_draw_map(agb_page *page, const agb_map *map);

/* ---- For the files that draw ------------------------------------------------------------------------------------- */

enum { AGB_WIDE = 720, AGB_NARROW = 340 };

/* Text of a tick: short, and in one unit along the axis. */
agb_text agb_tick_text(double tick, double longest, const char *unit);
/* Names with their colours and shapes; fewer than two need none. kind: "line" or "box". */
void agb_draw_legend(agb_page *page, const char *const *names, size_t n, const char *kind);

#endif
