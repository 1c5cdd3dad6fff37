/* SPDX-License-Identifier: MIT */
/* Shared: rows of a batch in and groups out, whatever kind their keys are of. A strategy is written once, in functions
 * that take the kind; at every call it is a constant, and the compiler makes one function of each: that of words is as
 * if there were no other kind. */
#ifndef AGB_KEYS_PART_H
#define AGB_KEYS_PART_H

#include "aggregator.h"

#include <string.h>

#define PER_KIND static inline __attribute__((always_inline))

enum { HASHED_ROWS = 64, STRINGS_OUT = 256 };

PER_KIND agb_key batch_key(const agb_batch *batch, size_t row, agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD)
        return (agb_key){.word = batch->keys[row]};
    return kind == AGB_KEYS_PAIR ? (agb_key){.pair = {batch->keys[2 * row], batch->keys[2 * row + 1]}}
                                 : (agb_key){.bytes = batch->bytes[row]};
}

/* The rows from `first` on, at most so many. */
static inline agb_batch batch_part(const agb_batch *batch, size_t first, size_t most, agb_key_kind kind)
{
    size_t left = batch->rows - first;
    return (agb_batch){.rows = left < most ? left : most,
                       .keys = batch->keys ? batch->keys + (kind == AGB_KEYS_PAIR ? 2 * first : first) : NULL,
                       .bytes = batch->bytes ? batch->bytes + first : NULL,
                       .weights = batch->weights ? batch->weights + first : NULL};
}

/* Rows are asked for in their order, from 0 on: strings are hashed so many ahead, into `ahead`. */
PER_KIND uint64_t batch_hash(agb_host *host, agb_hash hash, const agb_batch *batch, size_t row,
                             uint64_t ahead[HASHED_ROWS], agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD)
        return agb_hash_word(hash, batch->keys[row]);
    if (kind == AGB_KEYS_PAIR)
        return agb_hash_pair(hash, &batch->keys[2 * row]);
    size_t left = batch->rows - row;
    if (row % HASHED_ROWS == 0)
        agb_hash_bytes(host, batch->bytes + row, left < HASHED_ROWS ? left : HASHED_ROWS, ahead);
    return ahead[row % HASHED_ROWS];
}

PER_KIND bool keys_equal(agb_key a, agb_key b, agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD)
        return a.word == b.word;
    if (kind == AGB_KEYS_PAIR)
        return a.pair[0] == b.pair[0] && a.pair[1] == b.pair[1];
    return a.bytes.length == b.bytes.length &&
           (a.bytes.length == 0 || memcmp(a.bytes.data, b.bytes.data, a.bytes.length) == 0);
}

/* ---- Groups out ---- */

typedef struct groups_out {
    agb_host *host;
    unsigned worker;
    agb_status status;         /* of strings: what went wrong on the way */
    size_t n;                  /* written, or of strings: waiting */
    uint64_t *keys, *counts;   /* lent by the sink; strings go out by blocks of these: */
    agb_bytes strings[STRINGS_OUT];
    uint64_t string_counts[STRINGS_OUT];
} groups_out;

/* For at most so many groups. After a failure there is nothing to end. */
PER_KIND agb_status groups_out_begin(groups_out *o, agb_host *host, unsigned worker, size_t most, agb_key_kind kind)
{
    uint64_t *keys, *counts;    /* so that nobody else knows where *o is, and it can live in registers */
    agb_status status = kind == AGB_KEYS_BYTES ? AGB_OK : agb_emit_begin(host, worker, most, &keys, &counts);
    o->host = host;
    o->worker = worker;
    o->n = 0;
    o->status = status;
    o->keys = kind == AGB_KEYS_BYTES || status != AGB_OK ? NULL : keys;
    o->counts = kind == AGB_KEYS_BYTES || status != AGB_OK ? NULL : counts;
    return status;
}

static inline void groups_out_strings(groups_out *o)
{
    if (o->status == AGB_OK && o->n)
        o->status = agb_emit_bytes(o->host, o->worker, o->strings, o->string_counts, o->n);
    o->n = 0;
}

PER_KIND void groups_out_put(groups_out *o, agb_key key, uint64_t count, agb_key_kind kind)
{
    size_t i = o->n++;
    if (kind == AGB_KEYS_BYTES) {
        o->strings[i] = key.bytes;
        o->string_counts[i] = count;
        if (i + 1 == STRINGS_OUT)
            groups_out_strings(o);
        return;
    }
    o->keys[kind == AGB_KEYS_PAIR ? 2 * i : i] = key.pair[0];
    if (kind == AGB_KEYS_PAIR)
        o->keys[2 * i + 1] = key.pair[1];
    o->counts[i] = count;
}

PER_KIND agb_status groups_out_end(groups_out *o, agb_key_kind kind)
{
    if (kind != AGB_KEYS_BYTES)
        return agb_emit_end(o->host, o->worker, o->n);
    groups_out_strings(o);
    return o->status;
}

#endif
