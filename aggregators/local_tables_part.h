/* SPDX-License-Identifier: MIT */
/* Shared by local_merge and atomics: a table per worker, and their merging by stretches of the hash.
 *
 *     worker 0    [ stretch 0 | stretch 1 | stretch 2 | stretch 3 ]
 *     worker 1    [ stretch 0       | stretch 1       | ...       ]      of any size: a stretch is a share of the slots
 *                       '--- one task merges stretch 0 of all, another stretch 1 ...
 *
 * The slot of a key is the beginning of its hash, so the keys of one stretch of hashes stand side by side in every
 * table: it is partitioned already. Only probing makes the edges ragged: a key may stand past the end of its stretch,
 * but never behind an empty cell. A table that was crowded has spread its keys by another multiplier; then all must.
 *
 * Strings stay in the store of the table that they came to first, and the merged tables point at them. */
#ifndef AGB_LOCAL_TABLES_PART_H
#define AGB_LOCAL_TABLES_PART_H

#include "key_table_part.h"

typedef struct local {
    key_table table, merged;       /* merged: one stretch after another */
    agb_status status;
    char apart[64];                /* workers share no cache line */
} local;

typedef struct local_tables {
    agb_host *host;
    unsigned workers, bits, phase;    /* bits: log2 of the number of stretches */
    unsigned load;                    /* of the tables, in percent */
    agb_hash hash;
    size_t cache_bytes;               /* that the groups of one stretch should fit */
    local *local;
} local_tables;

/* bits: log2 of the cells of each table at the beginning. false: no memory; local_tables_close is due all the same. */
static inline bool local_tables_open(local_tables *l, agb_host *host, const agb_config *config, unsigned bits,
                                     unsigned load)
{
    *l = (local_tables){.host = host, .load = load, .hash = config->hash,
                        .cache_bytes = config->caches.l2 ? config->caches.l2 : 256 << 10};
    l->local = (local *)agb_alloc(host, config->workers * sizeof(local), AGB_ZEROED);
    if (!l->local)
        return false;
    l->workers = config->workers;
    for (unsigned i = 0; i < l->workers; i++)
        if (!key_table_open(&l->local[i].table, config->kind, (table_plan){host, bits, 0, load, config->hash, true}))
            return false;
    return true;
}

static inline void local_tables_close(local_tables *l)
{
    for (unsigned i = 0; i < l->workers; i++) {
        key_table_close(&l->local[i].table, l->host);
        key_table_close(&l->local[i].merged, l->host);
    }
    agb_release(l->host, l->local, l->workers * sizeof(local));
}

/* So many stretches that the groups of one fit the cache and the workers can share them out evenly, but never more than
 * the smallest table has cells. */
static inline unsigned local_tables_bits(const local_tables *l)
{
    size_t groups = 0, wanted, least_cells = SIZE_MAX;
    size_t cell_bytes = l->local[0].table.kind == AGB_KEYS_WORD ? sizeof(linear_cell) : sizeof(wide_cell);
    for (unsigned i = 0; i < l->workers; i++) {
        const key_table *t = &l->local[i].table;
        groups += key_table_groups(t);
        least_cells = key_table_cells(t) < least_cells ? key_table_cells(t) : least_cells;
    }
    wanted = groups * 2 * cell_bytes / l->cache_bytes + 8 * (size_t)l->workers;
    unsigned bits = 1;
    while ((size_t)1 << bits < wanted && (size_t)2 << bits <= least_cells)
        bits++;
    return bits;
}

PER_KIND bool local_tables_merge_kind(local_tables *l, key_table *into, key_table *from, size_t stretch,
                                      agb_key_kind kind)
{
    size_t cells = key_table_cells(from), width = cells >> l->bits;
    uint64_t multiplier = *key_table_multiplier(from);
    for (size_t i = 0; i < cells; i++) {
        wide_cell cell = key_table_cell(from, (stretch * width + i) & (cells - 1), kind);
        if (cell.count == 0) {
            if (i >= width)
                return true;
            continue;
        }
        if ((cell.hash * multiplier) >> (64 - l->bits) == stretch
            && !key_table_put(into, l->host, cell.hash, cell.key, cell.count, kind))
            return false;
    }
    return true;
}

static inline bool local_tables_merge_stretch(local_tables *l, key_table *into, key_table *from, size_t stretch)
{
    return into->kind == AGB_KEYS_WORD   ? local_tables_merge_kind(l, into, from, stretch, AGB_KEYS_WORD)
           : into->kind == AGB_KEYS_PAIR ? local_tables_merge_kind(l, into, from, stretch, AGB_KEYS_PAIR)
                                         : local_tables_merge_kind(l, into, from, stretch, AGB_KEYS_BYTES);
}

static inline void local_tables_merge_task(void *argument, unsigned worker, size_t stretch)
{
    local_tables *l = (local_tables *)argument;
    local *mine = &l->local[worker];
    agb_phase(l->host, worker, l->phase);
    for (unsigned i = 0; mine->status == AGB_OK && i < l->workers; i++)
        if (!local_tables_merge_stretch(l, &mine->merged, &l->local[i].table, stretch))
            mine->status = AGB_ERR_MEMORY;
    if (mine->status == AGB_OK && key_table_groups(&mine->merged))
        mine->status = key_table_emit(&mine->merged, l->host, worker);
}

/* Brings all tables to one multiplier: that of one which was crowded, if there is any. false: no memory. */
static inline bool local_tables_agree(local_tables *l)
{
    uint64_t multiplier = 1;
    for (unsigned i = 0; i < l->workers; i++)
        if (*key_table_multiplier(&l->local[i].table) != 1)
            multiplier = *key_table_multiplier(&l->local[i].table);
    for (unsigned i = 0; i < l->workers; i++) {
        key_table *t = &l->local[i].table;
        if (*key_table_multiplier(t) != multiplier && !key_table_spread(t, l->host, multiplier))
            return false;
    }
    return true;
}

/* Emits all groups; `phase` is what the report calls that. A single table has nothing to be merged with. */
static inline agb_status local_tables_merge(local_tables *l, unsigned phase)
{
    agb_phase(l->host, 0, phase);
    if (l->workers == 1)
        return key_table_emit(&l->local[0].table, l->host, 0);
    if (!local_tables_agree(l))
        return AGB_ERR_MEMORY;
    l->phase = phase;
    l->bits = local_tables_bits(l);
    for (unsigned i = 0; i < l->workers; i++) {
        key_table *t = &l->local[i].table, *merged = &l->local[i].merged;
        if (!key_table_open(merged, t->kind, (table_plan){l->host, 10, l->bits, l->load, l->hash, false}))
            return AGB_ERR_MEMORY;
        *key_table_multiplier(merged) *= *key_table_multiplier(t);
    }
    agb_status status = agb_parallel_for(l->host, (size_t)1 << l->bits, local_tables_merge_task, l);
    for (unsigned i = 0; status == AGB_OK && i < l->workers; i++)
        status = l->local[i].status;
    return status;
}

#endif
