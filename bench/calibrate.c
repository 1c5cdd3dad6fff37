/* SPDX-License-Identifier: MIT */
/* Two loops whose place in the pipeline is known before they are counted. One adds registers and touches no memory: it
 * must retire, and hardly wait for memory. The other follows a random cycle of cache lines through more memory than a
 * core's caches hold: it must wait, for memory where that is told apart, and hardly retire. Counters that put either
 * elsewhere do not count what their names say (a guest's fantasy, a kernel that drops bits of the code, a wrong table),
 * and shares of slots are then withheld from every report.
 *
 * The bounds are wide: they tell a right counter from a wrong one, not a good processor from a better one. Independent
 * additions and the loop's branch use at least half of the slots of processors 4 to 8 wide that have 4 or more ports
 * for them; a dependent miss of 80 ns is 250 cycles or more for 3 instructions. What the additions leave is backend
 * bound, because the ports are taken: so only memory bound, where it is told apart, must be small while computing, and
 * even that is a ratio of two small counts on some families. */
#include "known_loops.h"
#include "perf.h"
#include "processor.h"

#include <stdio.h>
#include <string.h>

/* Percent of the slots. */
static const double SPIN_LEAST_RETIRING = 35, SPIN_MOST_WAITING = 40;
static const double CHASE_MOST_RETIRING = 15, CHASE_LEAST_WAITING = 45;

enum { SPIN_TURNS = 2000000, CHASE_STEPS = 60000, CHASE_BYTES = 64 << 20 };

/* ---- The loops --------------------------------------------------------------------------------------------------- */

static void spin(void *context)
{
    (void)context;
    agb_loop_compute(SPIN_TURNS);
}

static void chase(void *context)
{
    agb_loop_mixed(context, CHASE_STEPS, 0);
}

/* ---- Counting them ----------------------------------------------------------------------------------------------- */

/* One pass of the family around one loop. */
static void count_pass(const agb_perf_place *place, const agb_counter_support *support, unsigned pass,
                       void (*loop)(void *context), void *context, agb_repetition_counts *out)
{
    const agb_perf *perf = place->perf;
    agb_perf_group group;
    agb_perf_reading reading = {0};
    *out = (agb_repetition_counts){.pass = -1};
    if (!agb_perf_group_open(&group, place, support->family, &support->family->passes[support->pass_of[pass]],
                             out->reason, sizeof out->reason))
        return;
    int failed = perf->enable(perf->context, group.handle[0]);
    loop(context);
    perf->disable(perf->context, group.handle[0]);
    if (!failed)
        failed = perf->read(perf->context, group.handle[0], &reading);
    agb_perf_group_close(&group, perf);
    if (failed)
        return;
    out->pass = (int)pass;
    memcpy(out->total.value, reading.value, sizeof out->total.value);
    out->total.enabled_ns = reading.enabled_ns;
    out->total.running_ns = reading.running_ns;
}

static void count_loop(const agb_perf_place *place, const agb_counter_support *support, void (*loop)(void *context),
                       void *context, agb_metrics *out)
{
    agb_repetition_counts counts[AGB_MOST_PASSES];
    for (unsigned pass = 0; pass < support->passes; pass++)
        count_pass(place, support, pass, loop, context, &counts[pass]);
    agb_metrics_compute(support, counts, support->passes, -1, out);
}

/* The share that says "waits for memory" best: memory bound, or backend bound where that is all there is. */
static agb_metric waiting_of(const agb_metrics *metrics)
{
    return metrics->has[AGB_MEMORY_BOUND_PCT] ? AGB_MEMORY_BOUND_PCT : AGB_BACKEND_BOUND_PCT;
}

static void judge(agb_counter_support *support, const agb_metrics *spin, const agb_metrics *chase)
{
    agb_metric waiting = waiting_of(chase);
    bool retiring = spin->has[AGB_RETIRING_PCT] && chase->has[AGB_RETIRING_PCT];
    bool backend = spin->has[waiting] && chase->has[waiting];
    double spun = spin->value[AGB_RETIRING_PCT], idle = spin->value[waiting];
    double chased = chase->value[AGB_RETIRING_PCT], waited = chase->value[waiting];
    size_t used = 0;
    if (!retiring && !backend) {
        snprintf(support->uncalibrated, sizeof support->uncalibrated, "shares of slots are withheld: the two loops "
                 "that check them could not be counted: %.180s", spin->reason[0] ? spin->reason : chase->reason);
        return;
    }
    if (retiring)
        used = (size_t)snprintf(support->calibration, sizeof support->calibration, "retiring %.1f %% while computing, "
                                "%.1f %% while chasing pointers", spun, chased);
    if (backend)
        snprintf(support->calibration + used, sizeof support->calibration - used, "%s%s %.1f and %.1f %%",
                 used ? "; " : "", waiting == AGB_MEMORY_BOUND_PCT ? "memory bound" : "backend bound", idle, waited);
    bool good = (!retiring || (spun >= SPIN_LEAST_RETIRING && chased <= CHASE_MOST_RETIRING)) &&
                (!backend || waited >= CHASE_LEAST_WAITING) &&
                (!backend || waiting != AGB_MEMORY_BOUND_PCT || idle <= SPIN_MOST_WAITING);
    if (!good)
        snprintf(support->uncalibrated, sizeof support->uncalibrated, "shares of slots are withheld: two loops do not "
                 "land where theory says: %s: a virtual machine's counters, or a table to report",
                 support->calibration);
}

void agb_counters_calibrate_on(const agb_perf_place *place, agb_counter_support *support,
                               const agb_calibration_loops *loops)
{
    agb_metrics spun, chased;
    support->calibration[0] = support->uncalibrated[0] = '\0';
    if (!support->available || support->family->width == 0)    /* no slots, no shares to check */
        return;
    count_loop(place, support, loops->spin, loops->context, &spun);
    count_loop(place, support, loops->chase, loops->context, &chased);
    judge(support, &spun, &chased);
}

void agb_counters_calibrate(agb_counter_support *support)
{
    agb_perf_place place = {.root = "", .perf = &agb_perf_kernel};
    agb_chain chain;
    agb_room room = {0};
    if (!support->available || support->family->width == 0)
        return;
    agb_processor_read(place.root, &place.cpu);
    /* In huge pages: the data cache is to miss, not the TLB alone. */
    if (agb_room_map(&room, CHASE_BYTES, AGB_PAGES_HUGE, "counters", NULL) != AGB_OK ||
        !agb_chain_make(&chain, &room, CHASE_BYTES)) {
        agb_room_unmap(&room);
        snprintf(support->uncalibrated, sizeof support->uncalibrated, "shares of slots are withheld: no memory (%d "
                 "MiB) for the loops that check them", CHASE_BYTES >> 20);
        return;
    }
    agb_calibration_loops loops = {.context = &chain, .spin = spin, .chase = chase};
    agb_counters_calibrate_on(&place, support, &loops);
    agb_room_unmap(&room);
}
