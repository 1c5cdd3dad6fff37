/* SPDX-License-Identifier: MIT */
/* exchange: every worker sorts its rows into 256 heaps by hash; then every heap is counted by one worker alone.
 * The third worked example of aggregators/README.md: parallel, a list of blocks a worker, tasks that can fail.
 *
 * Idea
 *   Two workers never need the same group if each takes care of a range of hash values. Rows come in any order, so they
 *   are handed over first: in consume each worker writes to heaps of its own, and in finish a task takes all workers'
 *   heaps of one range. Nothing is ever shared while it is written, so nothing is locked.
 *
 * Layout
 *     worker 0   heap 0: block -> block     heap 1: block     ...     a block: [older|n|key key key ...], 4 KiB
 *     worker 1   heap 0: block              heap 1: block -> block
 *                     |                          |
 *     tasks         0: table of one worker     1: table of another one; emptied after each task
 *
 * Cost per row
 *   A hash, a store to one of 256 open lines, and one branch that is hardly ever taken. Then a load in order, the hash
 *   again, and a look-up in a table with a 256th of the groups.
 *
 * Where the slots should go
 *   Retiring, as long as a 256th of the groups fits into L2; then as naive.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --threads 2 --plugin ./exchange.so --aggregator radix,local_merge,exchange
 *   aggbench run synth:same,rows=10M --threads 2 --plugin ./exchange.so --aggregator radix,exchange  (one heap) */
#include "linear_table.h"

enum { HEAP_BITS = 8, HEAPS = 1 << HEAP_BITS, BLOCK_KEYS = 510 };

typedef struct block {    /* 4 KiB */
    struct block *older;
    size_t n;
    uint64_t keys[BLOCK_KEYS];
} block;

/* One worker's own. Kept apart by a line, so that no two workers write to the same one. */
typedef struct lane {
    block *heap[HEAPS];
    linear_table table;
    agb_status status;    /* of its tasks: a task cannot return one */
    char apart[AGB_ALIGNMENT];
} lane;

typedef struct exchange {
    agb_host *host;
    agb_hash hash;
    unsigned workers;
    lane *lanes;
} exchange;

enum { SCATTER, COUNT };
static const char *const phases[] = {"scatter", "count", NULL};

static agb_status exchange_create(agb_host *host, const agb_config *config, void **out)
{
    exchange *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->hash = config->hash;
    self->workers = config->workers;
    self->lanes = agb_alloc(host, self->workers * sizeof *self->lanes, AGB_ZEROED);
    return self->lanes ? AGB_OK : AGB_ERR_MEMORY;
}

/* Called by several workers at once: touches nothing but the lane of its own. */
static agb_status exchange_consume(void *state, unsigned worker, const agb_batch *batch)
{
    exchange *self = state;
    lane *own = &self->lanes[worker];
    for (size_t i = 0; i < batch->rows; i++) {
        uint64_t key = batch->keys[i];
        block **newest = &own->heap[agb_hash_word(self->hash, key) >> (64 - HEAP_BITS)];
        if (!*newest || (*newest)->n == BLOCK_KEYS) {
            block *fresh = agb_alloc(self->host, sizeof *fresh, 0);
            if (!fresh)
                return AGB_ERR_MEMORY;
            fresh->older = *newest;
            fresh->n = 0;
            *newest = fresh;
        }
        (*newest)->keys[(*newest)->n++] = key;
    }
    return AGB_OK;
}

/* Counts one heap of all workers in the table of the worker that got the task, and emits it. The top bits of the hash
 * are all equal here: the table leaves them out. */
static agb_status exchange_count_heap(exchange *self, unsigned worker, size_t heap)
{
    linear_table *table = &self->lanes[worker].table;
    if (!table->cells && !linear_table_open(table, self->host, 10, HEAP_BITS, 70, self->hash))
        return AGB_ERR_MEMORY;
    for (unsigned i = 0; i < self->workers; i++)
        for (const block *b = self->lanes[i].heap[heap]; b; b = b->older)
            for (size_t k = 0; k < b->n; k++)
                if (!linear_table_put(table, self->host, b->keys[k], 1))
                    return AGB_ERR_MEMORY;
    return linear_table_emit(table, self->host, worker);
}

static void exchange_task(void *argument, unsigned worker, size_t heap)
{
    exchange *self = argument;
    lane *own = &self->lanes[worker];
    agb_phase(self->host, worker, COUNT);
    if (own->status == AGB_OK)    /* after a failure the rest of them has no use */
        own->status = exchange_count_heap(self, worker, heap);
}

static agb_status exchange_finish(void *state)
{
    exchange *self = state;
    agb_status status = agb_parallel_for(self->host, HEAPS, exchange_task, self);
    for (unsigned i = 0; i < self->workers && status == AGB_OK; i++)
        status = self->lanes[i].status;
    return status;
}

static void exchange_destroy(void *state)
{
    exchange *self = state;
    agb_host *host = self->host;
    for (unsigned i = 0; self->lanes && i < self->workers; i++) {
        for (size_t heap = 0; heap < HEAPS; heap++) {
            for (block *b = self->lanes[i].heap[heap], *older; b; b = older) {
                older = b->older;
                agb_release(host, b, sizeof *b);
            }
        }
        linear_table_close(&self->lanes[i].table, host);
    }
    agb_release(host, self->lanes, self->workers * sizeof *self->lanes);
    agb_release(host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_exchange = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "exchange",
    .summary = "workers hand their rows over by hash, then count apart",
    .prediction = "retiring while a 256th of the groups fits L2",
    .phases = phases,
    .traits = AGB_TAKES_WORDS | AGB_PARALLEL,
    .create = exchange_create,
    .consume = exchange_consume,
    .finish = exchange_finish,
    .destroy = exchange_destroy,
};
