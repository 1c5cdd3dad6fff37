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
    size_t n;                 /* AGB_IN: so many of one of these, ascending */
    uint64_t *word;
    agb_bytes *string;
} test;

struct agb_selection {
    size_t n;
    test test[];
};

/* ---- Lists: each value once, in order, so that one is found by halving ------------------------------------------ */

static int order_words(const void *a, const void *b)
{
    uint64_t left = *(const uint64_t *)a, right = *(const uint64_t *)b;
    return (left > right) - (left < right);
}

/* By length first: it tells most strings apart without a look at them. */
static int order_strings(const void *a, const void *b)
{
    const agb_bytes *left = a, *right = b;
    if (left->length != right->length)
        return left->length < right->length ? -1 : 1;
    return left->length ? memcmp(left->data, right->data, left->length) : 0;
}

/* Literals that no value of the type can be are left out. Neighbours are a range, as is none at all. Else the last
 * value is put down again, up to a power of two. */
static agb_status list_words(test *t, const agb_condition *c, agb_error *err)
{
    size_t n = 0, room = 1;
    while (room < c->n)
        room *= 2;
    t->word = calloc(room, sizeof *t->word);
    if (!t->word)
        return agb_fail(err, AGB_ERR_MEMORY, "where: no memory for a list of %zu values", c->n);
    for (size_t i = 0; i < c->n; i++) {
        agb_status status = agb_condition_fit(c, i, t->column.type, &t->range, err);
        if (status != AGB_OK)
            return status;
        t->word[n] = t->range.low;
        n += !t->range.negated;
    }
    qsort(t->word, n, sizeof *t->word, order_words);
    for (size_t i = 0; i < n; i++)
        if (i == 0 || t->word[i] != t->word[t->n - 1])
            t->word[t->n++] = t->word[i];
    if (t->n == 0 || t->word[t->n - 1] - t->word[0] == t->n - 1) {
        t->comparison = AGB_EQUAL;
        t->range = t->n ? (agb_range){t->word[0], t->n - 1, false} : (agb_range){0, UINT64_MAX, true};
        return AGB_OK;
    }
    for (; t->n & (t->n - 1); t->n++)
        t->word[t->n] = t->word[t->n - 1];
    return AGB_OK;
}

static agb_status list_strings(test *t, const agb_condition *c, agb_error *err)
{
    agb_range range;
    t->string = malloc(c->n * sizeof *t->string);
    if (!t->string)
        return agb_fail(err, AGB_ERR_MEMORY, "where: no memory for a list of %zu strings", c->n);
    for (; t->n < c->n; t->n++) {
        agb_status status = agb_condition_fit(c, t->n, t->column.type, &range, err);
        if (status != AGB_OK)
            return status;
        t->string[t->n] = (agb_bytes){(const unsigned char *)c->literal[t->n].text, c->literal[t->n].length};
    }
    qsort(t->string, t->n, sizeof *t->string, order_strings);
    return AGB_OK;
}

/* ---- Making one -------------------------------------------------------------------------------------------------- */

static agb_status fit_test(test *t, const agb_condition *c, agb_error *err)
{
    t->comparison = c->comparison;
    if (c->comparison == AGB_IN)
        return t->column.type == AGB_TYPE_BYTES ? list_strings(t, c, err) : list_words(t, c, err);
    t->text = (agb_bytes){(const unsigned char *)c->literal->text, c->literal->length};
    return agb_condition_fit(c, 0, t->column.type, &t->range, err);
}

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
        agb_status status = fit_test(t, c, err);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

void agb_selection_destroy(agb_selection *selection)
{
    for (size_t i = 0; selection && i < selection->n; i++) {
        free(selection->test[i].word);
        free(selection->test[i].string);
    }
    free(selection);
}

/* ---- Running it -------------------------------------------------------------------------------------------------- */

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

/* The halving asks each row the same number of times, and branches on no answer. */
static size_t list_has_words(const test *t, const uint64_t *words, const uint32_t *from, size_t n, uint32_t *selected)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        const uint64_t *at = t->word;
        for (size_t half = t->n / 2; half; half /= 2)
            at += at[half - 1] < words[i] ? half : 0;
        selected[kept] = from ? from[i] : (uint32_t)i;
        kept += *at == words[i];
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

static size_t list_has_strings(const test *t, const agb_bytes *strings, const uint32_t *from, size_t n,
                               uint32_t *selected)
{
    size_t kept = 0;
    for (size_t i = 0; i < n; i++) {
        uint32_t row = from ? from[i] : (uint32_t)i;
        selected[kept] = row;
        kept += bsearch(&strings[row], t->string, t->n, sizeof *strings, order_strings) != NULL;
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
        bool list = t->comparison == AGB_IN, bytes = t->column.type == AGB_TYPE_BYTES;
        const agb_bytes *strings = bytes ? (const agb_bytes *)t->column.values + first : NULL;
        if (bytes)
            n = list ? list_has_strings(t, strings, from, n, selected) : test_strings(t, strings, from, n, selected);
        else if (list)
            n = list_has_words(t, agb_column_words(&t->column, first, n, from, words), from, n, selected);
        else
            n = test_words(t->range, agb_column_words(&t->column, first, n, from, words), from, n, selected);
        from = selected;
    }
    return n;
}
