/* SPDX-License-Identifier: MIT */
/* Opening a text: the window over its first row, and the columns that this row tells of. */
#include "parts.h"

#include "scan.h"
#include "schema.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_FIELDS = 4096 };

/* ---- Names ---- */

agb_status agb_text_add_field(agb_text_reader *reader, const unsigned char *begin, const unsigned char *end,
                              agb_error *err)
{
    const char *path = reader->input->path;
    if (reader->fields == MOST_FIELDS)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: line 1: more than %d fields: load a file with fewer columns",
                        path, MOST_FIELDS);
    char **more = realloc(reader->name, (reader->fields + 1) * sizeof *more);
    if (more)
        reader->name = more;
    agb_text_kind *kinds = realloc(reader->kind, (reader->fields + 1) * sizeof *kinds);
    if (kinds)
        reader->kind = kinds;
    /* cut at a NUL: see below */
    char *copy = more && kinds ? strndup((const char *)begin, (size_t)(end - begin)) : NULL;
    if (!copy)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses memory for column names", path);
    agb_text_kind_of(copy, &reader->kind[reader->fields]);
    reader->name[reader->fields++] = copy;
    return AGB_OK;
}

static void drop_names(agb_text_reader *reader)
{
    for (size_t i = 0; i < reader->fields; i++)
        free(reader->name[i]);
    free(reader->name);
    free(reader->kind);
    reader->name = NULL;
    reader->kind = NULL;
    reader->fields = 0;
}

static agb_status take_names_of_hits(agb_text_reader *reader, agb_error *err)
{
    agb_status status = AGB_OK;
    drop_names(reader);
    for (size_t i = 0; i < AGB_TEXT_HITS_COLUMNS && status == AGB_OK; i++) {
        const unsigned char *name = (const unsigned char *)agb_text_hits[i].name;
        status = agb_text_add_field(reader, name, name + strlen(agb_text_hits[i].name), err);
    }
    reader->positional = true;
    return status;
}

static bool is_integer(const char *text)
{
    text += *text == '-';
    return *text && text[strspn(text, "0123456789")] == '\0';
}

static const char *fault_of_name(const char *name)    /* NULL: none */
{
    if (*name == '\0')
        return "is empty";
    if (is_integer(name))
        return "is a number";
    for (const char *byte = name; *byte; byte++)
        if ((unsigned char)*byte < 0x20)
            return "has a control byte in it";
    return NULL;
}

static const char *quote_name(const agb_text_reader *reader, size_t i, char quoted[AGB_TEXT_QUOTE_BYTES])
{
    const unsigned char *name = (const unsigned char *)reader->name[i];
    return agb_text_quote(quoted, name, name + strlen(reader->name[i]));
}

/* Whether a first row of names can be one. The keys of JSON lines may be any text. */
static agb_status check_header(const agb_text_reader *reader, agb_error *err)
{
    char quoted[AGB_TEXT_QUOTE_BYTES];
    if (reader->format->names_in_rows)
        return AGB_OK;
    for (size_t i = 0; i < reader->fields; i++) {
        const char *fault = fault_of_name(reader->name[i]);
        if (fault)
            return agb_fail(err, AGB_ERR_FORMAT, "%s: line 1: its %zu field%s are neither the %d of hits nor column "
                            "names: field %zu, %s, %s: put a line of names first, or name the input format if it is "
                            "not %s", reader->input->path, reader->fields, reader->fields == 1 ? "" : "s",
                            AGB_TEXT_HITS_COLUMNS, i + 1, quote_name(reader, i, quoted), fault, reader->format->name);
    }
    return AGB_OK;
}

/* The first field whose name one before it has, too; as many as there are fields when all differ. */
static size_t find_twin(const agb_text_reader *reader)
{
    for (size_t i = 0; i < reader->fields; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(reader->name[j], reader->name[i]) == 0)
                return i;
    return reader->fields;
}

static agb_status check_names_differ(const agb_text_reader *reader, agb_error *err)
{
    char quoted[AGB_TEXT_QUOTE_BYTES];
    size_t twin = find_twin(reader);
    if (twin == reader->fields)
        return AGB_OK;
    return agb_fail(err, AGB_ERR_FORMAT, "%s: line 1: field %zu, %s, is there twice: every column needs a name of its "
                    "own", reader->input->path, twin + 1, quote_name(reader, twin, quoted));
}

/* ---- A schema of the caller's ---- */

static agb_status take_schema(agb_text_reader *reader, agb_error *err)
{
    const char *text = reader->input->schema;
    agb_text_schema_line line;
    size_t number = 0;
    agb_error wrong;
    while (agb_text_schema_next(&text, &number, &line, &wrong)) {
        const unsigned char *name = (const unsigned char *)line.name;
        agb_status status = agb_text_add_field(reader, name, name + line.length, err);
        if (status != AGB_OK)
            return status;
        reader->kind[reader->fields - 1] = line.kind;
    }
    if (wrong.status != AGB_OK)
        return agb_fail(err, wrong.status, "%s", wrong.text);
    if (reader->fields == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "schema: it names no column: write a line NAME TYPE for each");
    size_t twin = find_twin(reader);
    if (twin < reader->fields)
        return agb_fail(err, AGB_ERR_ARGUMENT, "schema: column '%.60s' is there twice: give it one line",
                        reader->name[twin]);
    return AGB_OK;
}

/* The fields of the first row have been taken as if they were names: are they the schema's, or data? */
static agb_status put_schema_over_row(agb_text_reader *reader, agb_error *err)
{
    agb_text_reader row = *reader;
    reader->name = NULL;
    reader->kind = NULL;
    reader->fields = 0;
    agb_status status = take_schema(reader, err);
    if (status == AGB_OK && reader->fields != row.fields)
        status = agb_fail(err, AGB_ERR_FORMAT, "%s: line 1: %zu field%s where the schema has %zu column%s: every field "
                          "needs a line of the schema", reader->input->path, row.fields, row.fields == 1 ? "" : "s",
                          reader->fields, reader->fields == 1 ? "" : "s");
    for (size_t i = 0; i < row.fields && status == AGB_OK; i++)
        reader->positional |= strcmp(row.name[i], reader->name[i]) != 0;
    drop_names(&row);
    return status;
}

/* ---- The first row ---- */

const unsigned char *agb_text_row_end(const agb_text_format *format, const unsigned char *begin,
                                      const unsigned char *end)
{
    bool inside = false;
    for (const unsigned char *at = begin; at < end; at++) {
        at = format->quoted ? agb_text_find_either(at, end, '\n', '"') : agb_text_find(at, end, '\n');
        if (at == end)
            return NULL;
        if (*at == '"')
            inside = !inside;
        else if (!inside)
            return at + 1;
    }
    return NULL;
}

agb_status agb_text_refuse_long_row(const agb_text_reader *reader, uint64_t lines_before, agb_error *err)
{
    return agb_fail(err, AGB_ERR_FORMAT, "%s: line %" PRIu64 ": the row is longer than %d MiB: look for %s",
                    reader->input->path, lines_before + 1, AGB_TEXT_MOST_ROW_BYTES >> 20,
                    reader->format->quoted ? "a quote that is not closed" : "lost line ends");
}

/* Takes in more text after a window that held no whole row. */
static agb_status see_more(agb_text_reader *reader, agb_error *err)
{
    size_t held = (size_t)(reader->window.end - reader->at), step = AGB_TEXT_FIRST_BYTES;
    if (held >= AGB_TEXT_MOST_ROW_BYTES)
        return agb_text_refuse_long_row(reader, reader->lines, err);
    if (step < held)
        step = held;
    if (step > AGB_TEXT_MOST_ROW_BYTES - held)
        step = AGB_TEXT_MOST_ROW_BYTES - held;
    agb_status status = agb_text_window_move(&reader->window, reader->at, step, err);
    reader->at = reader->window.begin;
    return status;
}

agb_status agb_text_start(agb_text_reader *reader, agb_error *err)
{
    agb_text_window_close(&reader->window);
    agb_status status = agb_text_window_open(&reader->window, reader->input, err);
    reader->at = reader->window.begin;
    reader->lines = 0;
    while (status == AGB_OK && !reader->window.last &&
           !agb_text_row_end(reader->format, reader->at, reader->window.end))
        status = see_more(reader, err);
    if (status == AGB_OK && reader->window.end - reader->at >= 3 && memcmp(reader->at, "\xef\xbb\xbf", 3) == 0)
        reader->at += 3;
    return status;
}

void agb_text_pass_header(agb_text_reader *reader)
{
    if (reader->positional || reader->format->names_in_rows)
        return;
    const unsigned char *end = agb_text_row_end(reader->format, reader->at, reader->window.end);
    if (!end)
        end = reader->window.end;
    reader->lines += agb_text_count(reader->at, end, '\n');
    reader->at = end;
}

/* A text of several lines whose only line ends are carriage returns would be one row. */
static bool has_bare_returns(const unsigned char *begin, const unsigned char *end)
{
    return agb_text_find(begin, end, '\n') == end && agb_text_find(begin, end, '\r') + 1 < end;
}

static agb_status take_first_row(agb_text_reader *reader, agb_error *err)
{
    const unsigned char *begin = reader->at, *end = agb_text_row_end(reader->format, begin, reader->window.end);
    if (begin == reader->window.end)
        return agb_fail(err, AGB_ERR_FORMAT, "%s: the text is empty: a line of column names is needed at least",
                        reader->input->path);
    if (!end && has_bare_returns(begin, reader->window.end))
        return agb_fail(err, AGB_ERR_FORMAT, "%s: its lines end in a carriage return alone: make them line feeds "
                        "first: tr '\\r' '\\n'", reader->input->path);
    if (reader->input->schema && reader->format->names_in_rows)
        return take_schema(reader, err);
    end = agb_text_before_cr(begin, end ? end - 1 : reader->window.end);
    agb_status status = reader->format->first_row(reader, begin, end, err);
    if (status == AGB_OK && reader->input->schema)
        return put_schema_over_row(reader, err);
    if (status == AGB_OK && !reader->format->names_in_rows && reader->fields == AGB_TEXT_HITS_COLUMNS &&
        is_integer(reader->name[0]))
        return take_names_of_hits(reader, err);
    if (status == AGB_OK)
        status = check_header(reader, err);
    return status == AGB_OK ? check_names_differ(reader, err) : status;
}

/* ---- The loader's functions ---- */

agb_status agb_text_open(const agb_text_format *format, const agb_input *input, void **self, agb_error *err)
{
    agb_text_reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses memory for a reader", input->path);
    *self = reader;
    reader->format = format;
    reader->input = input;
    reader->step_bytes = AGB_TEXT_STEP_BYTES;
    agb_status status = agb_text_start(reader, err);
    if (status == AGB_OK)
        status = take_first_row(reader, err);
    if (status == AGB_OK)
        agb_text_pass_header(reader);
    return status;
}

agb_status agb_text_schema(void *self, agb_schema *schema, agb_error *err)
{
    const agb_text_reader *reader = self;
    agb_status status = AGB_OK;
    for (size_t i = 0; i < reader->fields && status == AGB_OK; i++) {
        agb_text_kind kind = reader->kind[i], of_hits;
        bool unknown = !reader->input->schema && !agb_text_kind_of(reader->name[i], &of_hits);
        status = agb_schema_add(schema, reader->name[i], agb_text_kind_type(kind), true,
                                unknown ? "bytes, as nothing says more: a schema can" : agb_text_kind_detail(kind),
                                err);
    }
    char detail[80];
    snprintf(detail, sizeof detail, "%s, %s", agb_text_source_packing(reader->window.source),
             reader->input->schema            ? "columns as the schema says"
             : reader->positional             ? "the columns of hits by position"
             : reader->format->names_in_rows  ? "columns as named by the first row"
                                              : "columns as named by a header");
    schema->rows = UINT64_MAX;
    return status == AGB_OK ? agb_schema_set_detail(schema, detail, err) : status;
}

void agb_text_close(void *self)
{
    agb_text_reader *reader = self;
    agb_text_window_close(&reader->window);
    drop_names(reader);
    free(reader);
}

const char *agb_text_path(const agb_text_reader *reader)
{
    return reader->input->path;
}

void agb_text_set_step(void *self, size_t bytes)
{
    ((agb_text_reader *)self)->step_bytes = bytes;
}
