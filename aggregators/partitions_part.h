/* SPDX-License-Identifier: MIT */
/* Shared by the strategies that partition: lists of chunks, one list a part, and the tables that count a part at the
 * end.
 *
 *     place[p] ----------------------------------------.
 *                                                       v
 *     part p      [older|-|key key key ...] <- [older|-|key key     ]      chunks of 4 KiB, aligned to 4 KiB
 *
 * A place is where the next word of a part goes. Chunks are aligned to their size, so the place alone says whether its
 * chunk is full (it stands on a boundary) and which chunk it is in. Each worker has a writer: no two workers ever write
 * to one chunk, and nothing is locked. What is written per row is the key, or the key and its weight in turn. */
#ifndef AGB_PARTITIONS_PART_H
#define AGB_PARTITIONS_PART_H

#include "linear_table.h"

enum { CHUNK_BYTES = 4096, CHUNK_WORDS = CHUNK_BYTES / 8, HEADER_WORDS = 2, FIRST_SLAB_BYTES = 1 << 18,
       LARGEST_SLAB_BYTES = 1 << 24 };

typedef union chunk {
    union chunk *older;                /* of the same part */
    uint64_t words[CHUNK_WORDS];       /* from HEADER_WORDS on: keys, or keys and weights in turn */
} chunk;

/* ---- Where chunks are cut from ---- */

typedef struct slab {
    struct slab *older;
    size_t bytes;
} slab;

/* Slabs double, so that few rows hold little memory and many rows few slabs. */
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
    while (s->slabs) {
        slab *oldest = s->slabs;
        s->slabs = oldest->older;
        agb_release(s->host, oldest, oldest->bytes);
    }
}

static inline bool chunk_store_add_slab(chunk_store *s)
{
    size_t bytes = s->slabs ? 2 * s->slabs->bytes : FIRST_SLAB_BYTES;
    if (bytes > LARGEST_SLAB_BYTES)
        bytes = LARGEST_SLAB_BYTES;
    slab *added = (slab *)agb_alloc(s->host, bytes, 0);
    if (!added)
        return false;
    *added = (slab){s->slabs, bytes};
    s->slabs = added;
    /* The slab's own words take up the beginning; chunks start at the next boundary. */
    uintptr_t start = ((uintptr_t)(added + 1) + CHUNK_BYTES - 1) & ~(uintptr_t)(CHUNK_BYTES - 1);
    s->free = (chunk *)start;
    s->end = (chunk *)(((uintptr_t)added + bytes) & ~(uintptr_t)(CHUNK_BYTES - 1));
    return true;
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

/* Writes one row at *place; false: no memory. `weighted` is a constant where it matters. */
static inline bool chunk_push(chunk_store *s, uint64_t **place, uint64_t key, uint64_t weight, bool weighted)
{
    uint64_t *at = *place;
    if (__builtin_expect(is_chunk_end(at), 0)) {
        at = chunk_append(s, at);
        if (!at)
            return false;
    }
    *at++ = key;
    if (weighted)
        *at++ = weight;
    *place = at;
    return true;
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

/* ---- Counting a list ---- */

static inline bool count_words(linear_table *table, agb_host *host, const uint64_t *words, size_t n, bool weighted)
{
    size_t step = weighted ? 2 : 1;
    if (!linear_table_reserve(table, host, n / step))
        return false;
    for (size_t i = 0; i < n; i += step)
        linear_table_add(table, agb_hash_word(table->hash, words[i]), words[i], weighted ? words[i + 1] : 1);
    return true;
}

/* false: no memory. */
static inline bool count_chunks(linear_table *table, agb_host *host, uint64_t *place, bool weighted)
{
    while (place) {
        uint64_t *words, *older;
        size_t n = chunk_words(place, &words, &older);
        bool counted = weighted ? count_words(table, host, words, n, true) : count_words(table, host, words, n, false);
        if (!counted)
            return false;
        place = older;
    }
    return true;
}

/* ---- One level of parts, written by several workers ---- */

typedef struct writer {
    uint64_t **place;       /* of each part */
    chunk_store store;
    linear_table table;     /* counts one part after another */
    agb_status status;      /* of the aggregate phase */
} writer;

typedef struct partitions {
    agb_host *host;
    unsigned bits, workers, phase;
    size_t parts;
    agb_hash hash;
    bool weighted;          /* words come in pairs of key and weight */
    writer *writer;         /* workers entries */
} partitions;

/* false: no memory; partitions_close is due all the same. */
static inline bool partitions_open(partitions *p, agb_host *host, const agb_config *config, unsigned bits,
                                   unsigned load)
{
    *p = (partitions){.host = host, .bits = bits, .parts = (size_t)1 << bits, .hash = config->hash,
                       .weighted = config->weighted};
    p->writer = (writer *)agb_alloc(host, config->workers * sizeof(writer), AGB_ZEROED);
    if (!p->writer)
        return false;
    p->workers = config->workers;
    for (unsigned i = 0; i < p->workers; i++) {
        writer *w = &p->writer[i];
        chunk_store_open(&w->store, host);
        w->place = (uint64_t **)agb_alloc(host, p->parts * sizeof *w->place, AGB_ZEROED);
        if (!w->place || !linear_table_open(&w->table, host, 10, bits, load, config->hash))
            return false;
    }
    return true;
}

static inline void partitions_close(partitions *p)
{
    for (unsigned i = 0; i < p->workers; i++) {
        writer *w = &p->writer[i];
        chunk_store_close(&w->store);
        linear_table_close(&w->table, p->host);
        agb_release(p->host, w->place, p->parts * sizeof *w->place);
    }
    agb_release(p->host, p->writer, p->workers * sizeof(writer));
}

/* weights is a constant NULL where rows count once, and the compiler then drops what belongs to them. */
static inline agb_status partitions_scatter_rows(partitions *p, writer *w, const uint64_t *keys,
                                                 const uint64_t *weights, size_t rows)
{
    uint64_t **places = w->place;
    unsigned shift = 64 - p->bits;
    agb_hash hash = p->hash;
    for (size_t i = 0; i < rows; i++) {
        size_t part = agb_hash_word(hash, keys[i]) >> shift;
        if (!chunk_push(&w->store, &places[part], keys[i], weights ? weights[i] : 1, weights != NULL))
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

static inline agb_status partitions_scatter(partitions *p, unsigned worker, const agb_batch *batch)
{
    writer *w = &p->writer[worker];
    return batch->weights ? partitions_scatter_rows(p, w, batch->keys, batch->weights, batch->rows)
                          : partitions_scatter_rows(p, w, batch->keys, NULL, batch->rows);
}

static inline void partitions_count_part(void *argument, unsigned worker, size_t part)
{
    partitions *p = (partitions *)argument;
    writer *w = &p->writer[worker];
    if (w->status != AGB_OK)
        return;
    agb_phase(p->host, worker, p->phase);
    for (unsigned i = 0; i < p->workers; i++) {
        if (!count_chunks(&w->table, p->host, p->writer[i].place[part], p->weighted)) {
            w->status = AGB_ERR_MEMORY;
            return;
        }
    }
    if (w->table.groups)
        w->status = linear_table_emit(&w->table, p->host, worker);
}

/* The first failure of any worker. */
static inline agb_status partitions_status(const partitions *p)
{
    for (unsigned i = 0; i < p->workers; i++)
        if (p->writer[i].status != AGB_OK)
            return p->writer[i].status;
    return AGB_OK;
}

/* Counts and emits all parts; `phase` is what the report calls that. */
static inline agb_status partitions_aggregate(partitions *p, unsigned phase)
{
    p->phase = phase;
    agb_status status = agb_parallel_for(p->host, p->parts, partitions_count_part, p);
    return status == AGB_OK ? partitions_status(p) : status;
}

#endif
