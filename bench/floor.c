/* SPDX-License-Identifier: MIT */
/* The floor: how fast this machine streams, right now, with these workers.
 *
 * Every pass is bracketed by one wall clock around all workers, bytes divided by that one window: adding up the
 * workers' own rates would count time twice in which some of them had already ended. The buffer is well beyond the
 * last-level cache. What is read is checked against what must stand there, so that no compiler may leave it out. */
#include "machine.h"

#include <sys/mman.h>
#include <time.h>

enum { PASSES = 2 };

static const size_t LEAST_BYTES = (size_t)256 << 20;

/* 32 bytes at once: what AVX2 moves in one instruction, and two of NEON's. */
typedef uint64_t vector __attribute__((vector_size(32)));

#if defined(__x86_64__)
#include <emmintrin.h>

/* Past the caches: no line is read before it is overwritten. */
static void stream_vector(vector *to, uint64_t word)
{
    for (size_t i = 0; i < sizeof *to / sizeof word; i++)
        _mm_stream_si64((long long *)to + i, (long long)word);
}

static void stream_end(void)
{
    _mm_sfence();
}
#else
static void stream_vector(vector *to, uint64_t word)
{
    *to = (vector){word, word, word, word};
}

static void stream_end(void)
{
}
#endif

typedef enum kind { WRITE, WRITE_STREAMING, READ } kind;

typedef struct job {
    vector *buffer;
    size_t vectors_each;       /* of one worker */
    kind kind;
    uint64_t word;             /* what is written, or must be read, everywhere */
    uint64_t *wrong;           /* per worker, a line apart: bits that a reading found different */
} job;

enum { WORDS_A_LINE = 8, UNROLLED = 4 };

static uint64_t read_slice(const vector *from, size_t vectors, uint64_t word)
{
    vector wanted = {word, word, word, word}, wrong[UNROLLED] = {{0}};
    for (size_t i = 0; i < vectors; i += UNROLLED)
        for (size_t lane = 0; lane < UNROLLED; lane++)
            wrong[lane] |= from[i + lane] ^ wanted;
    vector all = wrong[0] | wrong[1] | wrong[2] | wrong[3];
    return all[0] | all[1] | all[2] | all[3];
}

static void run_slice(void *argument, unsigned worker, size_t task)
{
    const job *job = argument;
    vector *slice = job->buffer + task * job->vectors_each;
    vector value = {job->word, job->word, job->word, job->word};
    switch (job->kind) {
    case WRITE:
        for (size_t i = 0; i < job->vectors_each; i++)
            slice[i] = value;
        break;
    case WRITE_STREAMING:
        for (size_t i = 0; i < job->vectors_each; i++)
            stream_vector(slice + i, job->word);
        stream_end();
        break;
    case READ:
        job->wrong[(size_t)worker * WORDS_A_LINE] |= read_slice(slice, job->vectors_each, job->word);
        break;
    }
}

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* One pass over the buffer; keeps the better rate. */
static void run_pass(agb_pool *pool, job *job, kind kind, double *best_gbps)
{
    job->kind = kind;
    double bytes = (double)job->vectors_each * sizeof *job->buffer * agb_pool_workers(pool);
    double start = now_s();
    agb_pool_each(pool, run_slice, job);
    double elapsed = now_s() - start;
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
    run_pass(pool, job, WRITE, &first_touch);    /* pays the page faults; its rate is not used */
    for (unsigned pass = 0; pass < PASSES; pass++) {
        run_pass(pool, job, READ, &out->read_gbps);
        job->word++;
        run_pass(pool, job, WRITE, &out->write_gbps);
        run_pass(pool, job, READ, &out->read_gbps);
        job->word++;
        run_pass(pool, job, WRITE_STREAMING, &out->write_gbps);
    }
    for (unsigned worker = 0; worker < agb_pool_workers(pool); worker++)
        if (job->wrong[(size_t)worker * WORDS_A_LINE])
            return agb_fail(err, AGB_ERR_IO, "floor: memory returned other values than were written: this machine's "
                                             "memory is faulty: run a memory test");
    if (!(out->read_gbps > 0 && out->write_gbps > 0))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "floor: %zu bytes were streamed in no time: the clock stands still: "
                                                  "check /sys/devices/system/clocksource",
                        job->vectors_each * sizeof *job->buffer * agb_pool_workers(pool));
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
    size_t unit = UNROLLED * sizeof(vector), each = bytes / workers / unit * unit;
    size_t head = (workers * WORDS_A_LINE * sizeof(uint64_t) + PAGE - 1) / PAGE * PAGE, total = head + each * workers;
    uint64_t available = agb_machine_available_bytes("");
    unsigned char *memory = available > total ? map(total) : NULL;
    if (!memory)
        return agb_fail(err, AGB_ERR_MEMORY, "floor: streaming needs a buffer of %zu bytes beyond the caches, %llu are "
                                             "available: free some memory, or leave the floor out",
                        total, (unsigned long long)available);
    job job = {.buffer = (vector *)(memory + head), .vectors_each = each / sizeof(vector), .word = 1,
               .wrong = (uint64_t *)memory};
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
