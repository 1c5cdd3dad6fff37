/* SPDX-License-Identifier: MIT */
/* One count in a program of its own: see job.h. The file: a header, the jobs, the rows. */
#include "job.h"

#include "bracket.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { BLOCK_ROWS = 256, PAGE = 4096 };
const char agb_job_column[] = "key";

typedef struct header {
    uint64_t jobs, rows;
    agb_type type;
} header;

static size_t rows_at(size_t jobs)
{
    return (sizeof(header) + jobs * sizeof(agb_job) + PAGE - 1) / PAGE * PAGE;
}

static agb_job *jobs_of(header *header)
{
    return (agb_job *)(header + 1);
}

static agb_status lend_rows(agb_table **out, header *header, agb_error *err)
{
    agb_status status = agb_table_create(out, err);
    if (status == AGB_OK)
        status = agb_table_lend(*out, agb_job_column, header->type, (char *)header + rows_at(header->jobs), header->rows,
                                err);
    return status;
}

/* ---- In the parent ------------------------------------------------------------------------------------------------ */

/* Copies the chosen rows; returns how many. */
static uint64_t choose_rows(const agb_column *column, uint64_t rows, uint64_t most_rows, char *to)
{
    size_t width = agb_type_bytes(column->type);
    uint64_t blocks = rows <= most_rows ? 1 : most_rows / BLOCK_ROWS, written = 0;
    uint64_t block_rows = rows <= most_rows ? rows : BLOCK_ROWS;
    for (uint64_t block = 0; block < blocks; block++) {
        uint64_t first = (uint64_t)((unsigned __int128)block * rows / blocks);
        for (uint64_t row = first; row < first + block_rows && row < rows; row++) {
            if (!column->nulls || !column->nulls[row])
                memcpy(to + width * written++, (const char *)column->values + width * row, width);
        }
    }
    return written;
}

agb_status agb_jobs_create(agb_jobs *out, size_t n, const agb_table *table, const char *name,
                           uint64_t most_rows, agb_error *err)
{
    agb_column column;
    agb_table_find_column(table, name, &column);
    uint64_t rows = agb_table_rows(table);
    uint64_t chosen = rows < most_rows ? rows : most_rows;
    *out = (agb_jobs){.n = n, .bytes = rows_at(n) + chosen * agb_type_bytes(column.type) + 1};
    out->file = memfd_create("aggbench jobs", MFD_CLOEXEC);
    header *header = MAP_FAILED;
    if (out->file >= 0 && ftruncate(out->file, (off_t)out->bytes) == 0)
        header = mmap(NULL, out->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out->file, 0);
    if (header == MAP_FAILED) {
        agb_fail(err, AGB_ERR_MEMORY, "%zu bytes for %" PRIu64 " rows: %s", out->bytes, chosen, strerror(errno));
        agb_jobs_release(out);
        return AGB_ERR_MEMORY;
    }
    *header = (struct header){.jobs = n, .type = column.type};
    header->rows = choose_rows(&column, rows, most_rows, (char *)header + rows_at(n));
    out->job = jobs_of(header);
    agb_status status = lend_rows(&out->table, header, err);
    if (status != AGB_OK)
        agb_jobs_release(out);
    return status;
}

void agb_jobs_release(agb_jobs *jobs)
{
    agb_table_destroy(jobs->table);
    if (jobs->job)
        munmap((header *)jobs->job - 1, jobs->bytes);
    if (jobs->file > 0)
        close(jobs->file);
    *jobs = (agb_jobs){.file = -1};
}

void agb_job_order(agb_job *job, const char *aggregator, const char *params, const char *hash,
                   const char *const *plugins, size_t n_plugins)
{
    size_t used = 0;
    *job = (agb_job){.bracket = AGB_BRACKET_CALLGRIND};
    snprintf(job->aggregator, sizeof job->aggregator, "%s", aggregator);
    snprintf(job->params, sizeof job->params, "%s", params);
    snprintf(job->hash, sizeof job->hash, "%s", hash);
    for (size_t i = 0; i < n_plugins && used < sizeof job->plugins; i++)
        used += (size_t)snprintf(job->plugins + used, sizeof job->plugins - used, "%s\n", plugins[i]);
}

/* ---- In the program that was started ------------------------------------------------------------------------------ */

/* perf stat answers each word; without the answer the region would begin before the counting. */
static void tell_perf(const agb_job *job, const char *word)
{
    char answer[16];
    if (write(job->control, word, strlen(word)) < 0 || read(job->acknowledge, answer, sizeof answer) < 0)
        return;
}

static void on_enter(void *context, unsigned worker)
{
    const agb_job *job = context;
    (void)worker;
    if (job->bracket == AGB_BRACKET_PERF)
        tell_perf(job, "enable\n");
    else
        agb_callgrind_begin();
}

static void on_leave(void *context, unsigned worker)
{
    const agb_job *job = context;
    (void)worker;
    if (job->bracket == AGB_BRACKET_PERF)
        tell_perf(job, "disable\n");
    else
        agb_callgrind_end();
}

static agb_status open_plugins(agb_registry *registry, agb_job *job, agb_error *err)
{
    agb_status status = AGB_OK;
    char *rest = job->plugins, *path;
    while (status == AGB_OK && (path = strsep(&rest, "\n"))) {
        if (*path)
            status = agb_registry_open_plugin(registry, path, NULL, err);
    }
    return status;
}

static agb_status count_twice(const agb_table *table, agb_job *job, const agb_registry *registry, agb_error *err)
{
    agb_observer observer = {.context = job, .enter = on_enter, .leave = on_leave};
    agb_sink *sink = NULL;
    agb_memory *memory = NULL;
    agb_plan plan = {.table = table, .column = agb_job_column, .params = job->params, .hash = job->hash,
                     .batch_rows = job->batch_rows, .caches = &job->caches,
                     .aggregator = agb_registry_find_aggregator(registry, job->aggregator)};
    agb_status status = agb_memory_create(&memory, NULL, err);
    if (status == AGB_OK)
        status = agb_sink_collect(&sink, err);
    plan.memory = memory;
    if (status == AGB_OK)
        status = agb_count_groups(&plan, sink, NULL, err);
    plan.observer = &observer;
    if (status == AGB_OK)
        status = agb_count_groups(&plan, sink, &job->stats, err);
    if (status == AGB_OK)
        job->digest = agb_sink_digest(sink);
    agb_sink_destroy(sink);
    agb_memory_destroy(memory);
    return status;
}

agb_status agb_job_do(int file, size_t number, agb_error *err)
{
    struct stat there;
    header *header = MAP_FAILED;
    if (fstat(file, &there) == 0 && (size_t)there.st_size >= sizeof *header)
        header = mmap(NULL, (size_t)there.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (header == MAP_FAILED || number >= header->jobs)
        return agb_fail(err, AGB_ERR_ARGUMENT, "count-once: descriptor %d, job %zu: no such order: this command is for "
                        "aggbench itself", file, number);
    agb_job *job = &jobs_of(header)[number];
    agb_registry *registry;
    agb_table *table = NULL;
    agb_status status = agb_registry_create(&registry, &job->error);
    if (status == AGB_OK)
        status = open_plugins(registry, job, &job->error);
    if (status == AGB_OK)
        status = lend_rows(&table, header, &job->error);
    if (status == AGB_OK)
        status = count_twice(table, job, registry, &job->error);
    job->error.status = status;
    job->done = true;
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    munmap(header, (size_t)there.st_size);
    return AGB_OK;
}
