/* SPDX-License-Identifier: MIT */
/* robin_hood: naive's table, but a key that is far from home takes the place of one that is nearer to its own.
 * The first worked example of aggregators/README.md: serial, one phase, memory of its own that grows.
 *
 * Idea
 *   With linear probing a few keys end up far from where their hash points, and every row of theirs walks the way. Let
 *   an insertion compare ways: whoever has come further keeps the cell, the other one moves on. The mean way stays, the
 *   longest ones shrink, so that the table can be fuller. Celis, Larson, Munro, "Robin Hood Hashing" (1985).
 *
 * Layout
 *     cells   [key|count][key|count][  0  ][key|count] ...      16 bytes each; a power of two of them; count 0 = empty
 *
 * Cost per row
 *   naive's: a hash, a line, one comparison. On each further cell of the way a hash of the key that stands there, too,
 *   to know how far from home it is.
 *
 * Where the slots should go
 *   As naive: it waits for the one line of each row, which no order of the cells can save. The fuller table is smaller.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --plugin ./robin_hood.so --aggregator naive,robin_hood --sweep load=50..90/10
 *   aggbench run synth:sequential,rows=10M --plugin ./robin_hood.so --aggregator naive,robin_hood */
#include "aggregator.h"

typedef struct cell {
    uint64_t key, count;
} cell;

typedef struct robin_hood {
    agb_host *host;
    agb_hash hash;
    cell *cells;              /* NULL until the first one could be had, so that destroy can tell */
    size_t mask, limit;       /* cells - 1; groups at which the table grows */
    size_t groups;
    unsigned shift, load;     /* 64 - log2(cells); percent */
} robin_hood;

static const char *const phases[] = {"build", NULL};

enum { LOAD };
static const agb_param params[] = {
    {"load", 80, 10, 95, "most occupied cells before the table grows, in percent"},
    {0},
};

enum { FIRST_BITS = 10 };

/* An empty table in the place of the one that is there, which the caller has kept. */
static bool robin_hood_open(robin_hood *self, unsigned bits)
{
    size_t cells = (size_t)1 << bits;
    cell *memory = agb_alloc(self->host, cells * sizeof *memory, AGB_ZEROED);
    if (!memory)
        return false;
    self->cells = memory;
    self->mask = cells - 1;
    self->shift = 64 - bits;
    self->limit = cells * self->load / 100;
    self->groups = 0;
    return true;
}

static inline size_t robin_hood_home(const robin_hood *self, uint64_t key)
{
    return agb_hash_word(self->hash, key) >> self->shift;
}

static inline void robin_hood_add(robin_hood *self, uint64_t key, uint64_t count)
{
    cell carried = {key, count};
    size_t slot = robin_hood_home(self, key);
    for (size_t way = 0;; way++, slot = (slot + 1) & self->mask) {
        cell *here = &self->cells[slot];
        if (here->count == 0) {
            *here = carried;
            self->groups++;
            return;
        }
        if (here->key == carried.key) {    /* never true for one that was pushed out: it stands nowhere else */
            here->count += carried.count;
            return;
        }
        size_t its_way = (slot - robin_hood_home(self, here->key)) & self->mask;
        if (its_way < way) {
            cell pushed_out = *here;
            *here = carried;
            carried = pushed_out;
            way = its_way;
        }
    }
}

/* After a failure everything is as it was, and destroy finds it. */
static bool robin_hood_grow(robin_hood *self)
{
    cell *old = self->cells;
    size_t old_cells = self->mask + 1;
    if (!robin_hood_open(self, 64 - self->shift + 1))
        return false;
    for (size_t i = 0; i < old_cells; i++)
        if (old[i].count)
            robin_hood_add(self, old[i].key, old[i].count);
    agb_release(self->host, old, old_cells * sizeof *old);
    return true;
}

static agb_status robin_hood_create(agb_host *host, const agb_config *config, void **out)
{
    robin_hood *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->hash = config->hash;
    self->load = (unsigned)config->params[LOAD];
    return robin_hood_open(self, FIRST_BITS) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status robin_hood_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    robin_hood *self = state;
    for (size_t i = 0; i < batch->rows; i++) {
        if (self->groups == self->limit && !robin_hood_grow(self))
            return AGB_ERR_MEMORY;
        robin_hood_add(self, batch->keys[i], batch->weights ? batch->weights[i] : 1);
    }
    return AGB_OK;
}

static agb_status robin_hood_finish(void *state)
{
    robin_hood *self = state;
    uint64_t *keys, *counts;
    agb_status status = agb_emit_begin(self->host, 0, self->groups, &keys, &counts);
    if (status != AGB_OK)
        return status;
    size_t written = 0;
    for (size_t i = 0; i <= self->mask; i++) {
        if (self->cells[i].count == 0)
            continue;
        keys[written] = self->cells[i].key;
        counts[written++] = self->cells[i].count;
    }
    return agb_emit_end(self->host, 0, written);
}

static void robin_hood_destroy(void *state)
{
    robin_hood *self = state;
    agb_release(self->host, self->cells, (self->mask + 1) * sizeof *self->cells);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_robin_hood = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "robin_hood",
    .summary = "linear probing in which nobody ends up far from home",
    .prediction = "as naive: waiting for one line a row",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS,
    .create = robin_hood_create,
    .consume = robin_hood_consume,
    .finish = robin_hood_finish,
    .destroy = robin_hood_destroy,
};
