/* SPDX-License-Identifier: MIT */
/* Shared: rows, of all three kinds of keys, in the chunks of chunks_part.h.
 *
 *     word     [key]                                   and [weight] behind it in weighted runs
 *     pair     [key][key]                              and [weight]
 *     string   [length + 1][hash] [bytes, filled up to a whole word]       [weight] stands before the bytes
 *     string longer than LONGEST_NEAR: [length + 1][hash] [where it stands]
 *
 * Rows lie in one chunk each. 1, 2 and 3 divide the words of a chunk, so words and pairs fill chunks to the end; behind
 * the last string of a chunk there is a 0, or the chunk's end. A part's strings are read where they lie: they came here
 * one after another, so reading them costs no random access, and the table that counts the part points at them. */
#ifndef AGB_ROWS_PART_H
#define AGB_ROWS_PART_H

#include "chunks_part.h"
#include "key_table_part.h"

enum { LONGEST_NEAR = 1024, MOST_ROW_WORDS = 3 + LONGEST_NEAR / 8 };

_Static_assert((CHUNK_WORDS - HEADER_WORDS) % 6 == 0, "words and pairs, weighted or not, fill a chunk");

/* ---- One row ---- */

/* Words before the bytes of a string; of the other kinds, all. */
PER_KIND size_t row_head(agb_key_kind kind, bool weighted)
{
    return (kind == AGB_KEYS_WORD ? 1 : 2) + (size_t)weighted;
}

PER_KIND uint64_t *row_weight(uint64_t *row, agb_key_kind kind)
{
    return row + row_head(kind, false);
}

PER_KIND size_t row_words(agb_key key, agb_key_kind kind, bool weighted)
{
    size_t head = row_head(kind, weighted);
    if (kind != AGB_KEYS_BYTES)
        return head;
    return head + (key.bytes.length > LONGEST_NEAR ? 1 : (key.bytes.length + 7) / 8);
}

/* The bytes of a long string stay where they are. */
PER_KIND void row_write(uint64_t *to, agb_key key, uint64_t hash, uint64_t weight, agb_key_kind kind, bool weighted)
{
    size_t head = row_head(kind, weighted);
    if (weighted)
        *row_weight(to, kind) = weight;
    if (kind != AGB_KEYS_BYTES) {
        to[0] = key.pair[0];
        if (kind == AGB_KEYS_PAIR)
            to[1] = key.pair[1];
        return;
    }
    to[0] = key.bytes.length + 1;
    to[1] = hash;
    if (key.bytes.length > LONGEST_NEAR)
        to[head] = (uintptr_t)key.bytes.data;
    else if (key.bytes.length)
        memcpy(to + head, key.bytes.data, key.bytes.length);
}

PER_KIND agb_key row_key(const uint64_t *row, agb_key_kind kind, bool weighted)
{
    if (kind == AGB_KEYS_WORD)
        return (agb_key){.word = row[0]};
    if (kind == AGB_KEYS_PAIR)
        return (agb_key){.pair = {row[0], row[1]}};
    const uint64_t *bytes = row + row_head(kind, weighted);
    size_t length = row[0] - 1;
    return (agb_key){.bytes = {length > LONGEST_NEAR ? (const unsigned char *)(uintptr_t)*bytes
                                                     : (const unsigned char *)bytes, length}};
}

PER_KIND uint64_t row_hash(const uint64_t *row, agb_hash hash, agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD)
        return agb_hash_word(hash, row[0]);
    return kind == AGB_KEYS_PAIR ? agb_hash_pair(hash, row) : row[1];
}

/* Is there another row, or nothing but the rest of a chunk that was too small for the next string? */
PER_KIND bool row_is_there(const uint64_t *row, const uint64_t *end, agb_key_kind kind)
{
    return row < end && (kind != AGB_KEYS_BYTES || *row);
}

/* ---- Writing to a list ---- */

/* Is the rest of the chunk too small? */
PER_KIND bool row_needs_chunk(const uint64_t *place, size_t words, agb_key_kind kind)
{
    return kind == AGB_KEYS_BYTES ? -(uintptr_t)place % CHUNK_BYTES / sizeof *place < words : is_chunk_end(place);
}

/* Room for `words` words in one chunk, at *place, which moves behind them; NULL: no memory. */
PER_KIND uint64_t *row_room(chunk_store *s, uint64_t **place, size_t words, agb_key_kind kind)
{
    uint64_t *at = *place;
    if (__builtin_expect(row_needs_chunk(at, words, kind), 0)) {
        if (!is_chunk_end(at))
            *at = 0;
        at = chunk_append(s, at);
        if (!at)
            return NULL;
    }
    *place = at + words;
    return at;
}

/* A string that is too long for a chunk moves to `far`; false: no memory. */
PER_KIND bool row_keep_far(bytes_store *far, agb_host *host, agb_key *key, agb_key_kind kind)
{
    if (kind != AGB_KEYS_BYTES || key->bytes.length <= LONGEST_NEAR)
        return true;
    key->bytes.data = bytes_store_copy(far, host, key->bytes);
    return key->bytes.data != NULL;
}

/* Returns the row; NULL: no memory. */
PER_KIND uint64_t *row_push(chunk_store *s, bytes_store *far, uint64_t **place, agb_key key, uint64_t hash,
                            uint64_t weight, agb_key_kind kind, bool weighted)
{
    if (!row_keep_far(far, s->host, &key, kind))
        return NULL;
    uint64_t *to = row_room(s, place, row_words(key, kind, weighted), kind);
    if (to)
        row_write(to, key, hash, weight, kind, weighted);
    return to;
}

/* ---- Counting a list ---- */

PER_KIND bool rows_count_wide(wide_table *t, const uint64_t *words, size_t n, agb_key_kind kind, bool weighted)
{
    size_t head = row_head(kind, weighted);
    agb_hash hash = t->hash;
    if (!wide_table_reserve(t, n / head))
        return false;
    for (const uint64_t *row = words, *end = words + n; row_is_there(row, end, kind);) {
        agb_key key = row_key(row, kind, weighted);
        if (!wide_table_add(t, row_hash(row, hash, kind), key, weighted ? row[head - 1] : 1, kind))
            return false;
        row += row_words(key, kind, weighted);
    }
    return true;
}

/* A part's table lies in L2, unless keys are made to meet in one part: then its cells are asked for ahead. */
static inline bool rows_count_words(linear_table *t, agb_host *host, size_t l2_bytes, const uint64_t *words, size_t n,
                                    bool weighted)
{
    if (linear_table_bytes(t) <= l2_bytes)
        return weighted ? linear_table_count(t, host, words, n, true, false)
                        : linear_table_count(t, host, words, n, false, false);
    return weighted ? linear_table_count(t, host, words, n, true, true)
                    : linear_table_count(t, host, words, n, false, true);
}

/* The rows of one chunk; false: no memory, and of words and pairs none is counted. */
static inline bool rows_count(key_table *t, agb_host *host, size_t l2_bytes, const uint64_t *words, size_t n,
                              bool weighted)
{
    return t->kind == AGB_KEYS_WORD   ? rows_count_words(&t->words, host, l2_bytes, words, n, weighted)
           : t->kind == AGB_KEYS_PAIR ? rows_count_wide(&t->wide, words, n, AGB_KEYS_PAIR, weighted)
                                      : rows_count_wide(&t->wide, words, n, AGB_KEYS_BYTES, weighted);
}

/* All rows of a list; false: no memory. */
static inline bool rows_count_list(key_table *t, agb_host *host, size_t l2_bytes, uint64_t *place, bool weighted)
{
    while (place) {
        uint64_t *words, *older;
        size_t n = chunk_words(place, &words, &older);
        if (!rows_count(t, host, l2_bytes, words, n, weighted))
            return false;
        place = older;
    }
    return true;
}

#endif
