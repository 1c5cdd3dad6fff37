/* SPDX-License-Identifier: MIT */
/* The environment block: quotas, limits, hypervisors, processor names; and the streaming floor. */
#include "fake_root.h"

#include "machine.h"
#include "processor.h"

#include <sched.h>

static unsigned allowed(void)
{
    return agb_machine_allowed_cpus(NULL, 0);
}

static unsigned smaller(unsigned a, unsigned b)
{
    return a < b ? a : b;
}

static unsigned threads_with(const char *path, const char *text)
{
    fake_root root = fake_root_create();
    fake_root_write(&root, path, text);
    unsigned threads = agb_machine_default_threads(root.path);
    fake_root_destroy(&root);
    return threads;
}

static void quota_of_version_2_limits_the_threads(void **state)
{
    (void)state;
    assert_int_equal(threads_with("/sys/fs/cgroup/cpu.max", "200000 100000\n"), smaller(2, allowed()));
    assert_int_equal(threads_with("/sys/fs/cgroup/cpu.max", "100000 100000\n"), 1);
    assert_int_equal(threads_with("/sys/fs/cgroup/cpu.max", "110000 100000\n"), smaller(2, allowed()));
    assert_int_equal(threads_with("/sys/fs/cgroup/cpu.max", "5000 100000\n"), 1);
}

static void no_quota_leaves_the_affinity(void **state)
{
    (void)state;
    assert_int_equal(threads_with("/sys/fs/cgroup/cpu.max", "max 100000\n"), allowed());
    assert_int_equal(threads_with("/sys/fs/cgroup/cpu.max", "90000000 100000\n"), allowed());
    assert_int_equal(threads_with("/sys/fs/cgroup/cpu.max", ""), allowed());
    assert_int_equal(threads_with("/nothing", ""), allowed());
}

static void quota_of_version_1_limits_the_threads(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    fake_root_write(&root, "/sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    assert_int_equal(agb_machine_default_threads(root.path), allowed());
    fake_root_write(&root, "/sys/fs/cgroup/cpu/cpu.cfs_quota_us", "100000\n");
    assert_int_equal(agb_machine_default_threads(root.path), 1);
    fake_root_destroy(&root);
}

static void quota_of_an_ancestor_counts(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/self/cgroup", "9:memory:/elsewhere\n0::/user.slice/shell.scope\n");
    fake_root_write(&root, "/sys/fs/cgroup/user.slice/shell.scope/cpu.max", "max 100000\n");
    fake_root_write(&root, "/sys/fs/cgroup/user.slice/cpu.max", "100000 100000\n");
    assert_int_equal(agb_machine_default_threads(root.path), 1);
    fake_root_destroy(&root);
}

static void affinity_limits_the_threads(void **state)
{
    (void)state;
    cpu_set_t all, one;
    int first = -1;
    assert_int_equal(sched_getaffinity(0, sizeof all, &all), 0);
    assert_true(agb_machine_allowed_cpus(&first, 1) >= 1);
    assert_true(CPU_ISSET(first, &all));
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
    unsigned threads = agb_machine_default_threads("");
    sched_setaffinity(0, sizeof all, &all);
    assert_int_equal(threads, 1);
}

static void available_memory_obeys_the_groups_limit(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/meminfo", "MemTotal:  9000000 kB\nMemAvailable:    2000000 kB\n");
    assert_int_equal(agb_machine_available_bytes(root.path), 2000000ull * 1024);
    fake_root_write(&root, "/sys/fs/cgroup/memory.max", "1000000000\n");
    fake_root_write(&root, "/sys/fs/cgroup/memory.current", "400000000\n");
    assert_int_equal(agb_machine_available_bytes(root.path), 600000000);
    fake_root_write(&root, "/sys/fs/cgroup/memory.max", "max\n");
    assert_int_equal(agb_machine_available_bytes(root.path), 2000000ull * 1024);
    fake_root_write(&root, "/proc/self/cgroup", "4:memory:/job/7\n0::/\n");
    fake_root_write(&root, "/sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
    fake_root_write(&root, "/sys/fs/cgroup/memory/memory.usage_in_bytes", "1\n");
    assert_int_equal(agb_machine_available_bytes(root.path), 2000000ull * 1024);
    fake_root_write(&root, "/sys/fs/cgroup/memory/job/7/memory.limit_in_bytes", "500\n");
    fake_root_write(&root, "/sys/fs/cgroup/memory/job/7/memory.usage_in_bytes", "700\n");
    assert_int_equal(agb_machine_available_bytes(root.path), 0);
    fake_root_destroy(&root);
}

static void hypervisor_is_found_by_name_or_by_flag(void **state)
{
    (void)state;
    char name[32];
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/cpuinfo", "flags\t\t: fpu vme sse2\n");
    agb_machine_hypervisor(root.path, name, sizeof name);
    assert_string_equal(name, "");
    fake_root_write(&root, "/proc/cpuinfo", "flags\t\t: fpu vme hypervisor sse2\n");
    agb_machine_hypervisor(root.path, name, sizeof name);
    assert_string_equal(name, "unknown hypervisor");
    fake_root_write(&root, "/sys/class/dmi/id/sys_vendor", "QEMU\n");
    agb_machine_hypervisor(root.path, name, sizeof name);
    assert_string_equal(name, "QEMU");
    fake_root_write(&root, "/sys/hypervisor/type", "xen\n");
    agb_machine_hypervisor(root.path, name, sizeof name);
    assert_string_equal(name, "Xen");
    fake_root_destroy(&root);
}

static void a_balloon_that_reports_free_pages_is_noticed(void **state)
{
    (void)state;
    fake_root root = fake_root_create();
    assert_false(agb_machine_reports_free_pages(root.path));
    fake_root_write(&root, "/sys/bus/virtio/drivers/virtio_balloon/virtio3/features", "011110000000000000000000\n");
    assert_false(agb_machine_reports_free_pages(root.path));
    fake_root_write(&root, "/sys/bus/virtio/drivers/virtio_balloon/virtio3/features", "011001000000000000000000\n");
    assert_true(agb_machine_reports_free_pages(root.path));
    fake_root_destroy(&root);
}

static void processors_are_read_from_cpuinfo(void **state)
{
    (void)state;
    agb_cpu_id cpu;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/cpuinfo", "processor\t: 0\nvendor_id\t: AuthenticAMD\ncpu family\t: 25\n"
                                            "model\t\t: 97\nmodel name\t: AMD Ryzen\nstepping\t: 2\n");
    agb_processor_read(root.path, &cpu);
    assert_string_equal(cpu.vendor, "AuthenticAMD");
    assert_int_equal(cpu.family, 25);
    assert_int_equal(cpu.model, 97);
    assert_int_equal(cpu.stepping, 2);
    char name[64];
    agb_processor_name(&cpu, name, sizeof name);
    assert_string_equal(name, "Zen 4");
    cpu.model = 255;
    agb_processor_name(&cpu, name, sizeof name);
    assert_string_equal(name, "AuthenticAMD family 25 model 255 stepping 2");
    fake_root_write(&root, "/proc/cpuinfo", "isa\t: rv64\n");    /* neither of both, or no /proc */
    agb_processor_read(root.path, &cpu);
    agb_processor_name(&cpu, name, sizeof name);
    assert_string_equal(name, "unknown processor");
    fake_root_write(&root, "/proc/cpuinfo", "CPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x1\n"
                                            "CPU part\t: 0xd49\nCPU revision\t: 2\n");
    fake_root_write(&root, "/sys/bus/event_source/devices/armv8_pmuv3_0/caps/slots", "0x00000005\n");
    agb_processor_read(root.path, &cpu);
    assert_string_equal(cpu.vendor, "ARM");
    assert_int_equal(cpu.model, 0xd49);
    assert_int_equal(cpu.stepping, 18);
    assert_int_equal(cpu.slots, 5);
    fake_root_destroy(&root);
}

static void intel_counters_are_described_by_sysfs(void **state)
{
    (void)state;
    agb_cpu_id cpu;
    fake_root root = fake_root_create();
    fake_root_write(&root, "/proc/cpuinfo", "vendor_id\t: GenuineIntel\ncpu family\t: 6\nmodel\t\t: 143\n"
                                            "stepping\t: 8\n");
    agb_processor_read(root.path, &cpu);
    assert_int_equal(cpu.metric_level, 0);
    fake_root_write(&root, "/sys/bus/event_source/devices/cpu/events/topdown-retiring", "event=0x00,umask=0x80\n");
    agb_processor_read(root.path, &cpu);
    assert_int_equal(cpu.metric_level, 1);
    fake_root_write(&root, "/sys/bus/event_source/devices/cpu/events/topdown-mem-bound", "event=0x00,umask=0x87\n");
    agb_processor_read(root.path, &cpu);
    assert_int_equal(cpu.metric_level, 2);
    assert_int_equal(cpu.core, AGB_CORE_ONLY);
    fake_root_write(&root, "/sys/bus/event_source/devices/cpu_atom/cpus", "0-4095\n");
    agb_processor_read(root.path, &cpu);
    assert_int_equal(cpu.core, AGB_CORE_EFFICIENT);
    fake_root_write(&root, "/sys/bus/event_source/devices/cpu_atom/cpus", "4000-4095\n");
    agb_processor_read(root.path, &cpu);
    assert_int_equal(cpu.core, AGB_CORE_PERFORMANCE);
    fake_root_destroy(&root);
}

static void lists_of_processors_are_understood(void **state)
{
    (void)state;
    int cpus[] = {1, 5, 16};
    assert_true(agb_processor_list_covers("0-5,16", cpus, 3));
    assert_false(agb_processor_list_covers("0-4,16", cpus, 3));
    assert_false(agb_processor_list_covers("", cpus, 3));
    assert_false(agb_processor_list_covers("x", cpus, 3));
    assert_false(agb_processor_list_covers("0-5", cpus, 0));
}

static void this_machine_is_described(void **state)
{
    (void)state;
    agb_machine machine;
    agb_machine_read(&machine);
    assert_true(machine.cpu[0] && machine.uarch[0] && machine.kernel[0] && machine.compiler[0]);
    assert_in_range(machine.cores, 1, allowed());
    assert_true(machine.memory_available_bytes > 0 && machine.memory_available_bytes <= machine.memory_bytes);
    printf("%s, %s, %u cores, %s, \"%s\", pages %s, %s, %s\n", machine.cpu, machine.uarch, machine.cores,
           machine.kernel, machine.hypervisor, machine.pages, machine.compiler, machine.flags);
}

static void floor_is_a_possible_bandwidth(void **state)
{
    (void)state;
    agb_floor floor;
    assert_ok(agb_floor_measure(&floor, NULL, err));
    printf("floor of one worker: read %.1f, write %.1f GB/s\n", floor.read_gbps, floor.write_gbps);
    assert_true(floor.read_gbps > 0.05 && floor.read_gbps < 1000);
    assert_true(floor.write_gbps > 0.05 && floor.write_gbps < 1000);
}

static void floor_is_measured_by_several_workers(void **state)
{
    (void)state;
    agb_pool *pool;
    agb_floor floor;
    assert_ok(agb_pool_create(&pool, 3, NULL, err));
    assert_ok(agb_floor_measure(&floor, pool, err));
    agb_pool_destroy(pool);
    assert_true(floor.read_gbps > 0.05 && floor.write_gbps > 0.05);
}

/* 1e9 keys of 8 bytes at 10 GB/s read and 5 GB/s written: 16 GB read, 8 GB and the result written. */
static void floor_of_a_query_is_its_traffic(void **state)
{
    (void)state;
    agb_floor floor = {.read_gbps = 10, .write_gbps = 5};
    assert_float_equal(agb_floor_seconds(&floor, 1000000000, 8, 0), 1.6 + 1.6, 1e-9);
    assert_float_equal(agb_floor_seconds(&floor, 1000000000, 8, 500000000), 1.6 + 3.2, 1e-9);
    assert_float_equal(agb_floor_seconds(&floor, 1000000000, 4, 0), 1.2 + 1.6, 1e-9);
    assert_float_equal(agb_floor_seconds(&(agb_floor){0}, 1000, 8, 10), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quota_of_version_2_limits_the_threads),
        cmocka_unit_test(no_quota_leaves_the_affinity),
        cmocka_unit_test(quota_of_version_1_limits_the_threads),
        cmocka_unit_test(quota_of_an_ancestor_counts),
        cmocka_unit_test(affinity_limits_the_threads),
        cmocka_unit_test(available_memory_obeys_the_groups_limit),
        cmocka_unit_test(hypervisor_is_found_by_name_or_by_flag),
        cmocka_unit_test(a_balloon_that_reports_free_pages_is_noticed),
        cmocka_unit_test(processors_are_read_from_cpuinfo),
        cmocka_unit_test(intel_counters_are_described_by_sysfs),
        cmocka_unit_test(lists_of_processors_are_understood),
        cmocka_unit_test(this_machine_is_described),
        cmocka_unit_test(floor_is_a_possible_bandwidth),
        cmocka_unit_test(floor_is_measured_by_several_workers),
        cmocka_unit_test(floor_of_a_query_is_its_traffic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
