/* SPDX-License-Identifier: MIT */
/* The three places groups can go: kept (collect), folded into a digest (checksum), or the largest kept (top).
 *
 * Each worker has its own lane, so emitting takes no lock. A lane of a collect sink is a list of blocks; a loan is a
 * stretch at the end of the last block, so an aggregator writes its result once, where it stays. The other two sinks
 * lend one block that they fold and use again. */
#include "internal.h"

#include <stdlib.h>
#include <string.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

/* Blocks double from 64 KiB to 2 MiB, so that a small result holds little and a large one few blocks. */
enum { FIRST_BLOCK_GROUPS = 1 << 12, LARGEST_BLOCK_GROUPS = 1 << 17 };

typedef enum sink_kind { SINK_COLLECT, SINK_CHECKSUM, SINK_TOP } sink_kind;

typedef struct block {
    struct block *next;
    uint64_t *keys, *counts;    /* counts stand right behind the keys, in one piece of memory */
    size_t groups, room;
} block;

typedef struct heap {    /* the n largest so far; the root is the smallest of them */
    agb_group *group;
    size_t n, room;
    bool signed_keys;
} heap;

typedef struct lane {
    block *first, *last;
    agb_digest digest;
    heap top;
    uint64_t bytes;
    char apart[64];    /* lanes of different workers share no cache line */
} lane;

struct agb_sink {
    sink_kind kind;
    agb_memory *memory;
    bool owns_memory;
    unsigned lanes;
    lane *lane;
    size_t top;
    bool signed_keys;
};

/* ---- Folding ---- */

static void fold(agb_digest *digest, const uint64_t *keys, const uint64_t *counts, size_t groups)
{
    digest->groups += groups;
    for (size_t i = 0; i < groups; i++) {
        digest->rows += counts[i];
        digest->checksum += XXH3_64bits(&keys[i], sizeof keys[i]) * counts[i];
        if (counts[i] > digest->max_count)
            digest->max_count = counts[i];
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

/* Does a come before b in a top list: larger count, then smaller key. */
static bool ranks_before(agb_group a, agb_group b, bool signed_keys)
{
    if (a.count != b.count)
        return a.count > b.count;
    return signed_keys ? (int64_t)a.key < (int64_t)b.key : a.key < b.key;
}

static void sift_down(heap *h, size_t at)
{
    for (size_t child; (child = 2 * at + 1) < h->n; at = child) {
        if (child + 1 < h->n && ranks_before(h->group[child], h->group[child + 1], h->signed_keys))
            child++;
        if (!ranks_before(h->group[at], h->group[child], h->signed_keys))
            return;
        agb_group swapped = h->group[at];
        h->group[at] = h->group[child];
        h->group[child] = swapped;
    }
}

static void heap_offer(heap *h, agb_group group)
{
    if (h->n < h->room) {
        h->group[h->n++] = group;
        if (h->n == h->room)
            for (size_t i = h->n / 2; i-- > 0;)
                sift_down(h, i);
    } else if (h->room && ranks_before(group, h->group[0], h->signed_keys)) {
        h->group[0] = group;
        sift_down(h, 0);
    }
}

/* ---- Opening and emptying ---- */

static agb_status create(agb_sink **out, sink_kind kind, size_t top, bool signed_keys, agb_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return agb_fail(err, AGB_ERR_MEMORY, "sink: no memory for an empty one");
    (*out)->kind = kind;
    (*out)->top = top;
    (*out)->signed_keys = signed_keys;
    return AGB_OK;
}

agb_status agb_sink_collect(agb_sink **out, agb_error *err)
{
    return create(out, SINK_COLLECT, 0, false, err);
}

agb_status agb_sink_checksum(agb_sink **out, agb_error *err)
{
    return create(out, SINK_CHECKSUM, 0, false, err);
}

agb_status agb_sink_top(agb_sink **out, size_t n, bool signed_keys, agb_error *err)
{
    return create(out, SINK_TOP, n, signed_keys, err);
}

static void empty(agb_sink *sink)
{
    for (unsigned i = 0; i < sink->lanes; i++) {
        lane *l = &sink->lane[i];
        while (l->first) {
            block *b = l->first;
            l->first = b->next;
            agb_memory_release(sink->memory, AGB_OWNER_RESULT, b->keys, 2 * b->room * sizeof *b->keys);
            free(b);
        }
        free(l->top.group);
    }
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

agb_status agb_sink_open(agb_sink *sink, agb_memory *memory, bool owns_memory, unsigned workers, agb_error *err)
{
    empty(sink);
    sink->memory = memory;
    sink->owns_memory = owns_memory;
    sink->lane = calloc(workers, sizeof *sink->lane);
    if (!sink->lane)
        return agb_fail(err, AGB_ERR_MEMORY, "sink: no memory for %u workers", workers);
    sink->lanes = workers;
    for (unsigned i = 0; i < workers && sink->kind == SINK_TOP; i++) {
        sink->lane[i].top = (heap){calloc(sink->top + 1, sizeof(agb_group)), 0, sink->top, sink->signed_keys};
        if (!sink->lane[i].top.group)
            return agb_fail(err, AGB_ERR_MEMORY, "sink: no memory for the %zu largest groups", sink->top);
    }
    return AGB_OK;
}

/* ---- Taking groups ---- */

static block *add_block(agb_sink *sink, lane *l, size_t room)
{
    block *b = calloc(1, sizeof *b);
    if (!b)
        return NULL;
    b->room = room;
    b->keys = agb_memory_alloc(sink->memory, AGB_OWNER_RESULT, 2 * room * sizeof *b->keys, 0);
    if (!b->keys) {
        free(b);
        return NULL;
    }
    b->counts = b->keys + room;
    if (l->last)
        l->last->next = b;
    else
        l->first = b;
    l->last = b;
    l->bytes += 2 * room * sizeof *b->keys;
    return b;
}

static size_t next_room(const block *last, size_t groups)
{
    size_t room = last ? 2 * last->room : FIRST_BLOCK_GROUPS;
    if (room > LARGEST_BLOCK_GROUPS)
        room = LARGEST_BLOCK_GROUPS;
    return groups > room ? groups : room;
}

agb_status agb_sink_lend(agb_sink *sink, unsigned worker, size_t groups, uint64_t **keys, uint64_t **counts)
{
    lane *l = &sink->lane[worker];
    block *b = l->last;
    if (!b || b->room - b->groups < groups)
        b = add_block(sink, l, next_room(b, groups));
    if (!b)
        return AGB_ERR_MEMORY;
    *keys = b->keys + b->groups;
    *counts = b->counts + b->groups;
    return AGB_OK;
}

agb_status agb_sink_take(agb_sink *sink, unsigned worker, size_t groups)
{
    lane *l = &sink->lane[worker];
    block *b = l->last;
    if (groups > (b ? b->room - b->groups : 0))
        return AGB_ERR_CONTRACT;
    if (sink->kind == SINK_COLLECT) {
        b->groups += groups;
    } else if (groups) {
        fold(&l->digest, b->keys, b->counts, groups);
        for (size_t i = 0; i < groups && sink->kind == SINK_TOP; i++)
            heap_offer(&l->top, (agb_group){b->keys[i], b->counts[i]});
    }
    return AGB_OK;
}

uint64_t agb_sink_bytes(const agb_sink *sink)
{
    uint64_t bytes = 0;
    for (unsigned i = 0; i < sink->lanes; i++)
        bytes += sink->lane[i].bytes;
    return bytes;
}

/* ---- Reading ---- */

bool agb_sink_block(const agb_sink *sink, size_t wanted, const uint64_t **keys, const uint64_t **counts, size_t *groups)
{
    if (sink->kind != SINK_COLLECT)
        return false;
    for (unsigned i = 0; i < sink->lanes; i++) {
        for (const block *b = sink->lane[i].first; b; b = b->next) {
            if (wanted-- == 0) {
                *keys = b->keys;
                *counts = b->counts;
                *groups = b->groups;
                return true;
            }
        }
    }
    return false;
}

agb_digest agb_sink_digest(const agb_sink *sink)
{
    agb_digest digest = {0};
    for (unsigned i = 0; i < sink->lanes; i++) {
        merge(&digest, &sink->lane[i].digest);
        for (const block *b = sink->lane[i].first; b && sink->kind == SINK_COLLECT; b = b->next)
            fold(&digest, b->keys, b->counts, b->groups);
    }
    return digest;
}

static void offer_lane(heap *h, const agb_sink *sink, const lane *l)
{
    if (sink->kind == SINK_TOP)
        for (size_t i = 0; i < l->top.n; i++)
            heap_offer(h, l->top.group[i]);
    else
        for (const block *b = l->first; b; b = b->next)
            for (size_t i = 0; i < b->groups; i++)
                heap_offer(h, (agb_group){b->keys[i], b->counts[i]});
}

size_t agb_sink_top_groups(const agb_sink *sink, agb_group *groups, size_t n, bool signed_keys)
{
    if (sink->kind == SINK_CHECKSUM)
        return 0;
    if (sink->kind == SINK_TOP && n > sink->top)    /* beyond that the lanes do not know */
        n = sink->top;
    heap h = {groups, 0, n, signed_keys};
    for (unsigned i = 0; i < sink->lanes; i++)
        offer_lane(&h, sink, &sink->lane[i]);
    size_t found = h.n;
    if (found < h.room)    /* fewer than were asked for: not a heap yet */
        for (size_t i = found / 2; i-- > 0;)
            sift_down(&h, i);
    while (h.n > 1) {    /* the root ranks last: move it to the end, again and again */
        agb_group last = h.group[0];
        h.group[0] = h.group[--h.n];
        h.group[h.n] = last;
        sift_down(&h, 0);
    }
    return found;
}
