/* SPDX-License-Identifier: MIT */
/* AMD Zen 5 and 5c: EPYC 9005, Ryzen 9000, Ryzen AI 300. Eight slots a cycle. libpfm4 4.13 does not know the family;
 * its Zen 4 names have the same codes. Models 0x50-0x57 are Zen 6: as wide, but not in the source below, so not
 * taken. Formulas, codes and their source: zen_dispatch.h. */
#include "zen_dispatch.h"

#include <string.h>

enum { WIDTH = 8 };

static bool matches(const agb_cpu_id *cpu)
{
    return strcmp(cpu->vendor, "AuthenticAMD") == 0 && cpu->family == 26
           && (cpu->model <= 0x4f || (cpu->model >= 0x60 && cpu->model <= 0x7f));
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    zen_metrics(WIDTH, pass, values, out);
}

const agb_slots agb_slots_zen5 = {
    .name = "zen5",
    .uarch = "Zen 5",
    .about = ZEN_DISPATCH_ABOUT,
    .matches = matches,
    .width = WIDTH,
    .passes = zen_passes,
    .metrics = metrics,
};
