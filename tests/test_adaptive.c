/* SPDX-License-Identifier: MIT */
/* adaptive chooses by what it sees, says so, and loses no row when it changes its mind. It is told of small caches, so
 * that it has to decide after some thousands of rows. */
#include "internal.h"
#include "test.h"

enum { ROWS = 1500000, SHAPES = 5, SHAPE_ROWS = ROWS / SHAPES };

typedef enum shape {
    UNIQUE,
    FEW,            /* 20 groups in random order */
    FEW_IN_RUNS,    /* 10 groups, runs of 1 to 8 rows */
    SAME,
    MANY_IN_RUNS    /* a group for each run of 3 rows */
} shape;

static uint64_t *keys;

static uint64_t key_of(shape shape, uint64_t row)
{
    const uint64_t odd = UINT64_C(0x9e3779b97f4a7c15);
    uint64_t random = row * odd >> 40;
    switch (shape) {
    case UNIQUE:
        return row * odd;
    case FEW:
        return random * random % 1009 % 20;
    case FEW_IN_RUNS:
        return row / (1 + row / 61 % 8) * odd % 10;
    case SAME:
        return 7;
    case MANY_IN_RUNS:
        return row / 3 * odd;
    }
    return 0;
}

static int set_up(void **state)
{
    (void)state;
    keys = malloc(ROWS * sizeof *keys);
    return keys ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(keys);
    return 0;
}

static void fill(const shape *shapes)
{
    for (uint64_t row = 0; row < ROWS; row++)
        keys[row] = key_of(shapes[row / SHAPE_ROWS], row);
}

static const char *const columns[] = {"key", "key,key+1"};    /* words and pairs go different ways */

static void count(const char *aggregator, const char *column, unsigned workers, size_t batch_rows, agb_digest *digest,
                  agb_stats *stats)
{
    static const agb_caches small = {.l1d = 16 << 10, .l2 = 64 << 10, .l3 = 1 << 20, .line = 64};
    agb_registry *registry;
    agb_table *table;
    agb_pool *pool;
    agb_sink *sink;
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_pool_create(&pool, workers, NULL, err));
    assert_ok(agb_table_lend(table, "key", AGB_TYPE_UINT64, keys, ROWS, err));
    assert_ok(agb_sink_checksum(&sink, err));
    agb_plan plan = {.table = table, .column = column, .pool = pool, .batch_rows = batch_rows, .caches = &small,
                     .aggregator = agb_registry_find_aggregator(registry, aggregator)};
    assert_ok(agb_count_groups(&plan, sink, stats, err));
    *digest = agb_sink_digest(sink);
    agb_sink_destroy(sink);
    agb_pool_destroy(pool);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
}

static void no_row_is_lost_when_the_shape_changes(void **state)
{
    static const shape orders[][SHAPES] = {
        {UNIQUE, FEW, FEW_IN_RUNS, SAME, MANY_IN_RUNS},
        {MANY_IN_RUNS, SAME, UNIQUE, FEW_IN_RUNS, FEW},
        {FEW_IN_RUNS, UNIQUE, UNIQUE, MANY_IN_RUNS, FEW},
    };
    static const size_t batch_rows[] = {0, 777, 5000};
    agb_digest right, digest;
    agb_stats stats;
    (void)state;
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        fill(orders[i]);
        for (size_t j = 0; j < 2; j++) {
            count("naive", columns[j], 1, 0, &right, &stats);
            for (unsigned workers = 1; workers <= 2; workers++) {
                count("adaptive", columns[j], workers, batch_rows[i], &digest, &stats);
                assert_memory_equal(&digest, &right, sizeof right);
            }
        }
    }
}

/* The percent that the note has behind these words. */
static unsigned noted(const agb_stats *stats, const char *words)
{
    const char *at = strstr(stats->note, words);
    if (!at)
        fail_msg("no '%s' in: %s", words, stats->note);
    return at ? (unsigned)strtoul(at + strlen(words), NULL, 10) : 0;
}

static void it_chooses_by_what_it_sees_and_says_so(void **state)
{
    static const struct { shape shape; unsigned least_front, most_front, least_runs, most_runs; } cases[] = {
        {UNIQUE, 0, 3, 0, 0},         /* hardly any row goes to the front in vain */
        {FEW, 100, 100, 0, 0},
        {FEW_IN_RUNS, 100, 100, 90, 100},
        {SAME, 100, 100, 100, 100},
        {MANY_IN_RUNS, 0, 3, 100, 100},
    };
    (void)state;
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        agb_digest digest;
        agb_stats stats;
        shape shape = cases[i / 2].shape;
        fill((const enum shape[SHAPES]){shape, shape, shape, shape, shape});
        count("adaptive", columns[i % 2], 1, 0, &digest, &stats);
        unsigned front = noted(&stats, "through the front table: "), runs = noted(&stats, "collapsed as runs: ");
        if (front < cases[i / 2].least_front || front > cases[i / 2].most_front || runs < cases[i / 2].least_runs
            || runs > cases[i / 2].most_runs)
            fail_msg("shape %d of %s: %s", (int)shape, columns[i % 2], stats.note);
    }
}

/* It had given the front up, and tries it again in time. */
static void it_changes_its_mind_half_way(void **state)
{
    agb_digest digest;
    agb_stats stats;
    (void)state;
    fill((const shape[SHAPES]){UNIQUE, FEW, FEW, FEW, FEW});
    for (size_t i = 0; i < 2; i++) {
        count("adaptive", columns[i], 1, 5000, &digest, &stats);
        unsigned front = noted(&stats, "through the front table: ");
        assert_in_range(front, 60, 85);
        assert_true(noted(&stats, "which took ") >= 98);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_row_is_lost_when_the_shape_changes),
        cmocka_unit_test(it_chooses_by_what_it_sees_and_says_so),
        cmocka_unit_test(it_changes_its_mind_half_way),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
