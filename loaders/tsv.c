/* SPDX-License-Identifier: MIT */
/* Tab-separated values as ClickHouse writes them (TabSeparated), which is the form of ClickBench's hits.tsv.
 *
 * A field ends at a tab, a row at a line feed; both stand inside a field only as escapes. Escapes are \a \b \e \f \n \r
 * \t \v \0 \xNN and a backslash before \ ' " ` / =; before any other byte a backslash is data, as ClickHouse reads it.
 * A field that is \N and nothing else is NULL. There are no quotes. All other bytes, NUL and broken UTF-8 among them,
 * are data. Not taken: a line feed itself behind a backslash (MySQL's dumps have that); it ends the row.
 *
 * Only wanted fields are looked at: for the others it is enough to count tabs, 64 bytes at a time. Counting them also
 * for the rest of the row is what finds rows with a field too many or too few. */
#include "text/reader.h"
#include "text/scan.h"

#include <stdlib.h>

/* ---- Fields ---- */

/* What a byte means behind a backslash; 0: nothing (\0 and \xNN are dealt with apart). */
static const unsigned char escapes[256] = {
    ['a'] = '\a', ['b'] = '\b', ['e'] = 0x1b, ['f'] = '\f', ['n'] = '\n', ['r'] = '\r', ['t'] = '\t', ['v'] = '\v',
    ['\\'] = '\\', ['\''] = '\'', ['"'] = '"', ['`'] = '`', ['/'] = '/', ['='] = '=',
};

static int hex_value(const unsigned char *two)    /* -1 when they are no hexadecimal digits */
{
    int value = 0;
    for (int i = 0; i < 2; i++) {
        static const char digits[] = "0123456789abcdefABCDEF";
        const char *found = two[i] ? strchr(digits, two[i]) : NULL;
        if (!found)
            return -1;
        value = value * 16 + (int)(found - digits) - (found - digits > 15 ? 6 : 0);
    }
    return value;
}

/* Undoes escapes; returns the end of what was written, which is never more than was read, or NULL when the last byte
 * is a backslash that escapes nothing. */
static unsigned char *unescape(unsigned char *to, const unsigned char *at, const unsigned char *end)
{
    for (;;) {
        const unsigned char *escape = agb_text_find(at, end, '\\');
        memcpy(to, at, (size_t)(escape - at));
        to += escape - at;
        if (escape == end)
            return to;
        if (end - escape < 2)
            return NULL;
        unsigned char byte = escape[1];
        int hex = byte == 'x' && end - escape >= 4 ? hex_value(escape + 2) : -1;
        at = escape + (hex >= 0 ? 4 : 2);
        if (hex >= 0 || byte == '0')
            *to++ = hex >= 0 ? (unsigned char)hex : '\0';
        else if (escapes[byte])
            *to++ = escapes[byte];
        else {    /* no escape: the backslash is data, as in a pattern like 100\% */
            *to++ = '\\';
            *to++ = byte;
        }
    }
}

static bool put_string(agb_text_piece *piece, const agb_text_target *target, uint64_t row,
                       const unsigned char *row_begin, const unsigned char *begin, const unsigned char *end)
{
    if (agb_text_find(begin, end, '\\') == end)
        return agb_text_put_copy(piece, target, row, row_begin, begin, end);
    unsigned char *room = agb_text_room(piece, row_begin, (size_t)(end - begin));
    if (!room)
        return false;
    unsigned char *room_end = unescape(room, begin, end);
    if (!room_end)
        return agb_text_refuse(piece, row_begin, (int)(target - piece->targets),
                               "the field ends in a backslash that escapes nothing: write it as two");
    agb_text_store_bytes(target, row, room, (size_t)(room_end - room));
    return true;
}

static bool put_field(agb_text_piece *piece, const agb_text_target *target, uint64_t row,
                      const unsigned char *row_begin, const unsigned char *begin, const unsigned char *end)
{
    if (end - begin == 2 && begin[0] == '\\' && begin[1] == 'N')
        return agb_text_put_null(piece, target, row, row_begin);
    if (target->kind == AGB_TEXT_STRING)
        return put_string(piece, target, row, row_begin, begin, end);
    return agb_text_store_number(target, row, begin, end) ||
           agb_text_refuse_value(piece, row_begin, target, begin, end);
}

/* ---- Rows ---- */

/* How far a row has been read: the tabs passed, and the next wanted field with its beginning once that is known. */
typedef struct progress {
    size_t tabs;
    const agb_text_target *next, *last;
    const unsigned char *field;    /* NULL: not reached */
} progress;

/* Stores the wanted fields that end at one of this block's tabs (bits from `at`). */
static bool take_block(agb_text_piece *piece, progress *p, uint64_t row, const unsigned char *row_begin,
                       const unsigned char *at, uint64_t tabs)
{
    size_t behind = p->tabs + (unsigned)__builtin_popcountll(tabs);
    while (p->next < p->last) {
        size_t tab = p->next->field - !p->field;    /* that begins the field, or ends it */
        if (tab >= behind)
            break;
        const unsigned char *found = at + agb_text_nth_bit(tabs, tab - p->tabs);
        if (!p->field) {
            p->field = found + 1;
            continue;
        }
        if (!put_field(piece, p->next, row, row_begin, p->field, found))
            return false;
        p->field = p->next + 1 < p->last && p->next[1].field == tab + 1 ? found + 1 : NULL;
        p->next++;
    }
    p->tabs = behind;
    return true;
}

/* A field that cannot be converted in a row with too many or too few is probably not the field that was meant. */
static bool refuse_row(agb_text_piece *piece, const unsigned char *row_begin)
{
    const unsigned char *end = agb_text_find(row_begin, piece->end, '\n');
    uint64_t fields = agb_text_count(row_begin, end, '\t') + 1;
    return fields == piece->fields ? false : agb_text_refuse_fields(piece, row_begin, fields);
}

static const unsigned char *parse_row(agb_text_piece *piece, uint64_t row, const unsigned char *row_begin)
{
    progress p = {.next = piece->targets, .last = piece->targets + piece->n_targets};
    if (p.next < p.last && p.next->field == 0)
        p.field = row_begin;
    const unsigned char *end = NULL;
    for (const unsigned char *at = row_begin; !end; at += AGB_TEXT_BLOCK) {
        uint64_t valid = 0, tabs = 0, line_feeds = 0;
        if (at < piece->end) {
            agb_text_block block = agb_text_block_at(at, piece->end, &valid);
            tabs = agb_text_block_find(block, '\t') & valid;
            line_feeds = agb_text_block_find(block, '\n') & valid;
        }
        if (line_feeds) {
            end = at + __builtin_ctzll(line_feeds);
            tabs &= (line_feeds ^ (line_feeds - 1)) >> 1;    /* those before the line feed */
        } else if (!(valid >> 63))
            end = piece->end;    /* the last row has no line end */
        if (!take_block(piece, &p, row, row_begin, at, tabs))
            return refuse_row(piece, row_begin), NULL;
    }
    if (p.tabs + 1 != piece->fields)
        return agb_text_refuse_fields(piece, row_begin, p.tabs + 1), NULL;
    if (p.field && !put_field(piece, p.next, row, row_begin, p.field, agb_text_before_cr(p.field, end)))
        return NULL;
    return end < piece->end ? end + 1 : end;
}

static void parse(agb_text_piece *piece)
{
    agb_text_parse_rows(piece, parse_row);
}

static agb_status first_row(agb_text_reader *reader, const unsigned char *begin, const unsigned char *end,
                            agb_error *err)
{
    for (const unsigned char *at = begin;; at++) {
        const unsigned char *tab = agb_text_find(at, end, '\t');
        unsigned char *name = malloc((size_t)(tab - at) + 1);
        if (!name)
            return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses memory for a column name",
                            agb_text_path(reader));
        const unsigned char *name_end = unescape(name, at, tab);
        agb_status status = name_end ? agb_text_add_field(reader, name, name_end, err)
                                     : agb_fail(err, AGB_ERR_FORMAT, "%s: line 1: a column name ends in a backslash",
                                                agb_text_path(reader));
        free(name);
        if (status != AGB_OK || tab == end)
            return status;
        at = tab;
    }
}

/* ---- The loader ---- */

static const agb_text_format format = {.name = "tsv", .first_row = first_row, .parse = parse};

static int probe(const agb_input *input)
{
    agb_text_look look;
    if (!agb_text_look_at(&look, input) || look.object)
        return 0;
    if (look.tabs == AGB_TEXT_HITS_COLUMNS - 1)
        return 80;
    if (look.free_tabs || (look.name && !look.commas))
        return look.free_tabs ? 60 : 30;
    return look.hidden || input->schema ? 10 : 0;    /* with a schema, a lone number can be a row */
}

static agb_status open_tsv(const agb_input *input, void **self, agb_error *err)
{
    return agb_text_open(&format, input, self, err);
}

const agb_loader agb_loader_tsv = {
    .abi = AGB_LOADER_ABI,
    .size = sizeof(agb_loader),
    .name = "tsv",
    .summary = "tab-separated values as ClickHouse writes them: hits.tsv, or any file with a line of names; .gz, .zst",
    .traits = AGB_LOADER_UNTYPED,
    .probe = probe,
    .open = open_tsv,
    .schema = agb_text_schema,
    .load = agb_text_load,
    .close = agb_text_close,
};
