/* SPDX-License-Identifier: MIT */
/* ARM Neoverse N2 (part 0xd49): Alibaba Yitian 710, Azure Cobalt 100. Five slots a cycle. Formulas: neoverse.h.
 *
 * ERRATUM  Before revision r0p3 STALL_SLOT and STALL_SLOT_FRONTEND count one slot too many in every cycle. Uncorrected,
 * retiring comes out negative. Passes with the same events tell the two apart. */
#define PMU "arm_n2::"
#include "neoverse.h"

enum { WIDTH = 5, R0P3 = 3, SLOTS = 0, SLOTS_ERRATUM, WORK, USED, STALLED, USED_ERRATUM, STALLED_ERRATUM };

static bool counts_rightly(const agb_cpu_id *cpu)
{
    return cpu->stepping >= R0P3;
}

static bool has_erratum(const agb_cpu_id *cpu)
{
    return cpu->stepping < R0P3;
}

static const agb_pass passes[] = {
    [SLOTS] = {.name = "slots", .usable = counts_rightly,
               .events = {NEOVERSE_CYC, NEOVERSE_USED, NEOVERSE_STALLED}},
    [SLOTS_ERRATUM] = {.name = "slots before r0p3", .usable = has_erratum,
                       .events = {NEOVERSE_CYC, NEOVERSE_USED, NEOVERSE_STALLED}},
    [WORK] = {.name = "work", .events = NEOVERSE_WORK_EVENTS(PMU "L3D_CACHE_REFILL")},
    [USED] = {.name = "used slots", .usable = counts_rightly, .spare_for = SLOTS + 1,
              .events = {NEOVERSE_CYC, NEOVERSE_USED}},
    [STALLED] = {.name = "stalled slots", .usable = counts_rightly, .spare_for = SLOTS + 1,
                 .events = {NEOVERSE_CYC, NEOVERSE_STALLED}},
    [USED_ERRATUM] = {.name = "used slots before r0p3", .usable = has_erratum, .spare_for = SLOTS_ERRATUM + 1,
                      .events = {NEOVERSE_CYC, NEOVERSE_USED}},
    [STALLED_ERRATUM] = {.name = "stalled slots before r0p3", .usable = has_erratum, .spare_for = SLOTS_ERRATUM + 1,
                         .events = {NEOVERSE_CYC, NEOVERSE_STALLED}},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    return neoverse_part(cpu, 0xd49);
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    neoverse_set_plain(out, &passes[pass], values);
    bool whole = pass == SLOTS || pass == SLOTS_ERRATUM;
    unsigned surplus = passes[pass].usable == has_erratum;
    if (whole || pass == USED || pass == USED_ERRATUM)
        neoverse_set_used(WIDTH, surplus, values, out);
    if (whole || pass == STALLED || pass == STALLED_ERRATUM)
        neoverse_set_stalled(WIDTH, surplus, values[0], values + (whole ? 4 : 1), out);
}

const agb_slots agb_slots_neoverse_n2 = {
    .name = "neoverse_n2",
    .uarch = "Neoverse N2",
    .about = NEOVERSE_ABOUT ". Before revision r0p3 one slot too many is counted as stalled in every cycle; it is "
                            "taken off",
    .matches = matches,
    .width = WIDTH,
    .passes = passes,
    .metrics = metrics,
};
