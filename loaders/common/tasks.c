/* SPDX-License-Identifier: MIT */
/* Spreading a load over the workers: see tasks.h.
 *
 * Two threads against one on a virtual machine with two processors, the best of 12 runs each, before the order of
 * claims, the waiting of engine/pool.c and buffers made beforehand, and after: Parquet UserID 1.68 and 1.88, URL from
 * dictionaries 1.60 and 1.75, distinct URLs 1.81 and 1.77, .agb 1.50 and 1.86, .agb zstd 1.72 and 1.84. Two processes
 * that share nothing reach 1.9 to 1.97. `make peers-load` measures both. */
#include "common/tasks.h"

void agb_first_error_note(agb_first_error *first, size_t task, const agb_error *error)
{
    pthread_mutex_lock(&first->lock);
    if (task < atomic_load(&first->task)) {
        atomic_store(&first->task, task);
        first->error = *error;
    }
    pthread_mutex_unlock(&first->lock);
}

bool agb_first_error_is_before(const agb_first_error *first, size_t task)
{
    return atomic_load_explicit(&first->task, memory_order_relaxed) < task;
}

agb_status agb_first_error_tell(const agb_first_error *first, agb_error *err)
{
    if (atomic_load(&first->task) == SIZE_MAX)
        return AGB_OK;
    return agb_fail(err, first->error.status, "%s", first->error.text);
}

typedef struct job {
    agb_tasks_fn run;
    void *argument;
    size_t tasks;
    unsigned workers;
    agb_first_error failed;
} job;

static void run_claim(void *argument, unsigned worker, size_t claim)
{
    job *job = argument;
    agb_error error = {0};
    size_t task = agb_tasks_at(claim, job->tasks, job->workers);
    if (!agb_first_error_is_before(&job->failed, task) &&
        job->run(job->argument, worker, task, &error) != AGB_OK)
        agb_first_error_note(&job->failed, task, &error);
}

agb_status agb_tasks_run(agb_pool *pool, size_t tasks, agb_tasks_fn run, void *argument, agb_error *err)
{
    job job = {.run = run, .argument = argument, .tasks = tasks, .workers = agb_pool_workers(pool),
               .failed = AGB_FIRST_ERROR_NONE};
    agb_status status = agb_pool_run(pool, tasks, run_claim, &job);
    return status == AGB_OK ? agb_first_error_tell(&job.failed, err) : status;
}
