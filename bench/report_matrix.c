/* SPDX-License-Identifier: MIT */
/* A matrix on paper: see matrix.h. */
#include "matrix.h"

#include "csv_field.h"
#include "json_text.h"
#include "report.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL = 11, LABEL = 10, COLUMNS = (AGB_TEXT_CELLS - LABEL) / CELL };

static const agb_matrix_cell *cell_at(const agb_matrix *matrix, unsigned threads, const agb_distribution *distribution,
                                      uint64_t groups)
{
    for (size_t i = 0; i < matrix->n; i++) {
        const agb_matrix_cell *cell = &matrix->cells[i];
        if (cell->threads == threads && cell->distribution == distribution && cell->groups == groups)
            return cell;
    }
    return NULL;
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

static const char *shade_of(const agb_win *win)
{
    static const struct { double least; const char *shade; } shades[] = {{2, "█"}, {1.5, "▓"}, {1.2, "▒"}, {1, "░"}};
    size_t i = 0;
    while (i < 3 && win->lead.ratio < shades[i].least)
        i++;
    return win->claimed ? shades[i].shade : " ";
}

static void print_name(FILE *to, const agb_matrix_cell *cell)
{
    const char *text = !cell ? "." : !cell->done ? "-" : cell->win.winner ? cell->win.winner : "none";
    agb_clean_text clean = agb_text_clean(text);
    fprintf(to, " %*.*s", CELL - 1, CELL - 1, clean.s);
}

static void print_lead(FILE *to, const agb_matrix_cell *cell, bool last)
{
    agb_win win = cell ? cell->win : (agb_win){0};
    char text[32] = "";
    if (win.second && win.claimed)
        snprintf(text, sizeof text, "%.12s x", agb_text_number(win.lead.ratio).s);
    else if (win.second)
        snprintf(text, sizeof text, "~%.12s x", agb_text_number(win.lead.ratio).s);
    const char *shade = shade_of(&win);
    bool bare = last && *shade == ' ';    /* no blanks at a line's end */
    if (!last || *text)
        fprintf(to, " %*s%s", CELL - 2, text, bare ? "" : shade);
}

static void print_band(FILE *to, const agb_matrix *matrix, unsigned threads, size_t first, size_t n)
{
    const agb_sweep *groups = &matrix->groups;
    fprintf(to, "%-*s", LABEL, "groups");
    for (size_t k = first; k < first + n; k++)
        fprintf(to, " %*s", CELL - 1, agb_text_count(strtoull(groups->value[k], NULL, 10)).s);
    fputc('\n', to);
    for (size_t i = 0; i < matrix->distributions; i++) {
        const agb_matrix_cell *cells[COLUMNS];
        for (size_t k = 0; k < n; k++)
            cells[k] = cell_at(matrix, threads, matrix->distribution[i], strtoull(groups->value[first + k], NULL, 10));
        fprintf(to, "%-*s", LABEL, matrix->distribution[i]->name);
        for (size_t k = 0; k < n; k++)
            print_name(to, cells[k]);
        fprintf(to, "\n%-*s", LABEL, "");
        for (size_t k = 0; k < n; k++)
            print_lead(to, cells[k], k + 1 == n);
        fputc('\n', to);
    }
    fputc('\n', to);
}

static void print_crossovers(FILE *to, const agb_matrix *matrix)
{
    agb_crossover crossing;
    for (size_t i = 0; agb_matrix_crossover(matrix, &i, &crossing); i++) {
        if (!crossing.claimed)
            continue;
        agb_report_line(to, "crossover", "%s, %u thread%s: %s is fastest up to %s groups, %s from %s on",
                        crossing.before->distribution->name, crossing.before->threads,
                        crossing.before->threads == 1 ? "" : "s", crossing.before->win.winner,
                        agb_text_count(crossing.before->groups).s, crossing.after->win.winner,
                        agb_text_count(crossing.after->groups).s);
    }
}

typedef struct wins {
    size_t cells, claimed;
} wins;

static wins wins_of(const agb_matrix *matrix, const char *label)
{
    wins out = {0};
    for (size_t i = 0; i < matrix->n; i++) {
        const agb_win *win = &matrix->cells[i].win;
        bool mine = win->winner && strcmp(win->winner, label) == 0;
        out.cells += mine;
        out.claimed += mine && win->claimed;
    }
    return out;
}

static void print_wins(FILE *to, const agb_matrix *matrix)
{
    const json_t *names = json_object_get(matrix->head, "aggregators");
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        wins own = wins_of(matrix, name);
        if (own.cells > 0)
            agb_report_line(to, "wins", "%s: fastest in %zu of %zu cells, in %zu of them outside the noise", name,
                            own.cells, matrix->n_done, own.claimed);
    }
}

/* Contestants that gave no right answer somewhere: once each, with the first reason. */
static void print_failures(FILE *to, const agb_matrix *matrix)
{
    const json_t *names = json_object_get(matrix->head, "aggregators");
    for (size_t n = 0; n < json_array_size(names); n++) {
        const char *name = json_string_value(json_array_get(names, n)), *first = NULL;
        const char *state = "";
        size_t failed = 0;
        for (size_t i = 0; i < matrix->n; i++) {
            const json_t *results = json_object_get(matrix->cells[i].done, "results");
            for (size_t k = 0; k < json_array_size(results); k++) {
                const json_t *result = json_array_get(results, k);
                if (strcmp(json_string_value(json_object_get(result, "aggregator")), name) != 0 ||
                    strcmp(json_string_value(json_object_get(result, "state")), "ok") == 0)
                    continue;
                state = failed++ ? state : json_string_value(json_object_get(result, "state"));
                first = first ? first : json_string_value(json_object_get(result, "reason"));
            }
        }
        if (failed > 0)
            agb_report_line(to, "failed", "%s: in %zu cells; the first: %s: %s", name, failed, state,
                            first ? first : "");
    }
}

static void print_terms(FILE *to, const agb_matrix *matrix)
{
    agb_report_line(to, "cells",
                    "fastest, and how much faster than the second: ░ outside the noise, ▒ from 1.2 x, ▓ from "
                    "1.5 x, █ from 2 x; ~ inside the noise: either may be the fastest; - not measured yet; . not "
                    "possible with so many rows");
    if (matrix->n_done < matrix->n)
        agb_report_line(to, "unfinished", "%zu of %zu cells%s: the same command goes on with the rest (state in %s)",
                        matrix->n_done, matrix->n, matrix->out_of_time ? ", as --time-limit allowed no more" : "",
                        matrix->state_path);
    agb_report_line(to, "rows",
                    "%s in each cell, %u warm-up + %u timed runs; on several threads only the strategies that "
                    "use them, and the baseline",
                    agb_text_count(matrix->rows).s, (unsigned)matrix->options->warmup,
                    (unsigned)matrix->options->repetitions);
}

void agb_report_matrix_table(FILE *to, const agb_matrix *matrix)
{
    for (size_t i = 0; i < matrix->threads.n; i++) {
        unsigned threads = (unsigned)strtoul(matrix->threads.value[i], NULL, 10);
        fprintf(to, "%u thread%s\n", threads, threads == 1 ? "" : "s");
        agb_report_rule(to);
        for (size_t first = 0; first < matrix->groups.n; first += COLUMNS)
            print_band(to, matrix, threads, first,
                       matrix->groups.n - first < COLUMNS ? matrix->groups.n - first : COLUMNS);
    }
    print_wins(to, matrix);
    print_crossovers(to, matrix);
    print_failures(to, matrix);
    print_terms(to, matrix);
}

/* ---- For programs ------------------------------------------------------------------------------------------------ */

/* A line for each contestant of each cell. */
void agb_report_matrix_csv(FILE *to, const agb_matrix *matrix)
{
    fputs("distribution,groups,threads,source,aggregator,state,median_s,ci95_low_s,ci95_high_s,ns_per_row,winner,lead,"
          "lead_ci95_low,lead_ci95_high,claimed,reason\n", to);
    for (size_t i = 0; i < matrix->n; i++) {
        const agb_matrix_cell *cell = &matrix->cells[i];
        const json_t *results = json_object_get(cell->done, "results");
        agb_win win = cell->win;
        for (size_t k = 0; k < json_array_size(results); k++) {
            const json_t *result = json_array_get(results, k);
            const char *label = json_string_value(json_object_get(result, "aggregator"));
            const char *reason = json_string_value(json_object_get(result, "reason"));
            bool wins = win.winner && strcmp(win.winner, label) == 0;
            static const char *const figures[] = {"median_s", "ci95_low", "ci95_high", "ns_per_row"};
            fprintf(to, "%s", cell->distribution->name);
            agb_csv_number(to, (double)cell->groups);
            agb_csv_number(to, (double)cell->threads);
            agb_csv_text(to, cell->source);
            agb_csv_text(to, label);
            agb_csv_text(to, json_string_value(json_object_get(result, "state")));
            for (size_t figure = 0; figure < sizeof figures / sizeof figures[0]; figure++) {
                const json_t *value = json_object_get(result, figures[figure]);
                agb_csv_number(to, json_is_number(value) ? json_number_value(value) : NAN);
            }
            agb_csv_number(to, wins);
            agb_csv_number(to, wins && win.second ? win.lead.ratio : NAN);
            agb_csv_number(to, wins && win.second ? win.lead.ci95_low : NAN);
            agb_csv_number(to, wins && win.second ? win.lead.ci95_high : NAN);
            agb_csv_number(to, wins && win.second ? win.claimed : NAN);
            agb_csv_text(to, reason ? reason : "");
            fputc('\n', to);
        }
    }
}

static json_t *cell_json(const agb_matrix_cell *cell)
{
    agb_win win = cell->win;
    json_t *out = json_copy(cell->done), *results = json_array();
    const json_t *rows = json_object_get(cell->done, "results");
    for (size_t i = 0; i < json_array_size(rows); i++) {
        json_t *row = json_copy(json_array_get(rows, i));
        json_object_del(row, "wall_s");
        json_object_del(row, "heat");
        json_array_append_new(results, row);
    }
    json_object_set_new(out, "results", results);
    json_object_set_new(out, "winner", agb_json_text_or_null(win.winner));
    json_object_set_new(out, "second", agb_json_text_or_null(win.second));
    json_object_set_new(out, "lead", agb_json_number(win.second ? win.lead.ratio : NAN));
    json_object_set_new(out, "ci95_low", agb_json_number(win.second ? win.lead.ci95_low : NAN));
    json_object_set_new(out, "ci95_high", agb_json_number(win.second ? win.lead.ci95_high : NAN));
    json_object_set_new(out, "pairing", json_string(win.paired ? "rounds" : "none"));
    json_object_set_new(out, "claimed", json_boolean(win.claimed));
    return out;
}

static json_t *axis_json(const agb_sweep *axis)
{
    json_t *out = json_array();
    for (size_t i = 0; i < axis->n; i++)
        json_array_append_new(out, json_integer((json_int_t)strtoull(axis->value[i], NULL, 10)));
    return out;
}

static json_t *crossovers_json(const agb_matrix *matrix)
{
    json_t *out = json_array();
    agb_crossover crossing;
    for (size_t i = 0; agb_matrix_crossover(matrix, &i, &crossing); i++)
        json_array_append_new(
            out, json_pack("{s:s, s:o, s:o, s:o, s:o, s:o, s:b}", "distribution", crossing.before->distribution->name,
                           "threads", json_integer((json_int_t)crossing.before->threads), "from",
                           agb_json_text(crossing.before->win.winner), "to",
                           agb_json_text(crossing.after->win.winner), "from_groups",
                           json_integer((json_int_t)crossing.before->groups), "to_groups",
                           json_integer((json_int_t)crossing.after->groups), "claimed", crossing.claimed));
    return out;
}

static json_t *wins_json(const agb_matrix *matrix)
{
    json_t *out = json_array();
    const json_t *names = json_object_get(matrix->head, "aggregators");
    for (size_t i = 0; i < json_array_size(names); i++) {
        wins own = wins_of(matrix, json_string_value(json_array_get(names, i)));
        json_array_append_new(out, json_pack("{s:O, s:o, s:o}", "aggregator", json_array_get(names, i), "cells",
                                             json_integer((json_int_t)own.cells), "claimed",
                                             json_integer((json_int_t)own.claimed)));
    }
    return out;
}

void agb_report_matrix_json(FILE *to, const agb_matrix *matrix)
{
    json_t *settings = json_copy(matrix->head), *names = json_array(), *cells = json_array();
    json_object_del(settings, "aggbench_matrix");
    for (size_t i = 0; i < matrix->distributions; i++)
        json_array_append_new(names, json_string(matrix->distribution[i]->name));
    for (size_t i = 0; i < matrix->n; i++)
        if (matrix->cells[i].done)
            json_array_append_new(cells, cell_json(&matrix->cells[i]));
    agb_json_write(to,
                   json_pack("{s:i, s:s, s:b, s:o, s:{s:o, s:o, s:o}, s:o, s:o, s:o}", "aggbench", 1, "kind", "matrix",
                             "complete", matrix->n_done == matrix->n, "settings", settings, "grid", "distributions",
                             names, "groups", axis_json(&matrix->groups), "threads", axis_json(&matrix->threads),
                             "cells", cells, "crossovers", crossovers_json(matrix), "wins", wins_json(matrix)));
}
