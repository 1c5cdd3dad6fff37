/* SPDX-License-Identifier: MIT */
/* The first and only process of a small emulated machine (boot.sh) that has a PMU: tries the real counter code on real
 * perf events, prints one line per check, and switches the machine off. aarch64 Linux only.
 *
 * With `-icount` the emulator counts instructions exactly; without, its instruction counter exists and stays 0, which
 * is the other thing worth trying: `pmu=silent` on the kernel's command line says that this is such a boot. Stall and
 * cache events exist in both and read 0, so what is proven here is the plumbing; the formulas are proven by recorded
 * counts (test_slots.c). */
#include "aggbench.h"
#include "perf.h"
#include "pfm.h"
#include "processor.h"

#include <fcntl.h>
#include <grp.h>
#include <linux/reboot.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/reboot.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 3, TURN_INSTRUCTIONS = 6, NOBODY = 65534 };

static unsigned passed, failed;

static bool check(bool true_, const char *what, const char *seen)
{
    printf("%s %s%s%s\n", true_ ? "[ok]    " : "[FAILED]", what, seen && seen[0] ? ": " : "", seen ? seen : "");
    passed += true_;
    failed += !true_;
    return true_;
}

static void check_near(uint64_t value, uint64_t wanted, uint64_t surplus, const char *what)
{
    char seen[96];
    snprintf(seen, sizeof seen, "%llu, at least %llu", (unsigned long long)value, (unsigned long long)wanted);
    check(value >= wanted && value <= wanted + surplus, what, seen);
}

/* Exactly 6 instructions a turn. */
static void known_loop(uint64_t turns)
{
    __asm__ volatile("1: nop\n nop\n nop\n nop\n subs %0, %0, #1\n b.ne 1b\n" : "+r"(turns) : : "cc");
}

static unsigned pass_with(const agb_counter_support *support, const char *symbol, unsigned *event)
{
    for (unsigned pass = 0; pass < support->passes; pass++) {
        const agb_event *events = support->family->passes[support->pass_of[pass]].events;
        for (*event = 0; events[*event].symbol; ++*event)
            if (strcmp(events[*event].symbol, symbol) == 0)
                return pass;
    }
    return 0;
}

/* ---- Counting ---------------------------------------------------------------------------------------------------- */

typedef struct plan {
    agb_counters *counters;
    unsigned pass;
} plan;

static void arm(void *argument, unsigned worker, size_t task)
{
    const plan *plan = argument;
    (void)task;
    agb_counters_arm(plan->counters, worker, plan->pass);
}

/* Phase 0: 100,000 turns; phase 1: 200,000 for every worker number from 1 on; back to phase 0: 100,000 more. */
static void work(void *argument, unsigned worker, size_t task)
{
    const agb_observer *observer = agb_counters_observer(((plan *)argument)->counters);
    (void)task;
    observer->enter(observer->context, worker);
    known_loop(100000);
    observer->phase(observer->context, worker, 1);
    known_loop(200000 * (worker + 1));
    observer->phase(observer->context, worker, 0);
    known_loop(100000);
    observer->leave(observer->context, worker);
}

static void count_known_loops(const agb_counter_support *support)
{
    enum { SURPLUS = 20000 };    /* the way into and out of the observer's system calls */
    agb_pool *pool;
    plan plan;
    unsigned ins;
    agb_repetition_counts counts;
    agb_metrics metrics;
    plan.pass = pass_with(support, "INS", &ins);
    agb_pool_create(&pool, WORKERS, NULL, NULL);
    agb_counters_create(&plan.counters, support, WORKERS, NULL);
    agb_pool_each(pool, arm, &plan);
    agb_pool_each(pool, work, &plan);
    agb_counters_collect(plan.counters, &counts);
    agb_counters_destroy(plan.counters);
    agb_pool_destroy(pool);
    check(counts.pass >= 0, "three workers count one repetition", counts.reason);
    check_near(counts.phase[0].value[ins], TURN_INSTRUCTIONS * 200000 * WORKERS, SURPLUS, "instructions of phase 0");
    check_near(counts.phase[1].value[ins], TURN_INSTRUCTIONS * 200000 * 6, SURPLUS, "instructions of phase 1");
    check(counts.total.value[ins] == counts.phase[0].value[ins] + counts.phase[1].value[ins], "phases add up", "");
    check(counts.total.running_ns == counts.total.enabled_ns, "the group ran all the time", "");
    agb_metrics_compute(support, &counts, 1, -1, &metrics);
    check(metrics.has[AGB_IPC] && metrics.value[AGB_IPC] > 0.1 && metrics.value[AGB_IPC] < 8, "an IPC is given",
          metrics.reason);
    check(!metrics.has[AGB_RETIRING_PCT], "no retiring share is made up", "");
}

static void count_an_aggregator(const agb_counter_support *support)
{
    enum { ROWS = 200000 };
    static uint64_t keys[ROWS];
    agb_registry *registry;
    agb_table *table;
    agb_sink *sink;
    plan plan;
    agb_error err = {0};
    agb_repetition_counts counts;
    unsigned ins;
    for (size_t i = 0; i < ROWS; i++)
        keys[i] = i * 2654435761u % 5003;
    plan.pass = pass_with(support, "INS", &ins);
    agb_registry_create(&registry, NULL);
    agb_table_create(&table, NULL);
    agb_table_lend(table, "key", AGB_TYPE_UINT64, keys, ROWS, NULL);
    agb_sink_checksum(&sink, NULL);
    agb_counters_create(&plan.counters, support, 1, NULL);
    arm(&plan, 0, 0);
    agb_count_groups(&(agb_plan){.table = table, .column = "key",
                                 .aggregator = agb_registry_find_aggregator(registry, "radix"),
                                 .observer = agb_counters_observer(plan.counters)}, sink, NULL, &err);
    agb_counters_collect(plan.counters, &counts);
    check(agb_sink_digest(sink).groups == 5003, "an aggregator runs", err.text);
    check(counts.pass >= 0 && counts.total.value[ins] > 3 * ROWS && counts.total.value[ins] < 500 * ROWS,
          "its instructions are some per row", counts.reason);
    check(counts.phase[0].value[ins] > ROWS && counts.phase[1].value[ins] > ROWS, "two phases have their own", "");
    agb_counters_destroy(plan.counters);
    agb_sink_destroy(sink);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
}

/* ---- Refusals ---------------------------------------------------------------------------------------------------- */

static void write_level(int level)
{
    FILE *file = fopen("/proc/sys/kernel/perf_event_paranoid", "w");
    if (file) {
        fprintf(file, "%d\n", level);
        fclose(file);
    }
}

/* What a user without rights is told at a level of perf_event_paranoid. */
static void probe_as_nobody(int level, bool allowed)
{
    int ends[2];
    char what[80], word[32];
    agb_counter_support support = {0};
    write_level(level);
    fflush(stdout);    /* else the child prints it again */
    if (pipe(ends) != 0)
        return;
    if (fork() == 0) {
        setgroups(0, NULL);
        if (setgid(NOBODY) == 0 && setuid(NOBODY) == 0)
            agb_counters_probe(&support);
        _exit(write(ends[1], &support, sizeof support) != sizeof support);
    }
    close(ends[1]);
    bool got = read(ends[0], &support, sizeof support) == sizeof support;
    close(ends[0]);
    wait(NULL);
    snprintf(what, sizeof what, "perf_event_paranoid %d: a user without rights is %s", level,
             allowed ? "let in" : "refused");
    snprintf(word, sizeof word, "perf_event_paranoid is %d", level);
    check(got && support.available == allowed && (allowed || strstr(support.reason, word)), what, support.reason);
}

static void run_out_of_descriptors(const agb_counter_support *support)
{
    agb_counters *counters;
    agb_repetition_counts counts;
    struct rlimit old, few = {.rlim_cur = 4, .rlim_max = 4};
    getrlimit(RLIMIT_NOFILE, &old);
    few.rlim_max = old.rlim_max;
    agb_counters_create(&counters, support, 1, NULL);
    setrlimit(RLIMIT_NOFILE, &few);
    agb_counters_arm(counters, 0, 0);
    setrlimit(RLIMIT_NOFILE, &old);
    agb_counters_collect(counters, &counts);
    agb_counters_destroy(counters);
    check(counts.pass < 0 && strstr(counts.reason, "ulimit -n"), "too few file descriptors", counts.reason);
}

static const agb_pass large_passes[] = {
    {.name = "large", .events = {{"CYC", 0x11, 0, NULL}, {"A", 0x08, 0, NULL}, {"B", 0x23, 0, NULL},
                                 {"C", 0x24, 0, NULL}, {"D", 0x3a, 0, NULL}, {"E", 0x3b, 0, NULL},
                                 {"F", 0x3c, 0, NULL}, {"G", 0x3d, 0, NULL}}},
    {.name = NULL},
};
static const agb_slots large = {.name = "large", .uarch = "none", .passes = large_passes};

static void open_too_large_a_group(void)
{
    agb_counter_support support = {.available = true, .family = &large, .passes = 1};
    agb_counters *counters;
    agb_repetition_counts counts;
    agb_counters_create(&counters, &support, 1, NULL);
    agb_counters_arm(counters, 0, 0);
    agb_counters_collect(counters, &counts);
    agb_counters_destroy(counters);
    check(counts.pass < 0 && strstr(counts.reason, "counters at once"), "a group of eight events", counts.reason);
}

/* Every code of the ARM tables against libpfm4's own, which only its ARM build knows. */
static void compare_codes(void)
{
    unsigned same = 0, other = 0;
    for (size_t i = 0; agb_pfm_is_built_in() && agb_slots_families[i]; i++)
        for (const agb_pass *pass = agb_slots_families[i]->passes; pass->name; pass++)
            for (const agb_event *event = pass->events; event->symbol; event++) {
                agb_pfm_code code;
                agb_error err;
                if (!event->pfm || strncmp(event->pfm, "arm_", 4) != 0)
                    continue;
                bool equal = agb_pfm_encode(event->pfm, &code, &err) == AGB_OK && code.config == event->config;
                if (!equal)
                    printf("%s: %s, 0x%llx\n", event->pfm, err.text, (unsigned long long)code.config);
                same += equal;
                other += !equal;
            }
    char seen[64];
    snprintf(seen, sizeof seen, "%u equal, %u not", same, other);
    check(other == 0 && (same > 0 || !agb_pfm_is_built_in()), "event codes of ARM are libpfm4's", seen);
}

/* ---- The machine ------------------------------------------------------------------------------------------------- */

static bool run_command(char *const argv[])
{
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
        execv("/aggbench", argv);
        _exit(127);
    }
    waitpid(child, &status, 0);
    return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/* The command itself, with counters demanded, an event of the user's, and the estimate beside them; what it records is
 * then replayed. */
static void run_the_command(void)
{
    char *record[] = {"aggbench", "run", "synth:hits,rows=200000", "--aggregator", "naive,radix", "--repetitions", "4",
                      "--counters", "pmu,estimate", "--events", "r11,r08", "--record", "/counts.json", "--quiet", NULL};
    char *replay[] = {"aggbench", "run", "synth:hits,rows=2000", "--aggregator", "naive,radix", "--repetitions", "2",
                      "--counters", "replay:/counts.json", "--quiet", NULL};
    char *list[] = {"aggbench", "list", "--counters", NULL};
    check(run_command(record), "aggbench run --counters pmu,estimate --events --record", "");
    check(run_command(replay), "aggbench run --counters replay", "");
    check(run_command(list), "aggbench list --counters", "");
}

static void try_counting_machine(void)
{
    agb_counter_support support;
    agb_counters_probe(&support);
    if (!check(support.available, "this machine counts", support.reason))
        return;
    check(strcmp(support.processor, "Neoverse N1") == 0, "the processor is known", support.processor);
    printf("         one phase switch costs %.0f ns, %u passes\n", support.switch_ns, support.passes);
    count_known_loops(&support);
    count_an_aggregator(&support);
    run_out_of_descriptors(&support);
    open_too_large_a_group();
    for (int level = -1; level <= 2; level++)
        probe_as_nobody(level, true);
    for (int level = 3; level <= 4; level++)
        probe_as_nobody(level, false);    /* by Debian's kernels; others treat both as 2 */
    compare_codes();
    run_the_command();
}

/* The kernel does not offer an instruction counter here, but opens the raw one, which stays 0. */
static void try_silent_machine(void)
{
    agb_counter_support support;
    agb_counters_probe(&support);
    check(!support.available && strstr(support.reason, "lacks the event"), "a PMU without instructions is refused",
          support.reason);
    support.available = true;
    for (support.passes = 0; support.family->passes[support.passes].name; support.passes++)
        support.pass_of[support.passes] = (unsigned char)support.passes;
    support.reason[0] = '\0';
    agb_counters *counters;
    agb_repetition_counts counts;
    agb_metrics metrics;
    unsigned ins;
    agb_counters_create(&counters, &support, 1, NULL);
    agb_counters_arm(counters, 0, pass_with(&support, "INS", &ins));
    const agb_observer *observer = agb_counters_observer(counters);
    observer->enter(observer->context, 0);
    known_loop(5000000);
    observer->leave(observer->context, 0);
    agb_counters_collect(counters, &counts);
    agb_counters_destroy(counters);
    agb_metrics_compute(&support, &counts, 1, -1, &metrics);
    check(counts.pass >= 0 && counts.total.value[ins] == 0, "the raw event opens and stays 0", counts.reason);
    check(!metrics.has[AGB_INSTRUCTIONS] && !metrics.has[AGB_IPC], "its 0 is not taken for a value", metrics.reason);
}

int main(void)
{
    char line[1024] = "";
    mkdir("/proc", 0755);
    mkdir("/sys", 0755);
    mount("proc", "/proc", "proc", 0, NULL);
    mount("sysfs", "/sys", "sysfs", 0, NULL);
    int file = open("/proc/cmdline", O_RDONLY | O_CLOEXEC);
    if (file >= 0 && read(file, line, sizeof line - 1) < 0)
        line[0] = '\0';
    close(file);
    if (strstr(line, "pmu=silent"))
        try_silent_machine();
    else
        try_counting_machine();
    printf("pmu: %u passed, %u failed\n", passed, failed);
    fflush(stdout);
    sync();
    reboot(LINUX_REBOOT_CMD_POWER_OFF);
    return 1;
}
