/* SPDX-License-Identifier: MIT */
/* The layout of keys made from columns, and the way back: from a key to the value of each column. The makers of keys
 * are in batch.c. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>

/* ---- Making a layout ---- */

static agb_status column_missing(const agb_table *table, const char *wanted, agb_error *err)
{
    const char **names = agb_table_names(table);
    const char *near = names ? agb_nearest_name(names, wanted) : NULL;
    agb_fail(err, AGB_ERR_NOT_FOUND, "group by: the table has no column '%s'%s%s%s", wanted,
             near ? ": did you mean '" : "", near ? near : "", near ? "'" : "");
    free(names);
    return AGB_ERR_NOT_FOUND;
}

/* What is computed has 64 bits: sums of narrower numbers are then exact. */
static agb_status describe_column(agb_key_column *column, const agb_table *table, size_t columns, agb_error *err)
{
    const agb_key_term *term = &column->term;
    agb_column source = {.type = AGB_TYPE_INT64};
    if (term->column && !agb_table_find_column(table, term->column, &source))
        return column_missing(table, term->column, err);
    bool computed = term->add || !term->column;
    if (computed && source.type == AGB_TYPE_BYTES)
        return agb_fail(err, AGB_ERR_ARGUMENT, "group by: %s: column '%s' holds strings: only integers can be added to",
                        term->name, term->column);
    column->type = !computed ? source.type : source.type == AGB_TYPE_UINT64 ? AGB_TYPE_UINT64 : AGB_TYPE_INT64;
    column->optional = columns > 1 && source.nulls;
    return AGB_OK;
}

/* Widest first, so that no value lies across two words. Returns the bits. */
static unsigned place_in_words(agb_key_layout *layout)
{
    unsigned bits = 0;
    for (unsigned width = 8; width > 0; width /= 2) {
        for (size_t i = 0; i < layout->columns; i++) {
            agb_key_column *column = &layout->column[i];
            if (column->type == AGB_TYPE_BYTES || agb_type_bytes(column->type) != width)
                continue;
            column->at = bits;
            bits += 8 * width;
        }
    }
    for (size_t i = 0; i < layout->columns; i++)
        if (layout->column[i].optional)
            layout->column[i].null_at = bits++;
    return bits;
}

static void place_in_string(agb_key_layout *layout)
{
    unsigned flags = 0, bytes = 0;
    for (size_t i = 0; i < layout->columns; i++) {
        agb_key_column *column = &layout->column[i];
        column->at = bytes;
        if (column->optional)
            column->null_at = flags++;
        if (column->type != AGB_TYPE_BYTES)
            bytes += (unsigned)agb_type_bytes(column->type);
    }
    layout->flag_bytes = (flags + 7) / 8;
    layout->fixed_bytes = bytes;
}

static void place(agb_key_layout *layout)
{
    bool strings = false;
    for (size_t i = 0; i < layout->columns; i++)
        strings = strings || layout->column[i].type == AGB_TYPE_BYTES;
    unsigned bits = place_in_words(layout);
    layout->kind = strings || bits > 128 ? AGB_KEYS_BYTES : bits > 64 ? AGB_KEYS_PAIR : AGB_KEYS_WORD;
    if (layout->kind == AGB_KEYS_BYTES)
        place_in_string(layout);
}

static agb_status fill(agb_key_layout *layout, const agb_table *table, agb_key_terms *terms, agb_error *err)
{
    layout->column = calloc(terms->n, sizeof *layout->column);
    if (!layout->column)
        return agb_fail(err, AGB_ERR_MEMORY, "group by: no memory for %zu columns", terms->n);
    layout->columns = terms->n;
    for (size_t i = 0; i < terms->n; i++) {
        layout->column[i].term = terms->term[i];    /* the layout's from now on */
        terms->term[i] = (agb_key_term){0};
    }
    for (size_t i = 0; i < layout->columns; i++) {
        agb_status status = describe_column(&layout->column[i], table, layout->columns, err);
        if (status != AGB_OK)
            return status;
    }
    place(layout);
    return AGB_OK;
}

agb_status agb_key_layout_create(agb_key_layout **out, const agb_table *table, const char *columns, agb_error *err)
{
    agb_key_terms terms = {0};
    const char **names = agb_table_names(table);
    *out = calloc(1, sizeof **out);
    agb_status status = names && *out ? agb_key_terms_parse(&terms, columns, names, err)
                                      : agb_fail(err, AGB_ERR_MEMORY, "group by: no memory for its columns");
    if (status == AGB_OK)
        status = fill(*out, table, &terms, err);
    if (status != AGB_OK) {
        agb_key_layout_destroy(*out);
        *out = NULL;
    }
    agb_key_terms_release(&terms);
    free(names);
    return status;
}

void agb_key_layout_destroy(agb_key_layout *layout)
{
    if (!layout)
        return;
    for (size_t i = 0; i < layout->columns; i++) {
        free(layout->column[i].term.name);
        free(layout->column[i].term.column);
    }
    free(layout->column);
    free(layout);
}

/* ---- From a key to its values ---- */

static uint64_t extend(agb_type type, uint64_t bits)
{
    switch (type) {
    case AGB_TYPE_INT32:
        return (uint64_t)(int64_t)(int32_t)(uint32_t)bits;
    case AGB_TYPE_UINT32:
        return (uint32_t)bits;
    case AGB_TYPE_BOOL:
        return bits & 0xff;
    default:
        return bits;
    }
}

static agb_value value_of_words(const agb_key_column *column, const uint64_t *words)
{
    agb_value value = {.type = column->type};
    value.null = column->optional && (words[column->null_at / 64] >> column->null_at % 64 & 1);
    value.word = extend(column->type, words[column->at / 64] >> column->at % 64);
    return value;
}

static uint64_t read_little_endian(const unsigned char *bytes, size_t n)
{
    uint64_t word = 0;
    for (size_t i = n; i-- > 0;)
        word = word << 8 | bytes[i];
    return word;
}

/* The string of column `wanted` stands behind those of the columns before it. */
static agb_bytes find_string(const agb_key_layout *layout, agb_bytes key, size_t wanted)
{
    const unsigned char *at = key.data + layout->flag_bytes + layout->fixed_bytes, *end = key.data + key.length;
    size_t last = agb_key_last_string(layout);
    for (size_t i = 0;; i++) {
        if (layout->column[i].type != AGB_TYPE_BYTES)
            continue;
        size_t length = i == last ? (size_t)(end - at) : read_little_endian(at, sizeof(uint64_t));
        at += i == last ? 0 : sizeof(uint64_t);
        if (i == wanted)
            return (agb_bytes){at, length};
        at += length;
    }
}

size_t agb_key_last_string(const agb_key_layout *layout)
{
    size_t last = layout->columns;
    while (last > 0 && layout->column[last - 1].type != AGB_TYPE_BYTES)
        last--;
    return last - 1;    /* SIZE_MAX when there is none */
}

agb_value agb_key_value(const agb_key_layout *layout, const agb_key *key, size_t i)
{
    const agb_key_column *column = &layout->column[i];
    if (layout->kind != AGB_KEYS_BYTES)
        return value_of_words(column, key->pair);
    agb_value value = {.type = column->type, .bytes = key->bytes};
    if (layout->columns == 1)
        return value;
    const unsigned char *flags = key->bytes.data;
    value.null = column->optional && (flags[column->null_at / 8] >> column->null_at % 8 & 1);
    if (column->type == AGB_TYPE_BYTES)
        value.bytes = find_string(layout, key->bytes, i);
    else
        value.word = extend(column->type, read_little_endian(flags + layout->flag_bytes + column->at,
                                                             agb_type_bytes(column->type)));
    return value;
}

/* ---- Orders ---- */

int agb_bytes_compare(agb_bytes a, agb_bytes b)
{
    size_t both = a.length < b.length ? a.length : b.length;
    int order = both ? memcmp(a.data, b.data, both) : 0;
    return order ? order : (a.length > b.length) - (a.length < b.length);
}

static int compare_words(uint64_t a, uint64_t b)
{
    return (a > b) - (a < b);
}

int agb_key_compare_raw(agb_key_kind kind, const agb_key *a, const agb_key *b)
{
    if (kind == AGB_KEYS_BYTES)
        return agb_bytes_compare(a->bytes, b->bytes);
    int order = kind == AGB_KEYS_PAIR ? compare_words(a->pair[1], b->pair[1]) : 0;
    return order ? order : compare_words(a->pair[0], b->pair[0]);
}

static int compare_values(const agb_value *a, const agb_value *b)
{
    if (a->null || b->null)
        return b->null - a->null;
    if (a->type == AGB_TYPE_BYTES)
        return agb_bytes_compare(a->bytes, b->bytes);
    uint64_t sign = agb_type_is_signed(a->type) ? UINT64_C(1) << 63 : 0;
    return compare_words(a->word ^ sign, b->word ^ sign);
}

int agb_key_compare(const agb_key_layout *layout, const agb_key *a, const agb_key *b)
{
    int order = 0;
    if (!layout)
        return agb_key_compare_raw(AGB_KEYS_WORD, a, b);
    for (size_t i = 0; i < layout->columns && order == 0; i++) {
        agb_value left = agb_key_value(layout, a, i), right = agb_key_value(layout, b, i);
        order = compare_values(&left, &right);
    }
    return order;
}
