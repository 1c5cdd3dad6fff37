/* SPDX-License-Identifier: MIT */
/* "UserID,SearchPhrase" and "ClientIP,ClientIP-1": the text of a GROUP BY as a list of terms. */
#include "internal.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_known(const char *const *known, const char *name)
{
    for (; known && *known; known++)
        if (strcmp(*known, name) == 0)
            return true;
    return false;
}

/* "-1" and "+1" too; the number may stand behind spaces. */
static bool parse_number(const char *text, int64_t *out)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    *out = number;
    return end != text && *end == '\0' && errno == 0;
}

/* "NAME - 1": cuts the name off and gives the number its sign. */
static bool parse_sum(char *text, int64_t *add)
{
    char *sign = text + strlen(text);
    while (sign > text && *sign != '-' && *sign != '+')
        sign--;
    int64_t number;
    if (sign == text || sign[1] == '-' || sign[1] == '+' || !parse_number(sign + 1, &number))
        return false;
    *add = *sign == '-' ? -number : number;
    while (sign > text && sign[-1] == ' ')
        sign--;
    *sign = '\0';
    return sign > text;
}

static void name_term(agb_key_term *term)
{
    int written;
    if (!term->column)
        written = asprintf(&term->name, "%" PRId64, term->add);
    else if (term->add)
        written = asprintf(&term->name, "%s %c %" PRIu64, term->column, term->add < 0 ? '-' : '+',
                           term->add < 0 ? -(uint64_t)term->add : (uint64_t)term->add);
    else
        written = asprintf(&term->name, "%s", term->column);
    if (written < 0)
        term->name = NULL;
}

/* text: without spaces at its ends. */
static agb_status add_term(agb_key_terms *out, char *text, const char *const *known, agb_error *err)
{
    if (*text == '\0')
        return agb_fail(err, AGB_ERR_ARGUMENT, "group by: column number %zu is an empty name: write COL or COL,COL",
                        out->n + 1);
    agb_key_term *more = realloc(out->term, (out->n + 1) * sizeof *more);
    if (!more)
        return agb_fail(err, AGB_ERR_MEMORY, "group by: no memory for its terms");
    out->term = more;
    agb_key_term *term = &out->term[out->n++];
    *term = (agb_key_term){0};
    bool column = is_known(known, text), number = !column && parse_number(text, &term->add);
    if (!column && !number)
        parse_sum(text, &term->add);
    if (!number)
        term->column = strdup(text);
    name_term(term);
    if (!term->name || (!number && !term->column))
        return agb_fail(err, AGB_ERR_MEMORY, "group by: no memory for its terms");
    return AGB_OK;
}

static char *trim(char *text)
{
    text += strspn(text, " ");
    size_t length = strlen(text);
    while (length && text[length - 1] == ' ')
        text[--length] = '\0';
    return text;
}

agb_status agb_key_terms_parse(agb_key_terms *out, const char *text, const char *const *known, agb_error *err)
{
    *out = (agb_key_terms){0};
    char *copy = strdup(text), *rest = copy, *item;
    agb_status status = copy ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "group by: no memory for its terms");
    if (copy && is_known(known, text)) {
        status = add_term(out, copy, known, err);
        rest = NULL;
    }
    while (status == AGB_OK && (item = strsep(&rest, ",")))
        status = add_term(out, trim(item), known, err);
    free(copy);
    return status;
}

void agb_key_terms_release(agb_key_terms *terms)
{
    for (size_t i = 0; i < terms->n; i++) {
        free(terms->term[i].name);
        free(terms->term[i].column);
    }
    free(terms->term);
    *terms = (agb_key_terms){0};
}
