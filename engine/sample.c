/* SPDX-License-Identifier: MIT */
/* A few rows of a table as a table of their own. Strings that share their bytes, as those of a Parquet dictionary do,
 * share them again: copied one by one they would take more memory than the whole column, and miss more caches. */
#include "internal.h"
#include "loader.h"

#include <stdlib.h>
#include <string.h>

/* Row number i of the sample is row number i * every of the table. */
typedef struct taking {
    agb_table *to;
    uint64_t rows, every;
} taking;

static void take_values(const taking *taking, char *to, const char *from, size_t width)
{
    for (uint64_t i = 0; i < taking->rows; i++)
        memcpy(to + i * width, from + i * taking->every * width, width);
}

static agb_status take_nulls(const taking *taking, size_t column, const agb_column *from, agb_error *err)
{
    uint8_t *nulls = from->nulls ? agb_table_nulls(taking->to, column) : NULL;
    if (nulls)
        take_values(taking, (char *)nulls, (const char *)from->nulls, 1);
    else if (from->nulls && taking->rows)
        return agb_fail(err, AGB_ERR_MEMORY, "sample: column '%s': out of memory for its NULLs", from->name);
    return AGB_OK;
}

/* ---- Strings ----------------------------------------------------------------------------------------------------- */

/* The first row of the sample that has its string in that place: an open hash table of row numbers plus one. */
typedef struct firsts {
    const agb_bytes *from;
    uint64_t every;
    uint64_t *row, slots, used;    /* slots: a power of two, at least twice as many as used */
} firsts;

static agb_bytes string_of(const firsts *self, uint64_t row)
{
    return self->from[row * self->every];
}

static uint64_t *slot_of(const firsts *self, uint64_t row)
{
    agb_bytes wanted = string_of(self, row);
    uint64_t at = ((uintptr_t)wanted.data + wanted.length) * 0x9e3779b97f4a7c15;
    for (at ^= at >> 32;; at++) {
        uint64_t *slot = &self->row[at & (self->slots - 1)];
        agb_bytes there = *slot ? string_of(self, *slot - 1) : wanted;
        if (there.data == wanted.data && there.length == wanted.length)
            return slot;
    }
}

static bool make_room(firsts *self)
{
    enum { LEAST = 1024 };
    uint64_t *old = self->row, before = self->slots;
    if (2 * (self->used + 1) <= before)
        return true;
    self->slots = before ? 2 * before : LEAST;
    self->row = calloc(self->slots, sizeof *self->row);
    for (uint64_t i = 0; self->row && i < before; i++)
        if (old[i])
            *slot_of(self, old[i] - 1) = old[i];
    free(old);
    return self->row != NULL;
}

/* *bytes: of all strings that stand in places of their own. */
static bool find_firsts(firsts *self, uint64_t rows, uint64_t *bytes)
{
    *bytes = 0;
    for (uint64_t i = 0; i < rows; i++) {
        if (!make_room(self))
            return false;
        uint64_t *slot = slot_of(self, i);
        if (*slot)
            continue;
        *slot = i + 1;
        self->used++;
        *bytes += string_of(self, i).length;
    }
    return true;
}

static void copy_strings(const firsts *self, uint64_t rows, agb_bytes *to, unsigned char *heap)
{
    for (uint64_t i = 0; i < rows; i++) {
        uint64_t first = *slot_of(self, i) - 1;
        agb_bytes string = string_of(self, i);
        if (first == i && string.length) {
            memcpy(heap, string.data, string.length);
            to[i] = (agb_bytes){heap, string.length};
            heap += string.length;
        } else if (string.length) {
            to[i] = to[first];
        }
    }
}

static agb_status take_strings(const taking *taking, size_t column, const agb_column *from, agb_error *err)
{
    firsts firsts = {.from = from->values, .every = taking->every};
    uint64_t bytes;
    bool good = find_firsts(&firsts, taking->rows, &bytes);
    unsigned char *heap = good && bytes ? agb_table_heap(taking->to, bytes) : NULL;
    good = good && (heap || !bytes);
    if (good)
        copy_strings(&firsts, taking->rows, agb_table_values(taking->to, column), heap);
    free(firsts.row);
    return good ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "sample: column '%s': out of memory for its strings: take "
                                    "fewer rows", from->name);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static agb_status take_columns(const taking *taking, const agb_table *table, agb_error *err)
{
    agb_column from;
    agb_status status = AGB_OK;
    for (size_t i = 0; status == AGB_OK && agb_table_column_at(table, i, &from); i++) {
        if (from.type == AGB_TYPE_BYTES)
            status = take_strings(taking, i, &from, err);
        else
            take_values(taking, agb_table_values(taking->to, i), from.values, agb_type_bytes(from.type));
        if (status == AGB_OK)
            status = take_nulls(taking, i, &from, err);
    }
    return status;
}

agb_status agb_table_sample(agb_table **out, const agb_table *table, const agb_row_sample *sample, agb_pages pages,
                            agb_error *err)
{
    uint64_t all = agb_table_rows(table), first = sample->head && sample->head < all ? sample->head : all;
    taking taking = {.every = sample->every ? sample->every : 1};
    taking.rows = first / taking.every + (first % taking.every != 0);
    agb_column column;
    *out = NULL;
    agb_status status = agb_table_create(&taking.to, err);
    if (status != AGB_OK)
        return status;
    for (size_t i = 0; status == AGB_OK && agb_table_column_at(table, i, &column); i++)
        status = agb_table_add(taking.to, column.name, column.type, pages, err);
    if (status == AGB_OK)
        status = agb_table_extend(taking.to, taking.rows, err);
    if (status == AGB_OK)
        status = take_columns(&taking, table, err);
    if (status != AGB_OK) {
        agb_table_destroy(taking.to);
        return status;
    }
    agb_table_loaded(taking.to, agb_table_format(table), 0, agb_table_source_rows(table));
    *out = taking.to;
    return AGB_OK;
}
