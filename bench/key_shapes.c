/* SPDX-License-Identifier: MIT */
/* Key columns that hash tables get wrong: see key_shapes.h. */
#include "key_shapes.h"

#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const uint64_t agb_edge_keys[] = {0,         1,          UINT64_MAX /* -1 */, UINT64_MAX - 1 /* -2 */, INT64_MAX,
                                  (uint64_t)INT64_MIN,   (uint64_t)INT64_MIN + 1, UINT32_MAX,      (uint64_t)INT32_MIN,
                                  (uint64_t)1 << 32,     0x5555555555555555,      0xdeadbeefdeadbeef};
const size_t agb_edge_key_count = sizeof agb_edge_keys / sizeof agb_edge_keys[0];

static uint64_t all_equal(uint64_t row, uint64_t random)
{
    (void)row;
    (void)random;
    return 42;
}

static uint64_t all_distinct(uint64_t row, uint64_t random)
{
    (void)random;
    return row * 0xd1342543de82ef95;    /* odd: no two rows meet */
}

static uint64_t random_words(uint64_t row, uint64_t random)
{
    (void)row;
    return random;
}

static uint64_t sequential(uint64_t row, uint64_t random)
{
    (void)random;
    return row;
}

static uint64_t descending_signed(uint64_t row, uint64_t random)
{
    (void)random;
    return 1000 - row;    /* goes below zero */
}

static uint64_t multiples_of_2_16(uint64_t row, uint64_t random)
{
    (void)random;
    return row << 16;
}

static uint64_t multiples_of_2_32(uint64_t row, uint64_t random)
{
    (void)random;
    return row << 32;
}

static uint64_t multiples_of_2_48(uint64_t row, uint64_t random)
{
    (void)random;
    return row << 48;
}

/* Equal halves cancel out in a hash that folds them upon each other. */
static uint64_t equal_halves(uint64_t row, uint64_t random)
{
    (void)random;
    return row << 32 | row;
}

static uint64_t edge_keys(uint64_t row, uint64_t random)
{
    (void)row;
    return agb_edge_keys[random % agb_edge_key_count];
}

static uint64_t edges_among_others(uint64_t row, uint64_t random)
{
    return row % 3 == 0 ? edge_keys(row, random >> 8) : random % 5000;
}

static uint64_t few_groups(uint64_t row, uint64_t random)
{
    (void)row;
    return random % 7;
}

static uint64_t one_hot_key(uint64_t row, uint64_t random)
{
    (void)row;
    return random % 100 < 60 ? 5 : random >> 40;
}

static uint64_t heavy_tail(uint64_t row, uint64_t random)
{
    (void)row;
    return (uint64_t)1 << (random % 20) ^ (random >> 60);
}

static uint64_t runs_of_equal_keys(uint64_t row, uint64_t random)
{
    (void)random;
    return row / 13 % 1999 * 0x9e3779b97f4a7c15;
}

const agb_shape agb_shapes[] = {
    {"all equal", all_equal},
    {"all distinct", all_distinct},
    {"random words", random_words},
    {"sequential", sequential},
    {"descending through zero", descending_signed},
    {"multiples of 2^16", multiples_of_2_16},
    {"multiples of 2^32", multiples_of_2_32},
    {"multiples of 2^48", multiples_of_2_48},
    {"equal halves", equal_halves},
    {"edge keys", edge_keys},
    {"edge keys among others", edges_among_others},
    {"few groups", few_groups},
    {"one hot key", one_hot_key},
    {"heavy tail", heavy_tail},
    {"runs of equal keys", runs_of_equal_keys},
    {NULL, NULL},
};

/* ---- Samples ----------------------------------------------------------------------------------------------------- */

static agb_key key_at(const agb_sample *sample, size_t i)
{
    if (sample->kind == AGB_KEYS_BYTES)
        return (agb_key){.bytes = sample->strings[i]};
    if (sample->kind == AGB_KEYS_PAIR)
        return (agb_key){.pair = {sample->keys[i], sample->seconds[i]}};
    return (agb_key){.word = sample->keys[i]};
}

static agb_status count_by_sorting(agb_sample *sample, agb_error *err)
{
    agb_group *groups = malloc((sample->rows + 1) * sizeof *groups);
    if (!groups)
        return agb_fail(err, AGB_ERR_MEMORY, "verify: no memory for a sample of %zu rows", sample->rows);
    for (size_t i = 0; i < sample->rows; i++)
        groups[i] = (agb_group){key_at(sample, i), sample->weights ? sample->weights[i] : 1};
    agb_sort_groups(sample->kind, groups, sample->rows);
    size_t n = 0;
    for (size_t i = 0; i < sample->rows; i++) {
        if (n > 0 && agb_key_compare_raw(sample->kind, &groups[n - 1].key, &groups[i].key) == 0)
            groups[n - 1].count += groups[i].count;
        else
            groups[n++] = groups[i];
    }
    sample->groups = groups;
    sample->n_groups = n;
    return AGB_OK;
}

static agb_status make_room(agb_sample *out, size_t rows, bool weighted, agb_error *err)
{
    *out = (agb_sample){.rows = rows};
    out->keys = malloc((rows + 1) * sizeof *out->keys);
    out->weights = weighted ? malloc((rows + 1) * sizeof *out->weights) : NULL;
    if (!out->keys || (weighted && !out->weights))
        return agb_fail(err, AGB_ERR_MEMORY, "verify: no memory for a sample of %zu rows", rows);
    return AGB_OK;
}

/* ---- Pairs and strings of a sample's words ----------------------------------------------------------------------- */

static bool make_pairs(agb_sample *sample)
{
    sample->seconds = malloc((sample->rows + 1) * sizeof *sample->seconds);
    for (size_t i = 0; sample->seconds && i < sample->rows; i++) {
        uint64_t word = sample->keys[i];
        const uint64_t firsts[] = {word, 0, word >> 32}, seconds[] = {0, word, word & UINT32_MAX};
        sample->keys[i] = firsts[word % 3];
        sample->seconds[i] = seconds[word % 3];
    }
    return sample->seconds;
}

enum { LONGEST_STRING = 1500 };

/* The text takes LONGEST_STRING + 1. Returns the length. */
static size_t make_string(uint64_t word, unsigned char *text)
{
    switch (word % 8) {
    case 0:
        return 0;
    case 1:
        memcpy(text, &word, sizeof word);    /* NULs in it */
        return sizeof word;
    case 2:
        memset(text, 'a', LONGEST_STRING);    /* a run of one letter, mostly too long for a small buffer */
        return word / 8 % LONGEST_STRING;
    case 3:
        memset(text, 0, 16);
        return word / 8 % 16;
    default:
        return (size_t)sprintf((char *)text, "https://example.org/a/common/beginning?id=%llx",
                               (unsigned long long)word);
    }
}

static bool make_strings(agb_sample *sample)
{
    unsigned char text[LONGEST_STRING + 1];
    size_t bytes = 0;
    for (size_t i = 0; i < sample->rows; i++)
        bytes += make_string(sample->keys[i], text);
    sample->text = malloc(bytes + 1);
    sample->strings = malloc((sample->rows + 1) * sizeof *sample->strings);
    if (!sample->text || !sample->strings)
        return false;
    unsigned char *at = sample->text;
    for (size_t i = 0; i < sample->rows; i++) {
        size_t length = make_string(sample->keys[i], text);
        memcpy(at, text, length);
        sample->strings[i] = (agb_bytes){at, length};
        at += length;
    }
    return true;
}

/* ---- Making them ------------------------------------------------------------------------------------------------- */

agb_status agb_sample_of_shape(agb_sample *out, const agb_shape *shape, agb_key_kind kind, size_t rows, bool weighted,
                               agb_error *err)
{
    agb_status status = make_room(out, rows, weighted, err);
    if (status != AGB_OK)
        return status;
    uint64_t random = 88172645463325252;    /* xorshift64 (Marsaglia, 2003): the same sample every time */
    for (size_t i = 0; i < rows; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        out->keys[i] = shape->key(i, random);
        if (weighted)
            out->weights[i] = 1 + (random >> 20);    /* up to 2^44: sums leave 32 bits at once */
    }
    out->kind = kind;
    if ((kind == AGB_KEYS_PAIR && !make_pairs(out)) || (kind == AGB_KEYS_BYTES && !make_strings(out)))
        return agb_fail(err, AGB_ERR_MEMORY, "verify: no memory for a sample of %zu rows", rows);
    return count_by_sorting(out, err);
}

agb_status agb_sample_of_key(agb_sample *out, uint64_t key, size_t rows, agb_error *err)
{
    agb_status status = make_room(out, rows, false, err);
    for (size_t i = 0; status == AGB_OK && i < rows; i++)
        out->keys[i] = key;
    return status == AGB_OK ? count_by_sorting(out, err) : status;
}

agb_status agb_sample_of_table(agb_sample *out, const agb_table *table, const char *name, agb_error *err)
{
    agb_column column;
    *out = (agb_sample){0};
    if (!agb_table_find_column(table, name, &column) || agb_type_bytes(column.type) != sizeof(uint64_t))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "verify: %s: not a column of 64-bit integers", name);
    agb_status status = make_room(out, agb_table_rows(table), false, err);
    if (status != AGB_OK)
        return status;
    memcpy(out->keys, column.values, out->rows * sizeof *out->keys);
    return count_by_sorting(out, err);
}

void agb_sample_release(agb_sample *sample)
{
    free(sample->keys);
    free(sample->seconds);
    free(sample->strings);
    free(sample->text);
    free(sample->weights);
    free(sample->groups);
    *sample = (agb_sample){0};
}

agb_status agb_sample_lend(const agb_sample *sample, agb_table **table, const char **columns, agb_error *err)
{
    bool strings = sample->kind == AGB_KEYS_BYTES;
    agb_status status = agb_table_create(table, err);
    if (status == AGB_OK)
        status = agb_table_lend(*table, "key", strings ? AGB_TYPE_BYTES : AGB_TYPE_INT64,
                                strings ? (const void *)sample->strings : sample->keys, sample->rows, err);
    if (status == AGB_OK && sample->kind == AGB_KEYS_PAIR)
        status = agb_table_lend(*table, "second", AGB_TYPE_INT64, sample->seconds, sample->rows, err);
    *columns = sample->kind == AGB_KEYS_PAIR ? "key,second" : "key";
    return status;
}
