/* SPDX-License-Identifier: MIT */
/* One count in a program of its own: see job.h. The rows of the file are job_file.c's. */
#include "job_file.h"

#include "bracket.h"

#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- In the program that was started ----------------------------------------------------------------------------- */

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

static agb_status count_twice(const agb_job_query *query, agb_job *job, const agb_registry *registry, agb_error *err)
{
    agb_observer observer = {.context = job, .enter = on_enter, .leave = on_leave};
    agb_sink *sink = NULL;
    agb_memory *memory = NULL;
    agb_plan plan = {.table = query->table, .column = query->group_by, .filter = query->filter,
                     .params = job->params, .hash = job->hash, .batch_rows = job->batch_rows, .caches = &job->caches,
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

static agb_status do_job(agb_job_header *header, agb_job *job, agb_error *err)
{
    agb_registry *registry;
    agb_job_rows rows = {0};
    agb_filter *filter = NULL;
    agb_status status = agb_registry_create(&registry, err);
    if (status == AGB_OK)
        status = open_plugins(registry, job, err);
    if (status == AGB_OK)
        status = agb_job_rows_lend(&rows, header, err);
    if (status == AGB_OK && header->where[0])
        status = agb_filter_parse(&filter, header->where, err);
    agb_job_query query = {.table = rows.table, .group_by = header->group_by, .filter = filter};
    if (status == AGB_OK)
        status = count_twice(&query, job, registry, err);
    agb_filter_destroy(filter);
    agb_job_rows_release(&rows);
    agb_registry_destroy(registry);
    return status;
}

agb_status agb_job_do(int file, size_t number, agb_error *err)
{
    struct stat there;
    agb_job_header *header = MAP_FAILED;
    if (fstat(file, &there) == 0 && (size_t)there.st_size >= sizeof *header)
        header = mmap(NULL, (size_t)there.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (header == MAP_FAILED || number >= header->jobs)
        return agb_fail(err, AGB_ERR_ARGUMENT, "count-once: descriptor %d, job %zu: no such order: this command is for "
                        "aggbench itself", file, number);
    agb_job *job = agb_job_at(header, number);
    job->error.status = do_job(header, job, &job->error);
    job->done = true;
    munmap(header, (size_t)there.st_size);
    return AGB_OK;
}
