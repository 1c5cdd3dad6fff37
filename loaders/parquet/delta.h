/* SPDX-License-Identifier: MIT */
/* DELTA_BINARY_PACKED: each number is the one before plus a difference; differences are packed in miniblocks, each of
 * its own bit width, above the smallest difference of the block. Read front to back, a few at a time; no memory.
 * Source: "Delta Encoding" in Encodings.md of the format's documents. */
#ifndef AGB_PARQUET_DELTA_H
#define AGB_PARQUET_DELTA_H

#include "aggbench.h"

typedef struct agb_parquet_delta {
    const unsigned char *at, *end;    /* the next miniblock's bits */
    uint64_t left;                    /* numbers still to come */
    uint64_t value;                   /* the last one, as two's complement */
    uint64_t least;                   /* the block's smallest difference */
    const unsigned char *widths;      /* of the block's miniblocks */
    uint32_t miniblocks, miniblock_values;
    uint32_t miniblock;               /* the current one's number in its block */
    uint32_t position;                /* of the next number in it */
    bool first;                       /* the first number stands in the header */
} agb_parquet_delta;

/* Reads the header. The sentences of these three have only the reason. */
agb_status agb_parquet_delta_open(agb_parquet_delta *delta, const unsigned char *at, const unsigned char *end,
                                  agb_error *err);
/* The next n numbers. Sums are made in 64 bits; a caller that wants 32 keeps the low ones. */
agb_status agb_parquet_delta_next(agb_parquet_delta *delta, size_t n, uint64_t *out, agb_error *err);
/* Where the data end, for what follows them; takes a copy of the reader to the end without unpacking. */
agb_status agb_parquet_delta_end(const agb_parquet_delta *delta, const unsigned char **end, agb_error *err);

#endif
