/* SPDX-License-Identifier: MIT */
/* Blocks of 64 bytes in eight ordinary words, for every processor. Included by scan.h only. */
#include <endian.h>

typedef struct agb_text_block {
    uint64_t word[8];
} agb_text_block;

static inline agb_text_block agb_text_block_load(const unsigned char *at)
{
    agb_text_block block;
    memcpy(block.word, at, sizeof block.word);
    for (int i = 0; i < 8; i++)
        block.word[i] = le64toh(block.word[i]);
    return block;
}

/* Bit i is set where byte i equals `byte`. A byte of `difference` is 0 exactly where it does; adding 0x7f to its low
 * seven bits carries into the top bit unless they are 0, so no carry leaves a byte. The product gathers the eight
 * top bits into one byte (Warren, Hacker's Delight, 2002). */
static inline uint64_t agb_text_block_find(agb_text_block block, unsigned char byte)
{
    const uint64_t low_seven = UINT64_C(0x7f7f7f7f7f7f7f7f);
    uint64_t found = 0;
    for (int i = 0; i < 8; i++) {
        uint64_t difference = block.word[i] ^ byte * UINT64_C(0x0101010101010101);
        uint64_t equal = ~(((difference & low_seven) + low_seven) | difference | low_seven);
        found |= ((equal >> 7) * UINT64_C(0x0102040810204080) >> 56) << 8 * i;
    }
    return found;
}
