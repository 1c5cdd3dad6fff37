/* SPDX-License-Identifier: MIT */
/* ARM Neoverse N2, V1 and V2: stalled slots by three events, operations retired and speculated by two more.
 *
 *     SS = STALL_SLOT, SF = STALL_SLOT_FRONTEND, SB = STALL_SLOT_BACKEND, used = 1 - SS / (width * CYC)
 *     retiring        = OPS / SPEC * used
 *     bad speculation = (1 - OPS / SPEC) * used
 *     frontend bound  = SF / (width * CYC)
 *     backend bound   = SB / (width * CYC)
 *     memory          = MEM / CYC        cycles, not slots: STALL_BACKEND_MEM, so it has a name and a column of its own
 *
 * This is the kernel's first form; ARM's own adds small terms of mispredicted branches to three of them.
 * SOURCE  Linux, tools/perf/pmu-events/arch/arm64: sbsa.json, arm/neoverse-*; ARM-software telemetry-solution.
 *
 * The including file defines PMU, libpfm4's prefix. The group takes six counters and that of the cycles: all there
 * are. */
#ifndef AGB_NEOVERSE_H
#define AGB_NEOVERSE_H

#include "slots.h"

#include <string.h>

#define NEOVERSE_CYC {"CYC", 0x11, 0, PMU "CPU_CYCLES"}
#define NEOVERSE_USED                                                                                                  \
    {"OPS", 0x3a, 0, PMU "OP_RETIRED"}, {"SPEC", 0x3b, 0, PMU "OP_SPEC"}, {"SS", 0x3f, 0, PMU "STALL_SLOT"}
#define NEOVERSE_STALLED                                                                                               \
    {"SB", 0x3d, 0, PMU "STALL_SLOT_BACKEND"}, {"SF", 0x3e, 0, PMU "STALL_SLOT_FRONTEND"},                             \
    {"MEM", 0x4005, 0, PMU "STALL_BACKEND_MEM"}

/* fills_name: libpfm4's name of 0x2a, or NULL where it has none. */
#define NEOVERSE_WORK_EVENTS(fills_name) {                                                                             \
    NEOVERSE_CYC,                                                                                                      \
    {"INS", 0x08, 0, PMU "INST_RETIRED"},                                                                              \
    {"LLC", 0x37, 0, PMU "LL_CACHE_MISS_RD"},                                                                          \
    {"FILLS", 0x2a, 0, fills_name},                                                                                    \
    {"WALKS", 0x34, 0, PMU "DTLB_WALK"}}

static inline bool neoverse_part(const agb_cpu_id *cpu, unsigned part)
{
    return strcmp(cpu->vendor, "ARM") == 0 && cpu->model == part;
}

/* What counts say by themselves. LL_CACHE_MISS_RD opens everywhere and stays 0 where the maker has not set the bit: a
 * 0 is no value. */
static inline void neoverse_set_plain(agb_metrics *out, const agb_pass *pass, const uint64_t *values)
{
    agb_metrics_set_plain(out, pass, values);
    if (!out->has[AGB_LLC_MISSES] || out->value[AGB_LLC_MISSES] > 0)
        return;
    out->has[AGB_LLC_MISSES] = false;
    agb_metrics_note(out, "llc_misses: not available: the event stays 0, its maker has not set the external-cache bit");
}

/* values: CYC, OPS, SPEC, SS. surplus: slots a cycle that STALL_SLOT counts too many, 1 under N2's erratum, else 0. */
static inline void neoverse_set_used(unsigned width, unsigned surplus, const uint64_t *values, agb_metrics *out)
{
    enum { CYC, OPS, SPEC, SS };
    double cycles = (double)values[CYC], slots = width * cycles;
    double used = slots - ((double)values[SS] - surplus * cycles);
    if (values[SPEC] == 0) {
        agb_metrics_note(out, "retiring and bad speculation: unreliable: no speculated operation was counted");
        return;
    }
    double kept = (double)values[OPS] / (double)values[SPEC];
    agb_metrics_set_share(out, AGB_RETIRING_PCT, kept * used, slots);
    agb_metrics_set_share(out, AGB_BAD_SPECULATION_PCT, (1 - kept) * used, slots);
}

/* stalled: SB, SF, MEM. surplus: as above, of STALL_SLOT_FRONTEND. */
static inline void neoverse_set_stalled(unsigned width, unsigned surplus, uint64_t cycles, const uint64_t *stalled,
                                        agb_metrics *out)
{
    enum { SB, SF, MEM };
    double slots = width * (double)cycles;
    agb_metrics_set_share(out, AGB_FRONTEND_BOUND_PCT, (double)stalled[SF] - surplus * (double)cycles, slots);
    agb_metrics_set_share(out, AGB_BACKEND_BOUND_PCT, (double)stalled[SB], slots);
    agb_metrics_set_share(out, AGB_MEMORY_STALLED_CYCLES_PCT, (double)stalled[MEM], (double)cycles);
    agb_metrics_note(out, "memory_bound_pct: not available: counted only as stalled cycles");
}

#define NEOVERSE_ABOUT                                                                                                 \
    "Stalled slots by event; what is not stalled is parted into retiring and bad speculation by operations "           \
    "retired and speculated. Waiting for memory is counted in cycles, not in slots, and stands under its own "         \
    "name. LLC misses count only where the maker of the chip set the external-cache bit. DRAM bytes on demand are"     \
    " not available; any fill is 64 times the refills of the L3"

#endif
