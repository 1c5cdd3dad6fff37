/* SPDX-License-Identifier: MIT */
/* Key columns in memory with their right counts: see key_shapes.h. */
#include "key_shapes.h"

#include "reference.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static agb_status no_memory(size_t rows, agb_error *err)
{
    return agb_fail(err, AGB_ERR_MEMORY, "verify: no memory for a sample of %zu rows", rows);
}

static agb_key key_at(const agb_sample *sample, size_t i)
{
    if (sample->kind == AGB_KEYS_BYTES)
        return (agb_key){.bytes = sample->strings[i]};
    if (sample->kind == AGB_KEYS_PAIR)
        return (agb_key){.pair = {sample->keys[i], sample->seconds[i]}};
    return (agb_key){.word = sample->keys[i]};
}

static agb_status count_by_sorting(agb_sample *sample, agb_error *err)
{
    agb_group *groups = malloc((sample->rows + 1) * sizeof *groups);
    if (!groups)
        return no_memory(sample->rows, err);
    for (size_t i = 0; i < sample->rows; i++)
        groups[i] = (agb_group){key_at(sample, i), sample->weights ? sample->weights[i] : 1};
    agb_sort_groups(sample->kind, groups, sample->rows);
    size_t n = 0;
    for (size_t i = 0; i < sample->rows; i++) {
        if (n > 0 && agb_key_compare_raw(sample->kind, &groups[n - 1].key, &groups[i].key) == 0)
            groups[n - 1].count += groups[i].count;
        else
            groups[n++] = groups[i];
    }
    sample->groups = groups;
    sample->n_groups = n;
    return AGB_OK;
}

static agb_status make_room(agb_sample *out, size_t rows, bool weighted, agb_error *err)
{
    *out = (agb_sample){.rows = rows, .type = AGB_TYPE_INT64};
    out->keys = malloc((rows + 1) * sizeof *out->keys);
    out->weights = weighted ? malloc((rows + 1) * sizeof *out->weights) : NULL;
    if (!out->keys || (weighted && !out->weights))
        return no_memory(rows, err);
    return AGB_OK;
}

/* ---- Pairs and strings of a sample's words ----------------------------------------------------------------------- */

static bool make_pairs(agb_sample *sample)
{
    sample->seconds = malloc((sample->rows + 1) * sizeof *sample->seconds);
    for (size_t i = 0; sample->seconds && i < sample->rows; i++) {
        uint64_t word = sample->keys[i];
        const uint64_t firsts[] = {word, 0, word >> 32}, seconds[] = {0, word, word & UINT32_MAX};
        sample->keys[i] = firsts[word % 3];
        sample->seconds[i] = seconds[word % 3];
    }
    return sample->seconds;
}

enum { LONGEST_STRING = 1500 };

/* The text takes LONGEST_STRING + 1. Returns the length. */
static size_t make_string(uint64_t word, unsigned char *text)
{
    switch (word % 8) {
    case 0:
        return 0;
    case 1:
        memcpy(text, &word, sizeof word);    /* NULs in it */
        return sizeof word;
    case 2:
        memset(text, 'a', LONGEST_STRING);    /* a run of one letter, mostly too long for a small buffer */
        return word / 8 % LONGEST_STRING;
    case 3:
        memset(text, 0, 16);
        return word / 8 % 16;
    default:
        return (size_t)sprintf((char *)text, "https://example.org/a/common/beginning?id=%llx",
                               (unsigned long long)word);
    }
}

static bool make_strings(agb_sample *sample)
{
    unsigned char text[LONGEST_STRING + 1];
    size_t bytes = 0;
    for (size_t i = 0; i < sample->rows; i++)
        bytes += make_string(sample->keys[i], text);
    sample->text = malloc(bytes + 1);
    sample->strings = malloc((sample->rows + 1) * sizeof *sample->strings);
    if (!sample->text || !sample->strings)
        return false;
    unsigned char *at = sample->text;
    for (size_t i = 0; i < sample->rows; i++) {
        size_t length = make_string(sample->keys[i], text);
        memcpy(at, text, length);
        sample->strings[i] = (agb_bytes){at, length};
        at += length;
    }
    return true;
}

/* ---- Making them ------------------------------------------------------------------------------------------------- */

agb_status agb_sample_of_shape(agb_sample *out, const agb_shape *shape, agb_key_kind kind, size_t rows, bool weighted,
                               agb_error *err)
{
    agb_status status = make_room(out, rows, weighted, err);
    if (status != AGB_OK)
        return status;
    uint64_t random = 88172645463325252;    /* xorshift64 (Marsaglia, 2003): the same sample every time */
    for (size_t i = 0; i < rows; i++) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        out->keys[i] = shape->key(i, random);
        if (weighted)
            out->weights[i] = 1 + (random >> 20);    /* up to 2^44: sums leave 32 bits at once */
    }
    out->kind = kind;
    if ((kind == AGB_KEYS_PAIR && !make_pairs(out)) || (kind == AGB_KEYS_BYTES && !make_strings(out)))
        return no_memory(rows, err);
    return count_by_sorting(out, err);
}

agb_status agb_sample_of_key(agb_sample *out, uint64_t key, size_t rows, agb_error *err)
{
    agb_status status = make_room(out, rows, false, err);
    for (size_t i = 0; status == AGB_OK && i < rows; i++)
        out->keys[i] = key;
    return status == AGB_OK ? count_by_sorting(out, err) : status;
}

/* ---- From a table, and back -------------------------------------------------------------------------------------- */

/* Sign- or zero-extended, as the engine widens it. */
static uint64_t word_at(const agb_column *column, size_t i)
{
    switch (column->type) {
    case AGB_TYPE_INT32:
        return (uint64_t)((const int32_t *)column->values)[i];
    case AGB_TYPE_UINT32:
        return ((const uint32_t *)column->values)[i];
    case AGB_TYPE_BOOL:
        return ((const uint8_t *)column->values)[i];
    default:
        return ((const uint64_t *)column->values)[i];
    }
}

static bool is_wide(const agb_column *column)
{
    return column->type == AGB_TYPE_INT64 || column->type == AGB_TYPE_UINT64;
}

static bool copy_strings(agb_sample *out, const agb_bytes *strings, const size_t *rows)
{
    size_t bytes = 0;
    for (size_t i = 0; i < out->rows; i++)
        bytes += strings[rows ? rows[i] : i].length;
    out->text = malloc(bytes + 1);
    out->strings = malloc((out->rows + 1) * sizeof *out->strings);
    unsigned char *at = out->text;
    for (size_t i = 0; out->text && out->strings && i < out->rows; i++) {
        agb_bytes from = strings[rows ? rows[i] : i];
        if (from.length)
            memcpy(at, from.data, from.length);
        out->strings[i] = (agb_bytes){at, from.length};
        at += from.length;
    }
    return out->text && out->strings;
}

agb_status agb_sample_of_table(agb_sample *out, const agb_table *table, const char *name, const char *second,
                               const char *weight, agb_error *err)
{
    agb_column key, other = {0}, weights = {0};
    *out = (agb_sample){0};
    bool found = agb_table_find_column(table, name, &key) &&
                 (!second || agb_table_find_column(table, second, &other)) &&
                 (!weight || agb_table_find_column(table, weight, &weights));
    bool strings = found && key.type == AGB_TYPE_BYTES && !second;
    bool fits = found && (strings || key.type <= AGB_TYPE_BOOL) && (!second || (is_wide(&key) && is_wide(&other))) &&
                (!weight || is_wide(&weights));
    if (!fits || key.null_count || other.null_count || weights.null_count)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "verify: %s: not a column of integers or strings without NULL", name);
    agb_status status = make_room(out, agb_table_rows(table), weight, err);
    if (status != AGB_OK)
        return status;
    out->kind = strings ? AGB_KEYS_BYTES : second ? AGB_KEYS_PAIR : AGB_KEYS_WORD;
    out->type = key.type;
    out->seconds = second ? malloc((out->rows + 1) * sizeof *out->seconds) : NULL;
    if ((second && !out->seconds) || (strings && !copy_strings(out, key.values, NULL)))
        return no_memory(out->rows, err);
    for (size_t i = 0; i < out->rows; i++) {
        out->keys[i] = strings ? 0 : word_at(&key, i);
        if (second)
            out->seconds[i] = word_at(&other, i);
        if (weight)
            out->weights[i] = word_at(&weights, i);
    }
    return agb_sample_narrow(out, out->type, err);
}

static uint64_t cut_to(agb_type type, uint64_t key)
{
    switch (type) {
    case AGB_TYPE_INT32:
        return (uint64_t)(int32_t)key;
    case AGB_TYPE_UINT32:
        return (uint32_t)key;
    case AGB_TYPE_BOOL:
        return key & 1;
    default:
        return key;
    }
}

agb_status agb_sample_narrow(agb_sample *sample, agb_type type, agb_error *err)
{
    size_t width = agb_type_bytes(type);
    bool words = sample->kind == AGB_KEYS_WORD;
    sample->type = type;
    free(sample->groups);
    free(sample->narrow);
    sample->groups = NULL;
    sample->narrow = NULL;
    if (words && width < sizeof(uint64_t)) {
        sample->narrow = malloc(sample->rows * width + 1);
        if (!sample->narrow)
            return no_memory(sample->rows, err);
    }
    for (size_t i = 0; words && i < sample->rows; i++) {
        sample->keys[i] = cut_to(type, sample->keys[i]);
        if (sample->narrow)    /* little-endian: the low bytes come first */
            memcpy(sample->narrow + i * width, &sample->keys[i], width);
    }
    return count_by_sorting(sample, err);
}

agb_status agb_sample_of_rows(agb_sample *out, const agb_sample *from, const size_t *rows, size_t n, bool weighted,
                              agb_error *err)
{
    agb_status status = make_room(out, n, weighted && from->weights, err);
    if (status != AGB_OK)
        return status;
    out->kind = from->kind;
    out->seconds = from->seconds ? malloc((n + 1) * sizeof *out->seconds) : NULL;
    if ((from->seconds && !out->seconds) || (from->strings && !copy_strings(out, from->strings, rows)))
        return no_memory(n, err);
    for (size_t i = 0; i < n; i++) {
        size_t row = rows ? rows[i] : i;
        out->keys[i] = from->keys[row];
        if (from->seconds)
            out->seconds[i] = from->seconds[row];
        if (out->weights)
            out->weights[i] = from->weights[row];
    }
    return agb_sample_narrow(out, from->type, err);
}

/* ---- Guarded ----------------------------------------------------------------------------------------------------- */

static size_t guarded_bytes(size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page + 2 * page;
}

/* A read-only copy that ends at a page that cannot be touched, behind another one; takes the original. */
static bool guard(void **array, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE), all = guarded_bytes(bytes);
    if (!*array)
        return true;
    unsigned char *map = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (map == MAP_FAILED)
        return false;
    unsigned char *copy = map + all - page - bytes;
    memcpy(copy, *array, bytes);
    mprotect(map, all, PROT_READ);
    mprotect(map, page, PROT_NONE);
    mprotect(map + all - page, page, PROT_NONE);
    free(*array);
    *array = copy;
    return true;
}

static void drop(const agb_sample *sample, void *array, size_t bytes)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (array && sample->guarded)
        munmap((unsigned char *)array + bytes + page - guarded_bytes(bytes), guarded_bytes(bytes));
    else
        free(array);
}

/* Strings keep their text: what stands behind one of them is the next one. */
agb_status agb_sample_guard(agb_sample *sample, agb_error *err)
{
    size_t words = sample->rows * sizeof(uint64_t);
    void *arrays[] = {sample->keys, sample->seconds, sample->strings, sample->weights, sample->narrow};
    size_t bytes[] = {words, words, sample->rows * sizeof *sample->strings, words,
                      sample->rows * agb_type_bytes(sample->type)};
    enum { ARRAYS = sizeof arrays / sizeof arrays[0] };
    size_t done = 0;
    while (done < ARRAYS && guard(&arrays[done], bytes[done]))
        done++;
    if (done < ARRAYS)    /* only a test's child process comes here, and it ends with this failure */
        return agb_fail(err, AGB_ERR_MEMORY, "verify: no memory for a guarded sample of %zu rows", sample->rows);
    sample->guarded = true;
    sample->keys = arrays[0];
    sample->seconds = arrays[1];
    sample->strings = arrays[2];
    sample->weights = arrays[3];
    sample->narrow = arrays[4];
    return AGB_OK;
}

void agb_sample_release(agb_sample *sample)
{
    size_t words = sample->rows * sizeof(uint64_t);
    drop(sample, sample->keys, words);
    drop(sample, sample->seconds, words);
    drop(sample, sample->strings, sample->rows * sizeof *sample->strings);
    drop(sample, sample->weights, words);
    drop(sample, sample->narrow, sample->rows * agb_type_bytes(sample->type));
    free(sample->text);
    free(sample->groups);
    *sample = (agb_sample){0};
}

agb_status agb_sample_lend(const agb_sample *sample, agb_table **table, const char **columns, agb_error *err)
{
    bool strings = sample->kind == AGB_KEYS_BYTES;
    agb_status status = agb_table_create(table, err);
    if (status == AGB_OK)
        status = agb_table_lend(*table, "key", strings ? AGB_TYPE_BYTES : sample->type,
                                strings           ? (const void *)sample->strings
                                : sample->narrow ? (const void *)sample->narrow
                                                 : sample->keys, sample->rows, err);
    if (status == AGB_OK && sample->kind == AGB_KEYS_PAIR)
        status = agb_table_lend(*table, "second", AGB_TYPE_INT64, sample->seconds, sample->rows, err);
    *columns = sample->kind == AGB_KEYS_PAIR ? "key,second" : "key";
    return status;
}

/* ---- Across processes, and in a file ----------------------------------------------------------------------------- */

typedef struct stored_head {
    uint64_t kind, type, rows, weighted;
} stored_head;

static unsigned char *put(unsigned char *at, const unsigned char *end, const void *bytes, size_t n)
{
    if (!at || (size_t)(end - at) < n)
        return NULL;
    if (n)
        memcpy(at, bytes, n);
    return at + n;
}

bool agb_sample_store(const agb_sample *sample, void *to, size_t size)
{
    stored_head head = {sample->kind, sample->type, sample->rows, sample->weights != NULL};
    unsigned char *at = to, *end = at + size;
    size_t words = sample->rows * sizeof(uint64_t);
    at = put(at, end, &head, sizeof head);
    at = put(at, end, sample->keys, words);
    if (sample->seconds)
        at = put(at, end, sample->seconds, words);
    if (sample->weights)
        at = put(at, end, sample->weights, words);
    for (size_t i = 0; sample->strings && at && i < sample->rows; i++)
        at = put(at, end, &sample->strings[i].length, sizeof sample->strings[i].length);
    for (size_t i = 0; sample->strings && at && i < sample->rows; i++)
        at = put(at, end, sample->strings[i].data, sample->strings[i].length);
    return at;
}

agb_status agb_sample_restore(agb_sample *out, const void *from, agb_error *err)
{
    const unsigned char *at = from;
    stored_head head;
    memcpy(&head, at, sizeof head);
    at += sizeof head;
    size_t words = head.rows * sizeof(uint64_t);
    agb_status status = make_room(out, head.rows, head.weighted, err);
    if (status != AGB_OK)
        return status;
    out->kind = (agb_key_kind)head.kind;
    memcpy(out->keys, at, words);
    at += words;
    if (out->kind == AGB_KEYS_PAIR) {
        out->seconds = malloc(words + 1);
        if (out->seconds)
            memcpy(out->seconds, at, words);
        at += words;
    }
    if (head.weighted) {
        memcpy(out->weights, at, words);
        at += words;
    }
    if (out->kind == AGB_KEYS_BYTES) {
        agb_bytes *strings = malloc((head.rows + 1) * sizeof *strings);
        const unsigned char *text = at + head.rows * sizeof(size_t);
        for (size_t i = 0; strings && i < head.rows; i++) {
            memcpy(&strings[i].length, at + i * sizeof(size_t), sizeof(size_t));
            strings[i].data = text;
            text += strings[i].length;
        }
        bool copied = strings && copy_strings(out, strings, NULL);
        free(strings);
        if (!copied)
            return no_memory(out->rows, err);
    }
    if (out->kind == AGB_KEYS_PAIR && !out->seconds)
        return no_memory(out->rows, err);
    return agb_sample_narrow(out, (agb_type)head.type, err);
}

agb_status agb_sample_save(const agb_sample *sample, const agb_registry *registry, const char *path, agb_error *err)
{
    agb_table *table = NULL;
    const char *grouped, *columns[3] = {"key"};
    size_t n = 1;
    agb_status status = agb_sample_lend(sample, &table, &grouped, err);
    if (sample->kind == AGB_KEYS_PAIR)
        columns[n++] = "second";
    if (status == AGB_OK && sample->weights) {
        columns[n++] = "weight";
        status = agb_table_lend(table, "weight", AGB_TYPE_INT64, sample->weights, sample->rows, err);
    }
    if (status == AGB_OK)
        status = agb_table_save(table, registry, path, columns, n, NULL, err);
    agb_table_destroy(table);
    return status;
}
