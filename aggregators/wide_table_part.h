/* SPDX-License-Identifier: MIT */
/* Shared: linear_table.h once more for keys that do not fit a word: pairs of words, or strings.
 *
 *     cells   [key: 2 words | hash | count] ...      32 bytes, a power of two of them; count 0 = empty
 *     key     a pair itself, or where a string stands and how long it is
 *
 * A crowded table brings other bits of the hash to the top, as linear_table.h does; keys whose whole hashes are equal
 * stay together. The hash is kept because that of a string is dear: it saves comparing most strings that differ, and
 * hashing again when the table grows. Keys are equal when they are equal byte by byte, never because their hashes are.
 * `pairs` is a constant at every call, and the compiler makes one function of each kind. */
#ifndef AGB_WIDE_TABLE_PART_H
#define AGB_WIDE_TABLE_PART_H

#include "linear_table.h"
#include "slabs_part.h"

enum { MOST_WIDE_BLOCK = 256, WIDE_EMIT_GROUPS = 256 };

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
typedef struct wide_table_plan {
    agb_host *host;
    unsigned bits;        /* log2 of the number of cells at the beginning, 4..48 */
    unsigned skip;        /* hash bits that are not ours, from the top */
    unsigned load;        /* most occupied cells, in percent */
    agb_hash hash;
    bool copies;
} wide_table_plan;

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
static inline bool wide_table_open(wide_table *t, wide_table_plan plan)
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

static inline bool wide_cell_is(const wide_cell *cell, agb_key key, uint64_t hash, bool pairs)
{
    if (pairs)
        return cell->key.pair[0] == key.pair[0] && cell->key.pair[1] == key.pair[1];
    return cell->hash == hash && cell->key.bytes.length == key.bytes.length &&
           (key.bytes.length == 0 || memcmp(cell->key.bytes.data, key.bytes.data, key.bytes.length) == 0);
}

/* Adds weight to the key's group; the caller has made room. false: no memory for a string. */
static inline bool wide_table_add(wide_table *t, uint64_t hash, agb_key key, uint64_t weight, bool pairs)
{
    wide_cell *cell = wide_table_home(t, hash);
    while (cell->count && !wide_cell_is(cell, key, hash, pairs))
        cell = &t->cells[(size_t)(cell - t->cells + 1) & t->mask];
    if (cell->count == 0) {
        if (!pairs && t->copies && !(key.bytes.data = bytes_store_copy(&t->store, t->host, key.bytes)))
            return false;
        cell->key = key;
        cell->hash = hash;
        t->groups++;
    }
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

static inline agb_key wide_key_of(const agb_batch *batch, size_t row, bool pairs)
{
    return pairs ? (agb_key){.pair = {batch->keys[2 * row], batch->keys[2 * row + 1]}}
                 : (agb_key){.bytes = batch->bytes[row]};
}

static inline void wide_hash(agb_host *host, agb_hash hash, const agb_batch *batch, size_t first, size_t rows,
                             uint64_t *hashes, bool pairs)
{
    for (size_t i = 0; pairs && i < rows; i++)
        hashes[i] = agb_hash_pair(hash, &batch->keys[2 * (first + i)]);
    if (!pairs)
        agb_hash_bytes(host, batch->bytes + first, rows, hashes);
}

/* Requests the cells of a block, then the strings of those that seem to be the wanted ones. */
static inline void wide_table_prefetch(const wide_table *t, const uint64_t *hashes, size_t rows, bool pairs)
{
    for (size_t i = 0; i < rows; i++)
        __builtin_prefetch(wide_table_home(t, hashes[i]), 1);
    for (size_t i = 0; !pairs && i < rows; i++) {
        const wide_cell *cell = wide_table_home(t, hashes[i]);
        if (cell->hash == hashes[i])
            __builtin_prefetch(cell->key.bytes.data);
    }
}

static inline agb_status wide_table_count_kind(wide_table *t, const agb_batch *batch, size_t block, bool prefetched,
                                               bool pairs)
{
    uint64_t hashes[MOST_WIDE_BLOCK];
    for (size_t first = 0; first < batch->rows; first += block) {
        size_t rows = batch->rows - first < block ? batch->rows - first : block;
        if (!wide_table_reserve(t, rows))
            return AGB_ERR_MEMORY;
        wide_hash(t->host, t->hash, batch, first, rows, hashes, pairs);
        if (prefetched)
            wide_table_prefetch(t, hashes, rows, pairs);
        for (size_t i = 0; i < rows; i++) {
            uint64_t weight = batch->weights ? batch->weights[first + i] : 1;
            if (!wide_table_add(t, hashes[i], wide_key_of(batch, first + i, pairs), weight, pairs))
                return AGB_ERR_MEMORY;
        }
    }
    return AGB_OK;
}

/* Counts a batch of pairs or strings in blocks of up to MOST_WIDE_BLOCK rows: hashes of a block first, then, if wanted,
 * its cache lines, then the look-ups. */
static inline agb_status wide_table_count(wide_table *t, const agb_batch *batch, size_t block, bool prefetched)
{
    return batch->bytes ? wide_table_count_kind(t, batch, block, prefetched, false)
                        : wide_table_count_kind(t, batch, block, prefetched, true);
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
    agb_bytes keys[WIDE_EMIT_GROUPS];
    uint64_t counts[WIDE_EMIT_GROUPS];
    agb_status status = AGB_OK;
    size_t n = 0;
    for (size_t i = 0; i <= t->mask && status == AGB_OK; i++) {
        wide_cell *cell = &t->cells[i];
        keys[n] = cell->key.bytes;
        counts[n] = cell->count;
        n += cell->count != 0;
        cell->count = 0;
        if (n == WIDE_EMIT_GROUPS || i == t->mask) {
            status = agb_emit_bytes(t->host, worker, keys, counts, n);
            n = 0;
        }
    }
    return status;
}

/* Emits every group and leaves the table empty. */
static inline agb_status wide_table_emit(wide_table *t, unsigned worker, agb_key_kind kind)
{
    agb_status status = kind == AGB_KEYS_PAIR ? wide_table_emit_pairs(t, worker) : wide_table_emit_strings(t, worker);
    t->groups = 0;
    return status;
}

#endif
