/* SPDX-License-Identifier: MIT */
/* Part of a source: see sampling.h. */
#include "sampling.h"

#include <inttypes.h>

agb_row_sample agb_sampling_of(const agb_options *options)
{
    return (agb_row_sample){.head = options->head, .every = options->every};
}

agb_status agb_sampling_take(agb_table **table, const agb_row_sample *sample, agb_pages pages, uint64_t *of_rows,
                             agb_error *err)
{
    agb_table *part;
    *of_rows = agb_table_rows(*table);
    bool all = (sample->head == 0 || sample->head >= *of_rows) && sample->every <= 1;
    agb_status status = all ? AGB_OK : agb_table_sample(&part, *table, sample, pages, err);
    if (status != AGB_OK || all)
        return status;
    agb_table_destroy(*table);
    *table = part;
    return AGB_OK;
}

/* A head as long as the source is none. */
static uint64_t head_of(const agb_row_sample *sample, uint64_t of_rows)
{
    return sample->head < of_rows ? sample->head : 0;
}

agb_text agb_sampling_words(const agb_row_sample *sample, uint64_t rows, uint64_t of_rows)
{
    agb_text text = {""};
    uint64_t head = head_of(sample, of_rows);
    if (rows == of_rows)
        return text;
    int at = snprintf(text.s, sizeof text.s, " of %s", agb_text_count(of_rows).s);
    if (sample->every > 1)
        at += snprintf(text.s + at, sizeof text.s - (size_t)at, ", one in %" PRIu64, sample->every);
    if (head && sample->every > 1)
        snprintf(text.s + at, sizeof text.s - (size_t)at, " of the first %" PRIu64, head);
    else if (head)
        snprintf(text.s + at, sizeof text.s - (size_t)at, ", the first ones");
    return text;
}

json_t *agb_sampling_json(const agb_row_sample *sample, uint64_t rows, uint64_t of_rows)
{
    uint64_t head = head_of(sample, of_rows);
    if (rows == of_rows)
        return json_null();
    return json_pack("{s:I, s:o, s:I}", "of_rows", (json_int_t)of_rows, "head",
                     head ? json_integer((json_int_t)head) : json_null(), "every",
                     (json_int_t)(sample->every ? sample->every : 1));
}

/* Of hits, whose order is that of counters and dates, the first million rows hold one date and seven counters. */
static void note_head(agb_results *results, const agb_source_info *source, uint64_t head)
{
    uint64_t every = source->of_rows / source->rows + (source->of_rows % source->rows != 0);
    agb_results_note(results, "nothing beyond the first %s of %s rows was taken, with %s group%s: a file that is in "
                     "the order of time begins with few of its values; --every %" PRIu64 " takes about as many rows "
                     "from all of it", agb_text_count(head).s, agb_text_count(source->of_rows).s,
                     agb_text_count(source->groups).s, source->groups == 1 ? "" : "s", every);
}

void agb_sampling_note(agb_results *results, const agb_source_info *source)
{
    const agb_row_sample *sample = &results->settings.sample;
    uint64_t head = head_of(sample, source->of_rows);
    if (sample->head && !head)
        agb_results_note(results, "--head %" PRIu64 ": the source has %s row%s: none was left out by it", sample->head,
                         agb_text_count(source->of_rows).s, source->of_rows == 1 ? "" : "s");
    if (head)
        note_head(results, source, head);
    if (source->rows < source->of_rows && sample->every > 1)
        agb_results_note(results, "one row in %" PRIu64 " was taken, also of each run of equal neighbours: a strategy "
                         "that gains from runs may gain less here than on all rows", sample->every);
}
