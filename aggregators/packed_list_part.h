/* SPDX-License-Identifier: MIT */
/* Rows as 8-byte entries, split by their hash into lists of chunks: the first half of what best and adaptive share.
 *
 * THE ENTRY. The shared hash is a bijection (an exclusive-or of the upper half into the lower, an odd multiplier), so a
 * hash is as good as its key: the key is computed back at the end. The top `bits` bits of the hash choose the list,
 * hence every entry of a list has the same ones, and there is room for a count in their stead:
 *
 *     hash    pppppppppp rrrrrrrrrrrrrrrrrrrrr...r       p: number of the list      r: the rest, 64 - bits bits
 *     entry   rrrrrrrrrrrrrrrrrrrrr...r cccccccccc       c: rows - 1, `bits` bits, of which the top one is kept free
 *
 * Two entries are of the same key if (a ^ b) < 2^bits: one exclusive-or, one comparison. The slot of a table is
 * entry >> shift: one instruction, no mask. A single row's entry is hash << bits: its count costs nothing.
 *
 * Counts that do not fit (a weight, a run of thousands) send an ordinary entry of one row, and the exact remainder as a
 * pair (hash, rows) in a second list of the same part. */
#ifndef AGB_PACKED_LIST_PART_H
#define AGB_PACKED_LIST_PART_H

#include "aggregator.h"
#include "four_part.h"

#define packed_unlikely(condition) __builtin_expect(condition, 0)

typedef struct packing {
    agb_hash hash;
    uint64_t inverse;    /* of the multiplier, modulo 2^64 */
    unsigned bits;       /* of a part number, and of the count field */
    size_t parts;
} packing;

/* Takes the run's hash if it is a bijection, else the usual one. The inverse is found by Newton's iteration: x is its
 * own inverse modulo 8, and each step doubles the number of right bits. */
static inline packing packing_of(agb_hash hash, unsigned bits)
{
    if (hash.multiplier % 2 == 0)
        hash = (agb_hash){~UINT64_C(0), UINT64_C(0x9e3779b97f4a7c15)};
    uint64_t inverse = hash.multiplier;
    for (int right_bits = 3; right_bits < 64; right_bits *= 2)
        inverse *= 2 - hash.multiplier * inverse;
    return (packing){.hash = hash, .inverse = inverse, .bits = bits, .parts = (size_t)1 << bits};
}

static inline uint64_t packed_most_rows(const packing *p)    /* in one entry */
{
    return (UINT64_C(1) << (p->bits - 1)) - 1;
}

/* ---- Chunks: 8 KiB each, cut from slabs, so that the places being written lie in a few huge pages.
 *
 * Every chunk begins where no prefetcher expects it, so larger ones are read back faster; but the places being written
 * are then farther apart. ns a row to write and to count on a Zen 4 core, 1024 lists: 4 KiB 1.62 and 2.48, 8 KiB 1.71
 * and 2.32, 16 KiB 1.78 and 2.26. ---- */

enum { CHUNK_BYTES = 8192, WORDS_A_LINE = 8, CHUNK_WORDS = CHUNK_BYTES / 8 - 2,
       LINES_A_CHUNK = CHUNK_BYTES / 8 / WORDS_A_LINE };

typedef struct chunk {
    struct chunk *older;             /* of the same list */
    size_t first;                    /* the first word in use */
    uint64_t words[CHUNK_WORDS];
} chunk;

typedef struct slab {
    struct slab *older;
    size_t bytes;
} slab;

typedef struct arena {               /* one a worker */
    agb_host *host;
    size_t slab_bytes;
    slab *slabs;
    chunk *next, *end;               /* what is left of the newest slab */
    chunk *recycled;                 /* chunks that have been read to the end */
} arena;

static inline bool arena_add_slab(arena *a)
{
    slab *s = (slab *)agb_alloc(a->host, a->slab_bytes, 0);
    if (!s)
        return false;
    *s = (slab){a->slabs, a->slab_bytes};
    a->slabs = s;
    a->next = (chunk *)(((uintptr_t)(s + 1) + CHUNK_BYTES - 1) & ~(uintptr_t)(CHUNK_BYTES - 1));
    a->end = (chunk *)(((uintptr_t)s + a->slab_bytes) & ~(uintptr_t)(CHUNK_BYTES - 1));
    return true;
}

static inline chunk *arena_take(arena *a)
{
    chunk *taken = a->recycled;
    if (taken) {
        a->recycled = taken->older;
        return taken;
    }
    if (a->next == a->end && !arena_add_slab(a))
        return NULL;
    return a->next++;
}

static inline void arena_recycle(arena *a, chunk *read)
{
    read->older = a->recycled;
    a->recycled = read;
}

static inline void arena_close(arena *a)
{
    while (a->slabs) {
        slab *s = a->slabs;
        a->slabs = s->older;
        agb_release(a->host, s, s->bytes);
    }
}

/* ---- Lists ---- */

/* Lists 0..parts-1 hold entries, list parts + p holds the pairs of part p. A place is where the next word goes; one on
 * a chunk's boundary is the end of a full chunk or, being NULL, of a list without chunks. */
typedef struct packed_lists {
    uint64_t **place;
    uint32_t *chunks;    /* in each list */
    bool counted;        /* some entry stands for more than one row */
} packed_lists;

static inline size_t packed_lists_bytes(const packing *p)
{
    return 2 * p->parts * (sizeof(uint64_t *) + sizeof(uint32_t));
}

static inline bool packed_lists_open(packed_lists *l, agb_host *host, const packing *p)
{
    l->place = (uint64_t **)agb_alloc(host, packed_lists_bytes(p), AGB_ZEROED);
    l->chunks = (uint32_t *)(l->place + 2 * p->parts);
    return l->place != NULL;
}

static inline chunk *chunk_of(const uint64_t *place)
{
    return (chunk *)((uintptr_t)(place - 1) & ~(uintptr_t)(CHUNK_BYTES - 1));
}

static inline bool is_chunk_end(const uint64_t *place)
{
    return ((uintptr_t)place & (CHUNK_BYTES - 1)) == 0;
}

/* The first place of a new chunk; NULL: no memory.
 *
 * Lists begin at different lines of their first chunk. Keys in sequence visit all parts in turn (that is what a
 * multiplicative hash is good at), so all lists grow in step; if they began alike, a thousand write places would have
 * the same address modulo 4096, that is, share one set of eight lines in L1: 1.65 times the time of the phase. */
static __attribute__((noinline)) uint64_t *packed_new_place(packed_lists *l, arena *a, size_t list)
{
    uint64_t *full = l->place[list];
    chunk *fresh = arena_take(a);
    if (!fresh)
        return NULL;
    fresh->older = full ? chunk_of(full) : NULL;
    fresh->first = full ? 0 : list % LINES_A_CHUNK * WORDS_A_LINE;
    l->chunks[list]++;
    return fresh->words + fresh->first;
}

/* Appends a word. The words go straight to memory: in a prototype (Zen 3), write-combining buffers with streaming
 * stores took 2.8 ns a row against 1.5, since one row in eight mispredicts the branch "buffer full". */
PACKED_INLINE bool packed_push(packed_lists *l, uint64_t **places, arena *a, size_t list, uint64_t word)
{
    uint64_t *place = places[list];
    if (packed_unlikely(is_chunk_end(place))) {
        place = packed_new_place(l, a, list);
        if (!place)
            return false;
    }
    *place = word;
    places[list] = place + 1;
    return true;
}

static __attribute__((noinline)) bool packed_push_many(packed_lists *l, arena *a, const packing *p, uint64_t hash,
                                                       uint64_t rows)
{
    size_t part = hash >> (64 - p->bits), pairs = p->parts + part;
    return packed_push(l, l->place, a, part, hash << p->bits) && packed_push(l, l->place, a, pairs, hash)
           && packed_push(l, l->place, a, pairs, rows - 1);
}

/* ---- From rows to entries ---- */

PACKED_INLINE bool packed_add(packed_lists *l, uint64_t **places, arena *a, const packing *p, uint64_t hash,
                              uint64_t rows)
{
    if (packed_unlikely(rows > packed_most_rows(p)))
        return packed_push_many(l, a, p, hash, rows);
    return packed_push(l, places, a, hash >> (64 - p->bits), (hash << p->bits) + (rows - 1));
}

/* Rows are read once, so they need not push entries being written out of the caches: fetched so that they leave L1
 * first, without coming to L2: 2 % off the phase for shuffled rows, 6 to 14 % for those in hits order. */
PACKED_INLINE void packed_fetch_line(const uint64_t *keys)
{
    enum { ROWS_AHEAD = 128 };
    __builtin_prefetch(keys + ROWS_AHEAD, 0, 0);
}

PACKED_INLINE bool packed_add_rows(packed_lists *l, arena *a, packing p, agb_hash fast, const uint64_t *keys,
                                   const uint64_t *weights, size_t rows)
{
    uint64_t **places = l->place;
#pragma GCC unroll 8
    for (size_t i = 0; i < rows; i++) {
        if (i % WORDS_A_LINE == 0)
            packed_fetch_line(keys + i);
        uint64_t hash = agb_hash_word(fast, keys[i]);
        bool added = weights ? packed_add(l, places, a, &p, hash, weights[i])
                             : packed_push(l, places, a, hash >> (64 - p.bits), hash << p.bits);
        if (packed_unlikely(!added))
            return false;
    }
    return true;
}

/* Bit i of the result: does row i differ from the row before it? There is a row before. */
PACKED_INLINE uint64_t packed_starts(const uint64_t *keys)
{
    const uint64_t *before = keys - 1;
    uint64_t equal = 0;
#pragma GCC unroll 16
    for (unsigned i = 0; i < 64; i += 4)
        equal |= (uint64_t)four_equal(keys + i, before + i) << i;
    return ~equal;
}

/* One entry for each run of equal keys. Asking of every row "does it go on?" is a branch nobody can predict; so 64
 * rows are compared at once, and the loop visits the set bits of the answer: one mispredicted loop end in 64 rows. */
PACKED_INLINE bool packed_add_runs(packed_lists *l, arena *a, packing p, agb_hash fast, const uint64_t *keys,
                                   size_t rows)
{
    uint64_t **places = l->place;
    size_t start = 0, at = 1;
    for (; at + 64 <= rows; at += 64) {
#pragma GCC unroll 8
        for (size_t i = 0; i < 64; i += WORDS_A_LINE)
            packed_fetch_line(keys + at + i);
        for (uint64_t starts = packed_starts(keys + at); starts; starts &= starts - 1) {
            size_t end = at + (size_t)__builtin_ctzll(starts);
            if (packed_unlikely(!packed_add(l, places, a, &p, agb_hash_word(fast, keys[start]), end - start)))
                return false;
            start = end;
        }
    }
    for (; at < rows; at++) {
        if (keys[at] == keys[at - 1])
            continue;
        if (!packed_add(l, places, a, &p, agb_hash_word(fast, keys[start]), at - start))
            return false;
        start = at;
    }
    return rows == 0 || packed_add(l, places, a, &p, agb_hash_word(fast, keys[start]), rows - start);
}

enum { PACKED_SAMPLE = 512 };

/* How many of so many rows, in eight stretches of 64, start a run. Of few rows: all are said to. */
static inline unsigned packed_sample_starts(const uint64_t *keys, size_t rows)
{
    enum { STRETCHES = PACKED_SAMPLE / 64 };
    unsigned starts = 0;
    if (rows < STRETCHES * 65)
        return PACKED_SAMPLE;
    for (size_t i = 0; i < STRETCHES; i++)
        starts += (unsigned)__builtin_popcountll(packed_starts(keys + 1 + i * (rows / STRETCHES)));
    return starts;
}

/* An entry saved is worth two thirds more than the search for runs costs. */
static inline bool packed_runs_pay(unsigned starts)
{
    return starts < PACKED_SAMPLE * 8 / 10;
}

/* The two loops that matter, for the usual hash, whose constant fold saves an instruction. Each is a function of its
 * own, lest they compete for registers. */
static __attribute__((noinline)) bool packed_add_usual_rows(packed_lists *l, arena *a, const packing *p,
                                                            const uint64_t *keys, size_t rows)
{
    return packed_add_rows(l, a, *p, (agb_hash){~UINT64_C(0), p->hash.multiplier}, keys, NULL, rows);
}

static __attribute__((noinline)) bool packed_add_usual_runs(packed_lists *l, arena *a, const packing *p,
                                                            const uint64_t *keys, size_t rows)
{
    return packed_add_runs(l, a, *p, (agb_hash){~UINT64_C(0), p->hash.multiplier}, keys, rows);
}

static inline bool packed_add_batch(packed_lists *l, arena *a, const packing *p, const agb_batch *batch)
{
    bool usual = ~p->hash.fold == 0;
    if (batch->weights) {
        l->counted = true;
        return packed_add_rows(l, a, *p, p->hash, batch->keys, batch->weights, batch->rows);
    }
    if (!packed_runs_pay(packed_sample_starts(batch->keys, batch->rows)))
        return usual ? packed_add_usual_rows(l, a, p, batch->keys, batch->rows)
                     : packed_add_rows(l, a, *p, p->hash, batch->keys, NULL, batch->rows);
    l->counted = true;
    return usual ? packed_add_usual_runs(l, a, p, batch->keys, batch->rows)
                 : packed_add_runs(l, a, *p, p->hash, batch->keys, batch->rows);
}

#endif
