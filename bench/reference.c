/* SPDX-License-Identifier: MIT */
/* The right answer, and why another one is wrong: see reference.h. */
#include "reference.h"

#include "key_text.h"
#include "os_usage.h"
#include "process.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

const char agb_reference_aggregator[] = "sort";

static int by_word(const void *a, const void *b)
{
    return agb_key_compare_raw(AGB_KEYS_WORD, &((const agb_group *)a)->key, &((const agb_group *)b)->key);
}

static int by_pair(const void *a, const void *b)
{
    return agb_key_compare_raw(AGB_KEYS_PAIR, &((const agb_group *)a)->key, &((const agb_group *)b)->key);
}

static int by_string(const void *a, const void *b)
{
    return agb_key_compare_raw(AGB_KEYS_BYTES, &((const agb_group *)a)->key, &((const agb_group *)b)->key);
}

void agb_sort_groups(agb_key_kind kind, agb_group *groups, size_t n)
{
    static int (*const orders[])(const void *a, const void *b) = {by_word, by_pair, by_string};
    qsort(groups, n, sizeof *groups, orders[kind]);
}

bool agb_same_group(agb_key_kind kind, const agb_group *a, const agb_group *b)
{
    return a->count == b->count && agb_key_compare_raw(kind, &a->key, &b->key) == 0;
}

static agb_key_kind kind_of(const agb_sink *sink)
{
    agb_block block = {0};
    agb_sink_block(sink, 0, &block);
    return block.kind;
}

/* Copies a collect sink's groups in order: `sort` emits them so already. */
static void copy_groups(const agb_sink *sink, agb_group *to)
{
    agb_block block = {0};
    size_t at = 0;
    bool sorted = true;
    for (size_t number = 0; agb_sink_block(sink, number, &block); number++) {
        for (size_t i = 0; i < block.groups; i++, at++) {
            to[at] = agb_block_group(&block, i);
            sorted = sorted && (at == 0 || agb_key_compare_raw(block.kind, &to[at - 1].key, &to[at].key) <= 0);
        }
    }
    if (!sorted)
        agb_sort_groups(kind_of(sink), to, at);
}

agb_group *agb_sorted_groups(const agb_sink *sink, size_t *n)
{
    *n = agb_sink_digest(sink).groups;
    agb_group *groups = malloc((*n + 1) * sizeof *groups);
    if (groups)
        copy_groups(sink, groups);
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
    uint64_t bytes;    /* of the file */
    uint64_t peak_rss_bytes;
} answer;

static uint64_t string_bytes(const agb_sink *sink)
{
    agb_block block;
    uint64_t bytes = 0;
    for (size_t number = 0; agb_sink_block(sink, number, &block); number++)
        for (size_t i = 0; block.bytes && i < block.groups; i++)
            bytes += block.bytes[i].length;
    return bytes;
}

/* Strings go behind the groups, which say how far from the beginning of the file: see place_strings. */
static void store_strings(agb_group *groups, size_t n)
{
    unsigned char *at = (unsigned char *)(groups + n);
    for (size_t i = 0; i < n; i++) {
        agb_bytes *string = &groups[i].key.bytes;
        if (string->length)
            memcpy(at, string->data, string->length);
        string->data = (const unsigned char *)(uintptr_t)(at - (unsigned char *)groups);
        at += string->length;
    }
}

static agb_status store_groups(const agb_sink *sink, int file, answer *answer, agb_error *err)
{
    uint64_t n = answer->digest.groups;
    if (n == 0)
        return AGB_OK;
    size_t bytes = n * sizeof(agb_group) + string_bytes(sink);
    agb_group *groups = MAP_FAILED;
    if (ftruncate(file, (off_t)bytes) == 0)
        groups = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    else if (errno == EFBIG)
        return agb_fail(err, AGB_ERR_IO, "its %" PRIu64 " groups take %zu bytes, more than a file may have here: raise "
                        "`ulimit -f`", n, bytes);
    if (groups == MAP_FAILED)
        return agb_fail(err, AGB_ERR_MEMORY,
                        "no memory for %" PRIu64 " groups (%zu bytes): free memory or take fewer rows", n, bytes);
    copy_groups(sink, groups);
    if (answer->stats.kind == AGB_KEYS_BYTES)
        store_strings(groups, n);
    answer->bytes = bytes;
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
        status = store_groups(sink, task->file, &answer, &answer.error);
    }
    answer.error.status = status;
    answer.peak_rss_bytes = agb_peak_rss_bytes();
    agb_process_answer(out, &answer, sizeof answer);
}

static agb_status hear_answer(agb_process *process, answer *answer, double timeout_s, uint64_t rows, agb_error *err)
{
    agb_answer heard = agb_process_hear(process, answer, sizeof *answer, timeout_s);
    agb_process_end(process, heard == AGB_ANSWER_LATE);
    char how[128];
    agb_process_describe_end(process, how, sizeof how);
    if (heard == AGB_ANSWER_LATE)
        return agb_fail(err, AGB_ERR_CONTRACT, "reference answer: %s: not ready after %g s: raise --timeout or take "
                        "fewer rows", agb_reference_aggregator, timeout_s);
    if (heard != AGB_ANSWER_WHOLE)
        return agb_fail(err, AGB_ERR_CONTRACT, "reference answer: %s: its process ended by %s%s",
                        agb_reference_aggregator, how,
                        agb_process_signal(process) == SIGKILL
                            ? ": from outside, or the system ran out of memory: try fewer rows" : "");
    answer->error.text[sizeof answer->error.text - 1] = '\0';
    if (answer->error.status == AGB_ERR_MEMORY)
        return agb_fail(err, AGB_ERR_MEMORY, "reference answer: %s: no memory for it: it takes 2 x 8 bytes a row, "
                        "%" PRIu64 " bytes for %" PRIu64 " rows, and more for other keys than one number: free memory "
                        "or take fewer rows", agb_reference_aggregator, 16 * rows, rows);
    if (answer->error.status != AGB_OK)
        return agb_fail(err, answer->error.status, "reference answer: %s", answer->error.text);
    return AGB_OK;
}

/* From distances to addresses. */
static void place_strings(agb_group *groups, size_t n)
{
    for (size_t i = 0; i < n; i++)
        groups[i].key.bytes.data = (unsigned char *)groups + (uintptr_t)groups[i].key.bytes.data;
}

static agb_status map_groups(agb_reference *out, int file, size_t bytes, agb_error *err)
{
    if (bytes == 0)
        return AGB_OK;
    void *groups = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (groups == MAP_FAILED)
        return agb_fail(err, AGB_ERR_MEMORY, "reference answer: its %" PRIu64 " groups cannot be mapped",
                        out->digest.groups);
    out->groups = groups;
    out->n = out->digest.groups;
    out->bytes = bytes;
    if (out->kind == AGB_KEYS_BYTES)
        place_strings(out->groups, out->n);
    mprotect(groups, bytes, PROT_READ);
    return AGB_OK;
}

agb_status agb_reference_count(agb_reference *out, const agb_registry *registry, const agb_plan *query,
                               double timeout_s, agb_error *err)
{
    *out = (agb_reference){0};
    task task = {.plan = {.table = query->table, .column = query->column, .filter = query->filter}};
    task.plan.aggregator = agb_registry_find_aggregator(registry, agb_reference_aggregator);
    if (!task.plan.aggregator)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "reference answer: aggregator %s is not part of this build",
                        agb_reference_aggregator);
    task.file = memfd_create("aggbench reference", MFD_CLOEXEC);
    if (task.file < 0)
        return agb_fail(err, AGB_ERR_MEMORY, "reference answer: no memory file for its groups: %s: see `ulimit -n`",
                        strerror(errno));
    double start = agb_now_s();
    agb_process process;
    answer answer;
    agb_status status = agb_process_start(&process, count_in_child, &task, task.file, err);
    if (status == AGB_OK)
        status = hear_answer(&process, &answer, timeout_s, agb_table_rows(query->table), err);
    if (status == AGB_OK) {
        out->digest = answer.digest;
        out->nulls = answer.stats.nulls;
        out->rows = answer.stats.rows;
        out->kind = answer.stats.kind;
        out->peak_rss_bytes = answer.peak_rss_bytes;
        out->seconds = agb_now_s() - start;
        status = map_groups(out, task.file, answer.bytes, err);
    }
    close(task.file);
    return status;
}

void agb_reference_release(agb_reference *reference)
{
    if (reference->bytes)
        munmap(reference->groups, reference->bytes);
    *reference = (agb_reference){0};
}

/* ---- Comparing with it ------------------------------------------------------------------------------------------- */

bool agb_reference_agrees(const agb_reference *reference, const agb_digest *digest, const agb_stats *stats)
{
    const agb_digest *right = &reference->digest;
    return digest->groups == right->groups && digest->rows == right->rows && digest->checksum == right->checksum &&
           digest->max_count == right->max_count && stats->nulls == reference->nulls;
}

static bool same_key(const agb_reference *reference, const agb_group *a, const agb_group *b)
{
    return agb_key_compare_raw(reference->kind, &a->key, &b->key) == 0;
}

/* mine: n groups in order, of which number i is the first that differs from the right ones. */
static void explain_difference(const agb_reference *reference, const agb_group *mine, size_t n, size_t i,
                               const agb_key_layout *layout, agb_error *err)
{
    const agb_group *right = &reference->groups[i], *wrong = &mine[i];
    bool has_mine = i < n, has_right = i < reference->n;
    bool twice = has_mine && ((i > 0 && same_key(reference, wrong, wrong - 1)) ||
                              (i + 1 < n && same_key(reference, wrong, wrong + 1)));
    int order = has_mine ? -1 : 1;
    if (has_mine && has_right)
        order = agb_key_compare_raw(reference->kind, &wrong->key, &right->key);
    if (twice)
        agb_fail(err, AGB_ERR_CONTRACT, "emitted twice: key %s", agb_text_key(layout, &wrong->key).s);
    else if (!has_mine && !has_right)
        agb_fail(err, AGB_ERR_CONTRACT, "wrong: the digest differs although the groups are the same");
    else if (order == 0)
        agb_fail(err, AGB_ERR_CONTRACT, "wrong at key %s: counted %" PRIu64 ", right is %" PRIu64,
                 agb_text_key(layout, &wrong->key).s, wrong->count, right->count);
    else if (order < 0)
        agb_fail(err, AGB_ERR_CONTRACT, "wrong at key %s: counted %" PRIu64 ", but no row has this key",
                 agb_text_key(layout, &wrong->key).s, wrong->count);
    else
        agb_fail(err, AGB_ERR_CONTRACT, "wrong at key %s: its group is missing, right is %" PRIu64,
                 agb_text_key(layout, &right->key).s, right->count);
}

void agb_reference_explain(const agb_reference *reference, const agb_sink *sink, const agb_stats *stats,
                           const agb_key_layout *layout, agb_error *err)
{
    if (stats->nulls != reference->nulls) {
        agb_fail(err, AGB_ERR_CONTRACT, "wrong at key NULL: counted %" PRIu64 ", right is %" PRIu64, stats->nulls,
                 reference->nulls);
        return;
    }
    size_t n, i = 0;
    agb_group *mine = agb_sorted_groups(sink, &n);
    if (!mine) {
        agb_fail(err, AGB_ERR_CONTRACT, "wrong: the digest differs; no memory to find the key");
        return;
    }
    while (i < n && i < reference->n && agb_same_group(reference->kind, &mine[i], &reference->groups[i]))
        i++;
    explain_difference(reference, mine, n, i, layout, err);
    free(mine);
}
