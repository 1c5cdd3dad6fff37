/* SPDX-License-Identifier: MIT */
/* JSON lines: one object a line, as ClickHouse writes them (JSONEachRow), which is the form of ClickBench's hits.json.
 *
 * The first line names the columns; in later lines keys may come in any order, and keys that it did not have are
 * passed over. A wanted key must be in every line, once; null is NULL. A number may stand bare or in quotes, and is
 * taken digit by digit from the text, never through a double. A string column takes a bare number or true or false as
 * its text. Objects and arrays cannot be loaded, only passed over. A blank line, a cut one, or anything else that is
 * not one object is refused.
 *
 * The parser is yajl, because it hands numbers over as their text and strings as their bytes, broken UTF-8 included,
 * and builds no tree. Where it would put a '?' for half a surrogate pair, the line is refused beforehand. */
#include "text/reader.h"
#include "text/scan.h"

#include <stdlib.h>
#include <yajl/yajl_parse.h>

/* One line on its way through the parser. */
typedef struct jsonl_line {
    agb_text_piece *piece;
    const unsigned char *begin;
    uint64_t row;
    unsigned depth;
    size_t key;                       /* number of the next key of the object */
    size_t found;                     /* wanted keys so far */
    bool closed;                      /* the object has ended */
    const agb_text_target *target;    /* what the next value is for; NULL: nobody */
    uint64_t *seen;                   /* one per target: the last row that had it, plus 1 */
    agb_text_reader *reader;          /* first line only: takes the names */
    agb_status status;                /* first line only */
    agb_error *err;
} jsonl_line;

/* ---- Keys ---- */

static const agb_text_target *target_of_field(const agb_text_piece *piece, size_t field)
{
    size_t low = 0, high = piece->n_targets;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (piece->targets[middle].field < field)
            low = middle + 1;
        else
            high = middle;
    }
    return low < piece->n_targets && piece->targets[low].field == field ? &piece->targets[low] : NULL;
}

static bool is_name(const char *name, const unsigned char *key, size_t length)
{
    return strlen(name) == length && memcmp(name, key, length) == 0;
}

/* Writers keep the order of the keys, so the first guess is that key number n is the n-th of the first line. */
static const agb_text_target *find_target(const jsonl_line *line, const unsigned char *key, size_t length)
{
    const agb_text_piece *piece = line->piece;
    if (line->key < piece->fields && is_name(piece->names[line->key], key, length))
        return target_of_field(piece, line->key);
    for (size_t i = 0; i < piece->n_targets; i++)
        if (is_name(piece->targets[i].name, key, length))
            return &piece->targets[i];
    return NULL;
}

static int on_key(void *context, const unsigned char *key, size_t length)
{
    jsonl_line *line = context;
    if (line->depth != 1)
        return 1;
    if (line->reader) {
        line->status = agb_text_add_field(line->reader, key, key + length, line->err);
        return line->status == AGB_OK;
    }
    line->target = find_target(line, key, length);
    line->key++;
    if (!line->target)
        return 1;
    size_t i = (size_t)(line->target - line->piece->targets);
    if (line->seen[i] == line->row + 1)
        return agb_text_refuse(line->piece, line->begin, (int)i, "the key is there twice: it must be there once");
    line->seen[i] = line->row + 1;
    line->found++;
    return 1;
}

/* ---- Values ---- */

/* The target of the value that has come, which is then done with; NULL when nobody wants it. */
static const agb_text_target *take_target(jsonl_line *line)
{
    const agb_text_target *target = line->depth == 1 ? line->target : NULL;
    line->target = NULL;
    return target;
}

/* A value that stands where an object should: false. Nothing but objects may stand at the top. */
static bool refuse_top(jsonl_line *line)
{
    return line->depth > 0 ||
           agb_text_refuse(line->piece, line->begin, AGB_TEXT_NO_TARGET, "a line must hold one object {...}, no "
                           "more and nothing else");
}

static int on_text(void *context, const unsigned char *text, size_t length)
{
    jsonl_line *line = context;
    const agb_text_target *target = take_target(line);
    if (!target)
        return refuse_top(line);
    if (target->kind == AGB_TEXT_STRING)
        return agb_text_put_copy(line->piece, target, line->row, line->begin, text, text + length);
    return agb_text_store_number(target, line->row, text, text + length) ||
           agb_text_refuse_value(line->piece, line->begin, target, text, text + length);
}

static int on_number(void *context, const char *text, size_t length)
{
    return on_text(context, (const unsigned char *)text, length);
}

static int on_boolean(void *context, int value)
{
    return value ? on_number(context, "true", 4) : on_number(context, "false", 5);
}

static int on_null(void *context)
{
    jsonl_line *line = context;
    const agb_text_target *target = take_target(line);
    return target ? agb_text_put_null(line->piece, target, line->row, line->begin) : refuse_top(line);
}

static bool refuse_nested(jsonl_line *line, const char *what)
{
    const agb_text_target *target = take_target(line);
    return !target || agb_text_refuse(line->piece, line->begin, (int)(target - line->piece->targets),
                                      "the value is %s: only strings, numbers, true, false and null can be loaded",
                                      what);
}

static int on_object(void *context)
{
    jsonl_line *line = context;
    if (line->depth == 0 && line->closed)
        return refuse_top(line);
    return refuse_nested(line, "an object") && ++line->depth;
}

static int on_object_end(void *context)
{
    jsonl_line *line = context;
    line->closed = --line->depth == 0;
    return 1;
}

static int on_array(void *context)
{
    jsonl_line *line = context;
    if (line->depth == 0 && !line->closed)
        return agb_text_refuse(line->piece, line->begin, AGB_TEXT_NO_TARGET, "an array begins, but every line must "
                               "hold one object {...}: take the array apart first: jq -c '.[]'");
    return refuse_top(line) && refuse_nested(line, "an array") && ++line->depth;
}

static int on_array_end(void *context)
{
    ((jsonl_line *)context)->depth--;
    return 1;
}

static const yajl_callbacks callbacks = {
    .yajl_null = on_null,
    .yajl_boolean = on_boolean,
    .yajl_number = on_number,
    .yajl_string = on_text,
    .yajl_map_key = on_key,
    .yajl_start_map = on_object,
    .yajl_end_map = on_object_end,
    .yajl_start_array = on_array,
    .yajl_end_array = on_array_end,
};

/* ---- Lines ---- */

/* The high three hexadecimal digits of \uXXXX tell a surrogate: D8..DB is the first half of a pair, DC..DF the second.
 * 0: neither. */
static int surrogate_half(const unsigned char *at, const unsigned char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u' || (at[2] | 0x20) != 'd')
        return 0;
    return strchr("89abAB", at[3]) && at[3] ? 1 : strchr("cdefCDEF", at[3]) && at[3] ? 2 : 0;
}

static const unsigned char *find_lone_surrogate(const unsigned char *at, const unsigned char *end)
{
    for (at = agb_text_find(at, end, '\\'); at < end; at = agb_text_find(at, end, '\\')) {
        int half = surrogate_half(at, end);
        if (half == 2 || (half == 1 && surrogate_half(at + 6, end) != 2))
            return at;
        at += half ? 12 : end - at < 2 ? 1 : 2;
    }
    return NULL;
}

static bool refuse_json(jsonl_line *line, yajl_handle parser, size_t before)
{
    unsigned char *text = yajl_get_error(parser, 0, NULL, 0);
    int length = text ? (int)strcspn((const char *)text, ".\n") : 0;
    agb_text_refuse(line->piece, line->begin, AGB_TEXT_NO_TARGET, "byte %zu: %.*s",
                    before + yajl_get_bytes_consumed(parser), length, text ? (const char *)text : "");
    yajl_free_error(parser, text);
    return false;
}

/* Parses [line->begin, end), a line without its line feed. False: see the fault of the piece. */
static bool parse_line(jsonl_line *line, yajl_handle parser, const unsigned char *end)
{
    agb_text_piece *piece = line->piece;
    line->key = line->found = line->depth = 0;
    line->closed = false;
    const unsigned char *lone = find_lone_surrogate(line->begin, end);
    if (lone)
        return agb_text_refuse(piece, line->begin, AGB_TEXT_NO_TARGET, "byte %zu: %.6s is half of a surrogate pair: it "
                               "stands for no character", (size_t)(lone - line->begin) + 1, (const char *)lone);
    size_t length = (size_t)(end - line->begin), before = 0;
    yajl_status status = yajl_parse(parser, line->begin, length);
    if (status == yajl_status_ok) {
        before = length;
        status = yajl_parse(parser, (const unsigned char *)"\n", 1);    /* ends a number at the top */
    }
    if (status == yajl_status_client_canceled)
        return false;
    if (status != yajl_status_ok)
        return refuse_json(line, parser, before);
    if (line->closed && line->depth == 0)
        return true;
    return agb_text_refuse(piece, line->begin, AGB_TEXT_NO_TARGET, "%s: every line must hold one whole object {...}",
                           line->depth ? "the line is cut short" : "the line is blank");
}

static bool parse_row(jsonl_line *line, yajl_handle parser, const unsigned char *end)
{
    if (!parse_line(line, parser, end))
        return false;
    for (size_t i = 0; i < line->piece->n_targets && line->found < line->piece->n_targets; i++)
        if (line->seen[i] != line->row + 1)
            return agb_text_refuse(line->piece, line->begin, (int)i, "the key is missing: write null where there is no "
                                   "value");
    return true;
}

static yajl_handle create_parser(jsonl_line *line)
{
    yajl_handle parser = yajl_alloc(&callbacks, NULL, line);
    if (parser) {
        yajl_config(parser, yajl_allow_multiple_values, 1);    /* line after line through one parser */
        yajl_config(parser, yajl_dont_validate_strings, 1);    /* of UTF-8; escapes and control bytes are checked */
    }
    return parser;
}

static void parse(agb_text_piece *piece)
{
    jsonl_line line = {.piece = piece, .row = piece->first_row, .begin = piece->begin};
    line.seen = calloc(piece->n_targets + 1, sizeof *line.seen);
    yajl_handle parser = line.seen ? create_parser(&line) : NULL;
    if (!parser) {
        agb_text_refuse(piece, piece->begin, AGB_TEXT_NO_TARGET, "the system refuses memory for a JSON parser");
        piece->fault.status = AGB_ERR_MEMORY;
    }
    while (parser && line.row < piece->first_row + piece->rows) {
        const unsigned char *end = agb_text_find(line.begin, piece->end, '\n');
        if (!parse_row(&line, parser, end))
            break;
        line.begin = end < piece->end ? end + 1 : end;
        line.row++;
    }
    if (parser)
        yajl_free(parser);
    free(line.seen);
}

static agb_status first_row(agb_text_reader *reader, const unsigned char *begin, const unsigned char *end,
                            agb_error *err)
{
    agb_text_piece piece = {.begin = begin, .end = end};
    jsonl_line line = {.piece = &piece, .begin = begin, .reader = reader, .err = err};
    yajl_handle parser = create_parser(&line);
    if (!parser)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses memory for a JSON parser", agb_text_path(reader));
    bool good = parse_line(&line, parser, end);
    yajl_free(parser);
    if (good || line.status != AGB_OK)
        return line.status;
    return agb_fail(err, AGB_ERR_FORMAT, "%s: line 1: %s", agb_text_path(reader), piece.fault.reason);
}

/* ---- The loader ---- */

static const agb_text_format format = {.name = "jsonl", .names_in_rows = true, .first_row = first_row, .parse = parse};

static int probe(const agb_input *input)
{
    agb_text_look look;
    return agb_text_look_at(&look, input) && look.object ? 90 : 0;
}

static agb_status open_jsonl(const agb_input *input, void **self, agb_error *err)
{
    return agb_text_open(&format, input, self, err);
}

const agb_loader agb_loader_jsonl = {
    .abi = AGB_LOADER_ABI,
    .size = sizeof(agb_loader),
    .name = "jsonl",
    .summary = "JSON lines, one object a line, as ClickHouse's JSONEachRow: hits.json; .gz, .zst",
    .traits = AGB_LOADER_UNTYPED,
    .probe = probe,
    .open = open_jsonl,
    .schema = agb_text_schema,
    .load = agb_text_load,
    .close = agb_text_close,
};
