/* SPDX-License-Identifier: MIT */
/* The first rows of a source instead of all of it: the same ones as a load of everything gives, from every format, with
 * one thread and with three; and what stands behind them is left alone: not read, not checked, not held. */
#include "agb_fixture.h"
#include "parquet_build.h"

static agb_status load_head(const fixture *f, agb_table **out, const char *source, const char *const *names, size_t n,
                            uint64_t head, unsigned workers, agb_error *err)
{
    agb_pool *pool = NULL;
    assert_int_equal(agb_pool_create(&pool, workers, NULL, NULL), AGB_OK);
    agb_load_options options = {.head = head, .pool = pool, .may_map = workers > 1};
    agb_status status = agb_table_load(out, f->registry, source, names, n, &options, err);
    agb_pool_destroy(pool);
    return status;
}

static void assert_first_rows(const agb_table *all, const agb_table *part, uint64_t head, const char *name)
{
    agb_column a, b;
    uint64_t rows = agb_table_rows(all) < head ? agb_table_rows(all) : head, nulls = 0;
    assert_true(agb_table_find_column(all, name, &a) && agb_table_find_column(part, name, &b));
    assert_int_equal(agb_table_rows(part), rows);
    assert_int_equal(a.type, b.type);
    for (uint64_t row = 0; row < rows; row++) {
        bool null = a.nulls && a.nulls[row];
        nulls += null;
        if (null != (b.nulls && b.nulls[row]) || !fixture_same_value(&a, &b, row))
            fail_msg("column %s: row %llu of the first %llu is another one", name, (unsigned long long)row,
                     (unsigned long long)head);
    }
    assert_int_equal(b.null_count, nulls);
}

/* Heads around the places where a format is cut: pages of 5 rows, row groups of 2048, blocks of 65536 and 131072. */
static void check_source(const fixture *f, const char *source, const char *const *names, size_t n)
{
    agb_table *all, *part;
    assert_ok(load_head(f, &all, source, names, n, 0, 1, err));
    uint64_t rows = agb_table_rows(all);
    assert_int_equal(agb_table_source_rows(all), rows);
    uint64_t heads[] = {1, 6, 1000, 2047, 2048, 2049, 65536, 131071, 131072, 131073, rows - 1, rows, rows + 1};
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        if (heads[i] > rows + 1 || heads[i] == 0)
            continue;
        assert_ok(load_head(f, &part, source, names, n, heads[i], i % 2 ? 3 : 1, err));
        for (size_t k = 0; k < n; k++)
            assert_first_rows(all, part, heads[i], names[k]);
        uint64_t told = agb_table_source_rows(part);
        if (told != rows && (told != UINT64_MAX || heads[i] > rows))
            fail_msg("%s: head %llu: %llu rows are said to be %llu", source, (unsigned long long)heads[i],
                     (unsigned long long)rows, (unsigned long long)told);
        agb_table_destroy(part);
    }
    agb_table_destroy(all);
}

static void the_head_of_every_sample_is_its_first_rows(void **state)
{
    static const char *const samples[] = {
        "hits/nano_hits.parquet", "hits/hits_part", "hits/hits_8k.tsv", "hits/hits_2k.tsv.gz", "hits/hits_2k.tsv.zst",
        "hits/hits_2k.csv", "hits/hits_2k.jsonl", "parquet/duckdb_v2_zstd.parquet", "parquet/rs_tiny_pages.parquet",
        "parquet/rs_v1_dict_fallback.parquet", "parquet/rs_v2_dict_fallback_delta.parquet",
        "parquet/rs_delta_byte_array.parquet", "parquet/rs_optional_nulls.parquet", "parquet/own_mixed_pages.parquet"};
    static const char *const names[] = {"UserID", "URL", "EventTime", "SearchPhrase"};
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        char path[512];
        snprintf(path, sizeof path, "%s/%s", test_samples(), samples[i]);
        check_source(*state, path, names, 4);
    }
}

static void the_head_of_row_groups_is_its_first_rows(void **state)
{
    char path[512];
    snprintf(path, sizeof path, "%s/parquet/duckdb_row_groups_2048.parquet", test_samples());
    check_source(*state, path, (const char *[]){"UserID"}, 1);
}

static void the_head_of_column_files_is_its_first_rows(void **state)
{
    fixture *f = *state;
    agb_table *table = fixture_table(300000, FIXTURE_COLUMNS);
    for (int packed = 0; packed < 2; packed++) {
        fixture_save(f, table, fixture_names, FIXTURE_COLUMNS, packed ? "zstd" : "none");
        check_source(f, f->path, fixture_names, FIXTURE_COLUMNS);
    }
    agb_table_destroy(table);
    char raw[128];
    snprintf(raw, sizeof raw, "%s/t.i64", f->folder);
    FILE *out = fopen(raw, "wb");
    for (int64_t i = 0; i < 600000; i++)
        assert_int_equal(fwrite(&i, sizeof i, 1, out), 1);
    fclose(out);
    check_source(f, raw, (const char *[]){"UserID"}, 1);
}

/* In another order than the natural one all rows are made first. */
static void the_head_of_generated_rows_is_their_first_ones(void **state)
{
    static const char *const specs[] = {
        "hits,rows=200k", "hits,rows=140k,groups=20k,run=4.25,seed=9", "hits,rows=3000",
        "hits,rows=140k,order=shuffled", "hits,rows=140k,order=sorted", "uniform,rows=140k", "giant,rows=140k",
        "zipf,rows=140k", "runs,rows=140k,run=7", "same,rows=140k", "sequential,rows=140k,groups=777"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        char source[128];
        snprintf(source, sizeof source, "synth:%s", specs[i]);
        check_source(*state, source, (const char *[]){"UserID"}, 1);
    }
}

/* Overwrites the part of a file from a fraction of its bytes on to another one. */
static void damage(const fixture *f, double from, double to)
{
    size_t n;
    unsigned char *bytes = fixture_bytes(f, &n);
    memset(bytes + (size_t)((double)n * from), 0xa5, (size_t)((double)n * (to - from)));
    fixture_put_bytes(f, bytes, n);
    free(bytes);
}

static void assert_only_the_head_loads(const fixture *f, const char *name, uint64_t head)
{
    agb_table *table;
    for (unsigned workers = 1; workers <= 3; workers += 2) {
        assert_ok(load_head(f, &table, f->path, &name, 1, head, workers, err));
        assert_int_equal(agb_table_rows(table), head);
        agb_table_destroy(table);
        assert_fails(AGB_ERR_FORMAT, f->path, load_head(f, &table, f->path, &name, 1, 0, workers, err));
    }
}

static void damage_behind_the_head_is_not_looked_at(void **state)
{
    fixture *f = *state;
    char command[700];
    snprintf(command, sizeof command, "cp '%s/parquet/duckdb_row_groups_2048.parquet' '%s'", test_samples(), f->path);
    assert_int_equal(system(command), 0);
    damage(f, 0.4, 0.8);
    assert_only_the_head_loads(f, "UserID", 4096);

    made_file *file = made_start();    /* one row group, whose second page is cut short */
    int64_t keys[100] = {1};
    made_add_column(file, "UserID", AGB_PARQUET_INT64, AGB_PARQUET_REQUIRED, 0);
    made_add_data(file, 0, 100, AGB_PARQUET_PLAIN, keys, sizeof keys);
    made_add_data(file, 0, 100, AGB_PARQUET_PLAIN, keys, sizeof keys - 1);
    made_end(file);
    fixture_put_bytes(f, file->bytes.data, file->bytes.n);
    made_free(file);
    assert_only_the_head_loads(f, "UserID", 99);
    assert_only_the_head_loads(f, "UserID", 100);

    agb_table *table = fixture_table(300000, 7);
    for (int packed = 0; packed < 2; packed++) {
        fixture_save(f, table, (const char *[]){"int64"}, 1, packed ? "zstd" : "none");
        damage(f, 0.7, 0.8);
        assert_only_the_head_loads(f, "int64", 131072);
    }
    agb_table_destroy(table);
}

static void files_behind_the_head_are_not_opened(void **state)
{
    fixture *f = *state;
    agb_table *table;
    const char *name = "UserID";
    static const char *const files[][2] = {
        {"1.tsv", "UserID\n1\n2\n"}, {"2.tsv", "UserID\n3\n"}, {"3.tsv", "nonsense"}};
    for (size_t i = 0; i < 3; i++) {
        char path[128];
        snprintf(path, sizeof path, "%s/%s", f->folder, files[i][0]);
        FILE *out = fopen(path, "w");
        fputs(files[i][1], out);
        fclose(out);
    }
    for (uint64_t head = 1; head <= 3; head++) {
        assert_ok(load_head(f, &table, f->folder, &name, 1, head, 1, err));
        assert_int_equal(agb_table_rows(table), head);
        assert_int_equal(agb_table_source_rows(table), UINT64_MAX);
        agb_table_destroy(table);
    }
    assert_fails(AGB_ERR_NOT_FOUND, "3.tsv", load_head(f, &table, f->folder, &name, 1, 4, 1, err));
}

/* More rows than any machine has memory for. */
static void rows_behind_the_head_take_no_memory(void **state)
{
    agb_table *table;
    const char *name = "UserID";
    assert_ok(load_head(*state, &table, "synth:uniform,rows=1e12", &name, 1, 1000, 1, err));
    assert_int_equal(agb_table_bytes(table), 8000);
    assert_int_equal(agb_table_source_rows(table), UINT64_C(1000000000000));
    agb_table_destroy(table);
    assert_ok(load_head(*state, &table, "synth:hits,rows=2e10", &name, 1, 100000, 1, err));
    assert_int_equal(agb_table_bytes(table), 800000);
    agb_table_destroy(table);
    assert_fails(AGB_ERR_MEMORY, "rows=1000000000000|at most",
                 load_head(*state, &table, "synth:hits,rows=1e12,order=sorted", &name, 1, 1000, 1, err));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(the_head_of_every_sample_is_its_first_rows, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(the_head_of_row_groups_is_its_first_rows, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(the_head_of_column_files_is_its_first_rows, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(the_head_of_generated_rows_is_their_first_ones, fixture_set_up,
                                        fixture_tear_down),
        cmocka_unit_test_setup_teardown(damage_behind_the_head_is_not_looked_at, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(files_behind_the_head_are_not_opened, fixture_set_up, fixture_tear_down),
        cmocka_unit_test_setup_teardown(rows_behind_the_head_take_no_memory, fixture_set_up, fixture_tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
