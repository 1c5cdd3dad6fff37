/* SPDX-License-Identifier: MIT */
/* Values of a JSON file of unknown origin: see json_read.h. */
#include "json_read.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

enum { MOST_BYTES = 1 << 28 };

static const double largest = 1e18;

/* ---- The file ---------------------------------------------------------------------------------------------------- */

typedef struct limited {
    FILE *from;
    size_t bytes;
} limited;

static size_t read_some(void *buffer, size_t length, void *context)
{
    limited *file = context;
    if (file->bytes > MOST_BYTES)
        return 0;
    size_t n = fread(buffer, 1, length, file->from);
    file->bytes += n;
    return n;
}

static agb_status parse(agb_json_file *out, FILE *from, agb_error *err)
{
    json_error_t wrong;
    limited file = {from, 0};
    out->root = json_load_callback(read_some, &file, JSON_REJECT_DUPLICATES, &wrong);
    if (ferror(from))
        return agb_fail(err, AGB_ERR_IO, "%s: cannot be read: %s", out->name, strerror(errno));
    if (file.bytes > MOST_BYTES)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: is longer than %d MiB: give the JSON file of a run or a lab",
                        out->name, MOST_BYTES >> 20);
    if (file.bytes == 0)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: is empty: give what a command wrote with --format json", out->name);
    if (!out->root)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: line %d, column %d: is no whole JSON: %s: write it again with "
                        "--format json", out->name, wrong.line, wrong.column, wrong.text);
    if (!json_is_object(out->root))
        return agb_fail(err, AGB_ERR_FORMAT, "%s: holds no JSON object: give what a command wrote with --format json",
                        out->name);
    return AGB_OK;
}

FILE *agb_read_file(const char *name, int *reason)
{
    struct stat about;
    FILE *file = fopen(name, "re");
    *reason = !file ? errno : fstat(fileno(file), &about) == 0 && S_ISDIR(about.st_mode) ? EISDIR : 0;
    if (file && *reason) {
        fclose(file);
        file = NULL;
    }
    return file;
}

agb_status agb_read_open(agb_json_file *out, const char *name, agb_error *err)
{
    *out = (agb_json_file){.name = name, .err = err};
    int reason;
    FILE *from = agb_read_file(name, &reason);
    agb_status status = reason ? agb_fail(err, AGB_ERR_IO, "%s: cannot be read: %s", name, strerror(reason))
                               : parse(out, from, err);
    if (from)
        fclose(from);
    return status;
}

void agb_read_close(agb_json_file *file)
{
    json_decref(file->root);
    file->root = NULL;
}

agb_json agb_read_root(agb_json_file *file)
{
    return (agb_json){.file = file, .value = file->root};
}

/* ---- Failures ---------------------------------------------------------------------------------------------------- */

void agb_read_fail(const agb_json *at, const char *format, ...)
{
    if (at->file->failed)
        return;
    char what[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(what, sizeof what, format, arguments);
    va_end(arguments);
    at->file->failed = true;
    agb_fail(at->file->err, AGB_ERR_FORMAT, "%s: %s%s%s", at->file->name, at->place, *at->place ? ": " : "", what);
}

static const char *type_of(const json_t *value)
{
    static const char *const names[] = {"an object", "a list", "text", "a number", "a number", "true", "false", "null"};
    return names[json_typeof(value)];
}

/* The member, or NULL when it is absent, null, or reading has failed before. */
static json_t *member(const agb_json *object, const char *key)
{
    json_t *value = object->value && !object->file->failed ? json_object_get(object->value, key) : NULL;
    return json_is_null(value) ? NULL : value;
}

static agb_json place_of(const agb_json *parent, const char *key, size_t i)
{
    agb_json out = {.file = parent->file};
    if (key)
        snprintf(out.place, sizeof out.place, "%.100s%s%.50s", parent->place, *parent->place ? "." : "", key);
    else
        snprintf(out.place, sizeof out.place, "%.130s[%zu]", parent->place, i);
    return out;
}

/* The value at its place; it may be NULL, but not of another type. */
static agb_json typed(agb_json at, json_t *value, json_type type, const char *wanted)
{
    if (value && json_typeof(value) != type)
        agb_read_fail(&at, "is %s: wanted %s", type_of(value), wanted);
    else
        at.value = value;
    return at;
}

static void fail_type(const agb_json *parent, const char *key, const json_t *value, const char *wanted)
{
    agb_json at = place_of(parent, key, 0);
    agb_read_fail(&at, "is %s: wanted %s", type_of(value), wanted);
}

/* ---- Members ----------------------------------------------------------------------------------------------------- */

agb_json agb_read_object(const agb_json *object, const char *key)
{
    return typed(place_of(object, key, 0), member(object, key), JSON_OBJECT, "an object");
}

agb_json agb_read_list(const agb_json *object, const char *key)
{
    return typed(place_of(object, key, 0), member(object, key), JSON_ARRAY, "a list");
}

/* key, or NULL: the entry i of a list. */
static double read_number(const agb_json *parent, const char *key, size_t i, const json_t *value, double least)
{
    if (!value)
        return NAN;
    double number = json_number_value(value);
    if (json_is_number(value) && number >= least && number <= largest)
        return number;
    agb_json at = place_of(parent, key, i);
    if (json_is_number(value))
        agb_read_fail(&at, "%g: allowed range is %g..%g", number, least, largest);
    else
        agb_read_fail(&at, "is %s: wanted a number", type_of(value));
    return NAN;
}

double agb_read_number(const agb_json *object, const char *key)
{
    return read_number(object, key, 0, member(object, key), -largest);
}

double agb_read_amount(const agb_json *object, const char *key)
{
    return read_number(object, key, 0, member(object, key), 0);
}

const char *agb_read_words(const agb_json *object, const char *key)
{
    json_t *value = member(object, key);
    if (value && !json_is_string(value))
        fail_type(object, key, value, "text");
    return json_is_string(value) ? json_string_value(value) : "";
}

bool agb_read_truth(const agb_json *object, const char *key)
{
    json_t *value = member(object, key);
    if (value && !json_is_boolean(value))
        fail_type(object, key, value, "true or false");
    return json_is_true(value);
}

void agb_read_need(const agb_json *object, const char *keys)
{
    char key[64];
    for (const char *at = keys; *at;) {
        size_t length = strcspn(at, " ");
        snprintf(key, sizeof key, "%.*s", (int)length, at);
        if (object->value && !member(object, key))
            agb_read_fail(object, "%s is missing: is the file whole, and written by this program", key);
        at += length + (at[length] == ' ');
    }
}

/* ---- Entries of lists -------------------------------------------------------------------------------------------- */

size_t agb_read_length(const agb_json *list)
{
    return list->file->failed ? 0 : json_array_size(list->value);
}

static json_t *value_at(const agb_json *list, size_t i)
{
    return list->file->failed ? NULL : json_array_get(list->value, i);
}

static agb_json entry(const agb_json *list, size_t i, json_type type, const char *wanted)
{
    return typed(place_of(list, NULL, i), value_at(list, i), type, wanted);
}

agb_json agb_read_entry(const agb_json *list, size_t i)
{
    return entry(list, i, JSON_OBJECT, "an object");
}

agb_json agb_read_list_entry(const agb_json *list, size_t i)
{
    return entry(list, i, JSON_ARRAY, "a list");
}

const char *agb_read_words_entry(const agb_json *list, size_t i)
{
    agb_json at = entry(list, i, JSON_STRING, "text");
    return at.value ? json_string_value(at.value) : "";
}

double agb_read_amount_entry(const agb_json *list, size_t i)
{
    return read_number(list, NULL, i, value_at(list, i), 0);
}
