/* SPDX-License-Identifier: MIT */
/* ARM Neoverse V2 (part 0xd4f): Graviton 4, NVIDIA Grace, Google Axion. Eight slots a cycle. Formulas: neoverse.h. */
#define PMU "arm_v2::"
#include "neoverse.h"

enum { WIDTH = 8, SLOTS = 0, WORK, USED, STALLED };

static const agb_pass passes[] = {
    [SLOTS] = {.name = "slots", .events = {NEOVERSE_CYC, NEOVERSE_USED, NEOVERSE_STALLED}},
    [WORK] = {.name = "work", .events = NEOVERSE_WORK_EVENTS(PMU "L3D_CACHE_REFILL")},
    [USED] = {.name = "used slots", .spare_for = SLOTS + 1, .events = {NEOVERSE_CYC, NEOVERSE_USED}},
    [STALLED] = {.name = "stalled slots", .spare_for = SLOTS + 1, .events = {NEOVERSE_CYC, NEOVERSE_STALLED}},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    return neoverse_part(cpu, 0xd4f);
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    neoverse_set_plain(out, &passes[pass], values);
    if (pass == SLOTS || pass == USED)
        neoverse_set_used(WIDTH, 0, values, out);
    if (pass == SLOTS || pass == STALLED)
        neoverse_set_stalled(WIDTH, 0, values[0], values + (pass == SLOTS ? 4 : 1), out);
}

const agb_slots agb_slots_neoverse_v2 = {
    .name = "neoverse_v2",
    .uarch = "Neoverse V2",
    .about = NEOVERSE_ABOUT,
    .matches = matches,
    .width = WIDTH,
    .passes = passes,
    .metrics = metrics,
};
