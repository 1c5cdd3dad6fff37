/* SPDX-License-Identifier: MIT */
/* Key columns that hash tables get wrong: see key_shapes.h. */
#include "key_shapes.h"

#include "reference.h"

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

static agb_status count_by_sorting(agb_sample *sample, agb_error *err)
{
    agb_group *groups = malloc((sample->rows + 1) * sizeof *groups);
    if (!groups)
        return agb_fail(err, AGB_ERR_MEMORY, "verify: no memory for a sample of %zu rows", sample->rows);
    for (size_t i = 0; i < sample->rows; i++)
        groups[i] = (agb_group){sample->keys[i], sample->weights ? sample->weights[i] : 1};
    agb_sort_groups(groups, sample->rows);
    size_t n = 0;
    for (size_t i = 0; i < sample->rows; i++) {
        if (n > 0 && groups[n - 1].key == groups[i].key)
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

agb_status agb_sample_of_shape(agb_sample *out, const agb_shape *shape, size_t rows, bool weighted, agb_error *err)
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
    free(sample->weights);
    free(sample->groups);
    *sample = (agb_sample){0};
}
