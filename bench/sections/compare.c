/* SPDX-License-Identifier: MIT */
/* A comparison of two runs on a page: who became slower or faster, what else differs, and what is not claimed. */
#include "section.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void compare_title(const agb_json *file, char *text, size_t size)
{
    agb_json old = agb_read_object(file, "old"), new = agb_read_object(file, "new");
    snprintf(text, size, "%.90s against %.90s", agb_read_words(&new, "path"), agb_read_words(&old, "path"));
}

/* A row of the comparison as it is drawn. */
typedef struct row {
    agb_json at;
    char label[128];
    const char *source, *verdict;
    double speedup, low, high;
    agb_text note;
} row;

static void read_row(row *row, const agb_json *at)
{
    agb_read_need(at, "aggregator verdict");
    *row = (struct row){.at = *at, .source = agb_read_words(at, "source"), .verdict = agb_read_words(at, "verdict"),
                        .speedup = agb_read_amount(at, "speedup"), .low = agb_read_amount(at, "ci95_low"),
                        .high = agb_read_amount(at, "ci95_high")};
    row->note = agb_text_ratio(row->speedup, row->low, row->high);
}

/* Parameters are shown where the name alone would not tell rows apart. */
static void set_labels(row *rows, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *name = agb_read_words(&rows[i].at, "aggregator"), *params = agb_read_words(&rows[i].at, "params");
        bool alone = true;
        for (size_t k = 0; k < n && alone; k++)
            alone = k == i || strcmp(rows[k].source, rows[i].source) != 0 ||
                    strcmp(agb_read_words(&rows[k].at, "aggregator"), name) != 0;
        bool with = !alone && *params;
        snprintf(rows[i].label, sizeof rows[i].label, "%.60s%s%.60s", name, with ? " " : "", with ? params : "");
    }
}

/* Those of one source that have a speed-up, as a picture. */
static void draw_source(agb_page *page, const row *rows, size_t n, const char *source)
{
    agb_spread_row *drawn = calloc(n + 1, sizeof *drawn);
    agb_spread spread = {.title = "Speed-up of NEW against OLD", .axis = "speed-up of NEW: right of 1 it is faster",
                         .about = "The speed-up of each strategy with its interval; the table has the figures",
                         .unit = "", .rows = drawn, .reference = 1, .ratios = true};
    for (size_t i = 0; i < n && drawn; i++)
        if (!isnan(rows[i].speedup) && strcmp(rows[i].source, source) == 0)
            drawn[spread.n++] = (agb_spread_row){rows[i].label, rows[i].note.s, rows[i].low, rows[i].speedup,
                                                 rows[i].high, NULL, NULL, 0, agb_tone_of(rows[i].verdict)};
    if (spread.n > 0) {
        agb_figure_begin(page);
        agb_draw_spread(page, &spread);
        agb_figure_caption(page, "The line is the speed-up, the band its 95 %% interval, dashed where both are the "
                           "same. Only what is claimed has a colour.");
        agb_figure_end(page);
    }
    free(drawn);
}

static void write_source(agb_page *page, const row *rows, size_t n, const char *source)
{
    agb_html_element(page->to, "h3", NULL, "%s", source);
    draw_source(page, rows, n, source);
    agb_html_table_begin(page->to, NULL, "strategy|verdict|#speed-up|#95 % interval|#OLD median|#NEW median|"
                         "#OLD runs|#NEW runs|by pairs");
    for (size_t i = 0; i < n; i++) {
        const agb_json *at = &rows[i].at;
        const char *reason = agb_read_words(at, "reason");
        if (strcmp(rows[i].source, source) != 0)
            continue;
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", rows[i].label);
        agb_html_cell(page->to, "%s%s%s%s", agb_read_truth(at, "regression") ? "regression: " : "", rows[i].verdict,
                      *reason ? ": " : "", reason);
        agb_html_number_cell(page->to, "%s", agb_text_amount(rows[i].speedup, "x").s);
        if (isnan(rows[i].low))
            agb_html_number_cell(page->to, isnan(rows[i].speedup) ? "-" : "too few runs");
        else
            agb_html_number_cell(page->to, "%s to %s", agb_text_number(rows[i].low).s,
                                 agb_text_number(rows[i].high).s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(at, "old_median_s"), "s").s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(at, "new_median_s"), "s").s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(at, "old_runs"), "").s);
        agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(at, "new_runs"), "").s);
        agb_html_cell(page->to, "%s", isnan(rows[i].speedup)                                  ? "-"
                                      : strcmp(agb_read_words(at, "pairing"), "rounds") == 0 ? "yes" : "no");
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

static void write_differences(agb_page *page, const agb_json *file)
{
    agb_json list = agb_read_list(file, "differences");
    size_t n = agb_read_length(&list);
    if (n == 0)
        return;
    agb_html_element(page->to, "h3", NULL, "What else differs");
    agb_html_table_begin(page->to, NULL, "circumstance|in OLD|in NEW|what that means");
    for (size_t i = 0; i < n; i++) {
        agb_json at = agb_read_entry(&list, i);
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", agb_read_words(&at, "what"));
        agb_html_cell(page->to, "%s", agb_read_words(&at, "old"));
        agb_html_cell(page->to, "%s", agb_read_words(&at, "new"));
        agb_html_cell(page->to, "%s", agb_read_truth(&at, "refused") ? "the times are of different things"
                                                                     : "may be the very thing that is compared");
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

static void write_noise(agb_page *page, const agb_json *file)
{
    agb_json noise = agb_read_object(file, "noise");
    double least = agb_read_amount(file, "least_claim");
    agb_html_element(page->to, "p", "aside", "Not claimed: what a baseline differs from its twin by in either file, "
                     "%s to %s%s.", agb_text_amount(agb_read_amount(&noise, "ci95_low"), "").s,
                     agb_text_amount(agb_read_amount(&noise, "ci95_high"), "").s,
                     least > 1 ? ", and less than 5 %, as two processes' memory layouts can differ by that" : "");
}

static void write_compare(agb_page *page, const agb_json *file)
{
    char over[200];
    agb_json list = agb_read_list(file, "comparisons");
    double regressions = agb_read_amount(file, "regressions");
    size_t n = agb_read_length(&list);
    row *rows = calloc(n + 1, sizeof *rows);
    agb_read_need(file, "regressions comparisons old new");
    for (size_t i = 0; i < n && rows; i++) {
        agb_json at = agb_read_entry(&list, i);
        read_row(&rows[i], &at);
    }
    compare_title(file, over, sizeof over);
    if (!rows)
        agb_read_fail(file, "no memory for its rows");
    if (rows && !file->file->failed) {
        agb_html_element(page->to, "p", "over", "%s", over);
        agb_html_element(page->to, "h2", NULL, regressions > 0 ? "%s regression%s." : "No regression seen.",
                         agb_text_amount(regressions, "").s, regressions == 1 ? "" : "s");
        if (agb_read_truth(file, "forced"))
            agb_html_element(page->to, "p", "caution", "The comparison was forced: see what else differs.");
        set_labels(rows, n);
        for (size_t i = 0; i < n; i++) {
            bool told = false;
            for (size_t k = 0; k < i && !told; k++)
                told = strcmp(rows[k].source, rows[i].source) == 0;
            if (!told)
                write_source(page, rows, n, rows[i].source);
        }
        write_noise(page, file);
        write_differences(page, file);
    }
    free(rows);
}

const agb_section agb_section_compare = {
    .key = "regressions", .kind = "a comparison (compare)", .title = compare_title, .write = write_compare};
