/* SPDX-License-Identifier: MIT */
/* PERF_METRICS: from Ice Lake on, a register gives the shares of all slots since it was last read, in 255ths, and costs
 * no counter. The kernel hands each share out as an event of its own, counted in slots, in a group led by `slots`.
 *
 * SOURCE  Linux, tools/perf/Documentation/topdown.txt and arch/x86/events/intel/core.c; intel/perfmon,
 *         TMA_Metrics-full.csv for the corrections by UOPDROP and CLEARS.
 *
 * Shares are taken of S, the sum of the four level 1 counts, not of the slots: rounding makes S differ from the slots
 * by up to 256/255, and published runs of Ice Lake show 1.15 and 1.18. S over the slots is what level 1 comes to as the
 * hardware counts it, and more than 2 % off is said; the shares of S always add up. The resolution is 1/255, 0.4 %, for
 * each reading. */
#ifndef AGB_INTEL_TOPDOWN_H
#define AGB_INTEL_TOPDOWN_H

#include "slots.h"

/* Codes of the events, PERF_TYPE_RAW. The kernel wants slots first, and config1 and all modifiers 0. */
enum {
    TOPDOWN_SLOTS = 0x0400,
    TOPDOWN_RETIRING = 0x8000,
    TOPDOWN_BAD_SPECULATION = 0x8100,
    TOPDOWN_FRONTEND = 0x8200,
    TOPDOWN_BACKEND = 0x8300,
    TOPDOWN_MEMORY = 0x8700    /* level 2: Sapphire Rapids and later; elsewhere it may open and give garbage */
};

/* S of values[1..4] = retiring, bad speculation, frontend, backend; notes when it is far from the slots, values[0]. */
static inline double topdown_sum(const uint64_t *values, agb_metrics *out)
{
    double sum = (double)values[1] + (double)values[2] + (double)values[3] + (double)values[4];
    double slots = (double)values[0];
    agb_metrics_set(out, AGB_LEVEL_1_PCT, 100 * sum / slots);
    if (slots > 0 && (sum < 0.98 * slots || sum > 1.02 * slots))
        agb_metrics_note(out, "suspect: the four level 1 shares come to %.1f %% of the slots", 100 * sum / slots);
    return sum;
}

/* Sets three shares, fractions of 1, and returns the rest, which is bad speculation's: by PERF_METRICS it is counted,
 * but takes what the corrections of the others leave; without, it may be that no event counts it. */
static inline double topdown_set(agb_metrics *out, double retiring, double frontend, double backend)
{
    frontend = frontend > 0 ? frontend : 0;
    agb_metrics_set_share(out, AGB_RETIRING_PCT, retiring, 1);
    agb_metrics_set_share(out, AGB_FRONTEND_BOUND_PCT, frontend, 1);
    agb_metrics_set_share(out, AGB_BACKEND_BOUND_PCT, backend, 1);
    return 1 - retiring - backend - frontend;
}

static inline bool topdown_has_slots(const uint64_t *values, agb_metrics *out)
{
    if (values[0] > 0)
        return true;
    agb_metrics_doubt(out, "shares: unreliable: slots were counted as 0");
    return false;
}

#endif
