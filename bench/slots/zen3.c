/* SPDX-License-Identifier: MIT */
/* AMD Zen 3 and 3+: EPYC 7003, Ryzen 5000 and 6000. Operations, but no slots, can be counted.
 * Formulas, their limits and their source: zen_retired.h. */
#include "zen_retired.h"

#include <string.h>

#define PMU "amd64_fam19h_zen3::"

static const agb_pass passes[] = {
    [ZEN_RETIRED_SLOTS] = {.name = "operations", .events = {
        {"CYC", 0x76, 0, PMU "CYCLES_NOT_IN_HALT"},
        {"OPS", 0xc1, 0, PMU "RETIRED_OPS"},
        {"DISP", 0x3aa, 0, PMU "OPS_SOURCE_DISPATCHED_FROM_DECODER:X86DECODER_DISPATCHED:OPCACHE_DISPATCHED"},
        {"EMPTY", 0xa9, 0, PMU "UOPS_QUEUE_EMPTY"}}},
    [ZEN_RETIRED_MEMORY] = {.name = "memory", .events = {
        {"CYC", 0x76, 0, PMU "CYCLES_NOT_IN_HALT"},
        {"INS", 0xc0, 0, PMU "RETIRED_INSTRUCTIONS"},
        {"DEMAND", 0x4843, 0, PMU "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT"},
        {"FILLS", 0x4844, 0, PMU "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:MEM_IO_LCL:MEM_IO_RMT"},
        {"WALKS", 0xf045, 0, PMU "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_COALESCED_PAGE_MISS:"
                                 "TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_1G_L2_MISS"}}},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    return strcmp(cpu->vendor, "AuthenticAMD") == 0 && cpu->family == 25
           && (cpu->model <= 0x0f || (cpu->model >= 0x20 && cpu->model <= 0x5f));
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    zen_retired_metrics(passes, pass, values, out);
}

const agb_slots agb_slots_zen3 = {
    .name = "zen3",
    .uarch = "Zen 3",
    .about = ZEN_RETIRED_ABOUT ". DRAM bytes include IO",
    .matches = matches,
    .width = 0,
    .passes = passes,
    .metrics = metrics,
};
