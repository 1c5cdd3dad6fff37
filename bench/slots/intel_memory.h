/* SPDX-License-Identifier: MIT */
/* How Intel's top-down method parts the backend-bound slots of Skylake and Ice Lake into memory and core: by cycles in
 * which nothing, or little, was executed, and in how many of them a load was outstanding or the store buffer was full.
 *
 * SOURCE  A. Yasin, "A Top-Down Method for Performance Analysis and Counters Architecture", 2014; intel/perfmon,
 *         TMA_Metrics-full.csv (Memory_Bound, Few_Uops_Executed_Threshold).
 *
 *     memory bound = backend bound * (STM + BST) / (STT + P1 + retiring * P2 + BST)
 *
 *     STM  cycles without execution while a load was outstanding     STT  all cycles without execution
 *     BST  cycles bound on stores                                    P1, P2  cycles in which 1, 2 ports were used
 *
 * The four or five counts need counters of their own, so they come from other passes than the slots: all are taken per
 * cycle of their own pass before they meet. */
#ifndef AGB_INTEL_MEMORY_H
#define AGB_INTEL_MEMORY_H

#include "slots.h"

typedef struct intel_stalls {
    double stm, stt, bst, p1, p2;    /* per cycle */
} intel_stalls;

/* Adds memory and core bound to a result that has retiring and backend bound. */
static inline void intel_split_backend(const intel_stalls *stalls, agb_metrics *out)
{
    if (!out->has[AGB_BACKEND_BOUND_PCT] || !out->has[AGB_RETIRING_PCT])
        return;
    double backend = out->value[AGB_BACKEND_BOUND_PCT], retiring = out->value[AGB_RETIRING_PCT] / 100;
    double waiting = stalls->stm + stalls->bst;
    double all = stalls->stt + stalls->p1 + retiring * stalls->p2 + stalls->bst;
    if (!(all > 0) || waiting > all) {
        agb_metrics_note(out, "memory_bound_pct: unreliable: %.3f of %.3f stalled cycles wait for memory", waiting,
                         all);
        return;
    }
    agb_metrics_set_share(out, AGB_MEMORY_BOUND_PCT, backend * waiting / all, 100);
    agb_metrics_set_share(out, AGB_CORE_BOUND_PCT, backend - backend * waiting / all, 100);
}

#endif
