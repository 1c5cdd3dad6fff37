/* SPDX-License-Identifier: MIT */
/* Every group of an array of this program's own, which the library reads where it is.
 *     cc count_array.c $(pkg-config --cflags --libs aggbench) -o count_array && ./count_array */
#include <aggbench.h>
#include <inttypes.h>
#include <stdio.h>

int main(void)
{
    static const int64_t values[] = {3, 1, 3, 7, 3, 1};
    agb_registry *registry = NULL;
    agb_table *table = NULL;
    agb_sink *sink = NULL;
    agb_block groups;
    agb_error err;
    bool fine = agb_registry_create(&registry, &err) == AGB_OK && agb_table_create(&table, &err) == AGB_OK &&
                agb_table_lend(table, "value", AGB_TYPE_INT64, values, 6, &err) == AGB_OK &&
                agb_sink_collect(&sink, &err) == AGB_OK;
    agb_plan plan = {.table = table, .column = "value"};
    plan.aggregator = fine ? agb_registry_find_aggregator(registry, "radix") : NULL;
    fine = fine && agb_count_groups(&plan, sink, NULL, &err) == AGB_OK;
    for (size_t block = 0; fine && agb_sink_block(sink, block, &groups); block++)
        for (size_t i = 0; i < groups.groups; i++)
            printf("%" PRId64 " %" PRIu64 "\n", (int64_t)groups.keys[i], groups.counts[i]);
    if (!fine)
        fprintf(stderr, "count_array: %s\n", err.text);
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    return fine ? 0 : 1;
}
