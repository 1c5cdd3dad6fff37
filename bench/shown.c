/* SPDX-License-Identifier: MIT */
/* The JSON of a run, read for a page: see shown.h. */
#include "shown.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Labels ------------------------------------------------------------------------------------------------------ */

static bool same_words(const char *a, const char *b)
{
    return strcmp(a, b) == 0;
}

/* Whether another row of that name has another value of the parameter. */
static bool tells_apart(const agb_shown *shown, const agb_shown_row *row, const char *param, const json_t *value)
{
    for (size_t i = 0; i < shown->n; i++) {
        const agb_shown_row *other = &shown->rows[i];
        json_t *params = json_object_get(other->at.value, "params");
        if (same_words(other->aggregator, row->aggregator) && !json_equal(json_object_get(params, param), value))
            return true;
    }
    return false;
}

static void set_label(const agb_shown *shown, agb_shown_row *row)
{
    agb_json params = agb_read_object(&row->at, "params");
    int at = snprintf(row->label, sizeof row->label, "%.80s", row->aggregator);
    const char *param;
    json_t *value;
    json_object_foreach(params.value, param, value)
        if (at < (int)sizeof row->label && json_is_integer(value) && tells_apart(shown, row, param, value))
            at += snprintf(row->label + at, sizeof row->label - (size_t)at, " %s=%" JSON_INTEGER_FORMAT, param,
                           json_integer_value(value));
}

/* ---- Rows -------------------------------------------------------------------------------------------------------- */

static void read_runs(agb_shown_row *row)
{
    agb_json runs = agb_read_list(&row->at, "runs");
    size_t n = agb_read_length(&runs);
    row->runs = calloc(n + 1, sizeof *row->runs);
    row->noisy = calloc(n + 1, sizeof *row->noisy);
    for (size_t i = 0; i < n && row->runs && row->noisy; i++) {
        agb_json run = agb_read_entry(&runs, i);
        agb_read_need(&run, "wall_s");
        row->runs[row->n_runs] = agb_read_amount(&run, "wall_s");
        row->noisy[row->n_runs++] = agb_read_truth(&run, "noisy");
    }
}

static void read_row(agb_shown_row *row, const agb_json *at)
{
    *row = (agb_shown_row){.at = *at, .speedup = NAN, .speedup_low = NAN, .speedup_high = NAN, .verdict = ""};
    agb_read_need(at, "aggregator state");
    row->aggregator = agb_read_words(at, "aggregator");
    row->state = agb_read_words(at, "state");
    row->reason = agb_read_words(at, "reason");
    row->source = agb_read_words(at, "source");
    row->ok = same_words(row->state, "ok");
    if (!row->ok)
        return;
    agb_json wall = agb_read_object(at, "wall_s");
    agb_read_need(at, "wall_s runs");
    agb_read_need(&wall, "median");
    row->first_s = agb_read_amount(at, "first_s");
    row->low_s = agb_read_amount(&wall, "ci95_low");
    row->median_s = agb_read_amount(&wall, "median");
    row->high_s = agb_read_amount(&wall, "ci95_high");
    row->ns_per_row = agb_read_amount(at, "ns_per_row");
    row->times_floor = agb_read_amount(at, "times_floor");
    row->peak_bytes = agb_read_amount(at, "peak_bytes");
    read_runs(row);
}

agb_shown_row *agb_shown_result(const agb_shown *shown, const agb_json *at)
{
    double which = agb_read_amount(at, "result");
    if (isnan(which))
        return NULL;
    if (which == floor(which) && which < (double)shown->n)
        return &shown->rows[(size_t)which];
    agb_read_fail(at, "result: %g: allowed range is 0..%zu", which, shown->n ? shown->n - 1 : 0);
    return NULL;
}

/* The baseline of a comparison is the first right row of that source. */
static void read_comparisons(agb_shown *shown)
{
    agb_json list = agb_read_list(&shown->file, "comparisons");
    for (size_t i = 0; i < agb_read_length(&list); i++) {
        agb_json at = agb_read_entry(&list, i);
        agb_shown_row *row = agb_shown_result(shown, &at);
        if (!row)
            continue;
        row->speedup = agb_read_amount(&at, "speedup");
        row->speedup_low = agb_read_amount(&at, "ci95_low");
        row->speedup_high = agb_read_amount(&at, "ci95_high");
        row->verdict = agb_read_words(&at, "verdict");
        for (agb_shown_row *other = shown->rows; other < row; other++)
            if (other->ok && same_words(other->source, row->source)) {
                other->baseline = true;
                break;
            }
    }
}

static void count_sources(agb_shown *shown)
{
    for (size_t i = 0; i < shown->n; i++) {
        bool seen = false;
        for (size_t j = 0; j < i && !seen; j++)
            seen = same_words(shown->rows[i].source, shown->rows[j].source);
        shown->n_sources += !seen;
    }
}

agb_shown agb_shown_read(const agb_json *run)
{
    agb_json results = agb_read_list(run, "results"), noises = agb_read_list(run, "noise_floor");
    agb_json noise = {.file = run->file};
    size_t n = agb_read_length(&results);
    agb_shown out = {.file = *run, .rows = calloc(n + 1, sizeof *out.rows)};
    agb_read_need(run, "results");
    for (size_t i = 0; i < n && out.rows; i++) {
        agb_json at = agb_read_entry(&results, i);
        read_row(&out.rows[out.n++], &at);
    }
    if (agb_read_length(&noises) > 0)
        noise = agb_read_entry(&noises, 0);
    out.noise_low = agb_read_amount(&noise, "ci95_low");
    out.noise_high = agb_read_amount(&noise, "ci95_high");
    if (!run->file->failed) {
        for (size_t i = 0; i < out.n; i++)
            set_label(&out, &out.rows[i]);
        read_comparisons(&out);
        count_sources(&out);
    }
    return out;
}

void agb_shown_release(agb_shown *shown)
{
    for (size_t i = 0; i < shown->n; i++) {
        free(shown->rows[i].runs);
        free(shown->rows[i].noisy);
    }
    free(shown->rows);
    *shown = (agb_shown){0};
}

/* ---- In words ---------------------------------------------------------------------------------------------------- */

const agb_shown_row *agb_shown_baseline(const agb_shown *shown)
{
    for (size_t i = 0; i < shown->n; i++)
        if (shown->rows[i].baseline)
            return &shown->rows[i];
    return NULL;
}

const agb_shown_row *agb_shown_named(const agb_shown *shown, const char *aggregator)
{
    for (size_t i = 0; i < shown->n; i++)
        if (shown->rows[i].ok && same_words(shown->rows[i].aggregator, aggregator))
            return &shown->rows[i];
    return NULL;
}

agb_tone agb_shown_tone(const agb_shown_row *row)
{
    return agb_tone_of(row->verdict);
}

agb_text agb_shown_speedup(const agb_shown_row *row)
{
    agb_text out = {""};
    if (row->baseline)
        return (agb_text){"baseline"};
    if (isnan(row->speedup))
        return out;
    if (isnan(row->speedup_low))
        snprintf(out.s, sizeof out.s, "%.20s \xc3\x97, too few runs", agb_text_number(row->speedup).s);
    else if (agb_shown_tone(row) == AGB_TONE_PLAIN)
        snprintf(out.s, sizeof out.s, "no difference seen");
    else
        snprintf(out.s, sizeof out.s, "%.20s \xc3\x97 [%.20s, %.20s]", agb_text_number(row->speedup).s,
                 agb_text_number(row->speedup_low).s, agb_text_number(row->speedup_high).s);
    return out;
}

/* Rows of the first source whose intervals touch the fastest one's: nobody can tell them from it. */
static size_t count_untold(const agb_shown *shown, const agb_shown_row *best, const char **name)
{
    size_t n = 0;
    for (size_t i = 0; i < shown->n; i++) {
        const agb_shown_row *row = &shown->rows[i];
        if (row == best || !row->ok || row->baseline || !same_words(row->source, best->source))
            continue;
        if (row->low_s <= best->high_s) {
            *name = row->label;
            n++;
        }
    }
    return n;
}

static const agb_shown_row *fastest(const agb_shown *shown, const char *source)
{
    const agb_shown_row *best = NULL;
    for (size_t i = 0; i < shown->n; i++) {
        const agb_shown_row *row = &shown->rows[i];
        if (row->ok && same_words(row->source, source) && (!best || row->median_s < best->median_s))
            best = row;
    }
    return best;
}

/* About the best one, which is not the baseline: what its comparison says, and who shares its place. */
static void say_fastest(const agb_shown *shown, const agb_shown_row *best, const agb_shown_row *baseline, char *text,
                        size_t size)
{
    const char *other = NULL;
    size_t untold = count_untold(shown, best, &other);
    int at = snprintf(text, size, "%s took %s, %s %s: it is %s times as fast, 95 %% interval %s to %s", best->label,
                      agb_text_seconds(best->median_s).s, baseline->label, agb_text_seconds(baseline->median_s).s,
                      agb_text_number(best->speedup).s, agb_text_number(best->speedup_low).s,
                      agb_text_number(best->speedup_high).s);
    if (at < 0 || (size_t)at >= size)
        return;
    if (untold == 1)
        snprintf(text + at, size - (size_t)at, "; %s cannot be told apart from it", other);
    else if (untold > 1)
        snprintf(text + at, size - (size_t)at, "; %zu others cannot be told apart from it", untold);
}

/* Over several sources each strategy is counted: at how many is it told from the baseline? Speaks of the one that is
 * faster most often. */
static void say_sources(const agb_shown *shown, char *text, size_t size)
{
    const agb_shown_row *best = NULL;
    size_t best_faster = 0, best_slower = 0, best_all = 0;
    for (size_t i = 0; i < shown->n; i++) {
        const agb_shown_row *row = &shown->rows[i];
        size_t faster = 0, slower = 0, all = 0;
        for (size_t j = 0; j < shown->n; j++) {
            const agb_shown_row *other = &shown->rows[j];
            if (!same_words(other->label, row->label) || isnan(other->speedup))
                continue;
            faster += agb_shown_tone(other) == AGB_TONE_BETTER;
            slower += agb_shown_tone(other) == AGB_TONE_WORSE;
            all++;
        }
        if (all == 0 || (best && faster <= best_faster))
            continue;
        best = row;
        best_faster = faster;
        best_slower = slower;
        best_all = all;
    }
    const agb_shown_row *baseline = agb_shown_baseline(shown);
    if (!best || !baseline)
        snprintf(text, size, "%zu sources were counted; nothing was compared", shown->n_sources);
    else
        snprintf(text, size, "Of %zu sources, %s is faster than %s on %zu and slower on %zu; on %zu no difference is "
                 "seen",
                 best_all, best->label, baseline->label, best_faster, best_slower,
                 best_all - best_faster - best_slower);
}

void agb_shown_headline(const agb_shown *shown, char *text, size_t size)
{
    const agb_shown_row *baseline = agb_shown_baseline(shown), *best = NULL;
    if (shown->n > 0)
        best = fastest(shown, baseline ? baseline->source : shown->rows[0].source);
    if (shown->n_sources > 1)
        say_sources(shown, text, size);
    else if (!best)
        snprintf(text, size, "No strategy gave a right answer, so there is no time to show");
    else if (!baseline)
        snprintf(text, size, "%s took %s; nothing was compared", best->label, agb_text_seconds(best->median_s).s);
    else if (isnan(best->low_s))
        snprintf(text, size, "Too few runs for an interval: nothing can be said about who is faster");
    else if (best == baseline)
        snprintf(text, size, "Nothing here is faster than %s, the baseline, which took %s", baseline->label,
                 agb_text_seconds(baseline->median_s).s);
    else if (agb_shown_tone(best) == AGB_TONE_BETTER)
        say_fastest(shown, best, baseline, text, size);
    else
        snprintf(text, size, "No difference is seen between %s and the fastest beside it, %s: the interval of the "
                 "speed-up, or the noise between twins, holds 1", baseline->label, best->label);
}
