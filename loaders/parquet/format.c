/* SPDX-License-Identifier: MIT */
#include "parquet/format.h"

#include <stddef.h>

static const char *name_of(const char *const *names, size_t count, int number)
{
    return number >= 0 && (size_t)number < count && names[number] ? names[number] : "unknown";
}

const char *agb_parquet_type_name(int type)
{
    static const char *const names[] = {"BOOLEAN", "INT32", "INT64", "INT96", "FLOAT", "DOUBLE", "BYTE_ARRAY",
                                        "FIXED_LEN_BYTE_ARRAY"};
    return name_of(names, sizeof names / sizeof *names, type);
}

const char *agb_parquet_codec_name(int codec)
{
    static const char *const names[] = {"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"};
    return name_of(names, sizeof names / sizeof *names, codec);
}

const char *agb_parquet_encoding_name(int encoding)
{
    static const char *const names[] = {"PLAIN", NULL, "PLAIN_DICTIONARY", "RLE", "BIT_PACKED", "DELTA_BINARY_PACKED",
                                        "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "RLE_DICTIONARY",
                                        "BYTE_STREAM_SPLIT"};
    return name_of(names, sizeof names / sizeof *names, encoding);
}

const char *agb_parquet_converted_name(int converted)
{
    static const char *const names[] = {"UTF8", "MAP", "MAP_KEY_VALUE", "LIST", "ENUM", "DECIMAL", "DATE",
                                        "TIME_MILLIS", "TIME_MICROS", "TIMESTAMP_MILLIS", "TIMESTAMP_MICROS", "UINT_8",
                                        "UINT_16", "UINT_32", "UINT_64", "INT_8", "INT_16", "INT_32", "INT_64",
                                        "JSON", "BSON", "INTERVAL"};
    return name_of(names, sizeof names / sizeof *names, converted);
}

const char *agb_parquet_logical_name(int logical)
{
    static const char *const names[] = {NULL, "STRING", "MAP", "LIST", "ENUM", "DECIMAL", "DATE", "TIME", "TIMESTAMP",
                                        NULL, "INTEGER", "UNKNOWN", "JSON", "BSON", "UUID", "FLOAT16", "VARIANT",
                                        "GEOMETRY", "GEOGRAPHY"};
    return name_of(names, sizeof names / sizeof *names, logical);
}
