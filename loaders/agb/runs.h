/* SPDX-License-Identifier: MIT */
/* Runs of equal values: hits are ordered so that a user's rows, and still more a day's or a counter's, are neighbours.
 * The values of the runs come first and their lengths, of one byte, behind them, so that zstd sees alike by alike. */
#ifndef AGB_NATIVE_RUNS_H
#define AGB_NATIVE_RUNS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How many runs of at most 255 values there are; width: 1, 4 or 8 bytes. */
size_t agb_native_runs_count(const void *values, size_t n, size_t width);
/* Writes runs * (width + 1) bytes. */
void agb_native_runs_make(const void *values, size_t n, size_t width, size_t runs, unsigned char *out);
/* Back to n values; false when the lengths are not those of n values. */
bool agb_native_runs_expand(const unsigned char *packed, size_t runs, size_t width, void *out, size_t n);

#endif
