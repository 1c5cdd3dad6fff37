/* SPDX-License-Identifier: MIT */
/* The three places groups can go: kept (collect), folded into a digest (checksum), or the largest kept (top).
 *
 * Each worker has its own lane, so emitting takes no lock. A lane of a collect sink is a list of blocks; a loan is a
 * stretch at the end of the last block, so an aggregator writes its result once, where it stays. The other two sinks
 * lend one block that they fold and use again. Strings are copied, because what they point to is the aggregator's. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Blocks double from 64 KiB to 16 MiB, so that a small result holds little and a large one few blocks. */
enum { FIRST_BLOCK_GROUPS = 1 << 12, LARGEST_BLOCK_GROUPS = 1 << 20, FIRST_TEXT_BYTES = 1 << 16,
       LARGEST_TEXT_BYTES = 1 << 21 };

typedef enum sink_kind { SINK_COLLECT, SINK_CHECKSUM, SINK_TOP } sink_kind;

typedef struct block {
    struct block *next;
    uint64_t *keys, *counts;    /* counts stand right behind the keys, in one piece of memory */
    size_t groups, room;
} block;

typedef struct text {    /* bytes of strings */
    struct text *older;
    size_t used, room;
    unsigned char bytes[];
} text;

typedef struct lane {
    block *first, *last;
    text *newest;
    agb_digest digest;
    agb_top top;       /* of a top sink; a string in it has a malloc of its own */
    uint64_t bytes;
    char apart[64];    /* lanes of different workers share no cache line */
} lane;

struct agb_sink {
    sink_kind kind;
    agb_key_kind keys;
    agb_memory *memory;
    bool owns_memory;
    unsigned lanes;
    lane *lane;
    size_t top;
    const agb_key_layout *layout;
};

_Static_assert(sizeof(agb_bytes) == 2 * sizeof(uint64_t), "a string and a pair take up two words");

static size_t key_words(const agb_sink *sink)
{
    return sink->keys == AGB_KEYS_WORD ? 1 : 2;
}

static size_t block_bytes(const agb_sink *sink, size_t room)
{
    return room * (key_words(sink) + 1) * sizeof(uint64_t);
}

/* ---- Folding ---- */

static agb_block show(const agb_sink *sink, const block *b, size_t groups)
{
    bool strings = sink->keys == AGB_KEYS_BYTES;
    return (agb_block){.kind = sink->keys, .groups = groups, .keys = strings ? NULL : b->keys, .counts = b->counts,
                       .bytes = strings ? (const agb_bytes *)(const void *)b->keys : NULL};
}

static uint64_t hash_key(const agb_block *b, size_t i)
{
    switch (b->kind) {
    case AGB_KEYS_WORD:
        return XXH3_64bits(&b->keys[i], sizeof *b->keys);
    case AGB_KEYS_PAIR:
        return XXH3_64bits(&b->keys[2 * i], 2 * sizeof *b->keys);
    default:
        return XXH3_64bits(b->bytes[i].data, b->bytes[i].length);
    }
}

static void fold(agb_digest *digest, const agb_block *b)
{
    digest->groups += b->groups;
    for (size_t i = 0; i < b->groups; i++) {
        digest->rows += b->counts[i];
        digest->checksum += hash_key(b, i) * b->counts[i];
        if (b->counts[i] > digest->max_count)
            digest->max_count = b->counts[i];
    }
}

static void merge(agb_digest *into, const agb_digest *from)
{
    into->groups += from->groups;
    into->rows += from->rows;
    into->checksum += from->checksum;
    if (from->max_count > into->max_count)
        into->max_count = from->max_count;
}

/* A string that gets in is copied, one that it pushes out is freed. */
static agb_status offer_string(agb_top *top, agb_group group)
{
    if (!agb_top_wants(top, &group))
        return AGB_OK;
    size_t length = group.key.bytes.length;
    unsigned char *copy = malloc(length + 1);
    if (!copy)
        return AGB_ERR_MEMORY;
    if (length)
        memcpy(copy, group.key.bytes.data, length);
    /* Freed afterwards: the offer compares with it. */
    void *pushed_out = top->n == top->room ? (void *)top->group[0].key.bytes.data : NULL;
    group.key.bytes.data = copy;
    agb_top_offer(top, group);
    free(pushed_out);
    return AGB_OK;
}

/* What checksum and top sinks do with groups. */
static agb_status fold_and_offer(agb_sink *sink, lane *l, const agb_block *b)
{
    agb_status status = AGB_OK;
    fold(&l->digest, b);
    for (size_t i = 0; i < b->groups && sink->kind == SINK_TOP && status == AGB_OK; i++) {
        if (b->kind == AGB_KEYS_BYTES)
            status = offer_string(&l->top, agb_block_group(b, i));
        else
            agb_top_offer(&l->top, agb_block_group(b, i));
    }
    return status;
}

/* ---- Opening and emptying ---- */

static agb_status create(agb_sink **out, sink_kind kind, size_t top, const agb_key_layout *layout, agb_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return agb_fail(err, AGB_ERR_MEMORY, "sink: no memory for an empty one");
    (*out)->kind = kind;
    (*out)->top = top;
    (*out)->layout = layout;
    return AGB_OK;
}

agb_status agb_sink_collect(agb_sink **out, agb_error *err)
{
    return create(out, SINK_COLLECT, 0, NULL, err);
}

agb_status agb_sink_checksum(agb_sink **out, agb_error *err)
{
    return create(out, SINK_CHECKSUM, 0, NULL, err);
}

agb_status agb_sink_top(agb_sink **out, size_t n, const agb_key_layout *layout, agb_error *err)
{
    return create(out, SINK_TOP, n, layout, err);
}

static void empty_lane(agb_sink *sink, lane *l)
{
    while (l->first) {
        block *b = l->first;
        l->first = b->next;
        agb_memory_release(sink->memory, AGB_OWNER_RESULT, b->keys, block_bytes(sink, b->room));
        free(b);
    }
    while (l->newest) {
        text *t = l->newest;
        l->newest = t->older;
        agb_memory_release(sink->memory, AGB_OWNER_RESULT, t, sizeof *t + t->room);
    }
    for (size_t i = 0; i < l->top.n && sink->keys == AGB_KEYS_BYTES; i++)
        free((void *)l->top.group[i].key.bytes.data);
    free(l->top.group);
}

static void empty(agb_sink *sink)
{
    for (unsigned i = 0; i < sink->lanes; i++)
        empty_lane(sink, &sink->lane[i]);
    free(sink->lane);
    if (sink->owns_memory)
        agb_memory_destroy(sink->memory);
    sink->lane = NULL;
    sink->lanes = 0;
    sink->memory = NULL;
    sink->owns_memory = false;
}

void agb_sink_destroy(agb_sink *sink)
{
    if (sink)
        empty(sink);
    free(sink);
}

agb_status agb_sink_open(agb_sink *sink, agb_key_kind kind, agb_memory *memory, bool owns_memory, unsigned workers,
                         agb_error *err)
{
    empty(sink);
    sink->keys = kind;
    sink->memory = memory;
    sink->owns_memory = owns_memory;
    sink->lane = calloc(workers, sizeof *sink->lane);
    if (!sink->lane)
        return agb_fail(err, AGB_ERR_MEMORY, "sink: no memory for %u workers", workers);
    sink->lanes = workers;
    for (unsigned i = 0; i < workers && sink->kind == SINK_TOP; i++) {
        sink->lane[i].top = (agb_top){calloc(sink->top + 1, sizeof(agb_group)), 0, sink->top, sink->layout, kind};
        if (!sink->lane[i].top.group)
            return agb_fail(err, AGB_ERR_MEMORY, "sink: no memory for the %zu largest groups", sink->top);
    }
    return AGB_OK;
}

/* ---- Taking groups ---- */

static block *add_block(agb_sink *sink, lane *l, size_t room)
{
    bool possible = room <= SIZE_MAX / block_bytes(sink, 1);
    block *b = possible ? calloc(1, sizeof *b) : NULL;
    if (!b)
        return NULL;
    b->room = room;
    b->keys = agb_memory_alloc(sink->memory, AGB_OWNER_RESULT, block_bytes(sink, room), 0);
    if (!b->keys) {
        free(b);
        return NULL;
    }
    b->counts = b->keys + room * key_words(sink);
    if (l->last)
        l->last->next = b;
    else
        l->first = b;
    l->last = b;
    l->bytes += block_bytes(sink, room);
    return b;
}

/* At least `least`, and twice the last one's within bounds. */
static size_t next_room(size_t last, size_t least, size_t first, size_t largest)
{
    size_t room = last ? 2 * last : first;
    if (room > largest)
        room = largest;
    return least > room ? least : room;
}

agb_status agb_sink_lend(agb_sink *sink, unsigned worker, size_t groups, uint64_t **keys, uint64_t **counts)
{
    lane *l = &sink->lane[worker];
    block *b = l->last;
    if (!b || b->room - b->groups < groups)
        b = add_block(sink, l, next_room(b ? b->room : 0, groups, FIRST_BLOCK_GROUPS, LARGEST_BLOCK_GROUPS));
    if (!b)
        return AGB_ERR_MEMORY;
    *keys = b->keys + b->groups * key_words(sink);
    *counts = b->counts + b->groups;
    return AGB_OK;
}

agb_status agb_sink_take(agb_sink *sink, unsigned worker, size_t groups)
{
    lane *l = &sink->lane[worker];
    block *b = l->last;
    if (groups > (b ? b->room - b->groups : 0))
        return AGB_ERR_CONTRACT;
    if (groups == 0)    /* perhaps without a loan, and then without a block */
        return AGB_OK;
    if (sink->kind != SINK_COLLECT) {
        agb_block shown = show(sink, b, groups);
        return fold_and_offer(sink, l, &shown);
    }
    b->groups += groups;
    return AGB_OK;
}

static unsigned char *reserve_text(agb_sink *sink, lane *l, size_t bytes)
{
    text *t = l->newest;
    if (!t || t->room - t->used < bytes) {
        size_t room = next_room(t ? t->room : 0, bytes, FIRST_TEXT_BYTES, LARGEST_TEXT_BYTES);
        t = agb_memory_alloc(sink->memory, AGB_OWNER_RESULT, sizeof *t + room, 0);
        if (!t)
            return NULL;
        *t = (text){.older = l->newest, .room = room};
        l->newest = t;
        l->bytes += sizeof *t + room;
    }
    return t->bytes + t->used;
}

agb_status agb_sink_take_bytes(agb_sink *sink, unsigned worker, const agb_bytes *keys, const uint64_t *counts,
                               size_t groups)
{
    lane *l = &sink->lane[worker];
    if (sink->kind != SINK_COLLECT)
        return fold_and_offer(sink, l, &(agb_block){AGB_KEYS_BYTES, groups, NULL, keys, counts});
    uint64_t *to_words, *to_counts;
    size_t bytes = 0;
    for (size_t i = 0; i < groups; i++)
        bytes += keys[i].length;
    agb_status status = agb_sink_lend(sink, worker, groups, &to_words, &to_counts);
    unsigned char *at = status == AGB_OK ? reserve_text(sink, l, bytes) : NULL;
    if (!at)
        return AGB_ERR_MEMORY;
    agb_bytes *to_keys = (agb_bytes *)(void *)to_words;
    for (size_t i = 0; i < groups; i++) {
        if (keys[i].length)
            memcpy(at, keys[i].data, keys[i].length);
        to_keys[i] = (agb_bytes){at, keys[i].length};
        to_counts[i] = counts[i];
        at += keys[i].length;
    }
    l->newest->used += bytes;
    return agb_sink_take(sink, worker, groups);
}

uint64_t agb_sink_bytes(const agb_sink *sink)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < sink->lanes; i++)
        bytes += sink->lane[i].bytes;
    return bytes;
}

/* ---- Reading ---- */

agb_group agb_block_group(const agb_block *block, size_t i)
{
    agb_group group = {.count = block->counts[i]};
    if (block->kind == AGB_KEYS_BYTES)
        group.key.bytes = block->bytes[i];
    else if (block->kind == AGB_KEYS_WORD)
        group.key.word = block->keys[i];
    else
        memcpy(group.key.pair, &block->keys[2 * i], sizeof group.key.pair);
    return group;
}

bool agb_sink_block(const agb_sink *sink, size_t wanted, agb_block *out)
{
    for (unsigned i = 0; i < sink->lanes && sink->kind == SINK_COLLECT; i++) {
        for (const block *b = sink->lane[i].first; b; b = b->next) {
            if (wanted-- == 0) {
                *out = show(sink, b, b->groups);
                return true;
            }
        }
    }
    return false;
}

agb_digest agb_sink_digest(const agb_sink *sink)
{
    agb_digest digest = {0};
    agb_block block;
    for (unsigned i = 0; i < sink->lanes; i++)
        merge(&digest, &sink->lane[i].digest);
    for (size_t i = 0; agb_sink_block(sink, i, &block); i++)
        fold(&digest, &block);
    return digest;
}

size_t agb_sink_top_groups(const agb_sink *sink, agb_group *groups, size_t n, const agb_key_layout *layout)
{
    if (sink->kind == SINK_CHECKSUM)
        return 0;
    if (sink->kind == SINK_TOP && n > sink->top)    /* beyond that the lanes do not know */
        n = sink->top;
    agb_top top = {groups, 0, n, layout, sink->keys};
    agb_block block;
    for (unsigned i = 0; i < sink->lanes; i++)
        for (size_t k = 0; k < sink->lane[i].top.n; k++)
            agb_top_offer(&top, sink->lane[i].top.group[k]);
    for (size_t i = 0; agb_sink_block(sink, i, &block); i++)
        for (size_t k = 0; k < block.groups; k++)
            agb_top_offer(&top, agb_block_group(&block, k));
    agb_top_sort(&top);
    return top.n;
}
