/* SPDX-License-Identifier: MIT */
/* Shared by whoever compares 16 one-byte tags at once: a set of positions, as a mask. The only place of the strategies
 * that knows vector instructions by name; the portable way gives the same answers eight bytes at a time.
 *
 * A mask has 1 << TAG_STRIDE_BITS bits a position; the lowest of them is set where the tag matches. So that NEON, which
 * has no movemask, can do with its narrowing shift to four bits a position. */
#ifndef AGB_TAGS_PART_H
#define AGB_TAGS_PART_H

#include <stdint.h>
#include <string.h>

enum { TAGS = 16 };    /* one group */

#if defined __SSE2__

#include <emmintrin.h>

enum { TAG_STRIDE_BITS = 0 };

static inline uint64_t tags_equal(const uint8_t *tags, uint8_t tag)
{
    __m128i group = _mm_load_si128((const __m128i *)tags);
    return (uint64_t)_mm_movemask_epi8(_mm_cmpeq_epi8(group, _mm_set1_epi8((char)tag)));
}

#elif defined __ARM_NEON

#include <arm_neon.h>

enum { TAG_STRIDE_BITS = 2 };

static inline uint64_t tags_equal(const uint8_t *tags, uint8_t tag)
{
    uint8x16_t same = vceqq_u8(vld1q_u8(tags), vdupq_n_u8(tag));
    uint8x8_t nibbles = vshrn_n_u16(vreinterpretq_u16_u8(same), 4);
    return vget_lane_u64(vreinterpret_u64_u8(nibbles), 0) & UINT64_C(0x1111111111111111);
}

#else

enum { TAG_STRIDE_BITS = 0 };

/* The eight positions of one word. A byte of x is zero where the tag matches; adding 0x7f to its low seven bits then
 * leaves its top bit alone, and no byte carries into the next: exact, unlike the shorter (x - ones) & ~x & tops. The
 * multiplication gathers the top bits in the highest byte. Bytes are taken from memory one by one: no byte order. */
static inline uint64_t tags_equal_8(const uint8_t *tags, uint8_t tag)
{
    const uint64_t ones = UINT64_C(0x0101010101010101), low_bits = 0x7f * ones;
    uint64_t word = 0;
    for (unsigned i = 0; i < 8; i++)
        word |= (uint64_t)tags[i] << (8 * i);
    uint64_t x = word ^ tag * ones;
    uint64_t zero_bytes = ~(((x & low_bits) + low_bits) | x | low_bits);
    return ((zero_bytes >> 7) * UINT64_C(0x0102040810204080)) >> 56;
}

static inline uint64_t tags_equal(const uint8_t *tags, uint8_t tag)
{
    return tags_equal_8(tags, tag) | tags_equal_8(tags + 8, tag) << 8;
}

#endif

/* The first position of a mask that is not 0. */
static inline unsigned tags_first(uint64_t mask)
{
    return (unsigned)__builtin_ctzll(mask) >> TAG_STRIDE_BITS;
}

#endif
