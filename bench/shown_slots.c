/* SPDX-License-Identifier: MIT */
/* Where the pipeline slots went: measured ones; and, in pictures of their own, what stands for them where nothing could
 * be counted. The two kinds never share a picture. See shown.h. */
#include "shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Measured ---------------------------------------------------------------------------------------------------- */

typedef struct slot_part {
    const char *name, *key;
} slot_part;

static const slot_part parts[] = {
    {"retiring", "retiring_pct"},
    {"memory bound", "memory_bound_pct"},
    {"core bound", "core_bound_pct"},
    {"backend bound", "backend_bound_pct"},    /* where it could not be parted into the two above */
    {"frontend bound", "frontend_bound_pct"},
    {"bad speculation", "bad_speculation_pct"},
    {"the other thread of the core", "smt_contention_pct"},
};
enum { PARTS = sizeof parts / sizeof parts[0], RETIRING = 0, MEMORY, CORE, BACKEND, FRONTEND, SPECULATION };

/* false when no share was measured. */
static bool read_slots(const agb_json *counters, agb_stack_row *row)
{
    bool any = false;
    for (size_t i = 0; i < PARTS; i++) {
        double share = agb_read_amount(counters, parts[i].key);
        row->parts[i] = share;
        any = any || !isnan(share);
    }
    if (!isnan(row->parts[MEMORY]) && isnan(row->parts[CORE]) && !isnan(row->parts[BACKEND]))
        row->parts[BACKEND] = fmax(row->parts[BACKEND] - row->parts[MEMORY], 0);
    else if (!isnan(row->parts[CORE]))
        row->parts[BACKEND] = NAN;
    return any;
}

static void slots_table(agb_page *page, const agb_shown *shown)
{
    static const struct { const char *key, *unit; } more[] = {
        {"ipc", ""}, {"instructions", ""}, {"ops_retired", ""}, {"cycles", ""}, {"dram_demand_bytes", "bytes"},
        {"llc_misses", ""}, {"dtlb_walks", ""}, {"coverage_pct", "%"}};
    agb_html_table_begin(page->to, NULL, "strategy|#retiring|#memory bound|#backend bound|#frontend bound|"
                         "#bad speculation|#instructions a cycle|#instructions|#operations|#cycles|#from DRAM on "
                         "demand|#last-level misses|#page walks|#time counted");
    for (size_t i = 0; i < shown->n; i++) {
        agb_json counters = agb_read_object(&shown->rows[i].at, "counters");
        agb_stack_row row;
        if (!shown->rows[i].ok || !read_slots(&counters, &row))
            continue;
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", shown->rows[i].label);
        static const size_t order[] = {RETIRING, MEMORY, BACKEND, FRONTEND, SPECULATION};
        for (size_t j = 0; j < sizeof order / sizeof order[0]; j++)
            agb_html_number_cell(page->to, "%s",
                                 agb_text_amount(agb_read_amount(&counters, parts[order[j]].key), "%").s);
        for (size_t j = 0; j < sizeof more / sizeof more[0]; j++)
            agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&counters, more[j].key),
                                                                more[j].unit).s);
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

/* Replayed counts are of another machine, whatever the times beside them. */
static bool is_replayed(const agb_shown *shown)
{
    for (size_t i = 0; i < shown->n; i++) {
        agb_json counters = agb_read_object(&shown->rows[i].at, "counters");
        if (strcmp(agb_read_words(&counters, "source"), "replay") == 0)
            return true;
    }
    return false;
}

static void say_why_none(agb_page *page, const agb_shown *shown)
{
    agb_json machine = agb_read_object(&shown->file, "machine"), pmu = agb_read_object(&machine, "pmu");
    const char *reason = agb_read_words(&pmu, "reason");
    for (size_t i = 0; i < shown->n && !*reason; i++) {
        agb_json counters = agb_read_object(&shown->rows[i].at, "counters");
        reason = agb_read_words(&counters, "reason");
    }
    agb_html_element(page->to, "p", "aside", "Pipeline slots were not measured%s%s.", *reason ? ": " : "", reason);
}

void agb_show_slots(agb_page *page, const agb_shown *shown)
{
    agb_stack_row *rows = calloc(shown->n + 1, sizeof *rows);
    agb_text *notes = calloc(shown->n + 1, sizeof *notes);
    agb_stack stack = {.title = "Where the pipeline slots went, measured", .axis = "share of pipeline slots, measured",
                       .about = "Stacked bars of measured shares; the table under the picture has the figures",
                       .unit = "%", .rows = rows, .whole = 100, .n_parts = PARTS};
    for (size_t i = 0; i < PARTS; i++)
        stack.names[i] = parts[i].name;
    for (size_t i = 0; i < shown->n && rows && notes; i++) {
        agb_json counters = agb_read_object(&shown->rows[i].at, "counters");
        agb_stack_row *row = &rows[stack.n];
        if (!shown->rows[i].ok || !read_slots(&counters, row))
            continue;
        notes[stack.n] = agb_text_amount(row->parts[MEMORY], "%");
        row->label = shown->rows[i].label;
        row->note = isnan(row->parts[MEMORY]) ? "" : strcat(notes[stack.n].s, " memory");
        stack.n++;
    }
    if (stack.n > 0) {
        bool replayed = is_replayed(shown);
        agb_html_element(page->to, "h3", NULL, "%s", replayed ? "Pipeline slots, replayed from another machine's counts"
                                                             : stack.title);
        agb_figure_begin(page);
        agb_draw_stack(page, &stack);
        agb_figure_caption(page, "What each slot of the pipeline was used for.%s",
                           replayed ? " These counts were recorded elsewhere: no time on this page belongs to them."
                                    : " Only slots that the processor counted; what is missing to 100 % was not.");
        agb_figure_table_begin(page);
        slots_table(page, shown);
        agb_figure_table_end(page);
        agb_figure_end(page);
    } else if (rows && notes) {
        say_why_none(page, shown);
    }
    free(rows);
    free(notes);
}

/* ---- Estimated --------------------------------------------------------------------------------------------------- */

static agb_json estimate_of(const agb_shown_row *row)
{
    agb_json counters = agb_read_object(&row->at, "counters");
    return agb_read_object(&counters, "estimate");
}

static void estimates_table(agb_page *page, const agb_shown *shown)
{
    agb_html_table_begin(page->to, NULL, "strategy|#estimated: waits beyond the cache|#95 % interval|#twin's time");
    for (size_t i = 0; i < shown->n; i++) {
        agb_json estimate = estimate_of(&shown->rows[i]);
        double share = agb_read_number(&estimate, "waiting_beyond_cache_pct");
        if (isnan(share))
            continue;
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", shown->rows[i].label);
        agb_html_number_cell(page->to, "est. %s", agb_text_amount(share, "%").s);
        agb_interval_cell(page, agb_read_number(&estimate, "ci95_low"), agb_read_number(&estimate, "ci95_high"), "%",
                          "too few runs");
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&estimate, "twin_wall_s"), "s").s);
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

void agb_show_estimates(agb_page *page, const agb_shown *shown)
{
    agb_stack_row *rows = calloc(shown->n + 1, sizeof *rows);
    agb_text *notes = calloc(shown->n + 1, sizeof *notes);
    const char *limits = "";
    agb_stack stack = {.title = "Waiting beyond the cache, estimated", .axis = "share of wall time, estimated",
                       .about = "Bars of estimated shares; the table under the picture has the figures", .unit = "%",
                       .names = {"waits beyond the cache (estimated)"}, .n_parts = 1, .rows = rows, .whole = 100,
                       .substitute = true};
    for (size_t i = 0; i < shown->n && rows && notes; i++) {
        agb_json estimate = estimate_of(&shown->rows[i]);
        double share = agb_read_number(&estimate, "waiting_beyond_cache_pct");
        if (isnan(share))
            continue;
        snprintf(notes[stack.n].s, sizeof notes[stack.n].s, "est. %.0f %%", share);
        rows[stack.n] = (agb_stack_row){.label = shown->rows[i].label, .note = notes[stack.n].s, .parts = {share}};
        limits = agb_read_words(&estimate, "limits");
        stack.n++;
    }
    if (stack.n > 0) {
        agb_html_element(page->to, "h3", NULL, "Waiting beyond the cache, estimated");
        agb_figure_begin(page);
        agb_draw_stack(page, &stack);
        agb_figure_caption(page, "Estimated, not measured: %s.", limits);
        agb_figure_table_begin(page);
        estimates_table(page, shown);
        agb_figure_table_end(page);
        agb_figure_end(page);
    }
    free(rows);
    free(notes);
}

/* ---- Simulated --------------------------------------------------------------------------------------------------- */

static const struct { const char *key, *name; } simulated[] = {
    {"instructions_per_row", "instructions a row"},
    {"l1_misses_per_row", "L1d misses a row"},
    {"last_level_misses_per_row", "last-level misses a row"},
    {"branch_mispredictions_per_row", "branch mispredictions a row"},
};
enum { SIMULATED = sizeof simulated / sizeof simulated[0] };

static agb_json simulation_of(const agb_shown_row *row)
{
    agb_json counters = agb_read_object(&row->at, "counters");
    return agb_read_object(&counters, "simulate");
}

static void simulations_table(agb_page *page, const agb_shown *shown)
{
    agb_html_table_begin(page->to, NULL, "strategy|#simulated: instructions a row|#L1d misses a row|"
                         "#last-level misses a row|#branch mispredictions a row|#rows");
    for (size_t i = 0; i < shown->n; i++) {
        agb_json simulation = simulation_of(&shown->rows[i]);
        if (isnan(agb_read_amount(&simulation, simulated[0].key)))
            continue;
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", shown->rows[i].label);
        for (size_t j = 0; j < SIMULATED; j++)
            agb_html_number_cell(page->to, "sim. %s",
                                 agb_text_number(agb_read_amount(&simulation, simulated[j].key)).s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(&simulation, "rows"), "").s);
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

static void draw_simulated(agb_page *page, const agb_shown *shown, size_t which)
{
    agb_stack_row *rows = calloc(shown->n + 1, sizeof *rows);
    agb_text *notes = calloc(shown->n + 1, sizeof *notes);
    char axis[80];
    snprintf(axis, sizeof axis, "%s, simulated", simulated[which].name);
    agb_stack stack = {.title = axis, .axis = axis, .unit = "", .names = {simulated[which].name}, .n_parts = 1,
                       .about = "Bars of simulated counts; the table under the picture has the figures", .rows = rows,
                       .whole = NAN, .substitute = true};
    for (size_t i = 0; i < shown->n && rows && notes; i++) {
        agb_json simulation = simulation_of(&shown->rows[i]);
        double count = agb_read_amount(&simulation, simulated[which].key);
        if (isnan(count))
            continue;
        snprintf(notes[stack.n].s, sizeof notes[stack.n].s, "sim. %.20s", agb_text_number(count).s);
        rows[stack.n] = (agb_stack_row){.label = shown->rows[i].label, .note = notes[stack.n].s, .parts = {count}};
        stack.n++;
    }
    if (stack.n > 0)
        agb_draw_stack(page, &stack);
    free(rows);
    free(notes);
}

void agb_show_simulations(agb_page *page, const agb_shown *shown)
{
    bool any = false;
    for (size_t i = 0; i < shown->n; i++) {
        agb_json simulation = simulation_of(&shown->rows[i]);
        any = any || !isnan(agb_read_amount(&simulation, simulated[0].key));
    }
    if (!any)
        return;
    agb_html_element(page->to, "h3", NULL, "Instructions and misses, simulated");
    agb_figure_begin(page);
    draw_simulated(page, shown, 0);
    draw_simulated(page, shown, 2);
    agb_figure_caption(page, "Not measured: fewer rows on valgrind's model of a processor with this machine's cache "
                       "sizes, without prefetchers, TLBs and time.");
    agb_figure_table_begin(page);
    simulations_table(page, shown);
    agb_figure_table_end(page);
    agb_figure_end(page);
}
