/* SPDX-License-Identifier: MIT */
/* Fields in rows and columns, such as who is fastest where. What does not fit beside each other goes on in a band
 * below; on narrow paper a row's name stands above its fields. See charts.h. */
#include "charts.h"
#include "svg.h"

#include <math.h>

enum { HEAD = 24, GAP = 8, BAND_GAP = 16, FIELD = 38, LEAST_FIELD = 74, MOST_FIELD = 150, LONGEST_NAME = 150 };

typedef struct plot {
    agb_svg svg;
    bool narrow;
    double left, field;       /* field: width of one */
    double row, band;         /* heights, with their gaps */
    size_t columns;           /* of a band */
} plot;

static double names_width(const agb_map *map)
{
    double width = 0;
    for (size_t i = 0; i < map->rows; i++)
        width = fmax(width, agb_svg_text_width(map->row_names[i]));
    return fmin(width, LONGEST_NAME);
}

/* So many columns that a field can hold its words. */
static plot plot_for(agb_page *page, const agb_map *map, bool narrow)
{
    plot out = {.narrow = narrow, .left = narrow ? 2 : names_width(map) + GAP};
    double width = narrow ? AGB_NARROW : AGB_WIDE, room = width - out.left - 2;
    size_t most = (size_t)(room / LEAST_FIELD);
    size_t bands = map->columns <= most ? 1 : (map->columns + most - 1) / most;
    out.columns = (map->columns + bands - 1) / bands;
    out.field = fmin(room / (double)out.columns, MOST_FIELD);
    out.row = FIELD + (narrow ? 18 : 0);
    out.band = HEAD + out.row * (double)map->rows + BAND_GAP;
    out.svg = (agb_svg){page->to, width, HEAD + out.band * (double)bands - BAND_GAP + 2};
    return out;
}

static void draw_cell(plot *plot, const agb_map_cell *cell, double x, double y)
{
    char class[32];
    double middle = x + plot->field / 2, most = plot->field - 4;
    bool named = cell->name && *cell->name, valued = cell->value && *cell->value;
    snprintf(class, sizeof class, "cell c%u s%u", cell->color % 8, cell->shade % AGB_MAP_SHADES);
    agb_svg_box(&plot->svg, named || valued ? class : "empty", x + 0.5, y + 0.5, plot->field - 1, FIELD - 1);
    if (named)
        agb_svg_text(&plot->svg, "name", AGB_MIDDLE, middle, y + (valued ? 16 : 24), most, cell->name);
    if (valued)
        agb_svg_text(&plot->svg, "tick", AGB_MIDDLE, middle, y + (named ? 32 : 24), most, cell->value);
}

/* Columns first .. first + n - 1, from y on. */
static void draw_band(plot *plot, const agb_map *map, size_t first, size_t n, double y)
{
    for (size_t j = 0; j < n; j++)
        agb_svg_text(&plot->svg, "tick", AGB_MIDDLE, plot->left + plot->field * ((double)j + 0.5), y + HEAD - 8,
                     plot->field - 4, map->column_names[first + j]);
    for (size_t i = 0; i < map->rows; i++) {
        double top = y + HEAD + plot->row * (double)i;
        if (plot->narrow)
            agb_svg_text(&plot->svg, "name", AGB_START, plot->left, top + 13, plot->svg.width - 4, map->row_names[i]);
        else
            agb_svg_text(&plot->svg, "name", AGB_END, plot->left - GAP, top + 24, plot->left - GAP + 1,
                         map->row_names[i]);
        for (size_t j = 0; j < n; j++)
            draw_cell(plot, &map->cells[i * map->columns + first + j], plot->left + plot->field * (double)j,
                      top + plot->row - FIELD);
    }
}

static void draw_map(agb_page *page, const agb_map *map, bool narrow)
{
    plot plot = plot_for(page, map, narrow);
    agb_svg_begin(&plot.svg, page->pictures++, narrow ? "narrow" : "wide", map->title, map->about);
    agb_svg_text(&plot.svg, "label", AGB_START, plot.left, 13, plot.svg.width - plot.left, map->across);
    for (size_t first = 0, band = 0; first < map->columns; first += plot.columns, band++) {
        size_t rest = map->columns - first;
        draw_band(&plot, map, first, rest < plot.columns ? rest : plot.columns, HEAD + plot.band * (double)band);
    }
    agb_svg_end(&plot.svg);
}

void agb_draw_map(agb_page *page, const agb_map *map)
{
    if (map->rows == 0 || map->columns == 0)
        return;
    draw_map(page, map, false);
    draw_map(page, map, true);
}
