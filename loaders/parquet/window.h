/* SPDX-License-Identifier: MIT */
/* A view of a part of a file through a buffer that is used again and again.
 *
 * Reading was preferred to mapping: a file that is cut short by somebody else while it is being read ends in an error
 * here, and in a SIGBUS there; and the copy goes to memory that is already in the cache. */
#ifndef AGB_PARQUET_WINDOW_H
#define AGB_PARQUET_WINDOW_H

#include "aggbench.h"
#include "parquet/buffer.h"

typedef struct agb_parquet_window {
    int fd;
    uint64_t end;       /* file offset behind the last byte that may be read */
    uint64_t offset;    /* file offset of the buffer's first byte */
    size_t filled;
    agb_parquet_buffer buffer;
} agb_parquet_window;

/* Turns to another part of the file; keeps the buffer. */
void agb_parquet_window_open(agb_parquet_window *window, int fd, uint64_t end);

/* At least `bytes` bytes from file offset `offset`, which with them must not pass the end; *available: how many there
 * are in one piece (may be NULL). The bytes are the caller's to change, until the next call. NULL on an error, whose
 * sentence has only the reason. */
unsigned char *agb_parquet_window_at(agb_parquet_window *window, uint64_t offset, size_t bytes, size_t *available,
                                     agb_error *err);

#endif
