/* SPDX-License-Identifier: MIT */
/* Looking at text 64 bytes at a time: where in a block do some bytes stand?
 *
 * A comparison of 64 bytes with one value gives a word of 64 bits, and all further questions are asked of that word:
 * how many (population count), where the first, where the n-th. Short fields make this pay: a row of hits has 105
 * fields in some 840 bytes, and a search that starts anew for every field would start 105 times.
 *
 * The instruction set is chosen here and nowhere else. */
#ifndef AGB_TEXT_SCAN_H
#define AGB_TEXT_SCAN_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

enum { AGB_TEXT_BLOCK = 64 };

/* Each gives agb_text_block (64 bytes held for comparing), agb_text_block_load and agb_text_block_find. */
#ifdef __AVX2__
#include "scan_avx2.h"
#else
#include "scan_portable.h"
#endif

/* The block at `at`, of which the bytes before `end` count; *valid has one bit for each of those. Reads nothing past
 * end: the last bytes are copied first. at < end. */
static inline agb_text_block agb_text_block_at(const unsigned char *at, const unsigned char *end, uint64_t *valid)
{
    size_t left = (size_t)(end - at);
    if (left >= AGB_TEXT_BLOCK) {
        *valid = ~UINT64_C(0);
        return agb_text_block_load(at);
    }
    unsigned char last[AGB_TEXT_BLOCK] = {0};
    memcpy(last, at, left);
    *valid = (UINT64_C(1) << left) - 1;
    return agb_text_block_load(last);
}

/* Number of the n-th one bit, from 0; there must be so many. A loop beats the bit-deposit instruction where that is
 * microcode, and n is small here: a block has some eight fields. */
static inline unsigned agb_text_nth_bit(uint64_t bits, size_t n)
{
    while (n-- > 0)
        bits &= bits - 1;
    return (unsigned)__builtin_ctzll(bits);
}

/* The first byte equal to one of the two, or end. */
static inline const unsigned char *agb_text_find_either(const unsigned char *at, const unsigned char *end,
                                                        unsigned char one, unsigned char other)
{
    for (; at < end; at += AGB_TEXT_BLOCK) {
        uint64_t valid;
        agb_text_block block = agb_text_block_at(at, end, &valid);
        uint64_t hits = (agb_text_block_find(block, one) | agb_text_block_find(block, other)) & valid;
        if (hits)
            return at + __builtin_ctzll(hits);
    }
    return end;
}

static inline const unsigned char *agb_text_find(const unsigned char *at, const unsigned char *end, unsigned char byte)
{
    const unsigned char *found = at < end ? memchr(at, byte, (size_t)(end - at)) : NULL;
    return found ? found : end;
}

static inline uint64_t agb_text_count(const unsigned char *at, const unsigned char *end, unsigned char byte)
{
    uint64_t count = 0;
    for (; at < end; at += AGB_TEXT_BLOCK) {
        uint64_t valid;
        agb_text_block block = agb_text_block_at(at, end, &valid);
        count += (unsigned)__builtin_popcountll(agb_text_block_find(block, byte) & valid);
    }
    return count;
}

#endif
