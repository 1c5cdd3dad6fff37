/* SPDX-License-Identifier: MIT */
/* What the tests of the text formats share: texts written to a file and loaded, step by step of any size, and the
 * answers of samples/expected.json, of which every number is worked out here from the loaded column. */
#ifndef AGB_TEXT_FIXTURE_H
#define AGB_TEXT_FIXTURE_H

#include "internal.h"
#include "loader.h"
#include "test.h"
#include "text/reader.h"

#include <fcntl.h>
#include <inttypes.h>
#include <jansson.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>
#include <zstd.h>

/* ---- files ---- */

/* A file that holds these bytes; the name is static and the file is to be removed by the caller. */
static inline const char *test_file(const void *bytes, size_t size)
{
    static char path[64];
    strcpy(path, "/tmp/agb_text_XXXXXX");
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, size), (ssize_t)size);
    close(fd);
    return path;
}

static inline agb_status test_load(agb_table **table, const char *path, const char *const *columns, size_t n,
                                   const char *loader, unsigned workers, agb_error *err)
{
    agb_registry *registry;
    agb_pool *pool = NULL;
    assert_int_equal(agb_registry_create(&registry, err), AGB_OK);
    if (workers > 1)
        assert_int_equal(agb_pool_create(&pool, workers, NULL, err), AGB_OK);
    agb_load_options options = {.pool = pool, .loader = loader};
    agb_status status = agb_table_load(table, registry, path, columns, n, &options, err);
    agb_pool_destroy(pool);
    agb_registry_destroy(registry);
    return status;
}

/* Loads columns of a text in memory; loader NULL: the one that knows it. */
static inline agb_status test_load_bytes(agb_table **table, const void *bytes, size_t size, const char *const *columns,
                                         size_t n, const char *loader, agb_error *err)
{
    const char *path = test_file(bytes, size);
    agb_status status = test_load(table, path, columns, n, loader, 1, err);
    unlink(path);
    return status;
}

static inline agb_status test_load_column(agb_table **table, const char *text, const char *column, agb_error *err)
{
    return test_load_bytes(table, text, strlen(text), &column, 1, NULL, err);
}

/* Loads column number `column` of a file with a loader of its own, `step` bytes at a time. */
static inline agb_status test_load_stepped(agb_table **table, const agb_loader *loader, const char *path, bool seekable,
                                           size_t column, size_t step, agb_pool *pool, agb_error *err)
{
    unsigned char head[4096];
    int fd = open(path, O_RDONLY);
    assert_true(fd >= 0);
    struct stat file;
    fstat(fd, &file);
    ssize_t taken = seekable ? pread(fd, head, sizeof head, 0) : read(fd, head, 1);
    agb_input input = {.path = path, .fd = fd, .seekable = seekable, .bytes = seekable ? (uint64_t)file.st_size : 0,
                       .head = head, .head_bytes = (size_t)taken};
    void *self = NULL;
    agb_schema schema = {0};
    *table = NULL;
    agb_status status = loader->open(&input, &self, err);
    if (status == AGB_OK)
        status = loader->schema(self, &schema, err);
    if (status == AGB_OK) {
        agb_text_set_step(self, step);
        assert_int_equal(agb_table_create(table, err), AGB_OK);
        assert_int_equal(agb_table_add(*table, schema.column[column].name, schema.column[column].type,
                                       AGB_PAGES_DEFAULT, err), AGB_OK);
        agb_load load = {.pool = pool};
        status = loader->load(self, &column, 1, *table, &load, err);
        agb_table_loaded(*table, loader->name, 0, agb_table_rows(*table));
    }
    agb_schema_release(&schema);
    if (self)
        loader->close(self);
    close(fd);
    return status;
}

/* ---- values ---- */

static inline agb_column test_column(const agb_table *table, const char *name)
{
    agb_column column;
    assert_true(agb_table_find_column(table, name, &column));
    return column;
}

static inline void assert_bytes_equal(agb_bytes found, const void *wanted, size_t length)
{
    assert_int_equal(found.length, length);
    if (length)
        assert_memory_equal(found.data, wanted, length);
}

/* ---- expected answers ---- */

typedef struct test_key {
    agb_bytes bytes;
    int64_t number;
    uint64_t count;
    bool is_signed, is_bytes;
} test_key;

static inline int test_compare_keys(const void *a, const void *b)
{
    const test_key *left = a, *right = b;
    if (!left->is_bytes)
        return (left->number > right->number) - (left->number < right->number);
    size_t shorter = left->bytes.length < right->bytes.length ? left->bytes.length : right->bytes.length;
    int order = shorter ? memcmp(left->bytes.data, right->bytes.data, shorter) : 0;
    return order ? order : (left->bytes.length > right->bytes.length) - (left->bytes.length < right->bytes.length);
}

static inline int test_compare_counts(const void *a, const void *b)
{
    const test_key *left = a, *right = b;
    return left->count != right->count ? (left->count < right->count ? 1 : -1) : test_compare_keys(a, b);
}

static inline test_key test_key_at(const agb_column *column, uint64_t row)
{
    test_key key = {.count = 1, .is_bytes = column->type == AGB_TYPE_BYTES};
    switch (column->type) {
    case AGB_TYPE_INT32:
        key.number = ((const int32_t *)column->values)[row];
        break;
    case AGB_TYPE_UINT32:
        key.number = ((const uint32_t *)column->values)[row];
        break;
    case AGB_TYPE_INT64:
        key.number = ((const int64_t *)column->values)[row];
        break;
    default:
        key.bytes = ((const agb_bytes *)column->values)[row];
    }
    return key;
}

/* The groups of a column by descending count; *groups of them. To be freed. */
static inline test_key *test_group(const agb_column *column, uint64_t rows, size_t *groups)
{
    test_key *keys = calloc(rows + 1, sizeof *keys);
    size_t n = 0;
    for (uint64_t row = 0; row < rows; row++)
        if (!column->nulls || !column->nulls[row])
            keys[n++] = test_key_at(column, row);
    qsort(keys, n, sizeof *keys, test_compare_keys);
    *groups = 0;
    for (size_t i = 0; i < n; i++)
        if (*groups && test_compare_keys(&keys[*groups - 1], &keys[i]) == 0)
            keys[*groups - 1].count++;
        else
            keys[(*groups)++] = keys[i];
    qsort(keys, *groups, sizeof *keys, test_compare_counts);
    return keys;
}

/* The column must hold exactly these numbers, one per row. */
#define assert_numbers(table, name, ...)                                                                               \
    test_check_numbers(table, name, (const int64_t[]){__VA_ARGS__}, sizeof((const int64_t[]){__VA_ARGS__}) / 8)

static inline void test_check_numbers(agb_table *table, const char *name, const int64_t *wanted, size_t rows)
{
    agb_column column = test_column(table, name);
    assert_int_equal(agb_table_rows(table), rows);
    for (size_t i = 0; i < rows; i++)
        assert_int_equal(test_key_at(&column, i).number, wanted[i]);
}

static inline void test_check_string(agb_table *table, const char *name, uint64_t row, const char *wanted,
                                     size_t length)
{
    agb_column column = test_column(table, name);
    assert_int_equal(column.type, AGB_TYPE_BYTES);
    assert_bytes_equal(((const agb_bytes *)column.values)[row], wanted, length);
}

static inline uint64_t test_hash_key(const test_key *key)
{
    if (!key->is_bytes)
        return (uint64_t)key->number;
    uint64_t hash = UINT64_C(14695981039346656037);
    for (size_t i = 0; i < key->bytes.length; i++)
        hash = (hash ^ key->bytes.data[i]) * UINT64_C(1099511628211);
    return hash;
}

static inline uint64_t test_json_number(const json_t *object, const char *name)
{
    const json_t *value = json_object_get(object, name);
    return json_is_string(value) ? strtoull(json_string_value(value), NULL, 10) : (uint64_t)json_integer_value(value);
}

/* A key of `top` in expected.json: digits, a string, {"hex"} or, where it is long, {"length", "fnv1a64"}. */
static inline void test_check_key(const test_key *key, const json_t *wanted)
{
    char text[64];
    if (json_is_string(wanted) && key->is_bytes)
        assert_bytes_equal(key->bytes, json_string_value(wanted), json_string_length(wanted));
    else if (json_is_string(wanted)) {
        snprintf(text, sizeof text, "%" PRId64, key->number);
        assert_string_equal(text, json_string_value(wanted));
    } else if (json_is_integer(wanted))
        assert_int_equal(key->number, json_integer_value(wanted));
    else if (json_object_get(wanted, "length")) {
        assert_int_equal(key->bytes.length, json_integer_value(json_object_get(wanted, "length")));
        assert_int_equal(test_hash_key(key), test_json_number(wanted, "fnv1a64"));
    } else
        assert_int_equal(key->bytes.length, json_string_length(json_object_get(wanted, "hex")) / 2);
}

static inline void test_check_column(const agb_table *table, const char *name, const json_t *wanted)
{
    agb_column column = test_column(table, name);
    size_t groups;
    test_key *keys = test_group(&column, agb_table_rows(table), &groups);
    uint64_t total = 0, counts = 0, hashes = 0;
    for (size_t i = 0; i < groups; i++) {
        total += keys[i].count;
        counts += keys[i].count * (keys[i].count + 1);
        hashes += test_hash_key(&keys[i]) * keys[i].count;
    }
    assert_int_equal(groups, test_json_number(wanted, "groups"));
    assert_int_equal(total, test_json_number(wanted, "total"));
    assert_int_equal(column.null_count, test_json_number(wanted, "nulls"));
    assert_int_equal(groups ? keys[0].count : 0, test_json_number(wanted, "max_count"));
    assert_int_equal(counts, test_json_number(wanted, "checksum_counts"));
    assert_int_equal(hashes, test_json_number(wanted, "checksum_keys"));
    const json_t *top = json_object_get(wanted, "top_as_number");
    if (!top)
        top = json_object_get(wanted, "top");
    for (size_t i = 0; i < json_array_size(top); i++) {
        const json_t *pair = json_array_get(top, i);
        test_check_key(&keys[i], json_array_get(pair, 0));
        assert_int_equal(keys[i].count, json_integer_value(json_array_get(pair, 1)));
    }
    free(keys);
}

static inline void test_check_sample(const char *folder, const json_t *sample)
{
    char path[512];
    const char *names[256], *key, *name = json_string_value(json_object_get(sample, "file"));
    const json_t *columns = json_object_get(sample, "columns");
    size_t n = 0;
    json_t *wanted;
    agb_table *table;
    snprintf(path, sizeof path, "%s/%s", folder, name);
    json_object_foreach((json_t *)columns, key, wanted)
        names[n++] = key;
    if (strcmp(json_string_value(json_object_get(sample, "verdict")), "must-fail") == 0) {
        assert_fails(AGB_ERR_FORMAT, name, test_load(&table, path, (const char *[]){"UserID"}, 1, NULL, 2, err));
        return;
    }
    assert_ok(test_load(&table, path, names, n, NULL, 2, err));
    assert_int_equal(agb_table_rows(table), json_integer_value(json_object_get(sample, "rows")));
    for (size_t i = 0; i < n; i++)
        test_check_column(table, names[i], json_object_get(columns, names[i]));
    agb_table_destroy(table);
}

/* Every file of this format ("tsv", also as "tsv.gz" ...) in expected.json. */
static inline void test_check_samples(const char *format)
{
    char path[512];
    const char *folder = test_samples();
    snprintf(path, sizeof path, "%s/expected.json", folder);
    json_error_t fault;
    json_t *expected = json_load_file(path, JSON_ALLOW_NUL, &fault), *sample;
    assert_non_null(expected);
    size_t i, checked = 0;
    json_array_foreach(json_object_get(expected, "files"), i, sample) {
        const char *found = json_string_value(json_object_get(sample, "format"));
        size_t length = strlen(format);
        if (strncmp(found, format, length) == 0 && (found[length] == '\0' || found[length] == '.')) {
            test_check_sample(folder, sample);
            checked++;
        }
    }
    assert_true(checked > 0);
    json_decref(expected);
}

/* ---- block sizes ---- */

/* A text whose column 0, UserID, is 1, 2, 2: the same when it is stepped through 1..64 bytes at a time, of a file
 * or a pipe. */
static inline void test_check_line_ends(const agb_loader *loader, const char *text)
{
    const char *path = test_file(text, strlen(text));
    agb_table *table;
    for (size_t step = 1; step <= 64; step++)
        for (int seekable = 0; seekable <= 1; seekable++) {
            assert_ok(test_load_stepped(&table, loader, path, seekable, 0, step, NULL, err));
            assert_numbers(table, "UserID", 1, 2, 2);
            agb_table_destroy(table);
        }
    unlink(path);
}

/* SearchPhrase of a sample of 100 rows: the same at any block size, of a file or a pipe, by one worker or three. */
static inline void test_check_steps(const agb_loader *loader, const char *sample)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", test_samples(), sample);
    agb_table *whole, *stepped;
    agb_pool *pool;
    assert_ok(agb_pool_create(&pool, 3, NULL, err));
    assert_ok(test_load_stepped(&whole, loader, path, true, 39, 1 << 20, NULL, err));
    const agb_bytes *wanted = test_column(whole, "SearchPhrase").values;
    for (size_t step = 1; step <= 64; step++) {
        assert_ok(test_load_stepped(&stepped, loader, path, step % 2, 39, step, step % 3 ? pool : NULL, err));
        const agb_bytes *found = test_column(stepped, "SearchPhrase").values;
        assert_int_equal(agb_table_rows(stepped), 100);
        for (size_t row = 0; row < 100; row++)
            assert_bytes_equal(found[row], wanted[row].data, wanted[row].length);
        agb_table_destroy(stepped);
    }
    agb_table_destroy(whole);
    agb_pool_destroy(pool);
}

#endif
