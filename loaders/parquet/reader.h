/* SPDX-License-Identifier: MIT */
/* What the walk over a chunk's pages (chunk.c) and the reading of one data page (data.c) share. */
#ifndef AGB_PARQUET_READER_H
#define AGB_PARQUET_READER_H

#include "parquet/chunk.h"
#include "parquet/page.h"
#include "parquet/values.h"

typedef struct agb_parquet_reader {
    const agb_parquet_job *job;
    agb_parquet_scratch *scratch;
    size_t width;              /* bytes of a value in the table */
    uint64_t at, end;          /* file offsets */
    uint64_t page_offset;      /* of the current page's header */
    uint64_t row;              /* in the row group */
    uint8_t *nulls;            /* place of the row group's first row; NULL: none has been NULL so far */
    agb_parquet_dictionary dictionary;
    agb_error *err;
} agb_parquet_reader;

/* The bytes of a page's values, or of levels and values. */
typedef struct agb_parquet_span {
    unsigned char *from, *end;
} agb_parquet_span;

typedef enum agb_parquet_place {
    AGB_PARQUET_IN_SCRATCH,       /* until the next page */
    AGB_PARQUET_IN_DICTIONARY,    /* until the next chunk */
    AGB_PARQUET_IN_HEAP,          /* as long as the table */
    AGB_PARQUET_IN_COLUMN         /* they are the column's values */
} agb_parquet_place;

static inline uint64_t agb_parquet_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* Unpacks what follows the `levels` bytes at the start of a stored page. Version 1 has none there; those of version 2
 * are never packed. An empty body need not be packed data at all. */
agb_status agb_parquet_unpack_body(agb_parquet_reader *reader, const agb_parquet_page *page, unsigned char *stored,
                                   uint32_t levels, agb_parquet_place place, agb_parquet_span *body);

/* Reads a data page of either version into the column and moves on by its rows. */
agb_status agb_parquet_read_data(agb_parquet_reader *reader, const agb_parquet_page *page, unsigned char *stored);

#endif
