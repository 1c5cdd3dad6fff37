/* SPDX-License-Identifier: MIT */
/* atomics: few groups, one small table, shared by all; every row is one atomic addition.
 *
 * Idea
 *   The simplest way to count with many workers: let them all add to the same counters, and let the processor see to it
 *   that no addition is lost. Nothing to merge, and memory for the groups once. Keys that come when the table is full
 *   are counted in tables of the workers' own, and all of it is merged at the end (local_merge).
 *
 * Layout
 *     cells    [key|count][  0  ][key|count] ...      one table for all, a quarter of L2, at most a quarter full; a key
 *                                                     stands at most REACH cells behind its home, or is late
 *     zeros    count of key 0, which marks an empty cell and so cannot have one
 *     local    [key|count] ...                        a growing table a worker, for late-comers
 *
 * Cost per row
 *   One locked addition, about 20 cycles although nobody else wants the line; if somebody does, the line travels
 *   between the cores, and the row costs what a trip to L3 or to another socket costs. One hot group is the worst case:
 *   all workers queue for one line, and more of them make it slower, not faster. A late-comer is first sought in vain
 *   among the cells.
 *
 * Where the slots should go
 *   Neither retiring nor bandwidth: waiting for other cores' lines, which counters show as memory-bound (L3).
 *
 * Try
 *   aggbench run synth:uniform,rows=10M,groups=1000 --aggregator atomics,local_merge --threads 8
 *   aggbench run synth:same,rows=10M --aggregator atomics,local_merge --threads 8      (then with --threads 1)
 *
 * Tried: a table half full instead of a quarter. Once it is full, most look-ups are in vain, and those get longer much
 * faster than the others: on a 2-core virtual machine, they cost a third more. Even so, with 100,000 groups it is
 * half as fast as naive. Few groups means few. */
#include "local_tables_part.h"
#include "shared_cells_part.h"

/* As far as hardly any key gets in a table that is a quarter full, unless keys are made to meet in one place. */
enum { REACH = 16 };

typedef struct atomics {
    shared_cell *cells;
    size_t n_cells, limit;           /* n_cells: REACH more than can be home to a key */
    unsigned shift;
    agb_hash hash;
    local_tables late;
    char apart[64];                  /* what is written to shares no line with what is only read */
    _Atomic size_t groups;           /* claimed cells */
    _Atomic uint64_t zeros;
} atomics;

enum { COUNT, MERGE };
static const char *const phases[] = {"count", "merge", NULL};

enum { BITS };
static const agb_param params[] = {
    {"bits", 0, 0, 24, "log2 of the number of shared cells; 0: a quarter of L2"},
    {0},
};

/* The key's cell; NULL when the key has none and the table, or its neighbourhood, takes no more. Each worker may
 * overshoot the limit by one. */
static inline shared_cell *atomics_cell(atomics *self, uint64_t key)
{
    shared_cell *cell = &self->cells[agb_hash_word(self->hash, key) >> self->shift], *end = cell + REACH;
    for (; cell < end; cell++) {
        uint64_t found = atomic_load_explicit(&cell->key, memory_order_relaxed);
        if (found == key)
            return cell;
        if (found)
            continue;
        if (atomic_load_explicit(&self->groups, memory_order_relaxed) >= self->limit)
            return NULL;
        claim result = shared_cell_claim(cell, key);
        if (result == CLAIMED)
            atomic_fetch_add_explicit(&self->groups, 1, memory_order_relaxed);
        if (result != LOST)
            return cell;
    }
    return NULL;
}

static inline bool atomics_add_row(atomics *self, linear_table *late, uint64_t key, uint64_t weight)
{
    if (key == 0) {
        atomic_fetch_add_explicit(&self->zeros, weight, memory_order_relaxed);
        return true;
    }
    shared_cell *cell = atomics_cell(self, key);
    if (!cell)
        return linear_table_put(late, self->late.host, key, weight);
    atomic_fetch_add_explicit(&cell->value, weight, memory_order_relaxed);
    return true;
}

static agb_status atomics_create(agb_host *host, const agb_config *config, void **out)
{
    atomics *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    if (!local_tables_open(&self->late, host, config, 10, 70))
        return AGB_ERR_MEMORY;
    self->hash = config->hash;
    size_t l2 = config->caches.l2 ? config->caches.l2 : 256 << 10;
    size_t cells = config->params[BITS] ? (size_t)1 << config->params[BITS] : 2;
    while (cells < 4 * (size_t)config->workers || (!config->params[BITS] && cells * 2 * sizeof(shared_cell) <= l2 / 4))
        cells *= 2;
    self->shift = 64 - (unsigned)__builtin_ctzll(cells);
    self->limit = cells / 4;
    self->n_cells = cells + REACH;
    self->cells = agb_alloc(host, self->n_cells * sizeof *self->cells, AGB_ZEROED);
    return self->cells ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status atomics_consume(void *state, unsigned worker, const agb_batch *batch)
{
    atomics *self = state;
    linear_table *late = &self->late.local[worker].table;
    for (size_t i = 0; i < batch->rows; i++)
        if (!atomics_add_row(self, late, batch->keys[i], batch->weights ? batch->weights[i] : 1))
            return AGB_ERR_MEMORY;
    return AGB_OK;
}

/* A key may be among the cells and late as well: it came to one worker just before, to another just after the table was
 * full. So the cells are merged with the rest, as if the first worker had counted them too. */
static agb_status atomics_finish(void *state)
{
    atomics *self = state;
    agb_host *host = self->late.host;
    linear_table *first = &self->late.local[0].table;
    if (self->zeros && !linear_table_put(first, host, 0, self->zeros))
        return AGB_ERR_MEMORY;
    for (size_t i = 0; i < self->n_cells; i++)
        if (self->cells[i].key && !linear_table_put(first, host, self->cells[i].key, self->cells[i].value))
            return AGB_ERR_MEMORY;
    return local_tables_merge(&self->late, MERGE);
}

static void atomics_destroy(void *state)
{
    atomics *self = state;
    agb_host *host = self->late.host;
    if (self->cells)
        agb_release(host, self->cells, self->n_cells * sizeof *self->cells);
    local_tables_close(&self->late);
    agb_release(host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_atomics = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "atomics",
    .summary = "one small shared table of atomic counters; late-comers to tables of the workers' own",
    .prediction = "waiting for lines that other cores have just written: memory-bound, by L3",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = atomics_create,
    .consume = atomics_consume,
    .finish = atomics_finish,
    .destroy = atomics_destroy,
    .need = {.bytes_per_group = 69, .fixed_bytes = 500e3},
};
