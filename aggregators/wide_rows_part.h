/* SPDX-License-Identifier: MIT */
/* Shared: rows of pairs and strings in the chunks of chunks_part.h.
 *
 *     pair     [key][key]                              and [weight] behind it in weighted runs
 *     string   [length + 1][hash] [bytes, filled up to a whole word]       [weight] stands before the bytes
 *     string longer than LONGEST_NEAR: [length + 1][hash] [where it stands]
 *
 * Rows lie in one chunk each. 2 and 3 divide the words of a chunk, so pairs fill chunks to the end; behind the last
 * string of a chunk there is a 0, or the chunk's end. A part's strings are read where they lie: they came here one
 * after another, so reading them costs no random access, and the table that counts the part points at them. */
#ifndef AGB_WIDE_ROWS_PART_H
#define AGB_WIDE_ROWS_PART_H

#include "chunks_part.h"
#include "wide_table_part.h"

enum { LONGEST_NEAR = 1024 };

_Static_assert((CHUNK_WORDS - HEADER_WORDS) % 6 == 0, "pairs, weighted or not, fill a chunk");

/* Room for `words` words in one chunk, at *place, which moves behind them; NULL: no memory. */
static inline uint64_t *wide_row_room(chunk_store *s, uint64_t **place, size_t words)
{
    uint64_t *at = *place;
    size_t left = -(uintptr_t)at % CHUNK_BYTES / sizeof *at;    /* 0 at a boundary */
    if (__builtin_expect(left < words, 0)) {
        if (left)
            *at = 0;
        at = chunk_append(s, at);
        if (!at)
            return NULL;
    }
    *place = at + words;
    return at;
}

static inline bool wide_row_push_pair(chunk_store *s, uint64_t **place, agb_key key, const uint64_t *weight)
{
    uint64_t *to = wide_row_room(s, place, weight ? 3 : 2);
    if (!to)
        return false;
    to[0] = key.pair[0];
    to[1] = key.pair[1];
    if (weight)
        to[2] = *weight;
    return true;
}

static inline bool wide_row_push_string(chunk_store *s, bytes_store *far, uint64_t **place, agb_bytes key,
                                        uint64_t hash, const uint64_t *weight)
{
    bool is_far = key.length > LONGEST_NEAR;
    size_t head = weight ? 3 : 2;
    const unsigned char *copy = is_far ? bytes_store_copy(far, s->host, key) : NULL;
    if (is_far && !copy)
        return false;
    uint64_t *to = wide_row_room(s, place, head + (is_far ? 1 : (key.length + 7) / 8));
    if (!to)
        return false;
    to[0] = key.length + 1;
    to[1] = hash;
    if (weight)
        to[2] = *weight;
    if (is_far)
        to[head] = (uintptr_t)copy;
    else if (key.length)
        memcpy(to + head, key.data, key.length);
    return true;
}

/* ---- Counting them ---- */

static inline bool wide_count_pairs(wide_table *t, const uint64_t *words, size_t n, bool weighted)
{
    size_t step = weighted ? 3 : 2;
    if (!wide_table_reserve(t, n / step))
        return false;
    for (size_t i = 0; i < n; i += step) {
        agb_key key = {.pair = {words[i], words[i + 1]}};
        wide_table_add(t, agb_hash_pair(t->hash, key.pair), key, weighted ? words[i + 2] : 1, true);
    }
    return true;
}

static inline bool wide_count_strings(wide_table *t, const uint64_t *words, size_t n, bool weighted)
{
    size_t head = weighted ? 3 : 2;
    if (!wide_table_reserve(t, n / head))
        return false;
    for (size_t i = 0; i < n && words[i];) {
        const uint64_t *row = words + i;
        size_t length = row[0] - 1;
        bool is_far = length > LONGEST_NEAR;
        agb_key key = {.bytes = {(const unsigned char *)(row + head), length}};
        if (is_far)
            key.bytes.data = (const unsigned char *)(uintptr_t)row[head];
        wide_table_add(t, row[1], key, weighted ? row[2] : 1, false);
        i += head + (is_far ? 1 : (length + 7) / 8);
    }
    return true;
}

/* All rows of a list; false: no memory. */
static inline bool wide_count_chunks(wide_table *t, uint64_t *place, bool pairs, bool weighted)
{
    while (place) {
        uint64_t *words, *older;
        size_t n = chunk_words(place, &words, &older);
        if (!(pairs ? wide_count_pairs(t, words, n, weighted) : wide_count_strings(t, words, n, weighted)))
            return false;
        place = older;
    }
    return true;
}

#endif
