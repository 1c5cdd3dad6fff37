/* SPDX-License-Identifier: MIT */
/* Sinks: the digest is order-free and notices what matters, ties of the top list are broken by key, loans are kept. */
#include "internal.h"
#include "test.h"

#include <xxhash.h>

typedef struct fixture {
    agb_memory *memory;
    agb_table *table;
    agb_key_layout *signed_words;
    agb_sink *collect, *checksum, *top;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    static const int64_t value = 0;
    assert_ok(agb_memory_create(&f->memory, NULL, err));
    assert_ok(agb_table_create(&f->table, err));
    assert_ok(agb_table_lend(f->table, "key", AGB_TYPE_INT64, &value, 1, err));
    assert_ok(agb_key_layout_create(&f->signed_words, f->table, "key", err));
    assert_ok(agb_sink_collect(&f->collect, err));
    assert_ok(agb_sink_checksum(&f->checksum, err));
    assert_ok(agb_sink_top(&f->top, 3, f->signed_words, err));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    agb_sink_destroy(f->collect);
    agb_sink_destroy(f->checksum);
    agb_sink_destroy(f->top);
    agb_memory_destroy(f->memory);
    agb_key_layout_destroy(f->signed_words);
    agb_table_destroy(f->table);
    free(f);
    return 0;
}

static agb_digest digest_of(fixture *f, agb_sink *sink, const agb_group *groups, size_t n)
{
    uint64_t *keys, *counts;
    assert_ok(agb_sink_open(sink, AGB_KEYS_WORD, f->memory, false, 2, err));
    for (size_t i = 0; i < n; i++) {
        unsigned worker = i % 2;
        assert_int_equal(agb_sink_lend(sink, worker, 3, &keys, &counts), AGB_OK);
        *keys = groups[i].key.word;
        *counts = groups[i].count;
        assert_int_equal(agb_sink_take(sink, worker, 1), AGB_OK);
    }
    return agb_sink_digest(sink);
}

static const agb_group sample[] = {{{5}, 2}, {{UINT64_MAX}, 7}, {{0}, UINT64_C(6000000000)}, {{9}, 2}};

static void the_checksum_is_the_documented_formula(void **state)
{
    fixture *f = *state;
    uint64_t wanted = 0;
    for (size_t i = 0; i < 4; i++)
        wanted += XXH3_64bits(&sample[i].key, 8) * sample[i].count;
    agb_digest digest = digest_of(f, f->collect, sample, 4);
    assert_true(digest.checksum == wanted);
    assert_true(digest.groups == 4 && digest.rows == UINT64_C(6000000011) && digest.max_count == UINT64_C(6000000000));
}

static void all_sinks_agree_and_order_does_not_matter(void **state)
{
    fixture *f = *state;
    const agb_group shuffled[] = {sample[2], sample[0], sample[3], sample[1]};
    agb_digest a = digest_of(f, f->collect, sample, 4), b = digest_of(f, f->checksum, shuffled, 4),
               c = digest_of(f, f->top, shuffled, 4);
    assert_memory_equal(&a, &b, sizeof a);
    assert_memory_equal(&a, &c, sizeof a);
}

static void wrong_answers_have_another_digest(void **state)
{
    fixture *f = *state;
    const agb_group swapped[] = {{{5}, 7}, {{UINT64_MAX}, 2}, {{0}, UINT64_C(6000000000)}, {{9}, 2}};
    const agb_group split[] = {{{5}, 1}, {{5}, 1}, {{UINT64_MAX}, 7}, {{0}, UINT64_C(6000000000)}, {{9}, 2}};
    agb_digest right = digest_of(f, f->checksum, sample, 4);
    assert_true(digest_of(f, f->checksum, swapped, 4).checksum != right.checksum);
    assert_true(digest_of(f, f->checksum, sample, 3).groups != right.groups);
    assert_true(digest_of(f, f->checksum, split, 5).groups != right.groups);
}

static void ties_are_broken_by_key_as_signed_or_unsigned(void **state)
{
    fixture *f = *state;
    const agb_group tied[] = {{{3}, 4}, {{UINT64_MAX}, 4}, {{1}, 4}, {{2}, 9}};
    agb_group top[4];
    digest_of(f, f->collect, tied, 4);
    assert_int_equal(agb_sink_top_groups(f->collect, top, 4, f->signed_words), 4);
    assert_true(top[0].key.word == 2 && top[1].key.word == UINT64_MAX && top[2].key.word == 1 && top[3].key.word == 3);
    assert_int_equal(agb_sink_top_groups(f->collect, top, 4, NULL), 4);
    assert_true(top[0].key.word == 2 && top[1].key.word == 1 && top[2].key.word == 3 && top[3].key.word == UINT64_MAX);
    digest_of(f, f->top, tied, 4);
    assert_int_equal(agb_sink_top_groups(f->top, top, 4, f->signed_words), 3);
    assert_true(top[0].key.word == 2 && top[1].key.word == UINT64_MAX && top[2].key.word == 1);
}

static void top_of_many_is_the_true_top(void **state)
{
    fixture *f = *state;
    enum { MANY = 4000 };
    agb_group *groups = calloc(MANY, sizeof *groups), top[5];
    for (size_t i = 0; i < MANY; i++)
        groups[i] = (agb_group){{i}, i * 7919 % MANY + 1};
    digest_of(f, f->collect, groups, MANY);
    assert_int_equal(agb_sink_top_groups(f->collect, top, 5, NULL), 5);
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(top[i].count, MANY - i);
    assert_int_equal(agb_sink_top_groups(f->collect, top, 0, NULL), 0);
    free(groups);
}

static void a_sink_can_be_used_again(void **state)
{
    fixture *f = *state;
    digest_of(f, f->collect, sample, 4);
    agb_digest second = digest_of(f, f->collect, sample, 1);
    assert_int_equal(second.groups, 1);
    assert_int_equal(second.rows, 2);
}

static void taking_more_than_was_lent_is_refused(void **state)
{
    fixture *f = *state;
    uint64_t *keys, *counts;
    assert_ok(agb_sink_open(f->collect, AGB_KEYS_WORD, f->memory, false, 1, err));
    assert_int_equal(agb_sink_take(f->collect, 0, 1), AGB_ERR_CONTRACT);
    assert_int_equal(agb_sink_take(f->collect, 0, 0), AGB_OK);    /* nothing was lent, nothing is taken */
    assert_int_equal(agb_sink_lend(f->collect, 0, SIZE_MAX / 8, &keys, &counts), AGB_ERR_MEMORY);
    assert_int_equal(agb_sink_lend(f->collect, 0, 300000, &keys, &counts), AGB_OK);
    memset(keys, 0, 300000 * sizeof *keys);
    memset(counts, 0, 300000 * sizeof *counts);
    assert_int_equal(agb_sink_take(f->collect, 0, 300001), AGB_ERR_CONTRACT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_checksum_is_the_documented_formula),
        cmocka_unit_test(all_sinks_agree_and_order_does_not_matter),
        cmocka_unit_test(wrong_answers_have_another_digest),
        cmocka_unit_test(ties_are_broken_by_key_as_signed_or_unsigned),
        cmocka_unit_test(top_of_many_is_the_true_top),
        cmocka_unit_test(a_sink_can_be_used_again),
        cmocka_unit_test(taking_more_than_was_lent_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
