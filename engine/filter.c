/* SPDX-License-Identifier: MIT */
/* WHERE: conditions on columns, joined by AND. Parsing needs no table; agb_filter_check tells whether a literal fits a
 * column's type; selecting rows is in selection.c. */
#include "filter.h"

#include "internal.h"
#include "loader.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- Parsing ---- */

static const char *skip_spaces(const char *at)
{
    return at + strspn(at, " \t\n");
}

/* What stands between two quotes at *at, where a doubled quote is one quote; NULL: the closing one is missing, or no
 * memory. *at moves behind it. */
static char *parse_quoted(const char **at, size_t *length)
{
    const char *from = *at;
    char quote = *from++, *text = malloc(strlen(from) + 1), *fitting;
    size_t n = 0;
    for (; text && *from; from++) {
        if (*from == quote && *++from != quote) {
            text[n] = '\0';
            *at = from;
            *length = n;
            fitting = realloc(text, n + 1);    /* of a long list each literal had room for all that follow */
            return fitting ? fitting : text;
        }
        text[n++] = *from;
    }
    free(text);
    return NULL;
}

static agb_status parse_name(const char **at, agb_condition *out, agb_error *err)
{
    size_t length = strcspn(*at, " \t\n=<>!'\"");
    if (**at == '"') {
        out->column = parse_quoted(at, &length);
        if (!out->column)
            return agb_fail(err, AGB_ERR_ARGUMENT, "where: %s: the closing double quote of a name is missing", *at);
    } else if (length) {
        out->column = strndup(*at, length);
        *at += length;
    }
    if (!out->column || length == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "where: a column's name is missing at '%s': write COLUMN = LITERAL",
                        *at);
    return AGB_OK;
}

static agb_status parse_operator(const char **at, agb_condition *out, agb_error *err)
{
    static const struct { const char *text; agb_operator is; } operators[] = {
        {"<>", AGB_NOT_EQUAL}, {"!=", AGB_NOT_EQUAL}, {"<=", AGB_AT_MOST}, {">=", AGB_AT_LEAST},
        {"<", AGB_LESS}, {">", AGB_GREATER}, {"=", AGB_EQUAL}, {"IN", AGB_IN}};
    *at = skip_spaces(*at);
    for (size_t i = 0; i < sizeof operators / sizeof operators[0]; i++) {
        size_t length = strlen(operators[i].text);
        if (strncasecmp(*at, operators[i].text, length) != 0 ||
            (operators[i].is == AGB_IN && !strchr(" \t\n(", (*at)[length])))
            continue;
        out->comparison = operators[i].is;
        out->operator = operators[i].text;
        *at = skip_spaces(*at + length);
        return AGB_OK;
    }
    return agb_fail(err, AGB_ERR_ARGUMENT, "where: %s: no operator at '%s': use one of = <> < <= > >= IN", out->column,
                    *at);
}

static agb_status parse_number(const char **at, const agb_condition *c, agb_literal *out, agb_error *err)
{
    const char *from = *at;
    int length = (int)strcspn(from, " \t\n,)");
    char *end;
    out->negative = *from == '-';
    from += *from == '-' || *from == '+';
    errno = 0;
    if (isdigit((unsigned char)*from))
        out->magnitude = strtoull(from, &end, 10);
    if (!isdigit((unsigned char)*from) || end != *at + length)
        return agb_fail(err, AGB_ERR_ARGUMENT,
                        "where: %s %s %.*s: no literal there: give a whole number, or a string or date in single "
                        "quotes", c->column, c->operator, length, *at);
    if (errno)
        return agb_fail(err, AGB_ERR_ARGUMENT, "where: %s %s %.*s: out of range: integers have 64 bits", c->column,
                        c->operator, length, *at);
    *at = end;
    return AGB_OK;
}

static agb_status parse_literal(const char **at, agb_condition *c, agb_error *err)
{
    agb_literal *more = realloc(c->literal, (c->n + 1) * sizeof *more);
    if (!more)
        return agb_fail(err, AGB_ERR_MEMORY, "where: no memory for its literals");
    c->literal = more;
    agb_literal *out = &c->literal[c->n++];
    *out = (agb_literal){0};
    if (**at != '\'')
        return parse_number(at, c, out, err);
    out->text = parse_quoted(at, &out->length);
    if (!out->text)
        return agb_fail(err, AGB_ERR_ARGUMENT, "where: %s %s %s: the closing quote is missing", c->column, c->operator,
                        *at);
    return AGB_OK;
}

/* "(1, 2, 3)" */
static agb_status parse_list(const char **at, agb_condition *c, agb_error *err)
{
    char next = '(';
    do {
        if (**at != next)
            return agb_fail(err, AGB_ERR_ARGUMENT, "where: %s %s: no '%c' at '%s': write a list as (1, 2, 3)",
                            c->column, c->operator, next, *at);
        *at = skip_spaces(*at + 1);
        agb_status status = parse_literal(at, c, err);
        if (status != AGB_OK)
            return status;
        *at = skip_spaces(*at);
        next = ',';
    } while (**at != ')');
    ++*at;
    return AGB_OK;
}

static agb_status parse_condition(const char **at, agb_condition *out, agb_error *err)
{
    agb_status status = parse_name(at, out, err);
    if (status == AGB_OK)
        status = parse_operator(at, out, err);
    if (status != AGB_OK)
        return status;
    return out->comparison == AGB_IN ? parse_list(at, out, err) : parse_literal(at, out, err);
}

static agb_status parse_and(const char **at, agb_error *err)
{
    size_t length = strcspn(*at, " \t\n");
    if (length != 3 || strncasecmp(*at, "and", 3) != 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "where: '%s' is not understood: conditions are joined by AND", *at);
    *at = skip_spaces(*at + length);
    return AGB_OK;
}

static agb_status parse_all(agb_filter *out, const char *text, agb_error *err)
{
    const char *at = skip_spaces(text);
    for (;;) {
        agb_condition *more = realloc(out->condition, (out->n + 1) * sizeof *more);
        if (!more)
            return agb_fail(err, AGB_ERR_MEMORY, "where: no memory for its conditions");
        out->condition = more;
        out->condition[out->n] = (agb_condition){0};
        agb_status status = parse_condition(&at, &out->condition[out->n++], err);
        at = skip_spaces(at);
        if (status != AGB_OK || *at == '\0')
            return status;
        status = parse_and(&at, err);
        if (status != AGB_OK)
            return status;
    }
}

agb_status agb_filter_parse(agb_filter **out, const char *text, agb_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return agb_fail(err, AGB_ERR_MEMORY, "where: no memory for its conditions");
    agb_status status = parse_all(*out, text, err);
    if (status != AGB_OK) {
        agb_filter_destroy(*out);
        *out = NULL;
    }
    return status;
}

void agb_filter_destroy(agb_filter *filter)
{
    if (!filter)
        return;
    for (size_t i = 0; i < filter->n; i++) {
        agb_condition *c = &filter->condition[i];
        for (size_t k = 0; k < c->n; k++)
            free(c->literal[k].text);
        free(c->literal);
        free(c->column);
    }
    free(filter->condition);
    free(filter);
}

const char *agb_filter_column_at(const agb_filter *filter, size_t i)
{
    return i < filter->n ? filter->condition[i].column : NULL;
}

/* ---- Dates ---- */

static int number_at(const char *text, size_t at, size_t digits)
{
    int number = 0;
    for (size_t i = at; i < at + digits; i++)
        number = number * 10 + (text[i] - '0');
    return number;
}

/* Digits where the pattern has a 9, else the pattern's own characters. */
static bool has_shape(const agb_literal *l, const char *pattern)
{
    if (!l->text || l->length != strlen(pattern))
        return false;
    for (size_t i = 0; pattern[i]; i++)
        if (pattern[i] == '9' ? !isdigit((unsigned char)l->text[i]) : l->text[i] != pattern[i])
            return false;
    return true;
}

static bool has_time(const agb_literal *l)
{
    return has_shape(l, "9999-99-99 99:99:99");
}

static bool is_date(const agb_literal *l)
{
    return has_shape(l, "9999-99-99") || has_time(l);
}

/* false: such as February 30. */
static bool read_date(const agb_literal *l, int64_t *days, int64_t *seconds)
{
    int year = number_at(l->text, 0, 4), month = number_at(l->text, 5, 2), day = number_at(l->text, 8, 2);
    int hour = 0, minute = 0, second = 0;
    if (has_time(l)) {
        hour = number_at(l->text, 11, 2);
        minute = number_at(l->text, 14, 2);
        second = number_at(l->text, 17, 2);
    }
    if (!agb_days_of_date(year, month, day, days) || hour > 23 || minute > 59 || second > 59)
        return false;
    *seconds = *days * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}

bool agb_filter_is_date(const agb_filter *filter, size_t i)
{
    const agb_condition *c = &filter->condition[i];
    for (size_t k = 0; k < c->n; k++)
        if (is_date(&c->literal[k]))
            return true;
    return false;
}

/* ---- Fitting a literal to a type ---- */

static agb_status misfit(const agb_condition *c, const agb_literal *l, agb_type type, const char *why, agb_error *err)
{
    if (l->text)
        return agb_fail(err, AGB_ERR_ARGUMENT, "where: %s %s '%s': column '%s' is %s: %s", c->column, c->operator,
                        l->text, c->column, agb_type_name(type), why);
    return agb_fail(err, AGB_ERR_ARGUMENT, "where: %s %s %s%llu: column '%s' is %s: %s", c->column, c->operator,
                    l->negative ? "-" : "", (unsigned long long)l->magnitude, c->column, agb_type_name(type), why);
}

static agb_status fit_date(const agb_condition *c, const agb_literal *l, agb_type type, agb_literal *number,
                           agb_error *err)
{
    int64_t days, seconds;
    bool wide = agb_type_bytes(type) == sizeof(uint64_t);
    if (!is_date(l))
        return misfit(c, l, type, "give a whole number, or a date as 'YYYY-MM-DD' or 'YYYY-MM-DD hh:mm:ss'", err);
    if (!read_date(l, &days, &seconds))
        return misfit(c, l, type, "there is no such date", err);
    if (type == AGB_TYPE_BOOL)
        return misfit(c, l, type, "compare it with 0 or 1", err);
    if (has_time(l) && !wide)
        return misfit(c, l, type, "it holds days: give a date without a time", err);
    int64_t value = wide ? seconds : days;
    number->negative = value < 0;
    number->magnitude = value < 0 ? -(uint64_t)value : (uint64_t)value;
    return AGB_OK;
}

static agb_range range_of(agb_operator comparison, bool negative, uint64_t magnitude, bool is_signed)
{
    const agb_range all = {0, UINT64_MAX, false}, nothing = {0, UINT64_MAX, true};
    uint64_t least = is_signed ? UINT64_C(1) << 63 : 0, value = negative ? -magnitude : magnitude;
    bool below = negative && magnitude > least, above = !negative && is_signed && magnitude > INT64_MAX;
    agb_range range;
    if (comparison == AGB_EQUAL || comparison == AGB_NOT_EQUAL || comparison == AGB_IN)
        range = below || above ? nothing : (agb_range){value, 0, false};
    else if (below || above)
        range = below ? nothing : all;
    else if (comparison == AGB_AT_MOST || comparison == AGB_GREATER)
        range = (agb_range){least, value - least, false};
    else
        range = value == least ? nothing : (agb_range){least, value - 1 - least, false};
    bool opposite = comparison == AGB_NOT_EQUAL || comparison == AGB_GREATER || comparison == AGB_AT_LEAST;
    range.negated ^= opposite;
    return range;
}

agb_status agb_condition_fit(const agb_condition *c, size_t i, agb_type type, agb_range *range, agb_error *err)
{
    const agb_literal *l = &c->literal[i];
    agb_literal number = *l;
    if (type == AGB_TYPE_OTHER)
        return misfit(c, l, type, "its values cannot be compared", err);
    if (type == AGB_TYPE_BYTES)
        return l->text ? AGB_OK : misfit(c, l, type, "give a string in single quotes", err);
    agb_status status = l->text ? fit_date(c, l, type, &number, err) : AGB_OK;
    if (status == AGB_OK)
        *range = range_of(c->comparison, number.negative, number.magnitude, agb_type_is_signed(type));
    return status;
}

agb_status agb_filter_check(const agb_filter *filter, size_t i, agb_type type, agb_error *err)
{
    const agb_condition *c = &filter->condition[i];
    agb_range range;
    agb_status status = AGB_OK;
    for (size_t k = 0; k < c->n && status == AGB_OK; k++)
        status = agb_condition_fit(c, k, type, &range, err);
    return status;
}
