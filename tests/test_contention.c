/* SPDX-License-Identifier: MIT */
/* What only many rows and several workers at once can show: parallel strategies that lose a race. The conformance suite
 * proves the answers; here every answer is compared with that of one worker, over rows enough for the races to
 * happen. */
#include "test.h"

enum { ROWS = 400000, ROUNDS = 3 };

typedef struct fixture {
    agb_registry *registry;
    agb_pool *pool;
    agb_table *table;
    uint64_t *keys;
} fixture;

static uint64_t mixed(uint64_t x)    /* splitmix64 (Steele, Lea, Flood 2014) */
{
    x += UINT64_C(0x9e3779b97f4a7c15);
    x = (x ^ x >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    x = (x ^ x >> 27) * UINT64_C(0x94d049bb133111eb);
    return x ^ x >> 31;
}

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->keys = malloc(ROWS * sizeof *f->keys);
    assert_ok(agb_registry_create(&f->registry, err));
    assert_ok(agb_pool_create(&f->pool, 4, NULL, err));
    assert_ok(agb_table_create(&f->table, err));
    assert_ok(agb_table_lend(f->table, "key", AGB_TYPE_UINT64, f->keys, ROWS, err));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    agb_table_destroy(f->table);
    agb_pool_destroy(f->pool);
    agb_registry_destroy(f->registry);
    free(f->keys);
    free(f);
    return 0;
}

static agb_digest count(const fixture *f, const agb_aggregator *a, agb_pool *pool)
{
    agb_sink *sink;
    agb_plan plan = {.table = f->table, .column = "key", .aggregator = a, .pool = pool, .batch_rows = 1000};
    assert_ok(agb_sink_checksum(&sink, err));
    assert_ok(agb_count_groups(&plan, sink, NULL, err));
    agb_digest digest = agb_sink_digest(sink);
    agb_sink_destroy(sink);
    return digest;
}

static void workers_agree_with_one(const fixture *f)
{
    const agb_aggregator *a;
    for (size_t i = 0; (a = agb_registry_aggregator_at(f->registry, i)); i++) {
        if (!(a->traits & AGB_PARALLEL))
            continue;
        agb_digest alone = count(f, a, NULL);
        for (int round = 0; round < ROUNDS; round++) {
            agb_digest together = count(f, a, f->pool);
            if (memcmp(&alone, &together, sizeof alone) != 0)
                fail_msg("%s: %llu groups and %llu rows with four workers, %llu and %llu with one", a->name,
                         (unsigned long long)together.groups, (unsigned long long)together.rows,
                         (unsigned long long)alone.groups, (unsigned long long)alone.rows);
        }
    }
}

/* All workers find new keys all the time, and meet the same ones: 2.4 rows a key, 40,000 rows apart at most. */
static void new_keys_that_come_to_several_workers_at_once(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < ROWS; i++)
        f->keys[i] = mixed(i / 40000 * 16000 + mixed(i) % 17000);
    workers_agree_with_one(f);
}

static void one_hot_key_among_many(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < ROWS; i++)
        f->keys[i] = mixed(i) % 2 ? 42 : mixed(i) % 300000;
    workers_agree_with_one(f);
}

static void two_keys_only(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < ROWS; i++)
        f->keys[i] = mixed(i) % 2;
    workers_agree_with_one(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_keys_that_come_to_several_workers_at_once),
        cmocka_unit_test(one_hot_key_among_many),
        cmocka_unit_test(two_keys_only),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
