/* SPDX-License-Identifier: MIT */
/* Work by the clock: the part of the time that was asked for, and no more. */
#include "test.h"

#include "duty.h"

#include <time.h>

static double own_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static double processor_s(agb_duty_bench *bench, agb_duty_work work, double part, double seconds)
{
    agb_duty_begin(bench, 0);
    double before_s = own_s();
    agb_duty_do(bench, work, part, seconds);
    return own_s() - before_s;
}

static agb_duty_bench *new_bench(void)
{
    agb_duty_bench *bench = aligned_alloc(128, sizeof *bench);
    assert_non_null(bench);
    memset(bench, 0, sizeof *bench);
    return bench;
}

/* Where others take the processor it gets less, never more. */
static void part_of_the_time_is_kept(void **state)
{
    (void)state;
    agb_duty_bench *bench = new_bench();
    double third_s = processor_s(bench, AGB_DUTY_MIX, 0.3, 0.4);
    assert_true(bench->units > 0);
    assert_true(third_s < 0.5 * 0.4);
    assert_true(bench->busy_s < 0.5 * 0.4 + 0.1);
    uint64_t third = bench->units;
    double whole_s = processor_s(bench, AGB_DUTY_MIX, 1, 0.4);
    double third_rate = (double)third / third_s, whole_rate = (double)bench->units / whole_s;
    /* A second of processor time is the same work. */
    assert_true(third_rate > whole_rate / 3 && third_rate < whole_rate * 3);
    free(bench);
}

static void every_kind_of_work_is_done(void **state)
{
    (void)state;
    agb_duty_bench *bench = new_bench();
    agb_room room;
    agb_chain chain;
    enum { BYTES = 1 << 20 };
    uint32_t *order = malloc(BYTES / AGB_CHAIN_NODE * sizeof *order);
    assert_non_null(order);
    assert_ok(agb_room_map(&room, BYTES, AGB_PAGES_4K, "test", err));
    agb_chain_draw(order, BYTES / AGB_CHAIN_NODE, 1);
    agb_chain_link(&chain, &room, BYTES, order);
    bench->chain = &chain;
    for (agb_duty_work work = 0; work < AGB_DUTY_WORKS; work++) {
        assert_true(processor_s(bench, work, 1, 0.02) > 0);
        assert_true(bench->units > 0);
        assert_true(agb_duty_name(work)[0] != '\0');
    }
    agb_room_unmap(&room);
    free(order);
    free(bench);
}

static void clock_of_a_chain_of_additions_is_plausible(void **state)
{
    (void)state;
    agb_duty_bench *bench = new_bench();
    processor_s(bench, AGB_DUTY_SPIN, 1, 0.05);
    assert_true(bench->ghz > 0.01 && bench->ghz < 10);
    free(bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(part_of_the_time_is_kept),
        cmocka_unit_test(every_kind_of_work_is_done),
        cmocka_unit_test(clock_of_a_chain_of_additions_is_plausible),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
