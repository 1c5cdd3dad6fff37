/* SPDX-License-Identifier: MIT */
/* The right answers about the sample files (samples/expected.json) and the check of a loaded column against them.
 * Groups are counted here by sorting, with no line of the engine. The file itself says what each number means. */
#ifndef AGB_EXPECTED_H
#define AGB_EXPECTED_H

#include "test.h"

#include <jansson.h>

/* A key in an order of its own: words compare as the column's type does, strings by their bytes. */
typedef struct expected_key {
    uint64_t word;
    agb_bytes bytes;
    uint64_t count;
} expected_key;

static inline int expected_compare_keys(const void *a, const void *b)
{
    const expected_key *left = a, *right = b;
    if (left->word != right->word)
        return left->word < right->word ? -1 : 1;
    size_t length = left->bytes.length < right->bytes.length ? left->bytes.length : right->bytes.length;
    int order = length ? memcmp(left->bytes.data, right->bytes.data, length) : 0;
    if (order)
        return order;
    return (left->bytes.length > right->bytes.length) - (left->bytes.length < right->bytes.length);
}

static inline int expected_compare_counts(const void *a, const void *b)
{
    const expected_key *left = a, *right = b;
    if (left->count != right->count)
        return left->count > right->count ? -1 : 1;
    return expected_compare_keys(a, b);
}

static inline uint64_t expected_fnv(agb_bytes bytes)
{
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < bytes.length; i++)
        hash = (hash ^ bytes.data[i]) * UINT64_C(1099511628211);
    return hash;
}

static inline expected_key expected_key_of(const agb_column *column, uint64_t row)
{
    expected_key key = {.count = 1};
    switch (column->type) {
    case AGB_TYPE_INT32:
        key.word = (uint64_t)((const int32_t *)column->values)[row] ^ UINT64_C(1) << 63;
        break;
    case AGB_TYPE_INT64:
        key.word = (uint64_t)((const int64_t *)column->values)[row] ^ UINT64_C(1) << 63;
        break;
    case AGB_TYPE_UINT32:
        key.word = ((const uint32_t *)column->values)[row];
        break;
    case AGB_TYPE_UINT64:
        key.word = ((const uint64_t *)column->values)[row];
        break;
    case AGB_TYPE_BOOL:
        key.word = ((const uint8_t *)column->values)[row];
        break;
    default:
        key.bytes = ((const agb_bytes *)column->values)[row];
    }
    return key;
}

/* Sorted groups of the rows that are not NULL; the caller frees them. */
static inline expected_key *expected_count(const agb_column *column, uint64_t rows, size_t *groups, uint64_t *nulls)
{
    expected_key *keys = malloc((rows + 1) * sizeof *keys);
    size_t n = 0;
    for (uint64_t row = 0; row < rows; row++)
        if (!column->nulls || !column->nulls[row])
            keys[n++] = expected_key_of(column, row);
    *nulls = rows - n;
    qsort(keys, n, sizeof *keys, expected_compare_keys);
    *groups = 0;
    for (size_t i = 0; i < n; i++) {
        if (*groups && expected_compare_keys(&keys[*groups - 1], &keys[i]) == 0)
            keys[*groups - 1].count++;
        else
            keys[(*groups)++] = keys[i];
    }
    qsort(keys, *groups, sizeof *keys, expected_compare_counts);
    return keys;
}

static inline uint64_t expected_value(agb_type type, const expected_key *key)
{
    return agb_type_is_signed(type) ? key->word ^ UINT64_C(1) << 63 : key->word;
}

static inline void expected_print_hex(agb_bytes bytes, size_t most, char *out)
{
    size_t n = bytes.length < most ? bytes.length : most;
    *out = '\0';
    for (size_t i = 0; i < n; i++)
        sprintf(out + 2 * i, "%02x", bytes.data[i]);
}

/* A top key: text of a number, a string, {"hex"}, or {"length", "fnv1a64", "first_hex"}. */
static inline bool expected_key_is(const json_t *wanted, agb_type type, const expected_key *key)
{
    char text[1024];
    if (type != AGB_TYPE_BYTES) {
        snprintf(text, sizeof text, agb_type_is_signed(type) ? "%lld" : "%llu",
                 (unsigned long long)expected_value(type, key));
        return strcmp(text, json_string_value(wanted)) == 0;
    }
    if (json_is_string(wanted))
        return json_string_length(wanted) == key->bytes.length &&
               (key->bytes.length == 0 ||
                memcmp(json_string_value(wanted), key->bytes.data, key->bytes.length) == 0);
    const char *hex = json_string_value(json_object_get(wanted, "hex"));
    expected_print_hex(key->bytes, 400, text);
    return hex ? strcmp(hex, text) == 0
               : json_integer_value(json_object_get(wanted, "length")) == (json_int_t)key->bytes.length;
}

static inline uint64_t expected_number(const json_t *column, const char *name)
{
    const json_t *value = json_object_get(column, name);
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : (uint64_t)json_integer_value(value);
}

static inline agb_type expected_type(const json_t *column)
{
    const char *name = json_string_value(json_object_get(column, "type"));
    for (agb_type type = AGB_TYPE_INT32; type < AGB_TYPE_OTHER; type++)
        if (strcmp(agb_type_name(type), name) == 0)
            return type;
    return strcmp(name, "fixed_bytes") == 0 ? AGB_TYPE_BYTES : AGB_TYPE_OTHER;
}

static inline int expected_check_number(const char *where, const char *what, uint64_t wanted, uint64_t got)
{
    if (wanted == got)
        return 0;
    print_error("%s: %s: expected %llu, got %llu\n", where, what, (unsigned long long)wanted,
                (unsigned long long)got);
    return 1;
}

/* Number of wrong answers about one column of a table; each is printed. `wanted`: its object in expected.json. */
static inline int expected_check_column(const char *file, const agb_table *table, const char *name,
                                        const json_t *wanted)
{
    char where[512];
    agb_column column;
    size_t groups;
    uint64_t nulls, checksum_counts = 0, checksum_keys = 0, total = 0;
    snprintf(where, sizeof where, "%s: %s", file, name);
    if (!agb_table_find_column(table, name, &column)) {
        print_error("%s: not in the table\n", where);
        return 1;
    }
    int wrong = expected_check_number(where, "type", expected_type(wanted), column.type);
    expected_key *group = expected_count(&column, agb_table_rows(table), &groups, &nulls);
    for (size_t i = 0; i < groups; i++) {
        uint64_t count = group[i].count;
        total += count;
        checksum_counts += count * (count + 1);
        checksum_keys += count * (column.type == AGB_TYPE_BYTES ? expected_fnv(group[i].bytes)
                                                                : expected_value(column.type, &group[i]));
    }
    wrong += expected_check_number(where, "groups", expected_number(wanted, "groups"), groups);
    wrong += expected_check_number(where, "total", expected_number(wanted, "total"), total);
    wrong += expected_check_number(where, "nulls", expected_number(wanted, "nulls"), nulls);
    wrong += expected_check_number(where, "nulls of the table", expected_number(wanted, "nulls"), column.null_count);
    wrong += expected_check_number(where, "max_count", expected_number(wanted, "max_count"),
                                   groups ? group[0].count : 0);
    wrong += expected_check_number(where, "checksum_counts", expected_number(wanted, "checksum_counts"),
                                   checksum_counts);
    wrong += expected_check_number(where, "checksum_keys", expected_number(wanted, "checksum_keys"), checksum_keys);
    const json_t *top = json_object_get(wanted, "top");
    for (size_t i = 0; i < json_array_size(top) && i < groups; i++) {
        const json_t *pair = json_array_get(top, i);
        if (!expected_key_is(json_array_get(pair, 0), column.type, &group[i]) ||
            (uint64_t)json_integer_value(json_array_get(pair, 1)) != group[i].count) {
            print_error("%s: top group %zu is another one\n", where, i + 1);
            wrong++;
        }
    }
    free(group);
    return wrong;
}

/* The file's "files" array; the caller gives the root back with json_decref. */
static inline json_t *expected_load(const char *samples)
{
    char path[1024];
    json_error_t error;
    snprintf(path, sizeof path, "%s/expected.json", samples);
    json_t *root = json_load_file(path, JSON_ALLOW_NUL, &error);
    if (!root)
        fail_msg("%s: %s", path, error.text);
    return root;
}

#endif
