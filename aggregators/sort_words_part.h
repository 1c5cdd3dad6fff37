/* SPDX-License-Identifier: MIT */
/* Part of sort: words and pairs. Least-significant-digit radix sort; of a pair the first word's digits come first, so
 * that pairs end up in the order of one number whose upper half is the second word. */
#ifndef AGB_SORT_WORDS_PART_H
#define AGB_SORT_WORDS_PART_H

#include "aggregator.h"

enum { WORD_DIGITS = 8, DIGITS = 2 * WORD_DIGITS, DIGIT_VALUES = 256, EMIT_GROUPS = 1 << 16 };

typedef struct column {
    uint64_t *keys, *seconds, *weights;    /* seconds: of pairs, else NULL; weights: NULL when rows count once */
} column;

typedef struct word_sort {
    agb_host *host;
    agb_key_kind kind;
    bool weighted;
    size_t rows, room;           /* filled; both columns have this room */
    column from, to;
    uint64_t histogram[DIGITS][DIGIT_VALUES];
} word_sort;

static inline bool word_sort_open_column(word_sort *s, column *c, size_t room)
{
    size_t bytes = room * sizeof *c->keys;
    bool pairs = s->kind == AGB_KEYS_PAIR;
    c->keys = (uint64_t *)agb_alloc(s->host, bytes, 0);
    c->seconds = pairs && c->keys ? (uint64_t *)agb_alloc(s->host, bytes, 0) : NULL;
    c->weights = s->weighted && c->keys ? (uint64_t *)agb_alloc(s->host, bytes, 0) : NULL;
    return c->keys && (c->seconds || !pairs) && (c->weights || !s->weighted);
}

static inline void word_sort_close_column(word_sort *s, column *c, size_t room)
{
    agb_release(s->host, c->keys, room * sizeof *c->keys);
    agb_release(s->host, c->seconds, room * sizeof *c->seconds);
    agb_release(s->host, c->weights, room * sizeof *c->weights);
    *c = (column){0};
}

/* n values to `to`, which may be NULL; `step` words from one to the next. */
static inline void word_sort_move_words(uint64_t *to, const uint64_t *from, size_t n, size_t step)
{
    for (size_t i = 0; to && i < n; i++)
        to[i] = from[i * step];
}

/* Room for more rows. When the number of rows is known beforehand this happens once, in create. */
static inline agb_status word_sort_reserve(word_sort *s, size_t room)
{
    if (room <= s->room)
        return AGB_OK;
    if (room < 2 * s->room)
        room = 2 * s->room;
    column wider = {0};
    if (!word_sort_open_column(s, &wider, room)) {
        word_sort_close_column(s, &wider, room);
        return AGB_ERR_MEMORY;
    }
    word_sort_move_words(wider.keys, s->from.keys, s->rows, 1);
    word_sort_move_words(wider.seconds, s->from.seconds, s->rows, 1);
    word_sort_move_words(wider.weights, s->from.weights, s->rows, 1);
    word_sort_close_column(s, &s->from, s->room);
    s->from = wider;
    s->room = room;
    return AGB_OK;
}

/* The word of a key that a digit is in. */
static inline const uint64_t *word_sort_word_of(const word_sort *s, unsigned digit)
{
    return digit < WORD_DIGITS ? s->from.keys : s->from.seconds;
}

static inline unsigned word_sort_digit(const uint64_t *words, size_t row, unsigned digit)
{
    return words[row] >> (8 * (digit % WORD_DIGITS)) & 0xff;
}

/* `first` is a constant, so that the inner loop is unrolled. */
static inline void word_sort_count_digits(word_sort *s, unsigned first)
{
    const uint64_t *words = word_sort_word_of(s, first);
    for (size_t i = 0; i < s->rows; i++)
        for (unsigned d = first; d < first + WORD_DIGITS; d++)
            s->histogram[d][word_sort_digit(words, i, d)]++;
}

static inline bool word_sort_digit_is_constant(const word_sort *s, unsigned digit)
{
    return s->histogram[digit][word_sort_digit(word_sort_word_of(s, digit), 0, digit)] == s->rows;
}

/* `pairs` and `weighted` are constants, so that a plain word is moved by one load and one store. */
static inline void word_sort_move(word_sort *s, unsigned digit, bool pairs, bool weighted)
{
    size_t place[DIGIT_VALUES], sum = 0;
    const uint64_t *words = word_sort_word_of(s, digit);
    column from = s->from, to = s->to;
    for (unsigned v = 0; v < DIGIT_VALUES; v++) {
        place[v] = sum;
        sum += s->histogram[digit][v];
    }
    for (size_t i = 0; i < s->rows; i++) {
        size_t at = place[word_sort_digit(words, i, digit)]++;
        to.keys[at] = from.keys[i];
        if (pairs)
            to.seconds[at] = from.seconds[i];
        if (weighted)
            to.weights[at] = from.weights[i];
    }
    s->from = to;
    s->to = from;
}

static inline void word_sort_by_digit(word_sort *s, unsigned digit)
{
    if (s->kind == AGB_KEYS_PAIR && s->weighted)
        word_sort_move(s, digit, true, true);
    else if (s->kind == AGB_KEYS_PAIR)
        word_sort_move(s, digit, true, false);
    else if (s->weighted)
        word_sort_move(s, digit, false, true);
    else
        word_sort_move(s, digit, false, false);
}

static inline bool word_sort_is_same(const column *c, size_t a, size_t b)
{
    return c->keys[a] == c->keys[b] && (!c->seconds || c->seconds[a] == c->seconds[b]);
}

/* The length of the run of equal keys at `first`, in rows; *count is its weight. */
static inline size_t word_sort_run_length(const word_sort *s, size_t first, uint64_t *count)
{
    size_t end = first;
    *count = 0;
    while (end < s->rows && word_sort_is_same(&s->from, end, first)) {
        *count += s->weighted ? s->from.weights[end] : 1;
        end++;
    }
    return end - first;
}

static inline agb_status word_sort_emit(word_sort *s)
{
    bool pairs = s->kind == AGB_KEYS_PAIR;
    for (size_t row = 0; row < s->rows;) {
        uint64_t *keys, *counts;
        agb_status status = agb_emit_begin(s->host, 0, EMIT_GROUPS, &keys, &counts);
        if (status != AGB_OK)
            return status;
        size_t groups = 0;
        for (; groups < EMIT_GROUPS && row < s->rows; groups++) {
            *keys++ = s->from.keys[row];
            if (pairs)
                *keys++ = s->from.seconds[row];
            row += word_sort_run_length(s, row, &counts[groups]);
        }
        status = agb_emit_end(s->host, 0, groups);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

static inline agb_status word_sort_append(word_sort *s, const agb_batch *batch)
{
    agb_status status = word_sort_reserve(s, s->rows + batch->rows);
    if (status != AGB_OK)
        return status;
    size_t step = s->kind == AGB_KEYS_PAIR ? 2 : 1;
    const column *to = &s->from;
    word_sort_move_words(to->keys + s->rows, batch->keys, batch->rows, step);
    if (to->seconds)
        word_sort_move_words(to->seconds + s->rows, batch->keys + 1, batch->rows, step);
    if (to->weights)
        word_sort_move_words(to->weights + s->rows, batch->weights, batch->rows, 1);
    s->rows += batch->rows;
    return AGB_OK;
}

static inline agb_status word_sort_run(word_sort *s)
{
    unsigned digits = s->kind == AGB_KEYS_PAIR ? DIGITS : WORD_DIGITS;
    if (s->rows == 0)
        return AGB_OK;
    if (!word_sort_open_column(s, &s->to, s->room))
        return AGB_ERR_MEMORY;
    word_sort_count_digits(s, 0);
    if (s->kind == AGB_KEYS_PAIR)
        word_sort_count_digits(s, WORD_DIGITS);
    for (unsigned digit = 0; digit < digits; digit++)
        if (!word_sort_digit_is_constant(s, digit))
            word_sort_by_digit(s, digit);
    return AGB_OK;
}

static inline void word_sort_close(word_sort *s)
{
    word_sort_close_column(s, &s->from, s->room);
    word_sort_close_column(s, &s->to, s->room);
}

#endif
