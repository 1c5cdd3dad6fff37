/* SPDX-License-Identifier: MIT */
/* Shared by the strategies that partition: lists of chunks, one list a part.
 *
 *     place[p] ----------------------------------------.
 *                                                       v
 *     part p      [older|-|key key key ...] <- [older|-|key key     ]      chunks of 4 KiB, aligned to 4 KiB
 *
 * A place is where the next word of a part goes. Chunks are aligned to their size, so the place alone says whether its
 * chunk is full (it stands on a boundary) and which chunk it is in. What a row is made of is in rows_part.h. */
#ifndef AGB_CHUNKS_PART_H
#define AGB_CHUNKS_PART_H

#include "slabs_part.h"

enum { CHUNK_BYTES = 4096, CHUNK_WORDS = CHUNK_BYTES / 8, HEADER_WORDS = 2 };

typedef union chunk {
    union chunk *older;                /* of the same part */
    uint64_t words[CHUNK_WORDS];       /* from HEADER_WORDS on: rows */
} chunk;

/* ---- Where chunks are cut from ---- */

typedef struct chunk_store {
    agb_host *host;
    slab *slabs;
    chunk *free, *end;      /* the rest of the newest slab */
    chunk *recycled;        /* given back, to be used first */
} chunk_store;

static inline void chunk_store_open(chunk_store *s, agb_host *host)
{
    *s = (chunk_store){.host = host};
}

static inline void chunk_store_close(chunk_store *s)
{
    slabs_release(&s->slabs, s->host);
}

/* Chunks start at the next boundary behind the slab's own words. */
static inline bool chunk_store_add_slab(chunk_store *s)
{
    slab *added = slabs_add(&s->slabs, s->host, 0);
    if (!added)
        return false;
    uintptr_t start = ((uintptr_t)(added + 1) + CHUNK_BYTES - 1) & ~(uintptr_t)(CHUNK_BYTES - 1);
    s->free = (chunk *)start;
    s->end = (chunk *)(((uintptr_t)added + added->bytes) & ~(uintptr_t)(CHUNK_BYTES - 1));
    return true;
}

/* What a new store holds when it has given out so many chunks: each slab has one less than would fit it. */
static inline size_t chunk_store_bytes_of(size_t chunks)
{
    size_t sum = 0;
    for (size_t slab = 0, given = 0; given < chunks; given += slab / CHUNK_BYTES - 1) {
        slab = slab_bytes_after(slab);
        sum += slab;
    }
    return sum;
}

/* An unlinked chunk; NULL: no memory. */
static inline chunk *chunk_store_take(chunk_store *s)
{
    chunk *taken = s->recycled;
    if (taken) {
        s->recycled = taken->older;
        return taken;
    }
    if (s->free == s->end && !chunk_store_add_slab(s))
        return NULL;
    return s->free++;
}

static inline void chunk_store_recycle(chunk_store *s, chunk *c)
{
    c->older = s->recycled;
    s->recycled = c;
}

/* ---- Lists of chunks, known by their place ---- */

/* A place at a boundary is a full chunk's end, or, being NULL, that of a part without chunks. */
static inline bool is_chunk_end(const uint64_t *place)
{
    return ((uintptr_t)place & (CHUNK_BYTES - 1)) == 0;
}

/* The chunk that the last word before the place is in. */
static inline chunk *chunk_of(uint64_t *place)
{
    return (chunk *)((uintptr_t)(place - 1) & ~(uintptr_t)(CHUNK_BYTES - 1));
}

/* The chunk that a full one (or NULL) is followed by: its first place; NULL: no memory. */
static inline uint64_t *chunk_append(chunk_store *s, uint64_t *full)
{
    chunk *fresh = chunk_store_take(s);
    if (!fresh)
        return NULL;
    fresh->older = full ? chunk_of(full) : NULL;
    return fresh->words + HEADER_WORDS;
}

/* The words of the chunk that `place` ends, and the place that ends the older one (NULL when there is none). Only the
 * newest chunk of a list can be partly filled. */
static inline size_t chunk_words(uint64_t *place, uint64_t **words, uint64_t **older_place)
{
    chunk *c = chunk_of(place);
    *words = c->words + HEADER_WORDS;
    *older_place = c->older ? c->older->words + CHUNK_WORDS : NULL;
    return (size_t)(place - *words);
}

static inline size_t chunk_list_words(uint64_t *place)
{
    size_t n = 0;
    for (uint64_t *words, *older; place; place = older)
        n += chunk_words(place, &words, &older);
    return n;
}

#endif
