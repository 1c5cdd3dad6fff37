/* SPDX-License-Identifier: MIT */
/* What "correct" means: every aggregator, built in and as a plug-in, over distributions, hostile keys, batch sizes,
 * workers, hashes, weights, budgets and the failure of each allocation in turn, against a reference that shares no code
 * with any of them. New aggregators are tested by being there. */
#include "conformance.h"
#include "internal.h"
#include "loader.h"

enum { ROWS = 20000 };

typedef struct groups {
    size_t n;
    agb_group *group;    /* by key, ascending as unsigned */
} groups;

typedef struct shape {
    const char *name;
    uint64_t (*key)(uint64_t row, uint64_t random);
} shape;

/* ---- Key shapes ---- */

static uint64_t mixed(uint64_t x)    /* splitmix64 (Steele, Lea, Flood 2014) */
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static uint64_t same(uint64_t row, uint64_t random) { (void)row; (void)random; return 42; }
static uint64_t distinct(uint64_t row, uint64_t random) { (void)random; return mixed(row); }
static uint64_t uniform(uint64_t row, uint64_t random) { (void)row; return mixed(random % 1000); }
static uint64_t skewed(uint64_t row, uint64_t random) { (void)row; return random % 3 ? 7 : mixed(random % 5000); }
static uint64_t runs(uint64_t row, uint64_t random) { (void)random; return mixed(row / 7 % 900); }
static uint64_t ascending(uint64_t row, uint64_t random) { (void)random; return row; }
static uint64_t descending(uint64_t row, uint64_t random) { (void)random; return UINT64_MAX - row; }
static uint64_t multiples(uint64_t row, uint64_t random) { (void)random; return row << 44; }
static uint64_t high_equal(uint64_t row, uint64_t random)
{
    (void)row;
    return UINT64_C(0xabcdef) << 40 | random % 3000;
}

static uint64_t markers(uint64_t row, uint64_t random)
{
    static const uint64_t keys[] = {0, UINT64_MAX, UINT64_MAX - 1, UINT64_C(1) << 63, INT64_MAX, 1, 0x80000000,
                                    0xffffffff};
    (void)random;
    return keys[row % 8];
}

static uint64_t zero_only(uint64_t row, uint64_t random) { (void)row; (void)random; return 0; }
static uint64_t ones_only(uint64_t row, uint64_t random) { (void)row; (void)random; return UINT64_MAX; }

static const shape shapes[] = {
    {"same", same}, {"distinct", distinct}, {"uniform", uniform}, {"skewed", skewed}, {"runs", runs},
    {"ascending", ascending}, {"descending", descending}, {"multiples of 2^44", multiples},
    {"equal high bits", high_equal}, {"empty-slot markers", markers}, {"only 0", zero_only}, {"only -1", ones_only},
};
enum { SHAPES = sizeof shapes / sizeof *shapes };

/* ---- The reference ---- */

static int by_key(const void *a, const void *b)
{
    uint64_t x = ((const agb_group *)a)->key.word, y = ((const agb_group *)b)->key.word;
    return (x > y) - (x < y);
}

static groups count_reference(const uint64_t *keys, const uint64_t *weights, size_t rows)
{
    groups all = {0, malloc((rows + 1) * sizeof(agb_group))};
    for (size_t i = 0; i < rows; i++)
        all.group[i] = (agb_group){{keys[i]}, weights ? weights[i] : 1};
    qsort(all.group, rows, sizeof *all.group, by_key);
    for (size_t i = 0; i < rows; i++) {
        if (all.n && all.group[all.n - 1].key.word == all.group[i].key.word)
            all.group[all.n - 1].count += all.group[i].count;
        else
            all.group[all.n++] = all.group[i];
    }
    return all;
}

static groups groups_of(const agb_sink *sink)
{
    groups all = {0, NULL};
    agb_block block;
    for (size_t number = 0; agb_sink_block(sink, number, &block); number++) {
        all.group = realloc(all.group, (all.n + block.groups + 1) * sizeof *all.group);
        for (size_t i = 0; i < block.groups; i++)
            all.group[all.n++] = agb_block_group(&block, i);
    }
    if (all.n)
        qsort(all.group, all.n, sizeof *all.group, by_key);
    return all;
}

static void assert_same_groups(const agb_sink *sink, const groups *wanted, const char *who, const char *what)
{
    groups got = groups_of(sink);
    for (size_t i = 0; i < got.n && i < wanted->n; i++)
        if (got.group[i].key.word != wanted->group[i].key.word || got.group[i].count != wanted->group[i].count)
            fail_msg("%s, %s: group %zu is key %llx count %llu, must be key %llx count %llu", who, what, i,
                     (unsigned long long)got.group[i].key.word, (unsigned long long)got.group[i].count,
                     (unsigned long long)wanted->group[i].key.word, (unsigned long long)wanted->group[i].count);
    if (got.n != wanted->n)
        fail_msg("%s, %s: %zu groups, must be %zu", who, what, got.n, wanted->n);
    free(got.group);
}

/* ---- Running every aggregator ---- */

typedef struct fixture {
    contenders contenders;
    agb_pool *pool;
    uint64_t keys[ROWS], weights[ROWS];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    contenders_open(&f->contenders);
    assert_ok(agb_pool_create(&f->pool, 3, NULL, err));
    for (size_t i = 0; i < ROWS; i++)
        f->weights[i] = mixed(i) % 5 + 1;
    f->weights[17] = UINT64_C(3000000000);
    f->weights[170] = UINT64_C(5000000000);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    agb_pool_destroy(f->pool);
    contenders_close(&f->contenders);
    free(f);
    return 0;
}

static void fill(fixture *f, const shape *s, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        f->keys[i] = s->key(i, mixed(i + 1000003));
}

static agb_table *lend(const uint64_t *keys, size_t rows)
{
    agb_table *table;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "key", AGB_TYPE_UINT64, keys, rows, err));
    return table;
}

static void run_and_compare(agb_plan *plan, const groups *wanted, const char *what)
{
    agb_sink *sink;
    agb_stats stats;
    assert_ok(agb_sink_collect(&sink, err));
    assert_ok(agb_count_groups(plan, sink, &stats, err));
    assert_same_groups(sink, wanted, plan->aggregator->name, what);
    uint64_t phases_ns = 0;
    for (size_t i = 0; i < stats.phases; i++)
        phases_ns += stats.phase_ns[i];
    assert_int_equal(phases_ns, stats.wall_ns);
    agb_sink_destroy(sink);
}

#define for_each_aggregator(a, f) for (size_t i_ = 0; (a = contender_at(&(f)->contenders, i_)); i_++)

static void every_shape_is_counted_exactly(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    for (size_t s = 0; s < SHAPES; s++) {
        fill(f, &shapes[s], ROWS);
        groups wanted = count_reference(f->keys, NULL, ROWS);
        agb_table *table = lend(f->keys, ROWS);
        for_each_aggregator(a, f) {
            agb_plan plan = {.table = table, .column = "key", .aggregator = a};
            run_and_compare(&plan, &wanted, shapes[s].name);
        }
        agb_table_destroy(table);
        free(wanted.group);
    }
}

static void every_batch_size_gives_the_same_answer(void **state)
{
    static const size_t sizes[] = {1, 2, 3, 7, 31, 32, 33, 255, 511, 4096, ROWS, 10 * ROWS};
    fixture *f = *state;
    const agb_aggregator *a;
    fill(f, &shapes[3], ROWS);
    groups wanted = count_reference(f->keys, NULL, ROWS);
    agb_table *table = lend(f->keys, ROWS);
    for (size_t s = 0; s < sizeof sizes / sizeof *sizes; s++) {
        for_each_aggregator(a, f) {
            agb_plan plan = {.table = table, .column = "key", .aggregator = a, .batch_rows = sizes[s]};
            run_and_compare(&plan, &wanted, "batch size");
        }
    }
    agb_table_destroy(table);
    free(wanted.group);
}

static void few_rows_and_none_are_counted(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    fill(f, &shapes[9], ROWS);
    for (size_t rows = 0; rows < 5; rows++) {
        groups wanted = count_reference(f->keys, NULL, rows);
        agb_table *table = lend(f->keys, rows);
        for_each_aggregator(a, f) {
            agb_plan plan = {.table = table, .column = "key", .aggregator = a};
            run_and_compare(&plan, &wanted, "few rows");
        }
        agb_table_destroy(table);
        free(wanted.group);
    }
}

static void several_workers_give_the_same_answer(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    for (size_t s = 0; s < SHAPES; s++) {
        fill(f, &shapes[s], ROWS);
        groups wanted = count_reference(f->keys, NULL, ROWS);
        agb_table *table = lend(f->keys, ROWS);
        for_each_aggregator(a, f) {
            agb_plan plan = {.table = table, .column = "key", .aggregator = a, .batch_rows = 300, .pool = f->pool};
            run_and_compare(&plan, &wanted, shapes[s].name);
        }
        agb_table_destroy(table);
        free(wanted.group);
    }
}

/* With a constant hash all keys collide: whoever takes equal hashes for equal keys is found out. */
static void equal_hashes_are_not_equal_keys(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    enum { FEW = 400 };
    for (size_t i = 0; i < FEW; i++)
        f->keys[i] = mixed(i % 150);
    groups wanted = count_reference(f->keys, NULL, FEW);
    agb_table *table = lend(f->keys, FEW);
    for (const char *const *hash = agb_hash_names(); *hash; hash++) {
        for_each_aggregator(a, f) {
            agb_plan plan = {.table = table, .column = "key", .aggregator = a, .hash = *hash};
            run_and_compare(&plan, &wanted, *hash);
        }
    }
    agb_table_destroy(table);
    free(wanted.group);
}

static void weights_past_32_bits_are_summed_exactly(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    fill(f, &shapes[2], ROWS);
    f->keys[170] = f->keys[17];    /* 3 and 5 thousand million for one key */
    groups wanted = count_reference(f->keys, f->weights, ROWS);
    agb_table *table = lend(f->keys, ROWS);
    for_each_aggregator(a, f) {
        agb_plan plan = {.table = table, .column = "key", .aggregator = a, .weights = f->weights};
        if (a->traits & AGB_TAKES_WEIGHTS)
            run_and_compare(&plan, &wanted, "weights");
        else
            assert_fails(AGB_ERR_UNSUPPORTED, "weights", agb_count_groups(&plan, NULL, NULL, err));
    }
    agb_table_destroy(table);
    free(wanted.group);
}

static void every_parameter_works_at_its_limits(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    fill(f, &shapes[2], ROWS);
    groups wanted = count_reference(f->keys, NULL, ROWS);
    agb_table *table = lend(f->keys, ROWS);
    for_each_aggregator(a, f) {
        for (const agb_param *p = a->params; p && p->name; p++) {
            int64_t values[] = {p->least, p->most < 20 ? p->most : p->least + 1};
            for (size_t v = 0; v < 2; v++) {
                char text[64];
                snprintf(text, sizeof text, "%s=%lld", p->name, (long long)values[v]);
                agb_plan plan = {.table = table, .column = "key", .aggregator = a, .params = text};
                run_and_compare(&plan, &wanted, text);
            }
        }
    }
    agb_table_destroy(table);
    free(wanted.group);
}

/* ---- Memory ---- */

static void guarded_blocks_are_never_overrun(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    agb_memory *memory;
    assert_ok(agb_memory_create(&memory, &(agb_memory_options){.guarded = true}, err));
    for (size_t s = 0; s < SHAPES; s++) {
        fill(f, &shapes[s], ROWS);
        groups wanted = count_reference(f->keys, NULL, ROWS);
        agb_table *table = lend(f->keys, ROWS);
        for_each_aggregator(a, f) {
            agb_plan plan = {.table = table, .column = "key", .aggregator = a, .memory = memory, .pool = f->pool};
            run_and_compare(&plan, &wanted, shapes[s].name);
            assert_int_equal(agb_memory_usage_of(memory).live, 0);
        }
        agb_table_destroy(table);
        free(wanted.group);
    }
    agb_memory_destroy(memory);
}

static void budget_exceeded_leaves_no_live_bytes(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    fill(f, &shapes[1], ROWS);
    groups wanted = count_reference(f->keys, NULL, ROWS);
    agb_table *table = lend(f->keys, ROWS);
    for_each_aggregator(a, f) {
        bool refused = false, finished = false;
        for (uint64_t budget = 64; budget <= (UINT64_C(1) << 30); budget *= 4) {
            agb_memory *memory;
            agb_sink *sink;
            agb_error err = {0};
            assert_ok(agb_memory_create(&memory, &(agb_memory_options){.budget = budget}, err));
            assert_ok(agb_sink_collect(&sink, err));
            agb_plan plan = {.table = table, .column = "key", .aggregator = a, .memory = memory};
            agb_status status = agb_count_groups(&plan, sink, NULL, &err);
            assert_int_equal(agb_memory_usage_of(memory).live, 0);
            assert_true(agb_memory_usage_of(memory).peak <= budget);
            if (status == AGB_OK) {
                assert_same_groups(sink, &wanted, a->name, "budget");
                finished = true;
            } else {
                assert_int_equal(status, AGB_ERR_BUDGET);
                assert_non_null(strstr(err.text, a->name));
                refused = true;
            }
            agb_sink_destroy(sink);
            agb_memory_destroy(memory);
        }
        assert_true(refused && finished);
    }
    agb_table_destroy(table);
    free(wanted.group);
}

/* Fails allocation 1, 2, 3 ... in turn until a run needs no more; both memory modes; several workers too. */
static void each_failed_allocation_is_survived_by_all_workers(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    fill(f, &shapes[1], ROWS);
    groups wanted = count_reference(f->keys, NULL, ROWS);
    agb_table *table = lend(f->keys, ROWS);
    for_each_aggregator(a, f) {
        for (int workers = 1; workers <= 3; workers += 2) {
            agb_memory *memory;
            assert_ok(agb_memory_create(&memory, &(agb_memory_options){.mode = AGB_MEMORY_FRESH}, err));
            agb_plan plan = {.table = table, .column = "key", .aggregator = a, .memory = memory,
                             .pool = workers == 1 ? NULL : f->pool};
            agb_status status = AGB_ERR_MEMORY;
            for (uint64_t n = 1; status != AGB_OK; n++) {
                agb_sink *sink;
                agb_error err = {0};
                assert_ok(agb_sink_collect(&sink, err));
                agb_memory_fail_at(memory, n);
                status = agb_count_groups(&plan, sink, NULL, &err);
                assert_true(status == AGB_OK || status == AGB_ERR_MEMORY);
                assert_int_equal(agb_memory_usage_of(memory).live, 0);
                if (status == AGB_OK)
                    assert_same_groups(sink, &wanted, a->name, "after failures");
                agb_sink_destroy(sink);
                assert_true(n < 1000);
            }
            agb_memory_destroy(memory);
        }
    }
    agb_table_destroy(table);
    free(wanted.group);
}

/* ---- NULLs and narrow columns ---- */

static void narrow_columns_are_widened_with_their_sign(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    static const int32_t negative[] = {-1, -1, 5, INT32_MIN};
    static const uint32_t unsigned_ones[] = {UINT32_MAX, UINT32_MAX, 5, 40000};
    static const uint8_t bools[] = {0, 1, 1, 1};
    const struct {
        agb_type type;
        const void *values;
        uint64_t most_frequent;
    } columns[] = {{AGB_TYPE_INT32, negative, UINT64_MAX},
                   {AGB_TYPE_UINT32, unsigned_ones, UINT32_MAX},
                   {AGB_TYPE_BOOL, bools, 1}};
    for (size_t c = 0; c < 3; c++) {
        agb_table *table;
        assert_ok(agb_table_create(&table, err));
        assert_ok(agb_table_lend(table, "key", columns[c].type, columns[c].values, 4, err));
        for_each_aggregator(a, f) {
            agb_sink *sink;
            agb_group top;
            agb_plan plan = {.table = table, .column = "key", .aggregator = a};
            assert_ok(agb_sink_collect(&sink, err));
            assert_ok(agb_count_groups(&plan, sink, NULL, err));
            assert_int_equal(agb_sink_top_groups(sink, &top, 1, NULL), 1);
            assert_true(top.key.word == columns[c].most_frequent);
            agb_sink_destroy(sink);
        }
        agb_table_destroy(table);
    }
}

static void null_is_a_group_of_its_own(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    static const int64_t values[] = {0, 0, 0, -1};
    static const uint8_t nulls[] = {0, 1, 1, 0};
    agb_table *table;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_add(table, "key", AGB_TYPE_INT64, AGB_PAGES_DEFAULT, err));
    assert_ok(agb_table_extend(table, 4, err));
    memcpy(agb_table_values(table, 0), values, sizeof values);
    memcpy(agb_table_nulls(table, 0), nulls, sizeof nulls);
    agb_table_loaded(table, "test", 0, agb_table_rows(table));
    for_each_aggregator(a, f) {
        agb_sink *sink;
        agb_stats stats;
        agb_group top[3];
        agb_plan plan = {.table = table, .column = "key", .aggregator = a};
        assert_ok(agb_sink_collect(&sink, err));
        assert_ok(agb_count_groups(&plan, sink, &stats, err));
        assert_int_equal(stats.nulls, 2);
        assert_int_equal(agb_sink_top_groups(sink, top, 3, NULL), 2);
        assert_true(top[0].key.word == 0 && top[0].count == 1 && top[1].key.word == UINT64_MAX && top[1].count == 1);
        agb_sink_destroy(sink);
    }
    agb_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_counted_exactly),
        cmocka_unit_test(every_batch_size_gives_the_same_answer),
        cmocka_unit_test(few_rows_and_none_are_counted),
        cmocka_unit_test(several_workers_give_the_same_answer),
        cmocka_unit_test(equal_hashes_are_not_equal_keys),
        cmocka_unit_test(weights_past_32_bits_are_summed_exactly),
        cmocka_unit_test(every_parameter_works_at_its_limits),
        cmocka_unit_test(guarded_blocks_are_never_overrun),
        cmocka_unit_test(budget_exceeded_leaves_no_live_bytes),
        cmocka_unit_test(each_failed_allocation_is_survived_by_all_workers),
        cmocka_unit_test(narrow_columns_are_widened_with_their_sign),
        cmocka_unit_test(null_is_a_group_of_its_own),
    };
    leave_out_what_cannot_race();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
