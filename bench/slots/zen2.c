/* SPDX-License-Identifier: MIT */
/* AMD Zen 2: EPYC 7002, Ryzen 3000. Operations, but no slots, can be counted.
 * Formulas, their limits and their source: zen_retired.h. */
#include "zen_retired.h"

#include <string.h>

#define PMU "amd64_fam17h_zen2::"

static const agb_pass passes[] = {
    [ZEN_RETIRED_SLOTS] = {.name = "operations", .events = {
        {"CYC", 0x76, 0, PMU "CYCLES_NOT_IN_HALT"},
        {"OPS", 0xc1, 0, PMU "RETIRED_UOPS"},
        {"DISP", 0x3aa, 0, PMU "UOPS_DISPATCHED_FROM_DECODER:DECODER_DISPATCHED:OPCACHE_DISPATCHED"},
        {"EMPTY", 0xa9, 0, PMU "UOPS_QUEUE_EMPTY"}}},
    [ZEN_RETIRED_MEMORY] = {.name = "memory", .events = {
        {"CYC", 0x76, 0, PMU "CYCLES_NOT_IN_HALT"},
        {"INS", 0xc0, 0, PMU "RETIRED_INSTRUCTIONS"},
        {"DEMAND", 0x4843, 0, PMU "DATA_CACHE_REFILLS_FROM_SYSTEM:LS_MABRESP_LCL_DRAM:LS_MABRESP_RMT_DRAM"},
        {"WALKS", 0xf045, 0, PMU "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_COALESCED_PAGE_MISS:"
                                 "TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_1G_L2_MISS"}}},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    return strcmp(cpu->vendor, "AuthenticAMD") == 0 && cpu->family == 23 && cpu->model >= 0x30;
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    zen_retired_metrics(passes, pass, values, out);
}

const agb_slots agb_slots_zen2 = {
    .name = "zen2",
    .uarch = "Zen 2",
    .about = ZEN_RETIRED_ABOUT ". DRAM bytes are demand fills only",
    .matches = matches,
    .width = 0,
    .passes = passes,
    .metrics = metrics,
};
