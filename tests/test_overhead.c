/* SPDX-License-Identifier: MIT */
/* What the contract costs: the cheapest loop that anyone would measure, over the same column, called through the
 * driver's batches, phases and sink, and called directly. The dearer the strategy, the smaller the share. */
#include "test.h"

#include <math.h>
#include <time.h>

enum { ROWS = 4 << 20, SLOT_BITS = 12, ROUNDS = 15, ATTEMPTS = 6 };
static const double most_overhead = 0.02;

typedef struct tally {
    agb_host *host;
    uint64_t counts[1 << SLOT_BITS];    /* fits L1: nothing waits for memory, so that every instruction shows */
} tally;

static uint64_t keys[ROWS];

/* One piece of code for both sides: compiled apart, they could differ. The Makefile compiles this file with $(OPT). */
__attribute__((noinline)) static void count(uint64_t *counts, const uint64_t *from, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        counts[from[i] * UINT64_C(0x9e3779b97f4a7c15) >> (64 - SLOT_BITS)]++;
}

static agb_status tally_create(agb_host *host, const agb_config *config, void **out)
{
    (void)config;
    tally *self = *out = agb_alloc(host, sizeof *self, AGB_ZEROED);
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    return AGB_OK;
}

static agb_status tally_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    count(((tally *)state)->counts, batch->keys, batch->rows);
    return AGB_OK;
}

static agb_status tally_finish(void *state)
{
    tally *self = state;
    uint64_t slots[1 << SLOT_BITS];
    for (size_t i = 0; i < 1 << SLOT_BITS; i++)
        slots[i] = i;
    return agb_emit(self->host, 0, slots, self->counts, 1 << SLOT_BITS);
}

static void tally_destroy(void *state)
{
    agb_release(((tally *)state)->host, state, sizeof(tally));
}

static const char *const phases[] = {"count", NULL};
static const agb_aggregator through = {
    .abi = AGB_AGGREGATOR_ABI, .size = sizeof through, .name = "tally", .summary = "for tests", .phases = phases,
    .traits = AGB_TAKES_WORDS, .create = tally_create, .consume = tally_consume, .finish = tally_finish,
    .destroy = tally_destroy};

/* Of this thread alone: other work on the machine takes turns, not time. */
static double cpu_s(void)
{
    struct timespec t;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double direct_s(void)
{
    static uint64_t counts[1 << SLOT_BITS];
    double start = cpu_s();
    count(counts, keys, ROWS);
    return cpu_s() - start;
}

static double through_s(const agb_plan *plan, agb_sink *sink)
{
    double start = cpu_s();
    assert_ok(agb_count_groups(plan, sink, NULL, err));
    return cpu_s() - start;
}

static void the_contract_costs_less_than_2_percent(void **state)
{
    (void)state;
#if defined __SANITIZE_ADDRESS__ || defined __SANITIZE_THREAD__
    printf("skipped: the cost of the contract: a sanitizer's own is larger\n");
    skip();
#endif
    for (size_t i = 0; i < ROWS; i++)
        keys[i] = i * i;
    agb_table *table;
    agb_sink *sink;
    agb_memory *memory;
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "k", AGB_TYPE_UINT64, keys, ROWS, err));
    assert_ok(agb_sink_checksum(&sink, err));
    assert_ok(agb_memory_create(&memory, &(agb_memory_options){.mode = AGB_MEMORY_WARM}, err));
    agb_caches caches = agb_caches_of(0);    /* otherwise read from the system at the start of every run */
    agb_plan plan = {.table = table, .column = "k", .aggregator = &through, .memory = memory, .caches = &caches};
    double overhead = INFINITY;
    for (unsigned attempt = 0; attempt < ATTEMPTS && overhead >= most_overhead; attempt++) {
        double direct = INFINITY, driven = INFINITY;
        for (unsigned round = 0; round < ROUNDS; round++) {
            direct = fmin(direct, direct_s());
            driven = fmin(driven, through_s(&plan, sink));
        }
        overhead = driven / direct - 1;
        printf("%.3f ns a row directly, %.3f through the contract: %+.2f %%\n", direct / ROWS * 1e9,
               driven / ROWS * 1e9, overhead * 100);
    }
    assert_true(overhead < most_overhead);
    agb_sink_destroy(sink);
    agb_memory_destroy(memory);
    agb_table_destroy(table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_contract_costs_less_than_2_percent)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
