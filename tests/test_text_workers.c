/* SPDX-License-Identifier: MIT */
/* Texts loaded by several workers, each a stretch at a time that may end anywhere: in a quoted line feed, between two
 * quotes, in the middle of a long row. The rows, the NULLs and the fault that is told must be those of one worker. */
#include "text_fixture.h"

extern const agb_loader agb_loader_tsv, agb_loader_csv;

enum { ROWS = 3000, LONG_ROWS = 60, USER_ID = 0, SEARCH_PHRASE = 1 };

static const size_t steps[] = {17, 64, 1000, 4096, 1 << 20};
static const unsigned workers[] = {1, 2, 5};

/* ---- A text and what must come out of it ---- */

static bool is_null(size_t row)
{
    return row % 89 == 88;
}

/* The first rows are long, so that they let expect far fewer rows than there are: the columns must move meanwhile. */
static size_t phrase_bytes(size_t row)
{
    return row < LONG_ROWS ? 150 + row % 7 * 100 : row % 5;
}

static char phrase_byte(size_t row, size_t i)
{
    return "x\n\",y"[(row + i) % 5];
}

static size_t write_row(char *to, size_t row)
{
    char *at = to;
    at += is_null(row) ? sprintf(at, "\\N,\"") : sprintf(at, "%zu,\"", row * 7919);
    for (size_t i = 0; i < phrase_bytes(row); i++) {
        if (phrase_byte(row, i) == '"')
            *at++ = '"';
        *at++ = phrase_byte(row, i);
    }
    at += sprintf(at, row % 3 ? "\"\n" : "\"\r\n");
    return (size_t)(at - to);
}

static const char *write_text(void)
{
    char *text = malloc(4 << 20), *at = text + sprintf(text, "UserID,SearchPhrase\n");
    for (size_t row = 0; row < ROWS; row++)
        at += write_row(at, row);
    const char *path = test_file(text, (size_t)(at - text) - 1);    /* the last row has no line end */
    free(text);
    return path;
}

static void check_user_ids(const agb_table *table)
{
    agb_column column = test_column(table, "UserID");
    assert_int_equal(column.null_count, ROWS / 89);
    for (size_t row = 0; row < ROWS; row++)
        if (column.nulls[row] != is_null(row) ||
            (!is_null(row) && ((const int64_t *)column.values)[row] != (int64_t)row * 7919))
            fail_msg("row %zu holds %lld", row, (long long)((const int64_t *)column.values)[row]);
}

static void check_phrases(const agb_table *table)
{
    const agb_bytes *values = test_column(table, "SearchPhrase").values;
    for (size_t row = 0; row < ROWS; row++) {
        assert_int_equal(values[row].length, phrase_bytes(row));
        for (size_t i = 0; i < phrase_bytes(row); i++)
            assert_int_equal(values[row].data[i], phrase_byte(row, i));
    }
}

static void rows_and_nulls_are_the_same_by_any_workers_in_any_stretches(void **state)
{
    (void)state;
    const char *path = write_text();
    for (size_t w = 0; w < sizeof workers / sizeof workers[0]; w++) {
        agb_pool *pool;
        assert_ok(agb_pool_create(&pool, workers[w], NULL, err));
        for (size_t i = 0; i < sizeof steps / sizeof steps[0] * 2; i++) {
            agb_table *table;
            bool seekable = i % 2;
            for (size_t column = USER_ID; column <= SEARCH_PHRASE; column++) {
                assert_ok(test_load_stepped(&table, &agb_loader_csv, path, seekable, column, steps[i / 2], pool, err));
                assert_int_equal(agb_table_rows(table), ROWS);
                (column == USER_ID ? check_user_ids : check_phrases)(table);
                agb_table_destroy(table);
            }
        }
        agb_pool_destroy(pool);
    }
    unlink(path);
}

/* ---- Faults ---- */

/* A TSV whose lines 1000, 1001 and 2000 hold no number. */
static const char *write_faulty(void)
{
    char *text = malloc(1 << 20), *at = text + sprintf(text, "UserID\tSearchPhrase\n");
    for (size_t line = 2; line <= ROWS; line++)
        at += sprintf(at, line == 1000 || line == 1001 || line == 2000 ? "bad%zu\t\n" : "%zu\tphrase\n", line);
    const char *path = test_file(text, (size_t)(at - text));
    free(text);
    return path;
}

static void the_first_of_several_faults_is_told(void **state)
{
    (void)state;
    const char *path = write_faulty();
    for (size_t w = 0; w < sizeof workers / sizeof workers[0]; w++) {
        agb_pool *pool;
        assert_ok(agb_pool_create(&pool, workers[w], NULL, err));
        for (size_t i = 0; i < sizeof steps / sizeof steps[0] * 2; i++) {
            agb_table *table;
            assert_fails(AGB_ERR_FORMAT, "line 1000: column 'UserID': \"bad1000\"",
                         test_load_stepped(&table, &agb_loader_tsv, path, i % 2, USER_ID, steps[i / 2], pool, err));
            agb_table_destroy(table);
        }
        agb_pool_destroy(pool);
    }
    unlink(path);
}

static agb_status load_head(agb_table **table, const char *path, uint64_t head, unsigned workers, agb_error *err)
{
    agb_registry *registry;
    agb_pool *pool;
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_pool_create(&pool, workers, NULL, err));
    agb_load_options options = {.pool = pool, .head = head};
    agb_status status = agb_table_load(table, registry, path, (const char *[]){"UserID"}, 1, &options, err);
    agb_pool_destroy(pool);
    agb_registry_destroy(registry);
    return status;
}

static void what_stands_behind_the_wanted_rows_is_not_parsed(void **state)
{
    (void)state;
    const char *path = write_faulty();
    for (size_t w = 0; w < sizeof workers / sizeof workers[0]; w++) {
        agb_table *table;
        assert_ok(load_head(&table, path, 998, workers[w], err));
        assert_int_equal(agb_table_rows(table), 998);
        assert_int_equal(agb_table_source_rows(table), UINT64_MAX);
        for (int64_t row = 0; row < 998; row++)
            assert_int_equal(((const int64_t *)test_column(table, "UserID").values)[row], row + 2);
        agb_table_destroy(table);
        assert_fails(AGB_ERR_FORMAT, "line 1000", load_head(&table, path, 999, workers[w], err));
    }
    unlink(path);
}

/* A file of which only the beginning is there: NULs, that take no room on the disk, are its last row. */
static const char *write_unending(const char *begin)
{
    static char path[] = "/tmp/agb_text_XXXXXX";
    memcpy(path + sizeof path - 7, "XXXXXX", 6);
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, begin, strlen(begin)), strlen(begin));
    assert_int_equal(ftruncate(fd, 300 << 20), 0);
    close(fd);
    return path;
}

static void check_unending(const char *begin, const char *words)
{
    const char *path = write_unending(begin);
    agb_table *table;
    agb_pool *pool;
    assert_ok(agb_pool_create(&pool, 2, NULL, err));
    assert_fails(AGB_ERR_FORMAT, words,
                 test_load_stepped(&table, &agb_loader_tsv, path, true, USER_ID, 1 << 20, pool, err));
    agb_table_destroy(table);
    agb_pool_destroy(pool);
    unlink(path);
}

static void a_row_that_never_ends_is_refused_by_its_line(void **state)
{
    (void)state;
    check_unending("UserID\tSearchPhrase\n1\ta\n2\tb\n3\t", "line 4: the row is longer than 256 MiB");
}

static void a_fault_before_a_row_that_never_ends_is_told(void **state)
{
    (void)state;
    check_unending("UserID\tSearchPhrase\n1\ta\nbad\tb\n3\t", "line 3: column 'UserID': \"bad\"");
}

static void a_row_that_never_ends_is_not_looked_at_behind_the_wanted_ones(void **state)
{
    (void)state;
    agb_table *table;
    const char *path = write_unending("UserID\tSearchPhrase\n1\ta\n2\tb\n3\t");
    assert_ok(load_head(&table, path, 2, 2, err));
    assert_int_equal(agb_table_rows(table), 2);
    agb_table_destroy(table);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_nulls_are_the_same_by_any_workers_in_any_stretches),
        cmocka_unit_test(the_first_of_several_faults_is_told),
        cmocka_unit_test(what_stands_behind_the_wanted_rows_is_not_parsed),
        cmocka_unit_test(a_row_that_never_ends_is_refused_by_its_line),
        cmocka_unit_test(a_fault_before_a_row_that_never_ends_is_told),
        cmocka_unit_test(a_row_that_never_ends_is_not_looked_at_behind_the_wanted_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
