/* SPDX-License-Identifier: MIT */
/* The values of one data page in any encoding, read front to back into a table's column.
 *
 * NULLs are not among them: the caller knows from the levels how many values come next. Every reader takes whatever
 * number is asked for, so that nothing is allocated by what a page claims, and none reads past the page's bytes. */
#ifndef AGB_PARQUET_VALUES_H
#define AGB_PARQUET_VALUES_H

#include "loader.h"
#include "parquet/delta.h"
#include "parquet/hybrid.h"
#include "parquet/schema.h"

/* The entries of a chunk's dictionary as they stand in a table: agb_type_bytes each. */
typedef struct agb_parquet_dictionary {
    const void *entries;    /* NULL: the chunk has no dictionary (so far) */
    uint32_t count;
} agb_parquet_dictionary;

typedef struct agb_parquet_values agb_parquet_values;
struct agb_parquet_values {
    agb_status (*next)(agb_parquet_values *values, size_t n, void *out, agb_error *err);
    const unsigned char *at, *end;    /* bytes of the page that have not been used */
    agb_table *table;                 /* whose heap takes strings that are made here */
    size_t width;                     /* bytes of a value in the table; of a FIXED_LEN_BYTE_ARRAY: in the file */
    const agb_parquet_dictionary *dictionary;
    agb_parquet_hybrid runs;          /* indices or booleans */
    agb_parquet_delta delta;          /* numbers, or lengths of strings */
    agb_parquet_delta prefixes;
    agb_bytes last;                   /* the string before, whose beginning the next one may share */
    uint64_t expanded_bytes;          /* of strings made from shared beginnings */
    uint64_t position, count;         /* PLAIN booleans: bits; BYTE_STREAM_SPLIT: values */
};

/* Must the bytes of a page in this encoding stay where they are for as long as the table lives, because its strings
 * are pointed to? */
bool agb_parquet_values_stay(const agb_parquet_column *column, int encoding);

/* Bytes from..end are a page's values, and AGB_PARQUET_SLACK more can be read. The sentences have only the reason. */
agb_status agb_parquet_values_open(agb_parquet_values *values, const agb_parquet_column *column, int encoding,
                                   const unsigned char *from, const unsigned char *end,
                                   const agb_parquet_dictionary *dictionary, agb_table *table, agb_error *err);

/* strings.c: the encodings of byte strings. `at` and `end` have been set. */
agb_status agb_parquet_strings_open(agb_parquet_values *values, const agb_parquet_column *column, int encoding,
                                    agb_error *err);

static inline agb_status agb_parquet_values_end_early(agb_error *err)
{
    return agb_fail(err, AGB_ERR_FORMAT, "the page holds fewer values than its header says");
}

agb_status agb_parquet_encoding_refused(const agb_parquet_column *column, int encoding, agb_error *err);

#endif
