/* SPDX-License-Identifier: MIT */
/* Zen 4 and Zen 5 count their pipeline slots at dispatch with the same events; only the width differs. The including
 * file gives the width.
 *
 * SOURCE  Linux, tools/perf/pmu-events/arch/x86/amdzen4 and amdzen5: pipeline.json (formulas), core.json, other.json,
 *         cache.json, load-store.json (codes).
 *
 *     SLOTS          = width * CYC
 *     retiring       = OPS / SLOTS
 *     backend bound  = BE / SLOTS
 *     memory bound   = backend bound * LDNC / NC           the rest of backend bound is core bound
 *     frontend bound = FE / SLOTS
 *     bad speculation = (DISP - OPS) / SLOTS
 *     SMT contention = SMT / SLOTS
 *
 * Five events in a pass: six counters are there, and the NMI watchdog may hold one of them. */
#ifndef AGB_ZEN_DISPATCH_H
#define AGB_ZEN_DISPATCH_H

#include "slots.h"

#define ZEN4 "amd64_fam19h_zen4::"

enum { ZEN_SLOTS, ZEN_FRONTEND, ZEN_MEMORY, ZEN_STALLS, ZEN_OPERATIONS, ZEN_FILLS, ZEN_WALKS };

#define ZEN_CYC {"CYC", 0x76, 0, ZEN4 "CYCLES_NOT_IN_HALT"}
#define ZEN_OPS {"OPS", 0xc1, 0, ZEN4 "RETIRED_OPS"}
#define ZEN_BE {"BE", 0x100001ea0, 0, ZEN4 "DISPATCH_STALLS_1:BE_STALLS"}
#define ZEN_LDNC {"LDNC", 0xa2d6, 0, ZEN4 "CYCLES_NO_RETIRE:NOT_COMPLETE_MISSING_LOAD"}
#define ZEN_NC {"NC", 0x2d6, 0, ZEN4 "CYCLES_NO_RETIRE:NOT_COMPLETE_LOAD_AND_ALU"}
#define ZEN_DISP {"DISP", 0x7aa, 0, ZEN4 "OPS_SOURCE_DISPATCHED_FROM_DECODER:DECODER:OPCACHE:LOOP_BUFFER"}
#define ZEN_FE {"FE", 0x1000001a0, 0, ZEN4 "DISPATCH_STALLS_1:FE_NO_OPS"}
#define ZEN_SMT {"SMT", 0x1000060a0, 0, ZEN4 "DISPATCH_STALLS_1:SMT_CONTENTION"}
#define ZEN_INS {"INS", 0xc0, 0, ZEN4 "RETIRED_INSTRUCTIONS"}
#define ZEN_DEMAND {"DEMAND", 0x4843, 0, ZEN4 "DEMAND_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR"}
#define ZEN_ANY {"FILLS", 0x4844, 0, ZEN4 "ANY_DATA_CACHE_FILLS_FROM_SYSTEM:DRAM_IO_NEAR:DRAM_IO_FAR"}
#define ZEN_WALK {"WALKS", 0xf045, 0, ZEN4 "L1_DTLB_MISS:TLB_RELOAD_4K_L2_MISS:TLB_RELOAD_COALESCED_PAGE_MISS:"       \
                                           "TLB_RELOAD_2M_L2_MISS:TLB_RELOAD_1G_L2_MISS"}

/* The four spares are for virtual machines without the perfctr_core flag, which have four counters. */
static const agb_pass zen_passes[] = {
    [ZEN_SLOTS] = {.name = "slots", .events = {ZEN_CYC, ZEN_OPS, ZEN_BE, ZEN_LDNC, ZEN_NC}},
    [ZEN_FRONTEND] = {.name = "frontend", .events = {ZEN_CYC, ZEN_OPS, ZEN_DISP, ZEN_FE, ZEN_SMT}},
    [ZEN_MEMORY] = {.name = "memory", .events = {ZEN_CYC, ZEN_INS, ZEN_DEMAND, ZEN_ANY, ZEN_WALK}},
    [ZEN_STALLS] = {.name = "stalls", .spare_for = ZEN_SLOTS + 1, .events = {ZEN_CYC, ZEN_BE, ZEN_LDNC, ZEN_NC}},
    [ZEN_OPERATIONS] = {.name = "operations", .spare_for = ZEN_FRONTEND + 1,
                        .events = {ZEN_CYC, ZEN_OPS, ZEN_DISP, ZEN_FE}},
    [ZEN_FILLS] = {.name = "fills", .spare_for = ZEN_MEMORY + 1, .events = {ZEN_CYC, ZEN_INS, ZEN_DEMAND, ZEN_ANY}},
    [ZEN_WALKS] = {.name = "walks", .spare_for = ZEN_MEMORY + 1, .events = {ZEN_CYC, ZEN_INS, ZEN_WALK}},
    {.name = NULL},
};

static inline void zen_set_backend(double slots, double backend, uint64_t ldnc, uint64_t nc, agb_metrics *out)
{
    agb_metrics_set_share(out, AGB_BACKEND_BOUND_PCT, backend, slots);
    if (nc == 0)
        agb_metrics_note(out, "memory_bound_pct: not available: no cycle without retirement was counted (NC is 0)");
    else if (ldnc > nc)
        agb_metrics_doubt(out, "memory_bound_pct: unreliable: LDNC/NC is %.2f, a part above its whole",
                          (double)ldnc / (double)nc);
    else {
        double memory = backend * (double)ldnc / (double)nc;
        agb_metrics_set_share(out, AGB_MEMORY_BOUND_PCT, memory, slots);
        agb_metrics_set_share(out, AGB_CORE_BOUND_PCT, backend - memory, slots);
    }
}

static inline void zen_set_frontend(double slots, double retired, double dispatched, double frontend, agb_metrics *out)
{
    if (dispatched < retired)
        agb_metrics_note(out, "bad_speculation_pct: 0: fewer operations dispatched than retired");
    agb_metrics_set_share(out, AGB_RETIRING_PCT, retired, slots);
    agb_metrics_set_share(out, AGB_BAD_SPECULATION_PCT, dispatched > retired ? dispatched - retired : 0, slots);
    agb_metrics_set_share(out, AGB_FRONTEND_BOUND_PCT, frontend, slots);
}

static inline void zen_metrics(unsigned width, unsigned pass, const uint64_t *values, agb_metrics *out)
{
    double slots = (double)width * (double)values[0];
    agb_metrics_set_plain(out, &zen_passes[pass], values);
    switch (pass) {
    case ZEN_SLOTS:
        agb_metrics_set_share(out, AGB_RETIRING_PCT, (double)values[1], slots);
        zen_set_backend(slots, (double)values[2], values[3], values[4], out);
        break;
    case ZEN_STALLS:
        zen_set_backend(slots, (double)values[1], values[2], values[3], out);
        break;
    case ZEN_FRONTEND:
        agb_metrics_set_share(out, AGB_SMT_CONTENTION_PCT, (double)values[4], slots);
        zen_set_frontend(slots, (double)values[1], (double)values[2], (double)values[3], out);
        break;
    case ZEN_OPERATIONS:
        zen_set_frontend(slots, (double)values[1], (double)values[2], (double)values[3], out);
        break;
    }
}

#define ZEN_DISPATCH_ABOUT                                                                                             \
    "Slots are counted where operations are dispatched. Retiring: slots whose operation was completed. Backend "       \
    "bound: slots left empty because a resource behind dispatch was full. Memory bound is that share times the "       \
    "part of the cycles without retirement in which the oldest operation was a load that waits for data, from any"     \
    " level, the L2 included; what waits behind full store queues probably counts as core bound. DRAM bytes are "      \
    "64 times the lines that came from DRAM or IO: on demand without, and any fill with, the prefetchers. LLC "        \
    "misses need the L3's own counters, which count all processes, and are not given. User mode only: page faults"     \
    " are not in these numbers"

#endif
