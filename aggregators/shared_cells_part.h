/* SPDX-License-Identifier: MIT */
/* Shared by atomics and shared_table: cells that several workers look up and claim at once, without a lock.
 *
 *     of words              [label|value][  0  |  0  ][label|value] ...      linear probing; label 0 = nobody's
 *     of pairs and strings  [label|value|key: 2 words] ...
 *
 * A cell is claimed by one compare-and-swap of its label from 0, and belongs to that key for good. Whoever loses the
 * race looks again. What the value means is up to the strategy. After the "folklore" table of Maier, Sanders,
 * Dementiev, "Concurrent Hash Tables: Fast and General(?)!" (2016).
 *
 * The label of a word is the key itself; key 0 cannot be told from an empty cell, so a strategy counts it elsewhere. No
 * compare-and-swap takes a larger key whole, so its label is the hash, with one bit set; the claimant then writes the
 * key and after that the first value, which is never 0. Until it is there, those whose label is the same wait: it takes
 * the key to tell whether they belong here. */
#ifndef AGB_SHARED_CELLS_PART_H
#define AGB_SHARED_CELLS_PART_H

#include "keys_part.h"

#include <stdatomic.h>

typedef struct shared_cell {
    _Atomic uint64_t label, value;
} shared_cell;

typedef struct shared_wide_cell {
    shared_cell head;
    agb_key key;
} shared_wide_cell;

PER_KIND size_t shared_cell_bytes(agb_key_kind kind)
{
    return kind == AGB_KEYS_WORD ? sizeof(shared_cell) : sizeof(shared_wide_cell);
}

/* Cell number i of an array that starts there. */
PER_KIND shared_cell *shared_cell_at(void *cells, size_t i, agb_key_kind kind)
{
    return (shared_cell *)((unsigned char *)cells + i * shared_cell_bytes(kind));
}

PER_KIND agb_key shared_cell_key(const shared_cell *cell, agb_key_kind kind)
{
    return kind == AGB_KEYS_WORD ? (agb_key){.word = cell->label} : ((const shared_wide_cell *)cell)->key;
}

PER_KIND uint64_t shared_label(agb_key key, uint64_t hash, agb_key_kind kind)
{
    return kind == AGB_KEYS_WORD ? key.word : hash | 1;
}

/* The value as soon as it is there. What the claimant wrote before it can be read then. */
static inline uint64_t shared_cell_value(const shared_cell *cell)
{
    uint64_t value;
    while ((value = atomic_load_explicit(&cell->value, memory_order_acquire)) == 0)
        ;
    return value;
}

/* Is the cell, in which this label was found, the key's? */
PER_KIND bool shared_cell_is(const shared_cell *cell, uint64_t found, agb_key key, uint64_t label, agb_key_kind kind)
{
    if (found != label || kind == AGB_KEYS_WORD)
        return found == label;
    shared_cell_value(cell);
    return keys_equal(shared_cell_key(cell, kind), key, kind);
}

/* false: somebody else was faster. */
static inline bool shared_cell_claim(shared_cell *cell, uint64_t label)
{
    uint64_t nobody = 0;
    return atomic_compare_exchange_strong_explicit(&cell->label, &nobody, label, memory_order_relaxed,
                                                   memory_order_relaxed);
}

/* Says what is in a cell that was claimed. */
PER_KIND void shared_cell_settle(shared_cell *cell, agb_key key, uint64_t value, agb_key_kind kind)
{
    if (kind != AGB_KEYS_WORD)
        ((shared_wide_cell *)cell)->key = key;
    atomic_store_explicit(&cell->value, value, memory_order_release);
}

#endif
