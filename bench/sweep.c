/* SPDX-License-Identifier: MIT */
/* --sweep p=a..b: see sweep.h. */
#include "sweep.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static agb_status malformed(const char *text, agb_error *err)
{
    return agb_fail(err, AGB_ERR_ARGUMENT, "--sweep: %s: not of the form p=a..b, p=a..b/step, p=a..b*factor or p=a,b,c "
                    "with at most %d different values", text, AGB_MOST_SWEEP);
}

static bool parse_number(const char **at, int64_t *number)
{
    char *end;
    errno = 0;
    *number = strtoll(*at, &end, 10);
    bool good = end != *at && errno == 0;
    *at = end;
    return good;
}

static bool fill_range(agb_sweep *out, int64_t first, int64_t last, char step_kind, int64_t step)
{
    if (step < (step_kind == '*' ? 2 : 1) || (step_kind == '*' && first < 1) || last < first)
        return false;
    int64_t value = first;
    while (value <= last) {
        if (out->n == AGB_MOST_SWEEP)
            return false;
        snprintf(out->value[out->n++], sizeof out->value[0], "%" PRId64, value);
        int64_t next;
        bool beyond = step_kind == '*' ? __builtin_mul_overflow(value, step, &next)
                                       : __builtin_add_overflow(value, step, &next);
        if (beyond)
            break;
        value = next;
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
    int64_t first, last, step = 1;
    char step_kind = '/';
    bool good = parse_number(&at, &first) && strncmp(at, "..", 2) == 0;
    at += good ? 2 : 0;
    good = good && parse_number(&at, &last);
    if (good && (*at == '/' || *at == '*')) {
        step_kind = *at++;
        good = parse_number(&at, &step);
    }
    if (!good || *at != '\0' || !fill_range(out, first, last, step_kind, step))
        return malformed(text, err);
    return AGB_OK;
}

char *agb_sweep_set(const char *text, char separator, const char *name, const char *value)
{
    size_t length = strlen(name);
    char *out = malloc(strlen(text) + length + strlen(value) + 3);
    if (!out)
        return NULL;
    char *to = out;
    for (const char *at = text; *at;) {
        const char *end = strchrnul(at, separator);
        bool same = strncmp(at, name, length) == 0 && at[length] == '=';
        if (!same) {
            memcpy(to, at, (size_t)(end - at));
            to += end - at;
            *to++ = separator;
        }
        at = end + (*end == separator);
    }
    sprintf(to, "%s=%s", name, value);
    return out;
}
