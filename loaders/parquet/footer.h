/* SPDX-License-Identifier: MIT */
/* What a Parquet file says about itself at its end: columns, row groups, and where each column chunk lies. */
#ifndef AGB_PARQUET_FOOTER_H
#define AGB_PARQUET_FOOTER_H

#include "parquet/schema.h"

/* One column of one row group, as the footer describes it. Nothing of it has been checked. */
typedef struct agb_parquet_chunk {
    int64_t values, bytes;
    int64_t data_offset, dictionary_offset;    /* 0 or less: not said */
    int32_t type, codec;
    uint32_t encodings;    /* bit i: encoding number i */
    bool described;        /* has the fields that no chunk can go without */
    bool encrypted;
    bool elsewhere;        /* its bytes are in another file */
} agb_parquet_chunk;

typedef struct agb_parquet_footer {
    agb_parquet_schema schema;
    size_t row_groups;
    uint64_t *group_rows;        /* rows of each row group */
    agb_parquet_chunk *chunk;    /* of row group g and column c: chunk[g * schema.columns + c] */
    uint64_t rows;               /* of all row groups */
    char *writer;                /* the program that wrote the file, or NULL */
} agb_parquet_footer;

/* Parses the bytes of a FileMetaData. Memory stays within 256 times their number. The sentence has only the reason: the
 * caller adds the file. Release the footer also after a failure. */
agb_status agb_parquet_footer_parse(agb_parquet_footer *footer, const unsigned char *bytes, size_t count,
                                    agb_error *err);
void agb_parquet_footer_release(agb_parquet_footer *footer);

#endif
