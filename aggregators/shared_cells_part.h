/* SPDX-License-Identifier: MIT */
/* Shared by atomics and shared_table: cells that several workers look up and claim at once, without a lock.
 *
 *     cells   [key|value][ 0 |  0  ][key|value] ...      linear probing; key 0 = nobody's
 *
 * A cell is claimed by one compare-and-swap of its key from 0, and belongs to that key for good. Whoever loses the race
 * sees the winner's key, and either it is his own, or he goes on. What the value means is up to the strategy. Key 0
 * cannot be told from an empty cell, so a strategy counts it elsewhere. After the "folklore" table of Maier, Sanders,
 * Dementiev, "Concurrent Hash Tables: Fast and General(?)!" (2016). */
#ifndef AGB_SHARED_CELLS_PART_H
#define AGB_SHARED_CELLS_PART_H

#include "aggregator.h"

#include <stdatomic.h>

typedef struct shared_cell {
    _Atomic uint64_t key, value;
} shared_cell;

typedef enum claim { CLAIMED, PRESENT, LOST } claim;

/* Claims a cell for the key. PRESENT: it has been the key's already; LOST: now it is another's, look further. */
static inline claim shared_cell_claim(shared_cell *cell, uint64_t key)
{
    uint64_t found = 0;
    if (atomic_compare_exchange_strong_explicit(&cell->key, &found, key, memory_order_relaxed, memory_order_relaxed))
        return CLAIMED;
    return found == key ? PRESENT : LOST;
}

#endif
