/* SPDX-License-Identifier: MIT */
/* The numbers of the Parquet format and their names. Source: parquet.thrift in the Apache Parquet format documents. */
#ifndef AGB_PARQUET_FORMAT_H
#define AGB_PARQUET_FORMAT_H

typedef enum agb_parquet_type {
    AGB_PARQUET_BOOLEAN,
    AGB_PARQUET_INT32,
    AGB_PARQUET_INT64,
    AGB_PARQUET_INT96,
    AGB_PARQUET_FLOAT,
    AGB_PARQUET_DOUBLE,
    AGB_PARQUET_BYTE_ARRAY,
    AGB_PARQUET_FIXED,
    AGB_PARQUET_TYPES
} agb_parquet_type;

typedef enum agb_parquet_codec {
    AGB_PARQUET_UNCOMPRESSED,
    AGB_PARQUET_SNAPPY,
    AGB_PARQUET_GZIP,
    AGB_PARQUET_LZO,
    AGB_PARQUET_BROTLI,
    AGB_PARQUET_LZ4,    /* in Hadoop's frames, by some writers a bare block */
    AGB_PARQUET_ZSTD,
    AGB_PARQUET_LZ4_RAW,
    AGB_PARQUET_CODECS
} agb_parquet_codec;

typedef enum agb_parquet_encoding {
    AGB_PARQUET_PLAIN = 0,
    AGB_PARQUET_PLAIN_DICTIONARY = 2,
    AGB_PARQUET_RLE,
    AGB_PARQUET_BIT_PACKED,
    AGB_PARQUET_DELTA_BINARY_PACKED,
    AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY,
    AGB_PARQUET_DELTA_BYTE_ARRAY,
    AGB_PARQUET_RLE_DICTIONARY,
    AGB_PARQUET_BYTE_STREAM_SPLIT,
    AGB_PARQUET_ENCODINGS
} agb_parquet_encoding;

typedef enum agb_parquet_page_type {
    AGB_PARQUET_DATA_PAGE,
    AGB_PARQUET_INDEX_PAGE,
    AGB_PARQUET_DICTIONARY_PAGE,
    AGB_PARQUET_DATA_PAGE_V2
} agb_parquet_page_type;

typedef enum agb_parquet_repetition {
    AGB_PARQUET_REQUIRED,
    AGB_PARQUET_OPTIONAL,
    AGB_PARQUET_REPEATED
} agb_parquet_repetition;

/* Names as the format's documents write them; "unknown" for any other number. */
const char *agb_parquet_type_name(int type);
const char *agb_parquet_codec_name(int codec);
const char *agb_parquet_encoding_name(int encoding);
/* Annotations of old (ConvertedType) and of new files (the number of the member of LogicalType). */
const char *agb_parquet_converted_name(int converted);
const char *agb_parquet_logical_name(int logical);

#endif
