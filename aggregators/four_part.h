/* SPDX-License-Identifier: MIT */
/* Four words at a time: the only place of best and adaptive that knows instructions by name. Elsewhere the same in
 * plain C.
 *
 * AVX-512's compress instruction does eight at a time, without a table. Chosen at run time on a Zen 4 core it took 7 %
 * off the step that finds misses, 1 % of all of best: too little for a third version. Emitting with it made the
 * phase 4 % slower. */
#ifndef AGB_FOUR_PART_H
#define AGB_FOUR_PART_H

#include <stddef.h>
#include <stdint.h>

#define PACKED_INLINE static inline __attribute__((always_inline))

typedef uint64_t four_words __attribute__((vector_size(32), aligned(8), may_alias));

#ifdef __AVX2__

#include <immintrin.h>

/* For each set of words to leave out: which 32-bit halves to take. */
static const uint32_t four_halves[16][8] __attribute__((aligned(32))) = {
    {0, 1, 2, 3, 4, 5, 6, 7}, {2, 3, 4, 5, 6, 7}, {0, 1, 4, 5, 6, 7}, {4, 5, 6, 7},
    {0, 1, 2, 3, 6, 7},       {2, 3, 6, 7},       {0, 1, 6, 7},       {6, 7},
    {0, 1, 2, 3, 4, 5},       {2, 3, 4, 5},       {0, 1, 4, 5},       {4, 5},
    {0, 1, 2, 3},             {2, 3},             {0, 1},             {0},
};

/* Bit i: are a[i] and b[i] equal? */
PACKED_INLINE unsigned four_equal(const uint64_t *a, const uint64_t *b)
{
    __m256i same = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)a), _mm256_loadu_si256((const __m256i *)b));
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(same));
}

/* Bit i: is from[i] zero? */
PACKED_INLINE unsigned four_zeros(const uint64_t *from)
{
    __m256i zero = _mm256_cmpeq_epi64(_mm256_loadu_si256((const __m256i *)from), _mm256_setzero_si256());
    return (unsigned)_mm256_movemask_pd(_mm256_castsi256_pd(zero));
}

/* Writes the words whose bit is not set one after another; all four places of `to` are touched. Returns how many. */
PACKED_INLINE size_t four_leave_out(uint64_t *to, const uint64_t *from, unsigned out)
{
    __m256i order = _mm256_load_si256((const __m256i *)four_halves[out]);
    __m256i four = _mm256_loadu_si256((const __m256i *)from);
    _mm256_storeu_si256((__m256i *)to, _mm256_permutevar8x32_epi32(four, order));
    return 4 - (size_t)__builtin_popcount(out);
}

#else

PACKED_INLINE unsigned four_equal(const uint64_t *a, const uint64_t *b)
{
    unsigned equal = 0;
    for (unsigned i = 0; i < 4; i++)
        equal |= (unsigned)(a[i] == b[i]) << i;
    return equal;
}

PACKED_INLINE unsigned four_zeros(const uint64_t *from)
{
    unsigned zero = 0;
    for (unsigned i = 0; i < 4; i++)
        zero |= (unsigned)(from[i] == 0) << i;
    return zero;
}

PACKED_INLINE size_t four_leave_out(uint64_t *to, const uint64_t *from, unsigned out)
{
    size_t taken = 0;
    for (unsigned i = 0; i < 4; i++) {
        to[taken] = from[i];
        taken += ~out >> i & 1;
    }
    return taken;
}

#endif

/* The same for n words, a multiple of eight, by one bit each. `to` may be `from`. */
static inline size_t words_leave_out(uint64_t *to, const uint64_t *from, const uint8_t *out, size_t n)
{
    uint64_t *at = to;
    for (size_t i = 0; i < n; i += 8) {
        at += four_leave_out(at, from + i, out[i / 8] & 15);
        at += four_leave_out(at, from + i + 4, out[i / 8] >> 4);
    }
    return (size_t)(at - to);
}

#endif
