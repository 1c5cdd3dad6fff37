/* SPDX-License-Identifier: MIT */
/* Reads results back: see past.h. */
#include "past.h"

#include "json_read.h"
#include "results.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static agb_status bad(const agb_past *past, size_t row, const char *what, agb_error *err)
{
    return agb_fail(err, AGB_ERR_FORMAT, "%s: result %zu: %s: give a file that `run --format json` wrote", past->path,
                    row + 1, what);
}

static const char *text_at(const json_t *object, const char *key)
{
    const char *text = json_string_value(json_object_get(object, key));
    return text ? text : "";
}

/* ---- One row ----------------------------------------------------------------------------------------------------- */

/* In the order of the names, so that two versions that print them in different orders agree. */
static char *params_in_words(const json_t *params)
{
    char *text = NULL;
    size_t length, n = json_object_size(params), at = 0;
    const char **names = calloc(n + 1, sizeof *names);
    FILE *to = names ? open_memstream(&text, &length) : NULL;
    const char *name;
    json_t *value;
    if (to) {
        json_object_foreach((json_t *)params, name, value)
            names[at++] = name;
        for (size_t i = 1; i < n; i++)
            for (size_t k = i; k > 0 && strcmp(names[k - 1], names[k]) > 0; k--) {
                const char *kept = names[k];
                names[k] = names[k - 1];
                names[k - 1] = kept;
            }
        for (size_t i = 0; i < n; i++)
            fprintf(to, "%s%s=%" JSON_INTEGER_FORMAT, i ? " " : "", names[i],
                    json_integer_value(json_object_get(params, names[i])));
        fclose(to);
    }
    free(names);
    return text;
}

/* What lies far beyond any run would let ratios and their intervals overflow. */
static const double least_s = 1e-9, most_s = 1e9;

static bool read_run(const json_t *run, agb_past_row *row, size_t i)
{
    double wall_s = json_number_value(json_object_get(run, "wall_s"));
    json_int_t round = json_integer_value(json_object_get(run, "round"));
    json_int_t process = json_integer_value(json_object_get(run, "process"));
    enum { MOST = 1 << 24 };
    if (!(wall_s >= least_s && wall_s <= most_s) || round < 0 || round > MOST || process < 0 || process > MOST)
        return false;
    row->wall_s[i] = wall_s;
    row->round[i] = (unsigned)round;
    row->process[i] = (unsigned)process;
    return true;
}

static agb_status read_runs(const agb_past *past, size_t number, const json_t *in, agb_past_row *row, agb_error *err)
{
    const json_t *runs = json_object_get(in, "runs");
    size_t n = json_array_size(runs);
    if (n == 0)
        return bad(past, number, "\"state\" is \"ok\", but there is no list of \"runs\"", err);
    row->wall_s = calloc(n, sizeof *row->wall_s);
    row->round = calloc(n, sizeof *row->round);
    row->process = calloc(n, sizeof *row->process);
    if (!row->wall_s || !row->round || !row->process)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for its runs", past->path);
    for (row->n = 0; row->n < n; row->n++)
        if (!read_run(json_array_get(runs, row->n), row, row->n))
            return bad(past, number, "a run's \"wall_s\" is no time in 1e-9..1e9, or its \"round\" no number", err);
    return AGB_OK;
}

/* A word of another version may mean anything: to take it for a failure would make it a regression. */
static bool is_state(const char *word)
{
    for (agb_state state = AGB_STATE_OK; state <= AGB_STATE_SKIPPED; state++)
        if (strcmp(word, agb_state_name(state)) == 0)
            return true;
    return false;
}

static agb_status read_row(const agb_past *past, size_t number, agb_past_row *row, agb_error *err)
{
    const json_t *in = json_array_get(json_object_get(past->root, "results"), number);
    *row = (agb_past_row){.aggregator = text_at(in, "aggregator"), .source = text_at(in, "source"),
                          .state = text_at(in, "state"), .reason = text_at(in, "reason"),
                          .checksum = text_at(in, "checksum"), .params = params_in_words(json_object_get(in, "params")),
                          .threads = (uint64_t)json_integer_value(json_object_get(in, "threads"))};
    if (!row->params)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for its results", past->path);
    if (!*row->aggregator || !*row->state)
        return bad(past, number, "\"aggregator\" or \"state\" is missing", err);
    if (!is_state(row->state))
        return agb_fail(err, AGB_ERR_FORMAT, "%s: result %zu: state: %.40s: not a state that this version knows, such "
                        "as ok or crashed: give a file that its `run --format json` wrote", past->path, number + 1,
                        row->state);
    return strcmp(row->state, "ok") == 0 ? read_runs(past, number, in, row, err) : AGB_OK;
}

/* Rows of one source stand together: a new number begins where the name changes. */
static void number_rows(agb_past *past)
{
    for (size_t i = 0; i < past->n; i++) {
        agb_past_row *row = &past->rows[i];
        row->alone = true;
        row->source_number = i == 0 ? 0 : past->rows[i - 1].source_number +
                                          (strcmp(row->source, past->rows[i - 1].source) != 0);
        for (size_t k = 0; k < i; k++) {
            agb_past_row *other = &past->rows[k];
            if (other->source_number != row->source_number || strcmp(other->aggregator, row->aggregator) != 0)
                continue;
            row->alone = other->alone = false;
            row->copy += strcmp(other->params, row->params) == 0;
        }
    }
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

static void read_noise(agb_past *past)
{
    const json_t *noises = json_object_get(past->root, "noise_floor");
    past->noise_low = past->noise_high = 1;
    for (size_t i = 0; i < json_array_size(noises); i++) {
        const json_t *noise = json_array_get(noises, i);
        double low = json_number_value(json_object_get(noise, "ci95_low"));
        double high = json_number_value(json_object_get(noise, "ci95_high"));
        past->noise_low = low > 0 && low < past->noise_low ? low : past->noise_low;
        past->noise_high = isfinite(high) && high > past->noise_high ? high : past->noise_high;
    }
}

static agb_status read_root(agb_past *out, agb_error *err)
{
    const json_t *results = json_object_get(out->root, "results");
    size_t n = json_array_size(results);
    if (json_integer_value(json_object_get(out->root, "aggbench")) != 1 || n == 0)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: no results: wanted \"aggbench\": 1 and a list of \"results\": give a "
                        "file that `run --format json` wrote", out->path);
    out->rows = calloc(n, sizeof *out->rows);
    if (!out->rows)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for its results", out->path);
    agb_status status = AGB_OK;
    while (status == AGB_OK && out->n < n) {
        status = read_row(out, out->n, &out->rows[out->n], err);
        out->n++;
    }
    const json_t *settings = json_object_get(out->root, "settings");
    json_int_t processes = json_integer_value(json_object_get(settings, "processes"));
    out->seed = (uint64_t)json_integer_value(json_object_get(settings, "seed"));
    out->processes = processes > 1 ? (unsigned)processes : 1;
    number_rows(out);
    read_noise(out);
    return status;
}

agb_status agb_past_read(agb_past *out, const char *path, agb_error *err)
{
    json_error_t error;
    int reason;
    *out = (agb_past){.path = path};
    FILE *file = agb_read_file(path, &reason);
    if (!file)
        return agb_fail(err, AGB_ERR_IO, "%s: cannot be read: %s: give a file that `run --format json` wrote", path,
                        strerror(reason));
    out->root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (!out->root)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: line %d: not JSON: %s: give a file that `run --format json` wrote",
                        path, error.line, error.text);
    return read_root(out, err);
}

void agb_past_release(agb_past *past)
{
    for (size_t i = 0; i < past->n; i++) {
        free(past->rows[i].params);
        free(past->rows[i].wall_s);
        free(past->rows[i].round);
        free(past->rows[i].process);
    }
    free(past->rows);
    json_decref(past->root);
    *past = (agb_past){0};
}

char *agb_past_text(const agb_past *past, const char *object, const char *key)
{
    const json_t *value = json_object_get(json_object_get(past->root, object), key);
    const char *text = json_string_value(value);
    return text ? strdup(text) : value ? json_dumps(value, JSON_ENCODE_ANY | JSON_COMPACT | JSON_SORT_KEYS)
                                       : strdup("null");
}
