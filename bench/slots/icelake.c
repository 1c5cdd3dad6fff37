/* SPDX-License-Identifier: MIT */
/* Intel Ice Lake-SP and Ice Lake-D servers (models 106, 108). Five slots a cycle. Level 1 comes from PERF_METRICS
 * (intel_topdown.h), or, where a hypervisor hides it, from ordinary counters:
 *
 *     with PERF_METRICS                              without
 *     retiring       = ret / S                       RET / SLOTS
 *     frontend bound = fe / S - UOPDROP / slots      (FEB - UOPDROP) / SLOTS
 *     backend bound  = be / S + 5 * CLEARS / slots   (BES + 5 * CLEARS) / SLOTS
 *     bad speculation = the rest                     the rest: no event counts it, so level 1 checks nothing
 *     memory bound   : intel_memory.h, from a pass of its own
 *
 * CLEARS is worth five slots for each clear: little, except where branches are mispredicted often.
 * SOURCE  intel/perfmon, TMA_Metrics-full.csv and the ICX event list. */
#include "intel_memory.h"
#include "intel_topdown.h"

#include <string.h>

enum { WIDTH = 5, METRICS = 0, ORDINARY, STALLS, WORK, DRAM };

#define PMU "icx::"

static bool has_metrics(const agb_cpu_id *cpu)
{
    return cpu->metric_level >= 1;
}

static bool has_no_metrics(const agb_cpu_id *cpu)
{
    return cpu->metric_level == 0;
}

static const agb_pass passes[] = {
    [METRICS] = {.name = "topdown", .usable = has_metrics, .events = {
        {"SLOTS", TOPDOWN_SLOTS, 0, NULL},
        {"RET", TOPDOWN_RETIRING, 0, NULL},
        {"BAD", TOPDOWN_BAD_SPECULATION, 0, NULL},
        {"FE", TOPDOWN_FRONTEND, 0, NULL},
        {"BE", TOPDOWN_BACKEND, 0, NULL},
        {"UOPDROP", 0x100d, 0, PMU "INT_MISC:UOP_DROPPING"},
        {"CLEARS", 0x104010d, 0, PMU "INT_MISC:CLEARS_COUNT"}}},
    [ORDINARY] = {.name = "slots", .usable = has_no_metrics, .events = {
        {"SLOTS", 0x1a4, 0, PMU "TOPDOWN:SLOTS_P"},
        {"RET", 0x2c2, 0, PMU "UOPS_RETIRED:SLOTS"},
        {"FEB", 0x19c, 0, PMU "IDQ_UOPS_NOT_DELIVERED:CORE"},
        {"BES", 0x2a4, 0, NULL},    /* libpfm4 gives 0x200 */
        {"UOPDROP", 0x100d, 0, PMU "INT_MISC:UOP_DROPPING"},
        {"CLEARS", 0x104010d, 0, PMU "INT_MISC:CLEARS_COUNT"}}},
    [STALLS] = {.name = "stalls", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"STM", 0x140014a3, 0, PMU "CYCLE_ACTIVITY:STALLS_MEM_ANY"},
        {"STT", 0x40004a3, 0, PMU "CYCLE_ACTIVITY:STALLS_TOTAL"},
        {"BST", 0x20040a6, 0, PMU "EXE_ACTIVITY:BOUND_ON_STORES"},
        {"P1", 0x2a6, 0, PMU "EXE_ACTIVITY:1_PORTS_UTIL"},
        {"P2", 0x4a6, 0, PMU "EXE_ACTIVITY:2_PORTS_UTIL"}}},
    [WORK] = {.name = "work", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"INS", 0xc0, 0, PMU "INST_RETIRED:ANY_P"},
        {"OPS", 0x2c2, 0, PMU "UOPS_RETIRED:SLOTS"},
        {"LLC", 0x412e, 0, PMU "LONGEST_LAT_CACHE:MISS"},
        {"WALKS_LOAD", 0xe08, 0, PMU "DTLB_LOAD_MISSES:WALK_COMPLETED"},
        {"WALKS_STORE", 0xe49, 0, PMU "DTLB_STORE_MISSES:WALK_COMPLETED"}}},
    [DRAM] = {.name = "dram", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"DEMAND", 0x1b7, 0x73c000001, PMU "OCR:DEMAND_DATA_RD_DRAM"},
        {"FILLS", 0x1b7, 0x73c000477, PMU "OCR:READS_TO_CORE_DRAM"}}},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    return strcmp(cpu->vendor, "GenuineIntel") == 0 && cpu->family == 6 && (cpu->model == 106 || cpu->model == 108);
}

static void from_metrics(const uint64_t *values, agb_metrics *out)
{
    enum { SLOTS, RET, BAD, FE, BE, UOPDROP, CLEARS };
    double sum = topdown_sum(values, out), slots = (double)values[SLOTS];
    double rest = topdown_set(out, (double)values[RET] / sum,
                              (double)values[FE] / sum - (double)values[UOPDROP] / slots,
                              (double)values[BE] / sum + WIDTH * (double)values[CLEARS] / slots);
    agb_metrics_set_share(out, AGB_BAD_SPECULATION_PCT, rest, 1);
}

static void from_ordinary(const uint64_t *values, agb_metrics *out)
{
    enum { SLOTS, RET, FEB, BES, UOPDROP, CLEARS };
    double slots = (double)values[SLOTS];
    double rest = topdown_set(out, (double)values[RET] / slots,
                              ((double)values[FEB] - (double)values[UOPDROP]) / slots,
                              ((double)values[BES] + WIDTH * (double)values[CLEARS]) / slots);
    agb_metrics_set_rest(out, AGB_BAD_SPECULATION_PCT, rest, 1);
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    agb_metrics_set_plain(out, &passes[pass], values);
    if ((pass == METRICS || pass == ORDINARY) && topdown_has_slots(values, out))
        (pass == METRICS ? from_metrics : from_ordinary)(values, out);
}

static void combine(const agb_rates *rates, agb_metrics *out)
{
    const double *stalls = rates[STALLS].per_leader;
    if (rates[STALLS].has)
        intel_split_backend(&(intel_stalls){.stm = stalls[1], .stt = stalls[2], .bst = stalls[3], .p1 = stalls[4],
                                            .p2 = stalls[5]}, out);
}

const agb_slots agb_slots_icelake = {
    .name = "icelake",
    .uarch = "Ice Lake-SP",
    .about = "Level 1 from PERF_METRICS, in steps of 0.4 % for each reading, or from ordinary counters where that is "
             "hidden; bad speculation is the rest. That PERF_METRICS comes to the slots is checked; by ordinary "
             "counters nothing is, since no event counts bad speculation. Memory bound parts the backend-bound slots "
             "by stalled cycles with a load outstanding or a full store buffer, in a pass of its own, which needs "
             "five free counters. DRAM bytes on demand are those of loads; any fill adds stores and prefetches; both "
             "need an extra register that virtual machines often refuse",
    .matches = matches,
    .width = WIDTH,
    .passes = passes,
    .metrics = metrics,
    .combine = combine,
};
