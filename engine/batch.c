/* SPDX-License-Identifier: MIT */
/* From columns to batches of keys. One wide column is lent as it stands; all else is made a batch at a time, column by
 * column, in buffers that stay in cache: first the rows that the filter leaves are found, then NULL rows are left out
 * of a key of one column, then the keys are built as the layout says (see agb_key_layout). */
#include "batch.h"

#include <stdlib.h>
#include <string.h>

/* ---- Room ---- */

static bool make_room(void *out, bool needed, size_t n, size_t width)
{
    void **buffer = out;
    *buffer = needed ? malloc((n + 1) * width) : NULL;
    return *buffer || !needed;
}

static bool find_columns(agb_batcher *b)
{
    const agb_key_layout *layout = b->source->layout;
    b->column = calloc(layout->columns, sizeof *b->column);
    for (size_t i = 0; b->column && i < layout->columns; i++)
        if (layout->column[i].term.column)
            agb_table_find_column(b->source->table, layout->column[i].term.column, &b->column[i]);
    return b->column;
}

static bool make_buffers(agb_batcher *b)
{
    const agb_key_layout *layout = b->source->layout;
    const agb_key_column *key = &layout->column[0];
    size_t n = b->source->batch_rows;
    bool single = layout->columns == 1, strings = layout->kind == AGB_KEYS_BYTES;
    bool some = b->source->selection || (single && b->column[0].nulls);
    bool as_it_stands = single && key->term.column && !key->term.add && agb_type_bytes(b->column[0].type) == 8;
    bool lent = single && !some && (strings || as_it_stands);
    return make_room(&b->selected, some, n, sizeof *b->selected) &&
           make_room(&b->weights, some && b->source->weights, n, sizeof *b->weights) &&
           make_room(&b->words, !lent || b->source->selection, n, sizeof *b->words) &&
           make_room(&b->keys, !single && !strings, 2 * n, sizeof *b->keys) &&
           make_room(&b->bytes, strings && !lent, n, sizeof *b->bytes);
}

agb_status agb_batcher_create(agb_batcher *b, const agb_batch_source *source, agb_error *err)
{
    *b = (agb_batcher){.source = source};
    if (find_columns(b) && make_buffers(b))
        return AGB_OK;
    agb_batcher_release(b);
    return agb_fail(err, AGB_ERR_MEMORY, "batch: no memory for %zu rows", source->batch_rows);
}

void agb_batcher_release(agb_batcher *b)
{
    free(b->column);
    free(b->selected);
    free(b->words);
    free(b->keys);
    free(b->weights);
    free(b->bytes);
    free(b->text);
    *b = (agb_batcher){0};
}

uint64_t agb_batch_count(uint64_t rows, size_t batch_rows)
{
    return rows / batch_rows + (rows % batch_rows != 0);
}

/* ---- Words ---- */

const uint64_t *agb_column_words(const agb_column *column, uint64_t first, size_t n, const uint32_t *selected,
                                 uint64_t *room)
{
    const int32_t *ints = (const int32_t *)column->values + first;
    const uint32_t *unsigneds = (const uint32_t *)column->values + first;
    const uint8_t *bools = (const uint8_t *)column->values + first;
    const uint64_t *wides = (const uint64_t *)column->values + first;
    switch (column->type) {
    case AGB_TYPE_INT32:
        for (size_t i = 0; i < n; i++)
            room[i] = (uint64_t)(int64_t)ints[selected ? selected[i] : i];
        return room;
    case AGB_TYPE_UINT32:
        for (size_t i = 0; i < n; i++)
            room[i] = unsigneds[selected ? selected[i] : i];
        return room;
    case AGB_TYPE_BOOL:
        for (size_t i = 0; i < n; i++)
            room[i] = bools[selected ? selected[i] : i];
        return room;
    default:    /* 64 bits wide already */
        for (size_t i = 0; selected && i < n; i++)
            room[i] = wides[selected[i]];
        return selected ? room : wides;
    }
}

/* Which rows of the table a batch is made of. */
typedef struct rows {
    uint64_t first;
    size_t n;
    const uint32_t *selected;    /* distances from first; NULL: all n from first on */
} rows;

static const uint64_t *term_words(agb_batcher *b, size_t i, rows from)
{
    const agb_key_term *term = &b->source->layout->column[i].term;
    if (term->column && !term->add)
        return agb_column_words(&b->column[i], from.first, from.n, from.selected, b->words);
    const uint64_t *words = term->column ? agb_column_words(&b->column[i], from.first, from.n, from.selected, b->words)
                                         : NULL;
    for (size_t k = 0; k < from.n; k++)
        b->words[k] = (words ? words[k] : 0) + (uint64_t)term->add;
    return b->words;
}

static bool is_null(const agb_column *column, rows from, size_t k)
{
    return column->nulls[from.first + (from.selected ? from.selected[k] : k)];
}

/* Side by side in one word a key, or two. */
static const uint64_t *pack(agb_batcher *b, rows from)
{
    const agb_key_layout *layout = b->source->layout;
    size_t step = layout->kind == AGB_KEYS_PAIR ? 2 : 1;
    memset(b->keys, 0, from.n * step * sizeof *b->keys);
    for (size_t i = 0; i < layout->columns; i++) {
        const agb_key_column *column = &layout->column[i];
        const uint64_t *words = term_words(b, i, from);
        size_t width = agb_type_bytes(column->type);
        uint64_t mask = UINT64_MAX >> (64 - 8 * width), *key = b->keys + column->at / 64;
        for (size_t k = 0; k < from.n; k++)
            key[k * step] |= (words[k] & mask) << column->at % 64;
        key = b->keys + column->null_at / 64;
        for (size_t k = 0; column->optional && k < from.n; k++)
            key[k * step] |= (uint64_t)is_null(&b->column[i], from, k) << column->null_at % 64;
    }
    return b->keys;
}

/* ---- Strings ---- */

static const agb_bytes *string_of(const agb_batcher *b, size_t i, rows from, size_t k)
{
    return (const agb_bytes *)b->column[i].values + from.first + (from.selected ? from.selected[k] : k);
}

static const agb_bytes *gather_strings(agb_batcher *b, rows from)
{
    if (!from.selected)
        return string_of(b, 0, from, 0);
    for (size_t k = 0; k < from.n; k++)
        b->bytes[k] = *string_of(b, 0, from, k);
    return b->bytes;
}

/* Cuts the text into a place for each key; what is written of one so far is its length: the flags and integers. */
static agb_status place_keys(agb_batcher *b, rows from)
{
    const agb_key_layout *layout = b->source->layout;
    size_t last = agb_key_last_string(layout), head = layout->flag_bytes + layout->fixed_bytes, total = 0;
    for (size_t k = 0; k < from.n; k++)
        b->bytes[k].length = head;
    for (size_t i = 0; i < layout->columns; i++)
        for (size_t k = 0; layout->column[i].type == AGB_TYPE_BYTES && k < from.n; k++)
            b->bytes[k].length += string_of(b, i, from, k)->length + (i == last ? 0 : sizeof(uint64_t));
    for (size_t k = 0; k < from.n; k++)
        total += b->bytes[k].length;
    if (total > b->text_room) {
        free(b->text);
        b->text_room = total + total / 2;
        b->text = malloc(b->text_room);
        if (!b->text) {
            b->text_room = 0;
            return AGB_ERR_MEMORY;
        }
    }
    unsigned char *at = b->text;
    for (size_t k = 0; k < from.n; k++) {
        b->bytes[k].data = at;
        at += b->bytes[k].length;
        b->bytes[k].length = head;
        memset((unsigned char *)b->bytes[k].data, 0, layout->flag_bytes);
    }
    return AGB_OK;
}

/* Little-endian, like the machine. Constant widths, so that each is one store. */
static void put_words(agb_batcher *b, const agb_key_column *column, const uint64_t *words, size_t n)
{
    size_t at = b->source->layout->flag_bytes + column->at, width = agb_type_bytes(column->type);
    for (size_t k = 0; k < n; k++) {
        unsigned char *to = (unsigned char *)b->bytes[k].data + at;
        if (width == 8)
            memcpy(to, &words[k], 8);
        else if (width == 4)
            memcpy(to, &words[k], 4);
        else
            *to = (unsigned char)words[k];
    }
}

static void put_strings(agb_batcher *b, size_t i, rows from, bool last)
{
    for (size_t k = 0; k < from.n; k++) {
        const agb_bytes *string = string_of(b, i, from, k);
        unsigned char *to = (unsigned char *)b->bytes[k].data + b->bytes[k].length;
        uint64_t length = string->length;
        if (!last) {
            memcpy(to, &length, sizeof length);
            to += sizeof length;
            b->bytes[k].length += sizeof length;
        }
        if (length)
            memcpy(to, string->data, length);
        b->bytes[k].length += length;
    }
}

static void put_flags(agb_batcher *b, size_t i, rows from)
{
    unsigned bit = b->source->layout->column[i].null_at;
    for (size_t k = 0; k < from.n; k++)
        ((unsigned char *)b->bytes[k].data)[bit / 8] |= (unsigned char)(is_null(&b->column[i], from, k) << bit % 8);
}

static agb_status encode(agb_batcher *b, rows from)
{
    const agb_key_layout *layout = b->source->layout;
    size_t last = agb_key_last_string(layout);
    agb_status status = place_keys(b, from);
    for (size_t i = 0; status == AGB_OK && i < layout->columns; i++) {
        const agb_key_column *column = &layout->column[i];
        if (column->optional)
            put_flags(b, i, from);
        if (column->type == AGB_TYPE_BYTES)
            put_strings(b, i, from, i == last);
        else
            put_words(b, column, term_words(b, i, from), from.n);
    }
    return status;
}

/* ---- The batch ---- */

static rows select_rows(agb_batcher *b, uint64_t number, size_t *nulls)
{
    const agb_batch_source *source = b->source;
    rows from = {.first = number * source->batch_rows, .n = source->batch_rows};
    if (source->rows - from.first < from.n)
        from.n = (size_t)(source->rows - from.first);
    if (source->selection) {
        from.n = agb_selection_run(source->selection, from.first, from.n, b->selected, b->words);
        from.selected = b->selected;
    }
    *nulls = 0;
    if (source->layout->columns == 1 && b->column[0].nulls) {
        size_t kept = agb_drop_nulls(b->column[0].nulls + from.first, from.selected, from.n, b->selected);
        *nulls = from.n - kept;
        from.n = kept;
        from.selected = b->selected;
    }
    return from;
}

static const uint64_t *gather_weights(agb_batcher *b, rows from)
{
    const uint64_t *weights = b->source->weights ? b->source->weights + from.first : NULL;
    if (!weights || !from.selected)
        return weights;
    for (size_t k = 0; k < from.n; k++)
        b->weights[k] = weights[from.selected[k]];
    return b->weights;
}

agb_status agb_batcher_at(agb_batcher *b, uint64_t number, agb_batch *batch, size_t *nulls)
{
    const agb_key_layout *layout = b->source->layout;
    bool single = layout->columns == 1;
    rows from = select_rows(b, number, nulls);
    *batch = (agb_batch){.rows = from.n, .weights = gather_weights(b, from)};
    if (layout->kind != AGB_KEYS_BYTES)
        batch->keys = single ? term_words(b, 0, from) : pack(b, from);
    else if (single)
        batch->bytes = gather_strings(b, from);
    else if (encode(b, from) != AGB_OK)
        return AGB_ERR_MEMORY;
    else
        batch->bytes = b->bytes;
    return AGB_OK;
}
