/* SPDX-License-Identifier: MIT */
/* Shared by runs and adaptive: a block of rows, and the runs of equal keys in it. */
#ifndef AGB_RUNS_PART_H
#define AGB_RUNS_PART_H

#include "keys_part.h"

enum { RUN_ROWS = 128 };

typedef struct run_block {
    uint32_t starts[RUN_ROWS + 1];
    agb_key keys[RUN_ROWS];           /* of the runs of pairs or strings, */
    uint64_t weights[RUN_ROWS];       /* and what each adds */
} run_block;

/* Fills starts and returns the number of runs. A run does not reach across blocks: at worst one look-up more in 128. */
PER_KIND size_t runs_find(run_block *runs, const agb_batch *block, agb_key_kind kind)
{
    size_t n = 1;
    runs->starts[0] = 0;
    for (size_t i = 1; i < block->rows; i++) {
        runs->starts[n] = (uint32_t)i;
        n += !keys_equal(batch_key(block, i, kind), batch_key(block, i - 1, kind), kind);
    }
    runs->starts[n] = (uint32_t)block->rows;
    return n;
}

static inline uint64_t runs_weight(const uint64_t *weights, size_t first, size_t end)
{
    if (!weights)
        return end - first;
    uint64_t sum = 0;
    for (size_t i = first; i < end; i++)
        sum += weights[i];
    return sum;
}

/* The runs of pairs or strings as a batch of their own: no string but the first one of its run will be hashed. */
PER_KIND agb_batch runs_collapse(run_block *runs, const agb_batch *block, agb_key_kind kind)
{
    size_t n = runs_find(runs, block, kind);
    for (size_t i = 0; i < n; i++) {
        runs->keys[i] = batch_key(block, runs->starts[i], kind);
        runs->weights[i] = runs_weight(block->weights, runs->starts[i], runs->starts[i + 1]);
    }
    agb_batch collapsed = {.rows = n, .weights = runs->weights};
    if (kind == AGB_KEYS_PAIR)
        collapsed.keys = runs->keys->pair;
    else
        collapsed.bytes = &runs->keys->bytes;
    return collapsed;
}

#endif
