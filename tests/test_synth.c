/* SPDX-License-Identifier: MIT */
/* The generator: exact numbers, the same bytes everywhere, the shapes it promises, and its error sentences. */
#include "test.h"

static agb_table *load(const char *source, unsigned workers)
{
    agb_registry *registry = NULL;
    agb_table *table = NULL;
    agb_pool *pool = NULL;
    assert_ok(agb_registry_create(&registry, err));
    if (workers > 1)
        assert_ok(agb_pool_create(&pool, workers, NULL, err));
    agb_load_options options = {.pool = pool};
    assert_ok(agb_table_load(&table, registry, source, (const char *[]){"UserID"}, 1, &options, err));
    agb_pool_destroy(pool);
    agb_registry_destroy(registry);
    return table;
}

static const int64_t *keys_of(const agb_table *table)
{
    agb_column column;
    assert_true(agb_table_find_column(table, "UserID", &column));
    assert_int_equal(column.type, AGB_TYPE_INT64);
    assert_null(column.nulls);
    return column.values;
}

/* Order matters, so that a row in another place is noticed. */
static uint64_t fingerprint(const agb_table *table)
{
    const int64_t *keys = keys_of(table);
    uint64_t hash = agb_table_rows(table);
    for (uint64_t i = 0; i < agb_table_rows(table); i++) {
        hash = (hash ^ (uint64_t)keys[i]) * 0x9e3779b97f4a7c15u;
        hash ^= hash >> 29;
    }
    return hash;
}

static int by_key(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

static int from_large(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x < y) - (x > y);
}

/* What the tests want to know of a source. */
typedef struct shape {
    uint64_t rows, groups;
    uint64_t runs;          /* of equal adjacent keys */
    uint64_t even_runs;     /* those with an even number of rows */
    uint64_t descents;      /* rows whose key is smaller than the one before: where a new segment begins */
    uint64_t returning;     /* groups with more than one run */
    uint64_t top[10];       /* largest counts */
} shape;

static void look_at_runs(shape *shape, const int64_t *keys, int64_t *starts)
{
    for (uint64_t i = 0, begin = 0; i < shape->rows; i++) {
        if (i > 0 && keys[i] < keys[i - 1])
            shape->descents++;
        if (i + 1 < shape->rows && keys[i + 1] == keys[i])
            continue;
        starts[shape->runs++] = keys[i];
        shape->even_runs += (i + 1 - begin) % 2 == 0;
        begin = i + 1;
    }
}

static void look_at_groups(shape *shape, int64_t *keys, int64_t *starts)
{
    uint64_t *counts = test_malloc((shape->rows + 10) * sizeof *counts);
    memset(counts, 0, (shape->rows + 10) * sizeof *counts);
    qsort(keys, shape->rows, sizeof *keys, by_key);
    for (uint64_t i = 0; i < shape->rows; i++) {
        shape->groups += i == 0 || keys[i] != keys[i - 1];
        counts[shape->groups - 1]++;
    }
    qsort(counts, shape->groups, sizeof *counts, from_large);
    memcpy(shape->top, counts, sizeof shape->top);
    test_free(counts);
    qsort(starts, shape->runs, sizeof *starts, by_key);
    for (uint64_t i = 1; i < shape->runs; i++)
        shape->returning += starts[i] == starts[i - 1] && (i == 1 || starts[i] != starts[i - 2]);
}

static shape look_at(const char *source)
{
    agb_table *table = load(source, 1);
    shape shape = {.rows = agb_table_rows(table)};
    size_t bytes = (shape.rows + 1) * sizeof(int64_t);
    int64_t *starts = test_malloc(bytes), *keys = test_malloc(bytes);
    if (shape.rows)
        memcpy(keys, keys_of(table), shape.rows * sizeof(int64_t));
    look_at_runs(&shape, keys, starts);
    look_at_groups(&shape, keys, starts);
    test_free(keys);
    test_free(starts);
    agb_table_destroy(table);
    return shape;
}

/* ---- Exact numbers ---- */

static void rows_and_groups_are_exactly_as_asked(void **state)
{
    static const struct { const char *source; uint64_t rows, groups; } cases[] = {
        {"synth:hits,rows=200000", 200000, 35263},    /* 200000 * 17630976 / 99997497 = 35262.8 */
        {"synth:hits,rows=99997,groups=12345,run=2", 99997, 12345},
        {"synth:hits,rows=1000,groups=1000", 1000, 1000},
        {"synth:hits,rows=1000,groups=1", 1000, 1},
        {"synth:hits,rows=50000,groups=10,run=1000", 50000, 10},
        {"synth:hits,rows=12345,groups=50,run=1", 12345, 50},
        {"synth:hits,rows=4096,groups=1,run=4096", 4096, 1},
        {"synth:hits,rows=1", 1, 1},
        {"synth:hits,rows=0", 0, 0},
        {"synth:hits,rows=70000,groups=7k,order=shuffled", 70000, 7000},
        {"synth:hits,rows=70000,groups=7k,order=sorted", 70000, 7000},
        {"synth:uniform,rows=100000,groups=99999", 100000, 99999},
        {"synth:uniform,rows=100000,groups=3", 100000, 3},
        {"synth:uniform,rows=1,groups=1", 1, 1},
        {"synth:sequential,rows=100000,groups=777", 100000, 777},
        {"synth:runs,rows=100000,run=7", 100000, 14286},
        {"synth:runs,rows=100000,run=7,groups=100", 100000, 100},
        {"synth:same,rows=100000", 100000, 1},
        {"synth:zipf,rows=64Ki,groups=1", 65536, 1},
        {"synth:giant,rows=100000,groups=10001", 100000, 10001},
        {"synth:giant,rows=100000", 100000, 10001},    /* as many as its share leaves */
        {"synth:giant,rows=1000,groups=1000,share=0", 1000, 1000},
        {"synth:giant,rows=1000,share=1", 1000, 1},
        {"synth:giant,rows=1000,groups=1,share=0.5", 1000, 1},
        {"synth:giant,rows=0", 0, 0},
        {"synth:uniform,rows=1.5k,groups=1e3", 1500, 1000},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shape shape = look_at(cases[i].source);
        if (shape.rows != cases[i].rows || shape.groups != cases[i].groups)
            fail_msg("%s: %llu rows, %llu groups", cases[i].source, (unsigned long long)shape.rows,
                     (unsigned long long)shape.groups);
    }
}

static void every_key_shape_keeps_groups_apart(void **state)
{
    static const char *const shapes[] = {"mixed", "dense", "low-zero", "high-equal", "edges"};
    (void)state;
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
        char source[128];
        snprintf(source, sizeof source, "synth:uniform,rows=20000,groups=5000,keys=%s", shapes[i]);
        assert_int_equal(look_at(source).groups, 5000);
    }
}

static void edge_keys_are_the_ends_of_the_range(void **state)
{
    static const int64_t wanted[] = {0, -1, INT64_MIN, INT64_MAX, 1, -2, INT64_MIN + 1, INT64_MAX - 1};
    (void)state;
    agb_table *table = load("synth:sequential,rows=8,groups=8,keys=edges", 1);
    assert_memory_equal(keys_of(table), wanted, sizeof wanted);
    agb_table_destroy(table);
}

static void sequential_counts_in_strides_and_starts_again(void **state)
{
    static const int64_t wanted[] = {0, 4096, 8192, 0, 4096, 8192, 0};
    (void)state;
    agb_table *table = load("synth:sequential,rows=7,groups=3,stride=4Ki", 1);
    assert_memory_equal(keys_of(table), wanted, sizeof wanted);
    agb_table_destroy(table);
}

/* ---- The same bytes everywhere ---- */

/* Made once with gcc 12 at -O2; they must not change with compiler, optimisation, machine, threads or version. */
static const struct { const char *source; uint64_t fingerprint; } golden[] = {
    {"synth:hits,rows=200k", 0xdc419a67c8f79712},
    {"synth:hits,rows=200k,seed=18446744073709551615,run=4.25,groups=20k", 0x8c9d2b6c4fa04a64},
    {"synth:hits,rows=200k,order=shuffled", 0xbc2ac2d9ac18153d},
    {"synth:hits,rows=200k,order=sorted", 0xcb811a1513b2a406},
    {"synth:hits,rows=200k,keys=low-zero", 0x474f365521b3acf5},
    {"synth:uniform,rows=200k", 0xd89d05d29414c17f},
    {"synth:uniform,rows=200k,groups=100,keys=high-equal,seed=3", 0x8880860ac3253c7d},
    {"synth:zipf,rows=200k", 0x6e3a1b60076a3103},
    {"synth:zipf,rows=200k,groups=1e12,skew=0.123456789", 0x17bdfe8a7ede1f97},
    {"synth:sequential,rows=200k,groups=1k,stride=64", 0xdd93ad699ca7fbe9},
    {"synth:sequential,rows=200k,keys=edges,order=shuffled", 0x5ca34d683f80f14a},
    {"synth:runs,rows=200k", 0x967f85ea729b4dac},
    {"synth:runs,rows=200k,run=100,groups=7,keys=dense", 0x6ee9d9191619cd7c},
    {"synth:same,rows=200k", 0x7d62977427643d93},
};

static void bytes_are_the_same_on_every_machine_and_number_of_threads(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof golden / sizeof *golden; i++) {
        for (unsigned workers = 1; workers <= 3; workers++) {
            agb_table *table = load(golden[i].source, workers);
            uint64_t got = fingerprint(table);
            agb_table_destroy(table);
            if (got != golden[i].fingerprint)
                fail_msg("{\"%s\", 0x%016llx},  with %u workers", golden[i].source, (unsigned long long)got, workers);
        }
    }
}

static void another_order_holds_the_same_rows(void **state)
{
    (void)state;
    agb_table *natural = load("synth:hits,rows=150k", 2), *shuffled = load("synth:hits,rows=150k,order=shuffled", 2);
    agb_table *sorted = load("synth:hits,rows=150k,order=sorted", 2);
    uint64_t rows = agb_table_rows(natural), in_place = 0;
    size_t bytes = rows * sizeof(int64_t);
    int64_t *a = test_malloc(bytes), *b = test_malloc(bytes);
    memcpy(a, keys_of(natural), bytes);
    memcpy(b, keys_of(shuffled), bytes);
    for (uint64_t i = 0; i < rows; i++)
        in_place += a[i] == b[i];
    assert_true(in_place < 200);    /* about 35 expected: the sum of squared shares, and one by chance */
    qsort(a, rows, sizeof *a, by_key);
    qsort(b, rows, sizeof *b, by_key);
    assert_memory_equal(a, b, bytes);
    assert_memory_equal(a, keys_of(sorted), bytes);
    test_free(a);
    test_free(b);
    agb_table_destroy(natural);
    agb_table_destroy(shuffled);
    agb_table_destroy(sorted);
}

static void another_seed_gives_other_keys(void **state)
{
    (void)state;
    agb_table *one = load("synth:uniform,rows=1000,groups=1000", 1);
    agb_table *two = load("synth:uniform,rows=1000,groups=1000,seed=2", 1);
    int64_t both[2000];
    uint64_t distinct = 1;
    memcpy(both, keys_of(one), 8000);
    memcpy(both + 1000, keys_of(two), 8000);
    qsort(both, 2000, sizeof *both, by_key);
    for (size_t i = 1; i < 2000; i++)
        distinct += both[i] != both[i - 1];
    assert_int_equal(distinct, 2000);
    agb_table_destroy(one);
    agb_table_destroy(two);
}

/* A place of a shuffled table says nothing about the row: the mean place of the first tenth is in the middle. */
static void shuffling_moves_rows_anywhere(void **state)
{
    (void)state;
    agb_table *table = load("synth:sequential,rows=1M,groups=1M,order=shuffled", 2);
    const int64_t *keys = keys_of(table);
    for (uint64_t tenth = 0; tenth < 10; tenth++) {
        double sum = 0;
        uint64_t neighbours = 0;
        for (uint64_t i = tenth * 100000; i < (tenth + 1) * 100000; i++) {
            sum += (double)keys[i];
            neighbours += i > 0 && keys[i] == keys[i - 1] + 1;
        }
        assert_true(sum / 100000 > 495000 && sum / 100000 < 505000);    /* five standard deviations: 4,560 */
        assert_true(neighbours < 5);                                    /* 0.1 expected */
    }
    agb_table_destroy(table);
}

/* ---- Shapes ---- */

static void hits_look_like_the_real_table(void **state)
{
    shape hits = look_at("synth:hits,rows=2M");
    double run = (double)hits.rows / (double)hits.runs;
    (void)state;
    assert_int_equal(hits.groups, 352628);
    assert_true(run > 2.5 && run < 2.6);
    assert_true(hits.even_runs > hits.runs * 9 / 10);
    assert_true(hits.descents > 1900 && hits.descents <= 2048);    /* 2,049 segments; the empty ones leave no mark */
    assert_true(hits.returning > hits.groups / 3);
    assert_true(hits.top[0] > 2 * hits.top[2] && hits.top[1] > 2 * hits.top[2]);
    assert_true(hits.top[0] > 500 * hits.rows / hits.groups);
}

/* At full size the ten largest groups come out as published; a smaller table tells whether their proportions do. */
static void top_ten_keep_their_published_proportions(void **state)
{
    static const double published[] = {29097, 25333, 10611, 7584, 6678, 6411, 6197, 6019, 5211, 4906};
    shape hits = look_at("synth:hits,rows=4M");
    (void)state;
    for (int i = 1; i < 10; i++) {
        double ratio = (double)hits.top[i] / (double)hits.top[0], wanted = published[i] / published[0];
        assert_true(ratio > wanted * 0.85 && ratio < wanted * 1.15);
    }
}

static void mean_run_length_can_be_set(void **state)
{
    static const struct { const char *source; double run; } cases[] = {
        {"synth:hits,rows=400k,groups=30k,run=1.2", 1.2}, {"synth:hits,rows=400k,groups=30k,run=2", 2},
        {"synth:hits,rows=400k,groups=30k,run=5", 5},     {"synth:hits,rows=400k,groups=30k,run=13", 13},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        shape shape = look_at(cases[i].source);
        double run = (double)shape.rows / (double)shape.runs;
        if (run < cases[i].run || run > cases[i].run * 1.15)    /* never shorter; some runs meet and become one */
            fail_msg("%s: mean run of %.3f rows", cases[i].source, run);
    }
}

static void hits_keys_spread_over_the_whole_signed_range(void **state)
{
    (void)state;
    agb_table *table = load("synth:hits,rows=100k,order=sorted", 1);
    const int64_t *keys = keys_of(table);
    uint64_t negative = 0;
    while (keys[negative] < 0)
        negative++;
    assert_true(keys[0] < INT64_MIN / 1000 * 999 && keys[99999] > INT64_MAX / 1000 * 999);
    assert_true(negative > 40000 && negative < 60000);
    agb_table_destroy(table);
}

/* Shares of a frequent, a second and a rare rank, against k^-skew over the sum of all. */
static void zipf_follows_its_exponent(void **state)
{
    static const struct { const char *source; double part[3]; } cases[] = {
        /* ranks 1, 2 and 100 of 1000, from sums of k^-skew made with 30 digits */
        {"synth:zipf,rows=1M,groups=1000,skew=0.5,keys=dense", {0.016181, 0.011442, 0.0016181}},
        {"synth:zipf,rows=1M,groups=1000,skew=1,keys=dense", {0.133592, 0.066796, 0.00133592}},
        {"synth:zipf,rows=1M,groups=1000,skew=1.2,keys=dense", {0.230640, 0.100392, 0.00091819}},
        {"synth:zipf,rows=1M,groups=1000,skew=3,keys=dense", {0.831908, 0.103988, 0.00000083}},
        {"synth:zipf,rows=1M,groups=1000,skew=0,keys=dense", {0.001, 0.001, 0.001}},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        agb_table *table = load(cases[i].source, 2);
        const int64_t *keys = keys_of(table), ranks[3] = {1, 2, 100};
        for (int r = 0; r < 3; r++) {
            double wanted = cases[i].part[r] * 1e6, got = 0;
            for (uint64_t row = 0; row < 1000000; row++)
                got += keys[row] == ranks[r] - 1;
            double off = got - wanted;
            if (off * off > 25 * wanted + 25)    /* five standard deviations */
                fail_msg("%s: rank %d: %.0f rows, not %.0f", cases[i].source, (int)ranks[r], got, wanted);
        }
        agb_table_destroy(table);
    }
}

static void the_giant_has_its_share_and_the_others_the_rest_evenly(void **state)
{
    shape shape = look_at("synth:giant,rows=100000,groups=101,share=0.75");
    (void)state;
    assert_int_equal(shape.top[0], 75000);
    assert_true(shape.top[1] >= 250 && shape.top[1] < 350);    /* 250 on the average, 16 of deviation */
    assert_true(shape.runs > 36000 && shape.runs < 45000);     /* a run for each row of others, or one less */
}

static void zipf_may_have_more_ranks_than_rows(void **state)
{
    shape shape = look_at("synth:zipf,rows=1000,groups=1e12,skew=0.25");
    (void)state;
    assert_int_equal(shape.rows, 1000);
    assert_true(shape.groups > 990 && shape.groups <= 1000);
}

/* ---- Talking ---- */

static void describe_tells_rows_without_making_them(void **state)
{
    agb_registry *registry;
    agb_schema schema;
    (void)state;
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_source_describe(&schema, registry, "synth:hits,rows=1e12", err));
    assert_int_equal(schema.rows, 1000000000000);
    assert_int_equal(schema.columns, 1);
    assert_string_equal(schema.column[0].name, "UserID");
    assert_non_null(strstr(schema.detail, "176314173144"));    /* thousands of groups */
    agb_schema_release(&schema);
    agb_registry_destroy(registry);
}

static void wrong_specs_are_answered_with_one_sentence(void **state)
{
    static const struct { const char *spec, *words; agb_status status; } cases[] = {
        {"hitz", "unknown kind 'hitz'|hits", AGB_ERR_ARGUMENT},
        {"", "unknown kind ''|uniform", AGB_ERR_ARGUMENT},
        {"hits,rowz=1", "synth:hits|'rowz'|did you mean rows", AGB_ERR_ARGUMENT},
        {"zipf,run=2", "synth:zipf|'run'|skew", AGB_ERR_ARGUMENT},
        {"hits,rows", "'rows'|KEY=VALUE", AGB_ERR_ARGUMENT},
        {"hits,,rows=1", "''|KEY=VALUE", AGB_ERR_ARGUMENT},
        {"hits,rows=abc", "rows=abc|number|0..1099511627776", AGB_ERR_ARGUMENT},
        {"hits,rows=", "rows=|number", AGB_ERR_ARGUMENT},
        {"hits,rows=-1", "rows=-1|0..1099511627776", AGB_ERR_ARGUMENT},
        {"hits,rows=1e30", "rows=1e30|too large|1099511627776", AGB_ERR_ARGUMENT},
        {"hits,rows=1e99", "too large", AGB_ERR_ARGUMENT},
        {"hits,rows=1e99999999999", "too large", AGB_ERR_ARGUMENT},
        {"zipf,skew=1e308", "skew=1e308: too large: allowed range is 0..16", AGB_ERR_ARGUMENT},
        {"zipf,skew=-1", "skew=-1: too small: allowed range is 0..16", AGB_ERR_ARGUMENT},
        {"hits,rows=-5k", "too small", AGB_ERR_ARGUMENT},
        {"hits,rows=1e", "not understood", AGB_ERR_ARGUMENT},
        {"hits,rows=--1", "not understood", AGB_ERR_ARGUMENT},
        {"same,rows=1000,", "a value is missing", AGB_ERR_ARGUMENT},
        {"same,", "a value is missing", AGB_ERR_ARGUMENT},
        {"same,,rows=1", "a value is missing", AGB_ERR_ARGUMENT},
        {"hits,rows=1.5", "rows=1.5|digits after the point", AGB_ERR_ARGUMENT},
        {"hits,rows=99999999999999999999999999999999999999999", "too large", AGB_ERR_ARGUMENT},
        {"hits,seed=18446744073709551616", "seed|18446744073709551615", AGB_ERR_ARGUMENT},
        {"hits,groups=0", "groups=0|too small|1..", AGB_ERR_ARGUMENT},
        {"hits,rows=10,groups=20", "groups=20|rows=10", AGB_ERR_ARGUMENT},
        {"hits,rows=100,run=50", "run=50|1..5.5", AGB_ERR_ARGUMENT},
        {"hits,run=5000", "run=5000|1..4096", AGB_ERR_ARGUMENT},
        {"hits,rows=5,rows=6", "rows=6|once", AGB_ERR_ARGUMENT},
        {"zipf,skew=17", "skew=17|0..16", AGB_ERR_ARGUMENT},
        {"uniform,order=sortd", "'sortd'|did you mean sorted", AGB_ERR_ARGUMENT},
        {"uniform,order=hits", "order=hits|synth:hits", AGB_ERR_ARGUMENT},
        {"uniform,keys=hard", "'hard'|low-zero", AGB_ERR_ARGUMENT},
        {"runs,run=2.5", "run=2.5|whole", AGB_ERR_ARGUMENT},
        {"runs,rows=100,run=10,groups=50", "groups=50|1..10", AGB_ERR_ARGUMENT},
        {"sequential,rows=100,groups=100,stride=1e18", "stride|92233720368547758", AGB_ERR_ARGUMENT},
        {"sequential,stride=2,keys=mixed", "stride=2|keys=dense", AGB_ERR_ARGUMENT},
        {"giant,rows=1000,groups=102", "groups=102|0.9 leaves 100 of 1000 rows|1..101", AGB_ERR_ARGUMENT},
        {"giant,share=1.5", "share=1.5: too large: allowed range is 0..1", AGB_ERR_ARGUMENT},
        {"uniform,share=0.5", "synth:uniform|'share'", AGB_ERR_ARGUMENT},
        {"same,groups=2", "synth:same|'groups'", AGB_ERR_ARGUMENT},
        {"uniform,rows=1e12", "rows=1000000000000|8000000000000 bytes|at most", AGB_ERR_MEMORY},
    };
    agb_registry *registry;
    (void)state;
    assert_ok(agb_registry_create(&registry, err));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        agb_table *table = NULL;
        char source[128];
        snprintf(source, sizeof source, "synth:%s", cases[i].spec);
        assert_fails(cases[i].status, cases[i].words,
                     agb_table_load(&table, registry, source, (const char *[]){"UserID"}, 1, NULL, err));
        assert_null(table);
    }
    agb_registry_destroy(registry);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rows_and_groups_are_exactly_as_asked),
        cmocka_unit_test(every_key_shape_keeps_groups_apart),
        cmocka_unit_test(edge_keys_are_the_ends_of_the_range),
        cmocka_unit_test(sequential_counts_in_strides_and_starts_again),
        cmocka_unit_test(bytes_are_the_same_on_every_machine_and_number_of_threads),
        cmocka_unit_test(another_order_holds_the_same_rows),
        cmocka_unit_test(another_seed_gives_other_keys),
        cmocka_unit_test(shuffling_moves_rows_anywhere),
        cmocka_unit_test(hits_look_like_the_real_table),
        cmocka_unit_test(top_ten_keep_their_published_proportions),
        cmocka_unit_test(mean_run_length_can_be_set),
        cmocka_unit_test(hits_keys_spread_over_the_whole_signed_range),
        cmocka_unit_test(zipf_follows_its_exponent),
        cmocka_unit_test(the_giant_has_its_share_and_the_others_the_rest_evenly),
        cmocka_unit_test(zipf_may_have_more_ranks_than_rows),
        cmocka_unit_test(describe_tells_rows_without_making_them),
        cmocka_unit_test(wrong_specs_are_answered_with_one_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
