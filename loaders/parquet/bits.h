/* SPDX-License-Identifier: MIT */
/* Bit-packed numbers: least significant bit first, no gaps. */
#ifndef AGB_PARQUET_BITS_H
#define AGB_PARQUET_BITS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* 32 numbers of `width` bits, 0 to 32, from the start of a byte. Up to AGB_PARQUET_SLACK bytes behind the last one's
 * are read, not used. */
void agb_parquet_unpack_32(const unsigned char *packed, unsigned width, uint32_t out[32]);

/* Number i of the numbers of `width` bits, 0 to 64. Up to AGB_PARQUET_SLACK bytes behind it are read, not used. */
static inline uint64_t agb_parquet_bits_at(const unsigned char *packed, unsigned width, size_t i)
{
    if (width == 0)
        return 0;
    size_t bit = i * width;
    unsigned shift = bit & 7;
    uint64_t low, word;
    memcpy(&low, packed + bit / 8, sizeof low);
    word = low >> shift;
    if (width + shift > 64)
        word |= (uint64_t)packed[bit / 8 + 8] << (64 - shift);
    return width == 64 ? word : word & ((UINT64_C(1) << width) - 1);
}

#endif
