/* SPDX-License-Identifier: MIT */
/* The aggregators' memory: alignment, exact accounting, budget, reuse, failure at the Nth call, guards. */
#include "internal.h"
#include "test.h"

#include <sys/resource.h>

static agb_memory *memory_with(agb_memory_options options)
{
    agb_memory *memory;
    assert_ok(agb_memory_create(&memory, &options, err));
    return memory;
}

static void *take(agb_memory *memory, size_t bytes, unsigned flags)
{
    void *block = agb_memory_alloc(memory, AGB_OWNER_AGGREGATOR, bytes, flags);
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % AGB_ALIGNMENT, 0);
    memset(block, 0xff, bytes);
    return block;
}

static void give(agb_memory *memory, void *block, size_t bytes)
{
    agb_memory_release(memory, AGB_OWNER_AGGREGATOR, block, bytes);
}

static void blocks_of_all_sizes_are_aligned_and_apart(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 63, 64, 65, 80, 127, 128, 129, 1000, 4096, 5000, 65536, 1 << 20, (1 << 20) + 1,
                                   3 << 20};
    enum { N = sizeof sizes / sizeof *sizes };
    agb_memory *memory = memory_with((agb_memory_options){0});
    unsigned char *block[N];
    for (size_t i = 0; i < N; i++) {
        block[i] = take(memory, sizes[i], 0);
        memset(block[i], (int)i, sizes[i]);
    }
    for (size_t i = 0; i < N; i++)
        for (size_t j = 0; j < sizes[i]; j += sizes[i] > 1000 ? 97 : 1)
            assert_int_equal(block[i][j], i);
    for (size_t i = 0; i < N; i++)
        give(memory, block[i], sizes[i]);
    assert_int_equal(agb_memory_usage_of(memory).live, 0);
    agb_memory_destroy(memory);
}

static void zeroed_means_zeroed_even_when_reused(void **state)
{
    (void)state;
    agb_memory *memory = memory_with((agb_memory_options){0});
    for (size_t bytes = 100; bytes < (8 << 20); bytes *= 9) {
        give(memory, take(memory, bytes, 0), bytes);
        unsigned char *again = agb_memory_alloc(memory, AGB_OWNER_AGGREGATOR, bytes, AGB_ZEROED);
        for (size_t i = 0; i < bytes; i++)
            assert_int_equal(again[i], 0);
        give(memory, again, bytes);
    }
    agb_memory_destroy(memory);
}

static void live_and_peak_are_exact(void **state)
{
    (void)state;
    agb_memory *memory = memory_with((agb_memory_options){0});
    void *a = take(memory, 1000, 0), *b = take(memory, 5000000, 0);
    assert_int_equal(agb_memory_usage_of(memory).live, 5001000);
    give(memory, b, 5000000);
    void *c = take(memory, 24, 0);
    assert_int_equal(agb_memory_usage_of(memory).live, 1024);
    assert_int_equal(agb_memory_usage_of(memory).peak, 5001000);
    assert_int_equal(agb_memory_usage_of(memory).allocations, 3);
    agb_memory_reset(memory);
    assert_int_equal(agb_memory_usage_of(memory).peak, 1024);
    give(memory, a, 1000);
    give(memory, c, 24);
    agb_memory_destroy(memory);
}

static void budget_is_charged_for_aggregators_not_for_results(void **state)
{
    (void)state;
    agb_memory *memory = memory_with((agb_memory_options){.budget = 1 << 20});
    void *result = agb_memory_alloc(memory, AGB_OWNER_RESULT, 10 << 20, 0);
    assert_non_null(result);
    void *a = take(memory, 1 << 20, 0);
    assert_null(agb_memory_alloc(memory, AGB_OWNER_AGGREGATOR, 1, 0));
    agb_error err;
    assert_int_equal(agb_memory_refusal(memory, "x", "", &err), AGB_ERR_BUDGET);
    assert_string_equal(err.text, "x: memory budget exceeded: asked for 1 bytes more while holding 1.0 MiB, the "
                                  "budget is 1.0 MiB: raise the budget or take fewer rows");
    give(memory, a, 1 << 20);
    agb_memory_release(memory, AGB_OWNER_RESULT, result, 10 << 20);
    agb_memory_destroy(memory);
}

static void warm_memory_is_reused_and_fresh_memory_is_not_kept(void **state)
{
    (void)state;
    agb_memory *warm = memory_with((agb_memory_options){.mode = AGB_MEMORY_WARM});
    void *first = take(warm, 32 << 20, 0);
    give(warm, first, 32 << 20);
    assert_ptr_equal(take(warm, 32 << 20, 0), first);
    assert_int_equal(agb_memory_usage_of(warm).mapped, 32 << 20);
    agb_memory_destroy(warm);

    agb_memory *fresh = memory_with((agb_memory_options){.mode = AGB_MEMORY_FRESH});
    give(fresh, take(fresh, 32 << 20, 0), 32 << 20);
    give(fresh, take(fresh, 100, 0), 100);
    assert_int_equal(agb_memory_usage_of(fresh).mapped, 0);
    agb_memory_destroy(fresh);
}

static long page_faults(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
}

static void what_an_owner_left_untouched_is_faulted_in_for_the_next(void **state)
{
    (void)state;
    enum { BYTES = 8 << 20, FEW = 100 };
    agb_memory *warm = memory_with((agb_memory_options){.mode = AGB_MEMORY_WARM, .pages = AGB_PAGES_4K});
    char *result = agb_memory_alloc(warm, AGB_OWNER_RESULT, BYTES, 0);
    assert_non_null(result);
    memset(result, 7, BYTES / 2);
    void *block = agb_memory_alloc(warm, AGB_OWNER_AGGREGATOR, BYTES, 0);
    give(warm, block, BYTES);
    agb_memory_fault_in(warm);
    long before = page_faults();
    assert_ptr_equal(take(warm, BYTES, 0), block);
    memset(result + BYTES / 2, 7, BYTES / 2);
    assert_true(page_faults() - before < FEW);
    assert_memory_equal(result, result + BYTES / 2, BYTES / 2);
    agb_memory_destroy(warm);
}

static void impossible_sizes_are_refused(void **state)
{
    (void)state;
    agb_memory *memory = memory_with((agb_memory_options){0});
    static const size_t sizes[] = {SIZE_MAX, SIZE_MAX - 63, SIZE_MAX / 2, (size_t)1 << 60};
    for (size_t i = 0; i < 4; i++)
        assert_null(agb_memory_alloc(memory, AGB_OWNER_AGGREGATOR, sizes[i], 0));
    assert_int_equal(agb_memory_usage_of(memory).live, 0);
    agb_memory_destroy(memory);
}

static void the_nth_allocation_fails_once(void **state)
{
    (void)state;
    agb_memory *memory = memory_with((agb_memory_options){.fail_at = 2});
    void *a = take(memory, 10, 0);
    assert_null(agb_memory_alloc(memory, AGB_OWNER_AGGREGATOR, 10, 0));
    void *b = take(memory, 10, 0);
    give(memory, a, 10);
    give(memory, b, 10);
    agb_memory_destroy(memory);
}

static void guarded_memory_notices_writes_past_the_end(void **state)
{
    (void)state;
    agb_memory *memory = memory_with((agb_memory_options){.guarded = true});
    unsigned char *a = take(memory, 100, 0);
    give(memory, a, 100);
    assert_int_equal(agb_memory_usage_of(memory).misuses, 0);
    a = take(memory, 100, 0);
    a[100] = 1;
    give(memory, a, 100);
    assert_int_equal(agb_memory_usage_of(memory).misuses, 1);
    a = take(memory, 100, 0);
    give(memory, a, 99);
    assert_int_equal(agb_memory_usage_of(memory).misuses, 2);
    agb_memory_destroy(memory);
}

static void what_the_machine_cannot_hold_is_refused(void **state)
{
    (void)state;
    agb_memory *memory = memory_with((agb_memory_options){0});
    uint64_t system = agb_system_memory();
    assert_true(agb_system_memory_available() > 0);
    assert_true(agb_system_memory_available() <= system);
    void *block = take(memory, 3 << 20, 0);
    assert_null(agb_memory_alloc(memory, AGB_OWNER_AGGREGATOR, system, AGB_ZEROED));
    assert_null(agb_memory_alloc(memory, AGB_OWNER_RESULT, 4 * system, 0));
    assert_fails(AGB_ERR_MEMORY, "x: out of memory: |more were refused while 3.0 MiB were held|are available",
                 agb_memory_refusal(memory, "x", "", err));
    assert_int_equal(agb_memory_usage_of(memory).live, 3 << 20);
    give(memory, block, 3 << 20);
    assert_int_equal(agb_memory_usage_of(memory).live, 0);
    agb_memory_destroy(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blocks_of_all_sizes_are_aligned_and_apart),
        cmocka_unit_test(zeroed_means_zeroed_even_when_reused),
        cmocka_unit_test(live_and_peak_are_exact),
        cmocka_unit_test(budget_is_charged_for_aggregators_not_for_results),
        cmocka_unit_test(warm_memory_is_reused_and_fresh_memory_is_not_kept),
        cmocka_unit_test(what_an_owner_left_untouched_is_faulted_in_for_the_next),
        cmocka_unit_test(impossible_sizes_are_refused),
        cmocka_unit_test(the_nth_allocation_fails_once),
        cmocka_unit_test(guarded_memory_notices_writes_past_the_end),
        cmocka_unit_test(what_the_machine_cannot_hold_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
