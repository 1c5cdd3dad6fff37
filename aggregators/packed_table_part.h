/* SPDX-License-Identifier: MIT */
/* Counting the packed entries of one part (packed_list_part.h) in tables that stay in L2: the second half of what
 * best and adaptive share.
 *
 * THE CASCADE. An entry meets up to three tables, and each key ends up in exactly one of them:
 *
 *     first     direct-mapped, 8-byte slots      the first key to come owns a slot for good: every later entry of this
 *                                                key finds it, every entry of another key in this slot goes on
 *     second    the same, with another hash      takes nine tenths of what went on
 *     last      linear probing (linear_table.h)  takes all the rest; grows
 *
 * A probe sequence ends in a branch that cannot be predicted. A first-come table has no probe sequence: an entry that
 * is neither first nor of the owner is appended to a list whose length grows by 0 or 1. That nobody is ever moved or
 * evicted is what makes it exact. */
#ifndef AGB_PACKED_TABLE_PART_H
#define AGB_PACKED_TABLE_PART_H

#include "four_part.h"
#include "linear_table.h"
#include "packed_list_part.h"

enum { MISSES = 4096, MOST_AT_ONCE = 2 * MISSES };

/* ---- First-come tables ---- */

/* The same value, but the compiler does not know. It stands between two selections, which gcc would otherwise join to
 * one branch on "empty". */
PACKED_INLINE uint64_t packed_opaque(uint64_t value)
{
    __asm__("" : "+r"(value));
    return value;
}

typedef struct first_come {
    uint64_t *slots;         /* key bits of an entry | rows, of which there is at least one; 0 = empty */
    uint64_t *carries;       /* rows that did not fit into the slot's count; all 0 unless `carried` */
    unsigned shift;          /* 64 - log2(slots in use) */
    unsigned bits;           /* of the count field */
    uint64_t multiplier;     /* the other hash, where one is used */
    size_t room;             /* slots allocated; all are 0 between parts */
    bool carried;
} first_come;

static inline bool first_come_open(first_come *t, agb_host *host, const packing *p, size_t room, uint64_t multiplier)
{
    t->room = room;
    t->bits = p->bits;
    t->multiplier = multiplier;
    t->slots = (uint64_t *)agb_alloc(host, room * sizeof *t->slots, AGB_ZEROED);
    t->carries = (uint64_t *)agb_alloc(host, room * sizeof *t->carries, AGB_ZEROED);
    return t->slots && t->carries;
}

static inline void first_come_close(first_come *t, agb_host *host)
{
    agb_release(host, t->slots, t->room * sizeof *t->slots);
    agb_release(host, t->carries, t->room * sizeof *t->carries);
}

static inline void first_come_use(first_come *t, unsigned log2_slots)
{
    t->shift = 64 - log2_slots;
}

static inline size_t first_come_slots(const first_come *t)
{
    return (size_t)1 << (64 - t->shift);
}

/* The top bit of the count is set: move most of it away, but leave a row, so that the slot does not look empty. */
static __attribute__((noinline)) void first_come_carry(first_come *t, size_t slot)
{
    uint64_t moved = (UINT64_C(1) << (t->bits - 1)) - 1;
    t->slots[slot] -= moved;
    t->carries[slot] += moved;
    t->carried = true;
}

/* Counts one entry: all ones if it is of the slot's key or the slot was empty, else 0. `fixed` is a copy of t: the
 * compiler need not fear that a store to a slot changes it.
 *
 * No branch depends on data but the carry's, which is all but never taken. Compilers like to turn "empty or ours" into
 * branches (a quarter more time for all of best). Written as a selection and a mask, each behind a value that they
 * cannot see through, gcc 12 and clang 14 keep to cmov and sbb. */
PACKED_INLINE uint64_t first_come_step(first_come *t, first_come fixed, uint64_t entry, bool counted, bool remixed)
{
    uint64_t field = UINT64_C(1) << fixed.bits, key = counted ? entry & -field : entry;
    size_t slot = (remixed ? key * fixed.multiplier : entry) >> fixed.shift;
    uint64_t held = fixed.slots[slot];
    held = packed_opaque(held ? held : key);
    uint64_t ours = packed_opaque(-(uint64_t)((held ^ entry) < field));
    held = counted ? held + ((entry - key + 1) & ours) : held - ours;
    fixed.slots[slot] = held;
    if (packed_unlikely(held & field / 2))
        first_come_carry(t, slot);
    return ours;
}

/* Counts n entries, at most MOST_AT_ONCE; those whose slot belongs to another key are written to `missed`, in order;
 * returns how many. `missed` may be `entries`; up to eight words past the last miss are touched. Without `counted`
 * every entry is one row; `remixed` uses the table's own hash. As many lines from `ahead` on are asked for as entries
 * fill.
 *
 * Eight steps leave eight bits, and only afterwards are the misses moved together. Appending each entry to a list that
 * grows by 0 or 1 looks shorter, but then the place of a store waits for a comparison, and the loads behind it for the
 * place: 1.68 ns an entry instead of 1.61 on a Zen 4 core. The next chunk comes line by line, and only into L2 (into
 * L1, or a quarter or all of it at once: 7 % more time of the phase): the processor's own prefetcher cannot know where
 * it begins. */
PACKED_INLINE size_t first_come_count(first_come *t, const uint64_t *entries, size_t n, uint64_t *missed, bool counted,
                                      bool remixed, const void *ahead)
{
    uint8_t ours[MOST_AT_ONCE / 8];
    const first_come fixed = *t;
    size_t i = 0;
    for (; i + 8 <= n; i += 8) {
        uint64_t negative = 0;
        __builtin_prefetch((const uint64_t *)ahead + i, 0, 2);
#pragma GCC unroll 8
        for (size_t k = 8; k-- > 0;) {
            uint64_t all_ones = first_come_step(t, fixed, entries[i + k], counted, remixed);
            negative = 2 * negative + all_ones;
        }
        ours[i / 8] = (uint8_t)-negative;
    }
    size_t misses = words_leave_out(missed, entries, ours, i);
    for (; i < n; i++) {
        uint64_t entry = entries[i];
        missed[misses] = entry;
        misses += 1 + first_come_step(t, fixed, entry, counted, remixed);
    }
    return misses;
}

/* Adds rows to a key that has been counted before, if it owns its slot. */
static inline bool first_come_add(first_come *t, uint64_t key, uint64_t rows, bool remixed)
{
    size_t slot = (remixed ? key * t->multiplier : key) >> t->shift;
    if ((t->slots[slot] ^ key) >> t->bits)
        return false;
    t->carries[slot] += rows;
    t->carried = true;
    return true;
}

/* ---- Emitting ---- */

/* Moves n slots (a multiple of four) together, leaving the empty ones out and all of them 0; returns how many there
 * were. Their carries go to `counts` in step, if there are any. Up to four words are written past the last. */
PACKED_INLINE size_t packed_compact(uint64_t *to, uint64_t *counts, uint64_t *slots, uint64_t *carries, size_t n,
                                    bool carried)
{
    size_t found = 0;
    for (size_t i = 0; i < n; i += 4) {
        unsigned empty = four_zeros(slots + i);
        size_t taken = four_leave_out(to + found, slots + i, empty);
        *(four_words *)(slots + i) = (four_words){0};
        if (carried) {
            four_leave_out(counts + found, carries + i, empty);
            *(four_words *)(carries + i) = (four_words){0};
        }
        found += taken;
    }
    return found;
}

/* Turns slots of a part into keys and counts, four at a time: up to three words past n are touched. `carried`: counts
 * hold what does not stand in the slots. */
PACKED_INLINE void packed_unpack(const packing *p, size_t part, uint64_t *keys, uint64_t *counts, size_t n,
                                 bool carried)
{
    uint64_t top = (uint64_t)part << (64 - p->bits), field = (UINT64_C(1) << p->bits) - 1;
    for (size_t i = 0; i < n; i += 4) {
        four_words *key = (four_words *)(keys + i), *count = (four_words *)(counts + i);
        four_words slot = *key;
        *count = carried ? *count + (slot & field) : slot & field;
        four_words mixed = (slot >> p->bits | top) * p->inverse;
        *key = mixed ^ (mixed >> 32 & p->hash.fold);
    }
}

/* Emits and empties a table. In pieces, because the sink reserves room for as many groups as it is asked for, and it is
 * not known how many slots are empty. */
static inline agb_status first_come_emit(first_come *t, agb_host *host, unsigned worker, const packing *p, size_t part,
                                         size_t *groups)
{
    size_t slots = first_come_slots(t), piece = slots < 4096 ? slots : 4096;
    for (size_t first = 0; first < slots; first += piece) {
        uint64_t *keys, *counts;
        agb_status status = agb_emit_begin(host, worker, piece + 4, &keys, &counts);
        if (status != AGB_OK)
            return status;
        size_t found;
        if (t->carried) {
            found = packed_compact(keys, counts, t->slots + first, t->carries + first, piece, true);
            packed_unpack(p, part, keys, counts, found, true);
        } else {
            found = packed_compact(keys, NULL, t->slots + first, NULL, piece, false);
            packed_unpack(p, part, keys, counts, found, false);
        }
        *groups += found;
        status = agb_emit_end(host, worker, found);
        if (status != AGB_OK)
            return status;
    }
    t->carried = false;
    return AGB_OK;
}

static inline agb_status packed_emit_last(linear_table *t, agb_host *host, unsigned worker, const packing *p,
                                          size_t part, size_t *groups)
{
    uint64_t *keys, *counts;
    if (t->groups == 0)
        return AGB_OK;
    agb_status status = agb_emit_begin(host, worker, t->groups + 4, &keys, &counts);
    if (status != AGB_OK)
        return status;
    size_t found = 0;
    for (size_t i = 0; i <= t->mask; i++) {
        keys[found] = t->cells[i].key;
        counts[found] = t->cells[i].count;
        found += t->cells[i].count != 0;
        t->cells[i].count = 0;
    }
    packed_unpack(p, part, keys, counts, found, true);
    *groups += found;
    t->groups = 0;
    return agb_emit_end(host, worker, found);
}

/* ---- The cascade ---- */

enum { LEAST_LOG2_SLOTS = 6, LAST_LOG2_CELLS = 10, LAST_LOAD = 60 };

/* Odd numbers without pattern (from the digits of pi), one for each level's hash. */
#define PACKED_FIRST UINT64_C(0x243f6a8885a308d3)
#define PACKED_SECOND UINT64_C(0x13198a2e03707345)
#define PACKED_LAST UINT64_C(0xa4093822299f31d1)
#define PACKED_SPLIT UINT64_C(0x082efa98ec4e6c89)

typedef struct cascade {        /* one a worker */
    agb_host *host;
    packing packing;
    first_come first, second;
    linear_table last;
    uint64_t *missed;           /* MOST_AT_ONCE entries that the first table did not take */
    size_t misses;
    bool counted;               /* some of them stand for more than one row */
    size_t most_slots;          /* of the first table */
    size_t groups;              /* of the part before; 0 at the beginning */
} cascade;

static inline unsigned log2_up(size_t value)
{
    unsigned log2 = 0;
    while ((size_t)1 << log2 < value)
        log2++;
    return log2;
}

/* most_slots: a power of two. */
static inline bool cascade_open(cascade *c, agb_host *host, const packing *p, size_t most_slots)
{
    *c = (cascade){.host = host, .packing = *p, .most_slots = most_slots};
    c->missed = (uint64_t *)agb_alloc(host, MOST_AT_ONCE * sizeof *c->missed, 0);
    return c->missed && first_come_open(&c->first, host, p, most_slots, PACKED_FIRST)
           && first_come_open(&c->second, host, p, most_slots / 2, PACKED_SECOND)
           && linear_table_open(&c->last, host, LAST_LOG2_CELLS, 0, LAST_LOAD, (agb_hash){0, PACKED_LAST});
}

static inline void cascade_close(cascade *c)
{
    agb_release(c->host, c->missed, MOST_AT_ONCE * sizeof *c->missed);
    first_come_close(&c->first, c->host);
    first_come_close(&c->second, c->host);
    linear_table_close(&c->last, c->host);
}

/* Sizes the tables for a part of n entries: a third to two thirds full if it has as many groups as the part before
 * (the hash sees to that, usually). The first part has no example: each of its entries may be a group. */
static inline void cascade_begin(cascade *c, size_t n)
{
    unsigned most = log2_up(c->most_slots);
    unsigned wanted = log2_up(c->groups ? c->groups + c->groups / 2 : n);
    if (wanted > log2_up(n))
        wanted = log2_up(n);
    unsigned first = wanted < LEAST_LOG2_SLOTS ? LEAST_LOG2_SLOTS : wanted > most ? most : wanted;
    first_come_use(&c->first, first);
    first_come_use(&c->second, first - 1);
    c->counted = false;
}

/* Misses of the first table go on to the others. false: no memory. */
static __attribute__((noinline)) bool cascade_pass_on(cascade *c)
{
    uint64_t field = UINT64_C(1) << c->packing.bits;
    size_t misses = c->counted ? first_come_count(&c->second, c->missed, c->misses, c->missed, true, true,
                                                  c->missed)
                               : first_come_count(&c->second, c->missed, c->misses, c->missed, false, true,
                                                  c->missed);
    c->misses = 0;
    if (!linear_table_reserve(&c->last, c->host, misses))
        return false;
    for (size_t i = 0; i < misses; i++) {
        uint64_t key = c->missed[i] & -field;
        linear_table_add(&c->last, key * PACKED_LAST, key, c->missed[i] - key + 1);
    }
    return true;
}

/* A list's entries, chunk by chunk from the newest. */
PACKED_INLINE bool cascade_count_list(cascade *c, uint64_t *place, arena *recycle, bool counted, bool remixed)
{
    c->counted |= counted;
    while (place) {
        packed_chunk *from = packed_chunk_of(place), *older = from->older;
        uint64_t *words = from->words + from->first;
        size_t entries = (size_t)(place - words);
        c->misses += first_come_count(&c->first, words, entries, c->missed + c->misses, counted, remixed,
                                      older ? older : from);
        if (c->misses > MISSES && !cascade_pass_on(c))
            return false;
        place = older ? older->words + PACKED_CHUNK_WORDS : NULL;
        if (recycle)
            arena_recycle(recycle, from);
    }
    return true;
}

/* The pairs of a part, after its entries: every key has its place by now. */
static inline bool cascade_count_pairs(cascade *c, uint64_t *place, bool remixed)
{
    while (place) {
        packed_chunk *from = packed_chunk_of(place);
        for (uint64_t *pair = from->words + from->first; pair < place; pair += 2) {
            uint64_t key = pair[0] << c->packing.bits;
            if (first_come_add(&c->first, key, pair[1], remixed) || first_come_add(&c->second, key, pair[1], true))
                continue;
            if (!linear_table_reserve(&c->last, c->host, 1))
                return false;
            linear_table_add(&c->last, key * PACKED_LAST, key, pair[1]);
        }
        place = packed_chunk_before(place);
    }
    return true;
}

/* A part with far too many groups has left a table behind that is slow to search for groups: back to a small one. */
static inline bool cascade_shrink_last(cascade *c)
{
    if (c->last.mask < c->most_slots)
        return true;
    linear_table_close(&c->last, c->host);
    return linear_table_open(&c->last, c->host, LAST_LOG2_CELLS, 0, LAST_LOAD, (agb_hash){0, PACKED_LAST});
}

/* Emits all groups of the part and empties the tables. */
static inline agb_status cascade_emit(cascade *c, unsigned worker, size_t part)
{
    c->groups = 0;
    agb_status status = first_come_emit(&c->first, c->host, worker, &c->packing, part, &c->groups);
    if (status == AGB_OK)
        status = first_come_emit(&c->second, c->host, worker, &c->packing, part, &c->groups);
    if (status == AGB_OK)
        status = packed_emit_last(&c->last, c->host, worker, &c->packing, part, &c->groups);
    return status == AGB_OK && !cascade_shrink_last(c) ? AGB_ERR_MEMORY : status;
}

#endif
