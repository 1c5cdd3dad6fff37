/* SPDX-License-Identifier: MIT */
/* The parts of a load that are spread over the workers, each to its own place, and which error is told when several of
 * them fail. */
#ifndef AGB_TASKS_H
#define AGB_TASKS_H

#include "aggbench.h"

#include <pthread.h>
#include <stdatomic.h>

/* Reads part number `task`. Called by several workers at once. */
typedef agb_status (*agb_tasks_fn)(void *argument, unsigned worker, size_t task, agb_error *err);

/* Runs all `tasks`, in any order. One that fails stops those behind it, and of all that fail the first one's error is
 * returned, whatever the number of workers. AGB_ERR_CONTRACT, without a sentence: called from within a task. */
agb_status agb_tasks_run(agb_pool *pool, size_t tasks, agb_tasks_fn run, void *argument, agb_error *err);

/* The task that a claim gets. At a time the workers are in stretches of tasks that lie far from one another: the places
 * of two neighbours share a huge page, which both would fault in and zero when they come to it at once, and one of the
 * two would be thrown away. A task is followed by the next in its stretch. */
static inline size_t agb_tasks_at(size_t claim, size_t tasks, unsigned workers)
{
    size_t stretch = claim % workers, longer = tasks % workers;
    return stretch * (tasks / workers) + (stretch < longer ? stretch : longer) + claim / workers;
}

/* Of the tasks that failed so far, the lowest, and its error. */
typedef struct agb_first_error {
    atomic_size_t task;      /* SIZE_MAX: none */
    pthread_mutex_t lock;    /* guards the error */
    agb_error error;
} agb_first_error;

#define AGB_FIRST_ERROR_NONE {.task = SIZE_MAX, .lock = PTHREAD_MUTEX_INITIALIZER}

void agb_first_error_note(agb_first_error *first, size_t task, const agb_error *error);    /* task failed */
/* Whether one before it has failed, so that nobody wants to know of this one. */
bool agb_first_error_is_before(const agb_first_error *first, size_t task);
agb_status agb_first_error_tell(const agb_first_error *first, agb_error *err);             /* AGB_OK: none failed */

#endif
