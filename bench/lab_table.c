/* SPDX-License-Identifier: MIT */
/* Labs for people: what was to be expected, the picture, the same in figures, what it showed, and what it cannot
 * say. */
#include "lab.h"

#include "report.h"

#include <langinfo.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_LINES = 512 };

agb_text agb_lab_figure(double value, const char *unit)
{
    agb_text text = {"-"};
    if (!isfinite(value))
        return text;
    if (strcmp(unit, "bytes") == 0 && value >= 0 && value < 1e19)
        return agb_text_binary((uint64_t)value);
    if (value == floor(value) && value >= 0 && value < 1e15)
        return agb_text_count((uint64_t)value);
    return agb_text_number(value);
}

/* Asked of the environment, without making its language this program's. */
static bool speaks_utf8(void)
{
    locale_t locale = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool utf8 = locale && strcmp(nl_langinfo_l(CODESET, locale), "UTF-8") == 0;
    if (locale)
        freelocale(locale);
    return utf8;
}

/* ---- Columns that fit -------------------------------------------------------------------------------------------- */

/* A grid of texts, printed in as many blocks of columns as the line needs; column 0 stands in each block. */
typedef struct grid {
    size_t columns, rows;
    agb_text *cells;             /* row 0: heads */
    bool *is_text;               /* of a column: set to the left */
} grid;

static bool grid_create(grid *out, size_t columns, size_t rows)
{
    *out = (grid){.columns = columns, .rows = rows, .cells = calloc(columns * rows, sizeof *out->cells),
                  .is_text = calloc(columns, sizeof *out->is_text)};
    return out->cells && out->is_text;
}

static void grid_release(grid *grid)
{
    free(grid->cells);
    free(grid->is_text);
}

static agb_text *cell_at(const grid *grid, size_t row, size_t column)
{
    return &grid->cells[row * grid->columns + column];
}

static int width_of(const grid *grid, size_t column)
{
    int width = 0;
    for (size_t row = 0; row < grid->rows; row++) {
        int cells = agb_text_cells(cell_at(grid, row, column)->s);
        width = cells > width ? cells : width;
    }
    return width;
}

static void print_cell(FILE *to, const grid *grid, size_t row, size_t column, bool last)
{
    const char *text = cell_at(grid, row, column)->s;
    int blanks = width_of(grid, column) - agb_text_cells(text), length = (int)strlen(text);
    while (last && length > 0 && text[length - 1] == ' ')
        length--;
    if (grid->is_text[column])
        fprintf(to, "  %.*s%*s", length, text, last ? 0 : blanks, "");
    else
        fprintf(to, "  %*s%.*s", blanks, "", length, text);
}

static void print_block(FILE *to, const grid *grid, size_t from, size_t end, int width)
{
    for (size_t row = 0; row < grid->rows; row++) {
        print_cell(to, grid, row, 0, from >= end);
        for (size_t column = from; column < end; column++)
            print_cell(to, grid, row, column, column + 1 == end);
        fputc('\n', to);
        for (int i = 0; row == 0 && i < width; i++)
            fputc('-', to);
        if (row == 0)
            fputc('\n', to);
    }
}

static void grid_print(FILE *to, const grid *grid)
{
    size_t from = grid->columns > 1;
    do {
        int width = 2 + width_of(grid, 0);
        size_t end = from;
        while (end < grid->columns && (end == from || width + 2 + width_of(grid, end) <= AGB_TEXT_CELLS))
            width += 2 + width_of(grid, end++);
        print_block(to, grid, from, end, width);
        from = end;
        if (from < grid->columns)
            fputc('\n', to);
    } while (from < grid->columns);
}

/* ---- A chart in figures ------------------------------------------------------------------------------------------ */

/* All x that some series has, ascending. */
static size_t collect_x(const agb_lab_chart *chart, double *x)
{
    size_t n = 0;
    for (size_t i = 0; i < chart->n_series; i++) {
        for (size_t k = 0; k < chart->series[i].n; k++) {
            double value = chart->series[i].points[k].x;
            size_t at = n;
            while (at > 0 && x[at - 1] > value)
                at--;
            if ((at > 0 && x[at - 1] == value) || n == MOST_LINES)
                continue;
            memmove(x + at + 1, x + at, (n - at) * sizeof *x);
            x[at] = value;
            n++;
        }
    }
    return n;
}

static const agb_lab_point *point_at(const agb_lab_series *series, double x)
{
    for (size_t i = 0; i < series->n; i++)
        if (series->points[i].x == x)
            return &series->points[i];
    return NULL;
}

/* "131 [128, 140]!", or without what it does not have. */
static agb_text text_of_point(const agb_lab_point *point)
{
    agb_text text = {"-"};
    if (!point || !isfinite(point->y))
        return text;
    const char *noisy = point->noisy ? "!" : " ";
    if (isfinite(point->low) && isfinite(point->high))
        snprintf(text.s, sizeof text.s, "%.20s [%.20s, %.20s]%s", agb_text_number(point->y).s,
                 agb_text_number(point->low).s, agb_text_number(point->high).s, noisy);
    else
        snprintf(text.s, sizeof text.s, "%.40s%s", agb_text_number(point->y).s, noisy);
    return text;
}

static void print_figures(FILE *to, const agb_lab_chart *chart)
{
    double x[MOST_LINES + 1];
    size_t n = collect_x(chart, x);
    grid grid;
    if (grid_create(&grid, chart->n_series + 1, n + 1)) {
        snprintf(cell_at(&grid, 0, 0)->s, sizeof(agb_text), "%s", chart->x.label);
        for (size_t i = 0; i < chart->n_series; i++)
            snprintf(cell_at(&grid, 0, i + 1)->s, sizeof(agb_text), "%s ", chart->series[i].name);
        for (size_t row = 0; row < n; row++) {
            *cell_at(&grid, row + 1, 0) = agb_lab_figure(x[row], chart->x.unit);
            for (size_t i = 0; i < chart->n_series; i++)
                *cell_at(&grid, row + 1, i + 1) = text_of_point(point_at(&chart->series[i], x[row]));
        }
        fprintf(to, "%s%s%s; [interval]; ! noisy\n", chart->y.label, chart->y.unit[0] ? ", " : "", chart->y.unit);
        grid_print(to, &grid);
    }
    grid_release(&grid);
}

/* ---- Tables ------------------------------------------------------------------------------------------------------ */

static void print_table(FILE *to, const agb_lab_table *table)
{
    grid grid;
    fprintf(to, "\n%s\n", table->title);
    if (table->n_columns == 0)
        return;
    if (grid_create(&grid, table->n_columns, table->n_rows + 1)) {
        for (size_t i = 0; i < table->n_columns; i++) {
            const agb_lab_column *column = &table->columns[i];
            bool unit = column->unit[0] && strcmp(column->unit, "bytes") != 0;
            snprintf(cell_at(&grid, 0, i)->s, sizeof(agb_text), "%s%s%s", column->name, unit ? ", " : "",
                     unit ? column->unit : "");
            grid.is_text[i] = table->n_rows > 0 && table->cells[i].is_text;
            for (size_t row = 0; row < table->n_rows; row++) {
                const agb_lab_cell *cell = &table->cells[row * table->n_columns + i];
                if (cell->is_text)
                    snprintf(cell_at(&grid, row + 1, i)->s, sizeof(agb_text), "%.79s", cell->text);
                else
                    *cell_at(&grid, row + 1, i) = agb_lab_figure(cell->number, column->unit);
            }
        }
        grid_print(to, &grid);
    }
    grid_release(&grid);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

void agb_lab_report_head(FILE *to, const agb_lab *lab)
{
    fprintf(to, "%s: %s\n", lab->name, lab->summary);
    agb_report_line(to, "predict", "%s", lab->prediction);
}

static void print_sentences(FILE *to, const char *label, char *const *sentences, size_t n)
{
    for (size_t i = 0; i < n; i++)
        agb_report_line(to, label, "%s", sentences[i]);
}

void agb_lab_report_body(FILE *to, const agb_lab_record *record)
{
    bool utf8 = speaks_utf8();
    for (size_t i = 0; i < record->n_charts; i++) {
        fprintf(to, "\n%s\n\n", record->charts[i].title);
        agb_lab_picture(to, &record->charts[i], AGB_TEXT_CELLS, utf8);
        fputc('\n', to);
        print_figures(to, &record->charts[i]);
    }
    for (size_t i = 0; i < record->n_tables; i++)
        print_table(to, &record->tables[i]);
    fputc('\n', to);
    if (record->failed[0])
        agb_report_line(to, "failed", "%s", record->failed);
    print_sentences(to, "found", record->findings, record->n_findings);
    print_sentences(to, "note", record->notes, record->n_notes);
    if (record->noisy > 0)
        agb_report_line(to, "caution", "%zu of %zu points are noisy: a worker waited for a core, or the machine was "
                        "taken away, for more than 2 %% of their time: run it again when nothing else does",
                        record->noisy, record->measured);
    agb_report_line(to, "limits", "%s", record->lab->limits);
}
