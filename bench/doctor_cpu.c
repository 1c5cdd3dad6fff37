/* SPDX-License-Identifier: MIT */
/* The steps of doctor that ask for processor time: is it on a processor at all, is it kept from one, and what disturbs
 * it. They need no counters of the hardware, so they answer everywhere. */
#include "doctor.h"

#include "processor.h"
#include "sysfile.h"
#include "text.h"

#include <math.h>
#include <string.h>

/* Of one processor's time, where nothing else is said. */
static const double asleep_below = 0.10, waits_above = 0.10, half_asleep_below = 0.50;
static const double kernel_above = 0.40, iowait_above = 0.10, device_above = 0.20;
static const double throttled_above = 0.05, idle_above = 0.50;
/* Of all processor time. */
static const double steal_above_pct = 1, interrupts_above_pct = 5, others_above_pct = 5;
static const double slow_below = 0.90;    /* of the highest frequency */

static agb_cpu_ticks ticks_of(const agb_evidence *evidence)
{
    return agb_cpu_ticks_between(&evidence->first.cpu, &evidence->last.cpu);
}

static double pct_of(uint64_t part, const agb_cpu_ticks *whole)
{
    uint64_t all = agb_cpu_ticks_all(whole);
    return all > 0 ? 100.0 * (double)part / (double)all : NAN;
}

static double a_second(const agb_evidence *evidence, uint64_t before, uint64_t after)
{
    double window_s = evidence->last.at_s - evidence->first.at_s;
    return window_s > 0 && after >= before ? (double)(after - before) / window_s : NAN;
}

/* ---- On a processor? --------------------------------------------------------------------------------------------- */

/* Of all looks at its threads, those in state D: waiting for a device, or for memory that is read in. */
static double device_share(const agb_tasks *tasks)
{
    unsigned looks = 0, device = 0;
    for (size_t i = 0; i < tasks->n; i++) {
        looks += tasks->task[i].looks;
        device += tasks->task[i].device;
    }
    return looks > 0 ? (double)device / looks : 0;
}

/* The kernel's function in which its first thread sleeps; "" when unknown or hidden. */
static void sleeping_place(const agb_evidence *evidence, char *text, size_t size)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/wchan", evidence->pid);
    agb_sysfile_read(evidence->root, path, text, size);
    if (strcmp(text, "0") == 0)
        text[0] = '\0';
}

/* In the kernel, of its processor time; NAN when it has had none worth dividing by. */
static double kernel_share(const agb_evidence *evidence)
{
    const agb_proc_stat *first = &evidence->first.process, *last = &evidence->last.process;
    double user_s = agb_ticks_s(last->user - first->user), sys_s = agb_ticks_s(last->system - first->system);
    if (evidence->command.ended) {
        user_s = evidence->command.user_s;
        sys_s = evidence->command.sys_s;
    }
    return user_s + sys_s >= 0.05 ? sys_s / (user_s + sys_s) : NAN;
}

/* It holds no memory of its own, here or in swap. strace cannot follow it. */
static bool is_kernel_thread(const agb_evidence *evidence)
{
    return !evidence->footprint.known && evidence->footprint.swapped == 0 && !evidence->vanished;
}

static void trace_commands(const agb_evidence *evidence, agb_finding *finding)
{
    if (evidence->subject == AGB_SUBJECT_PROCESS && evidence->vanished)
        agb_finding_next(finding, "it has ended: watch the next one from its start: aggbench doctor -- PROGRAM");
    else if (evidence->subject == AGB_SUBJECT_PROCESS && is_kernel_thread(evidence))
        agb_finding_next(finding, "see what this kernel thread waits for: sudo cat /proc/%d/stack", evidence->pid);
    else if (evidence->subject == AGB_SUBJECT_PROCESS)
        agb_finding_next(finding, "see what it waits for: sudo strace -f -c -p %d; sudo perf trace -s -p %d -- sleep "
                         "5; sudo offcputime-bpfcc -p %d 5", evidence->pid, evidence->pid, evidence->pid);
    else
        agb_finding_next(finding, "see what it waits for: strace -f -c %s ...; sudo perf trace -s %s", evidence->name,
                         agb_evidence_whose(evidence).s);
}

typedef struct processor_time {
    double cores, waited, kernel, device;    /* cores and waited: of one processor; NAN = unknown */
    double faults_a_second;
} processor_time;

static processor_time time_of_process(const agb_evidence *evidence)
{
    const agb_proc_stat *first = &evidence->first.process, *last = &evidence->last.process;
    double window_s = evidence->window_s > 0 ? evidence->window_s : NAN;
    double faults = evidence->command.ended ? (double)evidence->command.major_faults
                                            : (double)(last->major_faults - first->major_faults);
    return (processor_time){.cores = agb_evidence_ran_s(evidence) / window_s,
                            .waited = agb_evidence_waited_s(evidence) / window_s,
                            .kernel = kernel_share(evidence),
                            .device = device_share(&evidence->tasks),
                            .faults_a_second = faults / window_s};
}

static void no_wait_unseen(const char *no_wait, agb_finding *finding)
{
    if (no_wait)
        agb_finding_unseen(finding, "waiting for a processor", no_wait, "sudo perf sched record -- sleep 5; sudo perf "
                           "sched latency");
}

static void show_process(const agb_evidence *evidence, const processor_time *time, agb_finding *finding)
{
    const char *no_wait = agb_evidence_no_wait(evidence);
    agb_finding_figure(finding, "on processors", "% of one", 100 * time->cores);
    agb_finding_figure(finding, "waited for a processor", "% of one", 100 * time->waited);
    agb_finding_figure(finding, "in the kernel", "% of its time", 100 * time->kernel);
    agb_finding_figure(finding, "looks in device wait", "%", 100 * time->device);
    agb_finding_figure(finding, "major faults", "1/s", time->faults_a_second);
    agb_finding_figure(finding, "busy threads", "", agb_evidence_busy_threads(evidence));
    if (no_wait)
        agb_finding_measured(finding, "over %s it was on processors for %.1f %% of one",
                             agb_text_seconds(evidence->window_s).s, 100 * time->cores);
    else
        agb_finding_measured(finding, "over %s it was on processors for %.1f %% of one, and waited for one for %.1f %%",
                             agb_text_seconds(evidence->window_s).s, 100 * time->cores, 100 * time->waited);
    no_wait_unseen(no_wait, finding);
    if (!isnan(time->kernel))
        agb_finding_measured(finding, "%.0f %% of its processor time was the kernel's", 100 * time->kernel);
    if (evidence->command.ended)
        agb_finding_measured(finding, "%s voluntary and %s forced switches, peak memory %s",
                             agb_text_count(evidence->command.voluntary).s,
                             agb_text_count(evidence->command.involuntary).s,
                             agb_text_bytes(evidence->command.peak_bytes).s);
}

static void conclude_asleep(const agb_evidence *evidence, const processor_time *time, agb_finding *finding)
{
    char place[64] = "";
    if (!evidence->vanished)
        sleeping_place(evidence, place, sizeof place);
    bool device = time->device > device_above;
    agb_finding_conclude(finding, AGB_FOUND, "it is not busy: it neither ran nor waited for a processor for most of "
                         "the time, so nothing about the processor or its caches explains how long it takes; it waits "
                         "for %s%s%s%s", device ? "a device or for pages that are read in"
                                                : "an event: a timer, a lock, the network, a child",
                         place[0] ? " (kernel function " : "", place, place[0] ? ")" : "");
    trace_commands(evidence, finding);
    if (device)
        agb_finding_next(finding, "see which device: iostat -x 1; cat /proc/pressure/io /proc/pressure/memory");
}

static void examine_process(const agb_evidence *evidence, agb_finding *finding)
{
    processor_time time = time_of_process(evidence);
    double waited = isnan(time.waited) ? 0 : time.waited;
    unsigned busy = agb_evidence_busy_threads(evidence);
    show_process(evidence, &time, finding);
    if (isnan(time.cores)) {
        agb_finding_conclude(finding, AGB_UNSEEN, "it ended before it could be watched");
        agb_finding_unseen(finding, "processor time", "it ended at once", "perf stat -- COMMAND");
    } else if (time.cores + waited < asleep_below) {
        conclude_asleep(evidence, &time, finding);
    } else if (waited > waits_above && waited > waits_above * time.cores) {
        agb_finding_conclude(finding, AGB_SUSPECT, "it is ready to run and does not get a processor: it shares them "
                             "with others, or may not use those that are free");
        agb_finding_next(finding, "see who takes them: aggbench lab runq");
    } else if (time.kernel > kernel_above) {
        agb_finding_conclude(finding, AGB_SUSPECT, "it runs, but much of that is work of the kernel: system calls, "
                             "page faults, copies");
        agb_finding_next(finding, "count the calls: sudo perf trace -s %s, or strace -f -c",
                         agb_evidence_whose(evidence).s);
    } else if (time.cores + waited < half_asleep_below && busy <= 1) {
        agb_finding_conclude(finding, AGB_SUSPECT, "it is on a processor for a part of the time only; the steps below "
                             "speak of that part");
        trace_commands(evidence, finding);
    } else {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out sleep (locks, disks, the network) as the main cost, "
                             "and a lack of processors");
    }
}

static void examine_machine(const agb_evidence *evidence, agb_finding *finding)
{
    agb_cpu_ticks ticks = ticks_of(evidence);
    double busy = agb_cpu_busy_pct(&ticks), iowait = pct_of(ticks.iowait, &ticks);
    double waited = agb_evidence_waited_s(evidence) / evidence->window_s;
    const char *no_wait = agb_evidence_no_wait(evidence);
    agb_finding_figure(finding, "busy", "% of all processors", busy);
    agb_finding_figure(finding, "idle while a disk was waited for", "%", iowait);
    agb_finding_figure(finding, "waited for a processor", "threads, on average", waited);
    agb_finding_measured(finding, "over %s the %u processors were busy for %.1f %%, idle with I/O outstanding for "
                         "%.1f %%",
                         agb_text_seconds(evidence->window_s).s, evidence->online, busy, iowait);
    no_wait_unseen(no_wait, finding);
    if (!no_wait)
        agb_finding_measured(finding, "%.2f threads waited for one on average", waited);
    if (isnan(busy)) {
        agb_finding_conclude(finding, AGB_UNSEEN, "/proc/stat did not move");
        agb_finding_unseen(finding, "utilisation", "/proc/stat did not move", "mpstat -P ALL 1 5");
    } else if (busy < 100 * asleep_below && iowait < 100 * iowait_above) {
        agb_finding_conclude(finding, AGB_FOUND, "the machine is idle: whatever is slow on it waits for something else "
                             "than its processors");
        agb_finding_next(finding, "examine the process that is slow: aggbench doctor --pid PID");
    } else if (iowait >= 100 * iowait_above) {
        agb_finding_conclude(finding, AGB_SUSPECT, "processors stood idle while disks were waited for");
        agb_finding_next(finding, "see which device: iostat -x 1; and who: sudo iotop -o");
    } else if (waited > waits_above * evidence->online) {
        agb_finding_conclude(finding, AGB_SUSPECT, "more threads want to run than there are processors");
        agb_finding_next(finding, "see which ones wait: aggbench lab runq");
    } else {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out an idle machine and a lack of processors; whether busy "
                             "means computing is what the next steps ask");
        agb_finding_next(finding, "examine its busiest process, too: aggbench doctor --pid PID");
    }
}

void agb_examine_on_cpu(const agb_evidence *evidence, agb_finding *finding)
{
    if (evidence->subject == AGB_SUBJECT_MACHINE)
        examine_machine(evidence, finding);
    else
        examine_process(evidence, finding);
}

/* ---- Pinned? ----------------------------------------------------------------------------------------------------- */

static void show_limits(const agb_evidence *evidence, unsigned allowed, agb_finding *finding)
{
    agb_finding_figure(finding, "processors online", "", evidence->online);
    agb_finding_figure(finding, "processors allowed", "", allowed ? allowed : NAN);
    agb_finding_figure(finding, "quota", "processors", evidence->quota_cpus >= 0 ? evidence->quota_cpus : NAN);
    agb_finding_measured(finding, "it may run on processors %s of %u online", evidence->allowed[0] ? evidence->allowed
                                                                                                 : "(unknown)",
                         evidence->online);
    if (evidence->cpuset[0])
        agb_finding_measured(finding, "its cpuset is %s", evidence->cpuset);
    if (evidence->quota_cpus >= 0)
        agb_finding_measured(finding, "a control group's quota allows %.2f processors' time", evidence->quota_cpus);
    else
        agb_finding_measured(finding, "no quota");
}

/* Both halves of a pinned pair: it wanted more than it was allowed, and there was more to be had. */
static bool is_kept_from_free_processors(const agb_evidence *evidence, unsigned allowed)
{
    agb_cpu_ticks ticks = ticks_of(evidence);
    double ran = agb_evidence_ran_s(evidence) / evidence->window_s;
    double waited = agb_evidence_waited_s(evidence) / evidence->window_s;
    double idle = evidence->online * pct_of(ticks.idle + ticks.iowait, &ticks) / 100;
    return allowed > 0 && allowed < evidence->online && waited > waits_above && ran + waited > 0.9 * allowed &&
           idle > idle_above;
}

void agb_examine_pinned(const agb_evidence *evidence, agb_finding *finding)
{
    unsigned allowed = agb_processor_list_count(evidence->allowed);
    const agb_throttling *first = &evidence->first.throttling, *last = &evidence->last.throttling;
    double window_s = evidence->last.at_s - evidence->first.at_s;
    double throttled = window_s > 0 ? fmax(0, last->throttled_s - first->throttled_s) / window_s : NAN;
    show_limits(evidence, allowed, finding);
    if (last->known && last->periods > first->periods) {
        agb_finding_figure(finding, "throttled", "% of one processor", 100 * throttled);
        agb_finding_measured(finding, "it was throttled in %llu of %llu periods, for %.1f %% of the time",
                             (unsigned long long)(last->throttled - first->throttled),
                             (unsigned long long)(last->periods - first->periods), 100 * throttled);
    }
    if (throttled > throttled_above) {
        agb_finding_conclude(finding, AGB_FOUND, "the quota stops it: it has the processors and is not let run on "
                             "them");
        agb_finding_next(finding, "raise cpu.max of its control group (the container's CPU limit), or start no more "
                         "threads than the quota allows");
    } else if (is_kept_from_free_processors(evidence, allowed)) {
        agb_finding_conclude(finding, AGB_FOUND, "its threads wait for the %u processor%s that %s allowed while others "
                             "are idle", allowed, allowed > 1 ? "s" : "", allowed > 1 ? "are" : "is");
        if (evidence->subject == AGB_SUBJECT_PROCESS)
            agb_finding_next(finding, "let it run on all: taskset -a -p -c 0-%u %d, and widen its cpuset",
                             evidence->online - 1, evidence->pid);
        else
            agb_finding_next(finding, "start it without taskset, or in a wider cpuset");
    } else if (!evidence->allowed[0] && !evidence->vanished) {
        agb_finding_conclude(finding, AGB_UNSEEN, "its affinity could not be read");
        agb_finding_unseen(finding, "affinity", "/proc gives no Cpus_allowed_list", "taskset -p %d", evidence->pid);
    } else if (allowed && allowed < evidence->online) {
        agb_finding_conclude(finding, AGB_RULED_OUT, "it is pinned, but loses nothing by it now: rules out affinity "
                             "and quota as the cause");
    } else {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out affinity, cpuset and quota");
    }
}

/* ---- Noise ------------------------------------------------------------------------------------------------------- */

/* Mean of now and of the most, in MHz, over the processors that tell. */
static bool read_frequency(const char *root, unsigned cpus, double *now, double *most)
{
    double sum_now = 0, sum_most = 0;
    unsigned n = 0;
    for (unsigned cpu = 0; cpu < cpus; cpu++) {
        char path[96];
        int64_t khz, highest;
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/scaling_cur_freq", cpu);
        bool known = agb_sysfile_number(root, path, &khz);
        snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%u/cpufreq/cpuinfo_max_freq", cpu);
        if (!known || !agb_sysfile_number(root, path, &highest))
            continue;
        sum_now += (double)khz / 1e3;
        sum_most += (double)highest / 1e3;
        n++;
    }
    *now = n ? sum_now / n : NAN;
    *most = n ? sum_most / n : NAN;
    return n > 0;
}

typedef struct noise {
    double steal_pct, interrupts_pct, others_pct, waited_pct, pressure_pct, now_mhz, most_mhz;
} noise;

static noise noise_of(const agb_evidence *evidence)
{
    agb_cpu_ticks ticks = ticks_of(evidence);
    double window_s = evidence->last.at_s - evidence->first.at_s;
    double ran_s = agb_evidence_ran_s(evidence), waited_s = agb_evidence_waited_s(evidence);
    double own_pct = 100 * ran_s / (evidence->window_s * evidence->online);
    /* Others cost nothing to what sleeps. */
    bool asleep = ran_s + (isnan(waited_s) ? 0 : waited_s) < asleep_below * evidence->window_s;
    noise out = {.steal_pct = pct_of(ticks.steal, &ticks), .interrupts_pct = pct_of(ticks.irq + ticks.softirq, &ticks)};
    out.others_pct = evidence->subject == AGB_SUBJECT_MACHINE || asleep ? NAN
                                                                        : fmax(0, agb_cpu_busy_pct(&ticks) - own_pct);
    out.waited_pct = 100 * waited_s / (evidence->window_s * evidence->online);
    out.pressure_pct = 100 * (evidence->last.pressure_s - evidence->first.pressure_s) / window_s;
    read_frequency(evidence->root, evidence->online, &out.now_mhz, &out.most_mhz);
    return out;
}

static void show_noise(const agb_evidence *evidence, const noise *noise, agb_finding *finding)
{
    const agb_vitals *first = &evidence->first, *last = &evidence->last;
    agb_finding_figure(finding, "stolen by the hypervisor", "% of all processors", noise->steal_pct);
    agb_finding_figure(finding, "interrupts", "% of all processors", noise->interrupts_pct);
    agb_finding_figure(finding, "other processes", "% of all processors", noise->others_pct);
    agb_finding_figure(finding, "waited for a processor", "% of all processors", noise->waited_pct);
    agb_finding_figure(finding, "some task waited (PSI)", "% of the time", noise->pressure_pct);
    agb_finding_figure(finding, "frequency", "MHz", noise->now_mhz);
    agb_finding_figure(finding, "interrupts", "1/s", a_second(evidence, first->interrupts, last->interrupts));
    agb_finding_figure(finding, "context switches", "1/s", a_second(evidence, first->switches, last->switches));
    agb_finding_measured(finding, "stolen %.1f %%, interrupts %.1f %% of all processors' time, %s context switches a "
                         "second", noise->steal_pct, noise->interrupts_pct,
                         agb_text_number(a_second(evidence, first->switches, last->switches)).s);
    if (!isnan(noise->others_pct))
        agb_finding_measured(finding, "other processes used %.1f %%", noise->others_pct);
    if (!isnan(noise->now_mhz))
        agb_finding_measured(finding, "%.0f of at most %.0f MHz", noise->now_mhz, noise->most_mhz);
    else
        agb_finding_unseen(finding, "frequency", evidence->machine.hypervisor[0] ?
                           "the hypervisor does not tell a guest its frequency" : "the kernel has no cpufreq here",
                           "sudo turbostat --quiet --interval 5%s", evidence->machine.hypervisor[0] ? " (on the "
                           "host)" : "");
}

static void add_word(char *text, size_t size, const char *word)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", word);
}

void agb_examine_noise(const agb_evidence *evidence, agb_finding *finding)
{
    noise noise = noise_of(evidence);
    char found[200] = "";
    show_noise(evidence, &noise, finding);
    if (noise.steal_pct > steal_above_pct) {
        add_word(found, sizeof found, "the hypervisor gave its processors to others");
        agb_finding_next(finding, "measure where processors are not shared: dedicated or bare metal");
    }
    if (noise.interrupts_pct > interrupts_above_pct) {
        add_word(found, sizeof found, "interrupts took processor time");
        agb_finding_next(finding, "see which ones: watch -d cat /proc/interrupts /proc/softirqs");
    }
    if (noise.others_pct > others_above_pct) {
        add_word(found, sizeof found, "other processes ran");
        agb_finding_next(finding, "see which ones: aggbench lab runq");
    }
    if (noise.now_mhz < slow_below * noise.most_mhz) {
        add_word(found, sizeof found, "the clock was below its highest");
        agb_finding_next(finding, "see why: sudo turbostat; governor: cpupower frequency-info");
    }
    if (found[0])
        agb_finding_conclude(finding, AGB_SUSPECT, "%s: times vary by as much, and single runs compare badly", found);
    else if (isnan(noise.steal_pct))
        agb_finding_conclude(finding, AGB_UNSEEN, "it was too short for the kernel's clock ticks");
    else
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out steal%s as what makes it slow",
                             isnan(noise.others_pct) ? " and interrupts" : ", interrupts and other processes");
}
