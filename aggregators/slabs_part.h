/* SPDX-License-Identifier: MIT */
/* Shared: memory that is only ever given back as a whole, in slabs that double, so that few rows hold little memory and
 * many rows few slabs; and a store of string bytes cut from it. */
#ifndef AGB_SLABS_PART_H
#define AGB_SLABS_PART_H

#include "aggregator.h"

#include <string.h>

enum { FIRST_SLAB_BYTES = 1 << 18, LARGEST_SLAB_BYTES = 1 << 24 };

typedef struct slab {
    struct slab *older;
    size_t bytes;
} slab;

/* A further slab, of at least that size, in front of the list; NULL: no memory. Its own words take up its beginning. */
static inline slab *slabs_add(slab **newest, agb_host *host, size_t least)
{
    size_t bytes = *newest ? 2 * (*newest)->bytes : FIRST_SLAB_BYTES;
    if (bytes > LARGEST_SLAB_BYTES)
        bytes = LARGEST_SLAB_BYTES;
    if (bytes < least)
        bytes = least;
    slab *added = (slab *)agb_alloc(host, bytes, 0);
    if (!added)
        return NULL;
    *added = (slab){*newest, bytes};
    *newest = added;
    return added;
}

static inline void slabs_release(slab **newest, agb_host *host)
{
    while (*newest) {
        slab *last = *newest;
        *newest = last->older;
        agb_release(host, last, last->bytes);
    }
}

/* ---- Bytes of strings; all zero is an empty store ---- */

typedef struct bytes_store {
    slab *slabs;
    unsigned char *free, *end;    /* the rest of the newest slab */
} bytes_store;

/* Where a copy of the string stands; NULL: no memory. */
static inline unsigned char *bytes_store_copy(bytes_store *s, agb_host *host, agb_bytes string)
{
    if ((size_t)(s->end - s->free) < string.length || !s->slabs) {
        slab *added = slabs_add(&s->slabs, host, sizeof(slab) + string.length);
        if (!added)
            return NULL;
        s->free = (unsigned char *)(added + 1);
        s->end = (unsigned char *)added + added->bytes;
    }
    unsigned char *copy = s->free;
    if (string.length)
        memcpy(copy, string.data, string.length);
    s->free += string.length;
    return copy;
}

/* Leaves an empty store. */
static inline void bytes_store_close(bytes_store *s, agb_host *host)
{
    slabs_release(&s->slabs, host);
    s->free = s->end = NULL;
}

#endif
