/* SPDX-License-Identifier: MIT */
/* Zen 1, 2 and 3 count operations that were dispatched and retired, but no empty slots: what kept a slot from being
 * used cannot be known, and half of the picture stays dark. What is given here is approximate and says so: the width
 * is the nominal one of the dispatch, not a count of slots.
 *
 * SOURCE  Linux, tools/perf/pmu-events/arch/x86/amdzen1, amdzen2, amdzen3: core.json, other.json, memory.json. The
 * kernel
 *         gives no pipeline metrics for them, so the two formulas are ours:
 *
 *     retiring        ~ OPS / (6 * CYC)
 *     bad speculation ~ (DISP - OPS) / (6 * CYC)
 *     starved cycles  = EMPTY / CYC         cycles, not slots, in which the queue of operations was empty
 *
 * The codes of Zen 4's stall events (0x1a0, 0xd6) are undocumented here and must not be read: they look plausible. */
#ifndef AGB_ZEN_RETIRED_H
#define AGB_ZEN_RETIRED_H

#include "slots.h"

enum { ZEN_RETIRED_SLOTS, ZEN_RETIRED_MEMORY, ZEN_NOMINAL_WIDTH = 6 };

static inline void zen_retired_metrics(const agb_pass *passes, unsigned pass, const uint64_t *values, agb_metrics *out)
{
    enum { CYC, OPS, DISP, EMPTY };
    agb_metrics_set_plain(out, &passes[pass], values);
    if (pass != ZEN_RETIRED_SLOTS)
        return;
    double slots = (double)ZEN_NOMINAL_WIDTH * (double)values[CYC];
    double wasted = (double)values[DISP] - (double)values[OPS];
    agb_metrics_set_share(out, AGB_RETIRING_PCT, (double)values[OPS], slots);
    agb_metrics_set_share(out, AGB_BAD_SPECULATION_PCT, wasted > 0 ? wasted : 0, slots);
    agb_metrics_set_share(out, AGB_FRONTEND_STALLED_CYCLES_PCT, (double)values[EMPTY], (double)values[CYC]);
    agb_metrics_note(out, "retiring and bad speculation are approximate (nominal width of %d, no slot events)",
                     ZEN_NOMINAL_WIDTH);
    agb_metrics_note(out, "memory, backend and frontend bound: not available: Zen 1-3 expose no per-slot stall events");
}

#define ZEN_RETIRED_ABOUT                                                                                              \
    "Approximate: operations retired per cycle over the nominal dispatch width of six. There are no events for "       \
    "empty slots, so neither backend nor frontend nor memory bound can be given: a low retiring share says that "      \
    "slots were lost, not to whom. Frontend stalled cycles are those in which the queue of operations was empty"

#endif
