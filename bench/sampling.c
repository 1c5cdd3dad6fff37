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
    if (agb_table_source_rows(*table) != UINT64_MAX)
        *of_rows = agb_table_source_rows(*table);
    if (sample->every <= 1)
        return AGB_OK;
    agb_status status = agb_table_sample(&part, *table, sample, pages, err);
    if (status != AGB_OK)
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
    int at = 0;
    if (rows == of_rows)
        return text;
    if (of_rows != UINT64_MAX)
        at = snprintf(text.s, sizeof text.s, " of %s", agb_text_count(of_rows).s);
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
    return json_pack("{s:o, s:o, s:I}", "of_rows",
                     of_rows == UINT64_MAX ? json_null() : json_integer((json_int_t)of_rows), "head",
                     head ? json_integer((json_int_t)head) : json_null(), "every",
                     (json_int_t)(sample->every ? sample->every : 1));
}

/* Of hits, whose order is that of counters and dates, the first million rows hold one date and seven counters. */
static void note_head(agb_results *results, const agb_source_info *source, uint64_t head)
{
    bool known = source->of_rows != UINT64_MAX;
    agb_text of = {""}, stride = {"--every K takes rows"};
    if (known) {
        uint64_t every = source->of_rows / source->rows + (source->of_rows % source->rows != 0);
        snprintf(of.s, sizeof of.s, " of %.40s", agb_text_count(source->of_rows).s);
        snprintf(stride.s, sizeof stride.s, "--every %" PRIu64 " takes about as many rows", every);
    }
    agb_results_note(results, "nothing beyond the first %s%s row%s was taken%s checked, with %s group%s: a file that "
                     "is in the order of time begins with few of its values; %s from all of it",
                     agb_text_count(head).s, of.s, head == 1 ? "" : "s", known ? " or" : ", counted or",
                     agb_text_count(source->groups).s, source->groups == 1 ? "" : "s", stride.s);
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
