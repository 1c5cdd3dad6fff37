/* SPDX-License-Identifier: MIT */
/* The width is a constant in each of the 33 cases of the switch, so the compiler unrolls the loop and knows every byte
 * offset and shift: a number costs one unaligned 8-byte load, a shift, a mask and a store. 32 numbers of any width end
 * at a byte, so block follows block without a carry. The file format is little-endian, as this machine must be. */
#include "parquet/bits.h"

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "Parquet's numbers are read as they stand in memory");

__attribute__((always_inline)) static inline void unpack(const unsigned char *packed, const unsigned width,
                                                         uint32_t *out)
{
    const uint64_t mask = (UINT64_C(1) << width) - 1;
#pragma GCC unroll 32
    for (unsigned i = 0; i < 32; i++) {
        uint64_t word;
        memcpy(&word, packed + i * width / 8, sizeof word);
        out[i] = (uint32_t)(word >> (i * width % 8) & mask);
    }
}

#define WIDTH(width)                                                                                                   \
    case width:                                                                                                        \
        unpack(packed, width, out);                                                                                    \
        break

void agb_parquet_unpack_32(const unsigned char *packed, unsigned width, uint32_t out[32])
{
    switch (width) {
    WIDTH(1); WIDTH(2); WIDTH(3); WIDTH(4); WIDTH(5); WIDTH(6); WIDTH(7); WIDTH(8); WIDTH(9); WIDTH(10); WIDTH(11);
    WIDTH(12); WIDTH(13); WIDTH(14); WIDTH(15); WIDTH(16); WIDTH(17); WIDTH(18); WIDTH(19); WIDTH(20); WIDTH(21);
    WIDTH(22); WIDTH(23); WIDTH(24); WIDTH(25); WIDTH(26); WIDTH(27); WIDTH(28); WIDTH(29); WIDTH(30); WIDTH(31);
    WIDTH(32);
    default:
        memset(out, 0, 32 * sizeof *out);
    }
}
