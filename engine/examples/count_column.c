/* SPDX-License-Identifier: MIT */
/* The ten largest groups of a column of numbers.
 *     cc count_column.c $(pkg-config --cflags --libs aggbench) -o count_column && ./count_column hits.parquet UserID */
#include <aggbench.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    agb_error err = {.text = "which column of which file: count_column FILE COLUMN"};
    agb_registry *registry = NULL;
    agb_table *table = NULL;
    agb_sink *sink = NULL;
    agb_group top[10];
    bool fine = argc == 3 && agb_registry_create(&registry, &err) == AGB_OK && agb_sink_collect(&sink, &err) == AGB_OK;
    fine = fine && agb_table_load(&table, registry, argv[1], (const char **)&argv[2], 1, NULL, &err) == AGB_OK;
    const agb_aggregator *best = fine ? agb_registry_find_aggregator(registry, "best") : NULL;
    agb_plan plan = {.table = table, .column = fine ? argv[2] : NULL, .aggregator = best};
    fine = fine && agb_count_groups(&plan, sink, NULL, &err) == AGB_OK;
    for (size_t i = 0, n = fine ? agb_sink_top_groups(sink, top, 10, NULL) : 0; i < n; i++)
        printf("%" PRId64 " %" PRIu64 "\n", (int64_t)top[i].key.word, top[i].count);
    if (!fine)
        fprintf(stderr, "count_column: %s\n", err.text);
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    return fine ? 0 : 1;
}
