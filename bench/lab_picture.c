/* SPDX-License-Identifier: MIT */
/* A chart made of characters. Each measured point is its series' letter (capital where it was noisy); lines between
 * them are dots of braille, eight to a cell, or full stops where the locale knows no more than ASCII. */
#include "lab.h"

#include <math.h>
#include <string.h>

enum { ROWS = 16, MOST_CELLS = 160, LEFT = 10, LABEL_LINES = 2, MOST_TICKS = 96 };
enum { DOTS_ACROSS = 2, DOTS_DOWN = 4 };

static const char several = '*';    /* points of different series in one cell */

typedef struct scale {
    bool log;
    double low, high;
} scale;

typedef struct canvas {
    const agb_lab_chart *chart;
    scale x, y;
    int width;
    bool utf8;
    char letter[ROWS][MOST_CELLS];              /* 0 = none */
    unsigned char dots[ROWS][MOST_CELLS];       /* bits of the braille pattern */
    bool mark[MOST_CELLS];
} canvas;

/* ---- Where a value stands ---------------------------------------------------------------------------------------- */

static bool is_drawable(const agb_lab_chart *chart, const agb_lab_point *point)
{
    return isfinite(point->x) && isfinite(point->y) && (!chart->x.log || point->x > 0) &&
           (!chart->y.log || point->y > 0);
}

/* 0..1 along the axis. */
static double place_of(const scale *scale, double value)
{
    if (scale->high <= scale->low)
        return 0.5;
    if (scale->log)
        return log(value / scale->low) / log(scale->high / scale->low);
    return (value - scale->low) / (scale->high - scale->low);
}

static int cell_of(const scale *scale, double value, int cells)
{
    return (int)lround(place_of(scale, value) * (cells - 1));
}

static void widen(scale *scale, double value, bool first)
{
    scale->low = first || value < scale->low ? value : scale->low;
    scale->high = first || value > scale->high ? value : scale->high;
}

static bool find_scales(canvas *canvas)
{
    const agb_lab_chart *chart = canvas->chart;
    bool first = true;
    for (size_t i = 0; i < chart->n_series; i++) {
        for (size_t k = 0; k < chart->series[i].n; k++) {
            const agb_lab_point *point = &chart->series[i].points[k];
            if (!is_drawable(chart, point))
                continue;
            widen(&canvas->x, point->x, first);
            widen(&canvas->y, point->y, first);
            first = false;
        }
    }
    canvas->x.log = chart->x.log;
    canvas->y.log = chart->y.log;
    if (!canvas->y.log && canvas->y.low > 0)
        canvas->y.low = 0;    /* lengths can be compared only from nothing on */
    return !first;
}

/* ---- Drawing ----------------------------------------------------------------------------------------------------- */

static void draw_dot(canvas *canvas, double across, double down)
{
    static const unsigned char bit[DOTS_DOWN][DOTS_ACROSS] = {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}};
    int x = (int)lround(across * (canvas->width * DOTS_ACROSS - 1));
    int y = (int)lround(down * (ROWS * DOTS_DOWN - 1));
    canvas->dots[y / DOTS_DOWN][x / DOTS_ACROSS] |= bit[y % DOTS_DOWN][x % DOTS_ACROSS];
}

static void draw_line(canvas *canvas, const agb_lab_point *from, const agb_lab_point *to)
{
    enum { STEPS = 4 * MOST_CELLS };
    double x0 = place_of(&canvas->x, from->x), x1 = place_of(&canvas->x, to->x);
    double y0 = 1 - place_of(&canvas->y, from->y), y1 = 1 - place_of(&canvas->y, to->y);
    for (int step = 0; step <= STEPS; step++) {
        double part = (double)step / STEPS;
        draw_dot(canvas, x0 + part * (x1 - x0), y0 + part * (y1 - y0));
    }
}

static void draw_series(canvas *canvas, size_t i)
{
    const agb_lab_series *series = &canvas->chart->series[i];
    const agb_lab_point *last = NULL;
    for (size_t k = 0; k < series->n; k++) {
        const agb_lab_point *point = &series->points[k];
        if (!is_drawable(canvas->chart, point))
            continue;
        char *cell = &canvas->letter[ROWS - 1 - cell_of(&canvas->y, point->y, ROWS)]
                                    [cell_of(&canvas->x, point->x, canvas->width)];
        char own = (char)((point->noisy ? 'A' : 'a') + (int)i);
        *cell = *cell && (*cell | 0x20) != (own | 0x20) ? several : own;
        if (last)
            draw_line(canvas, last, point);
        last = point;
    }
}

/* ---- Marks above, ticks beside and below ------------------------------------------------------------------------- */

static bool is_within(const scale *scale, double value)
{
    return value >= scale->low * (1 - 1e-9) && value <= scale->high * (1 + 1e-9);
}

/* Labels that would run into each other go to the next line, or are left to the table of the marks' effects. */
static void print_marks(FILE *to, canvas *canvas)
{
    char lines[LABEL_LINES][MOST_CELLS + 1];
    int end[LABEL_LINES] = {0};
    memset(lines, ' ', sizeof lines);
    for (size_t i = 0; i < canvas->chart->n_marks; i++) {
        const agb_lab_mark *mark = &canvas->chart->marks[i];
        if (!is_within(&canvas->x, mark->x))
            continue;
        int at = cell_of(&canvas->x, mark->x, canvas->width), length = (int)strlen(mark->label);
        canvas->mark[at] = true;
        at = at + length > canvas->width ? canvas->width - length : at;
        for (int line = 0; line < LABEL_LINES && at >= 0; line++) {
            if (at < end[line])
                continue;
            memcpy(lines[line] + at, mark->label, (size_t)length);
            end[line] = at + length + 1;
            break;
        }
    }
    for (int line = LABEL_LINES - 1; line >= 0; line--)
        if (end[line] > 0)
            fprintf(to, "%*s%.*s\n", LEFT, "", end[line] - 1, lines[line]);
}

/* Round values within the scale: powers of two of bytes, 1-2-5 of other logarithms, even steps else. */
static size_t ticks_of(const scale *scale, bool bytes, int wanted, double *ticks)
{
    static const double nice[] = {1, 2, 5};
    size_t n = 0;
    if (scale->log) {
        double base = bytes ? exp2(floor(log2(scale->low))) : pow(10, floor(log10(scale->low)));
        for (; base <= scale->high * (1 + 1e-9) && n + 3 < MOST_TICKS; base *= bytes ? 2 : 10)
            for (size_t i = 0; i < (bytes ? 1 : 3); i++)
                if (is_within(scale, base * nice[i]))
                    ticks[n++] = base * nice[i];
        return n;
    }
    double least = (scale->high - scale->low) / wanted, step = least > 0 ? pow(10, floor(log10(least))) : 1;
    for (size_t i = 1; step < least; i++)
        step *= i % 3 ? (i % 3 == 1 ? 2 : 2.5) : 2;
    if (scale->low == floor(scale->low) && scale->high == floor(scale->high))    /* whole things, such as threads */
        step = ceil(step);
    double last = scale->high + step * 1e-6;
    for (double tick = ceil(scale->low / step) * step; tick <= last && n < MOST_TICKS; tick += step)
        ticks[n++] = tick;
    return n;
}

static bool is_bytes(const agb_lab_axis *axis)
{
    return strcmp(axis->unit, "bytes") == 0;
}

static void print_x_axis(FILE *to, const canvas *canvas)
{
    char line[MOST_CELLS + 1];
    double ticks[MOST_TICKS];
    int end = 0;
    memset(line, ' ', sizeof line);
    size_t n = ticks_of(&canvas->x, is_bytes(&canvas->chart->x), canvas->width / 12, ticks);
    for (size_t i = 0; i < n; i++) {
        agb_text label = agb_lab_figure(ticks[i], canvas->chart->x.unit);
        int length = (int)strlen(label.s), at = cell_of(&canvas->x, ticks[i], canvas->width) - length / 2;
        at = at < 0 ? 0 : at + length > canvas->width ? canvas->width - length : at;
        if (at < end || length > canvas->width)
            continue;
        memcpy(line + at, label.s, (size_t)length);
        end = at + length + 2;
    }
    fprintf(to, "%*s%.*s\n", LEFT, "", end > 2 ? end - 2 : 0, line);
}

static void label_rows(const canvas *canvas, agb_text *labels)
{
    double ticks[MOST_TICKS];
    size_t n = ticks_of(&canvas->y, false, ROWS / 4, ticks);
    int last = ROWS + 1;
    memset(labels, 0, ROWS * sizeof *labels);
    for (size_t i = 0; i < n; i++) {
        int row = ROWS - 1 - cell_of(&canvas->y, ticks[i], ROWS);
        if (last - row < 2)
            continue;
        labels[row] = agb_lab_figure(ticks[i], canvas->chart->y.unit);
        last = row;
    }
}

static void print_cell(FILE *to, const canvas *canvas, int row, int column)
{
    unsigned char dots = canvas->dots[row][column];
    if (canvas->letter[row][column])
        fputc(canvas->letter[row][column], to);
    else if (dots && canvas->utf8)    /* U+2800 and the pattern, in UTF-8 */
        fprintf(to, "%c%c%c", 0xe2, 0xa0 | dots >> 6, 0x80 | (dots & 0x3f));
    else if (dots)
        fputc('.', to);
    else if (canvas->mark[column])
        fputs(canvas->utf8 ? "\u250a" : "|", to);
    else
        fputc(' ', to);
}

static void print_rows(FILE *to, const canvas *canvas)
{
    agb_text labels[ROWS];
    label_rows(canvas, labels);
    for (int row = 0; row < ROWS; row++) {
        int last = canvas->width - 1;
        while (last > 0 && !canvas->letter[row][last] && !canvas->dots[row][last] && !canvas->mark[last])
            last--;
        fprintf(to, "%*.*s %s", LEFT - 2, LEFT - 2, labels[row].s, canvas->utf8 ? "\u2502" : "|");
        for (int column = 0; column <= last; column++)
            print_cell(to, canvas, row, column);
        fputc('\n', to);
    }
}

static void print_legend(FILE *to, const agb_lab_chart *chart)
{
    char text[AGB_LAB_MOST_SERIES * 72 + 80];
    size_t at = 0;
    for (size_t i = 0; i < chart->n_series; i++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%c %s", i ? "; " : "", (char)('a' + i),
                               chart->series[i].name);
    snprintf(text + at, sizeof text - at, "; %c several; capital: noisy", several);
    fprintf(to, "%*s", LEFT, "");
    agb_text_wrap(to, text, LEFT, LEFT);
}

void agb_lab_picture(FILE *to, const agb_lab_chart *chart, int width, bool utf8)
{
    canvas canvas = {.chart = chart, .utf8 = utf8};
    canvas.width = (width < MOST_CELLS ? width : MOST_CELLS) - LEFT;
    if (canvas.width < LEFT || !find_scales(&canvas))
        return;
    for (size_t i = 0; i < chart->n_series; i++)
        draw_series(&canvas, i);
    fprintf(to, "%s%s%s\n", chart->y.label, chart->y.unit[0] ? ", " : "", chart->y.unit);
    print_marks(to, &canvas);
    print_rows(to, &canvas);
    print_x_axis(to, &canvas);
    fprintf(to, "%*s%s%s%s\n", LEFT, "", chart->x.label, chart->x.unit[0] && !is_bytes(&chart->x) ? ", " : "",
            is_bytes(&chart->x) ? "" : chart->x.unit);
    print_legend(to, chart);
}
