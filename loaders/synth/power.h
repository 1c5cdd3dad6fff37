/* SPDX-License-Identifier: MIT */
/* Powers in fixed point. libm's pow differs between C libraries, and a compiler may fuse a*b+c into one rounding or
 * not; integers do the same everywhere. These functions are bit-at-a-time and slow (about 200 ns): they fill tables
 * and settle rare cases. */
#ifndef AGB_SYNTH_POWER_H
#define AGB_SYNTH_POWER_H

#include <stdint.h>

typedef unsigned __int128 agb_synth_wide;    /* here: 64 bits before the point, 64 after */

typedef struct agb_synth_roots {
    uint64_t root[64];    /* root[i] = 2^-(2^-(i+1)), the (i+1)-fold square root of one half, times 2^64 */
} agb_synth_roots;

void agb_synth_roots_fill(agb_synth_roots *roots);

/* log2(x) for x >= 1; error below 2^-60. */
agb_synth_wide agb_synth_log2(uint64_t x);

/* 2^-x times 2^64, at most 2^64 - 1; error below 2^-57 of the value 1. */
uint64_t agb_synth_exp2_minus(const agb_synth_roots *roots, agb_synth_wide x);

/* The exponent is a decimal fraction: x times billionths / 10^9, rounded down. */
agb_synth_wide agb_synth_times(agb_synth_wide x, uint64_t billionths);

#endif
