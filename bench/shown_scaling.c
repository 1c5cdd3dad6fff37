/* SPDX-License-Identifier: MIT */
/* What more threads brought, from the key "sweep.scaling": see scaling.h and shown.h. */
#include "shown.h"

#include <math.h>

static void write_row(agb_page *page, const agb_shown *shown, const agb_json *at)
{
    const agb_shown_row *row = agb_shown_result(shown, at);
    double ratio = agb_read_amount(at, "speedup"), low = agb_read_amount(at, "ci95_low");
    if (!row)
        return;
    agb_html_row_begin(page->to);
    agb_html_row_name(page->to, "%s", row->label);
    agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(at, "base_threads"), "").s);
    agb_html_number_cell(page->to, "%s", agb_text_ratio(ratio, low, agb_read_amount(at, "ci95_high")).s);
    agb_html_number_cell(page->to, "%s", agb_text_amount(agb_read_amount(at, "efficiency_pct"), "%").s);
    agb_html_cell(page->to, "%s", isnan(low) ? "too few runs" : agb_read_words(at, "verdict"));
    agb_html_row_end(page->to);
}

void agb_show_scaling(agb_page *page, const agb_shown *shown)
{
    agb_json sweep = agb_read_object(&shown->file, "sweep"), list = agb_read_list(&sweep, "scaling");
    if (agb_read_length(&list) == 0)
        return;
    agb_html_element(page->to, "h3", NULL, "What more threads bring");
    agb_html_table_begin(page->to, NULL, "the same strategy|#over threads|#speed-up|#efficiency|verdict");
    for (size_t i = 0; i < agb_read_length(&list); i++) {
        agb_json at = agb_read_entry(&list, i);
        write_row(page, shown, &at);
    }
    agb_html_table_end(page->to);
}
