/* SPDX-License-Identifier: MIT */
/* Comma-separated values by RFC 4180, which is also the form of ClickBench's hits.csv.
 *
 * A field that begins with a double quote goes on to the closing one; commas, line feeds and carriage returns between
 * them are data, and a quote is written twice. Behind the closing quote only a comma or the line end may follow, and a
 * field that does not begin with a quote may hold none: anything else is refused, because every guess at what was
 * meant makes wrong groups. Nothing is trimmed; a comma at a row's end begins one more, empty field. A field \N without
 * quotes is NULL (so ClickHouse writes it); an empty one is the empty string. There are no backslash escapes. */
#include "text/reader.h"
#include "text/scan.h"

#include <stdlib.h>

/* A field as it stands in the text, without its quotes. */
typedef struct csv_field {
    const unsigned char *begin, *end;
    bool quoted, doubled;    /* doubled: some quotes inside are written twice */
} csv_field;

/* ---- Fields ---- */

static const unsigned char *find_end_of_bare(const unsigned char *at, const unsigned char *end)
{
    for (; at < end; at += AGB_TEXT_BLOCK) {
        uint64_t valid;
        agb_text_block block = agb_text_block_at(at, end, &valid);
        uint64_t found = agb_text_block_find(block, ',') | agb_text_block_find(block, '\n') |
                         agb_text_block_find(block, '"');
        if (found & valid)
            return at + __builtin_ctzll(found & valid);
    }
    return end;
}

/* Reads a field that begins with a quote. Returns the comma or line feed behind it, or the end; NULL: refused. */
static const unsigned char *read_quoted(agb_text_piece *piece, const unsigned char *row_begin, const unsigned char *at,
                                        size_t number, csv_field *field)
{
    const unsigned char *end = piece->end;
    *field = (csv_field){.begin = at + 1, .quoted = true};
    for (at = agb_text_find(at + 1, end, '"'); at + 1 < end && at[1] == '"'; at = agb_text_find(at + 2, end, '"'))
        field->doubled = true;
    if (at == end)
        return agb_text_refuse(piece, row_begin, AGB_TEXT_NO_TARGET, "field %zu: its double quote is not closed: "
                               "the file is cut short, or a quote is missing", number), NULL;
    field->end = at++;
    if (at < end && *at == '\r' && (at + 1 == end || at[1] == '\n'))
        at++;
    if (at == end || *at == ',' || *at == '\n')
        return at;
    char quoted[AGB_TEXT_QUOTE_BYTES];
    return agb_text_refuse(piece, row_begin, AGB_TEXT_NO_TARGET, "field %zu: %s follows the closing double quote: only "
                           "a comma or the line end may", number,
                           agb_text_quote(quoted, at, find_end_of_bare(at + (*at == '"'), end))), NULL;
}

static const unsigned char *read_bare(agb_text_piece *piece, const unsigned char *row_begin, const unsigned char *at,
                                      size_t number, csv_field *field)
{
    const unsigned char *found = find_end_of_bare(at, piece->end);
    if (found < piece->end && *found == '"') {
        char quoted[AGB_TEXT_QUOTE_BYTES];
        return agb_text_refuse(piece, row_begin, AGB_TEXT_NO_TARGET, "field %zu: a double quote inside of it, after "
                               "%s: put the whole field into quotes and write the quote twice", number,
                               agb_text_quote(quoted, at, found)), NULL;
    }
    *field = (csv_field){.begin = at, .end = found};
    if (found == piece->end || *found == '\n')
        field->end = agb_text_before_cr(at, found);
    return found;
}

static const unsigned char *read_field(agb_text_piece *piece, const unsigned char *row_begin, const unsigned char *at,
                                       size_t number, csv_field *field)
{
    return at < piece->end && *at == '"' ? read_quoted(piece, row_begin, at, number, field)
                                         : read_bare(piece, row_begin, at, number, field);
}

/* Writes the field with its doubled quotes made single; returns the end of what was written. */
static unsigned char *write_single(unsigned char *to, const csv_field *field)
{
    const unsigned char *at = field->begin;
    for (;;) {
        const unsigned char *quote = field->doubled ? agb_text_find(at, field->end, '"') : field->end;
        memcpy(to, at, (size_t)(quote - at));
        to += quote - at;
        if (quote == field->end)
            return to;
        *to++ = '"';
        at = quote + 2;
    }
}

static bool put_field(agb_text_piece *piece, const agb_text_target *target, uint64_t row,
                      const unsigned char *row_begin, const csv_field *field)
{
    if (!field->quoted && field->end - field->begin == 2 && field->begin[0] == '\\' && field->begin[1] == 'N')
        return agb_text_put_null(piece, target, row, row_begin);
    if (target->kind != AGB_TEXT_STRING)
        return agb_text_store_number(target, row, field->begin, field->end) ||
               agb_text_refuse_value(piece, row_begin, target, field->begin, field->end);
    if (!field->doubled)
        return agb_text_put_copy(piece, target, row, row_begin, field->begin, field->end);
    unsigned char *room = agb_text_room(piece, row_begin, (size_t)(field->end - field->begin));
    if (!room)
        return false;
    agb_text_store_bytes(target, row, room, (size_t)(write_single(room, field) - room));
    return true;
}

/* ---- Rows ---- */

/* Reads on behind a value that
 * cannot be converted: in a row with too many or too few fields that is probably not the value that was meant. */
static const unsigned char *parse_row(agb_text_piece *piece, uint64_t row, const unsigned char *row_begin)
{
    const agb_text_target *next = piece->targets, *last = next + piece->n_targets;
    const unsigned char *at = row_begin;
    bool good = true;
    size_t number = 0;
    for (;; at++) {
        csv_field field;
        at = read_field(piece, row_begin, at, ++number, &field);
        if (!at)
            return NULL;
        if (next < last && next->field == number - 1) {
            good = good && put_field(piece, next, row, row_begin, &field);
            next++;
        }
        if (at == piece->end || *at == '\n')
            break;
    }
    if (number != piece->fields)
        good = agb_text_refuse_fields(piece, row_begin, number);
    return !good ? NULL : at < piece->end ? at + 1 : at;
}

static void parse(agb_text_piece *piece)
{
    agb_text_parse_rows(piece, parse_row);
}

static agb_status first_row(agb_text_reader *reader, const unsigned char *begin, const unsigned char *end,
                            agb_error *err)
{
    agb_text_piece piece = {.begin = begin, .end = end};
    size_t number = 0;
    for (const unsigned char *at = begin;; at++) {
        csv_field field;
        at = read_field(&piece, begin, at, ++number, &field);
        if (!at)
            return agb_fail(err, AGB_ERR_FORMAT, "%s: line 1: %s", agb_text_path(reader), piece.fault.reason);
        unsigned char *name = malloc((size_t)(field.end - field.begin) + 1);
        if (!name)
            return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses memory for a column name",
                            agb_text_path(reader));
        agb_status status = agb_text_add_field(reader, name, write_single(name, &field), err);
        free(name);
        if (status != AGB_OK || at == end)
            return status;
    }
}

/* ---- The loader ---- */

static const agb_text_format format = {.name = "csv", .quoted = true, .first_row = first_row, .parse = parse};

static int probe(const agb_input *input)
{
    agb_text_look look;
    if (!agb_text_look_at(&look, input) || look.object)
        return 0;
    if (look.commas == AGB_TEXT_HITS_COLUMNS - 1)
        return 75;
    if (look.commas)
        return 50;
    bool one_column = !look.tabs && (look.name || input->schema);
    return look.quote || (one_column && look.called_csv) ? 40 : look.name && !look.tabs ? 20 : 0;
}

static agb_status open_csv(const agb_input *input, void **self, agb_error *err)
{
    return agb_text_open(&format, input, self, err);
}

const agb_loader agb_loader_csv = {
    .abi = AGB_LOADER_ABI,
    .size = sizeof(agb_loader),
    .name = "csv",
    .summary = "comma-separated values by RFC 4180: hits.csv, or any file with a line of names; .gz, .zst",
    .traits = AGB_LOADER_UNTYPED,
    .probe = probe,
    .open = open_csv,
    .schema = agb_text_schema,
    .load = agb_text_load,
    .close = agb_text_close,
};
