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
 *     cells   [key|count] x 16                 [ ...        256 bytes a group; 512 with the cells of wide_table_part.h,
 *                                                           which pairs and strings get
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
#include "tags_part.h"
#include "wide_table_part.h"

enum { EMPTY = 0x80, TAG_BITS = 7 };

typedef struct swiss_table {
    uint8_t *tags;
    linear_cell *cells;      /* of words, */
    wide_cell *wide;         /* of pairs or strings: one of the two */
    size_t mask;             /* groups of 16, minus 1 */
    unsigned shift;          /* 64 - log2(groups of 16) */
    size_t groups, limit;    /* occupied cells; at how many it must grow */
} swiss_table;

typedef struct swiss {
    agb_host *host;
    agb_key_kind kind;
    agb_hash hash;
    uint64_t multiplier;     /* of the hash: after crowding, one that brings other bits to the top */
    unsigned load;
    swiss_table table;
    bytes_store store;       /* of strings */
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
    agb_release(self->host, t->wide, swiss_cells(t) * sizeof *t->wide);
}

/* Cells need no zeros: what is not tagged is not read. */
static bool swiss_open(swiss *self, swiss_table *t, unsigned bits)
{
    size_t cells = (size_t)1 << bits;
    *t = (swiss_table){.mask = cells / TAGS - 1, .shift = 64 - (bits - 4),
                       .limit = linear_limit(cells, self->load)};
    t->tags = agb_alloc(self->host, cells, 0);
    if (self->kind == AGB_KEYS_WORD)
        t->cells = agb_alloc(self->host, cells * sizeof *t->cells, 0);
    else
        t->wide = agb_alloc(self->host, cells * sizeof *t->wide, 0);
    if (!t->tags || (!t->cells && !t->wide))
        return false;
    memset(t->tags, EMPTY, cells);
    return true;
}

PER_KIND bool swiss_cell_is(const swiss_table *t, size_t i, agb_key key, uint64_t hash, agb_key_kind kind)
{
    return kind == AGB_KEYS_WORD ? t->cells[i].key == key.word : wide_cell_is(&t->wide[i], key, hash, kind);
}

PER_KIND uint64_t *swiss_cell_count(const swiss_table *t, size_t i, agb_key_kind kind)
{
    return kind == AGB_KEYS_WORD ? &t->cells[i].count : &t->wide[i].count;
}

PER_KIND void swiss_cell_set(swiss_table *t, size_t i, wide_cell row, agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD)
        t->cells[i] = (linear_cell){row.key.word, row.count};
    else
        t->wide[i] = row;
}

/* What is in a cell, as if it were a wide one. */
PER_KIND wide_cell swiss_cell(const swiss *self, size_t i, agb_key_kind kind)
{
    if (kind != AGB_KEYS_WORD)
        return self->table.wide[i];
    linear_cell cell = self->table.cells[i];
    return (wide_cell){{.word = cell.key}, agb_hash_word(self->hash, cell.key), cell.count};
}

/* Adds the row's count to its group. The caller has made room: there is an empty cell somewhere. Groups are visited at
 * growing distances (1, 2, 3 ...), which reaches every group of a power of two and leaves a crowded neighbourhood
 * quickly. A new string is copied, unless `moved` from another table. false: no memory for that. */
PER_KIND bool swiss_add_row(swiss *self, swiss_table *t, wide_cell row, agb_key_kind kind, bool moved)
{
    uint64_t spread = row.hash * self->multiplier;
    size_t group = spread >> t->shift;
    uint8_t tag = spread >> (t->shift - TAG_BITS) & 0x7f;
    for (size_t step = 1;; group = (group + step++) & t->mask) {
        uint8_t *tags = &t->tags[group * TAGS];
        for (uint64_t same = tags_equal(tags, tag); same; same &= same - 1) {
            size_t i = group * TAGS + tags_first(same);
            if (__builtin_expect(swiss_cell_is(t, i, row.key, row.hash, kind), 1)) {
                *swiss_cell_count(t, i, kind) += row.count;
                return true;
            }
        }
        uint64_t empty = tags_equal(tags, EMPTY);
        if (empty) {
            bool copies = kind == AGB_KEYS_BYTES && !moved;
            if (copies && !(row.key.bytes.data = bytes_store_copy(&self->store, self->host, row.key.bytes)))
                return false;
            tags[tags_first(empty)] = tag;
            swiss_cell_set(t, group * TAGS + tags_first(empty), row, kind);
            t->groups++;
            return true;
        }
    }
}

/* Returns how many groups were not where they belong. */
PER_KIND size_t swiss_move_groups(swiss *self, swiss_table *to, uint64_t multiplier, agb_key_kind kind)
{
    const swiss_table *from = &self->table;
    size_t strayed = 0;
    for (size_t i = 0; i < swiss_cells(from); i++) {
        if (from->tags[i] == EMPTY)
            continue;
        wide_cell row = swiss_cell(self, i, kind);
        strayed += (row.hash * multiplier) >> from->shift != i / TAGS;
        swiss_add_row(self, to, row, kind, true);
    }
    return strayed;
}

/* Another table takes the groups, by another multiplier or the same; *crowded: whether most of them were not where they
 * belong. Of random hashes, fewer than a third are in a table 95 percent full. false: no memory, and the table is as it
 * was. */
static bool swiss_move(swiss *self, unsigned bits, uint64_t multiplier, bool *crowded)
{
    swiss_table to;
    if (!swiss_open(self, &to, bits)) {
        swiss_close(self, &to);
        return false;
    }
    uint64_t before = self->multiplier;
    self->multiplier = multiplier;
    size_t strayed = self->kind == AGB_KEYS_WORD   ? swiss_move_groups(self, &to, before, AGB_KEYS_WORD)
                     : self->kind == AGB_KEYS_PAIR ? swiss_move_groups(self, &to, before, AGB_KEYS_PAIR)
                                                   : swiss_move_groups(self, &to, before, AGB_KEYS_BYTES);
    *crowded = strayed > to.groups / 2;
    swiss_close(self, &self->table);
    self->table = to;
    return true;
}

/* Twice the cells, and another multiplier where the table turns out to have been crowded: as in linear_table.h. false:
 * no memory. */
static bool swiss_grow(swiss *self)
{
    bool crowded;
    unsigned bits = 64 - self->table.shift + 4 + 1;
    return swiss_move(self, bits, self->multiplier, &crowded) &&
           (!crowded || swiss_move(self, bits, linear_next_multiplier(self->multiplier), &crowded));
}

/* weights is a constant NULL where words count once, and the compiler then drops the load. */
PER_KIND agb_status swiss_add(swiss *self, const agb_batch *batch, const uint64_t *weights, agb_key_kind kind)
{
    uint64_t ahead[HASHED_ROWS];
    for (size_t i = 0; i < batch->rows; i++) {
        if (self->table.groups == self->table.limit && !swiss_grow(self))
            return AGB_ERR_MEMORY;
        uint64_t hash = batch_hash(self->host, self->hash, batch, i, ahead, kind);
        wide_cell row = {batch_key(batch, i, kind), hash, weights ? weights[i] : 1};
        if (!swiss_add_row(self, &self->table, row, kind, false))
            return AGB_ERR_MEMORY;
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
    self->kind = config->kind;
    self->hash = config->hash;
    self->multiplier = 1;
    self->load = (unsigned)config->params[LOAD];
    return swiss_open(self, &self->table, (unsigned)config->params[START]) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status swiss_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    swiss *self = state;
    if (self->kind == AGB_KEYS_PAIR)
        return swiss_add(self, batch, batch->weights, AGB_KEYS_PAIR);
    if (self->kind == AGB_KEYS_BYTES)
        return swiss_add(self, batch, batch->weights, AGB_KEYS_BYTES);
    return batch->weights ? swiss_add(self, batch, batch->weights, AGB_KEYS_WORD)
                          : swiss_add(self, batch, NULL, AGB_KEYS_WORD);
}

PER_KIND agb_status swiss_emit(swiss *self, agb_key_kind kind)
{
    const swiss_table *t = &self->table;
    groups_out out;
    agb_status status = groups_out_begin(&out, self->host, 0, t->groups, kind);
    if (status != AGB_OK)
        return status;
    for (size_t i = 0; i < swiss_cells(t); i++) {
        if (t->tags[i] == EMPTY)
            continue;
        wide_cell cell = swiss_cell(self, i, kind);
        groups_out_put(&out, cell.key, cell.count, kind);
    }
    return groups_out_end(&out, kind);
}

static agb_status swiss_finish(void *state)
{
    swiss *self = state;
    return self->kind == AGB_KEYS_WORD   ? swiss_emit(self, AGB_KEYS_WORD)
           : self->kind == AGB_KEYS_PAIR ? swiss_emit(self, AGB_KEYS_PAIR)
                                         : swiss_emit(self, AGB_KEYS_BYTES);
}

static void swiss_destroy(void *state)
{
    swiss *self = state;
    swiss_close(self, &self->table);
    bytes_store_close(&self->store, self->host);
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
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = swiss_create,
    .consume = swiss_consume,
    .finish = swiss_finish,
    .destroy = swiss_destroy,
    .need = {.bytes_per_group = 59, .fixed_bytes = 100e3},
};
