/* SPDX-License-Identifier: MIT */
/* The floor: how fast this machine streams, right now, with these workers.
 *
 * Every pass is bracketed by one wall clock around all workers, bytes divided by that one window: adding up the
 * workers' own rates would count time twice in which some of them had already ended. The buffer is well beyond the
 * last-level cache. What is read is checked against what must stand there, so that no compiler may leave it out. */
#include "machine.h"

#include "kernels.h"
#include "process.h"

#include <sys/mman.h>

enum { PASSES = 2 };

static const size_t LEAST_BYTES = (size_t)256 << 20;

typedef struct job {
    char *buffer;
    size_t bytes_each;         /* of one worker */
    agb_kernel kernel;
    double value;              /* what is written, or must be read, everywhere */
    uint64_t *wrong;           /* per worker, a line apart: bits that a reading found different */
} job;

enum { WORDS_A_LINE = 8 };

static void run_slice(void *argument, unsigned worker, size_t task)
{
    const job *job = argument;
    job->wrong[(size_t)worker * WORDS_A_LINE] |=
        agb_kernel_pass(job->kernel, job->buffer + task * job->bytes_each, job->bytes_each, job->value);
}

/* One pass over the buffer; keeps the better rate. */
static void run_pass(agb_pool *pool, job *job, agb_kernel kernel, double *best_gbps)
{
    job->kernel = kernel;
    double bytes = (double)job->bytes_each * agb_pool_workers(pool);
    double start = agb_now_s();
    agb_pool_each(pool, run_slice, job);
    double elapsed = agb_now_s() - start;
    if (elapsed > 0 && bytes / elapsed / 1e9 > *best_gbps)
        *best_gbps = bytes / elapsed / 1e9;
}

/* In huge pages whatever the run's are: the floor is what the machine can do. */
static void *map(size_t bytes)
{
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        return NULL;
    madvise(memory, bytes, MADV_HUGEPAGE);
    return memory;
}

static agb_status measure(agb_floor *out, agb_pool *pool, job *job, agb_error *err)
{
    double first_touch = 0;
    run_pass(pool, job, AGB_KERNEL_WRITE, &first_touch);    /* pays the page faults; its rate is not used */
    for (unsigned pass = 0; pass < PASSES; pass++) {
        run_pass(pool, job, AGB_KERNEL_READ, &out->read_gbps);
        job->value++;
        run_pass(pool, job, AGB_KERNEL_WRITE, &out->write_gbps);
        run_pass(pool, job, AGB_KERNEL_READ, &out->read_gbps);
        job->value++;
        run_pass(pool, job, AGB_KERNEL_PAST, &out->write_gbps);
    }
    for (unsigned worker = 0; worker < agb_pool_workers(pool); worker++)
        if (job->wrong[(size_t)worker * WORDS_A_LINE])
            return agb_fail(err, AGB_ERR_IO, "floor: memory returned other values than were written: this machine's "
                                             "memory is faulty: run a memory test");
    if (!(out->read_gbps > 0 && out->write_gbps > 0))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "floor: %zu bytes were streamed in no time: the clock stands still: "
                                                  "check /sys/devices/system/clocksource",
                        job->bytes_each * agb_pool_workers(pool));
    return AGB_OK;
}

/* Room for the words of every worker stands before the buffer, a page apart. */
agb_status agb_floor_measure(agb_floor *out, agb_pool *pool, agb_error *err)
{
    enum { PAGE = 4096 };
    int cpu = 0;
    *out = (agb_floor){0};
    agb_machine_allowed_cpus(&cpu, 1);
    unsigned workers = agb_pool_workers(pool);
    size_t beyond = 4 * agb_caches_of(cpu).l3, bytes = beyond > LEAST_BYTES ? beyond : LEAST_BYTES;
    size_t each = agb_kernel_slice(bytes, workers);
    size_t head = (workers * WORDS_A_LINE * sizeof(uint64_t) + PAGE - 1) / PAGE * PAGE, total = head + each * workers;
    uint64_t available = agb_machine_available_bytes("");
    char *memory = available > total ? map(total) : NULL;
    if (!memory)
        return agb_fail(err, AGB_ERR_MEMORY, "floor: streaming needs a buffer of %zu bytes beyond the caches, %llu are "
                                             "available: free some memory, or leave the floor out",
                        total, (unsigned long long)available);
    job job = {.buffer = memory + head, .bytes_each = each, .value = 1, .wrong = (uint64_t *)memory};
    agb_status status = measure(out, pool, &job, err);
    munmap(memory, total);
    return status;
}

/* Partitions hold 64-bit words even of narrower keys; a result's group is a key and a count. */
double agb_floor_seconds(const agb_floor *floor, uint64_t rows, uint64_t key_bytes, uint64_t groups)
{
    if (!(floor->read_gbps > 0 && floor->write_gbps > 0))
        return 0;
    double word = key_bytes > sizeof(uint64_t) ? (double)key_bytes : sizeof(uint64_t);
    double input = (double)rows * (double)key_bytes, partitions = (double)rows * word;
    double result = (double)groups * (word + sizeof(uint64_t));
    return ((input + partitions) / floor->read_gbps + (partitions + result) / floor->write_gbps) / 1e9;
}
