/* SPDX-License-Identifier: MIT */
/* What the fuzzer's two halves share: fuzz.c (give bytes to their reader) and seal.c (change bytes so that checksums
 * and lengths around them hold again). */
#ifndef AGB_FUZZ_H
#define AGB_FUZZ_H

#include "loader.h"

/* libFuzzer's own mutation of [data, data + size), which has room for `most`; returns the new size. */
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t most);

/* A mutation that gets behind what guards a format; returns the new size, 0 when these bytes have no such parts. */
size_t agb_fuzz_mutate_agb(uint8_t *data, size_t size, size_t most, unsigned seed);
size_t agb_fuzz_mutate_parquet(uint8_t *data, size_t size, size_t most, unsigned seed);

/* An input of these bytes in a nameless file; closed with close(input.fd). */
agb_input agb_fuzz_input(const char *path, const uint8_t *data, size_t size, bool seekable);

#endif
