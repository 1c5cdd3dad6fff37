/* SPDX-License-Identifier: MIT */
/* A part of a table: which rows it has, and that it stands by itself. */
#include "internal.h"
#include "loader.h"
#include "test.h"

enum { ROWS = 5000 };

static agb_table *numbers(const int64_t *values, uint64_t rows)
{
    agb_table *table = NULL;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "UserID", AGB_TYPE_INT64, values, rows, err));
    return table;
}

static void a_sample_has_every_kth_of_the_first_rows(void **state)
{
    static const struct { uint64_t rows; agb_row_sample sample; } cases[] = {
        {10, {3, 0}}, {10, {10, 1}}, {10, {11, 1}}, {10, {0, 1}}, {10, {0, 0}}, {10, {0, 3}}, {10, {0, 10}},
        {10, {0, 9}}, {10, {0, 11}}, {10, {7, 3}}, {10, {6, 3}}, {1, {1, 2}}, {0, {4, 2}},
        {ROWS, {INT64_MAX, 7}}, {ROWS, {0, INT64_MAX}}, {ROWS, {1, UINT64_MAX}}};
    (void)state;
    int64_t values[ROWS];
    for (int64_t i = 0; i < ROWS; i++)
        values[i] = -i;
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        agb_table *table = numbers(values, cases[k].rows), *part;
        agb_column column;
        uint64_t n = 0, every = cases[k].sample.every ? cases[k].sample.every : 1;
        assert_ok(agb_table_sample(&part, table, &cases[k].sample, AGB_PAGES_DEFAULT, err));
        agb_table_destroy(table);
        assert_true(agb_table_find_column(part, "UserID", &column));
        for (uint64_t i = 0; i < cases[k].rows && (!cases[k].sample.head || i < cases[k].sample.head); i++)
            if (i % every == 0)
                assert_int_equal(((const int64_t *)column.values)[n++], -(int64_t)i);
        assert_int_equal(agb_table_rows(part), n);
        assert_string_equal(agb_table_format(part), "memory");
        agb_table_destroy(part);
    }
}

static void columns_of_every_width_keep_their_values_and_nulls(void **state)
{
    static const agb_type types[] = {AGB_TYPE_INT32, AGB_TYPE_UINT64, AGB_TYPE_BOOL};
    enum { TYPES = sizeof types / sizeof types[0] };
    agb_table *table, *part;
    (void)state;
    assert_ok(agb_table_create(&table, err));
    for (size_t c = 0; c < TYPES; c++)
        assert_ok(agb_table_add(table, agb_type_name(types[c]), types[c], AGB_PAGES_DEFAULT, err));
    assert_ok(agb_table_extend(table, ROWS, err));
    for (size_t c = 0; c < TYPES; c++)
        for (size_t i = 0; i < ROWS; i++) {
            ((unsigned char *)agb_table_values(table, c))[i * agb_type_bytes(types[c])] = i % 3 == 0 ? 0 : i % 2;
            if (c != 1)
                agb_table_nulls(table, c)[i] = i % 3 == 0;
        }
    agb_table_loaded(table, "test", 0, agb_table_rows(table));
    assert_ok(agb_table_sample(&part, table, &(agb_row_sample){.every = 7}, AGB_PAGES_4K, err));
    agb_table_destroy(table);
    for (size_t c = 0; c < TYPES; c++) {
        agb_column column;
        assert_true(agb_table_column_at(part, c, &column));
        assert_string_equal(column.name, agb_type_name(types[c]));
        assert_int_equal(column.type, types[c]);
        assert_int_equal(column.null_count, c == 1 ? 0 : (ROWS + 20) / 21);
        for (size_t i = 0; i < agb_table_rows(part); i++) {
            assert_int_equal(((const unsigned char *)column.values)[i * agb_type_bytes(types[c])],
                             7 * i % 3 == 0 ? 0 : 7 * i % 2);
            assert_int_equal(column.nulls ? column.nulls[i] : 0, c != 1 && 7 * i % 3 == 0);
        }
    }
    agb_table_destroy(part);
}

/* As many places as the source has, so that a dictionary's few strings stay few. */
static void strings_outlive_their_source_and_share_what_they_shared(void **state)
{
    static const char words[] = "onetwothree";
    char *heap = malloc(sizeof words);
    agb_bytes *values = calloc(ROWS, sizeof *values);
    agb_table *table, *part;
    agb_column column;
    (void)state;
    memcpy(heap, words, sizeof words);
    for (size_t i = 0; i < ROWS; i++)    /* "one", "onetwo", "three" or nothing */
        values[i] = i % 4 == 3 ? (agb_bytes){NULL, 0}
                               : (agb_bytes){(unsigned char *)heap + (i % 4 == 2 ? 6 : 0), i % 4 == 0 ? 3 : 4 + i % 4};
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "URL", AGB_TYPE_BYTES, values, ROWS, err));
    assert_ok(agb_table_sample(&part, table, &(agb_row_sample){.every = 3}, AGB_PAGES_DEFAULT, err));
    agb_table_destroy(table);
    free(values);
    memset(heap, '?', sizeof words);
    free(heap);
    assert_true(agb_table_find_column(part, "URL", &column));
    const agb_bytes *strings = column.values;
    uint64_t rows = agb_table_rows(part), bytes = 3 + 5 + 6;
    assert_int_equal(rows, (ROWS + 2) / 3);
    for (uint64_t i = 0; i < rows; i++) {
        static const char *const wanted[] = {"one", "onetw", "threeX", ""};
        static const size_t lengths[] = {3, 5, 5, 0};
        size_t kind = 3 * i % 4;
        assert_true(strings[i].length >= lengths[kind]);
        if (lengths[kind])
            assert_memory_equal(strings[i].data, wanted[kind], lengths[kind]);
        if (i >= 4)
            assert_ptr_equal(strings[i].data, strings[i - 4].data);
    }
    assert_int_equal(agb_table_bytes(part), rows * sizeof(agb_bytes) + bytes);
    agb_table_destroy(part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sample_has_every_kth_of_the_first_rows),
        cmocka_unit_test(columns_of_every_width_keep_their_values_and_nulls),
        cmocka_unit_test(strings_outlive_their_source_and_share_what_they_shared),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
