/* SPDX-License-Identifier: MIT */
/* Merges partial counts of a column of numbers, files as `aggbench run --groups FILE` writes them, and prints the ten
 * largest sums: rows that come batch by batch from a source of this program's own, here standard input.
 *     cc merge_counts.c $(pkg-config --cflags --libs aggbench) -o merge_counts && cat part1 part2 | ./merge_counts */
#include <aggbench.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { BATCH_ROWS = 1024 };

typedef struct source {
    FILE *from;
    uint64_t keys[BATCH_ROWS], counts[BATCH_ROWS];
} source;

/* Called until it leaves no rows. What the batch points to is ours, and stays as it is until the next call. */
static agb_status next(void *context, unsigned worker, agb_batch *batch)
{
    (void)worker;    /* always 0: the plan has no pool */
    source *self = context;
    char line[64];
    while (batch->rows < BATCH_ROWS && fgets(line, sizeof line, self->from)) {
        int64_t key;
        if (strcmp(line, "key,count\n") == 0)    /* every file begins with it */
            continue;
        if (sscanf(line, "%" SCNd64 ",%" SCNu64, &key, &self->counts[batch->rows]) != 2)
            return AGB_ERR_FORMAT;
        self->keys[batch->rows] = (uint64_t)key;
        batch->rows += self->counts[batch->rows] > 0;    /* a weight is never 0 */
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
    for (size_t i = 0, n = fine ? agb_sink_top_groups(sink, top, 10, NULL) : 0; i < n; i++)
        printf("%" PRId64 ",%" PRIu64 "\n", (int64_t)top[i].key.word, top[i].count);
    if (!fine)
        fprintf(stderr, "merge_counts: %s\n", err.text);
    agb_sink_destroy(sink);
    agb_registry_destroy(registry);
    return fine ? 0 : 1;
}
