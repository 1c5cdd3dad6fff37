/* SPDX-License-Identifier: MIT */
/* The memory that aggregators and results live in.
 *
 * Two kinds of block. Up to 1 MiB: size classes (four to a doubling) carved from 4 MiB slabs, with a free list each;
 * a release tells its size, so no header is needed. Above: a mapping of its own. In warm mode a released mapping is
 * kept and handed out to the next request that it fits (at most a quarter too large), so that a repetition finds its
 * memory faulted in, as in a server that has been running for a while; in fresh mode it goes back to the system at
 * once. When the system refuses a new mapping, what was kept for reuse is given up first.
 *
 * Guarded mode (tests): every block is a mapping that ends at an unmapped page; the up to 63 bytes between the block's
 * end and that page, and what lies between its beginning and another unmapped page before it, are filled with a pattern
 * that is checked at release. */
#include "internal.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum {
    LARGEST_SMALL_BYTES = 1 << 20,
    ASKED_BYTES = 256 << 20,    /* from here on, what is available is looked up: nothing beside as many page faults */
    SLAB_BYTES = 4 << 20,
    CLASSES = 4 * 16 + 1,    /* 64, 80, 96, 112, 128, 160 ... 1 MiB, rounded to 64 */
    MARGIN_BYTE = 0xa5
};

typedef struct free_block {
    struct free_block *next;
} free_block;

typedef struct region {
    struct region *next;
    char *base;          /* what was handed out */
    size_t bytes;        /* what was asked for */
    char *map;
    size_t map_bytes;    /* without the guard pages */
    size_t touched;      /* most bytes that were ever handed out of it: may be not zero any more */
    size_t faulted_in;   /* of these, what agb_memory_fault_in has seen to */
} region;

struct agb_memory {
    pthread_mutex_t lock;
    agb_memory_options options;
    agb_memory_usage usage;
    free_block *small[CLASSES];
    char *slab;               /* the one being carved */
    size_t slab_used;
    region *slabs;
    region *live, *kept;      /* large blocks */
    size_t page_bytes;
    uint64_t system_bytes;
    size_t refused_bytes;
    uint64_t live_at_refusal;
    agb_status refusal;
};

static size_t round_up(size_t value, size_t to)
{
    return (value + to - 1) / to * to;
}

/* The class of a small block, and its real size. */
static unsigned class_of(size_t bytes, size_t *room)
{
    if (bytes <= 64) {
        *room = 64;
        return 0;
    }
    size_t base = 64;
    unsigned first = 0;
    while (base * 2 < bytes) {
        base *= 2;
        first += 4;
    }
    size_t step = base / 4, steps = (bytes - base + step - 1) / step;
    *room = round_up(base + steps * step, AGB_ALIGNMENT);
    return first + (unsigned)steps;
}

agb_status agb_memory_create(agb_memory **out, const agb_memory_options *options, agb_error *err)
{
    *out = NULL;
    agb_memory *memory = calloc(1, sizeof *memory);
    if (!memory)
        return agb_fail(err, AGB_ERR_MEMORY, "memory: no room for its own bookkeeping");
    if (options)
        memory->options = *options;
    memory->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
    memory->system_bytes = agb_system_memory();
    pthread_mutex_init(&memory->lock, NULL);
    *out = memory;
    return AGB_OK;
}

static void unmap_region(agb_memory *memory, region *r)
{
    memory->usage.mapped -= r->map_bytes;
    size_t guard_bytes = memory->options.guarded ? memory->page_bytes : 0;
    munmap(r->map - guard_bytes, r->map_bytes + 2 * guard_bytes);
    free(r);
}

static void drop_list(agb_memory *memory, region **list)
{
    while (*list) {
        region *r = *list;
        *list = r->next;
        unmap_region(memory, r);
    }
}

static void drop_slabs(agb_memory *memory)
{
    drop_list(memory, &memory->slabs);
    memset(memory->small, 0, sizeof memory->small);
    memory->slab = NULL;
}

void agb_memory_destroy(agb_memory *memory)
{
    if (!memory)
        return;
    drop_list(memory, &memory->live);
    drop_list(memory, &memory->kept);
    drop_slabs(memory);
    pthread_mutex_destroy(&memory->lock);
    free(memory);
}

static char *map_guarded(size_t bytes, size_t page_bytes)
{
    char *map = mmap(NULL, bytes + 2 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return NULL;
    if (mprotect(map + page_bytes, bytes, PROT_READ | PROT_WRITE) == 0)
        return map + page_bytes;
    munmap(map, bytes + 2 * page_bytes);
    return NULL;
}

/* NULL: the system refuses, or it would grant what it does not have. */
static char *map_once(agb_memory *memory, size_t bytes)
{
    if (bytes > memory->system_bytes || memory->usage.mapped > memory->system_bytes - bytes ||
        (bytes >= ASKED_BYTES && bytes > agb_system_memory_available()))
        return NULL;
    return memory->options.guarded ? map_guarded(bytes, memory->page_bytes)
                                   : agb_pages_map(bytes, memory->options.pages);
}

static region *new_region(agb_memory *memory, size_t bytes)
{
    region *r = calloc(1, sizeof *r);
    if (!r)
        return NULL;
    r->map_bytes = memory->options.guarded ? round_up(bytes, memory->page_bytes) : agb_pages_round(bytes);
    r->map = r->map_bytes < bytes ? NULL : map_once(memory, r->map_bytes);
    if (!r->map && memory->kept) {
        drop_list(memory, &memory->kept);
        r->map = map_once(memory, r->map_bytes);
    }
    if (!r->map) {
        free(r);
        return NULL;
    }
    memory->usage.mapped += r->map_bytes;
    if (memory->usage.mapped > memory->usage.mapped_peak)
        memory->usage.mapped_peak = memory->usage.mapped;
    return r;
}

/* Is a better than b (which may be NULL) for a request of this size? Faulted in as far as needed goes before small. */
static bool fits_better(const region *a, const region *b, size_t bytes)
{
    if (!b || (a->touched >= bytes) != (b->touched >= bytes))
        return !b || a->touched >= bytes;
    return a->map_bytes < b->map_bytes;
}

/* The best kept mapping that is large enough and not wastefully large. */
static region *take_kept(agb_memory *memory, size_t bytes)
{
    region **best = NULL;
    for (region **at = &memory->kept; *at; at = &(*at)->next)
        if ((*at)->map_bytes >= bytes && (*at)->map_bytes <= agb_pages_round(bytes + bytes / 4)
            && fits_better(*at, best ? *best : NULL, bytes))
            best = at;
    if (!best)
        return NULL;
    region *r = *best;
    *best = r->next;
    return r;
}

static void *alloc_large(agb_memory *memory, size_t bytes, unsigned flags)
{
    region *r = take_kept(memory, bytes);
    if (!r)
        r = new_region(memory, bytes);
    if (!r)
        return NULL;
    r->bytes = bytes;
    r->base = r->map;
    if (memory->options.guarded) {
        r->base += r->map_bytes - round_up(bytes, AGB_ALIGNMENT);
        memset(r->base + bytes, MARGIN_BYTE, round_up(bytes, AGB_ALIGNMENT) - bytes);
        memset(r->map, MARGIN_BYTE, (size_t)(r->base - r->map));
    }
    if (flags & AGB_ZEROED)
        memset(r->base, 0, bytes < r->touched ? bytes : r->touched);
    if (bytes > r->touched)
        r->touched = bytes;
    r->next = memory->live;
    memory->live = r;
    return r->base;
}

static bool margins_are_intact(const region *r)
{
    for (const char *at = r->map; at < r->base; at++)
        if ((unsigned char)*at != MARGIN_BYTE)
            return false;
    for (size_t i = r->bytes; i < round_up(r->bytes, AGB_ALIGNMENT); i++)
        if ((unsigned char)r->base[i] != MARGIN_BYTE)
            return false;
    return true;
}

static void release_large(agb_memory *memory, void *block, size_t bytes)
{
    region **at = &memory->live;
    while (*at && (*at)->base != block)
        at = &(*at)->next;
    region *r = *at;
    if (!r) {
        memory->usage.misuses++;
        return;
    }
    if (r->bytes != bytes || (memory->options.guarded && !margins_are_intact(r)))
        memory->usage.misuses++;
    *at = r->next;
    if (memory->options.mode == AGB_MEMORY_FRESH || memory->options.guarded) {
        unmap_region(memory, r);
        return;
    }
    r->next = memory->kept;
    memory->kept = r;
}

static void *alloc_small(agb_memory *memory, size_t bytes, unsigned flags)
{
    size_t room;
    unsigned class = class_of(bytes, &room);
    char *block = (char *)memory->small[class];
    if (block) {
        memory->small[class] = memory->small[class]->next;
    } else {
        if (!memory->slab || memory->slab_used + room > SLAB_BYTES) {
            region *r = new_region(memory, SLAB_BYTES);
            if (!r)
                return NULL;
            r->touched = SLAB_BYTES;
            r->next = memory->slabs;
            memory->slabs = r;
            memory->slab = r->map;
            memory->slab_used = 0;
        }
        block = memory->slab + memory->slab_used;
        memory->slab_used += room;
    }
    if (flags & AGB_ZEROED)
        memset(block, 0, bytes);
    return block;
}

static void release_small(agb_memory *memory, void *block, size_t bytes)
{
    size_t room;
    unsigned class = class_of(bytes, &room);
    free_block *freed = block;
    freed->next = memory->small[class];
    memory->small[class] = freed;
}

static bool is_small(const agb_memory *memory, size_t bytes)
{
    return bytes <= LARGEST_SMALL_BYTES && !memory->options.guarded;
}

static void *refuse(agb_memory *memory, agb_status status, size_t bytes)
{
    memory->refusal = status;
    memory->refused_bytes = bytes;
    memory->live_at_refusal = memory->usage.live;
    return NULL;
}

static void *alloc_locked(agb_memory *memory, agb_owner owner, size_t bytes, unsigned flags)
{
    agb_memory_usage *usage = &memory->usage;
    uint64_t budget = memory->options.budget;
    if (owner == AGB_OWNER_AGGREGATOR) {
        usage->allocations++;
        if (memory->options.fail_at && --memory->options.fail_at == 0)
            return refuse(memory, AGB_ERR_MEMORY, bytes);
        if (budget && (bytes > budget || usage->live > budget - bytes))
            return refuse(memory, AGB_ERR_BUDGET, bytes);
    }
    void *block = is_small(memory, bytes) ? alloc_small(memory, bytes, flags) : alloc_large(memory, bytes, flags);
    if (!block)
        return refuse(memory, AGB_ERR_MEMORY, bytes);
    if (owner == AGB_OWNER_RESULT) {
        usage->results += bytes;
    } else {
        usage->live += bytes;
        if (usage->live > usage->peak)
            usage->peak = usage->live;
    }
    return block;
}

void *agb_memory_alloc(agb_memory *memory, agb_owner owner, size_t bytes, unsigned flags)
{
    pthread_mutex_lock(&memory->lock);
    void *block = alloc_locked(memory, owner, bytes ? bytes : 1, flags);
    pthread_mutex_unlock(&memory->lock);
    return block;
}

void agb_memory_release(agb_memory *memory, agb_owner owner, void *block, size_t bytes)
{
    if (!block)
        return;
    bytes = bytes ? bytes : 1;
    pthread_mutex_lock(&memory->lock);
    if (is_small(memory, bytes))
        release_small(memory, block, bytes);
    else
        release_large(memory, block, bytes);
    if (owner == AGB_OWNER_RESULT)
        memory->usage.results -= bytes;
    else
        memory->usage.live -= bytes;
    if (memory->options.mode == AGB_MEMORY_FRESH && memory->usage.live == 0 && memory->usage.results == 0)
        drop_slabs(memory);
    pthread_mutex_unlock(&memory->lock);
}

agb_memory_usage agb_memory_usage_of(const agb_memory *memory)
{
    agb_memory *unlocked = (agb_memory *)memory;    /* only the lock is touched */
    pthread_mutex_lock(&unlocked->lock);
    agb_memory_usage usage = memory->usage;
    pthread_mutex_unlock(&unlocked->lock);
    return usage;
}

void agb_memory_reset(agb_memory *memory)
{
    memory->usage.peak = memory->usage.live;
    memory->usage.allocations = 0;
    memory->refusal = AGB_OK;
}

static void fault_in(region *r, size_t page_bytes)
{
    for (; r->faulted_in < r->touched; r->faulted_in += page_bytes) {
        volatile char *byte = r->map + r->faulted_in;
        *byte = *byte;
    }
}

/* What an owner did not touch of a block, the next one may: the last block of a result, half full, was handed out first
 * in the next run, and that one paid for the other half under its clock: five huge pages, 16 ms of 64 (best, synth:hits
 * of 20M rows), in the first timed run only, and with several workers, whose blocks change hands, in most runs. The
 * system's price differs, too: 0.2 ms for 2 MiB that the guest itself has just freed, 3 to 5 ms for what it has
 * meanwhile reported to its host as free (a virtio balloon's free page reporting, a second or two later). */
void agb_memory_fault_in(agb_memory *memory)
{
    region *lists[] = {memory->live, memory->kept, memory->slabs};
    for (size_t i = 0; i < sizeof lists / sizeof *lists && memory->options.mode == AGB_MEMORY_WARM; i++)
        for (region *r = lists[i]; r; r = r->next)
            fault_in(r, memory->page_bytes);
}

uint64_t agb_memory_budget(const agb_memory *memory)
{
    return memory->options.budget;
}

void agb_memory_fail_at(agb_memory *memory, uint64_t allocation)
{
    memory->options.fail_at = allocation;
}

agb_status agb_memory_refusal(agb_memory *memory, const char *who, const char *advice, agb_error *err)
{
    char asked[32], live[32], budget[32], available[32];
    agb_bytes_in_words(memory->refused_bytes, asked, sizeof asked);
    agb_bytes_in_words(memory->live_at_refusal, live, sizeof live);
    agb_bytes_in_words(memory->options.budget, budget, sizeof budget);
    if (memory->refusal == AGB_ERR_BUDGET)
        return agb_fail(err, AGB_ERR_BUDGET, "%s: memory budget exceeded: asked for %s more while holding %s, the "
                        "budget is %s: %s", who, asked, live, budget,
                        *advice ? advice : "raise the budget or take fewer rows");
    if (memory->refusal == AGB_ERR_MEMORY) {
        agb_bytes_in_words(agb_system_memory_available(), available, sizeof available);
        return agb_fail(err, AGB_ERR_MEMORY, "%s: out of memory: %s more were refused while %s were held, and %s are "
                        "available: free memory, take fewer rows or smaller parameters", who, asked, live, available);
    }
    return AGB_OK;
}
