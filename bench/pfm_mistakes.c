/* SPDX-License-Identifier: MIT */
/* What libpfm4 4.13.0 encodes wrongly: unit masks that were entered shifted, and a name for any L3 miss that means
 * those of the local socket only. An event that counts something else than its name is worse than none, so --events
 * refuses these.  SOURCE  intel/perfmon, event lists of SPR, ICX, SKX and CLX, against what the library gives. */
#include "pfm.h"

#include <string.h>

static const char LOCAL[] = "read dram_demand_bytes, which counts it, or name L3_MISS_LOCAL to have the local socket";

const agb_pfm_mistake agb_pfm_mistakes[] = {
    {"spr::TOPDOWN:BACKEND_BOUND_SLOTS", 0x200, 0, 0x2a4, 0, "give the raw code r2a4"},
    {"icx::TOPDOWN:BACKEND_BOUND_SLOTS", 0x200, 0, 0x2a4, 0, "give the raw code r2a4"},
    {"spr::TOPDOWN:MEMORY_BOUND_SLOTS", 0x1000, 0, 0x10a4, 0, "give the raw code r10a4"},
    {"spr::TOPDOWN:BAD_SPEC_SLOTS", 0x400, 0, 0x4a4, 0, "give the raw code r4a4"},
    {"spr::TOPDOWN:BR_MISPREDICT_SLOTS", 0x800, 0, 0x8a4, 0, "give the raw code r8a4"},
    {"icx::TOPDOWN:BR_MISPREDICT_SLOTS", 0x800, 0, 0x8a4, 0, "give the raw code r8a4"},
    {"spr::INST_RETIRED:ANY", 0x1c0, 0, 0x100, 0, "give INST_RETIRED:ANY_P or the raw code rc0"},
    {"spr::CPU_CLK_UNHALTED:THREAD", 0x200, 0, 0x3c, 0, "give CPU_CLK_UNHALTED:THREAD_P or the raw code r3c"},
    {"skx::OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_MISS_LOCAL", 0x1b7, 0x3f84000001, 0x1b7, 0x3fbc000001, LOCAL},
    {"skx::OFFCORE_RESPONSE_1:DMND_DATA_RD:L3_MISS_LOCAL", 0x1bb, 0x3f84000001, 0x1bb, 0x3fbc000001, LOCAL},
    {"clx::OFFCORE_RESPONSE_0:DMND_DATA_RD:L3_MISS_LOCAL", 0x1b7, 0x3f84000001, 0x1b7, 0x3fbc000001, LOCAL},
    {"clx::OFFCORE_RESPONSE_1:DMND_DATA_RD:L3_MISS_LOCAL", 0x1bb, 0x3f84000001, 0x1bb, 0x3fbc000001, LOCAL},
    {NULL, 0, 0, 0, 0, NULL},
};

/* Modifiers, such as a threshold, lie above the event's own 16 bits. */
const agb_pfm_mistake *agb_pfm_mistake_of(const char *event, const agb_pfm_code *code)
{
    enum { OWN_BITS = 0xffff };
    for (const agb_pfm_mistake *mistake = agb_pfm_mistakes; mistake->name; mistake++) {
        size_t length = strlen(mistake->name);
        bool named = strncmp(code->name, mistake->name, length) == 0 && strchr(":", code->name[length]);
        bool meant = strstr(mistake->name, "_LOCAL") && strcasestr(event, "_LOCAL");
        if (named && !meant && (code->config & OWN_BITS) == mistake->wrong && code->config1 == mistake->wrong1)
            return mistake;
    }
    return NULL;
}
