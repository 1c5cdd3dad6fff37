/* SPDX-License-Identifier: MIT */
/* Shared by chained and amac: a hash table of linked nodes, the kind that most standard libraries have.
 *
 *     heads   [ *-][ 0 ][ *-][ 0 ] ...              a power of two of pointers; the slot is the top bits of the hash
 *               |          '-> [next|key|count] -> [0|key|count]
 *               '-> [0|key|count]                   nodes of 24 bytes, cut from slabs in order of arrival
 *
 * A chain can be longer than one would like, but never full: it may be made to grow late, at a moment when nobody is
 * holding a pointer into it, which is also the moment to see whether keys crowd on few heads. Nodes never move. */
#ifndef AGB_CHAIN_PART_H
#define AGB_CHAIN_PART_H

#include "linear_table.h"

#include <string.h>

typedef struct chain_node {
    struct chain_node *next;
    uint64_t key, count;
} chain_node;

enum { CHAIN_SLAB_NODES = 8192 /* 192 KiB */, FIRST_CHAIN_LIMIT = 64 };

typedef struct chain_slab {
    struct chain_slab *older;
    size_t nodes;                                /* cut from it */
    chain_node node[CHAIN_SLAB_NODES];
} chain_slab;

typedef struct chain_table {
    agb_host *host;
    agb_hash hash;           /* the run's, or after crowding one that brings other bits to the top */
    chain_node **heads;
    unsigned shift;          /* 64 - log2(heads) */
    size_t groups, limit;    /* limit: at more groups than that, are the heads too few, or too few of them used? */
    chain_slab *slabs;
} chain_table;

static inline size_t chain_heads(const chain_table *t)
{
    return (size_t)1 << (64 - t->shift);
}

static inline chain_node **chain_head(const chain_table *t, uint64_t key)
{
    return &t->heads[agb_hash_word(t->hash, key) >> t->shift];
}

/* false: no memory. */
static inline bool chain_open(chain_table *t, agb_host *host, unsigned bits, agb_hash hash)
{
    *t = (chain_table){.host = host, .hash = hash, .shift = 64 - bits};
    t->limit = chain_heads(t) < FIRST_CHAIN_LIMIT ? chain_heads(t) : FIRST_CHAIN_LIMIT;
    t->heads = (chain_node **)agb_alloc(host, chain_heads(t) * sizeof *t->heads, AGB_ZEROED);
    return t->heads != NULL;
}

static inline void chain_close(chain_table *t)
{
    while (t->slabs) {
        chain_slab *newest = t->slabs;
        t->slabs = newest->older;
        agb_release(t->host, newest, sizeof *newest);
    }
    agb_release(t->host, t->heads, chain_heads(t) * sizeof *t->heads);
}

/* Hangs a new node at the end of a chain: *link is NULL. false: no memory. */
static inline bool chain_append(chain_table *t, chain_node **link, uint64_t key, uint64_t count)
{
    if (!t->slabs || t->slabs->nodes == CHAIN_SLAB_NODES) {
        chain_slab *added = (chain_slab *)agb_alloc(t->host, sizeof *added, 0);
        if (!added)
            return false;
        added->older = t->slabs;
        added->nodes = 0;
        t->slabs = added;
    }
    chain_node *node = &t->slabs->node[t->slabs->nodes++];
    *node = (chain_node){NULL, key, count};
    *link = node;
    t->groups++;
    return true;
}

/* Hangs every node anew: the heads are all NULL. */
static inline void chain_hang(chain_table *t)
{
    for (chain_slab *s = t->slabs; s; s = s->older) {
        for (size_t i = 0; i < s->nodes; i++) {
            chain_node **head = chain_head(t, s->node[i].key);
            s->node[i].next = *head;
            *head = &s->node[i];
        }
    }
}

/* Has less than half of the groups a head of its own? Of random ones nearly two thirds have. A sample is enough. */
static inline bool chain_is_crowded(const chain_table *t)
{
    size_t heads = chain_heads(t), stride = heads > 1 << 12 ? 17 : 1, used = 0;
    for (size_t i = 0; i < heads; i += stride)
        used += t->heads[i] != NULL;
    return used * stride < t->groups / 2;
}

/* Twice the heads until there is one per group, and another hash if keys share too few of them. false: no memory. */
static inline bool chain_grow(chain_table *t)
{
    size_t heads = chain_heads(t);
    unsigned shift = t->shift;
    for (; t->groups > (size_t)1 << (64 - shift); shift--)
        ;
    if (shift != t->shift) {
        chain_node **wider = (chain_node **)agb_alloc(t->host, ((size_t)1 << (64 - shift)) * sizeof *wider, AGB_ZEROED);
        if (!wider)
            return false;
        agb_release(t->host, t->heads, heads * sizeof *t->heads);
        t->heads = wider;
        t->shift = shift;
        chain_hang(t);
    }
    if (chain_is_crowded(t)) {
        t->hash.multiplier = linear_next_multiplier(t->hash.multiplier);
        memset(t->heads, 0, chain_heads(t) * sizeof *t->heads);
        chain_hang(t);
    }
    t->limit = 2 * t->groups < chain_heads(t) ? 2 * t->groups : chain_heads(t);
    return true;
}

/* Growth when it is due; false: no memory. */
static inline bool chain_settle(chain_table *t)
{
    return t->groups <= t->limit || chain_grow(t);
}

/* The slabs hold nothing but groups: no slot is looked at. */
static inline agb_status chain_emit(const chain_table *t)
{
    for (const chain_slab *s = t->slabs; s; s = s->older) {
        uint64_t *keys, *counts;
        agb_status status = agb_emit_begin(t->host, 0, s->nodes, &keys, &counts);
        for (size_t i = 0; status == AGB_OK && i < s->nodes; i++) {
            keys[i] = s->node[i].key;
            counts[i] = s->node[i].count;
        }
        if (status == AGB_OK)
            status = agb_emit_end(t->host, 0, s->nodes);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

#endif
