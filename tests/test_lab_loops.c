/* SPDX-License-Identifier: MIT */
/* The loops of the labs do what they count, and the steps of a curve are found where they are. */
#include "chain.h"
#include "kernels.h"
#include "known_loops.h"
#include "lab_steps.h"
#include "test.h"

#include <math.h>
#include <time.h>

static double thread_cpu_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* ---- Chains and streams ------------------------------------------------------------------------------------------ */

static void a_chain_visits_every_node_before_it_comes_back(void **state)
{
    (void)state;
    enum { NODES = 1000 };
    uint32_t order[NODES];
    agb_room room;
    agb_chain chain;
    assert_ok(agb_room_map(&room, NODES * AGB_CHAIN_NODE, AGB_PAGES_DEFAULT, "test", err));
    for (int random = 0; random <= 1; random++) {
        bool seen[NODES] = {false};
        agb_chain_draw(order, NODES, 7);
        agb_chain_link(&chain, &room, NODES * AGB_CHAIN_NODE, random ? order : NULL);
        assert_int_equal(chain.nodes, NODES);
        for (size_t hop = 0; hop < NODES; hop++) {
            size_t at = (size_t)((char *)chain.start[0] - room.at) / AGB_CHAIN_NODE;
            assert_false(seen[at]);
            seen[at] = true;
            agb_chain_follow(&chain, 1, 1);
        }
        assert_ptr_equal(chain.start[0], room.at);
    }
    agb_room_unmap(&room);
}

static void several_chains_go_on_where_they_stood(void **state)
{
    (void)state;
    enum { NODES = 160 };
    agb_room room;
    agb_chain together, single;
    assert_ok(agb_room_map(&room, NODES * AGB_CHAIN_NODE, AGB_PAGES_DEFAULT, "test", err));
    for (unsigned chains = 1; chains <= AGB_CHAIN_MOST; chains++) {
        if (!agb_chain_is_count(chains))
            continue;
        agb_chain_link(&together, &room, NODES * AGB_CHAIN_NODE, NULL);
        agb_chain_follow(&together, chains, 5);
        agb_chain_follow(&together, chains, 2);
        for (unsigned i = 0; i < chains; i++) {
            agb_chain_link(&single, &room, NODES * AGB_CHAIN_NODE, NULL);
            single.start[0] = single.start[i];
            agb_chain_follow(&single, 1, 7);
            assert_ptr_equal(together.start[i], single.start[0]);
        }
    }
    agb_room_unmap(&room);
}

static void streams_keep_the_value_and_notice_what_is_wrong(void **state)
{
    (void)state;
    size_t bytes = 4 * AGB_KERNEL_UNIT;
    double *slice = aligned_alloc(64, bytes);
    for (size_t i = 0; i < bytes / sizeof *slice; i++)
        slice[i] = 5;
    assert_int_equal(agb_kernel_pass(AGB_KERNEL_WRITE, slice, bytes, 1), 0);
    for (int kernel = 0; kernel < AGB_KERNELS; kernel++) {
        assert_int_equal(agb_kernel_pass((agb_kernel)kernel, slice, bytes, 1), 0);
        assert_int_equal(agb_kernel_pass(AGB_KERNEL_READ, slice, bytes, 1), 0);
        for (size_t i = 0; i < bytes / sizeof *slice; i++)
            assert_true(slice[i] == 1);
    }
    for (size_t i = 0; i < bytes / sizeof *slice; i += 37) {    /* each word is read */
        slice[i] = 2;
        assert_int_not_equal(agb_kernel_pass(AGB_KERNEL_READ, slice, bytes, 1), 0);
        slice[i] = 1;
    }
    free(slice);
}

static void copies_and_triads_write_what_they_count(void **state)
{
    (void)state;
    size_t bytes = 2 * AGB_KERNEL_UNIT, doubles = bytes / sizeof(double);
    double *slice = aligned_alloc(64, bytes);
    static const struct {
        agb_kernel kernel;
        size_t from, end;        /* sixths of the slice that are written */
    } written[] = {
        {AGB_KERNEL_WRITE, 0, 6}, {AGB_KERNEL_PAST, 0, 6}, {AGB_KERNEL_COPY, 3, 6}, {AGB_KERNEL_TRIAD, 0, 2}};
    for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
        for (size_t at = 0; at < doubles; at++)
            slice[at] = at >= written[i].from * doubles / 6 && at < written[i].end * doubles / 6 ? 5 : 1;
        agb_kernel_pass(written[i].kernel, slice, bytes, 1);
        for (size_t at = 0; at < doubles; at++)
            assert_true(slice[at] == 1);
    }
    free(slice);
}

static void hidden_reads_are_one_and_a_half_times_a_copy(void **state)
{
    (void)state;
    assert_true(agb_kernel_hidden_bytes(AGB_KERNEL_READ, 12) == 0);
    assert_true(agb_kernel_hidden_bytes(AGB_KERNEL_WRITE, 12) == 12);
    assert_true(agb_kernel_hidden_bytes(AGB_KERNEL_PAST, 12) == 0);
    assert_true(agb_kernel_hidden_bytes(AGB_KERNEL_COPY, 12) == 6);
    assert_true(agb_kernel_hidden_bytes(AGB_KERNEL_TRIAD, 12) == 4);
}

/* Processor time, least of several, in turns: the machine may be busy, or slower for a while. */
static void twice_the_passes_take_twice_the_time(void **state)
{
    (void)state;
    size_t bytes = 10 * AGB_KERNEL_UNIT;    /* in the first cache, where nobody else takes anything away */
    void *slice = aligned_alloc(64, bytes);
    double least[2] = {INFINITY, INFINITY};
    agb_kernel_pass(AGB_KERNEL_WRITE, slice, bytes, 1);
    for (int attempt = 0; attempt < 15; attempt++)
        for (int i = 0; i < 2; i++) {
            double start = thread_cpu_s();
            for (unsigned pass = 0; pass < 4000u << i; pass++)
                agb_kernel_pass(AGB_KERNEL_READ, slice, bytes, 1);
            least[i] = fmin(least[i], thread_cpu_s() - start);
        }
    assert_true(least[1] > 1.5 * least[0] && least[1] < 2.7 * least[0]);
    free(slice);
}

static void twice_the_hops_and_turns_take_twice_the_time(void **state)
{
    (void)state;
    double least[2] = {INFINITY, INFINITY};
    for (int attempt = 0; attempt < 15; attempt++)
        for (int i = 0; i < 2; i++) {
            double start = thread_cpu_s();
            agb_loop_compute(1000000u << i);
            least[i] = fmin(least[i], thread_cpu_s() - start);
        }
    assert_true(least[1] > 1.5 * least[0] && least[1] < 2.7 * least[0]);
    assert_true(agb_loop_mixed_instructions(10, 0) == 30);
    assert_true(agb_loop_mixed_instructions(10, 100) > 10 * 1003);
}

/* ---- Steps ------------------------------------------------------------------------------------------------------- */

static size_t steps_of(const double *y, size_t n, agb_lab_step *steps, size_t noisy)
{
    agb_lab_point points[32];
    for (size_t i = 0; i < n; i++)
        points[i] = (agb_lab_point){(double)(1 << i), y[i], y[i] * 0.98, y[i] * 1.02, i == noisy};
    agb_lab_series series = {.points = points, .n = n};
    return agb_lab_find_steps(&series, steps, 4);
}

static void steps_are_found_where_levels_end(void **state)
{
    (void)state;
    static const double caches[] = {1, 1, 1, 4, 4, 4.1, 4, 10, 20, 36, 36, 37, 120, 130, 131};
    agb_lab_step steps[4];
    assert_int_equal(steps_of(caches, 15, steps, 99), 3);
    assert_true(steps[0].from_x == 1 << 2 && steps[0].to_x == 1 << 3);
    assert_true(steps[1].from_x == 1 << 6 && steps[1].to_x == 1 << 9);
    assert_true(steps[2].from_x == 1 << 11 && steps[2].to_x == 1 << 12);
}

static void a_flat_or_slowly_rising_curve_has_no_steps_and_noise_is_none(void **state)
{
    (void)state;
    static const double flat[] = {5, 5.1, 4.9, 5, 5.2, 5, 5.1, 5}, slow[] = {5, 5.4, 5.8, 6.2, 6.7, 7.2, 7.7, 8.3};
    static const double spike[] = {5, 5, 5, 50, 5, 5, 5, 5};
    agb_lab_step steps[4];
    assert_int_equal(steps_of(flat, 8, steps, 99), 0);
    assert_int_equal(steps_of(slow, 8, steps, 99), 0);
    assert_int_equal(steps_of(spike, 8, steps, 3), 0);
    agb_lab_series empty = {0};
    assert_int_equal(agb_lab_find_steps(&empty, steps, 4), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_chain_visits_every_node_before_it_comes_back),
        cmocka_unit_test(several_chains_go_on_where_they_stood),
        cmocka_unit_test(streams_keep_the_value_and_notice_what_is_wrong),
        cmocka_unit_test(copies_and_triads_write_what_they_count),
        cmocka_unit_test(hidden_reads_are_one_and_a_half_times_a_copy),
        cmocka_unit_test(twice_the_passes_take_twice_the_time),
        cmocka_unit_test(twice_the_hops_and_turns_take_twice_the_time),
        cmocka_unit_test(steps_are_found_where_levels_end),
        cmocka_unit_test(a_flat_or_slowly_rising_curve_has_no_steps_and_noise_is_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
