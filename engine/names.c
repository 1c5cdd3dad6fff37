/* SPDX-License-Identifier: MIT */
/* Names that people type: the nearest right one to a wrong one, parameters of aggregators, hashes. */
#include "internal.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_NAME = 63 };

static bool is_same(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

/* Edit distance (Levenshtein 1966; two letters that changed places count once, after Damerau 1964), case ignored; names
 * longer than LONGEST_NAME are compared by their beginning. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][LONGEST_NAME + 1];    /* of the last three prefixes of a */
    size_t width = strnlen(b, LONGEST_NAME), height = strnlen(a, LONGEST_NAME);
    for (size_t j = 0; j <= width; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= height; i++) {
        size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *twice_above = rows[(i + 1) % 3];
        row[0] = i;
        for (size_t j = 1; j <= width; j++) {
            row[j] = above[j - 1] + !is_same(a[i - 1], b[j - 1]);
            if (above[j] + 1 < row[j])
                row[j] = above[j] + 1;
            if (row[j - 1] + 1 < row[j])
                row[j] = row[j - 1] + 1;
            bool swapped = i > 1 && j > 1 && is_same(a[i - 1], b[j - 2]) && is_same(a[i - 2], b[j - 1]);
            if (swapped && twice_above[j - 2] + 1 < row[j])
                row[j] = twice_above[j - 2] + 1;
        }
    }
    return rows[height % 3][width];
}

const char *agb_nearest_name(const char *const *names, const char *misspelt)
{
    const char *nearest = NULL;
    size_t length = strlen(misspelt), limit = length < 6 ? 1 : length / 3, least = limit + 1;
    for (; *names; names++) {
        size_t d = distance(*names, misspelt);
        if (d < least && d < strlen(*names)) {    /* with all letters replaced it is another name */
            least = d;
            nearest = *names;
        }
    }
    return nearest;
}

/* ---- Parameters ---- */

static const agb_param *find_param(const agb_aggregator *aggregator, const char *name, size_t length, size_t *index)
{
    for (size_t i = 0; aggregator->params && aggregator->params[i].name; i++) {
        if (strlen(aggregator->params[i].name) == length && strncmp(aggregator->params[i].name, name, length) == 0) {
            *index = i;
            return &aggregator->params[i];
        }
    }
    return NULL;
}

static agb_status unknown_param(const agb_aggregator *aggregator, const char *name, int length, agb_error *err)
{
    char known[256] = "";
    size_t used = 0;
    for (size_t i = 0; aggregator->params && aggregator->params[i].name && used < sizeof known; i++)
        used += (size_t)snprintf(known + used, sizeof known - used, "%s%s", i ? ", " : "", aggregator->params[i].name);
    return agb_fail(err, AGB_ERR_NOT_FOUND, "%s: no parameter '%.*s': it has %s", aggregator->name, length, name,
                    *known ? known : "none");
}

/* given: a bit for each parameter that was there before. */
static agb_status parse_param(const agb_aggregator *aggregator, const char *item, size_t length, int64_t *values,
                              uint64_t *given, agb_error *err)
{
    if (length == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: an empty parameter: write NAME=VALUE behind every colon",
                        aggregator->name);
    const char *equals = memchr(item, '=', length);
    size_t name_length = equals ? (size_t)(equals - item) : length, index;
    const agb_param *param = find_param(aggregator, item, name_length, &index);
    if (!param)
        return unknown_param(aggregator, item, (int)name_length, err);
    if (*given >> index & 1)
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s is given twice: give it once", aggregator->name, param->name);
    *given |= UINT64_C(1) << index;
    char text[32] = "", *end = text;
    if (equals)
        snprintf(text, sizeof text, "%.*s", (int)(length - name_length - 1), equals + 1);
    errno = 0;
    long long value = strtoll(text, &end, 10);
    if (!equals || end == text || *end || isspace((unsigned char)*text))
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s='%s': not a whole number: write %s=%lld", aggregator->name,
                        param->name, text, param->name, (long long)param->standard);
    if (errno || value < param->least || value > param->most)
        return agb_fail(err, AGB_ERR_ARGUMENT, "%s: %s=%s: the allowed range is %lld..%lld", aggregator->name,
                        param->name, text, (long long)param->least, (long long)param->most);
    values[index] = value;
    return AGB_OK;
}

agb_status agb_params_parse(const agb_aggregator *aggregator, const char *text, int64_t *values, agb_error *err)
{
    uint64_t given = 0;
    for (size_t i = 0; aggregator->params && aggregator->params[i].name; i++)
        values[i] = aggregator->params[i].standard;
    bool more = text && *text;
    while (more) {    /* also after a colon at the end: a parameter is missing there */
        size_t length = strcspn(text, ":");
        agb_status status = parse_param(aggregator, text, length, values, &given, err);
        if (status != AGB_OK)
            return status;
        more = text[length] == ':';
        text += length + more;
    }
    return AGB_OK;
}

/* ---- Hashes ---- */

/* The multiplier is 2^64 divided by the golden ratio, made odd (Knuth, The Art of Computer Programming 3, 6.4). Alone
 * it lets the key's high bits act on high hash bits only, so that keys which are multiples of 2^k collapse; folding the
 * upper half into the lower one first repairs that, and stays invertible. */
static const uint64_t golden = UINT64_C(0x9e3779b97f4a7c15);

static const char *const hash_names[] = {"fold", "fibonacci", "identity", "constant", NULL};

const char *const *agb_hash_names(void)
{
    return hash_names;
}

bool agb_hash_named(const char *name, agb_hash *out)
{
    const agb_hash hashes[] = {{~UINT64_C(0), golden}, {0, golden}, {0, 1}, {0, 0}};
    for (size_t i = 0; hash_names[i]; i++) {
        if (strcmp(hash_names[i], name) == 0) {
            *out = hashes[i];
            return true;
        }
    }
    return false;
}
