/* SPDX-License-Identifier: MIT */
#ifndef AGB_PARQUET_SNAPPY_H
#define AGB_PARQUET_SNAPPY_H

#include <stdbool.h>
#include <stddef.h>

/* Unpacks one Snappy stream to exactly `bytes` bytes; false when it is damaged or of another length. Writes nothing
 * outside out[0..bytes), reads nothing outside packed[0..packed_bytes). */
bool agb_parquet_snappy(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t bytes);

#endif
