/* SPDX-License-Identifier: MIT */
/* Loads files made by hand and checks all values of their column "k". */
#ifndef AGB_PARQUET_CHECK_H
#define AGB_PARQUET_CHECK_H

#include "parquet_build.h"

static agb_registry *made_registry;

static inline int made_set_up(void **state)
{
    (void)state;
    return agb_registry_create(&made_registry, NULL);
}

static inline int made_tear_down(void **state)
{
    (void)state;
    agb_registry_destroy(made_registry);
    return 0;
}

/* Loads column "k" and checks type and rows. The caller destroys the table. */
static inline agb_column made_load_column(made_file *file, agb_type type, uint64_t rows, agb_table **table)
{
    agb_column column;
    assert_ok(made_load(table, made_registry, file, "k", err));
    assert_true(agb_table_find_column(*table, "k", &column));
    assert_int_equal(column.type, type);
    assert_int_equal(agb_table_rows(*table), rows);
    return column;
}

/* ... and all values of a column of 64-bit numbers; NULLs must be 0. */
static inline void made_check_longs(made_file *file, agb_type type, const int64_t *wanted, size_t n)
{
    agb_table *table;
    agb_column column = made_load_column(file, type, n, &table);
    for (size_t i = 0; i < n; i++)
        assert_true(((const int64_t *)column.values)[i] == wanted[i]);
    agb_table_destroy(table);
}

static inline void made_check_ints(made_file *file, agb_type type, const uint32_t *wanted, size_t n)
{
    agb_table *table;
    agb_column column = made_load_column(file, type, n, &table);
    assert_memory_equal(column.values, wanted, n * sizeof *wanted);
    agb_table_destroy(table);
}

static inline void made_check_strings(made_file *file, const char *const *wanted, size_t n)
{
    agb_table *table;
    agb_column column = made_load_column(file, AGB_TYPE_BYTES, n, &table);
    const agb_bytes *got = column.values;
    for (size_t i = 0; i < n; i++) {
        assert_int_equal(column.nulls && column.nulls[i], wanted[i] == NULL);
        assert_int_equal(got[i].length, wanted[i] ? strlen(wanted[i]) : 0);
        if (got[i].length)
            assert_memory_equal(got[i].data, wanted[i], got[i].length);
    }
    agb_table_destroy(table);
}

static inline made_file *made_long_column(int repetition, int codec)
{
    made_file *file = made_start();
    made_add_column(file, "k", AGB_PARQUET_INT64, repetition, codec);
    return file;
}

#endif
