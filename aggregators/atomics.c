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
 *              pairs and strings: 32 bytes a cell (shared_cells_part.h)
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
    void *cells;                     /* of shared_cells_part.h */
    size_t n_cells, limit;           /* n_cells: REACH more than can be home to a key */
    agb_key_kind kind;
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

/* First occupant of a claimed cell. Nobody waits for a word's first value; what others wait for must come even if there
 * is no memory for the string: the run has failed then, and nobody will be shown the cell. */
PER_KIND bool atomics_settle(agb_host *host, bytes_store *store, shared_cell *cell, agb_key key, uint64_t weight,
                             agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD) {
        atomic_fetch_add_explicit(&cell->value, weight, memory_order_relaxed);
        return true;
    }
    bool refused = kind == AGB_KEYS_BYTES && !(key.bytes.data = bytes_store_copy(store, host, key.bytes));
    if (refused)
        key.bytes.length = 0;
    shared_cell_settle(cell, key, weight, kind);
    return !refused;
}

/* Late is who has no cell when the table, or the neighbourhood, takes no more. Each worker may overshoot the limit by
 * one. */
PER_KIND bool atomics_add_row(atomics *self, key_table *late, agb_key key, uint64_t hash, uint64_t weight,
                              agb_key_kind kind)
{
    agb_host *host = self->late.host;
    uint64_t label = shared_label(key, hash, kind);
    size_t slot = hash >> self->shift, end = slot + REACH;
    if (kind == AGB_KEYS_WORD && label == 0) {
        atomic_fetch_add_explicit(&self->zeros, weight, memory_order_relaxed);
        return true;
    }
    while (slot < end) {
        shared_cell *cell = shared_cell_at(self->cells, slot, kind);
        uint64_t found = atomic_load_explicit(&cell->label, memory_order_relaxed);
        if (shared_cell_is(cell, found, key, label, kind)) {
            atomic_fetch_add_explicit(&cell->value, weight, memory_order_relaxed);
            return true;
        }
        if (found) {
            slot++;
        } else if (atomic_load_explicit(&self->groups, memory_order_relaxed) >= self->limit) {
            break;
        } else if (shared_cell_claim(cell, label)) {
            atomic_fetch_add_explicit(&self->groups, 1, memory_order_relaxed);
            return atomics_settle(host, &late->wide.store, cell, key, weight, kind);
        }
    }
    return key_table_put(late, host, hash, key, weight, kind);
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
    self->kind = config->kind;
    size_t l2 = config->caches.l2 ? config->caches.l2 : 256 << 10, standard = l2 / 4 / shared_cell_bytes(self->kind);
    size_t cells = config->params[BITS] ? (size_t)1 << config->params[BITS] : 2;
    while (cells < 4 * (size_t)config->workers || (!config->params[BITS] && cells * 2 <= standard))
        cells *= 2;
    self->shift = 64 - (unsigned)__builtin_ctzll(cells);
    self->limit = cells / 4;
    self->n_cells = cells + REACH;
    self->cells = agb_alloc(host, self->n_cells * shared_cell_bytes(self->kind), AGB_ZEROED);
    return self->cells ? AGB_OK : AGB_ERR_MEMORY;
}

PER_KIND agb_status atomics_add(atomics *self, key_table *late, agb_batch batch, agb_key_kind kind)
{
    uint64_t ahead[HASHED_ROWS];
    for (size_t i = 0; i < batch.rows; i++) {
        uint64_t hash = batch_hash(self->late.host, self->hash, &batch, i, ahead, kind);
        uint64_t weight = batch.weights ? batch.weights[i] : 1;
        if (!atomics_add_row(self, late, batch_key(&batch, i, kind), hash, weight, kind))
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

static agb_status atomics_consume(void *state, unsigned worker, const agb_batch *batch)
{
    atomics *self = state;
    key_table *late = &self->late.local[worker].table;
    return self->kind == AGB_KEYS_WORD   ? atomics_add(self, late, *batch, AGB_KEYS_WORD)
           : self->kind == AGB_KEYS_PAIR ? atomics_add(self, late, *batch, AGB_KEYS_PAIR)
                                         : atomics_add(self, late, *batch, AGB_KEYS_BYTES);
}

/* A key may be among the cells and late as well: it came to one worker just before, to another just after the table
 * was full. So the cells are merged with the rest, as if the first worker had counted them too. */
PER_KIND bool atomics_gather(atomics *self, key_table *first, agb_key_kind kind)
{
    agb_host *host = self->late.host;
    for (size_t i = 0; i < self->n_cells; i++) {
        const shared_cell *cell = shared_cell_at(self->cells, i, kind);
        if (cell->label == 0)
            continue;
        agb_key key = shared_cell_key(cell, kind);
        agb_batch alone = {.rows = 1, .keys = key.pair, .bytes = &key.bytes};
        uint64_t ahead[HASHED_ROWS], hash = batch_hash(host, self->hash, &alone, 0, ahead, kind);
        if (!key_table_put(first, host, hash, key, cell->value, kind))
            return false;
    }
    return true;
}

static agb_status atomics_finish(void *state)
{
    atomics *self = state;
    key_table *first = &self->late.local[0].table;
    if (self->zeros && !linear_table_put(&first->words, self->late.host, 0, self->zeros))
        return AGB_ERR_MEMORY;
    bool gathered = self->kind == AGB_KEYS_WORD   ? atomics_gather(self, first, AGB_KEYS_WORD)
                    : self->kind == AGB_KEYS_PAIR ? atomics_gather(self, first, AGB_KEYS_PAIR)
                                                  : atomics_gather(self, first, AGB_KEYS_BYTES);
    return gathered ? local_tables_merge(&self->late, MERGE) : AGB_ERR_MEMORY;
}

static void atomics_destroy(void *state)
{
    atomics *self = state;
    agb_host *host = self->late.host;
    if (self->cells)
        agb_release(host, self->cells, self->n_cells * shared_cell_bytes(self->kind));
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
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = atomics_create,
    .consume = atomics_consume,
    .finish = atomics_finish,
    .destroy = atomics_destroy,
    .need = {.bytes_per_group = 69, .fixed_bytes = 500e3},
};
