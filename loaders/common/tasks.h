/* SPDX-License-Identifier: MIT */
/* The parts of a load that can be read in any order, each to its own place, spread over the workers. */
#ifndef AGB_TASKS_H
#define AGB_TASKS_H

#include "aggbench.h"

/* Reads part number `task`. Called by several workers at once. */
typedef agb_status (*agb_tasks_fn)(void *argument, unsigned worker, size_t task, agb_error *err);

/* Runs all `tasks`. One that fails stops those behind it, and of all that fail the first one's error is returned,
 * whatever the number of workers. AGB_ERR_CONTRACT, without a sentence: called from within a task. */
agb_status agb_tasks_run(agb_pool *pool, size_t tasks, agb_tasks_fn run, void *argument, agb_error *err);

/* The task that a claim gets. At a time the workers are in stretches of tasks that lie far from one another: the places
 * of two neighbours share a huge page, which both would fault in and zero when they come to it at once, and one of the
 * two would be thrown away. A task is followed by the next in its stretch. */
static inline size_t agb_tasks_at(size_t claim, size_t tasks, unsigned workers)
{
    size_t stretch = claim % workers, longer = tasks % workers;
    return stretch * (tasks / workers) + (stretch < longer ? stretch : longer) + claim / workers;
}

#endif
