/* SPDX-License-Identifier: MIT */
/* A matrix on a page: who is fastest where and by how much, and where the lead changes hands. */
#include "section.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void matrix_title(const agb_json *file, char *text, size_t size)
{
    agb_json settings = agb_read_object(file, "settings"), cells = agb_read_list(file, "cells");
    snprintf(text, size, "Who is fastest where: %zu cells of %.40s rows", agb_read_length(&cells),
             agb_text_amount(agb_read_amount(&settings, "rows"), "").s);
}

enum { MOST_AXIS = 512, MOST_WINNERS = 8 };

/* Names of the winners in the order of their colours, the same on every map. */
typedef struct legend {
    const char *name[MOST_WINNERS];
    size_t n;
} legend;

static legend read_winners(const agb_json *file)
{
    agb_json wins = agb_read_list(file, "wins");
    legend out = {0};
    for (size_t i = 0; i < agb_read_length(&wins) && out.n < MOST_WINNERS; i++) {
        agb_json at = agb_read_entry(&wins, i);
        if (agb_read_amount(&at, "cells") > 0)
            out.name[out.n++] = agb_read_words(&at, "aggregator");
    }
    return out;
}

static unsigned color_of(const legend *legend, const char *winner)
{
    size_t i = 0;
    while (i < legend->n && strcmp(legend->name[i], winner) != 0)
        i++;
    return (unsigned)i;
}

/* As the report for people has it: from 1.2, 1.5 and 2 times on. Nothing that is inside the noise. */
static unsigned shade_of(const agb_json *cell)
{
    double lead = agb_read_amount(cell, "lead");
    return !agb_read_truth(cell, "claimed") ? 0 : lead >= 2 ? 4 : lead >= 1.5 ? 3 : lead >= 1.2 ? 2 : 1;
}

/* ---- The map ----------------------------------------------------------------------------------------------------- */

/* The fields of one number of threads. */
typedef struct grid {
    agb_json cells;
    size_t rows, columns;
    agb_map_cell *cell;
    double group[MOST_AXIS];    /* numbers of groups, of the columns */
    const char *row[MOST_AXIS], *column[MOST_AXIS];
    agb_text column_text[MOST_AXIS], *value;
} grid;

static void fill_cell(grid *grid, const agb_json *at, const legend *legend)
{
    const char *distribution = agb_read_words(at, "distribution"), *winner = agb_read_words(at, "winner");
    double groups = agb_read_amount(at, "groups"), lead = agb_read_amount(at, "lead");
    size_t i = 0, j = 0;
    while (i < grid->rows && strcmp(grid->row[i], distribution) != 0)
        i++;
    while (j < grid->columns && grid->group[j] != groups)
        j++;
    if (i == grid->rows || j == grid->columns)
        return;
    size_t k = i * grid->columns + j;
    if (!isnan(lead))
        snprintf(grid->value[k].s, sizeof grid->value[k].s, "%s%.40s \xc3\x97",
                 agb_read_truth(at, "claimed") ? "" : "~", agb_text_number(lead).s);
    grid->cell[k] = (agb_map_cell){*winner ? winner : "none", grid->value[k].s, *winner ? color_of(legend, winner) : 0,
                                   shade_of(at)};
}

static void draw_grid(agb_page *page, grid *grid, double threads, const legend *legend, bool complete)
{
    char title[80], about[200];
    snprintf(title, sizeof title, "%.30s thread%s", agb_text_amount(threads, "").s, threads == 1 ? "" : "s");
    snprintf(about, sizeof about, "The fastest strategy and its lead, for %zu distributions and %zu numbers of groups; "
             "the table has every field", grid->rows, grid->columns);
    agb_map map = {title, about, "groups", grid->row, grid->column, grid->rows, grid->columns, grid->cell};
    agb_html_element(page->to, "h3", NULL, "%s", title);
    agb_figure_begin(page);
    agb_draw_legend(page, legend->name, legend->n, "solid");
    agb_draw_map(page, &map);
    agb_figure_caption(page, "In each field who is fastest, and how much faster than the second. A stronger colour is "
                       "a larger lead: from 1, 1.2, 1.5 and 2 times on; the faintest, with a ~, is inside the noise: "
                       "either may be the fastest. Empty: %s.", complete ? "not possible with so many rows"
                                              : "not measured yet, or not possible with so many rows");
    agb_figure_end(page);
}

static void draw_threads(agb_page *page, grid *grid, double threads, const legend *legend, bool complete)
{
    size_t n = grid->rows * grid->columns;
    grid->cell = calloc(n + 1, sizeof *grid->cell);
    grid->value = calloc(n + 1, sizeof *grid->value);
    for (size_t i = 0; grid->cell && grid->value && i < agb_read_length(&grid->cells); i++) {
        agb_json at = agb_read_entry(&grid->cells, i);
        if (agb_read_amount(&at, "threads") == threads)
            fill_cell(grid, &at, legend);
    }
    if (grid->cell && grid->value)
        draw_grid(page, grid, threads, legend, complete);
    else
        agb_read_fail(&grid->cells, "no memory for its picture");
    free(grid->cell);
    free(grid->value);
}

static void draw_all(agb_page *page, const agb_json *file)
{
    agb_json axes = agb_read_object(file, "grid"), threads = agb_read_list(&axes, "threads");
    agb_json distributions = agb_read_list(&axes, "distributions"), groups = agb_read_list(&axes, "groups");
    grid *grid = calloc(1, sizeof *grid);
    legend legend = read_winners(file);
    if (!grid)
        return agb_read_fail(file, "no memory for its picture");
    grid->cells = agb_read_list(file, "cells");
    grid->rows = agb_read_length(&distributions);
    grid->columns = agb_read_length(&groups);
    if (grid->rows > MOST_AXIS || grid->columns > MOST_AXIS || agb_read_length(&threads) > MOST_AXIS)
        agb_read_fail(&axes, "an axis has more than %d values", MOST_AXIS);
    else {
        for (size_t i = 0; i < grid->rows; i++)
            grid->row[i] = agb_read_words_entry(&distributions, i);
        for (size_t j = 0; j < grid->columns; j++) {
            grid->group[j] = agb_read_amount_entry(&groups, j);
            grid->column_text[j] = agb_text_amount(grid->group[j], "");
            grid->column[j] = grid->column_text[j].s;
        }
        for (size_t i = 0; i < agb_read_length(&threads) && !file->file->failed; i++)
            draw_threads(page, grid, agb_read_amount_entry(&threads, i), &legend, agb_read_truth(file, "complete"));
    }
    free(grid);
}

/* ---- Text -------------------------------------------------------------------------------------------------------- */

static void write_cells(agb_page *page, const agb_json *file)
{
    agb_json cells = agb_read_list(file, "cells");
    fputs("<details><summary>Every field in figures</summary>\n", page->to);
    agb_html_table_begin(page->to, NULL, "rows come|#groups|#threads|fastest|#ns a row|second|#lead|#95 % interval|"
                         "outside the noise");
    for (size_t i = 0; i < agb_read_length(&cells); i++) {
        agb_json at = agb_read_entry(&cells, i), results = agb_read_list(&at, "results");
        const char *winner = agb_read_words(&at, "winner"), *second = agb_read_words(&at, "second");
        double ns_per_row = NAN, low = agb_read_amount(&at, "ci95_low"), high = agb_read_amount(&at, "ci95_high");
        for (size_t k = 0; k < agb_read_length(&results); k++) {
            agb_json result = agb_read_entry(&results, k);
            if (strcmp(agb_read_words(&result, "aggregator"), winner) == 0)
                ns_per_row = agb_read_amount(&result, "ns_per_row");
        }
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", agb_read_words(&at, "distribution"));
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&at, "groups"), "").s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&at, "threads"), "").s);
        agb_html_cell(page->to, "%s", *winner ? winner : "none");
        agb_html_number_cell(page->to, "%s", isnan(ns_per_row) ? "-" : agb_text_number(ns_per_row).s);
        agb_html_cell(page->to, "%s", *second ? second : "-");
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&at, "lead"), "\xc3\x97").s);
        if (isnan(low) || isnan(high))
            agb_html_number_cell(page->to, *second ? "too few runs" : "-");
        else
            agb_html_number_cell(page->to, "%s to %s", agb_text_number(low).s, agb_text_number(high).s);
        agb_html_cell(page->to, "%s", !*second ? "-" : agb_read_truth(&at, "claimed") ? "yes" : "no");
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
    fputs("</details>\n", page->to);
}

static void write_crossovers(agb_page *page, const agb_json *file)
{
    agb_json list = agb_read_list(file, "crossovers");
    size_t n = agb_read_length(&list);
    agb_html_element(page->to, "h3", NULL, "Where the lead changes hands");
    if (n == 0) {
        agb_html_element(page->to, "p", NULL, "Nowhere between neighbouring numbers of groups.");
        return;
    }
    agb_html_table_begin(page->to, NULL, "rows come|#threads|fastest|#up to groups|then|#from groups|"
                         "both leads outside the noise");
    for (size_t i = 0; i < n; i++) {
        agb_json at = agb_read_entry(&list, i);
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", agb_read_words(&at, "distribution"));
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&at, "threads"), "").s);
        agb_html_cell(page->to, "%s", agb_read_words(&at, "from"));
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&at, "from_groups"), "").s);
        agb_html_cell(page->to, "%s", agb_read_words(&at, "to"));
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&at, "to_groups"), "").s);
        agb_html_cell(page->to, "%s", agb_read_truth(&at, "claimed") ? "yes" : "no");
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

/* "radix is fastest in 12 of 20 cells, in 10 of them outside the noise." */
static void write_headline(agb_page *page, const agb_json *file, size_t cells)
{
    agb_json wins = agb_read_list(file, "wins");
    const char *best = NULL;
    double most = 0, claimed = 0;
    for (size_t i = 0; i < agb_read_length(&wins); i++) {
        agb_json at = agb_read_entry(&wins, i);
        double own = agb_read_amount(&at, "cells");
        if (!(own > most))
            continue;
        most = own;
        claimed = agb_read_amount(&at, "claimed");
        best = agb_read_words(&at, "aggregator");
    }
    if (best)
        agb_html_element(page->to, "h2", NULL, "%s is fastest in %s of %zu cells, in %s of them outside the noise.",
                         best, agb_text_amount(most, "").s, cells, agb_text_amount(claimed, "").s);
    else
        agb_html_element(page->to, "h2", NULL, "Nobody was measured.");
}

/* Strategies without a right answer somewhere, with the first reason. */
static void write_failures(agb_page *page, const agb_json *file)
{
    agb_json cells = agb_read_list(file, "cells");
    size_t failed = 0;
    const char *name = "", *state = "", *reason = "";
    for (size_t i = 0; i < agb_read_length(&cells); i++) {
        agb_json at = agb_read_entry(&cells, i), results = agb_read_list(&at, "results");
        for (size_t k = 0; k < agb_read_length(&results); k++) {
            agb_json result = agb_read_entry(&results, k);
            const char *own = agb_read_words(&result, "state");
            if (strcmp(own, "ok") == 0 || failed++ > 0)
                continue;
            name = agb_read_words(&result, "aggregator");
            state = own;
            reason = agb_read_words(&result, "reason");
        }
    }
    if (failed > 0)
        agb_html_element(page->to, "p", "caution", "%zu times a strategy gave no right answer; the first: %s: %s%s%s",
                         failed, name, state, *reason ? ": " : "", reason);
}

static void write_matrix(agb_page *page, const agb_json *file)
{
    agb_json settings = agb_read_object(file, "settings"), cells = agb_read_list(file, "cells");
    char over[200];
    agb_read_need(file, "grid cells settings");
    matrix_title(file, over, sizeof over);
    agb_html_element(page->to, "p", "over", "%s", over);
    write_headline(page, file, agb_read_length(&cells));
    agb_html_element(page->to, "p", "aside", "On %s, %s processors; %s timed runs of each after %s to warm up. On "
                     "several threads only the strategies that use them compete, and the baseline.",
                     agb_read_words(&settings, "cpu"), agb_text_amount(agb_read_amount(&settings, "cores"), "").s,
                     agb_text_amount(agb_read_amount(&settings, "repetitions"), "").s,
                     agb_text_amount(agb_read_amount(&settings, "warmup"), "").s);
    if (!agb_read_truth(file, "complete"))
        agb_html_element(page->to, "p", "caution", "It is not finished: the same command goes on with the rest.");
    write_failures(page, file);
    if (!file->file->failed)
        draw_all(page, file);
    write_cells(page, file);
    write_crossovers(page, file);
}

const agb_section agb_section_matrix = {
    .key = "crossovers", .kind = "a matrix (matrix)", .title = matrix_title, .write = write_matrix};
