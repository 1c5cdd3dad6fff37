/* SPDX-License-Identifier: MIT */
/* The published experiment beside the measured one. Which two strategies it compared is known to report_pivot.h. See
 * shown.h. */
#include "shown.h"

#include "report_pivot.h"

#include <math.h>
#include <string.h>

/* The query of the published experiment: the same two strategies, one thread, every row, one column. */
static bool is_published_query(const agb_shown *shown, const agb_shown_row *simple, const agb_shown_row *parted)
{
    agb_json query = agb_read_object(&shown->file, "query"), columns = agb_read_list(&query, "group_by");
    return simple && parted && simple->baseline && !isnan(parted->speedup_low) && shown->n_sources == 1 &&
           agb_read_length(&columns) == 1 && strcmp(agb_read_words_entry(&columns, 0), "UserID") == 0 &&
           *agb_read_words(&query, "where") == '\0' && agb_read_amount(&simple->at, "threads") == 1 &&
           agb_read_amount(&parted->at, "threads") == 1;
}

/* The measured figures, in the order of the published ones. */
static void measure(const agb_shown_row *row, agb_text out[AGB_PUBLISHED_FIGURES])
{
    agb_json counters = agb_read_object(&row->at, "counters");
    out[AGB_PUBLISHED_ROWS] = agb_text_amount(agb_read_amount(&row->at, "rows"), "");
    out[AGB_PUBLISHED_GROUPS] = agb_text_amount(agb_read_amount(&row->at, "groups"), "");
    out[AGB_PUBLISHED_FIRST] = agb_text_amount(row->first_s, "s");
    out[AGB_PUBLISHED_WARM] = agb_text_amount(row->median_s, "s");
    out[AGB_PUBLISHED_STALLED] = agb_text_amount(agb_read_amount(&counters, "memory_bound_pct"), "%");
    out[AGB_PUBLISHED_RETIRING] = agb_text_amount(agb_read_amount(&counters, "retiring_pct"), "%");
    out[AGB_PUBLISHED_OPERATIONS] = agb_text_amount(agb_read_amount(&counters, "ops_retired"), "");
    out[AGB_PUBLISHED_DRAM] = agb_text_amount(agb_read_amount(&counters, "dram_demand_bytes"), "bytes");
}

static void published_table(agb_page *page, const agb_shown_row *simple, const agb_shown_row *parted)
{
    agb_text here[2][AGB_PUBLISHED_FIGURES];
    measure(simple, here[0]);
    measure(parted, here[1]);
    agb_html_table_begin(page->to, NULL, "|#published: simple|#published: partitioned|#here: simple|"
                         "#here: partitioned");
    for (size_t i = 0; i < AGB_PUBLISHED_FIGURES; i++) {
        const agb_published *told = &agb_published_figures[i];
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", told->name);
        agb_html_number_cell(page->to, "%s", told->simple);
        agb_html_number_cell(page->to, "%s", told->partitioned);
        agb_html_number_cell(page->to, "%s", here[0][i].s);
        agb_html_number_cell(page->to, "%s", here[1][i].s);
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

static void say_published(agb_page *page, const agb_shown_row *parted)
{
    static const char *const outcomes[AGB_TONES] = {"no difference is seen", "partitioning wins here, too",
                                                    "here partitioning is slower"};
    agb_html_element(page->to, "p", NULL, "Published: partitioned took %s of the simple table's time. Here it takes %.2f "
                     "of it, 95 %% interval of the speed-up %s to %s: %s.",
                     agb_text_number(1 / agb_published_speedup).s, 1 / parted->speedup,
                     agb_text_number(parted->speedup_low).s, agb_text_number(parted->speedup_high).s,
                     outcomes[agb_shown_tone(parted)]);
}

void agb_show_published(agb_page *page, const agb_shown *shown)
{
    const agb_shown_row *simple = agb_shown_named(shown, agb_published_simple);
    const agb_shown_row *parted = agb_shown_named(shown, agb_published_partitioned);
    if (!is_published_query(shown, simple, parted))
        return;
    char here[80];
    snprintf(here, sizeof here, "%.2f [%.2f, %.2f]", 1 / parted->speedup, 1 / parted->speedup_high,
             1 / parted->speedup_low);
    double times[] = {1 / agb_published_speedup}, measured[] = {1 / parted->speedup};
    agb_spread_row rows[] = {
        {"published", agb_text_number(times[0]).s, NAN, times[0], NAN, NULL, NULL, 0, AGB_TONE_PLAIN},
        {"measured here", here, 1 / parted->speedup_high, measured[0], 1 / parted->speedup_low, NULL, NULL, 0,
         agb_shown_tone(parted)}};
    agb_text published = agb_text_number(times[0]);
    rows[0].note = published.s;
    agb_spread spread = {.title = "Partitioned against simple, published and here", .about = here,
                         .axis = "time of the partitioned table, the simple one's is 1", .unit = "", .rows = rows,
                         .n = 2, .reference = 1};
    agb_html_element(page->to, "h3", NULL, "The published figures beside");
    say_published(page, parted);
    agb_figure_begin(page);
    agb_draw_spread(page, &spread);
    agb_figure_caption(page, "Published: Pivot, 28 October 2026, one core of an AMD EPYC 9124, bare metal, 99,997,497 "
                       "rows. Another machine, other code: only the shape of the answer can be compared.");
    agb_figure_table_begin(page);
    published_table(page, simple, parted);
    agb_figure_table_end(page);
    agb_figure_end(page);
}
