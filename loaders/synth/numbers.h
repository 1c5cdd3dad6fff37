/* SPDX-License-Identifier: MIT */
/* The random numbers of the generators: integers only, so that every machine and compiler makes the same bits.
 *
 * Three tools. A mixer that is a bijection of 64-bit words: different group numbers give different keys, by
 * construction and not by luck. A stream of random words for a block of rows, started from the seed and the block's
 * number alone, so that rows do not depend on how many threads made them. And a keyed permutation of 0..n-1 that is
 * evaluated at single places: position i of a shuffled table is computed, not looked up. */
#ifndef AGB_SYNTH_NUMBERS_H
#define AGB_SYNTH_NUMBERS_H

#include <stdint.h>

/* Each use of the seed has a number of its own, so that two uses never see the same stream. */
typedef enum agb_synth_use {
    AGB_SYNTH_KEYS = 1,
    AGB_SYNTH_PLACES,
    AGB_SYNTH_LENGTHS,
    AGB_SYNTH_SEGMENTS,
    AGB_SYNTH_DRAWS,
    AGB_SYNTH_SHUFFLE
} agb_synth_use;

/* The finalizer of SplitMix64 (Steele, Lea, Flood: Fast splittable pseudorandom number generators, 2014, with the
 * constants of Stafford's variant 13): every step can be undone, so it is a bijection. */
static inline uint64_t agb_synth_mix(uint64_t x)
{
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* A word that depends on all three; the start of a stream, or the key of a permutation. */
static inline uint64_t agb_synth_word(uint64_t seed, agb_synth_use use, uint64_t number)
{
    return agb_synth_mix(agb_synth_mix(seed + 0x9e3779b97f4a7c15u * use) + number);
}

static inline uint64_t agb_synth_next(uint64_t *stream)
{
    *stream += 0x9e3779b97f4a7c15u;
    return agb_synth_mix(*stream);
}

/* A random word brought into 0..n-1. The unevenness is below n / 2^64. */
static inline uint64_t agb_synth_below(uint64_t random, uint64_t n)
{
    return (uint64_t)(((unsigned __int128)random * n) >> 64);
}

enum { AGB_SYNTH_ROUNDS = 4 };

/* Rounds of "multiply by an odd number, add, fold the upper half onto the lower" over the next power of two, each a
 * bijection; a value that falls outside 0..n-1 walks on along its cycle until it is inside (Black and Rogaway: Ciphers
 * with arbitrary finite domains, 2002). Fewer than two evaluations on the average. */
typedef struct agb_synth_permutation {
    uint64_t n, mask;
    unsigned fold;
    uint64_t multiply[AGB_SYNTH_ROUNDS], add[AGB_SYNTH_ROUNDS];
} agb_synth_permutation;

static inline agb_synth_permutation agb_synth_permute(uint64_t n, uint64_t seed, agb_synth_use use)
{
    agb_synth_permutation p = {.n = n, .fold = 1};
    unsigned bits = n > 1 ? 64 - (unsigned)__builtin_clzll(n - 1) : 0;
    p.mask = bits ? UINT64_MAX >> (64 - bits) : 0;
    if (bits > 2)
        p.fold = (bits + 1) / 2;
    for (unsigned i = 0; i < AGB_SYNTH_ROUNDS; i++) {
        p.multiply[i] = agb_synth_word(seed, use, 2 * i) | 1;
        p.add[i] = agb_synth_word(seed, use, 2 * i + 1);
    }
    return p;
}

static inline uint64_t agb_synth_place(const agb_synth_permutation *p, uint64_t x)
{
    do {
        for (unsigned i = 0; i < AGB_SYNTH_ROUNDS; i++) {
            x = (x * p->multiply[i] + p->add[i]) & p->mask;
            x ^= x >> p->fold;
        }
    } while (x >= p->n);
    return x;
}

#endif
