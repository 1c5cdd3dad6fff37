/* SPDX-License-Identifier: MIT */
/* The largest groups as a table: one column for each column of the key, and the count. */
#include "report.h"

#include "key_text.h"
#include "text.h"

#include <string.h>

enum { COUNT_CELLS = 15, ALONE = 20, MOST_COLUMNS = 16 };

typedef struct top_table {
    const agb_key_layout *layout;
    size_t columns;              /* that are shown */
    int cells[MOST_COLUMNS];     /* width of each */
} top_table;

static int widest_of(const top_table *table)
{
    return (AGB_TEXT_CELLS - COUNT_CELLS) / (int)table->columns - 1;
}

static void fit_columns(top_table *table, const agb_result *result, size_t first)
{
    int most = widest_of(table);
    for (size_t i = 0; i < table->columns; i++) {
        int width = agb_text_cells(table->layout->column[i].term.name);
        width = table->columns == 1 && width < ALONE ? ALONE : width;
        for (size_t k = first; k < result->n_top; k++) {
            agb_value value = agb_key_value(table->layout, &result->top[k].key, i);
            int cells = agb_text_cells(agb_text_value(&value, most).s);
            width = cells > width ? cells : width;
        }
        table->cells[i] = width;
    }
}

/* Numbers stand to the right, words to the left. */
static void print_cell(FILE *to, const top_table *table, size_t i, const char *text)
{
    int space = table->cells[i] - agb_text_cells(text);
    space = space < 0 ? 0 : space;
    bool words = table->layout->column[i].type == AGB_TYPE_BYTES;
    fprintf(to, "%s%*s%s%*s", i ? " " : "", words ? 0 : space, "", text, words ? space : 0, "");
}

static void print_line(FILE *to, const top_table *table, const agb_group *group)
{
    for (size_t i = 0; i < table->columns; i++) {
        agb_value value = agb_key_value(table->layout, &group->key, i);
        print_cell(to, table, i, agb_text_value(&value, widest_of(table)).s);
    }
    fprintf(to, " %14s\n", agb_text_count(group->count).s);
}

void agb_report_top(FILE *to, const agb_results *results, size_t source)
{
    const agb_source_info *info = &results->sources[source];
    const agb_result *result = NULL;
    for (size_t i = results->n_results; i-- > 0;)
        if (results->results[i].source == source && results->results[i].state == AGB_STATE_OK)
            result = &results->results[i];
    size_t first = results->settings.offset;
    if (!result || result->n_top <= first)
        return;
    top_table table = {.layout = info->layout, .columns = info->layout->columns};
    if (table.columns > MOST_COLUMNS)
        table.columns = MOST_COLUMNS;
    fit_columns(&table, result, first);
    fputc('\n', to);
    for (size_t i = 0; i < table.columns; i++)
        print_cell(to, &table, i, info->layout->column[i].term.name);
    fprintf(to, " %14s\n", "count(*)");
    for (size_t k = first; k < result->n_top; k++)
        print_line(to, &table, &result->top[k]);
    if (info->nulls) {
        print_cell(to, &table, 0, "NULL");
        fprintf(to, " %14s\n", agb_text_count(info->nulls).s);
    }
}
