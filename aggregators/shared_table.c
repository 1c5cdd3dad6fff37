/* SPDX-License-Identifier: MIT */
/* shared_table: one concurrent hash table for all workers; frequent keys get a ticket and are counted apart.
 *
 * Idea
 *   A shared table holds every group once, where tables of the workers' own hold it once per worker, and it needs no
 *   merge. Its old trouble is that all workers add to the same hot counters. So the first keys to come, among which the
 *   frequent ones are, get a ticket: a small number that says where each worker counts them, in an array of its own.
 *   The others are added to atomically in the table: they are too many to meet. After Xue, Marcus, "Global Hash Tables
 *   Strike Back!" (2025), which tickets all keys; here the tickets end where a worker's array no longer fits its cache.
 *
 * Layout
 *     cells     [key|T 0][ 0 |0][key|count][key|T 1] ...      one table for all; T n = ticket n, else the count itself
 *               pairs and strings: 32 bytes a cell (shared_cells_part.h); strings are copied by whoever brings them
 *     counts    worker 0 [n n n n ...]  worker 1 [n n n n ...]      by ticket, a quarter of L2 each
 *
 * Cost per row
 *   naive's line, requested ahead as prefetch does; then an addition in L2, or a locked one to the line that is there
 *   already. A new key costs a compare-and-swap. When the table is too full, all workers meet at the end of their
 *   block, one of them moves everything to a larger one, and the others wait: a pause of the order of the rows so far.
 *   They meet, too, when the table is crowded although not full; then it is moved to another hash.
 *
 * Where the slots should go
 *   As naive: memory-bound, one line from DRAM per new key; but all workers' waits overlap. Few groups: retiring.
 *
 * Try
 *   aggbench run synth:zipf,rows=10M,groups=1M --aggregator shared_table,local_merge,atomics --threads 8
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator shared_table --sweep tickets=1..16 --threads 8
 *
 * Limits: a worker that is stopped between claiming a cell and saying what is in it lets those wait that look for the
 * same key; and growth is by one worker alone.
 *
 * Tried: without requesting lines ahead, 0.85 of naive with one worker on millions of groups; with it, in blocks of 64
 * rows, 1.3 times (2-core Zen 4 virtual machine). Blocks of 256 give half of that gain: more lines than the core can
 * have under way. */
#include "shared_cells_part.h"
#include "wide_table_part.h"

/* STRAY_CELLS: a new group farther from home than that is taken note of. */
enum { EMIT_CELLS = 1 << 14, STRAY_CELLS = 32 };

#define TICKET (UINT64_C(1) << 63)

typedef struct member {               /* one a worker */
    uint64_t *counts;                 /* by ticket */
    _Atomic size_t groups;            /* cells that it claimed */
    size_t strayed;                   /* cells between those that are far from home and their homes */
    bytes_store store;                /* of strings that it was the first to bring */
    atomic_bool inside;               /* it is using the table, which must not move */
    agb_status status;
    char apart[64];                   /* workers share no cache line */
} member;

typedef struct shared_table {
    agb_host *host;
    agb_key_kind kind;
    agb_hash hash;
    uint64_t multiplier;              /* of the hash: after crowding, one that brings other bits to the top */
    unsigned workers, shift;
    bool spread;                      /* by another multiplier, at this size: as in linear_table.h, once is enough */
    void *cells;
    size_t mask, limit;
    member *member;
    uint64_t most_tickets;
    char apart[64];                   /* what is written to shares no line with what is only read */
    _Atomic uint64_t tickets;         /* handed out; 0 is key 0's, which cannot have a cell */
    atomic_bool moving;               /* somebody is about to move the table */
    atomic_bool crowded;              /* it needs another multiplier */
} shared_table;

enum { COUNT, EMIT };
static const char *const phases[] = {"count", "emit", NULL};

enum { TICKETS, START };
static const agb_param params[] = {
    {"tickets", 0, 0, 24, "log2 of the number of tickets; 0: so that a worker's counts take a quarter of L2"},
    {"start", 16, 4, 32, "log2 of the number of cells at the beginning, at least"},
    {0},
};

PER_KIND size_t shared_table_slot(const shared_table *self, uint64_t hash)
{
    return (hash * self->multiplier) >> self->shift;
}

/* ---- Room ---- */

static size_t shared_table_groups(const shared_table *self)
{
    size_t groups = 0;
    for (unsigned i = 0; i < self->workers; i++)
        groups += atomic_load_explicit(&self->member[i].groups, memory_order_relaxed);
    return groups;
}

/* Is there room for a block of new keys from every worker? Those who are inside asked this too, after everything but
 * their own blocks was counted; so whoever gets a yes may go in without telling how many keys he will bring. */
static bool shared_table_has_room(const shared_table *self)
{
    return !atomic_load_explicit(&self->crowded, memory_order_relaxed)
           && shared_table_groups(self) + (size_t)self->workers * HASHED_ROWS <= self->limit;
}

static size_t shared_table_bytes(const shared_table *self, size_t cells)
{
    return cells * shared_cell_bytes(self->kind);
}

static bool shared_table_set_cells(shared_table *self, unsigned bits)
{
    size_t cells = (size_t)1 << bits;
    void *memory = agb_alloc(self->host, shared_table_bytes(self, cells), AGB_ZEROED);
    if (!memory)
        return false;
    self->cells = memory;
    self->mask = cells - 1;
    self->shift = 64 - bits;
    self->limit = cells / 2 + cells / 8;
    return true;
}

/* All keys differ, so none is compared. */
PER_KIND void shared_table_move_cells(shared_table *self, void *old, size_t old_cells, agb_key_kind kind)
{
    for (size_t i = 0; i < old_cells; i++) {
        const shared_cell *from = shared_cell_at(old, i, kind);
        uint64_t label = atomic_load_explicit(&from->label, memory_order_relaxed);
        if (label == 0)
            continue;
        agb_key key = shared_cell_key(from, kind);
        size_t slot = shared_table_slot(self, kind == AGB_KEYS_WORD ? agb_hash_word(self->hash, key.word) : label);
        shared_cell *cell = shared_cell_at(self->cells, slot, kind);
        while (!shared_cell_claim(cell, label))
            cell = shared_cell_at(self->cells, slot = (slot + 1) & self->mask, kind);
        shared_cell_settle(cell, key, atomic_load_explicit(&from->value, memory_order_relaxed), kind);
    }
}

/* Twice the cells, or as many and another multiplier if the table is crowded. Nobody else is inside. On failure the
 * table is as it was. */
static bool shared_table_move(shared_table *self)
{
    void *old = self->cells;
    size_t old_cells = self->mask + 1;
    bool crowded = atomic_load_explicit(&self->crowded, memory_order_relaxed);
    if (!shared_table_set_cells(self, 64 - self->shift + !crowded))
        return false;
    if (crowded)
        self->multiplier = linear_next_multiplier(self->multiplier);
    self->spread = crowded;
    atomic_store_explicit(&self->crowded, false, memory_order_relaxed);
    for (unsigned i = 0; i < self->workers; i++)
        self->member[i].strayed = 0;
    if (self->kind == AGB_KEYS_WORD)
        shared_table_move_cells(self, old, old_cells, AGB_KEYS_WORD);
    else
        shared_table_move_cells(self, old, old_cells, AGB_KEYS_PAIR);
    agb_release(self->host, old, shared_table_bytes(self, old_cells));
    return true;
}

/* Either `inside` is seen by who wants to move the table, or `moving` is seen here: all four accesses are sequentially
 * consistent, as in Dekker's algorithm. */
static void shared_table_enter(shared_table *self, member *m)
{
    for (;;) {
        atomic_store(&m->inside, true);
        if (!atomic_load(&self->moving))
            return;
        atomic_store(&m->inside, false);
        while (atomic_load(&self->moving))
            ;
    }
}

/* Called from outside. Who comes second to move it has nothing left to do. */
static agb_status shared_table_grow(shared_table *self)
{
    if (atomic_exchange(&self->moving, true))
        return AGB_OK;
    for (unsigned i = 0; i < self->workers; i++)
        while (atomic_load(&self->member[i].inside))
            ;
    bool grown = true;
    while (grown && !shared_table_has_room(self))
        grown = shared_table_move(self);
    atomic_store(&self->moving, false);
    return grown ? AGB_OK : AGB_ERR_MEMORY;
}

/* ---- Rows ---- */

/* A new group is far from home. Every worker judges by its own. */
static __attribute__((noinline)) void shared_table_stray(shared_table *self, member *m, size_t cells)
{
    m->strayed += cells;
    size_t groups = atomic_load_explicit(&m->groups, memory_order_relaxed);
    if (!self->spread && m->strayed > MOST_STRAYED * groups + 32 * STRAY_CELLS)
        atomic_store_explicit(&self->crowded, true, memory_order_relaxed);
}

/* First occupant of a claimed cell: takes a ticket while there are any. The value is what others wait for, so there
 * must be one even if there is no memory for the string: the run has failed then, and nobody will be shown the cell. */
PER_KIND bool shared_table_settle(shared_table *self, member *m, shared_cell *cell, agb_key key, uint64_t weight,
                                  agb_key_kind kind)
{
    uint64_t value = weight;
    if (atomic_load_explicit(&self->tickets, memory_order_relaxed) < self->most_tickets) {
        uint64_t ticket = atomic_fetch_add_explicit(&self->tickets, 1, memory_order_relaxed);
        if (ticket < self->most_tickets) {
            m->counts[ticket] += weight;
            value = TICKET | ticket;
        }
    }
    bool refused = kind == AGB_KEYS_BYTES && !(key.bytes.data = bytes_store_copy(&m->store, self->host, key.bytes));
    if (refused)
        key.bytes.length = 0;
    shared_cell_settle(cell, key, value, kind);
    atomic_fetch_add_explicit(&m->groups, 1, memory_order_relaxed);
    return !refused;
}

static inline void shared_table_join(member *m, shared_cell *cell, uint64_t weight)
{
    uint64_t value = shared_cell_value(cell);
    if (value & TICKET)
        m->counts[value ^ TICKET] += weight;
    else
        atomic_fetch_add_explicit(&cell->value, weight, memory_order_relaxed);
}

/* An empty cell can be another key's the next moment: who fails to claim it looks at it again. */
PER_KIND bool shared_table_add_row(shared_table *self, member *m, agb_key key, uint64_t hash, uint64_t weight,
                                   agb_key_kind kind)
{
    uint64_t label = shared_label(key, hash, kind);
    size_t home = shared_table_slot(self, hash), slot = home;
    if (kind == AGB_KEYS_WORD && label == 0) {
        m->counts[0] += weight;
        return true;
    }
    for (;;) {
        shared_cell *cell = shared_cell_at(self->cells, slot, kind);
        uint64_t found = atomic_load_explicit(&cell->label, memory_order_relaxed);
        if (shared_cell_is(cell, found, key, label, kind)) {
            shared_table_join(m, cell, weight);
            return true;
        }
        if (found) {
            slot = (slot + 1) & self->mask;
        } else if (shared_cell_claim(cell, label)) {
            size_t strayed = (slot - home) & self->mask;
            if (__builtin_expect(strayed > STRAY_CELLS, 0))
                shared_table_stray(self, m, strayed);
            return shared_table_settle(self, m, cell, key, weight, kind);
        }
    }
}

/* Lines are requested ahead as in prefetch.c: the table stays where it is while the worker is inside. A label is what a
 * moved cell is found by, so it takes the hash's place. */
PER_KIND agb_status shared_table_add(shared_table *self, member *m, agb_batch block, agb_key_kind kind)
{
    uint64_t hashes[HASHED_ROWS];
    for (size_t i = 0; i < block.rows; i++) {
        hashes[i] = batch_hash(self->host, self->hash, &block, i, hashes, kind) | (kind != AGB_KEYS_WORD);
        __builtin_prefetch(shared_cell_at(self->cells, shared_table_slot(self, hashes[i]), kind), 1);
    }
    for (size_t i = 0; i < block.rows; i++)
        if (!shared_table_add_row(self, m, batch_key(&block, i, kind), hashes[i], block.weights ? block.weights[i] : 1,
                                  kind))
            return AGB_ERR_MEMORY;
    return AGB_OK;
}

static agb_status shared_table_count_block(shared_table *self, member *m, agb_batch block)
{
    return self->kind == AGB_KEYS_WORD   ? shared_table_add(self, m, block, AGB_KEYS_WORD)
           : self->kind == AGB_KEYS_PAIR ? shared_table_add(self, m, block, AGB_KEYS_PAIR)
                                         : shared_table_add(self, m, block, AGB_KEYS_BYTES);
}

static agb_status shared_table_consume(void *state, unsigned worker, const agb_batch *batch)
{
    shared_table *self = state;
    member *m = &self->member[worker];
    agb_status status = AGB_OK;
    for (size_t first = 0; first < batch->rows && status == AGB_OK; first += HASHED_ROWS) {
        for (shared_table_enter(self, m); !shared_table_has_room(self); shared_table_enter(self, m)) {
            atomic_store(&m->inside, false);
            if (shared_table_grow(self) != AGB_OK)
                return AGB_ERR_MEMORY;
        }
        status = shared_table_count_block(self, m, batch_part(batch, first, HASHED_ROWS, self->kind));
        atomic_store(&m->inside, false);
    }
    return status;
}

/* ---- The end ---- */

static uint64_t shared_table_count(const shared_table *self, uint64_t value)
{
    if (!(value & TICKET))
        return value;
    uint64_t count = 0;
    for (unsigned i = 0; i < self->workers; i++)
        count += self->member[i].counts[value ^ TICKET];
    return count;
}

PER_KIND agb_status shared_table_emit_kind(const shared_table *self, unsigned worker, size_t first, size_t end,
                                           agb_key_kind kind)
{
    groups_out out;
    agb_status status = groups_out_begin(&out, self->host, worker, end - first, kind);
    if (status != AGB_OK)
        return status;
    for (size_t i = first; i < end; i++) {
        const shared_cell *cell = shared_cell_at(self->cells, i, kind);
        if (cell->label)
            groups_out_put(&out, shared_cell_key(cell, kind), shared_table_count(self, cell->value), kind);
    }
    return groups_out_end(&out, kind);
}

static void shared_table_emit(void *argument, unsigned worker, size_t task)
{
    shared_table *self = argument;
    member *m = &self->member[worker];
    size_t first = task * EMIT_CELLS, end = self->mask + 1 - first < EMIT_CELLS ? self->mask + 1 : first + EMIT_CELLS;
    if (m->status != AGB_OK)
        return;
    agb_phase(self->host, worker, EMIT);
    m->status = self->kind == AGB_KEYS_WORD   ? shared_table_emit_kind(self, worker, first, end, AGB_KEYS_WORD)
                : self->kind == AGB_KEYS_PAIR ? shared_table_emit_kind(self, worker, first, end, AGB_KEYS_PAIR)
                                              : shared_table_emit_kind(self, worker, first, end, AGB_KEYS_BYTES);
}

static agb_status shared_table_finish(void *state)
{
    shared_table *self = state;
    const uint64_t zero = 0, zeros = shared_table_count(self, TICKET);    /* key 0's */
    agb_status status = zeros ? agb_emit(self->host, 0, &zero, &zeros, 1) : AGB_OK;
    if (status == AGB_OK)
        status = agb_parallel_for(self->host, self->mask / EMIT_CELLS + 1, shared_table_emit, self);
    for (unsigned i = 0; status == AGB_OK && i < self->workers; i++)
        status = self->member[i].status;
    return status;
}

static agb_status shared_table_create(agb_host *host, const agb_config *config, void **out)
{
    shared_table *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->kind = config->kind;
    self->hash = config->hash;
    self->multiplier = 1;
    size_t l2 = config->caches.l2 ? config->caches.l2 : 256 << 10;
    self->most_tickets = config->params[TICKETS] ? (uint64_t)1 << config->params[TICKETS] : l2 / 4 / sizeof(uint64_t);
    self->tickets = 1;
    self->member = agb_alloc(host, config->workers * sizeof *self->member, AGB_ZEROED);
    if (!self->member)
        return AGB_ERR_MEMORY;
    self->workers = config->workers;
    for (unsigned i = 0; i < self->workers; i++) {
        self->member[i].counts = agb_alloc(host, self->most_tickets * sizeof(uint64_t), AGB_ZEROED);
        if (!self->member[i].counts)
            return AGB_ERR_MEMORY;
    }
    unsigned bits = (unsigned)config->params[START];
    while ((size_t)1 << bits < 2 * (size_t)self->workers * HASHED_ROWS)
        bits++;
    return shared_table_set_cells(self, bits) ? AGB_OK : AGB_ERR_MEMORY;
}

static void shared_table_destroy(void *state)
{
    shared_table *self = state;
    for (unsigned i = 0; i < self->workers; i++) {
        agb_release(self->host, self->member[i].counts, self->most_tickets * sizeof(uint64_t));
        bytes_store_close(&self->member[i].store, self->host);
    }
    agb_release(self->host, self->member, self->workers * sizeof *self->member);
    agb_release(self->host, self->cells, shared_table_bytes(self, self->mask + 1));
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_shared_table = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "shared_table",
    .summary = "one concurrent table for all workers, with tickets for the keys that come first",
    .prediction = "memory-bound as naive, with all workers' waits at once; few groups: retiring",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = shared_table_create,
    .consume = shared_table_consume,
    .finish = shared_table_finish,
    .destroy = shared_table_destroy,
    .need = {.bytes_per_group = 72, .fixed_bytes = 2500e3},
};
