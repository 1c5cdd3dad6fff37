/* SPDX-License-Identifier: MIT */
/* Memory that grows: scratch bytes of a worker, and lists whose length is known only after reading them. */
#ifndef AGB_PARQUET_BUFFER_H
#define AGB_PARQUET_BUFFER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>

/* Bit-unpacking loads 8 bytes at a time: this many bytes after the last value can be read (not used) everywhere. */
enum { AGB_PARQUET_SLACK = 16 };

typedef struct agb_parquet_buffer {
    unsigned char *bytes;
    size_t capacity;    /* without the slack, which is always there */
} agb_parquet_buffer;

/* Room for `bytes`; what was in it is lost when it has to grow. false when the system refuses. Pages differ in size: a
 * buffer that grew by no more than each asks for would be unmapped and mapped often, and the other workers' page faults
 * wait for that. */
static inline bool agb_parquet_buffer_reserve(agb_parquet_buffer *buffer, size_t bytes)
{
    if (buffer->bytes && bytes <= buffer->capacity)
        return true;
    if (bytes < buffer->capacity + buffer->capacity / 4)
        bytes = buffer->capacity + buffer->capacity / 4;
    free(buffer->bytes);
    buffer->bytes = malloc(bytes + AGB_PARQUET_SLACK);
    buffer->capacity = buffer->bytes ? bytes : 0;
    return buffer->bytes != NULL;
}

static inline void agb_parquet_buffer_release(agb_parquet_buffer *buffer)
{
    free(buffer->bytes);
    *buffer = (agb_parquet_buffer){0};
}

/* Room for one more item behind `count` items: doubles at every power of two, so that no capacity has to be kept. The
 * memory stays in proportion to what has been read. NULL when the system refuses; items are then still there. */
static inline void *agb_parquet_list_grow(void *items, size_t count, size_t item_bytes)
{
    if (count & (count - 1))
        return items;
    return realloc(items, (count ? 2 * count : 1) * item_bytes);
}

#endif
