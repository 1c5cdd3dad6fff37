/* SPDX-License-Identifier: MIT */
/* The ten largest groups of a column: of a file's, or, without arguments, of an array of this program's own.
 *     cc count_column.c $(pkg-config --cflags --libs aggbench) -o count_column && ./count_column hits.parquet UserID */
#include <aggbench.h>
#include <inttypes.h>
#include <stdio.h>

int main(int argc, char **argv)
{
    static const int64_t own[] = {3, 1, 3, 7, 3, 1};
    agb_error err = {0};
    agb_registry *registry = NULL;
    agb_table *table = NULL;
    agb_sink *sink = NULL;
    agb_group top[10];
    const char *column = argc == 3 ? argv[2] : "own";
    bool fine = agb_registry_create(&registry, &err) == AGB_OK && agb_sink_collect(&sink, &err) == AGB_OK;
    if (fine && argc == 3)
        fine = agb_table_load(&table, registry, argv[1], &column, 1, NULL, &err) == AGB_OK;
    else if (fine)
        fine = agb_table_create(&table, &err) == AGB_OK &&
               agb_table_lend(table, column, AGB_TYPE_INT64, own, sizeof own / sizeof *own, &err) == AGB_OK;
    agb_plan plan = {.table = table, .column = column};
    plan.aggregator = fine ? agb_registry_find_aggregator(registry, "radix") : NULL;
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
