/* SPDX-License-Identifier: MIT */
/* ARM Neoverse V1 (part 0xd40): Graviton 3. Eight slots a cycle. Formulas: neoverse.h. */
#define PMU "arm_v1::"
#include "neoverse.h"

enum { WIDTH = 8, SLOTS = 0, WORK };

static const agb_pass passes[] = {
    [SLOTS] = {.name = "slots", .events = NEOVERSE_SLOT_EVENTS},
    [WORK] = {.name = "work", .events = NEOVERSE_WORK_EVENTS(NULL)},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    return neoverse_part(cpu, 0xd40);
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    agb_metrics_set_plain(out, &passes[pass], values);
    if (pass == SLOTS)
        neoverse_slots_metrics(WIDTH, 0, values, out);
}

const agb_slots agb_slots_neoverse_v1 = {
    .name = "neoverse_v1",
    .uarch = "Neoverse V1",
    .about = NEOVERSE_ABOUT,
    .matches = matches,
    .width = WIDTH,
    .passes = passes,
    .metrics = metrics,
};
