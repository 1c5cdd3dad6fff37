/* SPDX-License-Identifier: MIT */
/* Anonymous memory from the system, with a page policy. Blocks are 2 MiB aligned and sized, so that the policy, and
 * nothing else, decides whether they lie in huge pages. */
#include "internal.h"

#include <linux/mman.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

enum { HUGE_BYTES = 2 << 20 };

size_t agb_pages_round(size_t bytes)
{
    return (bytes + HUGE_BYTES - 1) & ~(size_t)(HUGE_BYTES - 1);
}

static void apply_policy(void *base, size_t bytes, agb_pages pages)
{
    /* Advice: where the kernel has no transparent huge pages it refuses, and small pages are what there is. */
    if (pages == AGB_PAGES_HUGE)
        madvise(base, bytes, MADV_HUGEPAGE);
    else if (pages == AGB_PAGES_4K)
        madvise(base, bytes, MADV_NOHUGEPAGE);
}

/* An aligned stretch of address space: map too much, give the ends back. */
static void *map_aligned(size_t bytes)
{
    size_t room = bytes + HUGE_BYTES;
    if (room < bytes)
        return NULL;
    char *raw = mmap(NULL, room, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (raw == MAP_FAILED)
        return NULL;
    char *base = (char *)agb_pages_round((size_t)raw);
    size_t before = (size_t)(base - raw);
    if (before)
        munmap(raw, before);
    munmap(base + bytes, room - before - bytes);
    return base;
}

/* From the pool. The kernel sets the pages aside now: a touch later cannot fail. */
static void *map_explicit(size_t bytes)
{
    enum { SIZE_IS_2_MIB = 21 << MAP_HUGE_SHIFT };
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_HUGETLB | SIZE_IS_2_MIB;
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

void *agb_pages_map(size_t bytes, agb_pages pages)
{
    size_t rounded = agb_pages_round(bytes);
    if (pages == AGB_PAGES_EXPLICIT)
        return rounded < bytes ? NULL : map_explicit(rounded);
    void *base = rounded < bytes ? NULL : map_aligned(rounded);
    if (base)
        apply_policy(base, rounded, pages);
    return base;
}

void *agb_pages_grow(void *base, size_t old_bytes, size_t new_bytes, agb_pages pages)
{
    size_t from = agb_pages_round(old_bytes), to = agb_pages_round(new_bytes);
    if (to <= from)
        return to < new_bytes ? NULL : base;
    char *moved = pages == AGB_PAGES_EXPLICIT ? map_explicit(to) : map_aligned(to);
    if (!moved)
        return NULL;
    if (pages == AGB_PAGES_EXPLICIT) {
        memcpy(moved, base, from);
        munmap(base, from);
        return moved;
    }
    /* Moves the page tables, not the bytes. Moved and enlarged in one call they are one mapping again: two cannot be
     * moved together before Linux 6.17. */
    if (mremap(base, from, to, MREMAP_MAYMOVE | MREMAP_FIXED, moved) == MAP_FAILED) {
        munmap(moved, to);
        return NULL;
    }
    apply_policy(moved, to, pages);
    return moved;
}

bool agb_pages_map_file(void *place, int fd, uint64_t offset, size_t bytes)
{
    /* First elsewhere, then moved over the place: a file system that cannot map leaves the place as it was. */
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd, (off_t)offset);
    if (map == MAP_FAILED)
        return false;
    if (mremap(map, bytes, bytes, MREMAP_MAYMOVE | MREMAP_FIXED, place) != MAP_FAILED)
        return true;
    munmap(map, bytes);
    return false;
}

void agb_pages_cut(void *base, size_t old_bytes, size_t new_bytes)
{
    size_t from = agb_pages_round(old_bytes), to = agb_pages_round(new_bytes);
    if (base && to < from)
        munmap((char *)base + to, from - to);
}

void agb_pages_unmap(void *base, size_t bytes)
{
    agb_pages_cut(base, bytes, 0);
}

void agb_bytes_in_words(uint64_t bytes, char *text, size_t room)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    snprintf(text, room, unit && value < 100 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}
