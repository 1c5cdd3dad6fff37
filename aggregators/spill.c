/* SPDX-License-Identifier: MIT */
/* spill: radix for memory that is too small: what does not fit goes to a file and comes back part by part.
 *
 * Idea
 *   Partitioning needs all rows at once, but not all of them in memory: a part's full chunks can wait in a file until
 *   the part is counted. Chunks stay in memory for as long as half of the budget lasts; the other half is for the
 *   tables. If even one part's table does not fit, the part is read several times, each time for a slice of its keys.
 *   Hybrid hashing after Shapiro, "Join Processing in Database Systems with Large Main Memories" (1986).
 *
 * Layout
 *     part p     in memory   place -> [older|ticket|keys ...] <- ...         chunks of 4 KiB as in chunks_part.h
 *                in the file          [  -  |ticket|keys ...] <- ...         the second word leads to the chunk before
 *     hash(key)  pppppppp tttttttt....          p: part;  t: slot in the table; a part that is too large is read in
 *                                               slices, which are chosen by another hash
 *
 * Cost per row
 *   radix's, with fewer parts; where it spills, also one write and one read of the row's 8 bytes, in blocks of 4 KiB
 *   that the system writes behind our back. Each halving of the memory below a part's table doubles the reading. The
 *   least memory is an open chunk for each part of each worker: about 2 MiB a worker with 256 parts.
 *
 * Where the slots should go
 *   As radix while all fits. Spilling adds time outside the core (system time, waiting for the disk), not stalls.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator radix,spill --memory-budget 64M     (radix: out of memory)
 *   aggbench run synth:hits,rows=10M --aggregator spill --memory-budget 8M --sweep bits=4..10 */
#include "partitions_part.h"

enum { TABLE_BITS = 8, LEAST_TABLE_LOAD = 60, MOST_SLICE_BITS = 24 };

typedef struct spiller {    /* one a worker */
    uint64_t **place;       /* of each part, as in chunks_part.h; never NULL */
    uint64_t *ticket;       /* of each part: its newest chunk in the file, 0 = none */
    chunk_store store;
    size_t chunks;          /* taken from the store */
    chunk *returned;        /* where a chunk from the file is put */
    linear_table table;
    agb_status status;      /* of the aggregate phase */
} spiller;

typedef struct spill {
    agb_host *host;
    unsigned bits, workers;
    size_t parts, most_chunks;    /* most_chunks: of one worker, before it spills */
    size_t l2_bytes;
    bool weighted;
    agb_hash hash;
    spiller *spiller;
} spill;

enum { PARTITION, AGGREGATE };
static const char *const phases[] = {"partition", "aggregate", NULL};

enum { BITS };
static const agb_param params[] = {
    {"bits", 8, 1, 12, "log2 of the number of parts"},
    {0},
};

/* ---- Partition ---- */

/* The full chunk goes to the file and is used again. */
static uint64_t *spill_write_chunk(spill *self, spiller *w, size_t part, uint64_t *full)
{
    chunk *c = chunk_of(full);
    chunk *older = c->older;
    c->words[1] = w->ticket[part];
    w->status = agb_spill(self->host, c, CHUNK_BYTES, &w->ticket[part]);
    c->older = older;
    return w->status == AGB_OK ? c->words + HEADER_WORDS : NULL;
}

static uint64_t *spill_next_chunk(spill *self, spiller *w, size_t part, uint64_t *full)
{
    if (w->chunks < self->most_chunks) {
        uint64_t *place = chunk_append(&w->store, full);
        if (place) {
            w->chunks++;
            return place;
        }
        w->chunks = self->most_chunks;    /* refused: so this is what there is */
    }
    return spill_write_chunk(self, w, part, full);
}

static inline agb_status spill_scatter(spill *self, spiller *w, const uint64_t *keys, const uint64_t *weights,
                                       size_t rows)
{
    unsigned shift = 64 - self->bits;
    for (size_t i = 0; i < rows; i++) {
        size_t part = agb_hash_word(self->hash, keys[i]) >> shift;
        uint64_t *place = w->place[part];
        if (__builtin_expect(is_chunk_end(place), 0)) {
            place = spill_next_chunk(self, w, part, place);
            if (!place)
                return w->status;
        }
        *place++ = keys[i];
        if (weights)
            *place++ = weights[i];
        w->place[part] = place;
    }
    return AGB_OK;
}

/* ---- Aggregate ---- */

/* Odd, without pattern (the square root of three quarters in binary). */
#define SLICE_SPREAD UINT64_C(0xddb3d742c265539d)

/* The keys of a part of which `bits` bits of another hash are `number`. */
typedef struct slice {
    unsigned bits;
    uint64_t number;
} slice;

/* The bits that follow the part's, or any others, may be the same for all keys of a part; all of them together are not,
 * and leave the table those it wants. */
static inline bool slice_has(slice s, uint64_t hash)
{
    return s.bits == 0 || hash * SLICE_SPREAD >> (64 - s.bits) == s.number;
}

/* false: no memory. Where there is not enough to make room for all words at once, they get it one by one. */
static bool spill_count_words(spill *self, linear_table *table, const uint64_t *words, size_t n, slice s)
{
    if (s.bits == 0 && count_words(table, self->host, words, n, self->weighted, self->l2_bytes))
        return true;
    size_t step = self->weighted ? 2 : 1;
    for (size_t i = 0; i < n; i += step) {
        uint64_t hash = agb_hash_word(self->hash, words[i]);
        if (!slice_has(s, hash))
            continue;
        if (!linear_table_reserve(table, self->host, 1))
            return false;
        linear_table_add(table, hash, words[i], self->weighted ? words[i + 1] : 1);
    }
    return true;
}

static agb_status spill_count_memory(spill *self, linear_table *table, uint64_t *place, slice s)
{
    while (place) {
        uint64_t *words, *older;
        size_t n = chunk_words(place, &words, &older);
        if (!spill_count_words(self, table, words, n, s))
            return AGB_ERR_MEMORY;
        place = older;
    }
    return AGB_OK;
}

static agb_status spill_count_file(spill *self, spiller *w, uint64_t ticket, slice s)
{
    while (ticket) {
        agb_status status = agb_fetch(self->host, ticket, w->returned, CHUNK_BYTES);
        if (status != AGB_OK)
            return status;
        if (!spill_count_words(self, &w->table, w->returned->words + HEADER_WORDS, CHUNK_WORDS - HEADER_WORDS, s))
            return AGB_ERR_MEMORY;
        ticket = w->returned->words[1];
    }
    return AGB_OK;
}

static agb_status spill_count_slice(spill *self, spiller *w, size_t part, slice s)
{
    for (unsigned i = 0; i < self->workers; i++) {
        const spiller *from = &self->spiller[i];
        agb_status status = spill_count_memory(self, &w->table, from->place[part], s);
        if (status == AGB_OK)
            status = spill_count_file(self, w, from->ticket[part], s);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

/* A table of the least size again, which gives back what the large one held. */
static bool spill_shrink_table(spill *self, spiller *w)
{
    linear_table_close(&w->table, self->host);
    return linear_table_open(&w->table, self->host, TABLE_BITS, self->bits, LEAST_TABLE_LOAD, self->hash);
}

/* Slice by slice; a slice whose table does not fit is halved, as are those after it. */
static agb_status spill_count_part(spill *self, spiller *w, unsigned worker, size_t part)
{
    slice s = {0, 0};
    while (s.number >> s.bits == 0) {
        agb_status status = spill_count_slice(self, w, part, s);
        if (status == AGB_OK) {
            status = w->table.groups ? linear_table_emit(&w->table, self->host, worker) : AGB_OK;
            s.number++;
        } else if (status == AGB_ERR_MEMORY && s.bits < MOST_SLICE_BITS && spill_shrink_table(self, w)) {
            s = (slice){s.bits + 1, s.number * 2};
            continue;
        }
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

static void spill_aggregate(void *argument, unsigned worker, size_t part)
{
    spill *self = argument;
    spiller *w = &self->spiller[worker];
    if (w->status != AGB_OK)
        return;
    agb_phase(self->host, worker, AGGREGATE);
    w->status = spill_count_part(self, w, worker, part);
}

/* ---- The contract ---- */

static bool spill_open_worker(spill *self, spiller *w)
{
    agb_host *host = self->host;
    chunk_store_open(&w->store, host);
    w->place = agb_alloc(host, self->parts * sizeof *w->place, AGB_ZEROED);
    w->ticket = agb_alloc(host, self->parts * sizeof *w->ticket, AGB_ZEROED);
    if (!w->place || !w->ticket
        || !linear_table_open(&w->table, host, TABLE_BITS, self->bits, LEAST_TABLE_LOAD, self->hash))
        return false;
    w->returned = chunk_store_take(&w->store);
    for (size_t part = 0; w->returned && part < self->parts; part++) {
        w->place[part] = chunk_append(&w->store, NULL);
        if (!w->place[part])
            return false;
    }
    w->chunks = self->parts;
    return w->returned != NULL;
}

static agb_status spill_create(agb_host *host, const agb_config *config, void **out)
{
    spill *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->bits = (unsigned)config->params[BITS];
    self->parts = (size_t)1 << self->bits;
    self->weighted = config->weighted;
    self->hash = config->hash;
    self->l2_bytes = config->caches.l2 ? config->caches.l2 : 256 << 10;
    self->most_chunks = config->memory_budget ? config->memory_budget / 2 / config->workers / CHUNK_BYTES : SIZE_MAX;
    self->spiller = agb_alloc(host, config->workers * sizeof(spiller), AGB_ZEROED);
    if (!self->spiller)
        return AGB_ERR_MEMORY;
    self->workers = config->workers;
    for (unsigned i = 0; i < self->workers; i++)
        if (!spill_open_worker(self, &self->spiller[i]))
            return AGB_ERR_MEMORY;
    return AGB_OK;
}

static agb_status spill_consume(void *state, unsigned worker, const agb_batch *batch)
{
    spill *self = state;
    spiller *w = &self->spiller[worker];
    return batch->weights ? spill_scatter(self, w, batch->keys, batch->weights, batch->rows)
                          : spill_scatter(self, w, batch->keys, NULL, batch->rows);
}

static agb_status spill_finish(void *state)
{
    spill *self = state;
    agb_status status = agb_parallel_for(self->host, self->parts, spill_aggregate, self);
    for (unsigned i = 0; status == AGB_OK && i < self->workers; i++)
        status = self->spiller[i].status;
    return status;
}

static void spill_destroy(void *state)
{
    spill *self = state;
    for (unsigned i = 0; i < self->workers; i++) {
        spiller *w = &self->spiller[i];
        chunk_store_close(&w->store);
        linear_table_close(&w->table, self->host);
        agb_release(self->host, w->place, self->parts * sizeof *w->place);
        agb_release(self->host, w->ticket, self->parts * sizeof *w->ticket);
    }
    agb_release(self->host, self->spiller, self->workers * sizeof(spiller));
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_spill = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "spill",
    .summary = "radix that goes on in a file when the memory budget is used up",
    .prediction = "as radix while all fits; spilling adds system time, not stalls",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = spill_create,
    .consume = spill_consume,
    .finish = spill_finish,
    .destroy = spill_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 10e6},
};
