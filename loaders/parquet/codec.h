/* SPDX-License-Identifier: MIT */
/* Unpacking the bytes of a page with the distribution's compression libraries. */
#ifndef AGB_PARQUET_CODEC_H
#define AGB_PARQUET_CODEC_H

#include "aggbench.h"
#include "parquet/format.h"

/* What a worker keeps between pages; start with {0}. */
typedef struct agb_parquet_unpacker {
    void *zstd;
} agb_parquet_unpacker;

void agb_parquet_unpacker_release(agb_parquet_unpacker *unpacker);

/* Can this codec be unpacked, and can `packed` bytes become `bytes`? To be asked before memory is allocated: no page
 * may be larger than 1 GiB, nor larger than the codec can make it (64 KiB are always allowed). The sentence has only
 * the reason. */
agb_status agb_parquet_unpack_check(int codec, uint64_t packed, uint64_t bytes, agb_error *err);

/* Unpacks to exactly `bytes` bytes; anything else is an error. The sentence has only the reason. */
agb_status agb_parquet_unpack(agb_parquet_unpacker *unpacker, int codec, const unsigned char *packed,
                              size_t packed_bytes, unsigned char *out, size_t bytes, agb_error *err);

#endif
