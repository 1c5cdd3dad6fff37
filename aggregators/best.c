/* SPDX-License-Identifier: MIT */
/* best: as little memory traffic and as few unpredictable branches as we know how to do with. */
#include "packed_table.h"

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
    size_t most_entries;        /* of a part that is not split */
    size_t part;                /* being split */
    segment *segments;          /* of that part */
    size_t n_segments;
} best;

enum { PARTITION, AGGREGATE };
static const char *const phases[] = {"partition", "aggregate", NULL};

/* ---- Aggregate: every part by itself ---- */

static size_t best_chunks(const best *self, size_t list)
{
    size_t chunks = 0;
    for (unsigned i = 0; i < self->workers; i++)
        chunks += self->worker[i].lists.chunks[list];
    return chunks;
}

static agb_status best_count_part(best *self, best_worker *w, unsigned worker, size_t part)
{
    size_t chunks = best_chunks(self, part);
    if (chunks == 0)
        return AGB_OK;
    cascade_begin(&w->tables, chunks * CHUNK_WORDS);
    bool counted = true;
    for (unsigned i = 0; counted && i < self->workers; i++) {
        packed_lists *from = &self->worker[i].lists;
        counted = from->counted ? cascade_count_list(&w->tables, from->place[part], NULL, true, false)
                                : cascade_count_list(&w->tables, from->place[part], NULL, false, false);
    }
    counted = counted && cascade_pass_on(&w->tables);
    for (unsigned i = 0; counted && i < self->workers; i++)
        counted = cascade_count_pairs(&w->tables, self->worker[i].lists.place[self->packing.parts + part], false);
    return counted ? cascade_emit(&w->tables, worker, part) : AGB_ERR_MEMORY;
}

static void best_aggregate(void *argument, unsigned worker, size_t part)
{
    best *self = argument;
    best_worker *w = &self->worker[worker];
    agb_phase(self->host, worker, AGGREGATE);
    if (w->status == AGB_OK)
        w->status = best_count_part(self, w, worker, part);
}

static agb_status best_status(const best *self, agb_status status)
{
    for (unsigned i = 0; status == AGB_OK && i < self->workers; i++)
        status = self->worker[i].status;
    return status;
}

/* ---- The contract ---- */

static size_t power_of_two_below(size_t value)
{
    return (size_t)1 << (log2_up(value + 1) - 1);
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
    size_t l2 = config->caches.l2 ? config->caches.l2 : 512 << 10;
    size_t most_slots = power_of_two_below(l2 / 2 / sizeof(uint64_t));
    unsigned bits = log2_up(config->rows / most_slots);
    bits = bits < LEAST_BITS ? LEAST_BITS : bits > MOST_BITS ? MOST_BITS : bits;
    self->host = host;
    self->packing = packing_of(config->hash, config->rows ? bits : MOST_BITS);
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
    return best_status(self, agb_parallel_for(self->host, self->packing.parts, best_aggregate, self));
}

static void best_destroy(void *state)
{
    best *self = state;
    for (unsigned i = 0; i < self->workers; i++) {
        best_worker *w = &self->worker[i];
        arena_close(&w->arena);
        agb_release(self->host, w->lists.place, packed_lists_bytes(&self->packing));
        cascade_close(&w->tables);
    }
    agb_release(self->host, self->worker, self->workers * sizeof *self->worker);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_best = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "best",
    .summary = "packed partitions, first-come tables",
    .prediction = "retiring above 50 %",
    .phases = phases,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = best_create,
    .consume = best_consume,
    .finish = best_finish,
    .destroy = best_destroy,
};
