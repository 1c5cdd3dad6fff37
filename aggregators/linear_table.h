/* SPDX-License-Identifier: MIT */
/* The one shared part: a linear-probing table of 16-byte cells. It is the control variable of the comparisons: where
 * two strategies both use it, they differ only in what is being compared.
 *
 *     cells   [key|count][key|count][  0  ][key|count] ...      a power of two of them; count 0 = empty
 *
 * No key value is special: a cell is empty when its count is 0, and a group's count never is. The slot comes from the
 * top bits of the hash, after `skip` bits that another level (a partition number) has already used up: the top bits of
 * hash * 2^skip. Keys may be made so that these are the same for all of them, and then every look-up passes all groups
 * before its own. The hash as a whole still tells them apart, so a table that finds, when it grows, that its groups are
 * far from where they belong multiplies it by another number from then on. Looking at every new group would notice keys
 * that turn bad later, too, but took 10 percent more instructions a row. */
#ifndef AGB_LINEAR_TABLE_H
#define AGB_LINEAR_TABLE_H

#include "aggregator.h"

typedef struct linear_cell {
    uint64_t key, count;
} linear_cell;

typedef struct linear_table {
    linear_cell *cells;
    size_t mask;         /* cells - 1 */
    uint64_t multiplier; /* of the hash, to bring bits that differ to the top */
    unsigned shift;      /* 64 - log2(cells) */
    unsigned load;       /* most occupied cells, in percent */
    size_t groups;       /* occupied cells */
    size_t limit;        /* at this number of groups the table must grow */
    agb_hash hash;
} linear_table;

/* Cells between a group and its home, on the average: of random hashes fewer than 5 in a table 90 percent full. */
enum { MOST_STRAYED = 8 };

/* Odd, without pattern (the square root of one half in binary), and far from the multiplier of the shared hash. */
#define LINEAR_SPREAD UINT64_C(0xb504f333f9de6485)

static inline size_t linear_table_bytes(const linear_table *t)
{
    return (t->mask + 1) * sizeof *t->cells;
}

/* At how many groups a table grows. */
static inline size_t linear_limit(size_t cells, unsigned load)
{
    return cells / 100 * load + cells % 100 * load / 100;
}

/* The multiplier that follows one which did not spread a table's groups. */
static inline uint64_t linear_next_multiplier(uint64_t multiplier)
{
    return (multiplier | 1) * LINEAR_SPREAD;
}

/* bits: log2 of the number of cells, 4..48. false: no memory. */
static inline bool linear_table_open(linear_table *t, agb_host *host, unsigned bits, unsigned skip, unsigned load,
                                     agb_hash hash)
{
    size_t cells = (size_t)1 << bits;
    linear_cell *memory = (linear_cell *)agb_alloc(host, cells * sizeof(linear_cell), AGB_ZEROED);
    if (!memory)
        return false;
    *t = (linear_table){.cells = memory, .mask = cells - 1, .multiplier = UINT64_C(1) << skip,
                        .shift = 64 - bits, .load = load, .limit = linear_limit(cells, load), .hash = hash};
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
    return &t->cells[(hash * t->multiplier) >> t->shift];
}

/* Adds weight to the key's group. The caller has made room: groups < limit, or the key is known to be there. */
static inline void linear_table_add(linear_table *t, uint64_t hash, uint64_t key, uint64_t weight)
{
    size_t slot = (hash * t->multiplier) >> t->shift;
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

/* Other cells, or another multiplier; false: no memory, and the table is as it was. *crowded: whether its groups were
 * farther from home than chance brings them. */
static inline bool linear_table_move(linear_table *t, agb_host *host, unsigned bits, uint64_t multiplier, bool *crowded)
{
    linear_table to;
    size_t strayed = 0;
    if (!linear_table_open(&to, host, bits, 0, t->load, t->hash))
        return false;
    to.multiplier = multiplier;
    for (size_t i = 0; i <= t->mask; i++) {
        if (t->cells[i].count == 0)
            continue;
        uint64_t hash = agb_hash_word(t->hash, t->cells[i].key);
        strayed += (i - ((hash * t->multiplier) >> t->shift)) & t->mask;
        linear_table_add(&to, hash, t->cells[i].key, t->cells[i].count);
    }
    *crowded = strayed > MOST_STRAYED * t->groups;
    linear_table_close(t, host);
    *t = to;
    return true;
}

/* Twice the cells, and another multiplier where the table turns out to have been crowded; false: no memory. */
static inline bool linear_table_grow(linear_table *t, agb_host *host)
{
    bool crowded;
    unsigned bits = 64 - t->shift + 1;
    return linear_table_move(t, host, bits, t->multiplier, &crowded) &&
           (!crowded || linear_table_move(t, host, bits, linear_next_multiplier(t->multiplier), &crowded));
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

/* Rows ahead whose cells are asked for: about as many lines as a core waits for at once. */
enum { LINEAR_AHEAD = 16 };

/* Adds n words, each a key, or with `weighted` a key and its weight in turn; false: no memory. far: the table lies
 * beyond L2, and its cells are asked for ahead. */
static inline bool linear_table_count(linear_table *t, agb_host *host, const uint64_t *words, size_t n, bool weighted,
                                      bool far)
{
    size_t step = weighted ? 2 : 1, ahead = LINEAR_AHEAD * step;
    if (!linear_table_reserve(t, host, n / step))
        return false;
    for (size_t i = 0; i < n; i += step) {
        if (far && i + ahead < n)
            __builtin_prefetch(linear_table_home(t, agb_hash_word(t->hash, words[i + ahead])), 1);
        linear_table_add(t, agb_hash_word(t->hash, words[i]), words[i], weighted ? words[i + 1] : 1);
    }
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
