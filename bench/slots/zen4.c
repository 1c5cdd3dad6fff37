/* SPDX-License-Identifier: MIT */
/* AMD Zen 4 and 4c: EPYC 9004 and 8004, Ryzen 7000, Ryzen 7040 and 8040. Six slots a cycle.
 * Formulas, codes and their source: zen_dispatch.h. */
#include "zen_dispatch.h"

#include <string.h>

enum { WIDTH = 6 };

static bool matches(const agb_cpu_id *cpu)
{
    return strcmp(cpu->vendor, "AuthenticAMD") == 0 && cpu->family == 25
           && ((cpu->model >= 0x10 && cpu->model <= 0x1f) || (cpu->model >= 0x60 && cpu->model <= 0x7f)
               || (cpu->model >= 0xa0 && cpu->model <= 0xaf));
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    zen_metrics(WIDTH, pass, values, out);
}

const agb_slots agb_slots_zen4 = {
    .name = "zen4",
    .uarch = "Zen 4",
    .about = ZEN_DISPATCH_ABOUT,
    .matches = matches,
    .width = WIDTH,
    .passes = zen_passes,
    .metrics = metrics,
};
