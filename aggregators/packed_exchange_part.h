/* SPDX-License-Identifier: MIT */
/* The parts of all workers, and how they are counted: what best and adaptive do from the first row's entry on.
 *
 * EXCHANGE. Each worker consumes whatever batches it gets, into lists of its own (packed_list_part.h): no locks,
 * nothing shared. At the end the parts are tasks; whoever takes a part reads that part's lists of all workers, in
 * tables of its own (packed_table_part.h), and emits: no merge. After Graefe's exchange operator ("Encapsulation of
 * Parallelism in the Volcano Query Processing System", 1990) and morsels (Leis and others, "Morsel-Driven
 * Parallelism", 2014). One worker is the same with one list. */
#ifndef AGB_PACKED_EXCHANGE_PART_H
#define AGB_PACKED_EXCHANGE_PART_H

#include "packed_table_part.h"

#include <string.h>

enum { SEGMENT_CHUNKS = 256, LEAST_BITS = 8, MOST_BITS = 10, STANDARD_OVERSIZE = 8 };

enum { EXCHANGE_PARTITION, EXCHANGE_SPLIT, EXCHANGE_AGGREGATE };
static const char *const exchange_phases[] = {"partition", "split", "aggregate", NULL};

typedef struct exchange_worker {
    arena arena;
    packed_lists lists;         /* of all rows this worker has seen */
    packed_lists split;         /* of the rows of one part that is being split */
    cascade tables;
    agb_status status;          /* of its tasks */
    char apart[64];             /* workers share no cache line */
} exchange_worker;

typedef struct segment {        /* a stretch of a list */
    uint64_t *place;            /* its end */
    size_t chunks;
} segment;

typedef struct exchange {
    agb_host *host;
    packing packing;
    unsigned workers;
    exchange_worker *worker;
    size_t most_chunks;         /* of a part that is not split */
    size_t part;                /* being split */
    segment *segments;          /* of that part */
    size_t n_segments;
} exchange;

/* ---- Aggregate: every part by itself ---- */

static inline size_t exchange_chunks(const exchange *self, size_t list, bool split)
{
    size_t chunks = 0;
    for (unsigned i = 0; i < self->workers; i++)
        chunks += (split ? self->worker[i].split : self->worker[i].lists).chunks[list];
    return chunks;
}

/* Counts one list of every worker. A split part's lists share top bits, and perhaps more: they need the other hash. */
static inline bool exchange_count_lists(exchange *self, exchange_worker *w, size_t list, bool split)
{
    bool counted = true;
    for (unsigned i = 0; counted && i < self->workers; i++) {
        packed_lists *from = split ? &self->worker[i].split : &self->worker[i].lists;
        uint64_t *place = from->place[list];
        counted = split ? cascade_count_list(&w->tables, place, &w->arena, true, true)
                  : from->counted ? cascade_count_list(&w->tables, place, NULL, true, false)
                                  : cascade_count_list(&w->tables, place, NULL, false, false);
    }
    counted = counted && cascade_pass_on(&w->tables);
    for (unsigned i = 0; counted && i < self->workers; i++) {
        packed_lists *from = split ? &self->worker[i].split : &self->worker[i].lists;
        counted = cascade_count_pairs(&w->tables, from->place[self->packing.parts + list], split);
    }
    return counted;
}

static inline void exchange_count(exchange *self, unsigned worker, size_t list, size_t part, bool split)
{
    exchange_worker *w = &self->worker[worker];
    size_t chunks = exchange_chunks(self, list, split);
    if (w->status != AGB_OK || chunks == 0)
        return;
    agb_phase(self->host, worker, EXCHANGE_AGGREGATE);
    cascade_begin(&w->tables, chunks * PACKED_CHUNK_WORDS);
    bool counted = exchange_count_lists(self, w, list, split);
    w->status = counted ? cascade_emit(&w->tables, worker, part) : AGB_ERR_MEMORY;
}

static inline void exchange_aggregate(void *argument, unsigned worker, size_t part)
{
    exchange_count((exchange *)argument, worker, part, part, false);
}

/* ---- Split: a part that is far larger than the others ----
 *
 * There are two reasons for one: a few keys with very many rows, or very many keys that happen to share the top bits of
 * their hash. One treatment serves both, and serves any number of workers. The part's chunks are dealt out in
 * segments. A segment goes through a first-come table: hot keys end there as one entry each. What the table does not
 * take is partitioned once more, by another hash, and so is at last what the table holds. The lists that result are
 * counted like parts. Chunks are recycled as they are read, so this needs no memory to speak of. */

static inline bool exchange_split_word(exchange *self, exchange_worker *w, uint64_t entry)
{
    uint64_t key = entry & -(UINT64_C(1) << self->packing.bits);
    return packed_push(&w->split, w->split.place, &w->arena, key * PACKED_SPLIT >> (64 - self->packing.bits), entry);
}

/* rows of a key beyond those in its entry */
static inline bool exchange_split_pair(exchange *self, exchange_worker *w, uint64_t key, uint64_t rows)
{
    uint64_t hash = (uint64_t)self->part << (64 - self->packing.bits) | key >> self->packing.bits;
    size_t list = self->packing.parts + (key * PACKED_SPLIT >> (64 - self->packing.bits));
    return packed_push(&w->split, w->split.place, &w->arena, list, hash)
           && packed_push(&w->split, w->split.place, &w->arena, list, rows);
}

static inline bool exchange_split_table(exchange *self, exchange_worker *w)
{
    first_come *t = &w->tables.first;
    for (size_t i = 0; i < first_come_slots(t); i++) {
        uint64_t slot = t->slots[i], rows = t->carries[i];
        t->slots[i] = t->carries[i] = 0;
        if (slot && !exchange_split_word(self, w, slot - 1))
            return false;
        if (rows && !exchange_split_pair(self, w, slot & -(UINT64_C(1) << self->packing.bits), rows))
            return false;
    }
    t->carried = false;
    return true;
}

static inline bool exchange_split_chunk(exchange *self, exchange_worker *w, const uint64_t *entries, size_t n)
{
    uint64_t *missed = w->tables.missed;
    size_t misses = first_come_count(&w->tables.first, entries, n, missed, true, true, entries);
    for (size_t i = 0; i < misses; i++)
        if (!exchange_split_word(self, w, missed[i]))
            return false;
    return true;
}

/* A small table: it must catch hot keys, which come early, and is emptied after every segment. */
static inline unsigned exchange_split_log2_slots(const exchange_worker *w)
{
    unsigned log2 = log2_up(w->tables.most_slots);
    return log2 < LEAST_LOG2_SLOTS + 4 ? LEAST_LOG2_SLOTS : log2 - 4;
}

static inline void exchange_split_segment(void *argument, unsigned worker, size_t number)
{
    exchange *self = argument;
    exchange_worker *w = &self->worker[worker];
    segment *s = &self->segments[number];
    uint64_t *place = s->place;
    agb_phase(self->host, worker, EXCHANGE_SPLIT);
    first_come_use(&w->tables.first, exchange_split_log2_slots(w));
    for (size_t i = 0; w->status == AGB_OK && i < s->chunks; i++) {
        packed_chunk *from = packed_chunk_of(place), *older = from->older;
        uint64_t *words = from->words + from->first;
        if (!exchange_split_chunk(self, w, words, (size_t)(place - words)))
            w->status = AGB_ERR_MEMORY;
        place = older ? older->words + PACKED_CHUNK_WORDS : NULL;
        arena_recycle(&w->arena, from);
    }
    if (w->status == AGB_OK && !exchange_split_table(self, w))
        w->status = AGB_ERR_MEMORY;
}

static inline void exchange_aggregate_split(void *argument, unsigned worker, size_t list)
{
    exchange *self = (exchange *)argument;
    exchange_count(self, worker, list, self->part, true);
}

static inline agb_status exchange_status(const exchange *self, agb_status status)
{
    for (unsigned i = 0; status == AGB_OK && i < self->workers; i++)
        status = self->worker[i].status;
    return status;
}

/* Cuts the part's lists into segments; takes them away from the workers. */
static inline void exchange_cut(exchange *self)
{
    self->n_segments = 0;
    for (unsigned i = 0; i < self->workers; i++) {
        packed_lists *from = &self->worker[i].lists;
        uint64_t *place = from->place[self->part];
        for (size_t left = from->chunks[self->part]; left;) {
            segment *s = &self->segments[self->n_segments++];
            *s = (segment){place, left < SEGMENT_CHUNKS ? left : SEGMENT_CHUNKS};
            left -= s->chunks;
            for (size_t c = 0; c < s->chunks; c++)
                place = packed_chunk_before(place);
        }
        from->chunks[self->part] = 0;
        from->place[self->part] = NULL;
    }
}

/* The pairs of the part follow their keys, all to the lists of worker 0. */
static inline bool exchange_split_pairs(exchange *self)
{
    for (unsigned i = 0; i < self->workers; i++) {
        uint64_t *place = self->worker[i].lists.place[self->packing.parts + self->part];
        while (place) {
            packed_chunk *from = packed_chunk_of(place);
            for (uint64_t *pair = from->words + from->first; pair < place; pair += 2)
                if (!exchange_split_pair(self, &self->worker[0], pair[0] << self->packing.bits, pair[1]))
                    return false;
            place = packed_chunk_before(place);
        }
    }
    return true;
}

/* The lists of the split, which have been counted, and the size of their parts. */
static inline void exchange_forget(exchange *self)
{
    for (unsigned i = 0; i < self->workers; i++) {
        packed_lists *l = &self->worker[i].split;
        memset(l->place, 0, packed_lists_bytes(&self->packing));
        self->worker[i].tables.groups = 0;
    }
}

static inline agb_status exchange_split_part(exchange *self, size_t part, size_t chunks)
{
    size_t segments_bytes = (chunks / SEGMENT_CHUNKS + self->workers) * sizeof *self->segments;
    for (unsigned i = 0; i < self->workers; i++)
        if (!self->worker[i].split.place && !packed_lists_open(&self->worker[i].split, self->host, &self->packing))
            return AGB_ERR_MEMORY;
    self->segments = agb_alloc(self->host, segments_bytes, 0);
    if (!self->segments)
        return AGB_ERR_MEMORY;
    self->part = part;
    exchange_cut(self);
    exchange_forget(self);
    agb_status status = agb_parallel_for(self->host, self->n_segments, exchange_split_segment, self);
    status = exchange_status(self, status);
    agb_release(self->host, self->segments, segments_bytes);
    if (status == AGB_OK && !exchange_split_pairs(self))
        status = AGB_ERR_MEMORY;
    if (status == AGB_OK)
        status = agb_parallel_for(self->host, self->packing.parts, exchange_aggregate_split, self);
    exchange_forget(self);
    return exchange_status(self, status);
}

/* ---- From outside ---- */

static inline size_t power_of_two_below(size_t value)
{
    return (size_t)1 << (log2_up(value + 1) - 1);
}

/* Half of L2 for the first table; the second is as large, but only sparsely visited. */
static inline size_t exchange_most_slots(const agb_config *config)
{
    size_t l2 = config->caches.l2 ? config->caches.l2 : 512 << 10;
    size_t slots = power_of_two_below(l2 / 2 / sizeof(uint64_t)), least = (size_t)1 << LEAST_LOG2_SLOTS;
    while (config->rows && slots / 2 >= config->rows && slots > least)
        slots /= 2;
    return slots < least ? least : slots;
}

/* Parts whose entries fit a table if each were a group; no more than the lines of L1 can be written to at once (twice
 * as many do no harm; four times as many cost 2.5 times the partition phase), no fewer than leave a count some room. */
static inline unsigned exchange_bits(const agb_config *config, size_t most_slots)
{
    unsigned bits = config->rows ? log2_up(config->rows / most_slots) : MOST_BITS;
    return bits < LEAST_BITS ? LEAST_BITS : bits > MOST_BITS ? MOST_BITS : bits;
}

static inline agb_status exchange_open_worker(exchange *self, exchange_worker *w, size_t most_slots)
{
    w->arena = (arena){.host = self->host, .slab_bytes = self->packing.parts * PACKED_CHUNK_BYTES};
    bool opened = packed_lists_open(&w->lists, self->host, &self->packing)
                  && cascade_open(&w->tables, self->host, &self->packing, most_slots);
    return opened ? AGB_OK : AGB_ERR_MEMORY;
}

/* bits 0: as the rows and caches want it. oversize: most_chunks, in tables. exchange_close must follow, always. */
static inline agb_status exchange_open(exchange *self, agb_host *host, const agb_config *config, unsigned bits,
                                       size_t oversize)
{
    size_t most_slots = exchange_most_slots(config);
    *self = (exchange){.host = host, .most_chunks = oversize * most_slots / PACKED_CHUNK_WORDS};
    self->packing = packing_of(config->hash, bits ? bits : exchange_bits(config, most_slots));
    self->worker = (exchange_worker *)agb_alloc(host, config->workers * sizeof *self->worker, AGB_ZEROED);
    if (!self->worker)
        return AGB_ERR_MEMORY;
    self->workers = config->workers;
    agb_status status = AGB_OK;
    for (unsigned i = 0; status == AGB_OK && i < self->workers; i++)
        status = exchange_open_worker(self, &self->worker[i], most_slots);
    return status;
}

static inline agb_status exchange_finish(exchange *self)
{
    for (size_t part = 0; part < self->packing.parts; part++) {
        size_t chunks = exchange_chunks(self, part, false);
        agb_status status = chunks > self->most_chunks ? exchange_split_part(self, part, chunks) : AGB_OK;
        if (status != AGB_OK)
            return status;
    }
    return exchange_status(self, agb_parallel_for(self->host, self->packing.parts, exchange_aggregate, self));
}

static inline void exchange_close(exchange *self)
{
    for (unsigned i = 0; i < self->workers; i++) {
        exchange_worker *w = &self->worker[i];
        arena_close(&w->arena);
        agb_release(self->host, w->lists.place, packed_lists_bytes(&self->packing));
        agb_release(self->host, w->split.place, packed_lists_bytes(&self->packing));
        cascade_close(&w->tables);
    }
    agb_release(self->host, self->worker, self->workers * sizeof *self->worker);
}

#endif
