/* SPDX-License-Identifier: MIT */
/* Intel Skylake-SP, Cascade Lake and Cooper Lake servers (model 85). Four slots a cycle, with ordinary counters.
 *
 *     SLOTS           = 4 * CYC
 *     retiring        = RS / SLOTS
 *     frontend bound  = FEU / SLOTS
 *     bad speculation = (ISS - RS + 4 * REC) / SLOTS
 *     backend bound   = 1 - frontend bound - (ISS + 4 * REC) / SLOTS
 *     memory bound    : intel_memory.h
 *
 * SOURCE  A. Yasin, 2014 (see intel_memory.h); intel/perfmon, SKX and CLX event lists.
 *
 * LIMITS  Slots belong to the physical core, which two hardware threads share, and are counted as if one had it
 * alone: leave the sibling idle, or the shares come to more than 100 % and are withheld. With hyper-threading on
 * there are four programmable counters, so the memory split takes two passes beside that of the slots. */
#include "intel_memory.h"

#include <string.h>

enum { WIDTH = 4, SLOTS = 0, STALLS, PORTS, WORK, DRAM };

#define PMU "skx::"

static const agb_pass passes[] = {
    [SLOTS] = {.name = "slots", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"FEU", 0x19c, 0, PMU "IDQ_UOPS_NOT_DELIVERED:CORE"},
        {"ISS", 0x10e, 0, PMU "UOPS_ISSUED:ANY"},
        {"OPS_RS", 0x2c2, 0, PMU "UOPS_RETIRED:RETIRE_SLOTS"},
        {"REC", 0x10d, 0, PMU "INT_MISC:RECOVERY_CYCLES"}}},
    [STALLS] = {.name = "stalls", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"STM", 0x140014a3, 0, PMU "CYCLE_ACTIVITY:STALLS_MEM_ANY"},
        {"STT", 0x40004a3, 0, PMU "CYCLE_ACTIVITY:STALLS_TOTAL"},
        {"BST", 0x40a6, 0, PMU "EXE_ACTIVITY:BOUND_ON_STORES"}}},
    [PORTS] = {.name = "ports", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"P1", 0x2a6, 0, PMU "EXE_ACTIVITY:1_PORTS_UTIL"},
        {"P2", 0x4a6, 0, PMU "EXE_ACTIVITY:2_PORTS_UTIL"}}},
    [WORK] = {.name = "work", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"INS", 0xc0, 0, PMU "INST_RETIRED:ANY_P"},
        {"LLC", 0x412e, 0, PMU "LONGEST_LAT_CACHE:MISS"},
        {"WALKS_LOAD", 0xe08, 0, PMU "DTLB_LOAD_MISSES:WALK_COMPLETED"},
        {"WALKS_STORE", 0xe49, 0, PMU "DTLB_STORE_MISSES:WALK_COMPLETED"}}},
    /* libpfm4's L3_MISS with SNP_ANY is of the local socket only: codes of the vendor's list instead. */
    [DRAM] = {.name = "dram", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"DEMAND", 0x1b7, 0x3fbc000001, NULL},
        {"FILLS", 0x1b7, 0x3fbc000491, NULL}}},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    return strcmp(cpu->vendor, "GenuineIntel") == 0 && cpu->family == 6 && cpu->model == 85;
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    enum { CYC, FEU, ISS, OPS_RS, REC };
    agb_metrics_set_plain(out, &passes[pass], values);
    if (pass != SLOTS)
        return;
    double slots = WIDTH * (double)values[CYC], issued = (double)values[ISS] + WIDTH * (double)values[REC];
    agb_metrics_set_share(out, AGB_RETIRING_PCT, (double)values[OPS_RS], slots);
    agb_metrics_set_share(out, AGB_FRONTEND_BOUND_PCT, (double)values[FEU], slots);
    agb_metrics_set_share(out, AGB_BAD_SPECULATION_PCT, issued - (double)values[OPS_RS], slots);
    agb_metrics_set_rest(out, AGB_BACKEND_BOUND_PCT, slots - (double)values[FEU] - issued, slots);
}

static void combine(const agb_rates *rates, agb_metrics *out)
{
    if (!rates[STALLS].has || !rates[PORTS].has)
        return;
    const double *stalls = rates[STALLS].per_leader, *ports = rates[PORTS].per_leader;
    intel_split_backend(&(intel_stalls){.stm = stalls[1], .stt = stalls[2], .bst = stalls[3], .p1 = ports[1],
                                        .p2 = ports[2]}, out);
}

const agb_slots agb_slots_skylake = {
    .name = "skylake",
    .uarch = "Skylake-SP or Cascade Lake",
    .about = "Slots by ordinary counters, four a cycle and of the whole physical core: leave the other hardware "
             "thread idle, else the shares come to more than 100 % and are withheld. No event counts backend-bound "
             "slots: they are what the other three leave, so that level 1 always comes to 100 % and checks nothing; "
             "what can be seen is a share below 0. Memory bound parts the backend-bound slots by stalled cycles with "
             "a load outstanding or a full store buffer, counted in passes of their own. Operations retired are fused "
             "ones. DRAM bytes are lines that missed the L3, on demand by loads, and with prefetches and stores as "
             "any fill; they need an extra register that virtual machines often refuse",
    .matches = matches,
    .width = WIDTH,
    .passes = passes,
    .metrics = metrics,
    .combine = combine,
};
