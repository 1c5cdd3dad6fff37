/* SPDX-License-Identifier: MIT */
/* The conformance suite for keys that do not fit a word: every aggregator that takes pairs or strings, built in and as
 * a plug-in, over hostile keys, batch sizes, workers, hashes, weights, parameters, budgets and failed allocations. The
 * right answers are found by sorting (bench/key_shapes.c). */
#include "conformance.h"
#include "key_shapes.h"
#include "reference.h"

enum { ROWS = 3000, FEW = 200 };

static const agb_key_kind kinds[] = {AGB_KEYS_PAIR, AGB_KEYS_BYTES};

typedef struct fixture {
    contenders contenders;
    agb_pool *pool;
    agb_memory *memory;    /* one for all runs that ask for no other: faulted in once */
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    contenders_open(&f->contenders);
    assert_ok(agb_pool_create(&f->pool, 3, NULL, err));
    assert_ok(agb_memory_create(&f->memory, NULL, err));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    agb_memory_destroy(f->memory);
    agb_pool_destroy(f->pool);
    contenders_close(&f->contenders);
    free(f);
    return 0;
}

static void assert_answer(const agb_sample *sample, const agb_sink *sink, const char *who, const char *what)
{
    size_t n;
    agb_group *mine = agb_sorted_groups(sink, &n);
    if (n != sample->n_groups)
        fail_msg("%s, %s: %zu groups, must be %zu", who, what, n, sample->n_groups);
    for (size_t i = 0; i < n; i++)
        if (!agb_same_group(sample->kind, &mine[i], &sample->groups[i]))
            fail_msg("%s, %s: group %zu of kind %d is wrong: counted %llu, must be %llu", who, what, i, sample->kind,
                     (unsigned long long)mine[i].count, (unsigned long long)sample->groups[i].count);
    free(mine);
}

static agb_status count(const agb_sample *sample, agb_plan plan, const char *what, agb_error *err)
{
    agb_table *table;
    agb_sink *sink;
    agb_stats stats;
    assert_ok(agb_sample_lend(sample, &table, &plan.column, err));
    assert_ok(agb_sink_collect(&sink, err));
    plan.table = table;
    plan.weights = sample->weights;
    agb_status status = agb_count_groups(&plan, sink, &stats, err);
    if (status == AGB_OK) {
        assert_int_equal(stats.kind, sample->kind);
        assert_answer(sample, sink, plan.aggregator->name, what);
    }
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    return status;
}

/* Every aggregator that takes the sample's kind, with this plan. */
static void count_by_all(const fixture *f, const agb_sample *sample, agb_plan plan, const char *what)
{
    size_t counted = 0;
    if (!plan.memory)
        plan.memory = f->memory;
    for (size_t i = 0; (plan.aggregator = contender_at(&f->contenders, i)); i++) {
        bool weights = !sample->weights || plan.aggregator->traits & AGB_TAKES_WEIGHTS;
        if (agb_key_kind_refusal(plan.aggregator, sample->kind) || !weights)
            continue;
        assert_ok(count(sample, plan, what, err));
        counted++;
    }
    assert_true(counted >= 8);    /* at least naive, prefetch, radix and sort, twice */
    assert_int_equal(agb_memory_usage_of(f->memory).live, 0);
}

/* Every shape in both kinds. */
static void count_shapes(const fixture *f, size_t rows, bool weighted, agb_plan plan, const char *what)
{
    for (size_t k = 0; k < 2; k++) {
        for (const agb_shape *shape = agb_shapes; shape->name; shape++) {
            char words[200];
            agb_sample sample;
            snprintf(words, sizeof words, "%s, %s", shape->name, what);
            assert_ok(agb_sample_of_shape(&sample, shape, kinds[k], rows, weighted, err));
            count_by_all(f, &sample, plan, words);
            agb_sample_release(&sample);
        }
    }
}

static void every_shape_is_counted_exactly(void **state)
{
    count_shapes(*state, 2 * ROWS, false, (agb_plan){0}, "as it is");
}

static void every_batch_size_gives_the_same_answer(void **state)
{
    static const size_t sizes[] = {1, 7, 64, 255, 256, 257};
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        count_shapes(*state, FEW, false, (agb_plan){.batch_rows = sizes[i]}, "batch size");
}

/* What has its size from them is soon full, overtaken, or given up. */
static void small_caches_change_ways_not_answers(void **state)
{
    fixture *f = *state;
    static const agb_caches small = {.line = 64, .l1d = 512, .l2 = 2048, .l3 = 8192};
    count_shapes(f, ROWS, true, (agb_plan){.caches = &small, .batch_rows = 300, .pool = f->pool}, "small caches");
}

static void few_rows_and_none_are_counted(void **state)
{
    for (size_t rows = 0; rows < 4; rows++)
        count_shapes(*state, rows, false, (agb_plan){0}, "few rows");
}

static void several_workers_give_the_same_answer(void **state)
{
    fixture *f = *state;
    count_shapes(f, ROWS, false, (agb_plan){.batch_rows = 100, .pool = f->pool}, "three workers");
}

static void equal_hashes_are_not_equal_keys(void **state)
{
    for (const char *const *hash = agb_hash_names(); *hash; hash++)
        count_shapes(*state, FEW, false, (agb_plan){.hash = *hash}, *hash);
}

static void weights_past_32_bits_are_summed_exactly(void **state)
{
    fixture *f = *state;
    count_shapes(f, ROWS / 2, true, (agb_plan){0}, "weights");
    count_shapes(f, ROWS / 2, true, (agb_plan){.batch_rows = 100, .pool = f->pool}, "weights, three workers");
}

static void every_parameter_works_at_its_limits(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    for (size_t k = 0; k < 2; k++) {
        agb_sample sample;
        assert_ok(agb_sample_of_shape(&sample, &agb_shapes[2], kinds[k], ROWS, false, err));
        for (size_t i = 0; (a = contender_at(&f->contenders, i)); i++) {
            for (const agb_param *p = a->params; !agb_key_kind_refusal(a, kinds[k]) && p && p->name; p++) {
                int64_t values[] = {p->least, p->most < 20 ? p->most : p->least + 1};
                for (size_t v = 0; v < 2; v++) {
                    char text[64];
                    snprintf(text, sizeof text, "%s=%lld", p->name, (long long)values[v]);
                    assert_ok(count(&sample, (agb_plan){.aggregator = a, .params = text}, text, err));
                }
            }
        }
        agb_sample_release(&sample);
    }
}

static void guarded_blocks_are_never_overrun(void **state)
{
    fixture *f = *state;
    agb_memory *memory;
    assert_ok(agb_memory_create(&memory, &(agb_memory_options){.guarded = true}, err));
    count_shapes(f, ROWS, false, (agb_plan){.memory = memory, .pool = f->pool}, "guarded");
    assert_int_equal(agb_memory_usage_of(memory).live, 0);
    agb_memory_destroy(memory);
}

static void exceed_budget(const agb_sample *sample, const agb_aggregator *a)
{
    bool refused = false, finished = false;
    for (uint64_t budget = 64; budget <= (UINT64_C(1) << 30); budget *= 4) {
        agb_memory *memory;
        agb_error err = {0};
        assert_ok(agb_memory_create(&memory, &(agb_memory_options){.budget = budget}, err));
        agb_status status = count(sample, (agb_plan){.aggregator = a, .memory = memory}, "budget", &err);
        assert_true(status == AGB_OK || status == AGB_ERR_BUDGET);
        assert_true(agb_memory_usage_of(memory).peak <= budget);
        assert_int_equal(agb_memory_usage_of(memory).live, 0);
        refused = refused || status != AGB_OK;
        finished = finished || status == AGB_OK;
        agb_memory_destroy(memory);
    }
    assert_true(refused && finished);
}

/* Fails allocation 1, 2, 3 ... in turn until a run needs no more. */
static void fail_each_allocation(const agb_sample *sample, const agb_aggregator *a, agb_pool *pool)
{
    agb_memory *memory;
    agb_status status = AGB_ERR_MEMORY;
    assert_ok(agb_memory_create(&memory, &(agb_memory_options){.mode = AGB_MEMORY_FRESH}, err));
    for (uint64_t n = 1; status != AGB_OK; n++) {
        agb_error err = {0};
        agb_memory_fail_at(memory, n);
        status = count(sample, (agb_plan){.aggregator = a, .memory = memory, .pool = pool}, "after failures", &err);
        assert_true(status == AGB_OK || status == AGB_ERR_MEMORY);
        assert_int_equal(agb_memory_usage_of(memory).live, 0);
        assert_true(n < 1000);
    }
    agb_memory_destroy(memory);
}

static void running_out_of_memory_is_survived(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    for (size_t k = 0; k < 2; k++) {
        agb_sample sample;
        assert_ok(agb_sample_of_shape(&sample, &agb_shapes[1], kinds[k], ROWS, false, err));
        for (size_t i = 0; (a = contender_at(&f->contenders, i)); i++) {
            if (agb_key_kind_refusal(a, kinds[k]))
                continue;
            exceed_budget(&sample, a);
            fail_each_allocation(&sample, a, NULL);
            fail_each_allocation(&sample, a, f->pool);
        }
        agb_sample_release(&sample);
    }
}

static void who_does_not_take_a_kind_says_so(void **state)
{
    fixture *f = *state;
    const agb_aggregator *a;
    size_t refused = 0;
    for (size_t k = 0; k < 2; k++) {
        agb_sample sample;
        assert_ok(agb_sample_of_shape(&sample, &agb_shapes[0], kinds[k], FEW, false, err));
        for (size_t i = 0; (a = contender_at(&f->contenders, i)); i++) {
            if (!agb_key_kind_refusal(a, kinds[k]))
                continue;
            assert_fails(AGB_ERR_UNSUPPORTED, kinds[k] == AGB_KEYS_PAIR ? "two-word keys" : "string keys",
                         count(&sample, (agb_plan){.aggregator = a}, "refusal", err));
            refused++;
        }
        agb_sample_release(&sample);
    }
    assert_true(refused > 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_shape_is_counted_exactly),
        cmocka_unit_test(every_batch_size_gives_the_same_answer),
        cmocka_unit_test(small_caches_change_ways_not_answers),
        cmocka_unit_test(few_rows_and_none_are_counted),
        cmocka_unit_test(several_workers_give_the_same_answer),
        cmocka_unit_test(equal_hashes_are_not_equal_keys),
        cmocka_unit_test(weights_past_32_bits_are_summed_exactly),
        cmocka_unit_test(every_parameter_works_at_its_limits),
        cmocka_unit_test(guarded_blocks_are_never_overrun),
        cmocka_unit_test(running_out_of_memory_is_survived),
        cmocka_unit_test(who_does_not_take_a_kind_says_so),
    };
    leave_out_what_cannot_race();
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
