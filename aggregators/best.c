/* SPDX-License-Identifier: MIT */
/* best: radix again, with half of the bytes, and no branch that data decides.
 *
 * Idea
 *   radix pays for every row: 8 bytes of key to its part and back, 16 bytes of table, a probe whose end the processor
 *   cannot foresee. Each can be had for less. An entry of 8 bytes holds a hash and a count, because the hash is a
 *   bijection and the part's number need not be stored (packed_list.h). Neighbouring rows of one key become one entry,
 *   found 64 rows at a time; where there are few, this is left out, batch by batch. Tables never probe: the first key
 *   to come owns the slot, all others go on to a smaller table (packed_table.h). Keys are computed back when emitting.
 *
 * Layout
 *     hash(key) = pppppppppp rrrrrrrrrr....r         p: part, top 8 to 10 bits
 *     part p      chunk -> chunk -> chunk            4 KiB each, of entries rrrrrrrrrr....r cccccccccc (c: rows - 1)
 *     first       [r|c][r|c][ 0 ][r|c] ...           8 bytes a slot, half of L2 at most
 *     second      [r|c][r|c] ...                     half as many slots, for a fifth of the entries
 *     last        [key|count] ...                    linear probing, for a fiftieth
 *
 * Cost per row
 *   Partition: 16 instructions a row, or, collapsing, 2 a row and 25 a run; the stores go to `parts` open lines, most of
 *   them in L1. Aggregate: 15 instructions an entry and one line in L2. Bytes to memory and back: 8 an entry. Per part
 *   one scan of a table. Memory: 8 bytes an entry, at most the size of the input, and 2 MiB.
 *
 * Where the slots should go
 *   Retiring above 50 %, memory-bound below 25 %: what is left is instructions, not waiting.
 *
 * Try
 *   aggbench run synth:hits,rows=20M --aggregator naive,radix,best --pages huge
 *   aggbench run synth:hits,rows=20M,order=shuffled --aggregator best --sweep bits=6..12      (too many open lines)
 *
 * Tried and left out, in time of the phase on shuffled rows (Zen 4, gcc 12; packed_list.h and packed_table.h tell of
 * more): 9 bits instead of 10, aggregate +15 %; twice the slots, 0 %; half of them, +14 %; second as large as the first,
 * -2 %; prefetching the chunks to be written, +1 %. */
#include "packed_table.h"

#include <string.h>

enum { SEGMENT_CHUNKS = 256, LEAST_BITS = 8, MOST_BITS = 10 };

typedef struct best_worker {
    arena arena;
    packed_lists lists;         /* of all rows this worker has seen */
    packed_lists split;         /* of the rows of one part that is being split */
    cascade tables;
    agb_status status;          /* of its tasks */
    char apart[64];             /* workers share no cache line */
} best_worker;

typedef struct segment {        /* a stretch of a list */
    uint64_t *place;            /* its end */
    size_t chunks;
} segment;

typedef struct best {
    agb_host *host;
    packing packing;
    unsigned workers;
    best_worker *worker;
    size_t most_chunks;         /* of a part that is not split */
    size_t part;                /* being split */
    segment *segments;          /* of that part */
    size_t n_segments;
} best;

enum { PARTITION, SPLIT, AGGREGATE };
static const char *const phases[] = {"partition", "split", "aggregate", NULL};

enum { BITS, OVERSIZE };
static const agb_param params[] = {
    {"bits", 0, 0, 12, "log2 of the number of parts, at least 4; 0: as few as make a part's groups fit L2, 8 to 10"},
    {"split", 8, 0, 1024, "a part with more entries than so many full tables is split again"},
    {0},
};

/* ---- Aggregate: every part by itself ---- */

static size_t best_chunks(const best *self, size_t list, bool split)
{
    size_t chunks = 0;
    for (unsigned i = 0; i < self->workers; i++)
        chunks += (split ? self->worker[i].split : self->worker[i].lists).chunks[list];
    return chunks;
}

/* Counts one list of every worker. A split part's lists share top bits, and perhaps more: they need the other hash. */
static bool best_count_lists(best *self, best_worker *w, size_t list, bool split)
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

static void best_aggregate(void *argument, unsigned worker, size_t part)
{
    best *self = argument;
    best_worker *w = &self->worker[worker];
    size_t chunks = best_chunks(self, part, false);
    if (w->status != AGB_OK || chunks == 0)
        return;
    agb_phase(self->host, worker, AGGREGATE);
    cascade_begin(&w->tables, chunks * CHUNK_WORDS);
    bool counted = best_count_lists(self, w, part, false);
    w->status = counted ? cascade_emit(&w->tables, worker, part) : AGB_ERR_MEMORY;
}

/* ---- Split: a part that is far larger than the others ----
 *
 * There are two reasons for one: a few keys with very many rows, or very many keys that happen to share the top bits of
 * their hash. One treatment serves both, and serves any number of workers. The part's chunks are dealt out in
 * segments. A segment goes through a first-come table: hot keys end there as one entry each. What the table does not
 * take is partitioned once more, by another hash, and so is at last what the table holds. The lists that result are
 * counted like parts. Chunks are recycled as they are read, so this needs no memory to speak of. */

static bool best_split_word(best *self, best_worker *w, uint64_t entry)
{
    uint64_t key = entry & -(UINT64_C(1) << self->packing.bits);
    return packed_push(&w->split, w->split.place, &w->arena, key * PACKED_SPLIT >> (64 - self->packing.bits), entry);
}

/* rows of a key beyond those in its entry */
static bool best_split_pair(best *self, best_worker *w, uint64_t key, uint64_t rows)
{
    uint64_t hash = (uint64_t)self->part << (64 - self->packing.bits) | key >> self->packing.bits;
    size_t list = self->packing.parts + (key * PACKED_SPLIT >> (64 - self->packing.bits));
    return packed_push(&w->split, w->split.place, &w->arena, list, hash)
           && packed_push(&w->split, w->split.place, &w->arena, list, rows);
}

static bool best_split_table(best *self, best_worker *w)
{
    first_come *t = &w->tables.first;
    for (size_t i = 0; i < first_come_slots(t); i++) {
        uint64_t slot = t->slots[i], rows = t->carries[i];
        t->slots[i] = t->carries[i] = 0;
        if (slot && !best_split_word(self, w, slot - 1))
            return false;
        if (rows && !best_split_pair(self, w, slot & -(UINT64_C(1) << self->packing.bits), rows))
            return false;
    }
    t->carried = false;
    return true;
}

static bool best_split_chunk(best *self, best_worker *w, const uint64_t *entries, size_t n)
{
    uint64_t *missed = w->tables.missed;
    size_t misses = first_come_count(&w->tables.first, entries, n, missed, true, true);
    for (size_t i = 0; i < misses; i++)
        if (!best_split_word(self, w, missed[i]))
            return false;
    return true;
}

static void best_split_segment(void *argument, unsigned worker, size_t number)
{
    best *self = argument;
    best_worker *w = &self->worker[worker];
    segment *s = &self->segments[number];
    uint64_t *place = s->place;
    agb_phase(self->host, worker, SPLIT);
    first_come_use(&w->tables.first, log2_up(w->tables.most_slots));
    for (size_t i = 0; w->status == AGB_OK && i < s->chunks; i++) {
        chunk *from = chunk_of(place), *older = from->older;
        uint64_t *words = from->words + from->first;
        if (!best_split_chunk(self, w, words, (size_t)(place - words)))
            w->status = AGB_ERR_MEMORY;
        place = older ? older->words + CHUNK_WORDS : NULL;
        arena_recycle(&w->arena, from);
    }
    if (w->status == AGB_OK && !best_split_table(self, w))
        w->status = AGB_ERR_MEMORY;
}

static void best_aggregate_split(void *argument, unsigned worker, size_t list)
{
    best *self = argument;
    best_worker *w = &self->worker[worker];
    size_t chunks = best_chunks(self, list, true);
    if (w->status != AGB_OK || chunks == 0)
        return;
    agb_phase(self->host, worker, AGGREGATE);
    cascade_begin(&w->tables, chunks * CHUNK_WORDS);
    bool counted = best_count_lists(self, w, list, true);
    w->status = counted ? cascade_emit(&w->tables, worker, self->part) : AGB_ERR_MEMORY;
}

static agb_status best_status(const best *self, agb_status status)
{
    for (unsigned i = 0; status == AGB_OK && i < self->workers; i++)
        status = self->worker[i].status;
    return status;
}

/* Cuts the part's lists into segments; takes them away from the workers. */
static void best_cut(best *self)
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
                place = chunk_of(place)->older ? chunk_of(place)->older->words + CHUNK_WORDS : NULL;
        }
        from->chunks[self->part] = 0;
        from->place[self->part] = NULL;
    }
}

/* The pairs of the part follow their keys, all to the lists of worker 0. */
static bool best_split_pairs(best *self)
{
    for (unsigned i = 0; i < self->workers; i++) {
        uint64_t *place = self->worker[i].lists.place[self->packing.parts + self->part];
        while (place) {
            chunk *from = chunk_of(place);
            for (uint64_t *pair = from->words + from->first; pair < place; pair += 2)
                if (!best_split_pair(self, &self->worker[0], pair[0] << self->packing.bits, pair[1]))
                    return false;
            place = from->older ? from->older->words + CHUNK_WORDS : NULL;
        }
    }
    return true;
}

static void best_forget(best *self)    /* the lists of the split, which have been counted; and the size of their parts */
{
    for (unsigned i = 0; i < self->workers; i++) {
        packed_lists *l = &self->worker[i].split;
        memset(l->place, 0, packed_lists_bytes(&self->packing));
        self->worker[i].tables.groups = 0;
    }
}

static agb_status best_split_part(best *self, size_t part, size_t chunks)
{
    size_t segments_bytes = (chunks / SEGMENT_CHUNKS + self->workers) * sizeof *self->segments;
    for (unsigned i = 0; i < self->workers; i++)
        if (!self->worker[i].split.place && !packed_lists_open(&self->worker[i].split, self->host, &self->packing))
            return AGB_ERR_MEMORY;
    self->segments = agb_alloc(self->host, segments_bytes, 0);
    if (!self->segments)
        return AGB_ERR_MEMORY;
    self->part = part;
    best_cut(self);
    best_forget(self);
    agb_status status = best_status(self, agb_parallel_for(self->host, self->n_segments, best_split_segment, self));
    agb_release(self->host, self->segments, segments_bytes);
    if (status == AGB_OK && !best_split_pairs(self))
        status = AGB_ERR_MEMORY;
    if (status == AGB_OK)
        status = best_status(self, agb_parallel_for(self->host, self->packing.parts, best_aggregate_split, self));
    best_forget(self);
    return status;
}

/* ---- The contract ---- */

static size_t power_of_two_below(size_t value)
{
    return (size_t)1 << (log2_up(value + 1) - 1);
}

/* Half of L2 for the first table, a quarter for the second; the rest for the chunks that pass through. */
static size_t best_most_slots(const agb_config *config)
{
    size_t l2 = config->caches.l2 ? config->caches.l2 : 512 << 10;
    size_t slots = power_of_two_below(l2 / 2 / sizeof(uint64_t)), least = (size_t)1 << LEAST_LOG2_SLOTS;
    while (config->rows && slots / 2 >= config->rows && slots > least)
        slots /= 2;
    return slots < least ? least : slots;
}

static unsigned best_bits(const agb_config *config, size_t most_slots)
{
    if (config->params[BITS])
        return config->params[BITS] < 4 ? 4 : (unsigned)config->params[BITS];
    unsigned bits = config->rows ? log2_up(config->rows / most_slots) : MOST_BITS;
    return bits < LEAST_BITS ? LEAST_BITS : bits > MOST_BITS ? MOST_BITS : bits;
}

static agb_status best_open_worker(best *self, best_worker *w, size_t most_slots)
{
    w->arena = (arena){.host = self->host, .slab_bytes = self->packing.parts * CHUNK_BYTES};
    bool opened = packed_lists_open(&w->lists, self->host, &self->packing)
                  && cascade_open(&w->tables, self->host, &self->packing, most_slots);
    return opened ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status best_create(agb_host *host, const agb_config *config, void **out)
{
    best *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    size_t most_slots = best_most_slots(config);
    self->host = host;
    self->packing = packing_of(config->hash, best_bits(config, most_slots));
    self->most_chunks = (size_t)config->params[OVERSIZE] * most_slots / CHUNK_WORDS;
    self->worker = agb_alloc(host, config->workers * sizeof *self->worker, AGB_ZEROED);
    if (!self->worker)
        return AGB_ERR_MEMORY;
    self->workers = config->workers;
    agb_status status = AGB_OK;
    for (unsigned i = 0; status == AGB_OK && i < self->workers; i++)
        status = best_open_worker(self, &self->worker[i], most_slots);
    return status;
}

static agb_status best_consume(void *state, unsigned worker, const agb_batch *batch)
{
    best *self = state;
    best_worker *w = &self->worker[worker];
    return packed_add_batch(&w->lists, &w->arena, &self->packing, batch) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status best_finish(void *state)
{
    best *self = state;
    for (size_t part = 0; part < self->packing.parts; part++) {
        size_t chunks = best_chunks(self, part, false);
        agb_status status = chunks > self->most_chunks ? best_split_part(self, part, chunks) : AGB_OK;
        if (status != AGB_OK)
            return status;
    }
    return best_status(self, agb_parallel_for(self->host, self->packing.parts, best_aggregate, self));
}

static void best_destroy(void *state)
{
    best *self = state;
    for (unsigned i = 0; i < self->workers; i++) {
        best_worker *w = &self->worker[i];
        arena_close(&w->arena);
        agb_release(self->host, w->lists.place, packed_lists_bytes(&self->packing));
        agb_release(self->host, w->split.place, packed_lists_bytes(&self->packing));
        cascade_close(&w->tables);
    }
    agb_release(self->host, self->worker, self->workers * sizeof *self->worker);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_best = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "best",
    .summary = "radix with packed entries, collapsed runs and first-come tables that never probe",
    .prediction = "retiring above 50 %, memory-bound below 25 %: what is left is instructions, not waiting",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = best_create,
    .consume = best_consume,
    .finish = best_finish,
    .destroy = best_destroy,
};
