/* SPDX-License-Identifier: MIT */
/* radix_two_pass: radix with its bits split over two passes.
 *
 * Idea
 *   64 open places are nothing to L1 and the TLB; 4096 are too much for both. 6 bits and then 6 bits give the same 4096
 *   parts with never more than 64 places open, for the price of moving every row once more. Manegold, Boncz, Kersten,
 *   "Optimizing Main-Memory Join on Modern Hardware" (2002).
 *
 * Layout
 *     hash(key) = pppppp qqqqqq ssss....       p: first pass, as rows come;  q: second, one p at a time;  s: slot
 *     part p      chunk <- chunk <- chunk      radix's lists; a chunk that has been read is used again at once
 *     part p.q      chunk <- chunk             only those of one p per worker exist at a time: 1/64 of the rows
 *
 * Cost per row
 *   Two hashes, two stores, two sequential loads before the look-up, where radix has one of each. A sub-part's table is
 *   radix's, and hits L1 or L2. Since chunks are handed round, the second pass writes to lines that are still in the
 *   cache.
 *
 * Where the slots should go
 *   More operations than radix, fewer waits for stores in each of the passes; it wins only where radix's single pass
 *   has more parts than the machine can keep open.
 *
 * Try
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator radix,radix_two_pass
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator radix:bits=14,radix_two_pass:first=7:second=7
 *
 * Tried: on a 2-core Zen 4 virtual machine with 2 MiB pages, 0.85 of radix in hits order. That core keeps 4096 places
 * open well enough (few pages, 1 MiB of L2), so the second move is for nothing. */
#include "partitions_part.h"

typedef struct radix_two_pass {
    partitions partitions;        /* of the first pass; their writers' stores and tables serve the second one too */
    unsigned second_bits;
    size_t second_parts;
    uint64_t ***second_place;     /* of each worker, of each sub-part of the part it is at */
} radix_two_pass;

enum { PARTITION, AGGREGATE };
static const char *const phases[] = {"partition", "aggregate", NULL};

enum { FIRST, SECOND, LOAD };
static const agb_param params[] = {
    {"first", 6, 1, 12, "log2 of the number of parts of the first pass"},
    {"second", 6, 1, 12, "log2 of the number of parts that each of them is split into"},
    {"load", 60, 10, 90, "most occupied cells of a part's table before it grows, in percent"},
    {0},
};

static inline bool two_pass_split_words(radix_two_pass *self, writer *w, uint64_t **places, const uint64_t *words,
                                        size_t n, bool weighted)
{
    unsigned skip = self->partitions.bits, shift = 64 - self->second_bits;
    size_t step = weighted ? 2 : 1;
    for (size_t i = 0; i < n; i += step) {
        size_t part = agb_hash_word(self->partitions.hash, words[i]) << skip >> shift;
        if (!chunk_push(&w->store, &places[part], words[i], weighted ? words[i + 1] : 1, weighted))
            return false;
    }
    return true;
}

/* The second pass over one writer's chunks of a part. What has been read is free for what is written next. */
static bool two_pass_split(radix_two_pass *self, writer *w, uint64_t **places, uint64_t *place)
{
    while (place) {
        uint64_t *words, *older;
        size_t n = chunk_words(place, &words, &older);
        bool split = self->partitions.weighted ? two_pass_split_words(self, w, places, words, n, true)
                                               : two_pass_split_words(self, w, places, words, n, false);
        if (!split)
            return false;
        chunk_store_recycle(&w->store, chunk_of(place));
        place = older;
    }
    return true;
}

static void two_pass_recycle(writer *w, uint64_t *place)
{
    while (place) {
        uint64_t *words, *older;
        chunk_words(place, &words, &older);
        chunk_store_recycle(&w->store, chunk_of(place));
        place = older;
    }
}

static agb_status two_pass_count(radix_two_pass *self, unsigned worker, uint64_t *place)
{
    writer *w = &self->partitions.writer[worker];
    if (!place)
        return AGB_OK;
    if (!count_chunks(&w->table, self->partitions.host, place, self->partitions.weighted,
                      self->partitions.l2_bytes))
        return AGB_ERR_MEMORY;
    two_pass_recycle(w, place);
    return linear_table_emit(&w->table, self->partitions.host, worker);
}

static void two_pass_task(void *argument, unsigned worker, size_t part)
{
    radix_two_pass *self = argument;
    partitions *p = &self->partitions;
    writer *w = &p->writer[worker];
    uint64_t **places = self->second_place[worker];
    agb_phase(p->host, worker, AGGREGATE);
    for (unsigned i = 0; w->status == AGB_OK && i < p->workers; i++)
        if (!two_pass_split(self, w, places, p->writer[i].place[part]))
            w->status = AGB_ERR_MEMORY;
    for (size_t i = 0; w->status == AGB_OK && i < self->second_parts; i++) {
        w->status = two_pass_count(self, worker, places[i]);
        places[i] = NULL;
    }
}

static agb_status two_pass_create(agb_host *host, const agb_config *config, void **out)
{
    radix_two_pass *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->second_bits = (unsigned)config->params[SECOND];
    self->second_parts = (size_t)1 << self->second_bits;
    partitions *p = &self->partitions;
    if (!partitions_open(p, host, config, (unsigned)config->params[FIRST], (unsigned)config->params[LOAD]))
        return AGB_ERR_MEMORY;
    self->second_place = agb_alloc(host, p->workers * sizeof *self->second_place, AGB_ZEROED);
    for (unsigned i = 0; self->second_place && i < p->workers; i++) {
        p->writer[i].table.multiplier <<= self->second_bits;
        self->second_place[i] = agb_alloc(host, self->second_parts * sizeof **self->second_place, AGB_ZEROED);
        if (!self->second_place[i])
            return AGB_ERR_MEMORY;
    }
    return self->second_place ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status two_pass_consume(void *state, unsigned worker, const agb_batch *batch)
{
    radix_two_pass *self = state;
    return partitions_scatter(&self->partitions, worker, batch);
}

static agb_status two_pass_finish(void *state)
{
    radix_two_pass *self = state;
    agb_status status = agb_parallel_for(self->partitions.host, self->partitions.parts, two_pass_task, self);
    return status == AGB_OK ? partitions_status(&self->partitions) : status;
}

static void two_pass_destroy(void *state)
{
    radix_two_pass *self = state;
    partitions *p = &self->partitions;
    for (unsigned i = 0; self->second_place && i < p->workers; i++)
        agb_release(p->host, self->second_place[i], self->second_parts * sizeof **self->second_place);
    agb_release(p->host, self->second_place, p->workers * sizeof *self->second_place);
    partitions_close(p);
    agb_release(p->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_radix_two_pass = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "radix_two_pass",
    .summary = "radix with its bits split over two passes",
    .prediction = "more operations than radix, fewer waits for stores in each of the passes",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = two_pass_create,
    .consume = two_pass_consume,
    .finish = two_pass_finish,
    .destroy = two_pass_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 10e6},
};
