/* SPDX-License-Identifier: MIT */
/* The columns of a Parquet file: the leaves of the schema tree that its footer holds as a flat list. */
#ifndef AGB_PARQUET_SCHEMA_H
#define AGB_PARQUET_SCHEMA_H

#include "aggbench.h"
#include "parquet/format.h"
#include "parquet/thrift.h"

typedef struct agb_parquet_column {
    char *name;                /* its path from the root, joined by dots */
    int type;                  /* agb_parquet_type */
    uint32_t length;           /* of a FIXED_LEN_BYTE_ARRAY, in bytes; else 0 */
    bool optional;
    agb_type as;               /* how it stands in a table; AGB_TYPE_OTHER: cannot be loaded, because */
    const char *refusal;       /* of this; NULL when it can. Static text */
    const char *annotation;    /* what the values mean, e.g. "UINT_16"; "" when the file does not say. Static text */
} agb_parquet_column;

typedef struct agb_parquet_schema {
    size_t columns;
    agb_parquet_column *column;
} agb_parquet_schema;

/* Reads `elements` SchemaElement structures. The sentence has only the reason: the caller adds the file. */
agb_status agb_parquet_schema_read(agb_parquet_schema *schema, agb_thrift *thrift, size_t elements, agb_error *err);
void agb_parquet_schema_release(agb_parquet_schema *schema);

#endif
