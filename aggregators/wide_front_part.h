/* SPDX-License-Identifier: MIT */
/* Shared by preagg and adaptive: a small table in front of the parts for keys that do not fit a word.
 *
 *     front   [hash|row][hash|row][ 0 ] ...        16 bytes a cell, one cell a key could be in
 *                   '---------.
 *                              v
 *     part p  [key ... weight][key ... weight]     rows_part.h's, weighted
 *
 * Whoever enters the front is written to its part at once, and its cell remembers where; those that follow add to the
 * row's weight there. So a string is copied once, where it is needed in the end, to evict is to forget, and nothing is
 * left to be flushed. */
#ifndef AGB_WIDE_FRONT_PART_H
#define AGB_WIDE_FRONT_PART_H

#include "partitions_part.h"

typedef struct wide_front {
    uint64_t hash;
    uint64_t *row;      /* NULL: nobody's */
} wide_front;

/* Counts a batch; *misses: how many rows found another or nobody in their cell. */
PER_KIND agb_status wide_front_count_kind(wide_front *front, unsigned shift, partitions *p, writer *w,
                                          const agb_batch *batch, size_t *misses, agb_key_kind kind)
{
    uint64_t ahead[HASHED_ROWS];
    *misses = 0;
    for (size_t i = 0; i < batch->rows; i++) {
        uint64_t hash = batch_hash(p->host, p->hash, batch, i, ahead, kind);
        uint64_t weight = batch->weights ? batch->weights[i] : 1;
        agb_key key = batch_key(batch, i, kind);
        wide_front *cell = &front[hash >> shift];
        if (cell->row && cell->hash == hash && keys_equal(row_key(cell->row, kind, true), key, kind)) {
            *row_weight(cell->row, kind) += weight;
            continue;
        }
        uint64_t *row = row_push(&w->store, &w->far, &w->place[hash >> (64 - p->bits)], key, hash, weight, kind, true);
        if (!row)
            return AGB_ERR_MEMORY;
        *cell = (wide_front){hash, row};
        ++*misses;
    }
    return AGB_OK;
}

static inline agb_status wide_front_count(wide_front *front, unsigned shift, partitions *p, unsigned worker,
                                          const agb_batch *batch, size_t *misses)
{
    writer *w = &p->writer[worker];
    return batch->bytes ? wide_front_count_kind(front, shift, p, w, batch, misses, AGB_KEYS_BYTES)
                        : wide_front_count_kind(front, shift, p, w, batch, misses, AGB_KEYS_PAIR);
}

#endif
