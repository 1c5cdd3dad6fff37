/* SPDX-License-Identifier: MIT */
/* Batches of keys, made one at a time. Each worker has a batcher of its own. */
#ifndef AGB_BATCH_H
#define AGB_BATCH_H

#include "internal.h"

/* What all batchers of a run have in common; borrowed. */
typedef struct agb_batch_source {
    const agb_table *table;
    const agb_key_layout *layout;
    const agb_selection *selection;    /* or NULL */
    const uint64_t *weights;           /* of all rows; or NULL */
    uint64_t rows;
    size_t batch_rows;                 /* at most AGB_MOST_BATCH_ROWS */
} agb_batch_source;

enum { AGB_MOST_BATCH_ROWS = 1 << 30 };    /* row numbers inside a batch have 32 bits */

typedef struct agb_batcher {
    const agb_batch_source *source;
    agb_column *column;            /* of each of the layout's columns; a constant has none */
    /* Own buffers, most of them of batch_rows; NULL where the columns can be lent as they stand. */
    uint32_t *selected;
    uint64_t *words, *keys, *weights;
    agb_bytes *bytes;
    unsigned char *text;           /* of strings made of several columns */
    size_t text_room;
} agb_batcher;

agb_status agb_batcher_create(agb_batcher *b, const agb_batch_source *source, agb_error *err);
void agb_batcher_release(agb_batcher *b);

uint64_t agb_batch_count(uint64_t rows, size_t batch_rows);
/* Batch `number` (0..count-1), valid until the next call. nulls: how many of its rows were NULL and left out. Fails
 * only for want of memory. */
agb_status agb_batcher_at(agb_batcher *b, uint64_t number, agb_batch *batch, size_t *nulls);

/* n values of an integer column as words, those at first + selected[i], or first + i when selected is NULL: lent as
 * they stand where that is possible, else in `room`. */
const uint64_t *agb_column_words(const agb_column *column, uint64_t first, size_t n, const uint32_t *selected,
                                 uint64_t *room);

#endif
