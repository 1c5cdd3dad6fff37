/* SPDX-License-Identifier: MIT */
/* The steps of doctor that ask where data is: which level serves the loads, whether cores share lines, which node the
 * pages are on, and how they are translated. Where the hardware does not tell, the footprint bounds the answer; such
 * bounds are called estimates. */
#include "doctor.h"

#include "processor.h"
#include "sysfile.h"
#include "text.h"

#include <math.h>
#include <string.h>

enum { FEW_LOADS = 100 };    /* shares of fewer samples say nothing */

static const double dram_above = 0.30, near_above = 0.95;    /* of the loads' latency, or of the loads */
static const double shared_above = 0.05, shared_below = 0.01, walks_above = 0.05;
static const double remote_above = 0.30;
static const double huge_above = 0.90;
static const double many_walks = 2, few_walks = 0.2;    /* of 1000 instructions */
/* What second-level TLBs of the last ten years reach with 4 KiB pages: 1024 to 4096 entries; the least of them. */
static const uint64_t tlb_reach_bytes = 4 << 20;

static double share(uint64_t part, uint64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

/* ---- Which level? ------------------------------------------------------------------------------------------------ */

/* By latency where all samples tell it, else by number. */
static double level_share(const agb_load_samples *loads, agb_load_level level)
{
    uint64_t cycles = 0;
    for (unsigned i = 0; i < AGB_LOAD_LEVELS; i++)
        cycles += loads->cycles[i];
    return cycles > 0 && loads->weighed * 2 > loads->loads ? share(loads->cycles[level], cycles)
                                                          : share(loads->by_level[level], loads->loads);
}

static void judge_levels(const agb_evidence *evidence, agb_finding *finding)
{
    const agb_load_samples *loads = &evidence->loads;
    double dram = level_share(loads, AGB_LOAD_DRAM) + level_share(loads, AGB_LOAD_REMOTE);
    double near = level_share(loads, AGB_LOAD_L1) + level_share(loads, AGB_LOAD_L2);
    for (unsigned i = 0; i < AGB_LOAD_LEVELS; i++)
        agb_finding_figure(finding, agb_load_level_name(i), "% of the loads' time", 100 * level_share(loads, i));
    agb_finding_measured(finding, "of %s sampled loads' time %.0f %% went to DRAM, %.0f %% to L3, %.0f %% to L1 and L2",
                         agb_text_count(loads->loads).s, 100 * dram, 100 * level_share(loads, AGB_LOAD_L3), 100 * near);
    if (dram > dram_above) {
        agb_finding_conclude(finding, AGB_SUSPECT, "its loads wait for DRAM: what it works on does not fit into "
                             "caches");
        agb_finding_next(finding, "make the working set smaller or visit it in pieces (partitioning), or ask for data "
                         "earlier (prefetching); find the loads: perf mem report --sort=symbol,mem");
    } else if (near > near_above) {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out DRAM and L3: its loads are served by the core's own "
                             "caches");
    } else {
        agb_finding_conclude(finding, AGB_SUSPECT, "its loads go to caches beyond the core's own for a part of the "
                             "time");
        agb_finding_next(finding, "find the loads: perf mem report --sort=symbol,mem");
    }
}

/* What it holds bounds what it can wait for. */
static void bound_by_footprint(const agb_evidence *evidence, agb_finding *finding)
{
    const agb_footprint *footprint = &evidence->footprint;
    const agb_caches *caches = &evidence->machine.caches;
    uint64_t bytes = footprint->resident > evidence->command.peak_bytes ? footprint->resident
                                                                       : evidence->command.peak_bytes;
    if (bytes == 0 || evidence->subject == AGB_SUBJECT_MACHINE || caches->l3 == 0) {
        agb_finding_conclude(finding, AGB_UNSEEN, "which level serves its loads is not known");
        return;
    }
    agb_finding_figure(finding, "resident", "bytes", (double)bytes);
    agb_finding_figure(finding, "last-level cache", "bytes", (double)caches->l3);
    agb_finding_estimate(finding, "resident over last-level cache", "times", (double)bytes / (double)caches->l3);
    agb_finding_measured(finding, "it holds %s, %s times the last-level cache of %s and %s times the L2 of %s",
                         agb_text_bytes(bytes).s, agb_text_number((double)bytes / (double)caches->l3).s,
                         agb_text_bytes(caches->l3).s, agb_text_number((double)bytes / (double)caches->l2).s,
                         agb_text_bytes(caches->l2).s);
    if (bytes <= caches->l3)
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out, by estimate, lasting waits for DRAM: all that it "
                             "holds fits into the last-level cache");
    else
        agb_finding_conclude(finding, AGB_UNSEEN, "DRAM is possible (estimate): not all that it holds fits into a "
                             "cache; how much of it is in use is not known");
}

void agb_examine_memory(const agb_evidence *evidence, agb_finding *finding)
{
    const agb_load_samples *loads = &evidence->loads;
    const agb_vitals *first = &evidence->first, *last = &evidence->last;
    bool sampled = loads->had && loads->loads >= FEW_LOADS;
    if (sampled) {
        judge_levels(evidence, finding);
    } else {
        char command[240];
        agb_load_sampler_command(evidence->root, agb_evidence_whose(evidence).s, command, sizeof command);
        bound_by_footprint(evidence, finding);
        agb_finding_unseen(finding, "level that serves the loads", loads->reason[0] ? loads->reason :
                           "too few loads were sampled", "%s", command);
    }
    if (evidence->counted && evidence->metrics.has[AGB_DRAM_DEMAND_BYTES])
        agb_finding_figure(finding, "pulled from DRAM on demand", "bytes while counted",
                           evidence->metrics.value[AGB_DRAM_DEMAND_BYTES]);
    uint64_t swapped = last->swapped_in - first->swapped_in;
    agb_finding_figure(finding, "pages swapped in, machine", "", (double)swapped);
    if (evidence->footprint.swapped > 0 || swapped > 0) {
        agb_finding_measured(finding, "%s of it are swapped out, %s pages were swapped in on the machine",
                             agb_text_bytes(evidence->footprint.swapped).s, agb_text_count(swapped).s);
        if (swapped > 0)
            agb_finding_next(finding, "memory is short: vmstat 1; free memory before anything else");
    }
}

/* ---- Sharing ----------------------------------------------------------------------------------------------------- */

void agb_examine_sharing(const agb_evidence *evidence, agb_finding *finding)
{
    const agb_load_samples *loads = &evidence->loads;
    unsigned busy = agb_evidence_busy_threads(evidence);
    double modified = share(loads->hit_modified, loads->loads);
    bool sampled = loads->had && loads->loads >= FEW_LOADS;
    agb_finding_figure(finding, "busy threads", "", busy);
    if (sampled)
        agb_finding_figure(finding, "loads of a line that another core had written", "%", 100 * modified);
    if (evidence->tasks.looks < 2) {
        agb_finding_conclude(finding, AGB_UNSEEN, "it was seen only once");
    } else if (evidence->subject == AGB_SUBJECT_PROCESS && busy < 2) {
        agb_finding_measured(finding, "%u of its threads wanted to run for 5 %% of the time or more", busy);
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out false sharing within the process: one busy thread has "
                             "nobody to share with");
        return;
    } else if (sampled && modified < shared_below) {
        agb_finding_measured(finding, "%.2f %% of the sampled loads hit a line that another core had just written",
                             100 * modified);
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out that cores take lines from each other");
        return;
    } else if (sampled && modified > shared_above) {
        agb_finding_measured(finding, "%.1f %% of the sampled loads hit a line that another core had just written",
                             100 * modified);
        agb_finding_conclude(finding, AGB_SUSPECT, "cores take lines from each other: shared counters, locks, or "
                             "neighbours in one line");
        agb_finding_next(finding, "see which lines: perf c2c; give each thread its own, 128 bytes apart");
    } else {
        agb_finding_measured(finding, "%u thread%s busy", busy, busy == 1 ? " is" : "s are");
        agb_finding_conclude(finding, AGB_UNSEEN,
                             busy < 2 ? "false sharing takes two busy threads: a second one was not seen, but short "
                                        "ones are missed"
                                      : "false sharing is possible: several threads are busy");
    }
    if (finding->verdict == AGB_UNSEEN)
        agb_finding_next(finding, "aggbench lab sharing shows what it costs here");
    agb_finding_unseen(finding, "lines that cores share", sampled ? "samples name no line here" : loads->reason[0] ?
                       loads->reason : "loads were not sampled", "sudo perf c2c record %s; perf c2c "
                       "report --stdio", agb_evidence_whose(evidence).s);
}

/* ---- NUMA -------------------------------------------------------------------------------------------------------- */

static int node_of(const agb_evidence *evidence, int cpu)
{
    for (unsigned node = 0; node < evidence->nodes; node++)
        if (agb_processor_list_covers(evidence->node_cpus[node], &cpu, 1))
            return (int)node;
    return -1;
}

/* The chance that a page of it is on another node than the thread that reads it, were all pages read alike. */
static double remote_chance(const agb_evidence *evidence)
{
    double on_node[AGB_DOCTOR_NODES] = {0}, ran = 0, near = 0;
    uint64_t bytes = 0;
    for (size_t i = 0; i < evidence->tasks.n; i++) {
        const agb_task *task = &evidence->tasks.task[i];
        int node = task->unreadable ? -1 : node_of(evidence, task->cpu);
        if (node >= 0) {
            on_node[node] += agb_task_ran_s(task);
            ran += agb_task_ran_s(task);
        }
    }
    for (unsigned node = 0; node < evidence->nodes; node++)
        bytes += evidence->footprint.on_node[node];
    for (unsigned node = 0; node < evidence->nodes && ran > 0 && bytes > 0; node++)
        near += on_node[node] / ran * (double)evidence->footprint.on_node[node] / (double)bytes;
    return ran > 0 && bytes > 0 ? 1 - near : NAN;
}

static void examine_nodes_of_process(const agb_evidence *evidence, agb_finding *finding)
{
    double remote = remote_chance(evidence);
    for (unsigned node = 0; node < evidence->nodes && node < 8; node++) {
        char name[32];
        snprintf(name, sizeof name, "on node %u", node);
        agb_finding_figure(finding, name, "bytes", evidence->footprint.has_nodes ?
                           (double)evidence->footprint.on_node[node] : NAN);
    }
    agb_finding_estimate(finding, "on another node than its reader", "% of its pages", 100 * remote);
    if (isnan(remote)) {
        agb_finding_conclude(finding, AGB_UNSEEN, "where its pages are is not known");
        agb_finding_unseen(finding, "pages on each node", evidence->vanished ? "it ended" : "its numa_maps cannot be "
                           "read: run as its user or as root", "numastat -p %d", evidence->pid);
        return;
    }
    agb_finding_measured(finding, "by where it ran and where its pages are, %.0f %% of its pages are on another node "
                         "(estimate: all pages taken alike)", 100 * remote);
    if (remote > remote_above) {
        agb_finding_conclude(finding, AGB_SUSPECT, "much of its memory is far from where it runs");
        agb_finding_next(finding, "keep both together: numactl --cpunodebind=N --membind=N COMMAND; let each thread "
                         "first touch what it will use");
    } else {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out, by estimate, remote memory as the main cost");
    }
}

void agb_examine_numa(const agb_evidence *evidence, agb_finding *finding)
{
    agb_finding_figure(finding, "nodes", "", evidence->nodes ? evidence->nodes : 1);
    if (evidence->nodes <= 1) {
        agb_finding_measured(finding, "this machine shows one node");
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out remote memory%s", evidence->machine.hypervisor[0] ?
                             ", as far as a guest can see: the host may spread it" : "");
    } else if (evidence->subject != AGB_SUBJECT_MACHINE) {
        agb_finding_measured(finding, "%u nodes", evidence->nodes);
        examine_nodes_of_process(evidence, finding);
    } else {
        uint64_t misses = evidence->last.node_misses - evidence->first.node_misses;
        agb_finding_figure(finding, "pages from another node than wanted", "", (double)misses);
        agb_finding_measured(finding, "%u nodes; %s pages came from another node than was wanted", evidence->nodes,
                             agb_text_count(misses).s);
        agb_finding_conclude(finding, misses ? AGB_SUSPECT : AGB_UNSEEN, misses ? "a node is full, and memory is taken "
                             "from another" : "who reads memory of another node is seen for single processes only");
        agb_finding_unseen(finding, "remote loads", "nodes keep no count of who reads them", "aggbench doctor --pid "
                           "PID; numastat -p PID");
    }
}

/* ---- TLB --------------------------------------------------------------------------------------------------------- */

/* Huge pages of all anonymous memory: the process's, or the machine's. */
static bool huge_share(const agb_evidence *evidence, uint64_t *anonymous, uint64_t *huge)
{
    uint64_t all_kib = 0, huge_kib = 0;
    *anonymous = evidence->footprint.anonymous;
    *huge = evidence->footprint.huge;
    if (evidence->subject != AGB_SUBJECT_MACHINE)
        return evidence->footprint.has_pages;
    bool known = agb_sysfile_field_number(evidence->root, "/proc/meminfo", "AnonPages", &all_kib) &&
                 agb_sysfile_field_number(evidence->root, "/proc/meminfo", "AnonHugePages", &huge_kib);
    *anonymous = all_kib * 1024;
    *huge = huge_kib * 1024;
    return known;
}

static const char use_huge_pages[] = "use huge pages: madvise(MADV_HUGEPAGE), or GLIBC_TUNABLES=glibc.malloc.hugetlb=1";

static void judge_walks(double walks, agb_finding *finding)
{
    agb_finding_measured(finding, "%.1f %% of the sampled loads needed a page walk", 100 * walks);
    if (walks > walks_above) {
        agb_finding_conclude(finding, AGB_SUSPECT, "address translation costs it time");
        agb_finding_next(finding, "%s", use_huge_pages);
    } else {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out address translation as the main cost");
    }
}

/* Of 1000 instructions; both were counted in turns of equal length, not at once. NAN when one was not. */
static double counted_walks(const agb_evidence *evidence)
{
    const agb_metrics *metrics = &evidence->metrics;
    bool counted = evidence->counted && metrics->has[AGB_DTLB_WALKS] && metrics->has[AGB_INSTRUCTIONS];
    return counted && metrics->value[AGB_INSTRUCTIONS] > 0
               ? 1000 * metrics->value[AGB_DTLB_WALKS] / metrics->value[AGB_INSTRUCTIONS] : NAN;
}

static void judge_counted_walks(double walks, agb_finding *finding)
{
    agb_finding_measured(finding, "%.2f page walks in 1000 instructions", walks);
    if (walks > many_walks) {
        agb_finding_conclude(finding, AGB_SUSPECT, "address translation costs it time");
        agb_finding_next(finding, "%s", use_huge_pages);
    } else if (walks < few_walks) {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out address translation as the main cost");
    } else {
        agb_finding_conclude(finding, AGB_SUSPECT, "address translation is a part of it");
        agb_finding_next(finding, "%s", use_huge_pages);
    }
}

static void bound_walks(uint64_t anonymous, uint64_t huge, const char *setting, agb_finding *finding)
{
    if (anonymous <= tlb_reach_bytes) {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out, by estimate, page walks: TLBs reach all of its "
                             "anonymous memory");
    } else if (share(huge, anonymous) > huge_above) {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out, by estimate, page walks: nearly all of its anonymous "
                             "memory is in huge pages");
    } else {
        agb_finding_conclude(finding, AGB_UNSEEN, "page walks are possible (estimate): its memory is in small pages "
                             "and more than TLBs reach; whether they cost time depends on how it is visited");
        agb_finding_next(finding, "try it: %s", strstr(setting, "[never]") ? "huge pages are switched off here "
                         "(never): echo madvise | sudo tee /sys/kernel/mm/transparent_hugepage/enabled" :
                         "GLIBC_TUNABLES=glibc.malloc.hugetlb=1 COMMAND; aggbench lab pages shows what they do here");
    }
}

void agb_examine_tlb(const agb_evidence *evidence, agb_finding *finding)
{
    const agb_load_samples *loads = &evidence->loads;
    double walks = loads->tlb_known >= FEW_LOADS ? share(loads->tlb_walks, loads->tlb_known) : NAN;
    double counted = counted_walks(evidence);
    char setting[128];
    uint64_t anonymous, huge;
    bool known = huge_share(evidence, &anonymous, &huge);
    agb_sysfile_read(evidence->root, "/sys/kernel/mm/transparent_hugepage/enabled", setting, sizeof setting);
    agb_finding_figure(finding, "anonymous memory", "bytes", known ? (double)anonymous : NAN);
    agb_finding_figure(finding, "of it in huge pages", "%", known ? 100 * share(huge, anonymous) : NAN);
    agb_finding_figure(finding, "loads with a page walk", "%", 100 * walks);
    agb_finding_figure(finding, "page walks", "in 1000 instructions", counted);
    if (known)
        agb_finding_measured(finding, "%s of anonymous memory, %s of huge pages; transparent huge pages: %s",
                             agb_text_bytes(anonymous).s, agb_text_bytes(huge).s, setting[0] ? setting : "not in this "
                             "kernel");
    if (!isnan(walks)) {
        judge_walks(walks, finding);
        return;
    }
    if (!isnan(counted)) {
        judge_counted_walks(counted, finding);
        return;
    }
    if (known)
        bound_walks(anonymous, huge, setting, finding);
    else
        agb_finding_conclude(finding, AGB_UNSEEN, "neither its pages nor their translation can be seen");
    if (!known)
        agb_finding_unseen(finding, "its pages", evidence->footprint.refused[0] ? evidence->footprint.refused :
                           "it ended before they were read", "sudo grep -E 'Anonymous|AnonHuge' /proc/%d/smaps_rollup",
                           evidence->pid);
    agb_finding_unseen(finding, "page walks", evidence->support.available ? "no loads were sampled"
                                                                         : evidence->support.reason,
                       "perf stat -e dTLB-load-misses:u,instructions:u %s", agb_evidence_whose(evidence).s);
}
