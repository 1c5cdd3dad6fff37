/* SPDX-License-Identifier: MIT */
/* The rows of a batch that meet a filter's conditions. Condition after condition narrows a list of row numbers, so that
 * only rows that are left are looked at; the next place of the list is written in any case and kept only where the
 * condition holds, which costs no branch. */
#include "batch.h"
#include "filter.h"
#include "internal.h"

#include <stdlib.h>
#include <string.h>

typedef struct test {
    agb_column column;
    agb_range range;          /* of integers */
    agb_operator comparison;
    agb_bytes text;           /* of strings */
} test;

struct agb_selection {
    size_t n;
    test test[];
};

agb_status agb_selection_create(agb_selection **out, const agb_filter *filter, const agb_table *table, agb_error *err)
{
    *out = calloc(1, sizeof **out + filter->n * sizeof(test));
    if (!*out)
        return agb_fail(err, AGB_ERR_MEMORY, "where: no memory for its conditions");
    (*out)->n = filter->n;
    for (size_t i = 0; i < filter->n; i++) {
        const agb_condition *c = &filter->condition[i];
        test *t = &(*out)->test[i];
        if (!agb_table_find_column(table, c->column, &t->column))
            return agb_table_no_column(table, "where", c->column, err);
        agb_status status = agb_condition_fit(c, t->column.type, &t->range, err);
        if (status != AGB_OK)
            return status;
        t->comparison = c->comparison;
        t->text = (agb_bytes){(const unsigned char *)c->text, c->length};
    }
    return AGB_OK;
}

void agb_selection_destroy(agb_selection *selection)
{
    free(selection);
}

/* In all of these n rows come in, from[i] or, when from is NULL, i itself; those that stay go to `selected`, which may
 * be `from`. */

size_t agb_drop_nulls(const uint8_t *nulls, const uint32_t *from, size_t n, uint32_t *selected)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t row = from ? from[i] : (uint32_t)i;
        selected[kept] = row;
        kept += !nulls[row];
    }
    return kept;
}

static size_t test_words(agb_range range, const uint64_t *words, const uint32_t *from, size_t n, uint32_t *selected)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        selected[kept] = from ? from[i] : (uint32_t)i;
        kept += (words[i] - range.low <= range.span) != range.negated;
    }
    return kept;
}

static bool string_meets(const test *t, agb_bytes string)
{
    if (t->comparison == AGB_EQUAL || t->comparison == AGB_NOT_EQUAL) {
        bool equal = string.length == t->text.length &&
                     (string.length == 0 || memcmp(string.data, t->text.data, string.length) == 0);
        return equal == (t->comparison == AGB_EQUAL);
    }
    int order = agb_bytes_compare(string, t->text);
    switch (t->comparison) {
    case AGB_LESS:
        return order < 0;
    case AGB_AT_MOST:
        return order <= 0;
    case AGB_GREATER:
        return order > 0;
    default:
        return order >= 0;
    }
}

static size_t test_strings(const test *t, const agb_bytes *strings, const uint32_t *from, size_t n, uint32_t *selected)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t row = from ? from[i] : (uint32_t)i;
        selected[kept] = row;
        kept += string_meets(t, strings[row]);
    }
    return kept;
}

size_t agb_selection_run(const agb_selection *selection, uint64_t first, size_t rows, uint32_t *selected,
                         uint64_t *words)
{
    const uint32_t *from = NULL;
    size_t n = rows;
    for (size_t i = 0; i < selection->n; i++) {
        const test *t = &selection->test[i];
        if (t->column.nulls) {
            n = agb_drop_nulls(t->column.nulls + first, from, n, selected);
            from = selected;
        }
        if (t->column.type == AGB_TYPE_BYTES)
            n = test_strings(t, (const agb_bytes *)t->column.values + first, from, n, selected);
        else
            n = test_words(t->range, agb_column_words(&t->column, first, n, from, words), from, n, selected);
        from = selected;
    }
    return n;
}
