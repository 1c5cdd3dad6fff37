/* SPDX-License-Identifier: MIT */
/* The header that stands before every page of a column chunk. */
#ifndef AGB_PARQUET_PAGE_H
#define AGB_PARQUET_PAGE_H

#include "aggbench.h"
#include "parquet/format.h"
#include "parquet/thrift.h"

/* Sizes and counts have been checked to be 0 or more, and nothing else. */
typedef struct agb_parquet_page {
    int type;                                 /* agb_parquet_page_type, or one to be skipped */
    uint32_t stored_bytes;                    /* in the file, behind the header */
    uint32_t bytes;                           /* when unpacked, level bytes included */
    uint32_t values;                          /* rows of a data page (NULLs included), entries of a dictionary */
    int encoding, level_encoding;
    uint32_t definition_bytes, repetition_bytes;    /* version 2: levels before the packed bytes */
    bool packed;                              /* version 2: false when left uncompressed in a compressed column */
    bool has_crc;
    uint32_t crc;
} agb_parquet_page;

typedef enum agb_parquet_page_found {
    AGB_PARQUET_PAGE_READ,
    AGB_PARQUET_PAGE_CUT,    /* the bytes ended inside the header */
    AGB_PARQUET_PAGE_BAD     /* err has the reason, and no more than that */
} agb_parquet_page_found;

/* Parses a header from the start of the bytes; *header_bytes is its length. */
agb_parquet_page_found agb_parquet_page_parse(agb_parquet_page *page, const unsigned char *bytes, size_t count,
                                              size_t *header_bytes, agb_error *err);

#endif
