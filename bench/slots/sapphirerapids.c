/* SPDX-License-Identifier: MIT */
/* Intel Golden Cove and its successors of the same counters: Sapphire Rapids (143), Emerald Rapids (207), Granite
 * Rapids (173, 174), and the performance cores of Alder and Raptor Lake (151, 154, 183, 186, 191). Six slots a cycle.
 * Both levels come from PERF_METRICS (intel_topdown.h), or, where a hypervisor hides it, from ordinary counters:
 *
 *     with PERF_METRICS                              without
 *     retiring       = ret / S                       RET / SLOTS
 *     frontend bound = fe / S - UOPDROP / slots      (FEB - UOPDROP) / SLOTS
 *     backend bound  = be / S                        BES / SLOTS
 *     memory bound   = mem / S                       MBS / SLOTS           the rest of backend bound is core bound
 *     bad speculation = the rest of 1                BAD / SLOTS, so that level 1 can be checked
 *
 * BAD can be counted by the first counter only and makes the group one of seven: where that does not fit, the group
 * goes without it, and bad speculation is the rest there, too.
 *
 * SOURCE  intel/perfmon, TMA_Metrics-full.csv and the SPR event list. libpfm4 4.13 has a PMU for 143 only, and gives
 * wrong codes for BES, MBS and BAD. */
#include "intel_topdown.h"

#include <string.h>

enum { WIDTH = 6, METRICS = 0, ORDINARY, WORK, DRAM, DRAM_CLIENT, ORDINARY_REST };

#define PMU "spr::"

static bool has_metrics(const agb_cpu_id *cpu)
{
    return cpu->metric_level >= 2;
}

static bool has_no_metrics(const agb_cpu_id *cpu)
{
    return cpu->metric_level < 2;
}

/* Sapphire, Emerald and Granite Rapids. A desktop part without efficient cores has one kind of core, too. */
static bool is_server(const agb_cpu_id *cpu)
{
    return cpu->model == 143 || cpu->model == 207 || cpu->model == 173 || cpu->model == 174;
}

static bool is_client(const agb_cpu_id *cpu)
{
    return !is_server(cpu);
}

static const agb_pass passes[] = {
    [METRICS] = {.name = "topdown", .usable = has_metrics, .events = {
        {"SLOTS", TOPDOWN_SLOTS, 0, NULL},
        {"RET", TOPDOWN_RETIRING, 0, NULL},
        {"BAD", TOPDOWN_BAD_SPECULATION, 0, NULL},
        {"FE", TOPDOWN_FRONTEND, 0, NULL},
        {"BE", TOPDOWN_BACKEND, 0, NULL},
        {"MEM", TOPDOWN_MEMORY, 0, NULL},
        {"UOPDROP", 0x10ad, 0, PMU "INT_MISC:UOP_DROPPING"}}},
    [ORDINARY] = {.name = "slots", .usable = has_no_metrics, .events = {
        {"SLOTS", 0x1a4, 0, PMU "TOPDOWN:SLOTS_P"},
        {"RET", 0x2c2, 0, PMU "UOPS_RETIRED:SLOTS"},
        {"FEB", 0x19c, 0, PMU "IDQ_UOPS_NOT_DELIVERED:CORE"},
        {"BES", 0x2a4, 0, NULL},
        {"MBS", 0x10a4, 0, NULL},
        {"UOPDROP", 0x10ad, 0, PMU "INT_MISC:UOP_DROPPING"},
        {"BAD", 0x4a4, 0, NULL}}},
    [WORK] = {.name = "work", .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"INS", 0xc0, 0, PMU "INST_RETIRED:ANY_P"},
        {"OPS", 0x2c2, 0, PMU "UOPS_RETIRED:SLOTS"},
        {"LLC", 0x412e, 0, PMU "LONGEST_LAT_CACHE:MISS"},
        {"WALKS_LOAD", 0xe12, 0, PMU "DTLB_LOAD_MISSES:WALK_COMPLETED"},
        {"WALKS_STORE", 0xe13, 0, PMU "DTLB_STORE_MISSES:WALK_COMPLETED"}}},
    [DRAM] = {.name = "dram", .usable = is_server, .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"DEMAND", 0x12a, 0x73c000001, PMU "OCR:DEMAND_DATA_RD_DRAM"},
        {"FILLS", 0x12a, 0x73c004477, PMU "OCR:READS_TO_CORE_DRAM"}}},
    [DRAM_CLIENT] = {.name = "dram", .usable = is_client, .events = {
        {"CYC", 0x3c, 0, PMU "CPU_CLK_UNHALTED:THREAD_P"},
        {"DEMAND", 0x12a, 0x184000001, NULL}}},
    [ORDINARY_REST] = {.name = "slots without bad", .usable = has_no_metrics, .spare_for = ORDINARY + 1, .events = {
        {"SLOTS", 0x1a4, 0, PMU "TOPDOWN:SLOTS_P"},
        {"RET", 0x2c2, 0, PMU "UOPS_RETIRED:SLOTS"},
        {"FEB", 0x19c, 0, PMU "IDQ_UOPS_NOT_DELIVERED:CORE"},
        {"BES", 0x2a4, 0, NULL},
        {"MBS", 0x10a4, 0, NULL},
        {"UOPDROP", 0x10ad, 0, PMU "INT_MISC:UOP_DROPPING"}}},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    if (strcmp(cpu->vendor, "GenuineIntel") != 0 || cpu->family != 6)
        return false;
    switch (cpu->model) {
    case 143: case 207: case 173: case 174:
        return true;
    case 151: case 154: case 183: case 186: case 191:
        return cpu->core != AGB_CORE_EFFICIENT;
    default:
        return false;
    }
}

/* The part may exceed its whole by what the hardware rounds to, 1/255 of the slots, and not by more. */
static void set_memory(agb_metrics *out, double memory, double backend)
{
    if (memory > backend + 1.0 / 255) {
        agb_metrics_doubt(out, "memory_bound_pct: unreliable: %.1f %% of the slots, more than all backend-bound ones "
                          "(%.1f %%)", 100 * memory, 100 * backend);
        return;
    }
    agb_metrics_set_share(out, AGB_MEMORY_BOUND_PCT, memory, 1);
    agb_metrics_set_share(out, AGB_CORE_BOUND_PCT, backend > memory ? backend - memory : 0, 1);
}

static void from_metrics(const uint64_t *values, agb_metrics *out)
{
    enum { SLOTS, RET, BAD, FE, BE, MEM, UOPDROP };
    double sum = topdown_sum(values, out), backend = (double)values[BE] / sum;
    double frontend = (double)values[FE] / sum - (double)values[UOPDROP] / (double)values[SLOTS];
    double rest = topdown_set(out, (double)values[RET] / sum, frontend, backend);
    agb_metrics_set_share(out, AGB_BAD_SPECULATION_PCT, rest, 1);
    set_memory(out, (double)values[MEM] / sum, backend);
}

static void from_ordinary(const uint64_t *values, bool counts_bad, agb_metrics *out)
{
    enum { SLOTS, RET, FEB, BES, MBS, UOPDROP, BAD };
    double slots = (double)values[SLOTS], backend = (double)values[BES] / slots;
    double rest = topdown_set(out, (double)values[RET] / slots,
                              ((double)values[FEB] - (double)values[UOPDROP]) / slots, backend);
    if (counts_bad)
        agb_metrics_set_share(out, AGB_BAD_SPECULATION_PCT, (double)values[BAD], slots);
    else
        agb_metrics_set_rest(out, AGB_BAD_SPECULATION_PCT, rest, 1);
    set_memory(out, (double)values[MBS] / slots, backend);
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    agb_metrics_set_plain(out, &passes[pass], values);
    if (pass != METRICS && pass != ORDINARY && pass != ORDINARY_REST)
        return;
    if (!topdown_has_slots(values, out))
        return;
    if (pass == METRICS)
        from_metrics(values, out);
    else
        from_ordinary(values, pass == ORDINARY, out);
}

const agb_slots agb_slots_sapphirerapids = {
    .name = "sapphirerapids",
    .uarch = "Golden Cove (Sapphire Rapids or later)",
    .about = "Both levels from PERF_METRICS, in steps of 0.4 % for each reading, or from ordinary counters where that "
             "is hidden. That level 1 comes to 100 % is checked: by PERF_METRICS against the slots, by ordinary "
             "counters with bad speculation counted by itself, unless too few of them are free. Memory bound: slots "
             "lost while loads were outstanding or the store buffer was full. On hybrids these are the performance "
             "cores: pin threads to them. DRAM bytes on demand are those of loads; any fill adds stores and "
             "prefetches; both need an extra register that virtual machines often refuse",
    .matches = matches,
    .width = WIDTH,
    .passes = passes,
    .metrics = metrics,
};
