/* SPDX-License-Identifier: MIT */
/* Part of sort: the same for strings. Multikey quicksort (Bentley, Sedgewick, "Fast Algorithms for Sorting and
 * Searching Strings", 1997): split by one character into smaller, equal and larger ones, and go on with the next
 * character where it was equal, so that no character is looked at again that is known to agree. */
#ifndef AGB_SORT_STRINGS_PART_H
#define AGB_SORT_STRINGS_PART_H

#include "slabs_part.h"

enum { STRING_EMIT_GROUPS = 256 };

typedef struct string_row {
    agb_bytes bytes;
    uint64_t weight;
} string_row;

typedef struct string_sort {
    agb_host *host;
    size_t n, room;
    string_row *rows;
    bytes_store store;
} string_sort;

static inline agb_status string_sort_reserve(string_sort *s, size_t room)
{
    if (room <= s->room)
        return AGB_OK;
    if (room < 2 * s->room)
        room = 2 * s->room;
    string_row *wider = (string_row *)agb_alloc(s->host, room * sizeof *wider, 0);
    if (!wider)
        return AGB_ERR_MEMORY;
    for (size_t i = 0; i < s->n; i++)
        wider[i] = s->rows[i];
    agb_release(s->host, s->rows, s->room * sizeof *s->rows);
    s->rows = wider;
    s->room = room;
    return AGB_OK;
}

static inline void string_sort_close(string_sort *s)
{
    agb_release(s->host, s->rows, s->room * sizeof *s->rows);
    bytes_store_close(&s->store, s->host);
}

static inline agb_status string_sort_append(string_sort *s, const agb_batch *batch)
{
    agb_status status = string_sort_reserve(s, s->n + batch->rows);
    if (status != AGB_OK)
        return status;
    for (size_t i = 0; i < batch->rows; i++) {
        unsigned char *copy = bytes_store_copy(&s->store, s->host, batch->bytes[i]);
        if (!copy)
            return AGB_ERR_MEMORY;
        s->rows[s->n++] = (string_row){{copy, batch->bytes[i].length}, batch->weights ? batch->weights[i] : 1};
    }
    return AGB_OK;
}

/* The character at `depth`; the end of the string comes before all of them. */
static inline int string_sort_character(const string_row *row, size_t depth)
{
    return depth < row->bytes.length ? row->bytes.data[depth] : -1;
}

static inline void string_sort_swap(string_row *a, string_row *b)
{
    string_row kept = *a;
    *a = *b;
    *b = kept;
}

/* A stretch of rows that agree up to `depth`. */
typedef struct stretch {
    string_row *rows;
    size_t n, depth;
} stretch;

/* Splits it into smaller, equal and larger ones by its middle row's character (Dijkstra's Dutch national flag). Rows
 * that are equal up to their end are sorted: their stretch is empty. */
static inline void string_sort_split(stretch all, stretch parts[3])
{
    int pivot = string_sort_character(&all.rows[all.n / 2], all.depth);
    size_t smaller = 0, at = 0, larger = all.n;
    while (at < larger) {
        int character = string_sort_character(&all.rows[at], all.depth);
        if (character < pivot)
            string_sort_swap(&all.rows[smaller++], &all.rows[at++]);
        else if (character > pivot)
            string_sort_swap(&all.rows[--larger], &all.rows[at]);
        else
            at++;
    }
    parts[0] = (stretch){all.rows, smaller, all.depth};
    parts[1] = (stretch){all.rows + smaller, pivot < 0 ? 0 : larger - smaller, all.depth + 1};
    parts[2] = (stretch){all.rows + larger, all.n - larger, all.depth};
}

/* Calls itself for the two smaller parts only, each at most half of the whole: the stack stays shallow whatever the
 * strings are. */
static inline void string_sort_stretch(stretch all)
{
    while (all.n > 1) {
        stretch parts[3];
        string_sort_split(all, parts);
        unsigned largest = parts[1].n >= parts[0].n ? 1 : 0;
        if (parts[2].n > parts[largest].n)
            largest = 2;
        for (unsigned i = 0; i < 3; i++)
            if (i != largest)
                string_sort_stretch(parts[i]);
        all = parts[largest];
    }
}

static inline void string_sort_run(string_sort *s)
{
    string_sort_stretch((stretch){s->rows, s->n, 0});
}

static inline bool string_sort_equal(agb_bytes a, agb_bytes b)
{
    return a.length == b.length && (a.length == 0 || memcmp(a.data, b.data, a.length) == 0);
}

static inline agb_status string_sort_emit(string_sort *s)
{
    agb_bytes keys[STRING_EMIT_GROUPS];
    uint64_t counts[STRING_EMIT_GROUPS];
    agb_status status = AGB_OK;
    for (size_t row = 0; row < s->n && status == AGB_OK;) {
        size_t groups = 0;
        for (; groups < STRING_EMIT_GROUPS && row < s->n; groups++) {
            keys[groups] = s->rows[row].bytes;
            for (counts[groups] = 0; row < s->n && string_sort_equal(s->rows[row].bytes, keys[groups]); row++)
                counts[groups] += s->rows[row].weight;
        }
        status = agb_emit_bytes(s->host, 0, keys, counts, groups);
    }
    return status;
}

#endif
