/* SPDX-License-Identifier: MIT */
/* What the parts of the generator have in common: where a column is being written, and what a key looks like. */
#ifndef AGB_SYNTH_FILL_H
#define AGB_SYNTH_FILL_H

#include "loader.h"
#include "numbers.h"
#include "spec.h"

enum { AGB_SYNTH_BLOCK_ROWS = 65536 };    /* rows of one task: 512 KiB, to stay in a second-level cache */

typedef struct agb_synth_fill {
    const agb_synth_spec *spec;
    const agb_load *load;
    int64_t *values;    /* to be written */
    uint64_t rows;      /* of them: the first of spec->rows, and in natural order no more than are wanted */
    uint64_t done;      /* rows so far, added to by all workers */
} agb_synth_fill;

/* How group numbers become keys. Kept by value in the loops that write keys, so that the compiler knows it constant. */
typedef struct agb_synth_keys {
    agb_synth_shape shape;
    uint64_t number;    /* dense: the stride; low-zero: the shift; mixed: where the mixer starts */
} agb_synth_keys;

static inline agb_synth_keys agb_synth_keys_of(const agb_synth_spec *spec)
{
    agb_synth_keys keys = {(agb_synth_shape)spec->shape, agb_synth_word(spec->seed, AGB_SYNTH_KEYS, 0)};
    if (keys.shape == AGB_SYNTH_DENSE)
        keys.number = spec->stride ? spec->stride : 1;
    if (keys.shape == AGB_SYNTH_LOW_ZERO)
        keys.number = (uint64_t)__builtin_clzll(spec->groups | 1);
    return keys;
}

/* Different group numbers below 2^40 give different keys, whatever the shape. */
static inline int64_t agb_synth_key(agb_synth_keys keys, uint64_t group)
{
    static const uint64_t edges[4] = {0, UINT64_MAX, (uint64_t)1 << 63, INT64_MAX};
    switch (keys.shape) {
    case AGB_SYNTH_DENSE:
        return (int64_t)(group * keys.number);
    case AGB_SYNTH_LOW_ZERO:
        return (int64_t)(group << keys.number);
    case AGB_SYNTH_HIGH_EQUAL:
        return (int64_t)((uint64_t)0x7f3a5c << 40 | group);
    case AGB_SYNTH_EDGES:    /* even corners are counted up from, odd ones down from */
        return (int64_t)(group & 1 ? edges[group & 3] - (group >> 2) : edges[group & 3] + (group >> 2));
    case AGB_SYNTH_MIXED:
        break;
    }
    return (int64_t)agb_synth_mix(group + keys.number);
}

/* Tells the caller how far it is; only worker 0, the caller's own thread, speaks. */
static inline void agb_synth_advance(agb_synth_fill *fill, unsigned worker, uint64_t rows)
{
    uint64_t done = __atomic_add_fetch(&fill->done, rows, __ATOMIC_RELAXED);
    if (worker == 0 && fill->load->progress)
        fill->load->progress(fill->load->context, done, fill->rows);
}

/* Rows first..end-1 are block number `block`. */
static inline void agb_synth_block(const agb_synth_fill *fill, size_t block, uint64_t *first, uint64_t *end)
{
    *first = (uint64_t)block * AGB_SYNTH_BLOCK_ROWS;
    *end = fill->rows - *first < AGB_SYNTH_BLOCK_ROWS ? fill->rows : *first + AGB_SYNTH_BLOCK_ROWS;
}

/* Runs the task on all blocks. */
agb_status agb_synth_each_block(agb_synth_fill *fill, agb_task_fn task, void *argument, agb_error *err);
/* The same for any number of tasks. */
agb_status agb_synth_each(agb_synth_fill *fill, size_t tasks, agb_task_fn task, void *argument, agb_error *err);

/* Each fills all rows in the kind's natural order. */
agb_status agb_synth_fill_hits(agb_synth_fill *fill, agb_error *err);
agb_status agb_synth_fill_zipf(agb_synth_fill *fill, agb_error *err);
agb_status agb_synth_fill_plain(agb_synth_fill *fill, agb_error *err);    /* all others */

/* Brings the filled rows into another order. */
agb_status agb_synth_shuffle(agb_synth_fill *fill, agb_error *err);
agb_status agb_synth_sort(agb_synth_fill *fill, agb_error *err);

/* Ascending as signed numbers, in place, without memory of its own. */
void agb_synth_sort_keys(int64_t *keys, size_t n);

#endif
