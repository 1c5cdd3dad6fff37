/* SPDX-License-Identifier: MIT */
/* Blocks of 64 bytes in two AVX2 registers. Included by scan.h only. */
#include <immintrin.h>

typedef struct agb_text_block {
    __m256i low, high;
} agb_text_block;

static inline agb_text_block agb_text_block_load(const unsigned char *at)
{
    return (agb_text_block){_mm256_loadu_si256((const __m256i *)(const void *)at),
                            _mm256_loadu_si256((const __m256i *)(const void *)(at + 32))};
}

/* Bit i is set where byte i equals `byte`. */
static inline uint64_t agb_text_block_find(agb_text_block block, unsigned char byte)
{
    __m256i wanted = _mm256_set1_epi8((char)byte);
    uint32_t low = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(block.low, wanted));
    uint32_t high = (uint32_t)_mm256_movemask_epi8(_mm256_cmpeq_epi8(block.high, wanted));
    return (uint64_t)high << 32 | low;
}
