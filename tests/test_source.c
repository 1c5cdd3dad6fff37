/* SPDX-License-Identifier: MIT */
/* From SOURCE to table: files, folders, globs, natural order, names of columns, and what goes wrong on the way. */
#include "internal.h"
#include "loader.h"
#include "test.h"

#include <sys/stat.h>

typedef struct fixture {
    agb_registry *registry;
    char folder[64];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_ok(agb_registry_create(&f->registry, err));
    strcpy(f->folder, "/tmp/aggbench-source-XXXXXX");
    assert_non_null(mkdtemp(f->folder));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    char command[128];
    snprintf(command, sizeof command, "rm -rf '%s'", f->folder);
    assert_int_equal(system(command), 0);
    agb_registry_destroy(f->registry);
    free(f);
    return 0;
}

static char *path_of(const fixture *f, const char *name)
{
    static char path[256];
    snprintf(path, sizeof path, "%s%s%s", f->folder, *name ? "/" : "", name);
    return path;
}

static void write_file(const fixture *f, const char *name, const char *text)
{
    FILE *out = fopen(path_of(f, name), "w");
    assert_non_null(out);
    fputs(text, out);
    fclose(out);
}

static agb_status load(const fixture *f, agb_table **table, const char *name, const char *column, agb_error *err)
{
    return agb_table_load(table, f->registry, path_of(f, name), &column, 1, NULL, err);
}

static void assert_keys(const agb_table *table, const int64_t *wanted, size_t n)
{
    agb_column column;
    assert_true(agb_table_find_column(table, "UserID", &column));
    assert_int_equal(agb_table_rows(table), n);
    assert_int_equal(column.type, AGB_TYPE_INT64);
    assert_memory_equal(column.values, wanted, n * sizeof *wanted);
}

static void one_file_is_loaded(void **state)
{
    agb_table *table;
    write_file(*state, "a.tsv", "UserID\n1\n-2\n3\n");
    assert_ok(load(*state, &table, "a.tsv", "UserID", err));
    assert_keys(table, (int64_t[]){1, -2, 3}, 3);
    assert_string_equal(agb_table_format(table), "tsv");
    assert_true(agb_table_bytes(table) >= 24);
    agb_table_destroy(table);
}

static void a_folder_is_loaded_in_natural_order(void **state)
{
    fixture *f = *state;
    agb_table *table;
    for (int i = 12; i >= 0; i--) {
        char name[32], text[32];
        snprintf(name, sizeof name, "hits_%d.tsv", i);
        snprintf(text, sizeof text, "UserID\n%d\n", i);
        write_file(f, name, text);
    }
    write_file(f, "_SUCCESS", "");
    write_file(f, ".hidden", "nonsense");
    assert_ok(load(f, &table, "", "UserID", err));
    assert_keys(table, (int64_t[]){0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, 13);
    agb_table_destroy(table);
    assert_ok(load(f, &table, "hits_1*.tsv", "UserID", err));
    assert_keys(table, (int64_t[]){1, 10, 11, 12}, 4);
    agb_table_destroy(table);
}

static void what_is_not_there_is_named(void **state)
{
    fixture *f = *state;
    agb_table *table;
    assert_fails(AGB_ERR_IO, "none.tsv|no such file", load(f, &table, "none.tsv", "UserID", err));
    assert_null(table);
    assert_fails(AGB_ERR_IO, "*.nothing|no file matches|check it", load(f, &table, "*.nothing", "UserID", err));
    assert_fails(AGB_ERR_IO, "holds no files|name another one", load(f, &table, "", "UserID", err));
    write_file(f, "empty.tsv", "");
    assert_fails(AGB_ERR_FORMAT, "empty.tsv|the file is empty|get it again",
                 load(f, &table, "empty.tsv", "UserID", err));
    assert_fails(AGB_ERR_ARGUMENT, "name is empty",
                 agb_table_load(&table, f->registry, "", (const char *[]){"UserID"}, 1, NULL, err));
}

/* What a folder or a glob leads to is all loaded, or refused by name: nothing is passed over or waited for. */
static void what_is_no_file_among_files_is_refused(void **state)
{
    fixture *f = *state;
    agb_table *table;
    agb_schema schema;
    write_file(f, "a.tsv", "UserID\n1\n");
    assert_int_equal(mkdir(path_of(f, "more.tsv"), 0700), 0);
    assert_fails(AGB_ERR_UNSUPPORTED, "the folder '|/more.tsv'|name the files by a glob",
                 load(f, &table, "", "UserID", err));
    assert_fails(AGB_ERR_UNSUPPORTED, "*.tsv: the folder '|/more.tsv'", load(f, &table, "*.tsv", "UserID", err));
    assert_int_equal(rename(path_of(f, "more.tsv"), strcat(strcpy((char[256]){0}, f->folder), "/_more")), 0);
    assert_ok(load(f, &table, "", "UserID", err));
    agb_table_destroy(table);

    assert_int_equal(mkfifo(path_of(f, "pipe.tsv"), 0600), 0);
    assert_fails(AGB_ERR_UNSUPPORTED, "/pipe.tsv'|is not a regular file", load(f, &table, "", "UserID", err));
    assert_fails(AGB_ERR_UNSUPPORTED, "/pipe.tsv'|is not a regular file", load(f, &table, "p*.tsv", "UserID", err));
    assert_fails(AGB_ERR_UNSUPPORTED, "is not a regular file",
                 agb_source_describe(&schema, f->registry, f->folder, err));
    assert_true(agb_source_is_stream(path_of(f, "pipe.tsv")));
    assert_false(agb_source_is_stream(path_of(f, "a.tsv")));
    assert_false(agb_source_is_stream(f->folder));
    assert_true(agb_source_is_stream("-"));
}

static void cut_file(void *context, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    assert_int_equal(truncate(context, 5000), 0);
}

/* Another program writes over the file: an error, whatever the format, and no signal. */
static void a_file_cut_while_it_is_loaded_is_an_error(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *name, *header, *row;
    } texts[] = {{"a.tsv", "UserID\tURL\n", "1234567\tabcdef\n"},
                 {"a.csv", "UserID,URL\n", "1234567,\"abc\"\"def\"\n"},
                 {"a.jsonl", "{\"UserID\":1}\n", "{\"UserID\":1234567}\n"}};
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        agb_table *table;
        const char *column = "UserID";
        char path[256];
        strcpy(path, path_of(f, texts[i].name));
        FILE *out = fopen(path, "w");
        fputs(texts[i].header, out);
        for (size_t row = 0; row < 1000000; row++)
            fputs(texts[i].row, out);
        fclose(out);
        agb_load_options options = {.progress = cut_file, .context = path};
        assert_fails(AGB_ERR_IO, "became shorter while it was read: nothing is at offset|load it again",
                     agb_table_load(&table, f->registry, path, &column, 1, &options, err));
        assert_null(table);
    }
}

static void a_folder_s_description_says_which_file_it_is_of(void **state)
{
    fixture *f = *state;
    agb_schema schema;
    write_file(f, "1.tsv", "UserID\n1\n");
    assert_ok(agb_source_describe(&schema, f->registry, f->folder, err));
    assert_string_equal(schema.detail, "plain, columns as named by a header");
    agb_schema_release(&schema);
    write_file(f, "2.csv", "\"UserID\"\n1\n");
    assert_ok(agb_source_describe(&schema, f->registry, f->folder, err));
    assert_string_equal(schema.detail, "the first of them: plain, columns as named by a header");
    assert_int_equal(schema.files, 2);
    agb_schema_release(&schema);
}

static void links_in_a_circle_are_told_of(void **state)
{
    fixture *f = *state;
    agb_table *table;
    assert_int_equal(symlink("loop", path_of(f, "loop")), 0);
    assert_fails(AGB_ERR_IO, "/loop: |circle", load(f, &table, "loop", "UserID", err));
    assert_fails(AGB_ERR_IO, "/loop: |circle", load(f, &table, "", "UserID", err));
    assert_fails(AGB_ERR_IO, "loop/*: |cannot be listed|circle", load(f, &table, "loop/*", "UserID", err));
    assert_int_equal(unlink(path_of(f, "loop")), 0);
    assert_int_equal(symlink("nowhere", path_of(f, "broken")), 0);
    assert_fails(AGB_ERR_IO, "/broken: no such file", load(f, &table, "", "UserID", err));
}

static void a_misspelt_column_is_answered_with_the_nearest(void **state)
{
    fixture *f = *state;
    agb_table *table;
    write_file(f, "a.tsv", "UserID\tURL\n1\tx\n");
    assert_fails(AGB_ERR_NOT_FOUND, "no column 'userid'|'UserID'", load(f, &table, "a.tsv", "userid", err));
    assert_fails(AGB_ERR_NOT_FOUND, "no column 'frobnicate'|to see all columns",
                 load(f, &table, "a.tsv", "frobnicate", err));
    assert_fails(AGB_ERR_ARGUMENT, "empty", load(f, &table, "a.tsv", "", err));
    const char *twice[] = {"UserID", "UserID"};
    assert_fails(AGB_ERR_ARGUMENT, "'UserID' is named twice",
                 agb_table_load(&table, f->registry, path_of(f, "a.tsv"), twice, 2, NULL, err));
    assert_fails(AGB_ERR_ARGUMENT, "none is named",
                 agb_table_load(&table, f->registry, path_of(f, "a.tsv"), twice, 0, NULL, err));
}

static void files_of_different_shape_are_not_mixed(void **state)
{
    fixture *f = *state;
    agb_table *table;
    write_file(f, "1.tsv", "UserID\n1\n");
    write_file(f, "2.tsv", "WatchID\n1\n");
    assert_fails(AGB_ERR_NOT_FOUND, "2.tsv|no column 'UserID'", load(f, &table, "", "UserID", err));
}

static void a_forced_loader_must_exist(void **state)
{
    fixture *f = *state;
    agb_table *table;
    write_file(f, "a.tsv", "UserID\n1\n");
    agb_load_options options = {.loader = "nonsense"};
    assert_fails(AGB_ERR_NOT_FOUND, "nonsense", agb_table_load(&table, f->registry, path_of(f, "a.tsv"),
                                                              (const char *[]){"UserID"}, 1, &options, err));
    options.loader = "parquet";
    assert_fails(AGB_ERR_FORMAT, "a.tsv", agb_table_load(&table, f->registry, path_of(f, "a.tsv"),
                                                         (const char *[]){"UserID"}, 1, &options, err));
}

static void columns_grow_without_losing_values(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_add(table, "UserID", AGB_TYPE_INT64, AGB_PAGES_HUGE, err));
    enum { STEP = 700001, STEPS = 7 };
    for (uint64_t step = 0; step < STEPS; step++) {
        assert_ok(agb_table_extend(table, STEP, err));
        int64_t *values = agb_table_values(table, 0);
        uint8_t *nulls = agb_table_nulls(table, 0);
        for (uint64_t i = 0; i < STEP; i++)
            values[step * STEP + i] = (int64_t)(step * STEP + i);
        nulls[step * STEP] = 1;
    }
    agb_table_shrink(table, 1);
    agb_table_loaded(table, "test", 0, agb_table_rows(table));
    agb_column column;
    assert_true(agb_table_find_column(table, "UserID", &column));
    assert_int_equal(agb_table_rows(table), (uint64_t)STEP * STEPS - 1);
    assert_int_equal(column.null_count, STEPS);
    for (int64_t i = 0; i < (int64_t)STEP * STEPS - 1; i++)
        if (((const int64_t *)column.values)[i] != i)
            fail_msg("row %lld holds %lld", (long long)i, (long long)((const int64_t *)column.values)[i]);
    agb_table_destroy(table);
}

static void reserved_rows_come_without_moving_values(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_add(table, "a", AGB_TYPE_INT64, AGB_PAGES_DEFAULT, err));
    assert_ok(agb_table_add(table, "b", AGB_TYPE_INT32, AGB_PAGES_DEFAULT, err));
    assert_int_equal(agb_table_room(table), 0);
    agb_table_reserve(table, agb_system_memory());    /* cannot be had, and is no error */
    assert_int_equal(agb_table_room(table), 0);
    agb_table_reserve(table, 1000000);
    assert_int_equal(agb_table_room(table), 1000000);
    assert_int_equal(agb_table_rows(table), 0);
    void *values[2] = {agb_table_values(table, 0), agb_table_values(table, 1)};
    for (int i = 0; i < 10; i++) {
        assert_ok(agb_table_extend(table, 100000, err));
        assert_ptr_equal(agb_table_values(table, 0), values[0]);
        assert_ptr_equal(agb_table_values(table, 1), values[1]);
    }
    assert_int_equal(agb_table_room(table), 1000000);
    assert_ok(agb_table_extend(table, 1, err));
    assert_true(agb_table_room(table) > 1000000);
    agb_table_destroy(table);
}

static void rows_that_the_machine_cannot_hold_are_refused(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_add(table, "a", AGB_TYPE_INT64, AGB_PAGES_DEFAULT, err));
    assert_ok(agb_table_add(table, "b", AGB_TYPE_INT32, AGB_PAGES_DEFAULT, err));
    assert_fails(AGB_ERR_MEMORY, "more rows of 12 bytes each do not fit|available|fewer rows",
                 agb_table_extend(table, agb_system_memory() / 12 + 1, err));
    assert_fails(AGB_ERR_MEMORY, "do not fit", agb_table_extend(table, UINT64_MAX, err));
    assert_int_equal(agb_table_rows(table), 0);
    assert_ok(agb_table_extend(table, 1000, err));
    agb_table_destroy(table);
}

static void lent_columns_must_be_equally_long(void **state)
{
    (void)state;
    static const int64_t values[3] = {1, 2, 3};
    agb_table *table;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "a", AGB_TYPE_INT64, values, 3, err));
    assert_fails(AGB_ERR_ARGUMENT, "'b' has 2 rows|3", agb_table_lend(table, "b", AGB_TYPE_INT64, values, 2, err));
    assert_fails(AGB_ERR_ARGUMENT, "'a' is there already", agb_table_lend(table, "a", AGB_TYPE_INT64, values, 3, err));
    assert_fails(AGB_ERR_ARGUMENT, "no values", agb_table_lend(table, "c", AGB_TYPE_OTHER, values, 3, err));
    agb_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(one_file_is_loaded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_is_loaded_in_natural_order, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_not_there_is_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(what_is_no_file_among_files_is_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_file_cut_while_it_is_loaded_is_an_error, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_folder_s_description_says_which_file_it_is_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_in_a_circle_are_told_of, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_misspelt_column_is_answered_with_the_nearest, set_up, tear_down),
        cmocka_unit_test_setup_teardown(files_of_different_shape_are_not_mixed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_forced_loader_must_exist, set_up, tear_down),
        cmocka_unit_test(columns_grow_without_losing_values),
        cmocka_unit_test(reserved_rows_come_without_moving_values),
        cmocka_unit_test(rows_that_the_machine_cannot_hold_are_refused),
        cmocka_unit_test(lent_columns_must_be_equally_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
