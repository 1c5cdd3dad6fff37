/* SPDX-License-Identifier: MIT */
/* Reads one column of one row group into its place in a table. */
#ifndef AGB_PARQUET_CHUNK_H
#define AGB_PARQUET_CHUNK_H

#include "parquet/codec.h"
#include "parquet/footer.h"
#include "parquet/window.h"

/* What a worker keeps between chunks; start with {0}. */
typedef struct agb_parquet_scratch {
    agb_parquet_window window;
    agb_parquet_buffer page;          /* a page, unpacked */
    agb_parquet_buffer dictionary;    /* a dictionary page of numbers, unpacked */
    agb_parquet_buffer strings;       /* the strings of a dictionary, as agb_bytes */
    agb_parquet_unpacker unpacker;
} agb_parquet_scratch;

/* Room for pages of the usual size, so that the workers have it before they run: while one maps memory the page faults
 * of the others wait, and on a virtual machine who waits is often woken on its waker's processor. Costs address space
 * only; where it is refused, or too small, the pages ask again. */
void agb_parquet_scratch_prepare(agb_parquet_scratch *scratch);
void agb_parquet_scratch_release(agb_parquet_scratch *scratch);

typedef struct agb_parquet_job {
    const char *path;                    /* for messages */
    int fd;
    uint64_t data_end;                   /* file offset where the footer starts: no page may pass it */
    const agb_parquet_column *column;
    const agb_parquet_chunk *chunk;
    size_t row_group;                    /* for messages */
    uint64_t rows;                       /* of the row group */
    uint64_t wanted;                     /* of these, the first ones; there is room for so many */
    agb_table *table;
    size_t table_column;
    uint64_t table_row;                  /* of the row group's first row */
    unsigned char *values;               /* its place */
} agb_parquet_job;

/* Checks all that the footer says about the chunk, so that nothing impossible is begun; gives the file offsets of its
 * first page and behind its last. */
agb_status agb_parquet_chunk_check(const agb_parquet_job *job, uint64_t *start, uint64_t *end, agb_error *err);

/* The sentences name file, column, row group, and the page's offset in the file. */
agb_status agb_parquet_chunk_read(const agb_parquet_job *job, agb_parquet_scratch *scratch, agb_error *err);

#endif
