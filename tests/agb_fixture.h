/* SPDX-License-Identifier: MIT */
/* Tables to save and to compare, a folder of their own, and .agb files as bytes: for the tests of .agb. */
#ifndef AGB_AGB_FIXTURE_H
#define AGB_AGB_FIXTURE_H

#include "internal.h"
#include "loader.h"
#include "test.h"

#include <dirent.h>

typedef struct fixture {
    agb_registry *registry;
    char folder[64], path[96];    /* path: FOLDER/t.agb */
} fixture;

static inline int fixture_set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_ok(agb_registry_create(&f->registry, err));
    strcpy(f->folder, "/tmp/aggbench-agb-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    snprintf(f->path, sizeof f->path, "%s/t.agb", f->folder);
    *state = f;
    return 0;
}

static inline int fixture_tear_down(void **state)
{
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    agb_registry_destroy(f->registry);
    free(f);
    return 0;
}

/* How many files there are in the folder, hidden ones included. */
static inline size_t fixture_files(const fixture *f)
{
    DIR *dir = opendir(f->folder);
    size_t n = 0;
    for (struct dirent *entry; (entry = readdir(dir));)
        n += strcmp(entry->d_name, ".") != 0 && strcmp(entry->d_name, "..") != 0;
    closedir(dir);
    return n;
}

/* ---- Tables of every type ---- */

static const char *const fixture_names[] = {"int32", "uint32", "int64", "uint64", "bool", "bytes", "runs",
                                            "int32 with NULL", "uint32 with NULL", "int64 with NULL",
                                            "uint64 with NULL", "bool with NULL", "bytes with NULL", "runs with NULL"};
enum { FIXTURE_COLUMNS = 14 };

static inline uint64_t fixture_random(uint64_t *seed)
{
    *seed += UINT64_C(0x9e3779b97f4a7c15);
    uint64_t x = (*seed ^ *seed >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    return x ^ x >> 31;
}

static inline bool fixture_is_null(size_t column, uint64_t row)
{
    return column >= FIXTURE_COLUMNS / 2 && (row * 7 + column) % 11 < 3;
}

static inline void fixture_fill(agb_table *table, size_t column, agb_type type, uint64_t rows)
{
    unsigned char *values = agb_table_values(table, column);
    size_t width = agb_type_bytes(type);
    uint64_t seed = column;
    for (uint64_t row = 0; row < rows; row++) {
        uint64_t x = column % 7 == 6 ? row / 700 * row / 90000 : fixture_random(&seed);
        if (fixture_is_null(column, row)) {
            agb_table_nulls(table, column)[row] = 1;
            continue;
        }
        if (type == AGB_TYPE_BOOL)
            x &= 1;
        if (type == AGB_TYPE_BYTES) {
            size_t length = x % 23;    /* NUL bytes are among them */
            agb_bytes value = {length ? agb_table_heap(table, length) : NULL, length};
            for (size_t i = 0; i < length; i++)
                ((unsigned char *)value.data)[i] = (unsigned char)(fixture_random(&seed) % 5);
            ((agb_bytes *)(void *)values)[row] = value;
        } else {
            memcpy(values + row * width, &x, width);
        }
    }
}

/* Columns fixture_names[0..n-1]; the caller destroys it. */
static inline agb_table *fixture_table(uint64_t rows, size_t n)
{
    static const agb_type types[] = {AGB_TYPE_INT32, AGB_TYPE_UINT32, AGB_TYPE_INT64, AGB_TYPE_UINT64, AGB_TYPE_BOOL,
                                     AGB_TYPE_BYTES, AGB_TYPE_INT64};
    agb_table *table;
    assert_ok(agb_table_create(&table, err));
    for (size_t i = 0; i < n; i++)
        assert_ok(agb_table_add(table, fixture_names[i], types[i % 7], AGB_PAGES_DEFAULT, err));
    assert_ok(agb_table_extend(table, rows, err));
    for (size_t i = 0; i < n; i++)
        fixture_fill(table, i, types[i % 7], rows);
    agb_table_loaded(table, "test", 0, agb_table_rows(table));
    return table;
}

/* One column of strings. */
static inline agb_table *fixture_strings(const agb_bytes *values, uint64_t rows)
{
    agb_table *table;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "bytes", AGB_TYPE_BYTES, values, rows, err));
    return table;
}

/* ---- Saving, loading, comparing ---- */

static inline void fixture_save(const fixture *f, const agb_table *table, const char *const *names, size_t n,
                                const char *codec)
{
    assert_ok(agb_table_save(table, f->registry, f->path, names, n, &(agb_save_options){.codec = codec}, err));
}

static inline agb_status fixture_load(const fixture *f, agb_table **out, const char *const *names, size_t n,
                                      agb_error *err)
{
    static const agb_load_options options = {.may_map = true};
    return agb_table_load(out, f->registry, f->path, names, n, &options, err);
}

static inline bool fixture_same_value(const agb_column *a, const agb_column *b, uint64_t row)
{
    size_t width = agb_type_bytes(a->type);
    if (a->type != AGB_TYPE_BYTES)
        return memcmp((const char *)a->values + row * width, (const char *)b->values + row * width, width) == 0;
    const agb_bytes *left = (const agb_bytes *)a->values + row, *right = (const agb_bytes *)b->values + row;
    return left->length == right->length && (left->length == 0 || memcmp(left->data, right->data, left->length) == 0);
}

/* Whether `loaded` has all rows of `saved`, `times` times one after another. */
static inline bool fixture_same(const agb_table *saved, const agb_table *loaded, const char *name, uint64_t times)
{
    agb_column a, b;
    uint64_t rows = agb_table_rows(saved);
    if (!agb_table_find_column(saved, name, &a) || !agb_table_find_column(loaded, name, &b) || a.type != b.type ||
        agb_table_rows(loaded) != rows * times || b.null_count != a.null_count * times)
        return false;
    for (uint64_t i = 0; i < times; i++) {
        agb_column part = b;
        part.values = (const char *)b.values + i * rows * agb_type_bytes(b.type);
        for (uint64_t row = 0; row < rows; row++)
            if ((a.nulls && a.nulls[row]) != (b.nulls && b.nulls[i * rows + row]) ||
                !fixture_same_value(&a, &part, row))
                return false;
    }
    return true;
}

static inline void assert_same(const agb_table *saved, const agb_table *loaded, const char *const *names, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (!fixture_same(saved, loaded, names[i], 1))
            fail_msg("column %s is another one after it was saved and loaded", names[i]);
}

/* ---- Files as bytes ---- */

static inline unsigned char *fixture_bytes(const fixture *f, size_t *n)
{
    FILE *file = fopen(f->path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *n = (size_t)ftell(file);
    rewind(file);
    unsigned char *bytes = malloc(*n);
    assert_int_equal(fread(bytes, 1, *n, file), *n);
    fclose(file);
    return bytes;
}

static inline void fixture_put_bytes(const fixture *f, const unsigned char *bytes, size_t n)
{
    FILE *file = fopen(f->path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, n, file), n);
    fclose(file);
}

#endif
