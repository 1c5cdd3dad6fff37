/* SPDX-License-Identifier: MIT */
/* Times and phases of the strategies. See shown.h. */
#include "shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Times ------------------------------------------------------------------------------------------------------- */

static int by_median(const void *a, const void *b)
{
    const agb_shown_row *left = *(const agb_shown_row *const *)a, *right = *(const agb_shown_row *const *)b;
    return (left->median_s > right->median_s) - (left->median_s < right->median_s);
}

/* Right rows, the fastest first; returns how many. */
static size_t sort_rows(const agb_shown *shown, const agb_shown_row **rows)
{
    size_t n = 0;
    for (size_t i = 0; i < shown->n; i++)
        if (shown->rows[i].ok)
            rows[n++] = &shown->rows[i];
    qsort(rows, n, sizeof *rows, by_median);
    return n;
}

static void times_table(agb_page *page, const agb_shown_row *const *rows, size_t n, bool several_sources)
{
    agb_html_table_begin(page->to, NULL, "strategy|#first run|#median|#95 % interval|#least|#most|#ns a row|"
                         "#times the floor|#peak memory|speed-up");
    for (size_t i = 0; i < n; i++) {
        const agb_shown_row *row = rows[i];
        agb_json wall = agb_read_object(&row->at, "wall_s");
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s%s%s", row->label, several_sources ? ", " : "",
                          several_sources ? row->source : "");
        agb_html_number_cell(page->to, "%s", agb_text_amount(row->first_s, "s").s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(row->median_s, "s").s);
        agb_interval_cell(page, row->low_s, row->high_s, "s", "too few runs");
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&wall, "min"), "s").s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&wall, "max"), "s").s);
        agb_html_number_cell(page->to, "%s", isnan(row->ns_per_row) ? "-" : agb_text_number(row->ns_per_row).s);
        agb_html_number_cell(page->to, "%s", isnan(row->times_floor) ? "-" : agb_text_number(row->times_floor).s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(row->peak_bytes, "bytes").s);
        agb_html_cell(page->to, "%s", agb_shown_speedup(row).s);
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

static void draw_times(agb_page *page, const agb_shown *shown, const agb_shown_row *const *rows, size_t n)
{
    agb_spread_row *drawn = calloc(n + 1, sizeof *drawn);
    agb_text *notes = calloc(n + 1, sizeof *notes);
    const agb_shown_row *baseline = agb_shown_baseline(shown);
    char about[400];
    for (size_t i = 0; i < n && drawn && notes; i++) {
        notes[i] = agb_shown_speedup(rows[i]);
        drawn[i] = (agb_spread_row){rows[i]->label, notes[i].s, rows[i]->low_s, rows[i]->median_s, rows[i]->high_s,
                                    rows[i]->runs, rows[i]->noisy, rows[i]->n_runs, agb_shown_tone(rows[i])};
    }
    snprintf(about, sizeof about, "Median wall time of %zu strategies, the fastest first: from %.20s for %s to %.20s "
             "for %s", n,
             agb_text_seconds(rows[0]->median_s).s, rows[0]->label, agb_text_seconds(rows[n - 1]->median_s).s,
             rows[n - 1]->label);
    agb_spread spread = {.title = "Time of each strategy", .about = about, .axis = "wall time of one run", .unit = "s",
                         .rows = drawn, .n = n, .reference = baseline ? baseline->median_s : NAN};
    if (drawn && notes)
        agb_draw_spread(page, &spread);
    free(drawn);
    free(notes);
}

void agb_show_times(agb_page *page, const agb_shown *shown)
{
    const agb_shown_row **rows = calloc(shown->n + 1, sizeof *rows);
    size_t n = rows ? sort_rows(shown, rows) : 0;
    if (n > 0 && agb_shown_is_sweep(shown)) {
        fputs("<details><summary>Every row in figures</summary>\n", page->to);
        times_table(page, rows, n, shown->n_sources > 1);
        fputs("</details>\n", page->to);
    } else if (n > 0) {
        agb_html_element(page->to, "h3", NULL, "Time of each strategy");
        agb_figure_begin(page);
        draw_times(page, shown, rows, n);
        agb_figure_caption(page, "Each dot is one timed run, hollow where it lost more than 2 %% to waiting for a "
                           "core; the line is the median, the band its 95 %% interval. Right of it: the speed-up "
                           "against the baseline (dashed), from pairs within a round.");
        agb_figure_table_begin(page);
        times_table(page, rows, n, shown->n_sources > 1);
        agb_figure_table_end(page);
        agb_figure_end(page);
    }
    free(rows);
}

/* ---- Phases ------------------------------------------------------------------------------------------------------ */

/* Where a phase's name stands among the parts; -1 when there are too many. */
static int part_of(agb_stack *stack, const char *name)
{
    for (size_t i = 0; i < stack->n_parts; i++)
        if (strcmp(stack->names[i], name) == 0)
            return (int)i;
    if (stack->n_parts == AGB_MOST_PARTS)
        return -1;
    stack->names[stack->n_parts] = name;
    return (int)stack->n_parts++;
}

static bool read_phases(const agb_shown_row *row, agb_stack *stack, agb_stack_row *drawn)
{
    agb_json phases = agb_read_list(&row->at, "phases");
    for (size_t i = 0; i < agb_read_length(&phases); i++) {
        agb_json phase = agb_read_entry(&phases, i);
        double wall_s = agb_read_amount(&phase, "wall_s");
        int part = part_of(stack, agb_read_words(&phase, "name"));
        if (part >= 0 && !isnan(wall_s))
            drawn->parts[part] += wall_s;
    }
    return agb_read_length(&phases) > 1;
}

static void phases_table(agb_page *page, const agb_stack *stack)
{
    char headings[AGB_MOST_PARTS * 44 + 16] = "strategy";
    size_t at = strlen(headings);
    for (size_t i = 0; i < stack->n_parts; i++)
        at += (size_t)snprintf(headings + at, sizeof headings - at, "|#%.40s", stack->names[i]);
    agb_html_table_begin(page->to, NULL, headings);
    for (size_t i = 0; i < stack->n; i++) {
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", stack->rows[i].label);
        for (size_t part = 0; part < stack->n_parts; part++)
            agb_html_number_cell(page->to, "%s", stack->rows[i].parts[part] > 0
                                                     ? agb_text_seconds(stack->rows[i].parts[part]).s : "-");
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

void agb_show_phases(agb_page *page, const agb_shown *shown)
{
    const agb_shown_row **rows = calloc(shown->n + 1, sizeof *rows);
    agb_stack_row *drawn = calloc(shown->n + 1, sizeof *drawn);
    agb_stack stack = {.title = "Where the time went, by phase",
                       .about = "Bars of the median time of each phase; the table under the picture has the figures",
                       .axis = "time of the phases, medians", .unit = "s", .rows = drawn, .whole = NAN};
    size_t n = rows && drawn ? sort_rows(shown, rows) : 0, several = 0;
    for (size_t i = 0; i < n; i++) {
        drawn[i].label = rows[i]->label;
        several += read_phases(rows[i], &stack, &drawn[i]);
    }
    stack.n = n;
    if (several > 0 && !agb_shown_is_sweep(shown)) {
        agb_html_element(page->to, "h3", NULL, "Where the time went, by phase");
        agb_figure_begin(page);
        agb_draw_stack(page, &stack);
        agb_figure_caption(page, "Median time of each phase that a strategy names itself. Medians of parts need not "
                           "add up to the median of the whole.");
        agb_figure_table_begin(page);
        phases_table(page, &stack);
        agb_figure_table_end(page);
        agb_figure_end(page);
    }
    free(rows);
    free(drawn);
}
