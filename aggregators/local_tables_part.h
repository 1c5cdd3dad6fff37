/* SPDX-License-Identifier: MIT */
/* Shared by local_merge and atomics: a table per worker, and their merging by stretches of the hash.
 *
 *     worker 0    [ stretch 0 | stretch 1 | stretch 2 | stretch 3 ]
 *     worker 1    [ stretch 0       | stretch 1       | ...       ]      of any size: a stretch is a share of the slots
 *                       '--- one task merges stretch 0 of all, another stretch 1 ...
 *
 * The slot of a key is the beginning of its hash, so the keys of one stretch of hashes stand side by side in every
 * table: it is partitioned already. Only probing makes the edges ragged: a key may stand past the end of its stretch,
 * but never behind an empty cell. A table that was crowded has spread its keys by another multiplier; then all must. */
#ifndef AGB_LOCAL_TABLES_PART_H
#define AGB_LOCAL_TABLES_PART_H

#include "linear_table.h"

typedef struct local {
    linear_table table, merged;    /* merged: one stretch after another */
    agb_status status;
    char apart[64];                /* workers share no cache line */
} local;

typedef struct local_tables {
    agb_host *host;
    unsigned workers, bits, phase;    /* bits: log2 of the number of stretches */
    size_t cache_bytes;               /* that the groups of one stretch should fit */
    local *local;
} local_tables;

/* bits: log2 of the cells of each table at the beginning. false: no memory; local_tables_close is due all the same. */
static inline bool local_tables_open(local_tables *l, agb_host *host, const agb_config *config, unsigned bits,
                                     unsigned load)
{
    *l = (local_tables){.host = host, .cache_bytes = config->caches.l2 ? config->caches.l2 : 256 << 10};
    l->local = (local *)agb_alloc(host, config->workers * sizeof(local), AGB_ZEROED);
    if (!l->local)
        return false;
    l->workers = config->workers;
    for (unsigned i = 0; i < l->workers; i++)
        if (!linear_table_open(&l->local[i].table, host, bits, 0, load, config->hash))
            return false;
    return true;
}

static inline void local_tables_close(local_tables *l)
{
    for (unsigned i = 0; i < l->workers; i++) {
        linear_table_close(&l->local[i].table, l->host);
        linear_table_close(&l->local[i].merged, l->host);
    }
    agb_release(l->host, l->local, l->workers * sizeof(local));
}

/* So many stretches that the groups of one fit the cache and the workers can share them out evenly, but never more than
 * the smallest table has cells. */
static inline unsigned local_tables_bits(const local_tables *l)
{
    size_t groups = 0, wanted, least_cells = SIZE_MAX;
    for (unsigned i = 0; i < l->workers; i++) {
        const linear_table *t = &l->local[i].table;
        groups += t->groups;
        least_cells = t->mask + 1 < least_cells ? t->mask + 1 : least_cells;
    }
    wanted = groups * 2 * sizeof(linear_cell) / l->cache_bytes + 8 * (size_t)l->workers;
    unsigned bits = 1;
    while ((size_t)1 << bits < wanted && (size_t)2 << bits <= least_cells)
        bits++;
    return bits;
}

static inline bool local_tables_merge_stretch(linear_table *into, agb_host *host, const linear_table *from,
                                              size_t stretch, unsigned bits)
{
    size_t cells = from->mask + 1, width = cells >> bits;
    for (size_t i = 0; i < cells; i++) {
        const linear_cell *cell = &from->cells[(stretch * width + i) & from->mask];
        if (cell->count == 0) {
            if (i >= width)
                return true;
            continue;
        }
        if ((agb_hash_word(from->hash, cell->key) * from->multiplier) >> (64 - bits) == stretch
            && !linear_table_put(into, host, cell->key, cell->count))
            return false;
    }
    return true;
}

static inline void local_tables_merge_task(void *argument, unsigned worker, size_t stretch)
{
    local_tables *l = (local_tables *)argument;
    local *mine = &l->local[worker];
    agb_phase(l->host, worker, l->phase);
    for (unsigned i = 0; mine->status == AGB_OK && i < l->workers; i++)
        if (!local_tables_merge_stretch(&mine->merged, l->host, &l->local[i].table, stretch, l->bits))
            mine->status = AGB_ERR_MEMORY;
    if (mine->status == AGB_OK && mine->merged.groups)
        mine->status = linear_table_emit(&mine->merged, l->host, worker);
}

/* Brings all tables to one multiplier: that of one which was crowded, if there is any. false: no memory. */
static inline bool local_tables_agree(local_tables *l)
{
    uint64_t multiplier = 1;
    for (unsigned i = 0; i < l->workers; i++)
        if (l->local[i].table.multiplier != 1)
            multiplier = l->local[i].table.multiplier;
    for (unsigned i = 0; i < l->workers; i++) {
        bool crowded;
        linear_table *t = &l->local[i].table;
        if (t->multiplier != multiplier && !linear_table_move(t, l->host, 64 - t->shift, multiplier, &crowded))
            return false;
    }
    return true;
}

/* Emits all groups; `phase` is what the report calls that. A single table has nothing to be merged with. */
static inline agb_status local_tables_merge(local_tables *l, unsigned phase)
{
    agb_phase(l->host, 0, phase);
    if (l->workers == 1)
        return linear_table_emit(&l->local[0].table, l->host, 0);
    if (!local_tables_agree(l))
        return AGB_ERR_MEMORY;
    l->phase = phase;
    l->bits = local_tables_bits(l);
    for (unsigned i = 0; i < l->workers; i++) {
        const linear_table *t = &l->local[i].table;
        if (!linear_table_open(&l->local[i].merged, l->host, 10, l->bits, t->load, t->hash))
            return AGB_ERR_MEMORY;
        l->local[i].merged.multiplier *= t->multiplier;
    }
    agb_status status = agb_parallel_for(l->host, (size_t)1 << l->bits, local_tables_merge_task, l);
    for (unsigned i = 0; status == AGB_OK && i < l->workers; i++)
        status = l->local[i].status;
    return status;
}

#endif
