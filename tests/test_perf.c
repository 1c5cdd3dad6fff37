/* SPDX-License-Identifier: MIT */
/* The real kernel: software events stand in for those of the hardware, in groups, per thread and per phase. */
#include "test.h"

#include "perf.h"

#include <linux/perf_event.h>
#include <sys/mman.h>

enum { PAGES_IN_PHASE_1 = 300, PAGE = 4096, THREADS = 3 };

static void no_metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    (void)pass;
    (void)values;
    (void)out;
}

static const agb_pass software_passes[] = {
    {.name = "software", .events = {{"TASK_CLOCK", PERF_COUNT_SW_TASK_CLOCK, 0, NULL},
                                    {"FAULTS", PERF_COUNT_SW_PAGE_FAULTS, 0, NULL}}},
    {.name = NULL},
};
static const agb_slots software = {.name = "software", .uarch = "none", .passes = software_passes,
                                   .metrics = no_metrics, .pmu = "software"};

static void arm_worker(void *counters, unsigned worker, size_t task)
{
    (void)task;
    agb_counters_arm(counters, worker, 0);
}

static void touch_pages(void *counters, unsigned worker, size_t task)
{
    (void)task;
    const agb_observer *observer = agb_counters_observer(counters);
    observer->enter(observer->context, worker);
    observer->phase(observer->context, worker, 1);
    volatile char *memory = mmap(NULL, PAGES_IN_PHASE_1 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
                                 -1, 0);
    madvise((void *)memory, PAGES_IN_PHASE_1 * PAGE, MADV_NOHUGEPAGE);
    for (size_t page = 0; page < PAGES_IN_PHASE_1; page++)
        memory[page * PAGE] = 1;
    observer->phase(observer->context, worker, 0);
    observer->leave(observer->context, worker);
    munmap((void *)memory, PAGES_IN_PHASE_1 * PAGE);
}

/* false, and a skip that says so, where a container forbids even software events. */
static bool software_events_are_allowed(void)
{
    int handle = agb_perf_kernel.open(NULL, PERF_TYPE_SOFTWARE, PERF_COUNT_SW_TASK_CLOCK, 0, -1);
    if (handle < 0)
        printf("skipped: software events: %s\n", strerror(-handle));
    else
        agb_perf_kernel.close(NULL, handle);
    return handle >= 0;
}

static agb_counters *create_on_every_worker(agb_pool *pool)
{
    agb_counter_support support = {.available = true, .family = &software, .passes = 1};
    agb_counters *counters;
    assert_ok(agb_counters_create(&counters, &support, THREADS, err));
    assert_int_equal(agb_pool_each(pool, arm_worker, counters), AGB_OK);
    return counters;
}

static void real_kernel_counts_each_thread_and_each_phase(void **state)
{
    (void)state;
    agb_pool *pool;
    agb_repetition_counts counts;
    if (!software_events_are_allowed())
        skip();
    assert_ok(agb_pool_create(&pool, THREADS, NULL, err));
    agb_counters *counters = create_on_every_worker(pool);
    assert_int_equal(agb_pool_each(pool, touch_pages, counters), AGB_OK);
    agb_counters_collect(counters, &counts);
    agb_counters_destroy(counters);
    agb_pool_destroy(pool);
    assert_string_equal(counts.reason, "");
    assert_true(counts.total.enabled_ns > 0 && counts.total.enabled_ns == counts.total.running_ns);
    assert_true(counts.phase[1].value[1] >= THREADS * PAGES_IN_PHASE_1);    /* a sanitizer's own pages come on top */
    assert_true(counts.phase[0].value[1] < THREADS * 50);
    assert_int_equal(counts.total.value[1], counts.phase[0].value[1] + counts.phase[1].value[1]);
}

/* Every built-in aggregator over the same rows: what is counted is charged to the phases that it names, and the counted
 * time is not longer than all workers had. */
static void engine_runs_are_counted_by_phase(void **state)
{
    (void)state;
    enum { ROWS = 400000 };
    agb_registry *registry;
    agb_table *table;
    agb_sink *sink;
    agb_pool *pool;
    if (!software_events_are_allowed())
        skip();
    uint64_t *keys = malloc(ROWS * sizeof *keys);
    assert_non_null(keys);
    for (size_t i = 0; i < ROWS; i++)
        keys[i] = i * 2654435761u % 50021;
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "key", AGB_TYPE_UINT64, keys, ROWS, err));
    assert_ok(agb_sink_checksum(&sink, err));
    assert_ok(agb_pool_create(&pool, THREADS, NULL, err));
    for (size_t i = 0; agb_registry_aggregator_at(registry, i); i++) {
        agb_counters *counters = create_on_every_worker(pool);
        agb_repetition_counts counts;
        agb_stats stats;
        agb_plan plan = {.table = table, .column = "key", .aggregator = agb_registry_aggregator_at(registry, i),
                         .pool = pool, .observer = agb_counters_observer(counters)};
        assert_ok(agb_count_groups(&plan, sink, &stats, err));
        agb_counters_collect(counters, &counts);
        agb_counters_destroy(counters);
        assert_string_equal(counts.reason, "");
        uint64_t phases_ns = 0;
        for (size_t phase = 0; phase < AGB_MOST_PHASES; phase++) {
            assert_true(phase < stats.phases || counts.phase[phase].value[0] == 0);
            phases_ns += counts.phase[phase].value[0];
        }
        assert_int_equal(phases_ns, counts.total.value[0]);
        assert_in_range(counts.total.value[0], 1, THREADS * stats.wall_ns + 50000000);
    }
    agb_pool_destroy(pool);
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    free(keys);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(real_kernel_counts_each_thread_and_each_phase),
        cmocka_unit_test(engine_runs_are_counted_by_phase),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
