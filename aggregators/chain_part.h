/* SPDX-License-Identifier: MIT */
/* Shared by chained and amac: a hash table of linked nodes, the kind that most standard libraries have.
 *
 *     heads   [ *-][ 0 ][ *-][ 0 ] ...              a power of two of pointers; the slot is the top bits of the hash
 *               |          '-> [next|count|key] -> [0|count|key]
 *               '-> [0|count|key]                   nodes, cut from slabs in order of arrival
 *
 *     word    [next|count|key]                      24 bytes
 *     pair    [next|count|key|key]                  32 bytes
 *     string  [next|count|hash|length|bytes...]     32 bytes and its own: a node may be as long as it needs to be
 *
 * A chain can be longer than one would like, but never full: it may be made to grow late, at a moment when nobody is
 * holding a pointer into it, which is also the moment to see whether keys crowd on few heads. Nodes never move. */
#ifndef AGB_CHAIN_PART_H
#define AGB_CHAIN_PART_H

#include "wide_table_part.h"

typedef struct chain_node {
    struct chain_node *next;
    uint64_t count, key[];
} chain_node;

enum { CHAIN_SLAB_BYTES = 192 << 10, FIRST_CHAIN_LIMIT = 64 };

typedef struct chain_slab {
    struct chain_slab *older;
    size_t bytes, used;      /* of nodes: room for, and cut so far */
    size_t nodes;
    unsigned char node[];
} chain_slab;

typedef struct chain_table {
    agb_host *host;
    agb_key_kind kind;
    agb_hash hash;
    uint64_t multiplier;     /* of the hash: after crowding, one that brings other bits to the top */
    chain_node **heads;
    unsigned shift;          /* 64 - log2(heads) */
    size_t groups, limit;    /* limit: at more groups than that, are the heads too few, or too few of them used? */
    chain_slab *slabs;
} chain_table;

static inline size_t chain_heads(const chain_table *t)
{
    return (size_t)1 << (64 - t->shift);
}

static inline chain_node **chain_head(const chain_table *t, uint64_t hash)
{
    return &t->heads[(hash * t->multiplier) >> t->shift];
}

/* false: no memory. */
static inline bool chain_open(chain_table *t, agb_host *host, unsigned bits, const agb_config *config)
{
    *t = (chain_table){.host = host, .kind = config->kind, .hash = config->hash, .multiplier = 1, .shift = 64 - bits};
    t->limit = chain_heads(t) < FIRST_CHAIN_LIMIT ? chain_heads(t) : FIRST_CHAIN_LIMIT;
    t->heads = (chain_node **)agb_alloc(host, chain_heads(t) * sizeof *t->heads, AGB_ZEROED);
    return t->heads != NULL;
}

static inline void chain_close(chain_table *t)
{
    while (t->slabs) {
        chain_slab *newest = t->slabs;
        t->slabs = newest->older;
        agb_release(t->host, newest, sizeof *newest + newest->bytes);
    }
    agb_release(t->host, t->heads, chain_heads(t) * sizeof *t->heads);
}

/* ---- Nodes ---- */

PER_KIND agb_key chain_node_key(const chain_node *node, agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD)
        return (agb_key){.word = node->key[0]};
    return kind == AGB_KEYS_PAIR ? (agb_key){.pair = {node->key[0], node->key[1]}}
                                 : (agb_key){.bytes = {(const unsigned char *)(node->key + 2), node->key[1]}};
}

PER_KIND uint64_t chain_node_hash(const chain_table *t, const chain_node *node, agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD)
        return agb_hash_word(t->hash, node->key[0]);
    return kind == AGB_KEYS_PAIR ? agb_hash_pair(t->hash, node->key) : node->key[0];
}

PER_KIND bool chain_node_is(const chain_node *node, agb_key key, uint64_t hash, agb_key_kind kind)
{
    return (kind != AGB_KEYS_BYTES || node->key[0] == hash) && keys_equal(chain_node_key(node, kind), key, kind);
}

PER_KIND size_t chain_node_bytes(agb_key key, agb_key_kind kind)
{
    if (kind == AGB_KEYS_WORD)
        return sizeof(chain_node) + 8;
    return sizeof(chain_node) + 16 + (kind == AGB_KEYS_BYTES ? (key.bytes.length + 7) / 8 * 8 : 0);
}

/* A slab has room for so many bytes after this; false: no memory. */
static inline bool chain_add_slab(chain_table *t, size_t least)
{
    size_t bytes = least < CHAIN_SLAB_BYTES ? CHAIN_SLAB_BYTES : least;
    chain_slab *added = (chain_slab *)agb_alloc(t->host, sizeof *added + bytes, 0);
    if (!added)
        return false;
    *added = (chain_slab){.older = t->slabs, .bytes = bytes};
    t->slabs = added;
    return true;
}

/* Hangs a new node at the end of a chain: *link is NULL. false: no memory. */
PER_KIND bool chain_append(chain_table *t, chain_node **link, agb_key key, uint64_t hash, uint64_t count,
                           agb_key_kind kind)
{
    size_t bytes = chain_node_bytes(key, kind);
    if ((!t->slabs || t->slabs->bytes - t->slabs->used < bytes) && !chain_add_slab(t, bytes))
        return false;
    chain_node *node = (chain_node *)&t->slabs->node[t->slabs->used];
    node->next = NULL;
    node->count = count;
    node->key[0] = kind == AGB_KEYS_BYTES ? hash : key.pair[0];
    if (kind != AGB_KEYS_WORD)
        node->key[1] = key.pair[1];
    if (kind == AGB_KEYS_BYTES && key.bytes.length)
        memcpy(node->key + 2, key.bytes.data, key.bytes.length);
    t->slabs->used += bytes;
    t->slabs->nodes++;
    *link = node;
    t->groups++;
    return true;
}

/* The node behind this one in its slab. */
PER_KIND chain_node *chain_node_after(chain_node *node, agb_key_kind kind)
{
    return (chain_node *)((unsigned char *)node + chain_node_bytes(chain_node_key(node, kind), kind));
}

/* ---- Growth ---- */

PER_KIND void chain_hang_kind(chain_table *t, agb_key_kind kind)
{
    for (chain_slab *s = t->slabs; s; s = s->older) {
        chain_node *node = (chain_node *)s->node;
        for (size_t i = 0; i < s->nodes; i++, node = chain_node_after(node, kind)) {
            chain_node **head = chain_head(t, chain_node_hash(t, node, kind));
            node->next = *head;
            *head = node;
        }
    }
}

/* Hangs every node anew: the heads are all NULL. */
static inline void chain_hang(chain_table *t)
{
    if (t->kind == AGB_KEYS_WORD)
        chain_hang_kind(t, AGB_KEYS_WORD);
    else if (t->kind == AGB_KEYS_PAIR)
        chain_hang_kind(t, AGB_KEYS_PAIR);
    else
        chain_hang_kind(t, AGB_KEYS_BYTES);
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
        t->multiplier = linear_next_multiplier(t->multiplier);
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

/* ---- The result: the slabs hold nothing but groups, no slot is looked at ---- */

PER_KIND agb_status chain_emit_slab(const chain_table *t, chain_slab *s, agb_key_kind kind)
{
    groups_out out;
    agb_status status = groups_out_begin(&out, t->host, 0, s->nodes, kind);
    if (status != AGB_OK)
        return status;
    chain_node *node = (chain_node *)s->node;
    for (size_t i = 0; i < s->nodes; i++, node = chain_node_after(node, kind))
        groups_out_put(&out, chain_node_key(node, kind), node->count, kind);
    return groups_out_end(&out, kind);
}

static inline agb_status chain_emit(const chain_table *t)
{
    agb_status status = AGB_OK;
    for (chain_slab *s = t->slabs; s && status == AGB_OK; s = s->older)
        status = t->kind == AGB_KEYS_WORD   ? chain_emit_slab(t, s, AGB_KEYS_WORD)
                 : t->kind == AGB_KEYS_PAIR ? chain_emit_slab(t, s, AGB_KEYS_PAIR)
                                            : chain_emit_slab(t, s, AGB_KEYS_BYTES);
    return status;
}

#endif
