/* SPDX-License-Identifier: MIT */
/* ClickBench's queries whose answer is GROUP BY and COUNT(*), by their numbers there: 0 is the first of its 43. */
#ifndef AGB_CLICKBENCH_H
#define AGB_CLICKBENCH_H

#include "aggbench.h"

typedef struct agb_clickbench {
    unsigned number;
    const char *group_by, *where;    /* where: NULL = all rows */
    bool ordered;                    /* by count, the largest first */
    size_t limit, offset;            /* limit 0 = all groups */
} agb_clickbench;

/* NULL past the end. */
const agb_clickbench *agb_clickbench_at(size_t i);
/* NULL and the error when that query is not one of them. */
const agb_clickbench *agb_clickbench_find(uint64_t number, agb_error *err);
/* free() it; NULL without memory. */
char *agb_clickbench_sql(const agb_clickbench *query);

#endif
