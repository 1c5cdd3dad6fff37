/* SPDX-License-Identifier: MIT */
/* The published experiment beside the measured one, where the file has it: the key "published", see published.h. See
 * shown.h. */
#include "shown.h"

#include "published.h"

#include <math.h>

static void write_figure(agb_page *page, const agb_json *object, const char *key, agb_figure_unit unit)
{
    double value = agb_read_amount(object, key);
    const char *units[] = {[AGB_FIGURE_COUNT] = "", [AGB_FIGURE_S] = "s", [AGB_FIGURE_PCT] = "%"};
    if (unit == AGB_FIGURE_BYTES && !isnan(value))
        agb_html_number_cell(page->to, "%s", agb_text_bytes((uint64_t)value).s);
    else
        agb_html_number_cell(page->to, "%s", isnan(value) ? "-" : agb_text_amount(value, units[unit]).s);
}

static void published_table(agb_page *page, const agb_json *published)
{
    agb_json strategies = agb_read_list(published, "strategies");
    agb_html_table_begin(page->to, NULL, "|#published: simple|#published: partitioned|#here: simple|"
                         "#here: partitioned");
    for (const agb_published_figure *figure = agb_published_figures; figure->key; figure++) {
        agb_html_row_begin(page->to);
        agb_html_row_name(page->to, "%s", figure->label);
        for (size_t cell = 0; cell < 2 * AGB_PUBLISHED_STRATEGIES; cell++) {
            agb_json strategy = agb_read_entry(&strategies, cell % AGB_PUBLISHED_STRATEGIES);
            agb_json figures = agb_read_object(&strategy, "figures"), both = agb_read_object(&figures, figure->key);
            write_figure(page, &both, cell < AGB_PUBLISHED_STRATEGIES ? "published" : "measured", figure->unit);
        }
        agb_html_row_end(page->to);
    }
    agb_html_table_end(page->to);
}

/* A ratio of times: how much of the simple table's time the partitioned one takes. Speed-ups turn around, so low is of
 * the high one. */
typedef struct share {
    double published, here, low, high;
} share;

static void say_published(agb_page *page, const share *share, const agb_shown_row *parted)
{
    static const char *const outcomes[AGB_TONES] = {"no difference is seen here", "partitioning wins here, too",
                                                    "here partitioning is slower"};
    if (isnan(share->low))
        agb_html_element(page->to, "p", NULL, "Published: partitioned took %.2f of the simple table's time. Here it "
                         "took %.2f of it, in too few runs for anything to follow.", share->published, share->here);
    else
        agb_html_element(page->to, "p", NULL, "Published: partitioned took %.2f of the simple table's time. Here it "
                         "takes %.2f of it, 95 %% interval %.2f to %.2f: "
                         "%s.", share->published, share->here, share->low,
                         share->high, outcomes[parted ? agb_shown_tone(parted) : AGB_TONE_PLAIN]);
}

static void draw_published(agb_page *page, const share *share, const agb_shown_row *parted)
{
    char here[80], published[40];
    snprintf(published, sizeof published, "%.2f", share->published);
    if (isnan(share->low))
        snprintf(here, sizeof here, "%.2f, too few runs", share->here);
    else
        snprintf(here, sizeof here, "%.2f [%.2f, %.2f]", share->here, share->low, share->high);
    agb_spread_row rows[] = {
        {"published", published, NAN, share->published, NAN, NULL, NULL, 0, AGB_TONE_PLAIN},
        {"measured here", here, share->low, share->here, share->high, NULL, NULL, 0,
         parted ? agb_shown_tone(parted) : AGB_TONE_PLAIN}};
    agb_spread spread = {.title = "Partitioned against simple, published and here", .about = here,
                         .axis = "time of the partitioned table, the simple one's is 1", .unit = "", .rows = rows,
                         .n = 2, .reference = 1};
    agb_draw_spread(page, &spread);
}

void agb_show_published(agb_page *page, const agb_shown *shown)
{
    agb_json published = agb_read_object(&shown->file, "published"), speedup = agb_read_object(&published, "speedup");
    share share = {1 / agb_read_amount(&speedup, "published"), 1 / agb_read_amount(&speedup, "measured"),
                   1 / agb_read_amount(&speedup, "ci95_high"), 1 / agb_read_amount(&speedup, "ci95_low")};
    if (!published.value)
        return;
    const agb_shown_row *parted = agb_shown_named(shown, agb_published_aggregator[AGB_PUBLISHED_PARTITIONED]);
    agb_html_element(page->to, "h3", NULL, "The published figures beside");
    if (isfinite(share.published) && isfinite(share.here))
        say_published(page, &share, parted);
    agb_figure_begin(page);
    if (isfinite(share.published) && isfinite(share.here))
        draw_published(page, &share, parted);
    agb_figure_caption(page, "Published: %s, one core of an %s, bare metal. Another machine, other code: only the "
                       "shape of the answer can be compared.", agb_read_words(&published, "by"),
                       agb_read_words(&published, "cpu"));
    agb_figure_table_begin(page);
    published_table(page, &published);
    agb_figure_table_end(page);
    agb_figure_end(page);
}
