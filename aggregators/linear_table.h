/* SPDX-License-Identifier: MIT */
/* The one shared part: a linear-probing table of 16-byte cells. It is the control variable of the comparisons: where
 * two strategies both use it, they differ only in what is being compared.
 *
 *     cells   [key|count][key|count][  0  ][key|count] ...      a power of two of them; count 0 = empty
 *
 * No key value is special: a cell is empty when its count is 0, and a group's count never is. The slot comes from the
 * top bits of the hash, after `skip` bits that another level (a partition number) has already used up. */
#ifndef AGB_LINEAR_TABLE_H
#define AGB_LINEAR_TABLE_H

#include "aggregator.h"

typedef struct linear_cell {
    uint64_t key, count;
} linear_cell;

typedef struct linear_table {
    linear_cell *cells;
    size_t mask;         /* cells - 1 */
    unsigned skip;       /* hash bits that are not ours, from the top */
    unsigned shift;      /* 64 - log2(cells) */
    unsigned load;       /* most occupied cells, in percent */
    size_t groups;       /* occupied cells */
    size_t limit;        /* at this number of groups the table must grow */
    agb_hash hash;
} linear_table;

static inline size_t linear_table_bytes(const linear_table *t)
{
    return (t->mask + 1) * sizeof *t->cells;
}

/* bits: log2 of the number of cells, 4..48. false: no memory. */
static inline bool linear_table_open(linear_table *t, agb_host *host, unsigned bits, unsigned skip, unsigned load,
                                     agb_hash hash)
{
    size_t cells = (size_t)1 << bits;
    linear_cell *memory = (linear_cell *)agb_alloc(host, cells * sizeof(linear_cell), AGB_ZEROED);
    if (!memory)
        return false;
    *t = (linear_table){.cells = memory, .mask = cells - 1, .skip = skip, .shift = 64 - bits, .load = load,
                        .limit = cells / 100 * load + cells % 100 * load / 100, .hash = hash};
    return true;
}

static inline void linear_table_close(linear_table *t, agb_host *host)
{
    if (t->cells)
        agb_release(host, t->cells, linear_table_bytes(t));
    t->cells = NULL;
}

static inline linear_cell *linear_table_home(const linear_table *t, uint64_t hash)
{
    return &t->cells[(hash << t->skip) >> t->shift];
}

/* Adds weight to the key's group. The caller has made room: groups < limit, or the key is known to be there. */
static inline void linear_table_add(linear_table *t, uint64_t hash, uint64_t key, uint64_t weight)
{
    size_t slot = (hash << t->skip) >> t->shift;
    for (;; slot = (slot + 1) & t->mask) {
        linear_cell *cell = &t->cells[slot];
        if (cell->count == 0) {
            cell->key = key;
            cell->count = weight;
            t->groups++;
            return;
        }
        if (cell->key == key) {
            cell->count += weight;
            return;
        }
    }
}

/* Twice the cells; false: no memory, and the table is as it was. */
static inline bool linear_table_grow(linear_table *t, agb_host *host)
{
    linear_table wider;
    if (!linear_table_open(&wider, host, 64 - t->shift + 1, t->skip, t->load, t->hash))
        return false;
    for (size_t i = 0; i <= t->mask; i++)
        if (t->cells[i].count)
            linear_table_add(&wider, agb_hash_word(t->hash, t->cells[i].key), t->cells[i].key, t->cells[i].count);
    linear_table_close(t, host);
    *t = wider;
    return true;
}

/* Room for `rows` more keys, all of them new at worst; false: no memory. */
static inline bool linear_table_reserve(linear_table *t, agb_host *host, size_t rows)
{
    while (t->limit - t->groups < rows)
        if (!linear_table_grow(t, host))
            return false;
    return true;
}

/* Adds weight to the key's group, growing when that is due; false: no memory. */
static inline bool linear_table_put(linear_table *t, agb_host *host, uint64_t key, uint64_t weight)
{
    if (t->groups == t->limit && !linear_table_grow(t, host))
        return false;
    linear_table_add(t, agb_hash_word(t->hash, key), key, weight);
    return true;
}

/* Emits every group and leaves the table empty. Cells are copied without asking whether they are occupied, and the
 * place moves on only if they were: no branch to mispredict, but one group more of room. */
static inline agb_status linear_table_emit(linear_table *t, agb_host *host, unsigned worker)
{
    uint64_t *keys, *counts;
    agb_status status = agb_emit_begin(host, worker, t->groups + 1, &keys, &counts);
    if (status != AGB_OK)
        return status;
    size_t written = 0;
    for (size_t i = 0; i <= t->mask; i++) {
        linear_cell *cell = &t->cells[i];
        keys[written] = cell->key;
        counts[written] = cell->count;
        written += cell->count != 0;
        cell->count = 0;
    }
    t->groups = 0;
    return agb_emit_end(host, worker, written);
}

#endif
