/* SPDX-License-Identifier: MIT */
/* What is asked of a source: the columns to load for it, and whether they fit, before a row is read. */
#ifndef AGB_QUERY_H
#define AGB_QUERY_H

#include "aggbench.h"

/* The columns that a key and a filter (or NULL) need, each once. */
typedef struct agb_query_columns {
    agb_key_terms terms;
    const char **name;    /* borrowed from the terms and the filter */
    size_t n;
} agb_query_columns;

/* schema: of the source, or NULL when it is not known: then a comma always parts names. After a failure, too, release
 * it. */
agb_status agb_query_columns_find(agb_query_columns *out, const char *group_by, const agb_filter *filter,
                                  const agb_schema *schema, agb_error *err);
void agb_query_columns_release(agb_query_columns *columns);

/* Columns that cannot be keys, literals that do not fit. A name that is not there is left to the load, which knows it
 * better. */
agb_status agb_query_check(const char *group_by, const agb_filter *filter, const agb_schema *schema,
                           const char *source, agb_error *err);

/* A date where a column's values are no days or seconds, but milliseconds, say. Parquet can tell before the load; .agb,
 * raw files and plain integers cannot, and the wrong rows would be selected in silence. */
agb_status agb_query_check_values(const agb_filter *filter, const agb_table *table, agb_error *err);

#endif
