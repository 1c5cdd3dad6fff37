/* SPDX-License-Identifier: MIT */
/* Batches of one column, made one at a time. Each worker has a batcher of its own. */
#ifndef AGB_BATCH_H
#define AGB_BATCH_H

#include "aggbench.h"

typedef struct agb_batcher {
    agb_column column;
    const uint64_t *weights;    /* of all rows; or NULL */
    uint64_t rows;
    size_t batch_rows;
    uint64_t *words, *kept_weights;    /* own buffers of batch_rows; NULL where the column can be lent as it stands */
} agb_batcher;

agb_status agb_batcher_create(agb_batcher *b, const agb_column *column, const uint64_t *weights, uint64_t rows,
                              size_t batch_rows, agb_error *err);
void agb_batcher_release(agb_batcher *b);

uint64_t agb_batch_count(uint64_t rows, size_t batch_rows);
/* Batch `number` (0..count-1), valid until the next call. Returns how many of its rows were NULL and left out. */
size_t agb_batcher_at(agb_batcher *b, uint64_t number, agb_batch *batch);

#endif
