/* SPDX-License-Identifier: MIT */
/* What doctor found on a page: its conclusion, the path at a glance, then each step with its figures, what it could not
 * see, and what to do next. */
#include "section.h"

#include <math.h>
#include <string.h>

/* "this machine", or "process 1234 (name)". */
static void name_subject(const agb_json *subject, char *text, size_t size)
{
    double pid = agb_read_amount(subject, "pid");
    if (isnan(pid))
        snprintf(text, size, "this machine");
    else
        snprintf(text, size, "%.20s %.0f (%.60s)", agb_read_words(subject, "kind"), pid,
                 agb_read_words(subject, "name"));
}

static void doctor_title(const agb_json *file, char *text, size_t size)
{
    char name[120];
    agb_json doctor = agb_read_object(file, "doctor"), subject = agb_read_object(&doctor, "subject");
    name_subject(&subject, name, sizeof name);
    snprintf(text, size, "Doctor: %s", name);
}

/* What the reader must know of the visit itself. */
static void write_visit(agb_page *page, const agb_json *subject)
{
    double exit_status = agb_read_amount(subject, "exit_status"), ended_by = agb_read_amount(subject, "signal");
    agb_html_element(page->to, "p", NULL, "Watched for %s; threads seen: %s.",
                     agb_text_amount(agb_read_amount(subject, "window_s"), "s").s,
                     agb_text_amount(agb_read_amount(subject, "threads"), "").s);
    if (!isnan(exit_status))
        agb_html_element(page->to, "p", exit_status == 0 ? NULL : "caution", "It ended with exit status %.0f.",
                         exit_status);
    if (!isnan(ended_by))
        agb_html_element(page->to, "p", "caution", "It ended by signal %.0f.", ended_by);
    if (agb_read_truth(subject, "interrupted"))
        agb_html_element(page->to, "p", "caution", "Interrupted: all of this is of the time until then.");
    else if (agb_read_truth(subject, "vanished") && isnan(exit_status) && isnan(ended_by))
        agb_html_element(page->to, "p", "caution", "It ended meanwhile: all of this is of the time until then.");
}

static bool is_skipped(const agb_json *step)
{
    return strcmp(agb_read_words(step, "verdict"), "skipped") == 0;
}

/* The path at a glance. */
static void write_path(agb_page *page, const agb_json *steps)
{
    agb_html_table_begin(page->to, NULL, "step|verdict|what that means");
    for (size_t i = 0; i < agb_read_length(steps); i++) {
        agb_json step = agb_read_entry(steps, i);
        agb_read_need(&step, "step verdict");
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%zu %s", i + 1, agb_read_words(&step, "step"));
        agb_html_cell(page->to, "%s", agb_read_words(&step, "verdict"));
        agb_html_cell(page->to, "%s", agb_read_words(&step, "means"));
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

/* Those that were had; what is an estimate says so. */
static void write_figures(agb_page *page, const agb_json *step)
{
    agb_json figures = agb_read_list(step, "figures");
    size_t written = 0;
    for (size_t i = 0; i < agb_read_length(&figures); i++) {
        agb_json figure = agb_read_entry(&figures, i);
        double value = agb_read_number(&figure, "value");
        if (isnan(value))
            continue;
        if (written++ == 0)
            agb_html_table_begin(page->to, NULL, "figure|#value");
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s%s", agb_read_words(&figure, "name"),
                          agb_read_truth(&figure, "estimate") ? ", estimated" : "");
        agb_html_number_cell(page->to, "%s", agb_text_amount(value, agb_read_words(&figure, "unit")).s);
        agb_html_row_end(page->to);
    }
    if (written > 0)
        agb_html_table_end(page->to);
}

static void write_unseen(agb_page *page, const agb_json *step)
{
    agb_json unseen = agb_read_list(step, "unseen");
    for (size_t i = 0; i < agb_read_length(&unseen); i++) {
        agb_json at = agb_read_entry(&unseen, i);
        agb_html_element(page->to, "p", NULL, "Not seen: %s: %s. Elsewhere:", agb_read_words(&at, "what"),
                         agb_read_words(&at, "reason"));
        agb_html_element(page->to, "pre", NULL, "%s", agb_read_words(&at, "command"));
    }
}

static void write_step(agb_page *page, const agb_json *step, size_t number)
{
    const char *measured = agb_read_words(step, "measured"), *next = agb_read_words(step, "next");
    agb_html_element(page->to, "h3", NULL, "%zu %s: %s", number, agb_read_words(step, "step"),
                     agb_read_words(step, "verdict"));
    agb_html_sentence(page->to, "p", "aside", "%s", agb_read_words(step, "question"));
    if (*measured)
        agb_html_sentence(page->to, "p", NULL, "%s.", measured);
    write_figures(page, step);
    agb_html_sentence(page->to, "p", "measured", "%s.", agb_read_words(step, "means"));
    write_unseen(page, step);
    if (*next)
        agb_html_element(page->to, "p", NULL, "Next: %s.", next);
}

static void write_doctor(agb_page *page, const agb_json *file)
{
    char name[120];
    agb_json doctor = agb_read_object(file, "doctor"), steps = agb_read_list(&doctor, "steps");
    agb_read_need(&doctor, "subject steps conclusion");
    agb_json subject = agb_read_object(&doctor, "subject");
    name_subject(&subject, name, sizeof name);
    agb_html_element(page->to, "p", "over", "doctor: %s", name);
    agb_html_sentence(page->to, "h2", NULL, "%s.", agb_read_words(&doctor, "conclusion"));
    write_visit(page, &subject);
    write_path(page, &steps);
    for (size_t i = 0; i < agb_read_length(&steps); i++) {
        agb_json step = agb_read_entry(&steps, i);
        if (!is_skipped(&step))
            write_step(page, &step, i + 1);
    }
}

const agb_section agb_section_doctor = {
    .key = "doctor", .kind = "a visit of the doctor", .title = doctor_title, .write = write_doctor};
