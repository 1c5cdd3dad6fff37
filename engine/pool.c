/* SPDX-License-Identifier: MIT */
/* Workers: threads that wait for a job and claim its tasks one by one. The caller's thread is worker 0.
 *
 * WAITING  Whoever waits looks again and again for some microseconds before it sleeps. Jobs that follow one another, as
 * those of a load of text do, then need no system calls: on a virtual machine with two processors a job of 0.2 ms lost
 * 0.05 ms to falling asleep and waking up.
 * WAKING   A thread that sleeps on a virtual machine is often woken on the processor of its waker although another one
 * is idle: that one's halt looks to the kernel as if the host had taken it away (vcpu_is_preempted). The two then take
 * turns there until the kernel balances its queues, up to 5 ms later, which was a tenth to a half of short loads. The
 * same goes for a new thread. So a sleeper is kept off the poster's processor until it runs. (Moving away by itself,
 * once it ran, came too late where it had to wait for the poster first.) */
#include "internal.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { LOOKS = 2000 };    /* 20 to 100 us */

typedef struct worker {
    agb_pool *pool;
    unsigned number;
    pthread_t thread;
    bool sleeps;             /* guarded by the lock */
    pthread_cond_t turned;   /* for the tasks that come to this one's place, see turn_of */
    bool kept_off;           /* the poster's processor: allowed is what to return to */
    cpu_set_t allowed;
} worker;

struct agb_pool {
    unsigned workers;
    worker *worker;            /* workers entries; entry 0 has no thread */
    bool pinned;
    int looks;                 /* before sleeping */
    pthread_mutex_t lock;      /* for sleeping, and for waking who may sleep */
    pthread_cond_t posted, done;
    atomic_uint_fast64_t job;  /* number of the job; raised when one is posted: what follows can be read from then on */
    agb_task_fn task;          /* the job; NULL: the first one is to have begun */
    void *argument;
    size_t tasks;
    bool each;                 /* one task for every worker, not claimed */
    atomic_uint busy;          /* threads that have not ended the job yet */
    atomic_bool stop;
    atomic_size_t next;        /* first task that nobody has claimed */
    atomic_size_t turn;        /* the task whose turn it is */
    atomic_bool running;       /* a job is under way: nested calls are refused */
};

/* ---- Working ---- */

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

static inline void relax(void)
{
#if defined(__x86_64__)
    __builtin_ia32_pause();
#else
    atomic_signal_fence(memory_order_seq_cst);
#endif
}

static bool is_called(agb_pool *pool, uint64_t seen)
{
    return atomic_load(&pool->job) != seen || atomic_load(&pool->stop);
}

/* What the worker is allowed without this processor; false where that is nothing, or is not to be had. */
static bool allowed_elsewhere(worker *worker, pthread_t thread, int cpu, cpu_set_t *others)
{
    if (worker->pool->pinned || cpu < 0 || cpu >= CPU_SETSIZE ||
        pthread_getaffinity_np(thread, sizeof worker->allowed, &worker->allowed) != 0)
        return false;
    *others = worker->allowed;
    CPU_CLR(cpu, others);
    return CPU_COUNT(others) > 0;
}

/* Called with the lock, before the workers are woken. */
static void keep_sleepers_off(agb_pool *pool, int cpu)
{
    cpu_set_t others;
    for (unsigned i = 1; i < pool->workers; i++) {
        worker *worker = &pool->worker[i];
        if (worker->sleeps && !worker->kept_off && allowed_elsewhere(worker, worker->thread, cpu, &others))
            worker->kept_off = pthread_setaffinity_np(worker->thread, sizeof others, &others) == 0;
    }
}

static void return_to_allowed(worker *self)
{
    if (self->kept_off)
        pthread_setaffinity_np(pthread_self(), sizeof self->allowed, &self->allowed);
    self->kept_off = false;
}

static void await_job(worker *self, uint64_t seen)
{
    agb_pool *pool = self->pool;
    for (int i = 0; i < pool->looks && !is_called(pool, seen); i++)
        relax();
    if (is_called(pool, seen))
        return;
    pthread_mutex_lock(&pool->lock);
    self->sleeps = true;
    while (!is_called(pool, seen))
        pthread_cond_wait(&pool->posted, &pool->lock);
    self->sleeps = false;
    pthread_mutex_unlock(&pool->lock);
}

static void end_job(agb_pool *pool)
{
    if (atomic_fetch_sub(&pool->busy, 1) > 1)
        return;
    pthread_mutex_lock(&pool->lock);
    pthread_cond_signal(&pool->done);
    pthread_mutex_unlock(&pool->lock);
}

static void *worker_main(void *argument)
{
    worker *self = argument;
    agb_pool *pool = self->pool;
    for (uint64_t seen = 0;; seen++) {
        return_to_allowed(self);
        if (pool->task)
            work(pool, self->number);
        end_job(pool);
        await_job(self, seen);
        if (atomic_load(&pool->stop))
            return NULL;
    }
}

static void await_workers(agb_pool *pool)
{
    for (int i = 0; i < pool->looks && atomic_load(&pool->busy); i++)
        relax();
    if (atomic_load(&pool->busy) == 0)
        return;
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->busy))
        pthread_cond_wait(&pool->done, &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

/* ---- Making and ending ---- */

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

static bool start_thread(worker *worker)
{
    cpu_set_t others;
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    worker->kept_off = allowed_elsewhere(worker, pthread_self(), sched_getcpu(), &others) &&
                       pthread_attr_setaffinity_np(&attributes, sizeof others, &others) == 0;
    bool started = pthread_create(&worker->thread, &attributes, worker_main, worker) == 0;
    pthread_attr_destroy(&attributes);
    if (started)
        return true;
    worker->kept_off = false;    /* where that is forbidden a thread may still be had */
    return pthread_create(&worker->thread, NULL, worker_main, worker) == 0;
}

static agb_status start_workers(agb_pool *pool, unsigned workers, const int *cpus, agb_error *err)
{
    if (cpus) {
        agb_status status = pin(pthread_self(), cpus[0], err);
        if (status != AGB_OK)
            return status;
    }
    for (unsigned i = 1; i < workers; i++) {
        pool->worker[i] = (worker){.pool = pool, .number = i, .turned = PTHREAD_COND_INITIALIZER};
        atomic_fetch_add(&pool->busy, 1);
        if (!start_thread(&pool->worker[i]))
            return agb_fail(err, AGB_ERR_MEMORY, "workers: the system refused thread %u of %u: ask for fewer", i + 1,
                            workers);
        pool->workers = i + 1;
        if (cpus) {
            agb_status status = pin(pool->worker[i].thread, cpus[i], err);
            if (status != AGB_OK)
                return status;
        }
    }
    await_workers(pool);
    return AGB_OK;
}

/* Where there are fewer processors than workers, who looks keeps another one from working. */
static int looks_of(unsigned workers)
{
    cpu_set_t allowed;
    bool crowded = sched_getaffinity(0, sizeof allowed, &allowed) == 0 && (unsigned)CPU_COUNT(&allowed) < workers;
    return crowded ? 0 : LOOKS;
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
    pthread_cond_init(&members[0].turned, NULL);
    pool->pinned = cpus != NULL;
    pool->looks = looks_of(workers);
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
    atomic_store(&pool->stop, true);
    pthread_cond_broadcast(&pool->posted);
    pthread_mutex_unlock(&pool->lock);
    for (unsigned i = 1; i < pool->workers; i++)
        pthread_join(pool->worker[i].thread, NULL);
    for (unsigned i = 0; i < pool->workers; i++)
        pthread_cond_destroy(&pool->worker[i].turned);
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

/* ---- Jobs ---- */

static agb_status post(agb_pool *pool, size_t tasks, bool each, agb_task_fn task, void *argument)
{
    if (atomic_exchange(&pool->running, true))
        return AGB_ERR_CONTRACT;
    pool->task = task;
    pool->argument = argument;
    pool->tasks = tasks;
    pool->each = each;
    atomic_store(&pool->next, 0);
    atomic_store(&pool->turn, 0);
    atomic_store(&pool->busy, pool->workers - 1);
    pthread_mutex_lock(&pool->lock);
    keep_sleepers_off(pool, sched_getcpu());
    atomic_fetch_add(&pool->job, 1);
    pthread_cond_broadcast(&pool->posted);
    pthread_mutex_unlock(&pool->lock);

    work(pool, 0);

    await_workers(pool);
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

/* All tasks from the one whose turn it is up to any that waits are under way, each with a worker of its own: so two
 * that wait never meet here. */
static pthread_cond_t *turn_of(agb_pool *pool, size_t task)
{
    return &pool->worker[task % pool->workers].turned;
}

void agb_pool_await_turn(agb_pool *pool, size_t task)
{
    if (!pool)
        return;
    for (int i = 0; i < pool->looks && atomic_load(&pool->turn) != task; i++)
        relax();
    if (atomic_load(&pool->turn) == task)
        return;
    pthread_mutex_lock(&pool->lock);
    while (atomic_load(&pool->turn) != task)
        pthread_cond_wait(turn_of(pool, task), &pool->lock);
    pthread_mutex_unlock(&pool->lock);
}

void agb_pool_pass_turn(agb_pool *pool)
{
    if (!pool)
        return;
    pthread_mutex_lock(&pool->lock);
    size_t next = atomic_fetch_add(&pool->turn, 1) + 1;
    pthread_cond_signal(turn_of(pool, next));
    pthread_mutex_unlock(&pool->lock);
}
