/* SPDX-License-Identifier: MIT */
/* Fixed-point logarithm and exponential to the base two, from squaring and square roots. */
#include "power.h"

/* floor(sqrt(x * 2^64)), a bit at a time: the square root of x / 2^64, times 2^64. */
static uint64_t root_of(uint64_t x)
{
    uint64_t root = 0;
    for (int bit = 63; bit >= 0; bit--) {
        uint64_t larger = root | (uint64_t)1 << bit;
        if ((agb_synth_wide)larger * larger <= (agb_synth_wide)x << 64)
            root = larger;
    }
    return root;
}

void agb_synth_roots_fill(agb_synth_roots *roots)
{
    uint64_t x = (uint64_t)1 << 63;
    for (int i = 0; i < 64; i++)
        roots->root[i] = x = root_of(x);
}

/* With x = 2^whole * y and 1 <= y < 2: squaring y doubles its logarithm, so whether the square reaches 2 is the next
 * binary digit. The error of each rounding is halved by every step that came before it. */
agb_synth_wide agb_synth_log2(uint64_t x)
{
    int whole = 63 - __builtin_clzll(x);
    uint64_t y = x << (63 - whole), fraction = 0;    /* y: one bit before the point, 63 after */
    for (int i = 0; i < 64; i++) {
        agb_synth_wide square = (agb_synth_wide)y * y;
        unsigned digit = (unsigned)(square >> 127);
        fraction = fraction << 1 | digit;
        y = (uint64_t)(square >> (63 + digit));
    }
    return (agb_synth_wide)whole << 64 | fraction;
}

/* Each binary digit of the fraction brings the factor 2^-(2^-digit). */
uint64_t agb_synth_exp2_minus(const agb_synth_roots *roots, agb_synth_wide x)
{
    uint64_t whole = (uint64_t)(x >> 64), fraction = (uint64_t)x, y = UINT64_MAX;
    if (whole > 63)
        return 0;
    for (int i = 0; i < 64; i++) {
        if (fraction >> (63 - i) & 1)
            y = (uint64_t)(((agb_synth_wide)y * roots->root[i]) >> 64);
    }
    return y >> whole;
}

agb_synth_wide agb_synth_times(agb_synth_wide x, uint64_t billionths)
{
    return x * billionths / 1000000000u;    /* x < 2^71 and billionths < 2^35 at all callers: no overflow */
}
