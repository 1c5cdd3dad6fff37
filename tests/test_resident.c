/* SPDX-License-Identifier: MIT */
/* The cache-resident twin of a column: the same runs, few groups, and a right answer of its own. */
#include "resident.h"
#include "test.h"

enum { ROWS = 20000, FEW = 64 };

static const char column[] = "UserID";    /* the text loaders know it for an integer */
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

/* A column lent by the test, its reference answer and its twin. */
typedef struct pair {
    agb_table *table;
    agb_reference reference;
    agb_resident twin;
    agb_column real, resident;
} pair;

static void count(agb_reference *out, const agb_table *table)
{
    agb_plan query = {.table = table, .column = column};
    assert_ok(agb_reference_count(out, registry, &query, 60, err));
}

static void finish_pair(pair *out, uint64_t most_groups)
{
    count(&out->reference, out->table);
    agb_resident_plan plan = {.registry = registry, .table = out->table, .column = column,
                              .reference = &out->reference, .most_groups = most_groups};
    assert_ok(agb_resident_create(&out->twin, &plan, err));
    assert_true(agb_table_find_column(out->table, column, &out->real));
    if (!out->twin.own)
        assert_true(agb_table_find_column(out->twin.table, column, &out->resident));
}

static void make_pair(pair *out, agb_type type, const void *values, uint64_t rows, uint64_t most_groups)
{
    *out = (pair){0};
    assert_ok(agb_table_create(&out->table, err));
    assert_ok(agb_table_lend(out->table, column, type, values, rows, err));
    finish_pair(out, most_groups);
}

static void release_pair(pair *pair)
{
    agb_resident_release(&pair->twin);
    agb_reference_release(&pair->reference);
    agb_table_destroy(pair->table);
}

/* Runs of one to four rows of many keys; some keys come back. */
static void fill_runs(uint64_t *keys)
{
    uint64_t random = 1, key = 0;
    for (size_t row = 0, left = 0; row < ROWS; row++, left--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        if (left == 0) {
            key = (random >> 33) % 5000 * 0x9e3779b97f4a7c15u;
            left = 1 + (random >> 20) % 4;
        }
        keys[row] = key;
    }
}

static void runs_end_in_the_twin_exactly_where_they_end_in_the_column(void **state)
{
    (void)state;
    static uint64_t keys[ROWS];
    pair pair;
    fill_runs(keys);
    make_pair(&pair, AGB_TYPE_INT64, keys, ROWS, FEW);
    const uint64_t *twin = pair.resident.values;
    assert_int_equal(agb_table_rows(pair.twin.table), ROWS);
    for (size_t row = 1; row < ROWS; row++)
        assert_int_equal(keys[row] == keys[row - 1], twin[row] == twin[row - 1]);
    assert_in_range(pair.twin.groups, 2, FEW);
    release_pair(&pair);
}

static void equal_keys_have_the_same_twin_but_for_few(void **state)
{
    (void)state;
    static uint64_t keys[ROWS];
    pair pair;
    fill_runs(keys);
    make_pair(&pair, AGB_TYPE_INT64, keys, ROWS, FEW);
    const uint64_t *twin = pair.resident.values;
    size_t seen = 0, moved = 0;
    for (size_t row = 1; row < ROWS; row++) {
        if (keys[row] == keys[0]) {
            seen++;
            moved += twin[row] != twin[0];
        }
    }
    assert_true(seen > 2);
    assert_true(moved * 4 <= seen);
    release_pair(&pair);
}

static void the_twins_answer_is_the_one_that_counting_it_gives(void **state)
{
    (void)state;
    static uint64_t keys[ROWS];
    pair pair;
    agb_reference counted;
    fill_runs(keys);
    make_pair(&pair, AGB_TYPE_INT64, keys, ROWS, FEW);
    count(&counted, pair.twin.table);
    agb_stats stats = {.rows = ROWS};
    assert_true(agb_reference_agrees(&pair.twin.reference, &counted.digest, &stats));
    assert_int_equal(counted.n, pair.twin.reference.n);
    for (size_t i = 0; i < counted.n; i++)
        assert_true(agb_same_group(AGB_KEYS_WORD, &counted.groups[i], &pair.twin.reference.groups[i]));
    agb_reference_release(&counted);
    release_pair(&pair);
}

static void narrow_and_signed_columns_keep_their_type(void **state)
{
    (void)state;
    static int32_t keys[ROWS];
    pair pair;
    agb_reference counted;
    for (size_t row = 0; row < ROWS; row++)
        keys[row] = (int32_t)(row / 3) - 3000;
    make_pair(&pair, AGB_TYPE_INT32, keys, ROWS, FEW);
    assert_int_equal(pair.resident.type, AGB_TYPE_INT32);
    count(&counted, pair.twin.table);
    assert_true(counted.digest.checksum == pair.twin.reference.digest.checksum);
    agb_reference_release(&counted);
    release_pair(&pair);
}

static void a_column_that_fits_is_its_own_twin(void **state)
{
    (void)state;
    static uint8_t keys[ROWS];
    pair pair;
    for (size_t row = 0; row < ROWS; row++)
        keys[row] = row % 7 == 0;
    make_pair(&pair, AGB_TYPE_BOOL, keys, ROWS, FEW);
    assert_true(pair.twin.own);
    assert_null(pair.twin.table);
    assert_int_equal(pair.twin.groups, 2);
    release_pair(&pair);
}

static void a_column_without_rows_is_its_own_twin(void **state)
{
    (void)state;
    pair pair;
    make_pair(&pair, AGB_TYPE_INT64, "", 0, FEW);
    assert_true(pair.twin.own);
    assert_int_equal(pair.twin.groups, 0);
    release_pair(&pair);
}

static void rows_with_null_are_left_out(void **state)
{
    (void)state;
    char path[] = "/tmp/agb_null_XXXXXX.jsonl";
    int file = mkstemps(path, 6);
    assert_true(file >= 0);
    for (int row = 0; row < 600; row++)
        dprintf(file, row % 3 != 2 ? "{\"UserID\": %d}\n" : "{\"UserID\": null}\n", row);
    close(file);
    pair pair = {0};
    const char *columns[] = {column};
    assert_ok(agb_table_load(&pair.table, registry, path, columns, 1, NULL, err));
    finish_pair(&pair, FEW);
    assert_int_equal(agb_table_rows(pair.twin.table), 400);
    assert_int_equal(pair.twin.reference.digest.rows, 400);
    release_pair(&pair);
    unlink(path);
}

static void other_keys_and_filters_have_no_twin_and_say_so(void **state)
{
    (void)state;
    static const uint64_t keys[] = {1, 2, 3};
    pair pair;
    agb_filter *filter;
    agb_resident twin;
    make_pair(&pair, AGB_TYPE_INT64, keys, 3, FEW);
    assert_ok(agb_filter_parse(&filter, "UserID > 1", err));
    agb_resident_plan plan = {.registry = registry, .table = pair.table, .column = column, .filter = filter,
                              .reference = &pair.reference, .most_groups = FEW};
    assert_fails(AGB_ERR_UNSUPPORTED, "one integer column without --where", agb_resident_create(&twin, &plan, err));
    plan.filter = NULL;
    plan.column = "UserID,UserID";
    assert_fails(AGB_ERR_UNSUPPORTED, "UserID,UserID|one integer column", agb_resident_create(&twin, &plan, err));
    agb_filter_destroy(filter);
    release_pair(&pair);
}

static void the_groups_fit_in_half_of_the_second_cache(void **state)
{
    (void)state;
    agb_caches caches = {.l1d = 32 << 10, .l2 = 1 << 20};
    assert_int_equal(agb_resident_groups(&caches), (1 << 20) / 2 / 64);
    caches.l2 = 1280 << 10;
    assert_int_equal(agb_resident_groups(&caches), (1 << 20) / 2 / 64);
    caches.l2 = 0;
    assert_int_equal(agb_resident_groups(&caches), (1 << 20) / 2 / 64);
    caches.l2 = 1;
    assert_int_equal(agb_resident_groups(&caches), 64);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_end_in_the_twin_exactly_where_they_end_in_the_column),
        cmocka_unit_test(equal_keys_have_the_same_twin_but_for_few),
        cmocka_unit_test(the_twins_answer_is_the_one_that_counting_it_gives),
        cmocka_unit_test(narrow_and_signed_columns_keep_their_type),
        cmocka_unit_test(a_column_that_fits_is_its_own_twin),
        cmocka_unit_test(a_column_without_rows_is_its_own_twin),
        cmocka_unit_test(rows_with_null_are_left_out),
        cmocka_unit_test(other_keys_and_filters_have_no_twin_and_say_so),
        cmocka_unit_test(the_groups_fit_in_half_of_the_second_cache),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
