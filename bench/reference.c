/* SPDX-License-Identifier: MIT */
/* The right answer, and why another one is wrong: see reference.h. */
#include "reference.h"

#include "process.h"
#include "text.h"

#include <inttypes.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

const char agb_reference_aggregator[] = "sort";

static int by_key(const void *left, const void *right)
{
    const agb_group *a = left, *b = right;
    return (a->key > b->key) - (a->key < b->key);
}

void agb_sort_groups(agb_group *groups, size_t n)
{
    qsort(groups, n, sizeof *groups, by_key);
}

/* Copies a collect sink's groups; tells whether they stood in the order of their keys already. */
static bool copy_groups(const agb_sink *sink, agb_group *to)
{
    const uint64_t *keys, *counts;
    size_t groups, at = 0;
    bool sorted = true;
    for (size_t block = 0; agb_sink_block(sink, block, &keys, &counts, &groups); block++) {
        for (size_t i = 0; i < groups; i++, at++) {
            to[at] = (agb_group){keys[i], counts[i]};
            sorted = sorted && (at == 0 || to[at - 1].key <= keys[i]);
        }
    }
    return sorted;
}

agb_group *agb_sorted_groups(const agb_sink *sink, size_t *n)
{
    *n = agb_sink_digest(sink).groups;
    agb_group *groups = malloc((*n + 1) * sizeof *groups);
    if (groups && !copy_groups(sink, groups))
        agb_sort_groups(groups, *n);
    return groups;
}

/* ---- Counting it ------------------------------------------------------------------------------------------------- */

/* What the child is told, and what it answers. */
typedef struct task {
    agb_plan plan;
    int file;    /* takes the sorted groups */
} task;

typedef struct answer {
    agb_error error;
    agb_digest digest;
    agb_stats stats;
} answer;

static agb_status store_groups(const agb_sink *sink, uint64_t n, int file, agb_error *err)
{
    if (n == 0)
        return AGB_OK;
    size_t bytes = n * sizeof(agb_group);
    agb_group *groups = MAP_FAILED;
    if (ftruncate(file, (off_t)bytes) == 0)
        groups = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (groups == MAP_FAILED)
        return agb_fail(err, AGB_ERR_MEMORY,
                        "no memory for %" PRIu64 " groups (%zu bytes): free memory or take fewer rows", n, bytes);
    if (!copy_groups(sink, groups))
        agb_sort_groups(groups, n);
    return AGB_OK;
}

/* Memory goes back at once: the reference must not need more than the contestants that it judges. */
static const agb_memory_options lean = {.mode = AGB_MEMORY_FRESH};

static void count_in_child(void *context, int in, int out)
{
    (void)in;
    const task *task = context;
    agb_plan plan = task->plan;
    answer answer = {0};
    agb_sink *sink = NULL;
    agb_status status = agb_sink_collect(&sink, &answer.error);
    if (status == AGB_OK)
        status = agb_memory_create(&plan.memory, &lean, &answer.error);
    if (status == AGB_OK)
        status = agb_count_groups(&plan, sink, &answer.stats, &answer.error);
    if (status == AGB_OK) {
        answer.digest = agb_sink_digest(sink);
        status = store_groups(sink, answer.digest.groups, task->file, &answer.error);
    }
    answer.error.status = status;
    agb_pipe_write(out, &answer, sizeof answer);
}

static agb_status hear_answer(agb_process *process, answer *answer, double timeout_s, agb_error *err)
{
    agb_answer heard = agb_process_hear(process, answer, sizeof *answer, timeout_s);
    agb_process_end(process, heard == AGB_ANSWER_LATE);
    char how[128];
    agb_process_describe_end(process, how, sizeof how);
    if (heard == AGB_ANSWER_LATE)
        return agb_fail(err, AGB_ERR_CONTRACT, "reference answer: %s: not ready after %g s: take fewer rows",
                        agb_reference_aggregator, timeout_s);
    if (heard == AGB_ANSWER_ENDED)
        return agb_fail(err, AGB_ERR_MEMORY, "reference answer: %s: its process ended by %s%s",
                        agb_reference_aggregator, how,
                        agb_process_signal(process) == 9 ? ": most likely out of memory: try fewer rows" : "");
    if (answer->error.status != AGB_OK)
        return agb_fail(err, answer->error.status, "reference answer: %s", answer->error.text);
    return AGB_OK;
}

static agb_status map_groups(agb_reference *out, int file, agb_error *err)
{
    out->n = out->digest.groups;
    if (out->n == 0)
        return AGB_OK;
    void *groups = mmap(NULL, out->n * sizeof *out->groups, PROT_READ, MAP_SHARED, file, 0);
    if (groups == MAP_FAILED)
        return agb_fail(err, AGB_ERR_MEMORY, "reference answer: its %zu groups cannot be mapped", out->n);
    out->groups = groups;
    return AGB_OK;
}

agb_status agb_reference_count(agb_reference *out, const agb_registry *registry, const agb_table *table,
                               const char *column, double timeout_s, agb_error *err)
{
    *out = (agb_reference){0};
    task task = {.plan = {.table = table, .column = column}};
    task.plan.aggregator = agb_registry_find_aggregator(registry, agb_reference_aggregator);
    if (!task.plan.aggregator)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "reference answer: aggregator %s is not part of this build",
                        agb_reference_aggregator);
    task.file = memfd_create("aggbench reference", MFD_CLOEXEC);
    if (task.file < 0)
        return agb_fail(err, AGB_ERR_MEMORY, "reference answer: no memory file for its groups");
    double start = agb_now_s();
    agb_process process;
    answer answer;
    agb_status status = agb_process_start(&process, count_in_child, &task, err);
    if (status == AGB_OK)
        status = hear_answer(&process, &answer, timeout_s, err);
    if (status == AGB_OK) {
        out->digest = answer.digest;
        out->nulls = answer.stats.nulls;
        out->rows = answer.stats.rows;
        out->seconds = agb_now_s() - start;
        status = map_groups(out, task.file, err);
    }
    close(task.file);
    return status;
}

void agb_reference_release(agb_reference *reference)
{
    if (reference->groups)
        munmap(reference->groups, reference->n * sizeof *reference->groups);
    *reference = (agb_reference){0};
}

/* ---- Comparing with it ------------------------------------------------------------------------------------------- */

bool agb_reference_agrees(const agb_reference *reference, const agb_digest *digest, const agb_stats *stats)
{
    const agb_digest *right = &reference->digest;
    return digest->groups == right->groups && digest->rows == right->rows && digest->checksum == right->checksum &&
           digest->max_count == right->max_count && stats->nulls == reference->nulls;
}

void agb_reference_explain(const agb_reference *reference, const agb_sink *sink, const agb_stats *stats,
                           bool signed_keys, agb_error *err)
{
    if (stats->nulls != reference->nulls) {
        agb_fail(err, AGB_ERR_CONTRACT, "wrong at key NULL: counted %" PRIu64 ", right is %" PRIu64, stats->nulls,
                 reference->nulls);
        return;
    }
    size_t n;
    agb_group *mine = agb_sorted_groups(sink, &n);
    if (!mine) {
        agb_fail(err, AGB_ERR_CONTRACT, "wrong: the digest differs; no memory to find the key");
        return;
    }
    const agb_group *right = reference->groups;
    size_t i = 0;
    while (i < n && i < reference->n && mine[i].key == right[i].key && mine[i].count == right[i].count)
        i++;
    bool has_mine = i < n, has_right = i < reference->n;
    bool twice = has_mine &&
                 ((i > 0 && mine[i].key == mine[i - 1].key) || (i + 1 < n && mine[i].key == mine[i + 1].key));
    if (twice)
        agb_fail(err, AGB_ERR_CONTRACT, "emitted twice: key %s", agb_text_key(mine[i].key, signed_keys).s);
    else if (has_mine && has_right && mine[i].key == right[i].key)
        agb_fail(err, AGB_ERR_CONTRACT, "wrong at key %s: counted %" PRIu64 ", right is %" PRIu64,
                 agb_text_key(mine[i].key, signed_keys).s, mine[i].count, right[i].count);
    else if (has_mine && (!has_right || mine[i].key < right[i].key))
        agb_fail(err, AGB_ERR_CONTRACT, "wrong at key %s: counted %" PRIu64 ", but no row has this key",
                 agb_text_key(mine[i].key, signed_keys).s, mine[i].count);
    else if (has_right)
        agb_fail(err, AGB_ERR_CONTRACT, "wrong at key %s: its group is missing, right is %" PRIu64,
                 agb_text_key(right[i].key, signed_keys).s, right[i].count);
    else
        agb_fail(err, AGB_ERR_CONTRACT, "wrong: the digest differs although the groups are the same");
    free(mine);
}
