/* SPDX-License-Identifier: MIT */
/* Raw files of 64-bit integers: known by name only, whole or refused. */
#include "loader.h"
#include "test.h"

static agb_registry *registry;

static int set_up(void **state)
{
    (void)state;
    return agb_registry_create(&registry, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    agb_registry_destroy(registry);
    return 0;
}

/* Writes a file whose name has this suffix, loads its column, and removes it. */
static agb_status load(agb_table **out, const char *suffix, const void *bytes, size_t n,
                       const agb_load_options *options, agb_error *err)
{
    char path[64];
    const char *name = "UserID";
    snprintf(path, sizeof path, "/tmp/aggbench-raw-XXXXXX%s", suffix);
    int fd = mkstemps(path, (int)strlen(suffix));
    assert_true(fd >= 0);
    assert_int_equal(write(fd, bytes, n), n);
    close(fd);
    agb_status status = agb_table_load(out, registry, path, &name, 1, options, err);
    unlink(path);
    return status;
}

static const uint64_t values[] = {1, UINT64_MAX, 0, UINT64_C(1) << 63, 0x0102030405060708};

static void assert_values(agb_table *table, agb_type type)
{
    agb_column column;
    assert_true(agb_table_find_column(table, "UserID", &column));
    assert_string_equal(agb_table_format(table), "raw");
    assert_int_equal(agb_table_rows(table), 5);
    assert_int_equal(column.type, type);
    assert_int_equal(column.null_count, 0);
    assert_memory_equal(column.values, values, sizeof values);
    agb_table_destroy(table);
}

static void the_ending_says_signed_or_unsigned(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(load(&table, ".i64", values, sizeof values, NULL, err));
    assert_values(table, AGB_TYPE_INT64);
    assert_ok(load(&table, ".u64", values, sizeof values, NULL, err));
    assert_values(table, AGB_TYPE_UINT64);
}

static void other_names_are_raw_only_when_told(void **state)
{
    (void)state;
    agb_table *table;
    assert_fails(AGB_ERR_FORMAT, "no loader knows", load(&table, ".bin", values, sizeof values, NULL, err));
    assert_ok(load(&table, ".bin", values, sizeof values, &(agb_load_options){.loader = "raw"}, err));
    assert_values(table, AGB_TYPE_INT64);
}

/* Numbers may look like text, and text may be told to be numbers. */
static void bytes_that_look_like_text_are_numbers(void **state)
{
    (void)state;
    static const char text[] = "UserID\n1\n2\n3\n4\n5\n6\n7\n8\n9\n";
    agb_table *table;
    assert_ok(load(&table, ".i64", text, 24, NULL, err));
    assert_int_equal(agb_table_rows(table), 3);
    agb_table_destroy(table);
}

static void a_size_that_is_no_multiple_of_8_is_refused(void **state)
{
    (void)state;
    agb_table *table;
    for (size_t n = 1; n < sizeof values; n++)
        if (n % 8)
            assert_fails(AGB_ERR_FORMAT, "raw: /tmp/aggbench-raw-|.i64: |bytes are not a multiple of 8",
                         load(&table, ".i64", values, n, NULL, err));
    assert_fails(AGB_ERR_FORMAT, "the file is empty", load(&table, ".i64", values, 0, NULL, err));
}

static void a_magic_is_stronger_than_the_name(void **state)
{
    (void)state;
    agb_table *table;
    assert_fails(AGB_ERR_FORMAT, "parquet: ", load(&table, ".i64", "PAR1____\0\0\0\0PAR1____\0\0\0\0", 24, NULL, err));
    assert_fails(AGB_ERR_FORMAT, "agb: ", load(&table, ".i64", "AGBCOL\r\n\1\0\0\0\0\0\0\0", 16, NULL, err));
}

static void a_pipe_is_refused(void **state)
{
    (void)state;
    int ends[2], input = dup(STDIN_FILENO);
    agb_table *table;
    const char *name = "UserID";
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], values, sizeof values), sizeof values);
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    agb_load_options options = {.loader = "raw"};
    assert_fails(AGB_ERR_UNSUPPORTED, "raw: -: a pipe does not tell its size",
                 agb_table_load(&table, registry, "-", &name, 1, &options, err));
    dup2(input, STDIN_FILENO);
    close(input);
}

static void several_workers_read_a_large_file(void **state)
{
    (void)state;
    enum { ROWS = 1700001 };    /* more than three blocks */
    int64_t *many = malloc(ROWS * sizeof *many);
    for (int64_t i = 0; i < ROWS; i++)
        many[i] = i * INT64_C(0x9e3779b97);
    agb_pool *pool;
    agb_table *table;
    agb_column column;
    assert_ok(agb_pool_create(&pool, 3, NULL, err));
    assert_ok(load(&table, ".i64", many, ROWS * sizeof *many, &(agb_load_options){.pool = pool}, err));
    assert_true(agb_table_find_column(table, "UserID", &column));
    assert_int_equal(agb_table_rows(table), ROWS);
    assert_memory_equal(column.values, many, ROWS * sizeof *many);
    agb_table_destroy(table);
    agb_pool_destroy(pool);
    free(many);
}

static void the_schema_is_told(void **state)
{
    (void)state;
    char path[] = "/tmp/aggbench-raw-XXXXXX.u64";
    int fd = mkstemps(path, 4);
    assert_int_equal(write(fd, values, sizeof values), sizeof values);
    close(fd);
    agb_schema schema;
    assert_ok(agb_source_describe(&schema, registry, path, err));
    unlink(path);
    assert_int_equal(schema.rows, 5);
    assert_int_equal(schema.columns, 1);
    assert_string_equal(schema.column[0].name, "UserID");
    assert_int_equal(schema.column[0].type, AGB_TYPE_UINT64);
    assert_false(schema.column[0].optional);
    agb_schema_release(&schema);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_ending_says_signed_or_unsigned),
        cmocka_unit_test(other_names_are_raw_only_when_told),
        cmocka_unit_test(bytes_that_look_like_text_are_numbers),
        cmocka_unit_test(a_size_that_is_no_multiple_of_8_is_refused),
        cmocka_unit_test(a_magic_is_stronger_than_the_name),
        cmocka_unit_test(a_pipe_is_refused),
        cmocka_unit_test(several_workers_read_a_large_file),
        cmocka_unit_test(the_schema_is_told),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
