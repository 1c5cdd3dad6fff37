/* SPDX-License-Identifier: MIT */
/* Shared: linear_table.h once more for keys that do not fit a word: pairs of words, or strings.
 *
 *     cells   [key: 2 words | hash | count] ...      32 bytes, a power of two of them; count 0 = empty
 *     key     a pair itself, or where a string stands and how long it is
 *
 * A crowded table brings other bits of the hash to the top, as linear_table.h does; keys whose whole hashes are equal
 * stay together. The hash is kept because that of a string is dear: it saves comparing most strings that differ, and
 * hashing again when the table grows. Keys are equal when they are equal byte by byte, never because their hashes are.
 */
#ifndef AGB_WIDE_TABLE_PART_H
#define AGB_WIDE_TABLE_PART_H

#include "keys_part.h"
#include "linear_table.h"
#include "slabs_part.h"

enum { MOST_WIDE_BLOCK = 256 };

typedef struct wide_cell {
    agb_key key;
    uint64_t hash, count;
} wide_cell;

typedef struct wide_table {
    agb_host *host;
    wide_cell *cells;
    size_t mask;          /* cells - 1 */
    uint64_t multiplier;  /* of the hash, to bring bits that differ to the top */
    unsigned shift;       /* 64 - log2(cells) */
    unsigned load;        /* most occupied cells, in percent */
    size_t groups;        /* occupied cells */
    size_t limit;         /* at this number of groups the table must grow */
    agb_hash hash;
    bool copies;          /* strings of new groups go to the store; else they stay where they are until the end */
    bytes_store store;
} wide_table;

/* What does not change while a table lives. */
typedef struct table_plan {
    agb_host *host;
    unsigned bits;        /* log2 of the number of cells at the beginning, 4..48 */
    unsigned skip;        /* hash bits that are not ours, from the top */
    unsigned load;        /* most occupied cells, in percent */
    agb_hash hash;
    bool copies;
} table_plan;

static inline bool wide_table_set_cells(wide_table *t, unsigned bits)
{
    size_t cells = (size_t)1 << bits;
    wide_cell *memory = (wide_cell *)agb_alloc(t->host, cells * sizeof(wide_cell), AGB_ZEROED);
    if (!memory)
        return false;
    t->cells = memory;
    t->mask = cells - 1;
    t->shift = 64 - bits;
    t->limit = linear_limit(cells, t->load);
    return true;
}

/* false: no memory. */
static inline bool wide_table_open(wide_table *t, table_plan plan)
{
    *t = (wide_table){.host = plan.host, .multiplier = UINT64_C(1) << plan.skip, .load = plan.load, .hash = plan.hash,
                      .copies = plan.copies};
    return wide_table_set_cells(t, plan.bits);
}

static inline void wide_table_close(wide_table *t)
{
    if (t->cells)
        agb_release(t->host, t->cells, (t->mask + 1) * sizeof *t->cells);
    t->cells = NULL;
    bytes_store_close(&t->store, t->host);
}

static inline wide_cell *wide_table_home(const wide_table *t, uint64_t hash)
{
    return &t->cells[(hash * t->multiplier) >> t->shift];
}

PER_KIND bool wide_cell_is(const wide_cell *cell, agb_key key, uint64_t hash, agb_key_kind kind)
{
    return (kind == AGB_KEYS_PAIR || cell->hash == hash) && keys_equal(cell->key, key, kind);
}

/* The key's cell, or the empty one where it belongs. */
PER_KIND wide_cell *wide_table_find(const wide_table *t, uint64_t hash, agb_key key, agb_key_kind kind)
{
    wide_cell *cell = wide_table_home(t, hash);
    while (cell->count && !wide_cell_is(cell, key, hash, kind))
        cell = &t->cells[(size_t)(cell - t->cells + 1) & t->mask];
    return cell;
}

/* A new group takes the empty cell; the caller has made room, and counts it then. false: no memory for a string. */
PER_KIND bool wide_table_enter(wide_table *t, wide_cell *cell, uint64_t hash, agb_key key, agb_key_kind kind)
{
    if (kind == AGB_KEYS_BYTES && t->copies && !(key.bytes.data = bytes_store_copy(&t->store, t->host, key.bytes)))
        return false;
    cell->key = key;
    cell->hash = hash;
    t->groups++;
    return true;
}

/* Adds weight to the key's group; the caller has made room. false: no memory for a string. */
PER_KIND bool wide_table_add(wide_table *t, uint64_t hash, agb_key key, uint64_t weight, agb_key_kind kind)
{
    wide_cell *cell = wide_table_find(t, hash, key, kind);
    if (cell->count == 0 && !wide_table_enter(t, cell, hash, key, kind))
        return false;
    cell->count += weight;
    return true;
}

/* Other cells, or another multiplier; false: no memory, and the table is as it was. *crowded: as of linear_table_move.
 * All keys differ, so none is compared. */
static inline bool wide_table_move(wide_table *t, unsigned bits, uint64_t multiplier, bool *crowded)
{
    wide_table from = *t;
    size_t strayed = 0;
    if (!wide_table_set_cells(t, bits))
        return false;
    t->multiplier = multiplier;
    for (size_t i = 0; i <= from.mask; i++) {
        const wide_cell *cell = &from.cells[i];
        if (cell->count == 0)
            continue;
        strayed += (size_t)(cell - wide_table_home(&from, cell->hash)) & from.mask;
        wide_cell *to = wide_table_home(t, cell->hash);
        while (to->count)
            to = &t->cells[(size_t)(to - t->cells + 1) & t->mask];
        *to = *cell;
    }
    *crowded = strayed > MOST_STRAYED * t->groups;
    agb_release(t->host, from.cells, (from.mask + 1) * sizeof *from.cells);
    return true;
}

/* Twice the cells, and another multiplier where the table turns out to have been crowded; false: no memory. */
static inline bool wide_table_grow(wide_table *t)
{
    bool crowded;
    unsigned bits = 64 - t->shift + 1;
    return wide_table_move(t, bits, t->multiplier, &crowded) &&
           (!crowded || wide_table_move(t, bits, linear_next_multiplier(t->multiplier), &crowded));
}

/* Room for `rows` more keys, all of them new at worst; false: no memory. */
static inline bool wide_table_reserve(wide_table *t, size_t rows)
{
    while (t->limit - t->groups < rows)
        if (!wide_table_grow(t))
            return false;
    return true;
}

/* ---- Rows of a batch ---- */

/* Requests the cells of a block, then the strings of those that seem to be the wanted ones. */
PER_KIND void wide_table_prefetch(const wide_table *t, const uint64_t *hashes, size_t rows, agb_key_kind kind)
{
    for (size_t i = 0; i < rows; i++)
        __builtin_prefetch(wide_table_home(t, hashes[i]), 1);
    for (size_t i = 0; kind == AGB_KEYS_BYTES && i < rows; i++) {
        const wide_cell *cell = wide_table_home(t, hashes[i]);
        if (cell->hash == hashes[i])
            __builtin_prefetch(cell->key.bytes.data);
    }
}

PER_KIND agb_status wide_table_count_kind(wide_table *t, const agb_batch *batch, size_t block, bool prefetched,
                                          agb_key_kind kind)
{
    uint64_t hashes[MOST_WIDE_BLOCK];
    for (size_t first = 0; first < batch->rows; first += block) {
        size_t rows = batch->rows - first < block ? batch->rows - first : block;
        if (!wide_table_reserve(t, rows))
            return AGB_ERR_MEMORY;
        for (size_t i = 0; kind == AGB_KEYS_PAIR && i < rows; i++)
            hashes[i] = agb_hash_pair(t->hash, &batch->keys[2 * (first + i)]);
        if (kind == AGB_KEYS_BYTES)
            agb_hash_bytes(t->host, batch->bytes + first, rows, hashes);
        if (prefetched)
            wide_table_prefetch(t, hashes, rows, kind);
        for (size_t i = 0; i < rows; i++) {
            uint64_t weight = batch->weights ? batch->weights[first + i] : 1;
            if (!wide_table_add(t, hashes[i], batch_key(batch, first + i, kind), weight, kind))
                return AGB_ERR_MEMORY;
        }
    }
    return AGB_OK;
}

/* Counts a batch of pairs or strings in blocks of up to MOST_WIDE_BLOCK rows: hashes of a block first, then, if wanted,
 * its cache lines, then the look-ups. */
static inline agb_status wide_table_count(wide_table *t, const agb_batch *batch, size_t block, bool prefetched)
{
    return batch->bytes ? wide_table_count_kind(t, batch, block, prefetched, AGB_KEYS_BYTES)
                        : wide_table_count_kind(t, batch, block, prefetched, AGB_KEYS_PAIR);
}

/* ---- The result ---- */

/* As linear_table_emit does it. */
static inline agb_status wide_table_emit_pairs(wide_table *t, unsigned worker)
{
    uint64_t *keys, *counts;
    agb_status status = agb_emit_begin(t->host, worker, t->groups + 1, &keys, &counts);
    if (status != AGB_OK)
        return status;
    size_t written = 0;
    for (size_t i = 0; i <= t->mask; i++) {
        wide_cell *cell = &t->cells[i];
        keys[2 * written] = cell->key.pair[0];
        keys[2 * written + 1] = cell->key.pair[1];
        counts[written] = cell->count;
        written += cell->count != 0;
        cell->count = 0;
    }
    return agb_emit_end(t->host, worker, written);
}

static inline agb_status wide_table_emit_strings(wide_table *t, unsigned worker)
{
    groups_out out;
    groups_out_begin(&out, t->host, worker, t->groups, AGB_KEYS_BYTES);
    for (size_t i = 0; i <= t->mask; i++) {
        wide_cell *cell = &t->cells[i];
        if (cell->count)
            groups_out_put(&out, cell->key, cell->count, AGB_KEYS_BYTES);
        cell->count = 0;
    }
    return groups_out_end(&out, AGB_KEYS_BYTES);
}

/* Emits every group and leaves the table empty. */
static inline agb_status wide_table_emit(wide_table *t, unsigned worker, agb_key_kind kind)
{
    agb_status status = kind == AGB_KEYS_PAIR ? wide_table_emit_pairs(t, worker) : wide_table_emit_strings(t, worker);
    t->groups = 0;
    return status;
}

#endif
