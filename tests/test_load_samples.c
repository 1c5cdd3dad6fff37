/* SPDX-License-Identifier: MIT */
/* What sampled loads say, from words as the kernel writes them; and why there are none here. */
#include "fake_root.h"

#include "load_samples.h"

#include <linux/perf_event.h>

static uint64_t load(unsigned number, bool remote)
{
    return PERF_MEM_S(OP, LOAD) | (uint64_t)number << PERF_MEM_LVLNUM_SHIFT |
           (remote ? PERF_MEM_S(REMOTE, REMOTE) : 0);
}

static agb_load_samples one(uint64_t data_source)
{
    agb_load_samples samples = {0};
    agb_load_samples_add(&samples, data_source, 0);
    return samples;
}

static void level_is_read_from_the_newer_number_and_else_from_the_older_bits(void **state)
{
    (void)state;
    assert_int_equal(one(load(PERF_MEM_LVLNUM_L1, false)).by_level[AGB_LOAD_L1], 1);
    assert_int_equal(one(load(PERF_MEM_LVLNUM_L2, false)).by_level[AGB_LOAD_L2], 1);
    assert_int_equal(one(load(PERF_MEM_LVLNUM_L3, false)).by_level[AGB_LOAD_L3], 1);
    assert_int_equal(one(load(PERF_MEM_LVLNUM_LFB, false)).by_level[AGB_LOAD_BUFFER], 1);
    assert_int_equal(one(load(PERF_MEM_LVLNUM_RAM, false)).by_level[AGB_LOAD_DRAM], 1);
    assert_int_equal(one(load(PERF_MEM_LVLNUM_RAM, true)).by_level[AGB_LOAD_REMOTE], 1);
    assert_int_equal(one(load(PERF_MEM_LVLNUM_ANY_CACHE, true)).by_level[AGB_LOAD_REMOTE], 1);
    assert_int_equal(one(load(PERF_MEM_LVLNUM_ANY_CACHE, true) | PERF_MEM_S(HOPS, 0)).by_level[AGB_LOAD_L3], 1);
    assert_int_equal(one(load(PERF_MEM_LVLNUM_PMEM, false)).by_level[AGB_LOAD_OTHER], 1);
    uint64_t old = load(PERF_MEM_LVLNUM_NA, false) | PERF_MEM_S(LVL, HIT);
    assert_int_equal(one(old | PERF_MEM_S(LVL, L1)).by_level[AGB_LOAD_L1], 1);
    assert_int_equal(one(old | PERF_MEM_S(LVL, LOC_RAM)).by_level[AGB_LOAD_DRAM], 1);
    assert_int_equal(one(old | PERF_MEM_S(LVL, REM_CCE1)).by_level[AGB_LOAD_REMOTE], 1);
    uint64_t missed = PERF_MEM_S(OP, LOAD) | PERF_MEM_S(LVL, MISS) | PERF_MEM_S(LVL, L3);
    assert_int_equal(one(missed).by_level[AGB_LOAD_OTHER], 1);
}

static void stores_and_other_operations_are_left_out(void **state)
{
    (void)state;
    assert_int_equal(one(PERF_MEM_S(OP, STORE) | PERF_MEM_S(LVL, L1)).loads, 0);
    assert_int_equal(one(PERF_MEM_S(OP, NA)).loads, 0);
}

static void lines_of_other_cores_and_page_walks_are_counted(void **state)
{
    (void)state;
    uint64_t plain = load(PERF_MEM_LVLNUM_L3, false);
    assert_int_equal(one(plain | PERF_MEM_S(SNOOP, HITM)).hit_modified, 1);
    assert_int_equal(one(plain | PERF_MEM_S(SNOOP, HIT)).hit_modified, 0);
    agb_load_samples walk = one(plain | PERF_MEM_S(TLB, MISS) | PERF_MEM_S(TLB, L2));
    agb_load_samples near = one(plain | PERF_MEM_S(TLB, HIT) | PERF_MEM_S(TLB, L1) | PERF_MEM_S(TLB, L2));
    agb_load_samples unknown = one(plain | PERF_MEM_S(TLB, NA));
    assert_int_equal(walk.tlb_walks, 1);
    assert_int_equal(near.tlb_walks, 0);
    assert_int_equal(near.tlb_known, 1);
    assert_int_equal(unknown.tlb_known, 0);
}

typedef struct record {
    struct perf_event_header header;
    uint64_t words[2];
} record;

static void put(char *ring, size_t bytes, uint64_t *head, uint32_t type, uint64_t first, uint64_t second)
{
    record record = {{.type = type, .size = sizeof record}, {first, second}};
    for (size_t i = 0; i < sizeof record; i++)
        ring[(*head)++ & (bytes - 1)] = ((const char *)&record)[i];
}

static void ring_is_read_over_its_end_and_lost_records_are_counted(void **state)
{
    (void)state;
    char ring[64];
    agb_load_samples samples = {0};
    uint64_t head = 48, tail = 48;    /* the next record runs over the end */
    put(ring, sizeof ring, &head, PERF_RECORD_SAMPLE, 300, load(PERF_MEM_LVLNUM_RAM, false));
    put(ring, sizeof ring, &head, PERF_RECORD_LOST, 7, 5);
    tail = agb_load_samples_read(&samples, ring, sizeof ring, tail, head);
    assert_int_equal(tail, head);
    assert_int_equal(samples.by_level[AGB_LOAD_DRAM], 1);
    assert_int_equal(samples.cycles[AGB_LOAD_DRAM], 300);
    assert_int_equal(samples.weighed, 1);
    assert_int_equal(samples.lost, 5);
}

static void broken_and_unfinished_records_end_the_reading(void **state)
{
    (void)state;
    char ring[64] = {0};
    agb_load_samples samples = {0};
    assert_int_equal(agb_load_samples_read(&samples, ring, sizeof ring, 0, 24), 24);    /* a size of 0 */
    assert_int_equal(agb_load_samples_read(&samples, ring, sizeof ring, 0, 4), 0);      /* less than a header */
    uint64_t head = 0;
    put(ring, sizeof ring, &head, PERF_RECORD_SAMPLE, 1, load(PERF_MEM_LVLNUM_L1, false));
    assert_int_equal(agb_load_samples_read(&samples, ring, sizeof ring, 0, head - 8), head - 8);
    assert_int_equal(samples.loads, 0);
}

static void machine_without_a_sampler_says_so_and_what_to_run(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    agb_load_samples samples;
    agb_perf_target self = {.tid = 0, .cpu = -1};
    char command[240];
    fake_root_write(&root, "/proc/cpuinfo", "vendor_id\t: AuthenticAMD\ncpu family\t: 25\nmodel\t\t: 17\n");
    assert_null(agb_load_sampler_start(root.path, &self, 1, &samples));
    assert_false(samples.had);
    assert_non_null(strstr(samples.reason, "IBS"));
    agb_load_sampler_command(root.path, "-p 50", command, sizeof command);
    assert_non_null(strstr(command, "perf mem record -p 50;"));
    fake_root_write(&root, "/sys/bus/event_source/devices/arm_spe_0/type", "9\n");
    assert_null(agb_load_sampler_start(root.path, &self, 1, &samples));
    assert_non_null(strstr(samples.reason, "SPE"));
    fake_root_write(&root, "/sys/bus/event_source/devices/ibs_op/type", "99999\n");    /* one that no kernel has */
    assert_null(agb_load_sampler_start(root.path, &self, 1, &samples));
    assert_true(samples.reason[0] != '\0');
    agb_load_sampler *none = agb_load_sampler_start(root.path, NULL, 0, &samples);
    assert_non_null(none);
    agb_load_sampler_end(none, &samples);
    fake_root_destroy(&root);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_is_read_from_the_newer_number_and_else_from_the_older_bits),
        cmocka_unit_test(stores_and_other_operations_are_left_out),
        cmocka_unit_test(lines_of_other_cores_and_page_walks_are_counted),
        cmocka_unit_test(ring_is_read_over_its_end_and_lost_records_are_counted),
        cmocka_unit_test(broken_and_unfinished_records_end_the_reading),
        cmocka_unit_test(machine_without_a_sampler_says_so_and_what_to_run),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
