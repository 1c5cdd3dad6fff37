/* SPDX-License-Identifier: MIT */
/* A run, a sweep or the published experiment on a page. */
#include "section.h"

#include "shown.h"
#include "summary.h"

#include <math.h>

/* "GROUP BY UserID on hits.parquet" */
static void results_title(const agb_json *run, char *text, size_t size)
{
    agb_json query = agb_read_object(run, "query"), columns = agb_read_list(&query, "group_by");
    agb_json source = agb_read_object(run, "source"), sources = agb_read_list(run, "sources");
    const char *where = agb_read_words(&query, "where");
    size_t at = (size_t)snprintf(text, size, "GROUP BY ");
    for (size_t i = 0; i < agb_read_length(&columns) && at < size; i++)
        at += (size_t)snprintf(text + at, size - at, "%s%.60s", i ? ", " : "", agb_read_words_entry(&columns, i));
    if (*where && at < size)
        at += (size_t)snprintf(text + at, size - at, " where %.60s", where);
    if (at < size)
        at += (size_t)snprintf(text + at, size - at, " on %.100s", agb_read_words(&source, "name"));
    if (agb_read_length(&sources) > 1 && at < size)
        snprintf(text + at, size - at, " and %zu more", agb_read_length(&sources) - 1);
}

static void write_over(agb_page *page, const agb_json *run)
{
    agb_json source = agb_read_object(run, "source");
    agb_json sample = agb_read_object(&source, "sample");
    double of_rows = agb_read_amount(&sample, "of_rows");
    char text[300], part[100] = "";
    results_title(run, text, sizeof text);
    if (of_rows > 0)
        snprintf(part, sizeof part, " of %s (a sample)", agb_text_amount(of_rows, "").s);
    else if (agb_read_amount(&sample, "every") > 0)
        snprintf(part, sizeof part, " (a sample)");
    agb_html_element(page->to, "p", "over", "%s: %s rows%s in %s groups", text,
                     agb_text_amount(agb_read_amount(&source, "rows"), "").s, part,
                     agb_text_amount(agb_read_amount(&source, "groups"), "").s);
}

/* Strategies without a right answer are said first: no picture shows them. */
static void write_failures(agb_page *page, const agb_shown *shown)
{
    for (size_t i = 0; i < shown->n; i++) {
        const agb_shown_row *row = &shown->rows[i];
        if (!row->ok)
            agb_html_element(page->to, "p", "caution", "%s has no time: %s%s%s", row->label, row->state,
                             *row->reason ? ": " : "", row->reason);
    }
}

enum { MOST_PROCESSES = 100 };    /* as --processes takes them */

/* What bounds every sentence above: noise of the twins, lost cores, a virtual machine. */
static void write_trust(agb_page *page, const agb_shown *shown)
{
    agb_json machine = agb_read_object(&shown->file, "machine"), settings = agb_read_object(&shown->file, "settings");
    double processes = fmin(fmax(agb_read_amount(&settings, "processes"), 1), MOST_PROCESSES);
    size_t noisy = 0, all = 0;
    for (size_t i = 0; i < shown->n; i++)
        for (size_t run = 0; run < shown->rows[i].n_runs; run++, all++)
            noisy += shown->rows[i].noisy[run];
    fputs("<p class=\"aside\">", page->to);
    if (!isnan(shown->noise_low))
        agb_html_print(page->to, "The baseline against its own twin gives %s to %s: a difference within that%s is not "
                       "claimed. ", agb_text_number(shown->noise_low).s, agb_text_number(shown->noise_high).s,
                       agb_least_claim_of((unsigned)processes) > 1 ? ", or under 5 %," : "");
    agb_html_print(page->to, "%zu of %zu timed runs lost more than 2 %% to waiting for a core.", noisy, all);
    if (*agb_read_words(&machine, "hypervisor"))
        agb_html_print(page->to, " On a virtual machine neighbours can slow any run without a trace here.");
    fputs("</p>\n", page->to);
}

static void setting_row(agb_page *page, const char *name, const char *text)
{
    agb_html_row_begin(page->to);
    agb_html_row_name(page->to, "%s", name);
    agb_html_cell(page->to, "%s", text);
    agb_html_row_end(page->to);
}

static void write_settings(agb_page *page, const agb_shown *shown)
{
    agb_json settings = agb_read_object(&shown->file, "settings"), floor = agb_read_object(&shown->file, "floor");
    agb_json source = agb_read_object(&shown->file, "source");
    agb_json none = {.file = shown->file.file}, first = shown->n > 0 ? shown->rows[0].at : none;
    char text[200];
    if (!settings.value)
        return;
    fputs("<details><summary>How it was measured</summary>\n", page->to);
    agb_html_table_begin(page->to, NULL, "setting|value");
    snprintf(text, sizeof text, "%.30s timed, after %.30s to warm up, in shuffled rounds (seed %.30s)",
             agb_text_amount(agb_read_amount(&settings, "repetitions"), "").s,
             agb_text_amount(agb_read_amount(&settings, "warmup"), "").s,
             agb_text_amount(agb_read_amount(&settings, "seed"), "").s);
    setting_row(page, "runs of each strategy", text);
    setting_row(page, "threads", agb_text_amount(agb_read_amount(&settings, "threads"), "").s);
    snprintf(text, sizeof text, "%.20s, %.20s pages", agb_read_words(&first, "memory"),
             agb_read_words(&first, "pages"));
    setting_row(page, "memory", text);
    setting_row(page, "loading, outside the clock", agb_text_amount(agb_read_amount(&source, "load_s"), "s").s);
    snprintf(text, sizeof text, "reads %.30s GB/s, writes %.30s GB/s",
             agb_text_amount(agb_read_amount(&floor, "read_gbps"), "").s,
             agb_text_amount(agb_read_amount(&floor, "write_gbps"), "").s);
    setting_row(page, "the machine meanwhile", text);
    agb_html_table_end(page->to);
    fputs("</details>\n", page->to);
}

static void write_results(agb_page *page, const agb_json *run)
{
    agb_json notes = agb_read_list(run, "notes");
    agb_shown shown = agb_shown_read(run);
    char headline[600];
    if (!run->file->failed) {
        write_over(page, run);
        agb_shown_headline(&shown, headline, sizeof headline);
        agb_html_element(page->to, "h2", NULL, "%s.", headline);
        write_failures(page, &shown);
        write_trust(page, &shown);
        agb_show_best(page, &shown);
        agb_show_scaling(page, &shown);
        agb_show_maps(page, &shown);
        agb_show_sweep(page, &shown);
        agb_show_times(page, &shown);
        agb_show_published(page, &shown);
        agb_show_phases(page, &shown);
        agb_show_slots(page, &shown);
        agb_show_estimates(page, &shown);
        agb_show_simulations(page, &shown);
        agb_sentences(page, &notes, 0, "says");
        write_settings(page, &shown);
    }
    agb_shown_release(&shown);
}

const agb_section agb_section_results = {
    .key = "results", .kind = "a run (run, pivot)", .title = results_title, .write = write_results};
