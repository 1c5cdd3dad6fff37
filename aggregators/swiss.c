/* SPDX-License-Identifier: MIT */
/* swiss: sixteen one-byte tags are compared at once, and only a cell whose tag matches is looked at.
 *
 * Idea
 *   Seven bits of the hash stand for the key in a dense array of tags. One vector comparison tells which of sixteen
 *   cells can hold the key (usually one or none) and whether there is an empty one, so the table can be filled to 7/8
 *   and a search still ends in its first group. After Abseil's "Swiss tables" (Kulukundis, "Designing a Fast,
 *   Efficient, Cache-friendly Hash Table, Step by Step", 2017). Nothing is ever deleted here, so there are no
 *   tombstones.
 *
 * Layout
 *     hash(key) = gggggggg ttttttt ....       g: group of 16, top bits;  t: tag, the seven bits after them
 *     tags    [t t e t t t e e t t t t e t t t][t ...       16 bytes a group, e = 0x80 = empty
 *     cells   [key|count] x 16                 [ ...        256 bytes a group
 *
 * Cost per row
 *   A line of tags (four groups to a line) and a line of cells. For a group by that is one line more than naive
 *   touches: nearly every row finds its key, and a tag cannot count. What a tag saves is the look at a wrong cell, and
 *   linear probing at 70 % load looks at few of them, mostly in the line it has already. Load, comparison, movemask and
 *   count of trailing zeros also make a longer chain than "is this my key".
 *
 * Where the slots should go
 *   Memory-bound as naive, by two lines that can be fetched at once (both addresses follow from the hash, if the
 *   branch predictor guesses the position). In the cache, slower than naive by the length of the chain.
 *
 * Try
 *   aggbench run synth:uniform,rows=10M --sweep groups=1000,100000,10000000 --aggregator naive,swiss
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator swiss --sweep load=50,60,70,80,87
 *
 * Tried: the last of these predictions was wrong. On a 2-core Zen 4 virtual machine swiss is 1.5 to 2 times as fast as
 * naive with 1000 to 100,000 groups: there naive pays for guessing wrong how far a probe goes, the longer chain here
 * has no such guess in it, and rows do not wait for one another. From DRAM the second line tells: 0.85 of naive in hits
 * order, 1.05 with 4 million uniform groups. */
#include "linear_table.h"
#include "tags_part.h"

enum { EMPTY = 0x80, TAG_BITS = 7 };

typedef struct swiss_table {
    uint8_t *tags;
    linear_cell *cells;
    size_t mask;             /* groups of 16, minus 1 */
    unsigned shift;          /* 64 - log2(groups of 16) */
    size_t groups, limit;    /* occupied cells; at how many it must grow */
} swiss_table;

typedef struct swiss {
    agb_host *host;
    agb_hash hash;           /* the run's, or after crowding one that brings other bits to the top */
    unsigned load;
    swiss_table table;
} swiss;

static const char *const phases[] = {"build", NULL};

enum { LOAD, START };
static const agb_param params[] = {
    {"load", 87, 10, 95, "most occupied cells before the table grows, in percent"},
    {"start", 10, 5, 32, "log2 of the number of cells at the beginning"},
    {0},
};

static inline size_t swiss_cells(const swiss_table *t)
{
    return (t->mask + 1) * TAGS;
}

static void swiss_close(swiss *self, swiss_table *t)
{
    agb_release(self->host, t->tags, swiss_cells(t));
    agb_release(self->host, t->cells, swiss_cells(t) * sizeof *t->cells);
}

/* Cells need no zeros: what is not tagged is not read. */
static bool swiss_open(swiss *self, swiss_table *t, unsigned bits)
{
    size_t cells = (size_t)1 << bits;
    *t = (swiss_table){.mask = cells / TAGS - 1, .shift = 64 - (bits - 4),
                       .limit = linear_limit(cells, self->load)};
    t->tags = agb_alloc(self->host, cells, 0);
    t->cells = agb_alloc(self->host, cells * sizeof *t->cells, 0);
    if (!t->tags || !t->cells)
        return false;
    memset(t->tags, EMPTY, cells);
    return true;
}

/* The caller has made room: there is an empty cell somewhere. Groups are visited at growing distances (1, 2, 3 ...),
 * which reaches every group of a power of two and leaves a crowded neighbourhood quickly. */
static inline void swiss_add_row(swiss_table *t, uint64_t hash, uint64_t key, uint64_t weight)
{
    size_t group = hash >> t->shift;
    uint8_t tag = hash >> (t->shift - TAG_BITS) & 0x7f;
    for (size_t step = 1;; group = (group + step++) & t->mask) {
        uint8_t *tags = &t->tags[group * TAGS];
        linear_cell *cells = &t->cells[group * TAGS];
        for (uint64_t same = tags_equal(tags, tag); same; same &= same - 1) {
            linear_cell *cell = &cells[tags_first(same)];
            if (__builtin_expect(cell->key == key, 1)) {
                cell->count += weight;
                return;
            }
        }
        uint64_t empty = tags_equal(tags, EMPTY);
        if (empty) {
            tags[tags_first(empty)] = tag;
            cells[tags_first(empty)] = (linear_cell){key, weight};
            t->groups++;
            return;
        }
    }
}

/* Another table takes the groups; *crowded: whether most of them were not where they belong. Of random hashes, fewer
 * than a third are in a table 95 percent full. false: no memory, and the table is as it was. */
static bool swiss_move(swiss *self, unsigned bits, bool *crowded)
{
    swiss_table *t = &self->table, to;
    size_t strayed = 0;
    if (!swiss_open(self, &to, bits)) {
        swiss_close(self, &to);
        return false;
    }
    for (size_t i = 0; i < swiss_cells(t); i++) {
        if (t->tags[i] == EMPTY)
            continue;
        uint64_t hash = agb_hash_word(self->hash, t->cells[i].key);
        strayed += hash >> t->shift != i / TAGS;
        swiss_add_row(&to, hash, t->cells[i].key, t->cells[i].count);
    }
    *crowded = strayed > t->groups / 2;
    swiss_close(self, t);
    *t = to;
    return true;
}

/* Twice the cells, and another hash where the table turns out to have been crowded: as in linear_table.h. false: no
 * memory. */
static bool swiss_grow(swiss *self)
{
    bool crowded;
    unsigned bits = 64 - self->table.shift + 4 + 1;
    if (!swiss_move(self, bits, &crowded))
        return false;
    if (!crowded)
        return true;
    self->hash.multiplier = linear_next_multiplier(self->hash.multiplier);
    return swiss_move(self, bits, &crowded);
}

/* weights is a constant NULL where rows count once, and the compiler then drops the load. */
static inline agb_status swiss_add(swiss *self, const uint64_t *keys, const uint64_t *weights, size_t rows)
{
    for (size_t i = 0; i < rows; i++) {
        if (self->table.groups == self->table.limit && !swiss_grow(self))
            return AGB_ERR_MEMORY;
        swiss_add_row(&self->table, agb_hash_word(self->hash, keys[i]), keys[i], weights ? weights[i] : 1);
    }
    return AGB_OK;
}

static agb_status swiss_create(agb_host *host, const agb_config *config, void **out)
{
    swiss *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->hash = config->hash;
    self->load = (unsigned)config->params[LOAD];
    return swiss_open(self, &self->table, (unsigned)config->params[START]) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status swiss_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    return batch->weights ? swiss_add(state, batch->keys, batch->weights, batch->rows)
                          : swiss_add(state, batch->keys, NULL, batch->rows);
}

static agb_status swiss_finish(void *state)
{
    swiss *self = state;
    swiss_table *t = &self->table;
    uint64_t *keys, *counts;
    agb_status status = agb_emit_begin(self->host, 0, t->groups, &keys, &counts);
    if (status != AGB_OK)
        return status;
    size_t written = 0;
    for (size_t i = 0; i < swiss_cells(t); i++) {
        if (t->tags[i] == EMPTY)
            continue;
        keys[written] = t->cells[i].key;
        counts[written++] = t->cells[i].count;
    }
    return agb_emit_end(self->host, 0, written);
}

static void swiss_destroy(void *state)
{
    swiss *self = state;
    swiss_close(self, &self->table);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_swiss = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "swiss",
    .summary = "sixteen one-byte tags compared at once, then the cell",
    .prediction = "memory-bound as naive: the tags save wrong cells, but cost a line of their own",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS,
    .create = swiss_create,
    .consume = swiss_consume,
    .finish = swiss_finish,
    .destroy = swiss_destroy,
    .need = {.bytes_per_group = 59, .fixed_bytes = 100e3},
};
