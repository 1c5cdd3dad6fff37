/* SPDX-License-Identifier: MIT */
/* Workers: threads that wait for a job and claim its tasks one by one. The caller's thread is worker 0. */
#include "internal.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

typedef struct worker {
    agb_pool *pool;
    unsigned number;
    pthread_t thread;
} worker;

struct agb_pool {
    unsigned workers;
    worker *worker;            /* workers entries; entry 0 has no thread */
    pthread_mutex_t lock;
    pthread_cond_t posted, done;
    uint64_t job;              /* number of the job; raised when one is posted */
    unsigned busy;             /* threads that have not ended the job yet */
    bool stop;
    agb_task_fn task;          /* the job */
    void *argument;
    size_t tasks;
    bool each;                 /* one task for every worker, not claimed */
    atomic_size_t next;        /* first task that nobody has claimed */
    atomic_bool running;       /* a job is under way: nested calls are refused */
};

static void work(agb_pool *pool, unsigned number)
{
    if (pool->each) {
        pool->task(pool->argument, number, number);
        return;
    }
    size_t task;
    while ((task = atomic_fetch_add(&pool->next, 1)) < pool->tasks)
        pool->task(pool->argument, number, task);
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    agb_pool *pool = self->pool;
    uint64_t seen = 0;
    pthread_mutex_lock(&pool->lock);
    for (;;) {
        while (pool->job == seen && !pool->stop)
            pthread_cond_wait(&pool->posted, &pool->lock);
        if (pool->stop)
            break;
        seen = pool->job;
        pthread_mutex_unlock(&pool->lock);
        work(pool, self->number);
        pthread_mutex_lock(&pool->lock);
        if (--pool->busy == 0)
            pthread_cond_signal(&pool->done);
    }
    pthread_mutex_unlock(&pool->lock);
    return NULL;
}

static agb_status pin(pthread_t thread, int cpu, agb_error *err)
{
    cpu_set_t set;
    CPU_ZERO(&set);
    if (cpu >= 0 && cpu < CPU_SETSIZE)
        CPU_SET(cpu, &set);
    if (pthread_setaffinity_np(thread, sizeof set, &set) != 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "pin: processor %d: not one that this process may run on: choose "
                        "another",
                        cpu);
    return AGB_OK;
}

static agb_status start_workers(agb_pool *pool, unsigned workers, const int *cpus, agb_error *err)
{
    if (cpus) {
        agb_status status = pin(pthread_self(), cpus[0], err);
        if (status != AGB_OK)
            return status;
    }
    for (unsigned i = 1; i < workers; i++) {
        pool->worker[i] = (worker){.pool = pool, .number = i};
        if (pthread_create(&pool->worker[i].thread, NULL, worker_main, &pool->worker[i]) != 0)
            return agb_fail(err, AGB_ERR_MEMORY, "workers: the system refused thread %u of %u: ask for fewer", i + 1,
                            workers);
        pool->workers = i + 1;
        if (cpus) {
            agb_status status = pin(pool->worker[i].thread, cpus[i], err);
            if (status != AGB_OK)
                return status;
        }
    }
    return AGB_OK;
}

agb_status agb_pool_create(agb_pool **out, unsigned workers, const int *cpus, agb_error *err)
{
    *out = NULL;
    if (workers == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "workers: 0: at least 1 is needed");
    agb_pool *pool = calloc(1, sizeof *pool);
    worker *members = calloc(workers, sizeof *members);
    if (!pool || !members) {
        free(pool);
        free(members);
        return agb_fail(err, AGB_ERR_MEMORY, "workers: no memory for %u of them", workers);
    }
    pool->worker = members;
    pool->workers = 1;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->posted, NULL);
    pthread_cond_init(&pool->done, NULL);
    agb_status status = start_workers(pool, workers, cpus, err);
    if (status != AGB_OK)
        agb_pool_destroy(pool);
    else
        *out = pool;
    return status;
}

void agb_pool_destroy(agb_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    pool->stop = true;
    pthread_cond_broadcast(&pool->posted);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < pool->workers; i++)
        pthread_join(pool->worker[i].thread, NULL);
    pthread_mutex_destroy(&pool->lock);
    pthread_cond_destroy(&pool->posted);
    pthread_cond_destroy(&pool->done);
    free(pool->worker);
    free(pool);
}

unsigned agb_pool_workers(const agb_pool *pool)
{
    return pool ? pool->workers : 1;
}

static agb_status post(agb_pool *pool, size_t tasks, bool each, agb_task_fn task, void *argument)
{
    if (atomic_exchange(&pool->running, true))
        return AGB_ERR_CONTRACT;
    pthread_mutex_lock(&pool->lock);
    pool->task = task;
    pool->argument = argument;
    pool->tasks = tasks;
    pool->each = each;
    atomic_store(&pool->next, 0);
    pool->busy = pool->workers - 1;
    pool->job++;
    pthread_cond_broadcast(&pool->posted);
    pthread_mutex_unlock(&pool->lock);

    work(pool, 0);

    pthread_mutex_lock(&pool->lock);
    while (pool->busy)
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
    atomic_store(&pool->running, false);
    return AGB_OK;
}

agb_status agb_pool_run(agb_pool *pool, size_t tasks, agb_task_fn task, void *argument)
{
    if (pool)
        return post(pool, tasks, false, task, argument);
    for (size_t i = 0; i < tasks; i++)
        task(argument, 0, i);
    return AGB_OK;
}

agb_status agb_pool_each(agb_pool *pool, agb_task_fn task, void *argument)
{
    if (pool)
        return post(pool, 0, true, task, argument);
    task(argument, 0, 0);
    return AGB_OK;
}
