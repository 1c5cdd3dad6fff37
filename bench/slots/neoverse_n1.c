/* SPDX-License-Identifier: MIT */
/* ARM Neoverse N1 (part 0xd0c): Graviton 2, Altra. No operations and no slots can be counted, only cycles in which the
 * frontend delivered nothing or the backend took nothing:
 *
 *     backend stalled cycles  = STALL_BACKEND / CYC
 *     frontend stalled cycles = STALL_FRONTEND / CYC
 *
 * A cycle in which one of four operations went through is not a stalled one, so these are lower than shares of slots
 * would be, and are not comparable to them.  SOURCE  Linux, tools/perf/pmu-events/arch/arm64/arm/neoverse-n1. */
#define PMU "arm_n1::"
#include "neoverse.h"

enum { STALLS, WORK };

static const agb_pass passes[] = {
    [STALLS] = {.name = "stalls", .events = {
        {"CYC", 0x11, 0, PMU "CPU_CYCLES"},
        {"BACK", 0x24, 0, PMU "STALL_BACKEND"},
        {"FRONT", 0x23, 0, PMU "STALL_FRONTEND"}}},
    [WORK] = {.name = "work", .events = NEOVERSE_WORK_EVENTS(PMU "L3D_CACHE_REFILL")},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    return neoverse_part(cpu, 0xd0c);
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    enum { CYC, BACK, FRONT };
    neoverse_set_plain(out, &passes[pass], values);
    if (pass != STALLS)
        return;
    agb_metrics_set_share(out, AGB_BACKEND_STALLED_CYCLES_PCT, (double)values[BACK], (double)values[CYC]);
    agb_metrics_set_share(out, AGB_FRONTEND_STALLED_CYCLES_PCT, (double)values[FRONT], (double)values[CYC]);
    agb_metrics_note(out, "retiring and memory bound: not available: Neoverse N1 has no OP_RETIRED and no STALL_SLOT");
}

const agb_slots agb_slots_neoverse_n1 = {
    .name = "neoverse_n1",
    .uarch = "Neoverse N1",
    .about = "No slots: cycles in which nothing was delivered (frontend) or nothing was taken (backend). They cannot "
             "be compared with shares of slots on other processors, and do not say whether the backend waited for "
             "memory. LLC misses count only where the maker of the chip set the external-cache bit",
    .matches = matches,
    .width = 0,
    .passes = passes,
    .metrics = metrics,
};
