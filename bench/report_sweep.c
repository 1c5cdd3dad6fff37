/* SPDX-License-Identifier: MIT */
/* What a sweep found: see report_sweep.h. */
#include "report_sweep.h"

#include "json_text.h"
#include "report.h"
#include "scaling.h"
#include "summary.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NOWHERE = -1, CELL = 9, LABEL = 20, COLUMNS = (AGB_TEXT_CELLS - LABEL) / CELL };

/* ---- Where results lie on the axes ------------------------------------------------------------------------------- */

bool agb_sweep_value_of(const agb_results *results, const agb_result *result, const agb_sweep *axis, char *value,
                        size_t size)
{
    if (axis->of_threads)
        return result->threads && snprintf(value, size, "%u", result->threads) > 0;
    const char *text = axis->of_source ? results->sources[result->source].name : result->params;
    return agb_sweep_get(text, axis->of_source ? ',' : ':', axis->name, value, size);
}

/* The number of the axis' value that a result has; NOWHERE when it has none. */
static int place_of(const agb_results *results, const agb_result *result, const agb_sweep *axis)
{
    char value[32];
    if (!agb_sweep_value_of(results, result, axis, value, sizeof value))
        return NOWHERE;
    for (size_t i = 0; i < axis->n; i++)
        if (strcmp(axis->value[i], value) == 0)
            return (int)i;
    return NOWHERE;
}

static bool is_swept(const agb_results *results, const agb_result *result)
{
    for (size_t i = 0; i < results->settings.n_sweeps; i++) {
        const agb_sweep *axis = &results->settings.sweeps[i];
        if (!axis->of_source && place_of(results, result, axis) != NOWHERE)
            return true;
    }
    return false;
}

static bool any_param(const agb_settings *settings)
{
    bool any = false;
    for (size_t i = 0; i < settings->n_sweeps; i++)
        any = any || !settings->sweeps[i].of_source;
    return any;
}

/* "radix load=60": the contestant without what is swept; cut to fit. */
static void base_of(const agb_results *results, const agb_result *result, char *base, size_t size)
{
    char *params = strdup(result->params);
    for (size_t i = 0; params && i < results->settings.n_sweeps; i++) {
        char *rest = agb_sweep_without(params, ':', results->settings.sweeps[i].name);
        free(params);
        params = rest;
    }
    snprintf(base, size, "%s%s%s", result->name, params && *params ? " " : "", params ? params : "");
    free(params);
}

static bool same_base(const agb_results *results, const agb_result *a, const agb_result *b)
{
    char mine[256], theirs[256];
    base_of(results, a, mine, sizeof mine);
    base_of(results, b, theirs, sizeof theirs);
    return strcmp(mine, theirs) == 0;
}

/* The first of the results with its base: each base is reported once, there. */
static bool leads_its_base(const agb_results *results, size_t i, bool within_source)
{
    const agb_result *result = &results->results[i];
    for (size_t k = 0; k < i; k++)
        if ((!within_source || results->results[k].source == result->source) &&
            same_base(results, &results->results[k], result))
            return false;
    return true;
}

/* ---- The best ---------------------------------------------------------------------------------------------------- */

typedef struct best {
    size_t result, second;
    bool has_second, paired, claimed;
    agb_ratio lead;
} best;

/* Of the results that compete with number i: the settings of its base, or everybody on its source. false: none is
 * right. */
static bool find_best(const agb_results *results, size_t i, best *out)
{
    bool settings = any_param(&results->settings), found = false;
    const agb_result *first = &results->results[i];
    *out = (best){0};
    for (size_t k = i; k < results->n_results; k++) {
        const agb_result *result = &results->results[k];
        if (result->source != first->source || result->state != AGB_STATE_OK ||
            (settings && !same_base(results, first, result)))
            continue;
        if (!found || result->wall.median < results->results[out->result].wall.median) {
            out->has_second = found;
            out->second = out->result;
            out->result = k;
        } else if (!out->has_second || result->wall.median < results->results[out->second].wall.median) {
            out->has_second = true;
            out->second = k;
        }
        found = true;
    }
    if (out->has_second) {
        out->lead = agb_lead_of(results, out->result, out->second, &out->paired);
        out->claimed = agb_lead_is_claimed(results, out->result, &out->lead);
    }
    return found;
}

/* The next contest at or after *i: a swept base on one source, or a source. */
static bool next_contest(const agb_results *results, size_t *i, best *out)
{
    bool settings = any_param(&results->settings);
    for (; *i < results->n_results; (*i)++) {
        const agb_result *result = &results->results[*i];
        bool begins = settings ? is_swept(results, result) && leads_its_base(results, *i, true)
                               : *i == 0 || results->results[*i - 1].source != result->source;
        if (begins && find_best(results, *i, out))
            return true;
    }
    return false;
}

static void print_best(FILE *to, const agb_results *results, const best *best)
{
    const agb_result *result = &results->results[best->result];
    char label[256], second[256] = "";
    agb_result_label(result, label, sizeof label);
    const char *source = results->n_sources > 1 ? results->sources[result->source].name : "";
    if (!best->has_second) {
        agb_report_line(to, "best", "%s%s%s, the only one that is right", source, *source ? ": " : "", label);
        return;
    }
    agb_result_label(&results->results[best->second], second, sizeof second);
    agb_text lead = agb_text_ratio(best->lead.ratio, best->lead.ci95_low, best->lead.ci95_high);
    if (isnan(best->lead.ci95_low))
        agb_report_line(to, "best", "%s%s%s, before %s by %s, but too few runs say whether that is more than noise",
                        source, *source ? ": " : "", label, second, lead.s);
    else if (best->claimed)
        agb_report_line(to, "best", "%s%s%s, faster than %s by %s: outside the noise", source, *source ? ": " : "",
                        label, second, lead.s);
    else
        agb_report_line(to, "best", "%s%s%s, but its lead on %s, %s, is inside the noise: either may be the best",
                        source, *source ? ": " : "", label, second, lead.s);
}

/* ---- Maps -------------------------------------------------------------------------------------------------------- */

/* Results by row and column; values are ns a row. */
typedef struct map {
    char title[256];
    size_t rows, columns;
    char (*row_name)[64], (*column_name)[32];
    double *value;          /* rows * columns; NAN: there is none */
    double least, most;
} map;

static bool map_open(map *self, size_t rows, const agb_sweep *columns)
{
    *self = (map){.rows = rows, .columns = columns->n, .row_name = calloc(rows, sizeof *self->row_name),
                  .column_name = calloc(columns->n, sizeof *self->column_name),
                  .value = calloc(rows * columns->n, sizeof *self->value), .least = INFINITY, .most = 0};
    bool good = self->row_name && self->column_name && self->value;
    for (size_t i = 0; good && i < rows * columns->n; i++)
        self->value[i] = NAN;
    for (size_t i = 0; good && i < columns->n; i++)
        memcpy(self->column_name[i], columns->value[i], sizeof self->column_name[i]);
    return good;
}

static void map_close(map *self)
{
    free(self->row_name);
    free(self->column_name);
    free(self->value);
}

static void map_put(map *self, int row, int column, const agb_result *result)
{
    if (row == NOWHERE || column == NOWHERE || result->state != AGB_STATE_OK || isnan(result->ns_per_row))
        return;
    self->value[(size_t)row * self->columns + (size_t)column] = result->ns_per_row;
    self->least = fmin(self->least, result->ns_per_row);
    self->most = fmax(self->most, result->ns_per_row);
}

/* From fast to slow on a logarithmic scale. */
static const char *shade_of(const map *self, double value)
{
    static const char *const shades[] = {" ", "░", "▒", "▓", "█"};
    enum { SHADES = sizeof shades / sizeof shades[0] };
    double span = log(self->most / self->least);
    int level = span > 0 ? (int)(log(value / self->least) / span * SHADES) : 0;
    return shades[level < SHADES ? level : SHADES - 1];
}

static void print_band(FILE *to, const map *self, size_t first, size_t n)
{
    fprintf(to, "%-*s", LABEL, "");
    for (size_t k = first; k < first + n; k++)
        fprintf(to, " %*.*s", CELL - 1, CELL - 1, self->column_name[k]);
    fputc('\n', to);
    for (size_t i = 0; i < self->rows; i++) {
        fprintf(to, "%-*.*s", LABEL, LABEL, self->row_name[i]);
        for (size_t k = first; k < first + n; k++) {
            double value = self->value[i * self->columns + k];
            const char *shade = isnan(value) ? " " : shade_of(self, value);
            bool bare = *shade == ' ' && k + 1 == first + n;    /* no blank at a line's end */
            fprintf(to, " %*s%s", CELL - 2, isnan(value) ? "-" : agb_text_number(value).s, bare ? "" : shade);
        }
        fputc('\n', to);
    }
}

static void map_print(FILE *to, const map *self)
{
    fprintf(to, "%s\n", self->title);
    for (size_t first = 0; first < self->columns; first += COLUMNS)
        print_band(to, self, first, self->columns - first < COLUMNS ? self->columns - first : COLUMNS);
    fputc('\n', to);
}

/* One axis: a line for each contestant that is on it. */
static void print_line_map(FILE *to, const agb_results *results)
{
    const agb_sweep *axis = &results->settings.sweeps[0];
    map map;
    size_t rows = 0;
    if (map_open(&map, results->n_results, axis)) {
        for (size_t i = 0; i < results->n_results; i++) {
            const agb_result *result = &results->results[i];
            if (place_of(results, result, axis) == NOWHERE || !leads_its_base(results, i, false))
                continue;
            base_of(results, result, map.row_name[rows], sizeof map.row_name[rows]);
            for (size_t k = i; k < results->n_results; k++)
                if (same_base(results, result, &results->results[k]))
                    map_put(&map, (int)rows, place_of(results, &results->results[k], axis), &results->results[k]);
            rows++;
        }
        map.rows = rows;
        snprintf(map.title, sizeof map.title, "ns a row over %s", axis->name);
        map_print(to, &map);
    }
    map_close(&map);
}

/* Two axes: a map for each contestant that is on both. */
static void print_square_maps(FILE *to, const agb_results *results)
{
    const agb_sweep *down = &results->settings.sweeps[0], *across = &results->settings.sweeps[1];
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *first = &results->results[i];
        map map;
        if (place_of(results, first, down) == NOWHERE || place_of(results, first, across) == NOWHERE ||
            !leads_its_base(results, i, false))
            continue;
        if (map_open(&map, down->n, across)) {
            char base[128];
            base_of(results, first, base, sizeof base);
            for (size_t k = 0; k < down->n; k++)
                snprintf(map.row_name[k], sizeof map.row_name[k], "%s=%s", down->name, down->value[k]);
            for (size_t k = i; k < results->n_results; k++) {
                const agb_result *result = &results->results[k];
                if (same_base(results, first, result))
                    map_put(&map, place_of(results, result, down), place_of(results, result, across), result);
            }
            snprintf(map.title, sizeof map.title, "%s: ns a row over %s (down) and %s (across)", base, down->name,
                     across->name);
            map_print(to, &map);
        }
        map_close(&map);
    }
}

void agb_report_sweep(FILE *to, const agb_results *results)
{
    best best;
    if (results->settings.n_sweeps == 0)
        return;
    if (results->settings.n_sweeps == 1)
        print_line_map(to, results);
    else
        print_square_maps(to, results);
    agb_report_scaling(to, results);
    for (size_t i = 0; next_contest(results, &i, &best); i++)
        print_best(to, results, &best);
    fputc('\n', to);
}

/* ---- For programs ------------------------------------------------------------------------------------------------ */

static json_t *axes_json(const agb_settings *settings)
{
    json_t *axes = json_array();
    for (size_t i = 0; i < settings->n_sweeps; i++) {
        const agb_sweep *axis = &settings->sweeps[i];
        json_t *values = json_array();
        for (size_t k = 0; k < axis->n; k++)
            json_array_append_new(values, agb_json_text(axis->value[k]));
        const char *of = axis->of_source ? "source" : axis->of_threads ? "threads" : "aggregator";
        json_array_append_new(axes, json_pack("{s:o, s:s, s:o}", "name", agb_json_text(axis->name), "of", of, "values",
                                              values));
    }
    return axes;
}

static json_t *cells_json(const agb_results *results)
{
    json_t *cells = json_array();
    for (size_t i = 0; i < results->n_results; i++) {
        json_t *at = json_array();
        for (size_t k = 0; k < results->settings.n_sweeps; k++) {
            int place = place_of(results, &results->results[i], &results->settings.sweeps[k]);
            json_array_append_new(at, place == NOWHERE ? json_null() : json_integer(place));
        }
        json_array_append_new(cells, json_pack("{s:o, s:o}", "result", json_integer((json_int_t)i), "at", at));
    }
    return cells;
}

static json_t *best_json(const agb_results *results, const best *best)
{
    const agb_result *result = &results->results[best->result];
    char second[256] = "", params[256];
    agb_result_params(result, params, sizeof params);
    if (best->has_second)
        agb_result_label(&results->results[best->second], second, sizeof second);
    json_t *out =
        json_pack("{s:o, s:o, s:o, s:o, s:o, s:o}", "source", agb_json_text(results->sources[result->source].name),
                  "aggregator", agb_json_text(result->name), "params", agb_json_text(params), "result",
                  json_integer((json_int_t)best->result), "second", agb_json_text_or_null(second), "second_result",
                  best->has_second ? json_integer((json_int_t)best->second) : json_null());
    json_object_set_new(out, "lead", agb_json_number(best->has_second ? best->lead.ratio : NAN));
    json_object_set_new(out, "ci95_low", agb_json_number(best->has_second ? best->lead.ci95_low : NAN));
    json_object_set_new(out, "ci95_high", agb_json_number(best->has_second ? best->lead.ci95_high : NAN));
    json_object_set_new(out, "pairing", json_string(best->paired ? "rounds" : "none"));
    json_object_set_new(out, "claimed", json_boolean(best->claimed));
    return out;
}

json_t *agb_sweep_json(const agb_results *results)
{
    best best;
    if (results->settings.n_sweeps == 0)
        return json_null();
    json_t *all = json_array();
    for (size_t i = 0; next_contest(results, &i, &best); i++)
        json_array_append_new(all, best_json(results, &best));
    return json_pack("{s:o, s:o, s:o, s:o}", "axes", axes_json(&results->settings), "cells", cells_json(results),
                     "best", all, "scaling", agb_scaling_json(results));
}
