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

/* The size of a slab after one of `newest` bytes; 0: of the first one. */
static inline size_t slab_bytes_after(size_t newest)
{
    return newest == 0 ? FIRST_SLAB_BYTES : newest < LARGEST_SLAB_BYTES / 2 ? 2 * newest : LARGEST_SLAB_BYTES;
}

/* A further slab, of at least that size, in front of the list; NULL: no memory. Its own words take up its beginning. */
static inline slab *slabs_add(slab **newest, agb_host *host, size_t least)
{
    size_t bytes = slab_bytes_after(*newest ? (*newest)->bytes : 0);
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

/* Forgets all strings but keeps the first slab, or takes one: so much is not refused later. false: no memory. */
static inline bool bytes_store_reset(bytes_store *s, agb_host *host)
{
    while (s->slabs && s->slabs->older) {
        slab *last = s->slabs;
        s->slabs = last->older;
        agb_release(host, last, last->bytes);
    }
    if (!s->slabs && !slabs_add(&s->slabs, host, 0))
        return false;
    s->free = (unsigned char *)(s->slabs + 1);
    s->end = (unsigned char *)s->slabs + s->slabs->bytes;
    return true;
}

/* Leaves an empty store. */
static inline void bytes_store_close(bytes_store *s, agb_host *host)
{
    slabs_release(&s->slabs, host);
    s->free = s->end = NULL;
}

#endif
