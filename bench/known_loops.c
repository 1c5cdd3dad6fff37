/* SPDX-License-Identifier: MIT */
/* Loops of known make: see known_loops.h. They count down to zero, which takes two instructions everywhere; empty
 * statements keep the compiler from folding sums, unrolling, and moving anything between load and additions. */
#include "known_loops.h"

static inline __attribute__((always_inline)) void compute(uint64_t turns)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    for (; turns; turns--) {
        a += 1, b += 3, c += 5, d += 7, e += 9, f += 11, g += 13, h += 15;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
}

__attribute__((noinline)) void agb_loop_compute(uint64_t turns)
{
    compute(turns);
}

static void wait_only(agb_chain *chain, uint64_t hops)
{
    void **at = chain->start[0];
    for (; hops; hops--) {
        at = *at;
        __asm__ volatile("" : "+r"(at));
    }
    chain->start[0] = at;
}

void agb_loop_mixed(agb_chain *chain, uint64_t hops, uint64_t turns)
{
    if (turns == 0) {
        wait_only(chain, hops);
        return;
    }
    void **at = chain->start[0];
    for (; hops; hops--) {
        at = *at;
        __asm__ volatile("" : "+r"(at));
        agb_loop_compute(turns);
    }
    chain->start[0] = at;
}

/* The call, its return and the setting of eight sums and a counter come to about a dozen for each hop. */
double agb_loop_mixed_instructions(uint64_t hops, uint64_t turns)
{
    enum { CALL = 14 };
    double each = AGB_HOP_INSTRUCTIONS + (turns ? CALL + (double)turns * AGB_COMPUTE_INSTRUCTIONS : 0);
    return (double)hops * each;
}
