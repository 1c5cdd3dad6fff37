/* SPDX-License-Identifier: MIT */
/* Spreading a load over the workers: see tasks.h.
 *
 * Two threads against one on a virtual machine with two processors, the best of 12 runs each, before the order of
 * claims, the waiting of engine/pool.c and buffers made beforehand, and after: Parquet UserID 1.68 and 1.88, URL from
 * dictionaries 1.60 and 1.75, distinct URLs 1.81 and 1.77, .agb 1.50 and 1.86, .agb zstd 1.72 and 1.84. Two processes
 * that share nothing reach 1.9 to 1.97. `make peers-load` measures both. */
#include "common/tasks.h"

#include <pthread.h>
#include <stdatomic.h>

typedef struct job {
    agb_tasks_fn run;
    void *argument;
    size_t tasks;
    unsigned workers;
    atomic_size_t failed;     /* the first task that failed so far; SIZE_MAX: none */
    pthread_mutex_t lock;     /* guards the error */
    agb_error error;          /* its error */
} job;

static void keep_error(job *job, size_t task, const agb_error *error)
{
    pthread_mutex_lock(&job->lock);
    if (task < atomic_load(&job->failed)) {
        atomic_store(&job->failed, task);
        job->error = *error;
    }
    pthread_mutex_unlock(&job->lock);
}

static void run_claim(void *argument, unsigned worker, size_t claim)
{
    job *job = argument;
    agb_error error = {0};
    size_t task = agb_tasks_at(claim, job->tasks, job->workers);
    if (task < atomic_load_explicit(&job->failed, memory_order_relaxed) &&
        job->run(job->argument, worker, task, &error) != AGB_OK)
        keep_error(job, task, &error);
}

agb_status agb_tasks_run(agb_pool *pool, size_t tasks, agb_tasks_fn run, void *argument, agb_error *err)
{
    job job = {.run = run, .argument = argument, .tasks = tasks, .workers = agb_pool_workers(pool),
               .failed = SIZE_MAX, .lock = PTHREAD_MUTEX_INITIALIZER};
    agb_status status = agb_pool_run(pool, tasks, run_claim, &job);
    if (status == AGB_OK && job.failed != SIZE_MAX)
        return agb_fail(err, job.error.status, "%s", job.error.text);
    return status;
}
