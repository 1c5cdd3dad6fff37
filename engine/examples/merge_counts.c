/* SPDX-License-Identifier: MIT */
/* Merges partial counts of a column of signed numbers, files as `aggbench run --groups FILE` writes them, and prints
 * the sum of NULL, if it is there, and the ten largest of the others: rows that come batch by batch from a source of
 * this program's own, here standard input.
 *     cc merge_counts.c $(pkg-config --cflags --libs aggbench) -o merge_counts && cat part1 part2 | ./merge_counts */
#include <aggbench.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BATCH_ROWS = 1024 };

typedef struct source {
    FILE *from;
    uint64_t keys[BATCH_ROWS], counts[BATCH_ROWS], nulls;
} source;

/* "-5,17" or, for rows without a key, "NULL,17"; false where it is neither, or does not fit. */
static bool parse(const char *line, bool *null, int64_t *key, uint64_t *count)
{
    const char *comma = strchr(line, ',');
    char *key_end, *end;
    if (!comma || comma == line)
        return false;
    errno = 0;
    *null = strncmp(line, "NULL,", 5) == 0;
    *key = strtoll(line, &key_end, 10);
    *count = strtoull(comma + 1, &end, 10);
    return (*null || key_end == comma) && end > comma + 1 && *end == '\n' && errno == 0;
}

/* Called until it leaves no rows. What the batch points to is ours, and stays as it is until the next call. */
static agb_status next(void *context, unsigned worker, agb_batch *batch)
{
    (void)worker;    /* always 0: the plan has no pool */
    source *self = context;
    char line[64];
    while (batch->rows < BATCH_ROWS && fgets(line, sizeof line, self->from)) {
        bool null;
        int64_t key;
        uint64_t count;
        if (strcmp(line, "key,count\n") == 0)    /* every file begins with it */
            continue;
        if (!parse(line, &null, &key, &count))
            return AGB_ERR_FORMAT;
        if (null) {
            self->nulls += count;    /* a stream has no NULL keys */
            continue;
        }
        self->keys[batch->rows] = (uint64_t)key;
        self->counts[batch->rows] = count;
        batch->rows += count > 0;    /* a weight is never 0 */
    }
    batch->keys = self->keys;
    batch->weights = self->counts;
    return ferror(self->from) ? AGB_ERR_IO : AGB_OK;
}

int main(void)
{
    source source = {.from = stdin};
    agb_stream stream = {.kind = AGB_KEYS_WORD, .weighted = true, .context = &source, .next = next};
    agb_plan plan = {.stream = &stream};
    agb_registry *registry = NULL;
    agb_sink *sink = NULL;
    agb_group top[10];
    agb_error err = {0};
    bool fine = agb_registry_create(&registry, &err) == AGB_OK && agb_sink_top(&sink, 10, NULL, &err) == AGB_OK;
    plan.aggregator = fine ? agb_registry_find_aggregator(registry, "naive") : NULL;
    fine = fine && agb_count_groups(&plan, sink, NULL, &err) == AGB_OK;
    if (fine && source.nulls > 0)
        printf("NULL,%" PRIu64 "\n", source.nulls);
    for (size_t i = 0, n = fine ? agb_sink_top_groups(sink, top, 10, NULL) : 0; i < n; i++)
        printf("%" PRId64 ",%" PRIu64 "\n", (int64_t)top[i].key.word, top[i].count);
    if (!fine)
        fprintf(stderr, "merge_counts: %s\n", err.text);
    agb_sink_destroy(sink);
    agb_registry_destroy(registry);
    return fine ? 0 : 1;
}
