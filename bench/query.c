/* SPDX-License-Identifier: MIT */
/* What is asked of a source: see query.h. */
#include "query.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static agb_status parse_terms(agb_key_terms *out, const char *group_by, const agb_schema *schema, agb_error *err)
{
    *out = (agb_key_terms){0};
    if (!schema)
        return agb_key_terms_parse(out, group_by, NULL, err);
    const char **names = calloc(schema->columns + 1, sizeof *names);
    if (!names)
        return agb_fail(err, AGB_ERR_MEMORY, "--group-by: no memory for the columns' names");
    for (size_t i = 0; i < schema->columns; i++)
        names[i] = schema->column[i].name;
    agb_status status = agb_key_terms_parse(out, group_by, names, err);
    free(names);
    return status;
}

/* The engine would count them; who types one column twice has most likely meant another. */
static agb_status refuse_twins(const agb_key_terms *terms, agb_error *err)
{
    for (size_t i = 0; i < terms->n; i++)
        for (size_t j = 0; j < i; j++)
            if (strcmp(terms->term[i].name, terms->term[j].name) == 0)
                return agb_fail(err, AGB_ERR_ARGUMENT, "--group-by: '%s' is named twice: name each column once",
                                terms->term[i].name);
    return AGB_OK;
}

static void add_name(agb_query_columns *out, const char *name)
{
    for (size_t i = 0; i < out->n; i++)
        if (strcmp(out->name[i], name) == 0)
            return;
    out->name[out->n++] = name;
}

agb_status agb_query_columns_find(agb_query_columns *out, const char *group_by, const agb_filter *filter,
                                  const agb_schema *schema, agb_error *err)
{
    *out = (agb_query_columns){0};
    agb_status status = parse_terms(&out->terms, group_by, schema, err);
    if (status == AGB_OK)
        status = refuse_twins(&out->terms, err);
    if (status != AGB_OK)
        return status;
    size_t conditions = 0;
    while (filter && agb_filter_column_at(filter, conditions))
        conditions++;
    out->name = calloc(out->terms.n + conditions + 1, sizeof *out->name);
    if (!out->name)
        return agb_fail(err, AGB_ERR_MEMORY, "--group-by: no memory for the columns' names");
    for (size_t i = 0; i < out->terms.n; i++)
        if (out->terms.term[i].column)
            add_name(out, out->terms.term[i].column);
    for (size_t i = 0; i < conditions; i++)
        add_name(out, agb_filter_column_at(filter, i));
    if (out->n == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--group-by: %s: names no column: name at least one", group_by);
    return AGB_OK;
}

void agb_query_columns_release(agb_query_columns *columns)
{
    agb_key_terms_release(&columns->terms);
    free(columns->name);
    *columns = (agb_query_columns){0};
}

/* ---- Checking ---------------------------------------------------------------------------------------------------- */

static const agb_column_info *find(const agb_schema *schema, const char *name)
{
    for (size_t i = 0; i < schema->columns; i++)
        if (strcmp(schema->column[i].name, name) == 0)
            return &schema->column[i];
    return NULL;
}

static agb_status check_keys(const agb_key_terms *terms, const agb_schema *schema, const char *source, agb_error *err)
{
    for (size_t i = 0; i < terms->n; i++) {
        const agb_key_term *term = &terms->term[i];
        const agb_column_info *column = term->column ? find(schema, term->column) : NULL;
        if (column && column->type == AGB_TYPE_OTHER)
            return agb_fail(err, AGB_ERR_UNSUPPORTED,
                            "--group-by: %s: is %s: only integers, bools and strings can be grouped by: "
                            "`aggbench describe %s` lists them", term->column, column->detail, source);
        if (column && column->type == AGB_TYPE_BYTES && term->add)
            return agb_fail(err, AGB_ERR_ARGUMENT,
                            "--group-by: %s: column %s holds strings: only integers can be added to", term->name,
                            term->column);
    }
    return AGB_OK;
}

/* A filter takes 64-bit columns for seconds, 32-bit ones for days. Where a file says that it counts in another unit
 * (Parquet's TIMESTAMP and TIME have neither), a date would silently select the wrong rows. */
static bool counts_fractions(const agb_column_info *column)
{
    return strstr(column->detail, "TIME");
}

static agb_status check_conditions(const agb_filter *filter, const agb_schema *schema, agb_error *err)
{
    const char *name;
    for (size_t i = 0; filter && (name = agb_filter_column_at(filter, i)); i++) {
        const agb_column_info *column = find(schema, name);
        agb_status status = column ? agb_filter_check(filter, i, column->type, err) : AGB_OK;
        if (status != AGB_OK)
            return status;
        if (column && agb_filter_is_date(filter, i) && counts_fractions(column))
            return agb_fail(err, AGB_ERR_UNSUPPORTED,
                            "where: column '%s' is %s: its times are not in %s: compare it with a number", name,
                            column->detail, column->type == AGB_TYPE_INT64 ? "seconds" : "days");
    }
    return AGB_OK;
}

agb_status agb_query_check(const char *group_by, const agb_filter *filter, const agb_schema *schema,
                           const char *source, agb_error *err)
{
    agb_query_columns columns;
    agb_status status = agb_query_columns_find(&columns, group_by, filter, schema, err);
    if (status == AGB_OK)
        status = check_keys(&columns.terms, schema, source, err);
    if (status == AGB_OK)
        status = check_conditions(filter, schema, err);
    agb_query_columns_release(&columns);
    return status;
}

/* ---- What only the values tell ---- */

static int64_t value_at(const agb_column *column, uint64_t row)    /* at most INT64_MAX */
{
    const uint64_t *wide = column->values;
    switch (column->type) {
    case AGB_TYPE_INT32:
        return ((const int32_t *)column->values)[row];
    case AGB_TYPE_UINT32:
        return ((const uint32_t *)column->values)[row];
    default:
        return column->type == AGB_TYPE_UINT64 && wide[row] > INT64_MAX ? INT64_MAX : (int64_t)wide[row];
    }
}

static agb_status check_dates(const agb_column *column, uint64_t rows, agb_error *err)
{
    enum { FIRST_DAY = -719528, LAST_DAY = 2932896 };    /* 0000-01-01 and 9999-12-31 */
    bool wide = agb_type_bytes(column->type) == sizeof(uint64_t);
    int64_t least = FIRST_DAY * (wide ? INT64_C(86400) : 1), most = (LAST_DAY + 1) * (wide ? INT64_C(86400) : 1) - 1;
    for (uint64_t row = 0; row < rows; row++) {
        int64_t value = value_at(column, row);
        if (value < least || value > most)
            return agb_fail(err, AGB_ERR_UNSUPPORTED,
                            "where: column '%s': row %" PRIu64 " counts no %s of the years 0000 to 9999: compare it "
                            "with a number", column->name, row, wide ? "seconds" : "days");
    }
    return AGB_OK;
}

agb_status agb_query_check_values(const agb_filter *filter, const agb_table *table, agb_error *err)
{
    agb_status status = AGB_OK;
    const char *name;
    for (size_t i = 0; filter && status == AGB_OK && (name = agb_filter_column_at(filter, i)); i++) {
        agb_column column;
        if (agb_filter_is_date(filter, i) && agb_table_find_column(table, name, &column) &&
            column.type != AGB_TYPE_BYTES && column.type != AGB_TYPE_BOOL)
            status = check_dates(&column, agb_table_rows(table), err);
    }
    return status;
}
