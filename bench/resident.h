/* SPDX-License-Identifier: MIT */
/* The cache-resident twin: how much of a strategy's time is waiting beyond the caches, estimated without a PMU.
 *
 * METHOD  A second column of the same type, the same number of rows and exactly the same runs of equal neighbours, but
 * with so few groups that the cells of all of them fit in half of the L2 cache. Every strategy counts both columns in
 * turn, in the same process, round by round. What the real column costs beyond its twin is what the strategy pays for
 * having more groups than the caches hold:
 *
 *     est. = 1 - twin / real, the median over the rounds, with the bootstrap interval of the paired ratio
 *
 * MAPPING  The few keys are real keys of the column, evenly spaced in the order of keys. A key's twin is found by
 * hashing it, so equal keys have one twin; only where two different neighbours would meet in the same twin, the second
 * run takes the next one. So a run ends in the twin exactly where it ends in the column. Rows with NULL are left out:
 * no aggregator sees them. A column whose groups fit already is its own twin: what it costs beyond that is 0 by
 * construction, and nothing is run to find that out.
 *
 * LIMITS  It is a difference of times, no count of slots. (1) What a larger result costs in instructions (growing the
 * table, writing more groups, longer probes) is in it, although it is work and not waiting: then it is too high. On an
 * emulator whose memory costs nothing, where the right answer is 0, 200,000 rows gave 27 % for naive, 13 % for radix.
 * (2) Memory that both columns stream through (reading the input, writing and reading back partitions) waits in the
 * twin too: then it is too low. (3) A processor that works while a load is on its way hides waiting: it is in neither.
 * (4) Branches are easier to predict with few groups. It says "waits beyond the cache" where it is high; small
 * differences between two strategies it does not resolve. */
#ifndef AGB_RESIDENT_H
#define AGB_RESIDENT_H

#include "reference.h"

typedef struct agb_resident {
    bool own;                   /* the column fits: it is its own twin, and there is no table */
    agb_table *table;           /* one column, of the name and type of the real one */
    void *values;               /* of that column */
    size_t bytes;
    agb_reference reference;    /* its right answer; groups is this structure's own */
    uint64_t groups;            /* of the twin, or of the column that is its own */
} agb_resident;

/* The most groups whose cells fit: a power of two, 64 bytes a group in half of the L2 cache (of 1 MiB where the size is
 * not known). */
uint64_t agb_resident_groups(const agb_caches *caches);

/* What the twin is made of. */
typedef struct agb_resident_plan {
    const agb_registry *registry;
    const agb_table *table;
    const char *column;                /* one integer or bool column: other keys have no twin yet */
    const agb_filter *filter;          /* NULL: what a filter leaves out, a twin cannot keep */
    const agb_reference *reference;    /* of that column */
    uint64_t most_groups;              /* a power of two */
    agb_pages pages;
} agb_resident_plan;

agb_status agb_resident_create(agb_resident *out, const agb_resident_plan *plan, agb_error *err);
void agb_resident_release(agb_resident *resident);

/* One sentence of the limits above, for reports. */
extern const char agb_resident_limits[];

#endif
