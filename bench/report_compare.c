/* SPDX-License-Identifier: MIT */
/* A comparison of two results on paper: see compare.h. */
#include "compare.h"

#include "csv_field.h"
#include "json_text.h"
#include "report.h"

#include <math.h>
#include <string.h>

enum { MOST_LABEL = 26 };

static const agb_past_row *known(const agb_compared *row)
{
    return row->new ? row->new : row->old;
}

static const char *reason_of(const agb_compared *row)
{
    const char *now = row->new ? row->new->reason : "";
    return *now || !row->old ? now : row->old->reason;
}

/* Parameters are shown where the name alone would not tell the rows apart. */
static void label_of(const agb_compared *row, char *label, size_t size)
{
    const agb_past_row *of = known(row);
    bool with = !of->alone && *of->params;
    char text[256];
    snprintf(text, sizeof text, "%s%s%s", of->aggregator, with ? " " : "", with ? of->params : "");
    agb_clean_text clean = agb_text_clean(text);
    if (strlen(clean.s) >= size)
        strcpy(clean.s + size - 2, "~");
    memcpy(label, clean.s, strlen(clean.s) + 1);
}

/* ---- For people -------------------------------------------------------------------------------------------------- */

static void print_row(FILE *to, const agb_compared *row, int width)
{
    char label[MOST_LABEL + 1];
    label_of(row, label, sizeof label);
    const char *mark = agb_change_is_regression(row->change) ? "REGRESSION: " : "";
    if (isnan(row->speedup.ratio)) {
        char text[1300];
        snprintf(text, sizeof text, "%s%s%s%s", mark, agb_change_name(row->change), *reason_of(row) ? ": " : "",
                 reason_of(row));
        agb_text_wrap(to, text, width + 2, fprintf(to, "%-*s  ", width, label));
        return;
    }
    fprintf(to, "%-*s %9s %9s  %-24s %s%s%s\n", width, label, agb_text_seconds(row->old_median_s).s,
            agb_text_seconds_like(row->new_median_s, row->old_median_s).s,
            agb_text_ratio(row->speedup.ratio, row->speedup.ci95_low, row->speedup.ci95_high).s, mark,
            agb_change_name(row->change), isnan(row->speedup.ci95_low) ? ": too few runs for an interval" : "");
}

static void print_rows(FILE *to, const agb_compare *compare)
{
    int width = 12;
    for (size_t i = 0; i < compare->n; i++) {
        char label[MOST_LABEL + 1];
        label_of(&compare->rows[i], label, sizeof label);
        width = (int)strlen(label) > width ? (int)strlen(label) : width;
    }
    const char *source = NULL;
    for (size_t i = 0; i < compare->n; i++) {
        const char *own = known(&compare->rows[i])->source;
        if (!source || strcmp(source, own) != 0) {
            fprintf(to, "\n%s\n%-*s %9s %9s  %s\n", agb_text_clean(own).s, width, "", "OLD", "NEW",
                    "speed-up of NEW");
            agb_report_rule(to);
        }
        source = own;
        print_row(to, &compare->rows[i], width);
    }
    fputc('\n', to);
}

static void print_terms(FILE *to, const agb_compare *compare)
{
    size_t paired = 0, timed = 0;
    for (size_t i = 0; i < compare->n; i++) {
        timed += !isnan(compare->rows[i].speedup.ratio);
        paired += compare->rows[i].paired;
    }
    if (paired > 0)
        agb_report_line(to, "pairs",
                        "%zu of %zu: the median over rounds of OLD's time by NEW's, as both files come from "
                        "one design (seed, order, rounds)",
                        paired, timed);
    if (paired < timed)
        agb_report_line(to, "unpaired",
                        "%zu of %zu: OLD's median by NEW's, each side resampled by itself, as the files "
                        "come from different designs (seed, contestants or rounds)",
                        timed - paired, timed);
    agb_report_line(to, "noise", "not claimed: what a baseline differs from its twin by in either file [%s, %s]%s",
                    agb_text_number(compare->noise.ci95_low).s, agb_text_number(compare->noise.ci95_high).s,
                    compare->least_claim > 1 ? ", and less than 5 %, as two processes' memory layouts can differ by "
                                               "that: --processes 3 or more in both files lifts it" : "");
    for (size_t i = 0; i < compare->n_differences; i++) {
        const agb_difference *difference = &compare->differences[i];
        agb_report_line(to, difference->refused ? "caution" : "differs", "%s: %s in OLD, %s in NEW%s", difference->what,
                        difference->old, difference->new,
                        difference->refused ? ": the times are of different things" : "");
    }
    if (compare->regressions)
        agb_report_line(to, "verdict", "%zu regression%s", compare->regressions, compare->regressions == 1 ? "" : "s");
    else
        agb_report_line(to, "verdict", "no regression seen");
}

void agb_report_compare_table(FILE *to, const agb_compare *compare)
{
    agb_report_line(to, "OLD", "%s", compare->old.path);
    agb_report_line(to, "NEW", "%s", compare->new.path);
    print_rows(to, compare);
    print_terms(to, compare);
}

/* ---- For programs ------------------------------------------------------------------------------------------------ */

void agb_report_compare_csv(FILE *to, const agb_compare *compare)
{
    fputs("aggregator,params,source,verdict,regression,pairing,speedup,ci95_low,ci95_high,old_median_s,new_median_s,"
          "old_runs,new_runs,reason\n", to);
    for (size_t i = 0; i < compare->n; i++) {
        const agb_compared *row = &compare->rows[i];
        const agb_past_row *of = known(row);
        fprintf(to, "\"%s\"", agb_text_clean(of->aggregator).s);
        agb_csv_text(to, of->params);
        agb_csv_text(to, of->source);
        agb_csv_text(to, agb_change_name(row->change));
        agb_csv_number(to, agb_change_is_regression(row->change));
        agb_csv_text(to, row->paired ? "rounds" : "none");
        agb_csv_number(to, row->speedup.ratio);
        agb_csv_number(to, row->speedup.ci95_low);
        agb_csv_number(to, row->speedup.ci95_high);
        agb_csv_number(to, row->old_median_s);
        agb_csv_number(to, row->new_median_s);
        agb_csv_number(to, row->old ? (double)row->old->n : NAN);
        agb_csv_number(to, row->new ? (double)row->new->n : NAN);
        agb_csv_text(to, reason_of(row));
        fputc('\n', to);
    }
}

static json_t *file_json(const agb_past *past)
{
    char *commit = agb_past_text(past, "machine", "commit"), *compiler = agb_past_text(past, "machine", "compiler");
    json_t *out =
        json_pack("{s:o, s:o, s:o, s:o}", "path", agb_json_text(past->path), "commit", agb_json_text_or_null(commit),
                  "compiler", agb_json_text_or_null(compiler), "processes", json_integer((json_int_t)past->processes));
    free(commit);
    free(compiler);
    return out;
}

static json_t *row_json(const agb_compared *row)
{
    const agb_past_row *of = known(row);
    json_t *out = json_pack("{s:o, s:o, s:o, s:s, s:b, s:s}", "aggregator", agb_json_text(of->aggregator), "params",
                            agb_json_text(of->params), "source", agb_json_text(of->source), "verdict",
                            agb_change_name(row->change), "regression", agb_change_is_regression(row->change),
                            "pairing", row->paired ? "rounds" : "none");
    json_object_set_new(out, "speedup", agb_json_number(row->speedup.ratio));
    json_object_set_new(out, "ci95_low", agb_json_number(row->speedup.ci95_low));
    json_object_set_new(out, "ci95_high", agb_json_number(row->speedup.ci95_high));
    json_object_set_new(out, "old_median_s", agb_json_number(row->old_median_s));
    json_object_set_new(out, "new_median_s", agb_json_number(row->new_median_s));
    json_object_set_new(out, "old_runs", row->old ? json_integer((json_int_t)row->old->n) : json_null());
    json_object_set_new(out, "new_runs", row->new ? json_integer((json_int_t)row->new->n) : json_null());
    json_object_set_new(out, "old_state", agb_json_text_or_null(row->old ? row->old->state : ""));
    json_object_set_new(out, "new_state", agb_json_text_or_null(row->new ? row->new->state : ""));
    json_object_set_new(out, "reason", agb_json_text_or_null(reason_of(row)));
    return out;
}

void agb_report_compare_json(FILE *to, const agb_compare *compare)
{
    json_t *differences = json_array(), *rows = json_array();
    for (size_t i = 0; i < compare->n_differences; i++) {
        const agb_difference *difference = &compare->differences[i];
        json_array_append_new(differences, json_pack("{s:s, s:o, s:o, s:b}", "what", difference->what, "old",
                                                     agb_json_text(difference->old), "new",
                                                     agb_json_text(difference->new), "refused", difference->refused));
    }
    for (size_t i = 0; i < compare->n; i++)
        json_array_append_new(rows, row_json(&compare->rows[i]));
    agb_json_write(to, json_pack("{s:i, s:s, s:o, s:o, s:b, s:o, s:{s:o, s:o}, s:o, s:o, s:o}", "aggbench", 1, "kind",
                                 "compare", "old", file_json(&compare->old), "new", file_json(&compare->new), "forced",
                                 compare->forced, "differences", differences, "noise", "ci95_low",
                                 agb_json_number(compare->noise.ci95_low), "ci95_high",
                                 agb_json_number(compare->noise.ci95_high), "least_claim",
                                 agb_json_number(compare->least_claim), "regressions",
                                 json_integer((json_int_t)compare->regressions), "comparisons", rows));
}
