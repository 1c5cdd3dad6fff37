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
 *     part p     in memory   place -> [older|ticket|rows ...] <- ...         chunks of 4 KiB, and rows_part.h's rows
 *                in the file          [  -  |ticket|rows ...] <- ...         the second word leads to the chunk before
 *                                     a string too long for a chunk goes to memory or to the file by itself
 *     hash(key)  pppppppp tttttttt....          p: part;  t: slot in the table; a part that is too large is read in
 *                                               slices, which are chosen by another hash
 *
 * Cost per row
 *   radix's, with fewer parts; where it spills, also one write and one read of the row's 8 bytes, in blocks of 4 KiB
 *   that the system writes behind our back. Each halving of the memory below a part's table doubles the reading. The
 *   least memory is an open chunk for each part of each worker: 1.8 MiB a worker with 256 parts.
 *
 * Where the slots should go
 *   As radix while all fits. Spilling adds time outside the core (system time, waiting for the disk), not stalls.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator radix,spill --memory-budget 64M     (radix: out of memory)
 *   aggbench run synth:hits,rows=10M --aggregator spill --memory-budget 8M --sweep bits=4..10 */
#include "note_part.h"
#include "rows_part.h"

enum { TABLE_BITS = 8, LEAST_TABLE_LOAD = 60, MOST_SLICE_BITS = 24 };

typedef struct spiller {    /* one a worker */
    uint64_t **place;       /* of each part, as in chunks_part.h; never NULL */
    uint64_t *ticket;       /* of each part: its newest chunk in the file, 0 = none */
    chunk_store store;
    bytes_store far;        /* of strings too long for a chunk */
    size_t chunks;          /* taken from the store, or as much memory for long strings */
    chunk *returned;        /* where a chunk from the file is put */
    key_table table;        /* has strings of its own: rows that come from the file do not stay */
    agb_status status;      /* of the aggregate phase */
} spiller;

typedef struct spill {
    agb_host *host;
    unsigned bits, workers;
    size_t parts, most_chunks;    /* most_chunks: of one worker, before it spills */
    size_t l2_bytes;
    bool weighted;
    agb_key_kind kind;
    agb_hash hash;
    spiller *spiller;
} spill;

enum { PARTITION, AGGREGATE };
static const char *const phases[] = {"partition", "aggregate", NULL};

enum { BITS };
static const agb_param params[] = {
    {"bits", 8, 1, 12, "log2 of the number of parts; the least memory budget grows with it: 1801k for each worker with "
                       "bits=8, 261k with bits=4, and 260k more for strings"},
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

/* Of a long string's place in its row: it is a ticket, not an address. */
#define IN_FILE (UINT64_C(1) << 63)

static bool spill_keep_far(spill *self, spiller *w, agb_key *key)
{
    uint64_t ticket;
    size_t chunks = key->bytes.length / CHUNK_BYTES + 1;
    if (w->chunks + chunks <= self->most_chunks) {
        const unsigned char *copy = bytes_store_copy(&w->far, self->host, key->bytes);
        if (copy) {
            w->chunks += chunks;
            key->bytes.data = copy;
            return true;
        }
        w->chunks = self->most_chunks;
    }
    w->status = agb_spill(self->host, key->bytes.data, key->bytes.length, &ticket);
    key->bytes.data = (const unsigned char *)(uintptr_t)(ticket | IN_FILE);
    return w->status == AGB_OK;
}

/* weights is a constant NULL where words count once. */
PER_KIND agb_status spill_scatter(spill *self, spiller *w, agb_batch batch, const uint64_t *weights, agb_key_kind kind)
{
    unsigned shift = 64 - self->bits;
    agb_hash hash = self->hash;
    uint64_t ahead[HASHED_ROWS];
    for (size_t i = 0; i < batch.rows; i++) {
        uint64_t hashed = batch_hash(self->host, hash, &batch, i, ahead, kind);
        size_t part = hashed >> shift;
        agb_key key = batch_key(&batch, i, kind);
        if (kind == AGB_KEYS_BYTES && key.bytes.length > LONGEST_NEAR && !spill_keep_far(self, w, &key))
            return w->status;
        size_t words = row_words(key, kind, weights != NULL);
        uint64_t *place = w->place[part];
        if (__builtin_expect(row_needs_chunk(place, words, kind), 0)) {
            if (!is_chunk_end(place))
                *place = 0;
            place = spill_next_chunk(self, w, part, place);
            if (!place)
                return w->status;
        }
        row_write(place, key, hashed, weights ? weights[i] : 1, kind, weights != NULL);
        w->place[part] = place + words;
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

/* A long string comes back for as long as it takes to count it. */
static agb_status spill_count_far(spill *self, spiller *w, uint64_t hash, agb_bytes string, uint64_t weight)
{
    unsigned char *bytes = agb_alloc(self->host, string.length, 0);
    if (!bytes)
        return AGB_ERR_MEMORY;
    agb_status status = agb_fetch(self->host, (uintptr_t)string.data & ~IN_FILE, bytes, string.length);
    agb_key key = {.bytes = {bytes, string.length}};
    if (status == AGB_OK && !key_table_put(&w->table, self->host, hash, key, weight, AGB_KEYS_BYTES))
        status = AGB_ERR_MEMORY;
    agb_release(self->host, bytes, string.length);
    return status;
}

PER_KIND agb_status spill_count_kind(spill *self, spiller *w, const uint64_t *words, size_t n, slice s,
                                     agb_key_kind kind)
{
    bool weighted = self->weighted;
    for (const uint64_t *row = words, *end = words + n; row_is_there(row, end, kind);) {
        agb_key key = row_key(row, kind, weighted);
        uint64_t hash = row_hash(row, self->hash, kind), weight = weighted ? row[row_head(kind, false)] : 1;
        agb_status status = AGB_OK;
        row += row_words(key, kind, weighted);
        if (!slice_has(s, hash))
            continue;
        if (kind == AGB_KEYS_BYTES && (uintptr_t)key.bytes.data & IN_FILE)
            status = spill_count_far(self, w, hash, key.bytes, weight);
        else if (!key_table_put(&w->table, self->host, hash, key, weight, kind))
            status = AGB_ERR_MEMORY;
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

/* Whole parts by the chunk. Where there is not enough memory to make room for all rows of a chunk at once, they get it
 * one by one; strings always do, as some of them may be in the file. */
static agb_status spill_count_words(spill *self, spiller *w, const uint64_t *words, size_t n, slice s)
{
    if (s.bits == 0 && self->kind != AGB_KEYS_BYTES &&
        rows_count(&w->table, self->host, self->l2_bytes, words, n, self->weighted))
        return AGB_OK;
    return self->kind == AGB_KEYS_WORD   ? spill_count_kind(self, w, words, n, s, AGB_KEYS_WORD)
           : self->kind == AGB_KEYS_PAIR ? spill_count_kind(self, w, words, n, s, AGB_KEYS_PAIR)
                                         : spill_count_kind(self, w, words, n, s, AGB_KEYS_BYTES);
}

static agb_status spill_count_memory(spill *self, spiller *w, uint64_t *place, slice s)
{
    agb_status status = AGB_OK;
    while (place && status == AGB_OK) {
        uint64_t *words, *older;
        size_t n = chunk_words(place, &words, &older);
        status = spill_count_words(self, w, words, n, s);
        place = older;
    }
    return status;
}

static agb_status spill_count_file(spill *self, spiller *w, uint64_t ticket, slice s)
{
    agb_status status = AGB_OK;
    while (ticket && status == AGB_OK) {
        status = agb_fetch(self->host, ticket, w->returned, CHUNK_BYTES);
        if (status == AGB_OK)
            status = spill_count_words(self, w, w->returned->words + HEADER_WORDS, CHUNK_WORDS - HEADER_WORDS, s);
        ticket = w->returned->words[1];
    }
    return status;
}

static agb_status spill_count_slice(spill *self, spiller *w, size_t part, slice s)
{
    for (unsigned i = 0; i < self->workers; i++) {
        const spiller *from = &self->spiller[i];
        agb_status status = spill_count_memory(self, w, from->place[part], s);
        if (status == AGB_OK)
            status = spill_count_file(self, w, from->ticket[part], s);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

static bool spill_open_table(spill *self, spiller *w)
{
    return key_table_open(&w->table, self->kind,
                          (table_plan){self->host, TABLE_BITS, self->bits, LEAST_TABLE_LOAD, self->hash, true});
}

/* The table has a slab for strings from the beginning to the end: a later one might find the memory taken by chunks,
 * and smaller slices do not make do with less. */
static bool spill_forget_strings(spill *self, spiller *w)
{
    return self->kind != AGB_KEYS_BYTES || bytes_store_reset(&w->table.wide.store, self->host);
}

/* A table of the least size again, which gives back what the large one held. */
static bool spill_shrink_table(spill *self, spiller *w)
{
    spill_forget_strings(self, w);
    bytes_store kept = w->table.wide.store;
    w->table.wide.store = (bytes_store){0};
    key_table_close(&w->table, self->host);
    bool opened = spill_open_table(self, w);
    w->table.wide.store = kept;
    return opened;
}

static agb_status spill_emit(spill *self, spiller *w, unsigned worker)
{
    agb_status status = key_table_groups(&w->table) ? key_table_emit(&w->table, self->host, worker) : AGB_OK;
    spill_forget_strings(self, w);
    return status;
}

/* Slice by slice; a slice whose table does not fit is halved, as are those after it. */
static agb_status spill_count_part(spill *self, spiller *w, unsigned worker, size_t part)
{
    slice s = {0, 0};
    while (s.number >> s.bits == 0) {
        agb_status status = spill_count_slice(self, w, part, s);
        if (status == AGB_OK) {
            status = spill_emit(self, w, worker);
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
    if (!w->place || !w->ticket || !spill_open_table(self, w) || !spill_forget_strings(self, w))
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

/* Refused memory, with what would have been enough, to be said in place of that. */
static agb_status spill_refused(spill *self, unsigned workers)
{
    size_t cell = self->kind == AGB_KEYS_WORD ? sizeof(linear_cell) : sizeof(wide_cell);
    size_t worker = sizeof(spiller) + self->parts * 2 * sizeof(uint64_t) + (cell << TABLE_BITS) +
                    chunk_store_bytes_of(self->parts + 1) + (self->kind == AGB_KEYS_BYTES ? FIRST_SLAB_BYTES : 0);
    char text[128], *to = note_text(text, "raise it to ");
    to = note_number(to, (sizeof *self + workers * worker + 1023) / 1024);
    note_text(to, "k at least");
    agb_note(self->host, text);
    return AGB_ERR_MEMORY;
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
    self->kind = config->kind;
    self->hash = config->hash;
    self->l2_bytes = config->caches.l2 ? config->caches.l2 : 256 << 10;
    self->most_chunks = config->memory_budget ? config->memory_budget / 2 / config->workers / CHUNK_BYTES : SIZE_MAX;
    self->spiller = agb_alloc(host, config->workers * sizeof(spiller), AGB_ZEROED);
    if (!self->spiller)
        return spill_refused(self, config->workers);
    self->workers = config->workers;
    for (unsigned i = 0; i < self->workers; i++)
        if (!spill_open_worker(self, &self->spiller[i]))
            return spill_refused(self, config->workers);
    return AGB_OK;
}

static agb_status spill_consume(void *state, unsigned worker, const agb_batch *batch)
{
    spill *self = state;
    spiller *w = &self->spiller[worker];
    if (self->kind == AGB_KEYS_PAIR)
        return spill_scatter(self, w, *batch, batch->weights, AGB_KEYS_PAIR);
    if (self->kind == AGB_KEYS_BYTES)
        return spill_scatter(self, w, *batch, batch->weights, AGB_KEYS_BYTES);
    return batch->weights ? spill_scatter(self, w, *batch, batch->weights, AGB_KEYS_WORD)
                          : spill_scatter(self, w, *batch, NULL, AGB_KEYS_WORD);
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
        bytes_store_close(&w->far, self->host);
        key_table_close(&w->table, self->host);
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
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = spill_create,
    .consume = spill_consume,
    .finish = spill_finish,
    .destroy = spill_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 10e6},
};
