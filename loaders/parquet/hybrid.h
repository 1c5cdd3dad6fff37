/* SPDX-License-Identifier: MIT */
/* Parquet's hybrid of run-length and bit-packed numbers: dictionary indices, levels and booleans.
 *
 * Data are a sequence of runs; the lowest bit of a run's head says which kind. A repeated run has a count and one
 * value; a packed run has a number of groups of eight. Readers work run by run, so that a long run costs no more than
 * filling memory. Source: "Run Length Encoding / Bit-Packing Hybrid" in Encodings.md of the format's documents. */
#ifndef AGB_PARQUET_HYBRID_H
#define AGB_PARQUET_HYBRID_H

#include "aggbench.h"

typedef struct agb_parquet_hybrid {
    const unsigned char *at, *end;    /* the next run's head; end of the data */
    unsigned width;
    uint64_t left;                    /* numbers left in the current run */
    bool repeated;
    uint32_t value;                   /* of a repeated run */
    const unsigned char *packed;      /* of a packed run: its start, and */
    size_t next;                      /* the position of the next number in it */
} agb_parquet_hybrid;

/* width: 0 to 32 bits. */
void agb_parquet_hybrid_open(agb_parquet_hybrid *hybrid, const unsigned char *at, const unsigned char *end,
                             unsigned width);
/* The same reader over bit-packed numbers that have no run head. */
void agb_parquet_hybrid_open_packed(agb_parquet_hybrid *hybrid, const unsigned char *at, const unsigned char *end,
                                    unsigned width);

/* Makes left > 0; false where the data end or are damaged. */
bool agb_parquet_hybrid_run(agb_parquet_hybrid *hybrid);

/* Takes n <= left numbers out of a packed run. */
void agb_parquet_hybrid_unpack(agb_parquet_hybrid *hybrid, size_t n, uint32_t *out);

#endif
