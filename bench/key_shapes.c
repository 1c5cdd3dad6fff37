/* SPDX-License-Identifier: MIT */
/* Key columns that hash tables get wrong: see key_shapes.h. */
#include "key_shapes.h"

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

static uint64_t one_giant_group(uint64_t row, uint64_t random)
{
    return row % 1000 == 500 ? random : 77;
}

static uint64_t spread_upwards(uint64_t row, uint64_t random)
{
    (void)random;
    return (uint64_t)INT64_MIN + (row << 46);    /* from the least on, as signed numbers */
}

static uint64_t spread_downwards(uint64_t row, uint64_t random)
{
    (void)random;
    return (uint64_t)INT64_MAX - (row << 46);
}

/* ---- Keys made backwards from their hash: few, as a table that falls for them becomes a list ---- */

enum { COLLIDING = 1500 };

/* Of an odd number, modulo 2^64, by Newton's method: each step doubles the right bits. */
static uint64_t inverse_of(uint64_t odd)
{
    uint64_t inverse = odd;
    for (int i = 0; i < 5; i++)
        inverse *= 2 - odd * inverse;
    return inverse;
}

/* The key whose shared hash ("fold") is that. */
static uint64_t key_of_hash(uint64_t hash)
{
    agb_hash fold;
    agb_hash_named("fold", &fold);
    uint64_t folded = hash * inverse_of(fold.multiplier);
    return folded ^ (folded >> 32 & fold.fold);
}

static uint64_t equal_high_hash_bits(uint64_t row, uint64_t random)
{
    (void)random;
    return key_of_hash(UINT64_C(0xabcdef01) << 32 | row % COLLIDING);
}

static uint64_t equal_low_hash_bits(uint64_t row, uint64_t random)
{
    (void)random;
    return key_of_hash(row % COLLIDING << 40 | 0x1234567);
}

static uint64_t edge_hashes(uint64_t row, uint64_t random)
{
    static const uint64_t hashes[] = {0, 1, UINT64_MAX, UINT64_MAX - 1, (uint64_t)1 << 63, INT64_MAX, UINT32_MAX,
                                      (uint64_t)1 << 32};
    (void)row;
    return key_of_hash(hashes[random % (sizeof hashes / sizeof hashes[0])]);
}

/* Backwards through the finalizer of MurmurHash3 (A. Appleby, 2011), which many tables take for integers. */
static uint64_t equal_low_murmur_bits(uint64_t row, uint64_t random)
{
    (void)random;
    uint64_t x = row % COLLIDING << 40 | 0x89abcde;
    x ^= x >> 33;
    x *= inverse_of(UINT64_C(0xc4ceb9fe1a85ec53));
    x ^= x >> 33;
    x *= inverse_of(UINT64_C(0xff51afd7ed558ccd));
    return x ^ x >> 33;
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
    {"one giant group", one_giant_group},
    {"from the least upwards", spread_upwards},
    {"from the greatest downwards", spread_downwards},
    {"hashes with equal high bits", equal_high_hash_bits},
    {"hashes with equal low bits", equal_low_hash_bits},
    {"hashes 0, 1, all ones", edge_hashes},
    {"equal low bits of murmur's hash", equal_low_murmur_bits},
    {"heavy tail", heavy_tail},
    {"runs of equal keys", runs_of_equal_keys},
    {NULL, NULL},
};
