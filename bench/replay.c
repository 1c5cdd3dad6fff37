/* SPDX-License-Identifier: MIT */
/* Reads recorded counts: see replay.h. Everything is checked before anything is used: a count under a wrong name would
 * become a wrong share. */
#include "replay.h"

#include "json_read.h"
#include "slots.h"
#include "text.h"

#include <inttypes.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

/* Where in the file we are, for the sentence of a failure. */
typedef struct place {
    const char *path;
    size_t row, repetition;
} place;

__attribute__((format(printf, 3, 4)))
static agb_status bad(const place *at, agb_error *err, const char *format, ...)
{
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    return agb_fail(err, AGB_ERR_FORMAT, "replay: %s: result %zu, repetition %zu: %s", at->path, at->row + 1,
                    at->repetition + 1, what);
}

/* The first key of an object that is none of these; a misspelt one would be taken for one that was left out. */
static const char *unknown_key(json_t *object, const char *const *known)
{
    const char *key;
    json_t *value;
    json_object_foreach(object, key, value) {
        size_t i = 0;
        while (known[i] && strcmp(known[i], key) != 0)
            i++;
        if (!known[i])
            return key;
    }
    return NULL;
}

static const char *nearest(const char *const *known, const char *key, agb_text *text)
{
    const char *near = agb_nearest_name(known, key);
    snprintf(text->s, sizeof text->s, "%s%s", near ? ": did you mean " : "", near ? near : "");
    return text->s;
}

static agb_status check_keys(const place *at, json_t *object, const char *const *known, agb_error *err)
{
    agb_text near;
    const char *key = unknown_key(object, known);
    return key ? bad(at, err, "%.60s: no such key%s", key, nearest(known, key, &near)) : AGB_OK;
}

/* A whole number of 0 or more under that key. */
static agb_status read_count(const place *at, json_t *object, const char *key, uint64_t *out, agb_error *err)
{
    json_t *value = json_object_get(object, key);
    if (!json_is_integer(value) || json_integer_value(value) < 0)
        return bad(at, err, "%s: wanted a whole number of 0 or more", key);
    *out = (uint64_t)json_integer_value(value);
    return AGB_OK;
}

/* known: the keys that may stand there. */
static agb_status read_counts(const place *at, json_t *object, const char *const *known, const agb_pass *pass,
                              agb_counts *out, agb_error *err)
{
    json_t *counts = json_object_get(object, "counts");
    size_t events = 0;
    agb_status status = check_keys(at, object, known, err);
    if (status == AGB_OK)
        status = read_count(at, object, "enabled_ns", &out->enabled_ns, err);
    if (status == AGB_OK)
        status = read_count(at, object, "running_ns", &out->running_ns, err);
    if (status == AGB_OK && !json_is_object(counts))
        status = bad(at, err, "counts: wanted an object with the events of pass %s", pass->name);
    for (; status == AGB_OK && pass->events[events].symbol; events++)
        status = read_count(at, counts, pass->events[events].symbol, &out->value[events], err);
    if (status == AGB_OK && json_object_size(counts) != events)
        return bad(at, err, "counts: has %zu events, pass %s has %zu: leave out what is not of it",
                   json_object_size(counts), pass->name, events);
    return status;
}

static agb_status read_list(const place *at, json_t *repetition, const char *key, const agb_pass *pass, agb_counts *out,
                            size_t most, unsigned *n, agb_error *err)
{
    static const char *const known[] = {"enabled_ns", "running_ns", "counts", NULL};
    json_t *list = json_object_get(repetition, key);
    size_t size = json_array_size(list);
    if (list && !json_is_array(list))
        return bad(at, err, "%s: wanted a list", key);
    if (size > most)
        return bad(at, err, "%s: has %zu entries: allowed range is 0..%zu", key, size, most);
    for (size_t i = 0; i < size; i++) {
        agb_status status = read_counts(at, json_array_get(list, i), known, pass, &out[i], err);
        if (status != AGB_OK)
            return status;
    }
    *n = (unsigned)size;
    return AGB_OK;
}

/* Parts, of phases or threads, cannot come to more than their whole. */
static agb_status check_parts(const place *at, const char *key, const agb_pass *pass, const agb_counts *whole,
                              const agb_counts *parts, unsigned n, agb_error *err)
{
    agb_counts rest = *whole;
    for (unsigned i = 0; i < n; i++) {
        if (parts[i].enabled_ns > rest.enabled_ns)
            return bad(at, err, "%s: enabled_ns: they come to more than the whole's %" PRIu64, key, whole->enabled_ns);
        rest.enabled_ns -= parts[i].enabled_ns;
        for (size_t event = 0; pass->events[event].symbol; event++) {
            if (parts[i].value[event] > rest.value[event])
                return bad(at, err, "%s: %s: they come to more than the whole's %" PRIu64, key,
                           pass->events[event].symbol, whole->value[event]);
            rest.value[event] -= parts[i].value[event];
        }
    }
    return AGB_OK;
}

static bool find_pass(const agb_slots *family, const char *name, unsigned *pass)
{
    for (*pass = 0; family->passes[*pass].name; (*pass)++) {
        if (strcmp(family->passes[*pass].name, name) == 0)
            return true;
    }
    return false;
}

/* Until all passes are known, the number stands for an entry of the family's table. */
static agb_status read_repetition(const place *at, json_t *in, const agb_slots *family, agb_repetition_counts *out,
                                  agb_error *err)
{
    static const char *const counted[] = {"pass", "enabled_ns", "running_ns", "counts", "phases", "threads", NULL};
    static const char *const not_counted[] = {"reason", NULL};
    const char *name = json_string_value(json_object_get(in, "pass"));
    const char *reason = json_string_value(json_object_get(in, "reason"));
    unsigned pass, phases;
    if (!name && reason) {
        out->pass = -1;
        snprintf(out->reason, sizeof out->reason, "%s", reason);
        return check_keys(at, in, not_counted, err);
    }
    if (!name || !find_pass(family, name, &pass))
        return bad(at, err, "pass %s: %s has no such pass: it has %s first", name ? name : "(missing)", family->name,
                   family->passes[0].name);
    out->pass = (int)pass;
    const agb_pass *known = &family->passes[pass];
    agb_status status = read_counts(at, in, counted, known, &out->total, err);
    if (status == AGB_OK)
        status = read_list(at, in, "phases", known, out->phase, AGB_MOST_PHASES, &phases, err);
    if (status == AGB_OK)
        status = check_parts(at, "phases", known, &out->total, out->phase, phases, err);
    if (status == AGB_OK)
        status = read_list(at, in, "threads", known, out->thread, AGB_MOST_COUNTED_THREADS, &out->threads, err);
    if (status == AGB_OK)
        status = check_parts(at, "threads", known, &out->total, out->thread, out->threads, err);
    return status;
}

static agb_status read_phase_names(const place *at, json_t *in, agb_replay_row *row, agb_error *err)
{
    json_t *names = json_object_get(in, "phases");
    if (names && (!json_is_array(names) || json_array_size(names) > AGB_MOST_PHASES))
        return bad(at, err, "phases: wanted a list of 0..%d names", AGB_MOST_PHASES);
    for (size_t i = 0; i < json_array_size(names); i++) {
        const char *name = json_string_value(json_array_get(names, i));
        if (!name || !*name || strlen(name) >= sizeof row->phase[i])
            return bad(at, err, "phases: name %zu: wanted a text of 1..%zu letters", i + 1, sizeof row->phase[i] - 1);
        strcpy(row->phase[i], name);
    }
    return AGB_OK;
}

static agb_status read_row(place *at, json_t *in, agb_replay *replay, agb_error *err)
{
    static const char *const known[] = {"aggregator", "params", "phases", "repetitions", NULL};
    const char *name = json_string_value(json_object_get(in, "aggregator"));
    json_t *given = json_object_get(in, "params"), *repetitions = json_object_get(in, "repetitions");
    const char *params = json_string_value(given);
    agb_status status = check_keys(at, in, known, err);
    if (status != AGB_OK)
        return status;
    if (!name || json_array_size(repetitions) == 0)
        return bad(at, err, "wanted \"aggregator\" and a list of \"repetitions\"");
    if (given && !params)
        return bad(at, err, "params: wanted a text such as \"bits=12\"");
    if (agb_replay_find(replay, name, params ? params : ""))
        return bad(at, err, "%s%s%s: stands a second time: join its repetitions", name, params && *params ? " " : "",
                   params ? params : "");
    agb_replay_row *row = &replay->rows[replay->n++];
    row->aggregator = strdup(name);
    row->params = strdup(params ? params : "");
    row->repetitions = calloc(json_array_size(repetitions), sizeof *row->repetitions);
    if (!row->aggregator || !row->params || !row->repetitions)
        return agb_fail(err, AGB_ERR_MEMORY, "replay: %s: no memory for its counts", at->path);
    status = read_phase_names(at, in, row, err);
    for (; status == AGB_OK && at->repetition < json_array_size(repetitions); at->repetition++, row->n++)
        status = read_repetition(at, json_array_get(repetitions, at->repetition), replay->support.family,
                                 &row->repetitions[at->repetition], err);
    return status;
}

/* The passes that occur, in the family's order, become the support's; repetitions are renumbered to them. */
static void number_passes(agb_replay *replay)
{
    agb_counter_support *support = &replay->support;
    int number[AGB_MOST_PASSES];
    bool used[AGB_MOST_PASSES] = {false};
    for (size_t row = 0; row < replay->n; row++) {
        for (size_t i = 0; i < replay->rows[row].n; i++) {
            if (replay->rows[row].repetitions[i].pass >= 0)
                used[replay->rows[row].repetitions[i].pass] = true;
        }
    }
    for (unsigned pass = 0; pass < AGB_MOST_PASSES; pass++) {
        number[pass] = (int)support->passes;
        if (used[pass])
            support->pass_of[support->passes++] = (unsigned char)pass;
    }
    for (size_t row = 0; row < replay->n; row++) {
        for (size_t i = 0; i < replay->rows[row].n; i++) {
            int *pass = &replay->rows[row].repetitions[i].pass;
            *pass = *pass >= 0 ? number[*pass] : -1;
        }
    }
    support->available = support->passes > 0;
    if (!support->available)
        snprintf(support->reason, sizeof support->reason, "no repetition of the replayed file was counted");
}

/* A text that may be left out; another value is an error. */
static agb_status read_text(const char *path, json_t *root, const char *key, const char **out, agb_error *err)
{
    json_t *value = json_object_get(root, key);
    *out = json_string_value(value);
    return !value || *out ? AGB_OK : agb_fail(err, AGB_ERR_FORMAT, "replay: %s: %s: wanted a text", path, key);
}

static agb_status read_switch_ns(const char *path, json_t *root, double *out, agb_error *err)
{
    json_t *value = json_object_get(root, "switch_ns");
    *out = json_number_value(value);
    if (value && (!json_is_number(value) || *out < 0))
        return agb_fail(err, AGB_ERR_FORMAT, "replay: %s: switch_ns: wanted a number of 0 or more", path);
    return AGB_OK;
}

static agb_status read_family(const char *path, json_t *root, agb_counter_support *support, agb_error *err)
{
    const char *names[64] = {0}, *name;
    agb_status status = read_text(path, root, "family", &name, err);
    if (status != AGB_OK)
        return status;
    for (size_t i = 0; agb_slots_families[i] && i + 1 < sizeof names / sizeof names[0]; i++) {
        names[i] = agb_slots_families[i]->name;
        if (name && strcmp(names[i], name) == 0)
            support->family = agb_slots_families[i];
    }
    if (!support->family) {
        const char *near = name ? agb_nearest_name(names, name) : NULL;
        return agb_fail(err, AGB_ERR_FORMAT, "replay: %s: family %s: no such family%s%s: `aggbench list --counters` "
                        "shows them", path, name ? name : "(missing)", near ? ": did you mean " : "", near ? near : "");
    }
    return AGB_OK;
}

/* What the file says of itself, and its family. */
static agb_status read_head(agb_replay *out, const char *path, json_t *root, agb_error *err)
{
    static const char *const known[] = {"aggbench_counts", "family", "processor", "about", "switch_ns", "results",
                                        NULL};
    agb_text near;
    const char *processor, *about, *key = unknown_key(root, known);
    if (key)
        return agb_fail(err, AGB_ERR_FORMAT, "replay: %s: %.60s: no such key%s", path, key, nearest(known, key, &near));
    agb_counter_support *support = &out->support;
    agb_status status = read_family(path, root, support, err);
    if (status == AGB_OK)
        status = read_text(path, root, "processor", &processor, err);
    if (status == AGB_OK)
        status = read_text(path, root, "about", &about, err);
    if (status == AGB_OK)
        status = read_switch_ns(path, root, &support->switch_ns, err);
    if (status != AGB_OK)
        return status;
    snprintf(support->processor, sizeof support->processor, "%s", processor ? processor : support->family->uarch);
    snprintf(out->about, sizeof out->about, "%s", about ? about : "");
    return AGB_OK;
}

static agb_status read_root(agb_replay *out, const char *path, json_t *root, agb_error *err)
{
    place at = {.path = path};
    json_t *results = json_object_get(root, "results");
    if (json_integer_value(json_object_get(root, "aggbench_counts")) != 1 || !json_is_array(results))
        return agb_fail(err, AGB_ERR_FORMAT, "replay: %s: not a file of counts: wanted \"aggbench_counts\": 1 and a "
                        "list of \"results\": --record writes such files", path);
    if (json_array_size(results) == 0)
        return agb_fail(err, AGB_ERR_FORMAT, "replay: %s: results: the list is empty: no contestant was recorded",
                        path);
    agb_status status = read_head(out, path, root, err);
    out->file = strdup(path);
    out->rows = calloc(json_array_size(results), sizeof *out->rows);
    if (!out->file || !out->rows)
        return agb_fail(err, AGB_ERR_MEMORY, "replay: %s: no memory for its counts", path);
    for (at.row = 0; status == AGB_OK && at.row < json_array_size(results); at.row++) {
        at.repetition = 0;
        status = read_row(&at, json_array_get(results, at.row), out, err);
    }
    return status;
}

agb_status agb_replay_load(agb_replay *out, const char *path, agb_error *err)
{
    json_error_t error;
    *out = (agb_replay){0};
    int reason;
    FILE *file = agb_read_file(path, &reason);
    if (!file)
        return agb_fail(err, AGB_ERR_IO, "replay: %s: cannot be read: %s", path, strerror(reason));
    json_t *root = json_loadf(file, JSON_REJECT_DUPLICATES, &error);
    fclose(file);
    if (!root && json_error_code(&error) == json_error_duplicate_key)
        return agb_fail(err, AGB_ERR_FORMAT, "replay: %s: line %d: %s: which of the two is meant is not known", path,
                        error.line, error.text);
    if (!root)
        return agb_fail(err, AGB_ERR_FORMAT, "replay: %s: line %d: not JSON: %s", path, error.line, error.text);
    agb_status status = read_root(out, path, root, err);
    json_decref(root);
    if (status == AGB_OK)
        number_passes(out);
    else
        agb_replay_release(out);
    return status;
}

void agb_replay_release(agb_replay *replay)
{
    for (size_t i = 0; i < replay->n; i++) {
        free(replay->rows[i].aggregator);
        free(replay->rows[i].params);
        free(replay->rows[i].repetitions);
    }
    free(replay->rows);
    free(replay->file);
    *replay = (agb_replay){0};
}

const agb_replay_row *agb_replay_find(const agb_replay *replay, const char *aggregator, const char *params)
{
    for (size_t i = 0; i < replay->n; i++) {
        if (strcmp(replay->rows[i].aggregator, aggregator) == 0 && strcmp(replay->rows[i].params, params) == 0)
            return &replay->rows[i];
    }
    return NULL;
}

bool agb_replay_names_phases(const agb_replay_row *row, const char *const *phases)
{
    for (size_t i = 0; i < AGB_MOST_PHASES && row->phase[i][0]; i++) {
        if (!phases[i] || strcmp(phases[i], row->phase[i]) != 0)
            return false;
    }
    return true;
}
