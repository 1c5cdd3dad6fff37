/* SPDX-License-Identifier: MIT */
/* From a column to batches: wide columns are lent as they stand, narrow ones are widened and NULL rows left out, a
 * batch at a time, into a buffer that stays in cache. */
#include "batch.h"

#include <stdlib.h>

agb_status agb_batcher_create(agb_batcher *b, const agb_column *column, const uint64_t *weights, uint64_t rows,
                              size_t batch_rows, agb_error *err)
{
    *b = (agb_batcher){.column = *column, .weights = weights, .rows = rows, .batch_rows = batch_rows};
    bool wide = agb_type_bytes(column->type) == sizeof(uint64_t);
    if (!wide || column->nulls)
        b->words = malloc(batch_rows * sizeof *b->words);
    if (weights && column->nulls)
        b->kept_weights = malloc(batch_rows * sizeof *b->kept_weights);
    if (((!wide || column->nulls) && !b->words) || (weights && column->nulls && !b->kept_weights)) {
        agb_batcher_release(b);
        return agb_fail(err, AGB_ERR_MEMORY, "batch: no memory for %zu rows", batch_rows);
    }
    return AGB_OK;
}

void agb_batcher_release(agb_batcher *b)
{
    free(b->words);
    free(b->kept_weights);
    *b = (agb_batcher){0};
}

uint64_t agb_batch_count(uint64_t rows, size_t batch_rows)
{
    return rows / batch_rows + (rows % batch_rows != 0);
}

static void widen(uint64_t *words, const agb_column *column, uint64_t first, size_t rows)
{
    switch (column->type) {
    case AGB_TYPE_INT32:
        for (size_t i = 0; i < rows; i++)
            words[i] = (uint64_t)(int64_t)((const int32_t *)column->values)[first + i];
        break;
    case AGB_TYPE_UINT32:
        for (size_t i = 0; i < rows; i++)
            words[i] = ((const uint32_t *)column->values)[first + i];
        break;
    case AGB_TYPE_BOOL:
        for (size_t i = 0; i < rows; i++)
            words[i] = ((const uint8_t *)column->values)[first + i];
        break;
    default:    /* 64 bits wide already */
        for (size_t i = 0; i < rows; i++)
            words[i] = ((const uint64_t *)column->values)[first + i];
    }
}

/* Moves the values of rows that are not NULL together; returns how many there are. */
static size_t leave_out_nulls(uint64_t *words, const uint64_t *from, const uint8_t *nulls, size_t rows)
{
    size_t kept = 0;
    for (size_t i = 0; i < rows; i++) {
        words[kept] = from[i];
        kept += !nulls[i];
    }
    return kept;
}

size_t agb_batcher_at(agb_batcher *b, uint64_t number, agb_batch *batch)
{
    uint64_t first = number * b->batch_rows;
    size_t rows = b->rows - first < b->batch_rows ? (size_t)(b->rows - first) : b->batch_rows;
    *batch = (agb_batch){.rows = rows, .weights = b->weights ? b->weights + first : NULL};
    if (!b->words) {
        batch->keys = (const uint64_t *)b->column.values + first;
        return 0;
    }
    widen(b->words, &b->column, first, rows);
    batch->keys = b->words;
    if (!b->column.nulls)
        return 0;
    const uint8_t *nulls = b->column.nulls + first;
    if (b->weights)
        leave_out_nulls(b->kept_weights, b->weights + first, nulls, rows);
    batch->rows = leave_out_nulls(b->words, b->words, nulls, rows);
    batch->weights = b->kept_weights;
    return rows - batch->rows;
}
