/* SPDX-License-Identifier: MIT */
/* Every Parquet file of the samples, every column, against the right answers. */
#include "expected.h"

/* The verdict about a column: it must be read, must be refused, or either. */
typedef enum duty { MUST_READ, MUST_REFUSE, EITHER } duty;

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

static bool has_name(const json_t *names, const char *name)
{
    for (size_t i = 0; i < json_array_size(names); i++)
        if (strcmp(json_string_value(json_array_get(names, i)), name) == 0)
            return true;
    return false;
}

static duty duty_of(const json_t *file, const char *column)
{
    const char *verdict = json_string_value(json_object_get(file, "verdict"));
    if (strcmp(verdict, "either") == 0 || strcmp(verdict, "must-fail") == 0 ||
        has_name(json_object_get(file, "either_columns"), column))
        return EITHER;
    return MUST_READ;    /* also of the flat columns beside nested ones */
}

/* Loads one column; returns the number of things that are not as they must be. */
static int check_column(const char *samples, const json_t *file, const char *name, const json_t *wanted, duty duty,
                        const agb_load_options *options)
{
    const char *file_name = json_string_value(json_object_get(file, "file"));
    char path[1024];
    agb_error err = {0};
    agb_table *table;
    snprintf(path, sizeof path, "%s/%s", samples, file_name);
    agb_status status = agb_table_load(&table, registry, path, &name, 1, options, &err);
    if (status != AGB_OK) {
        if (duty == MUST_READ)
            print_error("%s: %s: refused: %s\n", file_name, name, err.text);
        else if (err.text[0] == '\0' || !strstr(err.text, file_name))
            print_error("%s: %s: refused without a clear reason: %s\n", file_name, name, err.text);
        else
            return 0;
        return 1;
    }
    int wrong = 0;
    if (duty == MUST_REFUSE) {
        print_error("%s: %s: read, but it must be refused\n", file_name, name);
        wrong = 1;
    } else {
        wrong = expected_check_column(file_name, table, name, wanted);
        wrong += expected_check_number(file_name, "rows", expected_number(file, "rows"), agb_table_rows(table));
    }
    agb_table_destroy(table);
    return wrong;
}

/* A file that must fail as a whole has no columns, or only ones that must be refused. */
static int check_whole_refusal(const char *samples, const json_t *file)
{
    const char *file_name = json_string_value(json_object_get(file, "file"));
    char path[1024];
    agb_schema schema = {0};
    snprintf(path, sizeof path, "%s/%s", samples, file_name);
    if (agb_source_describe(&schema, registry, path, NULL) != AGB_OK)
        return check_column(samples, file, "any", NULL, MUST_REFUSE, NULL);
    int wrong = 0;
    const json_t *known = json_object_get(file, "columns");
    for (size_t i = 0; i < schema.columns; i++)
        if (!json_object_get(known, schema.column[i].name))
            wrong += check_column(samples, file, schema.column[i].name, NULL, MUST_REFUSE, NULL);
    agb_schema_release(&schema);
    return wrong;
}

static int check_file(const char *samples, json_t *file, const agb_load_options *options)
{
    const char *name;
    json_t *column;
    int wrong = 0;
    json_object_foreach(json_object_get(file, "columns"), name, column)
        wrong += check_column(samples, file, name, column, duty_of(file, name), options);
    json_object_foreach(json_object_get(file, "refuse_columns"), name, column)
        wrong += check_column(samples, file, name, NULL, MUST_REFUSE, options);
    json_object_foreach(json_object_get(file, "other_columns"), name, column)
        wrong += check_column(samples, file, name, NULL, MUST_REFUSE, options);
    if (strcmp(json_string_value(json_object_get(file, "verdict")), "must-fail") == 0)
        wrong += check_whole_refusal(samples, file);
    return wrong;
}

static void check_all(const agb_load_options *options)
{
    const char *samples = test_samples();
    json_t *root = expected_load(samples);
    json_t *files = json_object_get(root, "files");
    size_t checked = 0;
    int wrong = 0;
    for (size_t i = 0; i < json_array_size(files); i++) {
        json_t *file = json_array_get(files, i);
        if (strcmp(json_string_value(json_object_get(file, "format")), "parquet") == 0) {
            wrong += check_file(samples, file, options);
            checked++;
        }
    }
    json_decref(root);
    assert_true(checked > 80);
    assert_int_equal(wrong, 0);
}

static void every_column_of_every_sample_has_the_right_answers(void **state)
{
    (void)state;
    check_all(NULL);
}

static void three_workers_give_the_same_answers(void **state)
{
    (void)state;
    agb_pool *pool;
    assert_ok(agb_pool_create(&pool, 3, NULL, err));
    check_all(&(agb_load_options){.pool = pool});
    agb_pool_destroy(pool);
}

/* All columns at once, so that chunks of many columns share a worker's buffers. */
static void all_columns_of_a_file_load_together(void **state)
{
    (void)state;
    const char *samples = test_samples();
    json_t *root = expected_load(samples);
    json_t *file = json_array_get(json_object_get(root, "files"), 0);
    json_t *columns = json_object_get(file, "columns");
    const char *names[256];
    size_t n = 0;
    char path[1024];
    agb_schema schema = {0};
    agb_table *table;
    snprintf(path, sizeof path, "%s/%s", samples, json_string_value(json_object_get(file, "file")));
    assert_ok(agb_source_describe(&schema, registry, path, err));
    for (; n < schema.columns; n++)
        names[n] = schema.column[n].name;
    assert_ok(agb_table_load(&table, registry, path, names, n, NULL, err));
    int wrong = 0;
    for (size_t i = 0; i < n; i++)
        if (json_object_get(columns, names[i]))
            wrong += expected_check_column(path, table, names[i], json_object_get(columns, names[i]));
    agb_table_destroy(table);
    agb_schema_release(&schema);
    json_decref(root);
    assert_int_equal(n, 105);
    assert_int_equal(wrong, 0);
}

static void a_folder_of_partitions_is_the_whole_file(void **state)
{
    (void)state;
    const char *samples = test_samples();
    json_t *root = expected_load(samples);
    json_t *columns = json_object_get(json_array_get(json_object_get(root, "files"), 0), "columns");
    const char *names[] = {"UserID", "URL", "RegionID"};
    char path[1024];
    snprintf(path, sizeof path, "%s/hits/hits_part", samples);
    agb_table *table;
    assert_ok(agb_table_load(&table, registry, path, names, 3, NULL, err));
    int wrong = 0;
    for (size_t i = 0; i < 3; i++)
        wrong += expected_check_column(path, table, names[i], json_object_get(columns, names[i]));
    assert_int_equal(agb_table_rows(table), 24586);
    agb_table_destroy(table);
    json_decref(root);
    assert_int_equal(wrong, 0);
}

/* Nobody must take the two groups 0.0 and -0.0 of a FLOAT16 for groups of numbers. */
static void numbers_that_are_stored_as_bytes_are_described_so(void **state)
{
    (void)state;
    char path[1024];
    agb_schema schema = {0};
    snprintf(path, sizeof path, "%s/parquet-testing/data/byte_stream_split_extended.gzip.parquet", test_samples());
    assert_ok(agb_source_describe(&schema, registry, path, err));
    for (size_t i = 0; i < schema.columns; i++) {
        const agb_column_info *column = &schema.column[i];
        bool number = column->type == AGB_TYPE_BYTES && strncmp(column->name, "flba5", 5) != 0;
        assert_int_equal(strstr(column->detail, "taken as its bytes") != NULL, number);
    }
    agb_schema_release(&schema);
}

/* People name the group that they know, not the columns that Parquet makes of it. */
static void a_nested_column_is_refused_by_the_name_of_its_group(void **state)
{
    (void)state;
    char path[1024];
    const char *wanted = "a";
    agb_table *table;
    snprintf(path, sizeof path, "%s/parquet-testing/data/nested_lists.snappy.parquet", test_samples());
    assert_fails(AGB_ERR_UNSUPPORTED, "column 'a' is nested|a.list.element",
                 agb_table_load(&table, registry, path, &wanted, 1, NULL, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_column_of_every_sample_has_the_right_answers),
        cmocka_unit_test(three_workers_give_the_same_answers),
        cmocka_unit_test(all_columns_of_a_file_load_together),
        cmocka_unit_test(a_folder_of_partitions_is_the_whole_file),
        cmocka_unit_test(numbers_that_are_stored_as_bytes_are_described_so),
        cmocka_unit_test(a_nested_column_is_refused_by_the_name_of_its_group),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
