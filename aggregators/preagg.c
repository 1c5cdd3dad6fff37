/* SPDX-License-Identifier: MIT */
/* preagg: a small table in front catches what comes again soon; what is pushed out of it goes to partitions.
 *
 * Idea
 *   Few groups, or a few frequent ones, are best counted in a table that stays in the cache; many are best partitioned.
 *   Do both without having to know: count in a table of fixed size where a newcomer evicts whoever has its cell, with
 *   the count so far, to radix's partitions. Larson, "Grouping and Duplicate Elimination: Benefits of Early
 *   Aggregation" (1997); Leis, Boncz, Kemper, Neumann, "Morsel-Driven Parallelism" (2014).
 *
 * Layout
 *     front   [key|count][key|count] ...        direct-mapped: one cell a key could be in; half of L2, one a worker
 *                   | evicted: key and count
 *                   v
 *     part p  [older|-|key count key count ...] <- chunk <- chunk         merged at the end, one part after another
 *     Pairs and strings stand in their part from the beginning, and the front points at them.
 *
 * Cost per row
 *   A hash, one line that L1 or L2 has, one branch "is it mine". If not: 16 bytes to a part, twice radix's traffic. So:
 *   few groups cost one look-up in the cache; many cost that, plus a misprediction now and then, plus radix.
 *
 * Where the slots should go
 *   Few groups: retiring as high as it gets. Many: below radix, with bad speculation where a hit is as likely as a
 *   miss.
 *
 * Try
 *   aggbench run synth:zipf,rows=10M,groups=1M --aggregator naive,radix,preagg
 *   aggbench run synth:uniform,rows=10M --sweep groups=1000,10000,100000,1000000 --aggregator radix,preagg
 *
 * Tried: the branch taken out (always write the occupant to its part; the place moves on only if it has to go). Up to
 * 1.5 times as fast where most rows miss, no gain in hits order, and half as fast where rows hit, since every row then
 * waits for the one before: and rows that hit are what the front table is for. */
#include "partitions_part.h"

/* Of pairs and strings: whoever enters the front is written to its part at once, and its cell remembers where; those
 * that follow add to the row's weight there. So a string is copied once, to where it is needed in the end, to evict is
 * to forget, and nothing is left to be flushed. */
typedef struct wide_front {
    uint64_t hash;
    uint64_t *row;      /* NULL: nobody's */
} wide_front;

typedef union front {             /* cells of 16 bytes either way */
    linear_cell *words;
    wide_front *wide;
} front;

_Static_assert(sizeof(linear_cell) == sizeof(wide_front), "one size of memory for both");

typedef struct preagg {
    partitions partitions;
    unsigned front_bits;
    front *front;                 /* of each worker */
} preagg;

enum { COUNT, FLUSH, MERGE };
static const char *const phases[] = {"count", "flush", "merge", NULL};

enum { FRONT, BITS, LOAD };
static const agb_param params[] = {
    {"front", 0, 0, 24, "log2 of the number of cells of a front table; 0: half of L2"},
    {"bits", 0, 0, 12, "log2 of the number of parts; 0: so that a part's groups fit L2 if every second row is new"},
    {"load", 60, 10, 90, "most occupied cells of a part's table before it grows, in percent"},
    {0},
};

static unsigned preagg_front_bits(const agb_config *config)
{
    size_t l2 = config->caches.l2 ? config->caches.l2 : 256 << 10;
    return config->params[FRONT] ? (unsigned)config->params[FRONT] : log2_of(l2 / 2 / sizeof(linear_cell));
}

static unsigned preagg_part_bits(const agb_config *config, unsigned front_bits)
{
    unsigned bits = config->params[BITS] ? (unsigned)config->params[BITS] : partitions_bits(config);
    return bits < front_bits ? bits : front_bits;
}

/* A cell's number is the beginning of the hash of whoever is in it, and has at least as many bits as the number of a
 * part: the part of an occupant follows without hashing it again. Never inline: gcc 12 would load key and count as one
 * vector before it knows whether they are to go, and a vector load must wait for the last row's 8-byte store to the
 * same cell to leave the store buffer. With one group that made the whole strategy seven times slower. */
__attribute__((noinline)) static bool preagg_evict(const preagg *self, writer *w, size_t slot, const linear_cell *cell)
{
    size_t part = slot >> (self->front_bits - self->partitions.bits);
    agb_key key = {.word = cell->key};
    return row_push(&w->store, &w->far, &w->place[part], key, 0, cell->count, AGB_KEYS_WORD, true);
}

/* weights is a constant NULL where rows count once, and the compiler then drops the load. */
static inline agb_status preagg_add(preagg *self, unsigned worker, const uint64_t *keys, const uint64_t *weights,
                                    size_t rows)
{
    writer *w = &self->partitions.writer[worker];
    linear_cell *front = self->front[worker].words;
    unsigned shift = 64 - self->front_bits;
    agb_hash hash = self->partitions.hash;
    for (size_t i = 0; i < rows; i++) {
        uint64_t weight = weights ? weights[i] : 1;
        size_t slot = agb_hash_word(hash, keys[i]) >> shift;
        linear_cell *cell = &front[slot];
        if (cell->key == keys[i]) {      /* an empty cell may seem to be that of key 0: then it becomes it */
            cell->count += weight;
            continue;
        }
        if (cell->count && !preagg_evict(self, w, slot, cell))
            return AGB_ERR_MEMORY;
        cell->key = keys[i];
        cell->count = weight;
    }
    return AGB_OK;
}

PER_KIND agb_status preagg_add_wide(preagg *self, unsigned worker, const agb_batch *batch, agb_key_kind kind)
{
    partitions *p = &self->partitions;
    writer *w = &p->writer[worker];
    wide_front *front = self->front[worker].wide;
    uint64_t ahead[HASHED_ROWS];
    for (size_t i = 0; i < batch->rows; i++) {
        uint64_t hash = batch_hash(p->host, p->hash, batch, i, ahead, kind);
        uint64_t weight = batch->weights ? batch->weights[i] : 1;
        agb_key key = batch_key(batch, i, kind);
        wide_front *cell = &front[hash >> (64 - self->front_bits)];
        if (cell->row && cell->hash == hash && keys_equal(row_key(cell->row, kind, true), key, kind)) {
            *row_weight(cell->row, kind) += weight;
            continue;
        }
        uint64_t *row = row_push(&w->store, &w->far, &w->place[hash >> (64 - p->bits)], key, hash, weight, kind, true);
        if (!row)
            return AGB_ERR_MEMORY;
        *cell = (wide_front){hash, row};
    }
    return AGB_OK;
}

/* What is left in the front tables of words joins the parts: one task a worker's table. */
static void preagg_flush(void *argument, unsigned worker, size_t owner)
{
    preagg *self = argument;
    partitions *p = &self->partitions;
    writer *w = &p->writer[owner];
    agb_phase(p->host, worker, FLUSH);
    for (size_t i = 0; i < (size_t)1 << self->front_bits; i++) {
        const linear_cell *cell = &self->front[owner].words[i];
        if (cell->count && !preagg_evict(self, w, i, cell)) {
            w->status = AGB_ERR_MEMORY;
            return;
        }
    }
}

static agb_status preagg_create(agb_host *host, const agb_config *config, void **out)
{
    preagg *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->front_bits = preagg_front_bits(config);
    partitions *p = &self->partitions;
    if (!partitions_open(p, host, config, preagg_part_bits(config, self->front_bits), (unsigned)config->params[LOAD]))
        return AGB_ERR_MEMORY;
    p->weighted = true;
    self->front = agb_alloc(host, p->workers * sizeof *self->front, AGB_ZEROED);
    for (unsigned i = 0; self->front && i < p->workers; i++) {
        self->front[i].words = agb_alloc(host, sizeof(linear_cell) << self->front_bits, AGB_ZEROED);
        if (!self->front[i].words)
            return AGB_ERR_MEMORY;
    }
    return self->front ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status preagg_consume(void *state, unsigned worker, const agb_batch *batch)
{
    preagg *self = state;
    if (self->partitions.kind == AGB_KEYS_PAIR)
        return preagg_add_wide(self, worker, batch, AGB_KEYS_PAIR);
    if (self->partitions.kind == AGB_KEYS_BYTES)
        return preagg_add_wide(self, worker, batch, AGB_KEYS_BYTES);
    return batch->weights ? preagg_add(self, worker, batch->keys, batch->weights, batch->rows)
                          : preagg_add(self, worker, batch->keys, NULL, batch->rows);
}

static agb_status preagg_finish(void *state)
{
    preagg *self = state;
    partitions *p = &self->partitions;
    agb_status status = AGB_OK;
    if (p->kind == AGB_KEYS_WORD)
        status = agb_parallel_for(p->host, p->workers, preagg_flush, self);
    if (status == AGB_OK)
        status = partitions_status(p);
    return status == AGB_OK ? partitions_aggregate(p, MERGE) : status;
}

static void preagg_destroy(void *state)
{
    preagg *self = state;
    partitions *p = &self->partitions;
    for (unsigned i = 0; self->front && i < p->workers; i++)
        agb_release(p->host, self->front[i].words, sizeof(linear_cell) << self->front_bits);
    agb_release(p->host, self->front, p->workers * sizeof *self->front);
    partitions_close(p);
    agb_release(p->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_preagg = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "preagg",
    .summary = "a small table in the cache, evictions to partitions",
    .prediction = "few groups: retiring as high as it gets; many: below radix, with more bad speculation",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = preagg_create,
    .consume = preagg_consume,
    .finish = preagg_finish,
    .destroy = preagg_destroy,
    .need = {.bytes_per_row = 16, .fixed_bytes = 14e6},
};
