/* SPDX-License-Identifier: MIT */
/* An investigation on a page: its twelve fields, then its measurements with their commands and pictures. */
#include "section.h"

#include <string.h>

static void investigation_title(const agb_json *file, char *text, size_t size)
{
    (void)file;
    snprintf(text, size, "An investigation of GROUP BY counts");
}

/* An id becomes an anchor only if it looks like one. */
static bool is_id(const char *id)
{
    return *id == 'M' && id[1] && id[1 + strspn(id + 1, "0123456789")] == '\0';
}

/* "text [M1] [M3]", each a link to its measurement. */
static void write_statement(agb_page *page, const agb_json *statement)
{
    agb_json ids = agb_read_list(statement, "measurements");
    fputs("<li>", page->to);
    agb_html_text(page->to, agb_read_words(statement, "text"));
    for (size_t i = 0; i < agb_read_length(&ids); i++) {
        const char *id = agb_read_words_entry(&ids, i);
        if (is_id(id))
            fprintf(page->to, " <a href=\"#%s\">[%s]</a>", id, id);
    }
    fputs("</li>\n", page->to);
}

static void write_field(agb_page *page, const agb_json *field)
{
    agb_json statements = agb_read_list(field, "statements");
    agb_html_sentence(page->to, "h3", "field", "%s", agb_read_words(field, "field"));
    fputs("<ul class=\"says\">\n", page->to);
    for (size_t i = 0; i < agb_read_length(&statements); i++) {
        agb_json statement = agb_read_entry(&statements, i);
        write_statement(page, &statement);
    }
    fputs("</ul>\n", page->to);
}

static void write_measurement(agb_page *page, const agb_json *measurement)
{
    const char *id = agb_read_words(measurement, "id");
    agb_json result = agb_read_object(measurement, "result");
    agb_read_need(measurement, "id title command result");
    if (!is_id(id))
        agb_read_fail(measurement, "id: %s: wanted M1, M2 ...", id);
    fprintf(page->to, "<div class=\"measurement\" id=\"%s\">\n", is_id(id) ? id : "");
    agb_html_element(page->to, "p", "over", "%s: %s", id, agb_read_words(measurement, "title"));
    agb_html_element(page->to, "pre", NULL, "%s", agb_read_words(measurement, "command"));
    agb_section_write(page, &result);
    fputs("</div>\n", page->to);
}

static void write_investigation(agb_page *page, const agb_json *file)
{
    agb_json fields = agb_read_list(file, "investigation"), measurements = agb_read_list(file, "measurements");
    for (size_t i = 0; i < agb_read_length(&fields); i++) {
        agb_json field = agb_read_entry(&fields, i);
        write_field(page, &field);
    }
    fputs("<section class=\"file\">\n", page->to);
    agb_section_head(page, "evidence", "The measurements, and the commands that repeat them");
    for (size_t i = 0; i < agb_read_length(&measurements); i++) {
        agb_json measurement = agb_read_entry(&measurements, i);
        write_measurement(page, &measurement);
    }
    fputs("</section>\n", page->to);
}

const agb_section agb_section_investigation = {
    .key = "investigation", .kind = "an investigation", .title = investigation_title, .write = write_investigation};
