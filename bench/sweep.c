/* SPDX-License-Identifier: MIT */
/* --sweep p=a..b: see sweep.h. */
#include "sweep.h"

#include <math.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

static agb_status malformed(const char *text, agb_error *err)
{
    return agb_fail(err, AGB_ERR_ARGUMENT, "--sweep: %s: not of the form p=a..b, p=a..b/step, p=a..b*factor or p=a,b,c "
                    "with at most %d different values", text, AGB_MOST_SWEEP);
}

/* Up to "..", which strtold would take for a point. long double has the 64 bits that the largest parameters need. */
static bool parse_number(const char **at, long double *number)
{
    char word[40], *end;
    size_t length = 0;
    while (length + 1 < sizeof word && (*at)[length] && strchr("0123456789.eE+-", (*at)[length]) &&
           strncmp(*at + length, "..", 2) != 0)
        length++;
    memcpy(word, *at, length);
    word[length] = '\0';
    *number = strtold(word, &end);
    bool good = length > 0 && *end == '\0' && fabsl(*number) <= 9223372036854775807.0L;
    *at += length;
    return good;
}

/* "8", "100000000", "0.3": whole numbers with all digits, others with those that the parts of a sum like 0.1 + 0.2
 * share with their right value. */
static bool add_value(agb_sweep *out, long double value)
{
    if (out->n == AGB_MOST_SWEEP)
        return false;
    bool whole = value == floorl(value);
    snprintf(out->value[out->n++], sizeof out->value[0], whole ? "%.0Lf" : "%.12Lg", value);
    return true;
}

static bool fill_range(agb_sweep *out, long double first, long double last, char step_kind, long double step)
{
    const long double slack = 1e-9L;    /* 0.1 + 7 * 0.1 is above 0.8 */
    if (step_kind == '*' ? !(step > 1 && first > 0) : !(step > 0))
        return false;
    if (last < first)
        return false;
    long double value = first;
    for (unsigned i = 1; step_kind == '*' ? value <= last * (1 + slack) : value <= last + slack * step; i++) {
        if (!add_value(out, value))
            return false;
        value = step_kind == '*' ? value * step : first + i * step;
    }
    return true;
}

static bool fill_list(agb_sweep *out, const char *at)
{
    for (;;) {
        size_t length = strcspn(at, ",");
        if (length == 0 || length >= sizeof out->value[0] || out->n == AGB_MOST_SWEEP)
            return false;
        memcpy(out->value[out->n], at, length);
        out->value[out->n][length] = '\0';
        for (size_t i = 0; i < out->n; i++)
            if (strcmp(out->value[i], out->value[out->n]) == 0)
                return false;
        out->n++;
        if (at[length] == '\0')
            return true;
        at += length + 1;
    }
}

agb_status agb_sweep_parse(agb_sweep *out, const char *text, agb_error *err)
{
    memset(out, 0, sizeof *out);
    const char *equals = strchr(text, '=');
    if (!equals || equals == text || (size_t)(equals - text) >= sizeof out->name)
        return malformed(text, err);
    memcpy(out->name, text, (size_t)(equals - text));
    const char *at = equals + 1;
    if (!strstr(at, ".."))
        return fill_list(out, at) ? AGB_OK : malformed(text, err);
    long double first, last, step = 1;
    char step_kind = '/';
    bool good = parse_number(&at, &first) && strncmp(at, "..", 2) == 0;
    at += good ? 2 : 0;
    good = good && parse_number(&at, &last);
    if (good && (*at == '/' || *at == '*')) {
        step_kind = *at++;
        good = parse_number(&at, &step);
    } else if (good && last - first >= AGB_MOST_SWEEP && first >= 1) {
        step_kind = '*';    /* 10..1e8: nobody means each of them */
        step = 10;
    }
    if (!good || *at != '\0' || !fill_range(out, first, last, step_kind, step))
        return malformed(text, err);
    return AGB_OK;
}

char *agb_sweep_without(const char *text, char separator, const char *name)
{
    size_t length = strlen(name);
    char *out = malloc(strlen(text) + 1), *to = out;
    for (const char *at = text; out && *at;) {
        const char *end = strchrnul(at, separator);
        bool same = strncmp(at, name, length) == 0 && at[length] == '=';
        if (!same) {
            if (to > out)
                *to++ = separator;
            memcpy(to, at, (size_t)(end - at));
            to += end - at;
        }
        at = end + (*end == separator);
    }
    if (out)
        *to = '\0';
    return out;
}

char *agb_sweep_set(const char *text, char separator, const char *name, const char *value)
{
    char *others = agb_sweep_without(text, separator, name), *out;
    if (!others || asprintf(&out, "%s%.*s%s=%s", others, *others != '\0', &separator, name, value) < 0)
        out = NULL;
    free(others);
    return out;
}

bool agb_sweep_get(const char *text, char separator, const char *name, char *value, size_t size)
{
    size_t length = strlen(name);
    for (const char *at = text; *at;) {
        const char *end = strchrnul(at, separator);
        if (strncmp(at, name, length) == 0 && at[length] == '=') {
            snprintf(value, size, "%.*s", (int)(end - at - (ptrdiff_t)length - 1), at + length + 1);
            return true;
        }
        at = end + (*end == separator);
    }
    return false;
}
