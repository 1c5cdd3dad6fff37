/* SPDX-License-Identifier: MIT */
/* Work by the clock: small units of known kinds, done for a given part of the time, as tools such as stress-ng do it.
 * What a unit is, is never compared with another kind; only with itself at another load. */
#ifndef AGB_DUTY_H
#define AGB_DUTY_H

#include "chain.h"

typedef enum agb_duty_work {
    AGB_DUTY_INT64,      /* 64-bit multiplications, shifts and additions in four chains */
    AGB_DUTY_MATRIX,     /* a product of two matrices of doubles that fit into the L1 */
    AGB_DUTY_MIX,        /* one of each, and a pass over 64 KiB */
    AGB_DUTY_SPIN,       /* additions that wait for each other: one a cycle */
    AGB_DUTY_CHASE,      /* loads that wait for each other, all beyond the caches */
    AGB_DUTY_WORKS
} agb_duty_work;

enum { AGB_DUTY_MATRIX_SIDE = 32, AGB_DUTY_PASS_BYTES = 64 << 10 };
/* Steps that wait for each other in one unit of SPIN and CHASE. */
enum { AGB_DUTY_SPIN_STEPS = 20000, AGB_DUTY_CHASE_STEPS = 64 };

const char *agb_duty_name(agb_duty_work work);    /* "int64", "matrix", "mix" ... */

/* One worker's own memory. */
typedef struct agb_duty_bench {
    _Alignas(128) uint64_t sum[4];
    double a[AGB_DUTY_MATRIX_SIDE][AGB_DUTY_MATRIX_SIDE], b[AGB_DUTY_MATRIX_SIDE][AGB_DUTY_MATRIX_SIDE],
        c[AGB_DUTY_MATRIX_SIDE][AGB_DUTY_MATRIX_SIDE];
    char pass[AGB_DUTY_PASS_BYTES];
    agb_chain *chain;              /* CHASE only; one worker */
    uint64_t random;               /* of the length of its periods */

    uint64_t units;                /* done since agb_duty_begin */
    double busy_s;                 /* in which they were */
    double ghz;                    /* estimate: additions a nanosecond that wait for each other; 0 = not tried */
} agb_duty_bench;

void agb_duty_begin(agb_duty_bench *bench, unsigned worker);
/* Works for `part` (0..1) of `seconds`, and sleeps for the rest, in periods of 4 to 12 ms whose length is random, so
 * that they do not beat with the kernel's clock tick. */
void agb_duty_do(agb_duty_bench *bench, agb_duty_work work, double part, double seconds);

#endif
