/* SPDX-License-Identifier: MIT */
/* What is asked of the generator, read from text such as "zipf,rows=1M,groups=50k,skew=1.1". */
#ifndef AGB_SYNTH_SPEC_H
#define AGB_SYNTH_SPEC_H

#include "status.h"

#include <stdint.h>

typedef enum agb_synth_kind {
    AGB_SYNTH_HITS,
    AGB_SYNTH_UNIFORM,
    AGB_SYNTH_ZIPF,
    AGB_SYNTH_SEQUENTIAL,
    AGB_SYNTH_RUNS,
    AGB_SYNTH_SAME,
    AGB_SYNTH_GIANT
} agb_synth_kind;

typedef enum agb_synth_order {
    AGB_SYNTH_NATURAL,
    AGB_SYNTH_SHUFFLED,
    AGB_SYNTH_SORTED,
    AGB_SYNTH_AS_HITS    /* the word "hits", which is settled to be natural */
} agb_synth_order;

typedef enum agb_synth_shape {
    AGB_SYNTH_MIXED,        /* spread over all of the signed 64-bit range */
    AGB_SYNTH_DENSE,        /* 0, 1, 2 ... */
    AGB_SYNTH_LOW_ZERO,     /* the low bits of every key are zero */
    AGB_SYNTH_HIGH_EQUAL,   /* the high 24 bits of every key are the same */
    AGB_SYNTH_EDGES         /* 0, -1, the least, the greatest, and their neighbours */
} agb_synth_shape;

/* All fields are uint64_t, so that one table can describe every key of the spec. */
typedef struct agb_synth_spec {
    uint64_t kind;              /* agb_synth_kind */
    uint64_t rows, groups, seed, stride;
    uint64_t run_millionths;    /* mean length of a run of equal rows, times 10^6 */
    uint64_t skew_billionths;   /* exponent of zipf, times 10^9 */
    uint64_t share_billionths;  /* of the rows, in the giant group, times 10^9 */
    uint64_t order;             /* agb_synth_order */
    uint64_t shape;             /* agb_synth_shape */
    uint64_t runs;              /* hits: number of runs; runs: the same, rounded up */
    uint64_t giant_rows;        /* giant: rows of its first group */
} agb_synth_spec;

/* Parses and checks all of it; what is not given gets its default. */
agb_status agb_synth_spec_parse(agb_synth_spec *spec, const char *text, agb_error *err);

const char *agb_synth_kind_name(const agb_synth_spec *spec);
const char *agb_synth_order_name(const agb_synth_spec *spec);
const char *agb_synth_shape_name(const agb_synth_spec *spec);

#endif
