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
#include "perf.h"
#include "processor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

/* Percent of the slots. */
static const double SPIN_LEAST_RETIRING = 35, SPIN_MOST_WAITING = 40;
static const double CHASE_MOST_RETIRING = 15, CHASE_LEAST_WAITING = 45;

enum { SPIN_TURNS = 2000000, CHASE_STEPS = 60000, LINE = 64, CHASE_BYTES = 64 << 20 };

/* ---- The loops --------------------------------------------------------------------------------------------------- */

/* Eight sums that do not wait for each other; the empty statement keeps the compiler from folding them. */
static void spin(void *context)
{
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6, g = 7, h = 8;
    (void)context;
    for (long turn = 0; turn < SPIN_TURNS; turn++) {
        a += 1, b += 3, c += 5, d += 7, e += 9, f += 11, g += 13, h += 15;
        __asm__ volatile("" : "+r"(a), "+r"(b), "+r"(c), "+r"(d), "+r"(e), "+r"(f), "+r"(g), "+r"(h));
    }
}

/* Where a chase is: each line holds the number of the next. */
typedef struct maze {
    char *lines;
    uint64_t at;
} maze;

static void chase(void *context)
{
    maze *maze = context;
    uint64_t at = maze->at;
    for (long step = 0; step < CHASE_STEPS; step++)
        at = *(const uint64_t *)(maze->lines + at * LINE);
    __asm__ volatile("" : "+r"(at));
    maze->at = at;
}

/* One cycle through all lines (S. Sattolo, "An algorithm to generate a random cyclic permutation", 1986). */
static bool maze_create(maze *out)
{
    uint64_t n = CHASE_BYTES / LINE, random = 1;
    out->at = 0;
    out->lines = mmap(NULL, CHASE_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (out->lines == MAP_FAILED)
        return false;
    madvise(out->lines, CHASE_BYTES, MADV_HUGEPAGE);    /* the data cache is to miss, not the TLB alone */
    for (uint64_t i = 0; i < n; i++)
        *(uint64_t *)(out->lines + i * LINE) = i;
    for (uint64_t i = n - 1; i > 0; i--) {
        random = random * 6364136223846793005u + 1442695040888963407u;
        uint64_t *a = (uint64_t *)(out->lines + i * LINE), *b = (uint64_t *)(out->lines + (random >> 33) % i * LINE);
        uint64_t kept = *a;
        *a = *b;
        *b = kept;
    }
    return true;
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
    maze maze;
    if (!support->available || support->family->width == 0)
        return;
    agb_processor_read(place.root, &place.cpu);
    if (!maze_create(&maze)) {
        snprintf(support->uncalibrated, sizeof support->uncalibrated, "shares of slots are withheld: no memory (%d "
                 "MiB) for the loops that check them", CHASE_BYTES >> 20);
        return;
    }
    agb_calibration_loops loops = {.context = &maze, .spin = spin, .chase = chase};
    agb_counters_calibrate_on(&place, support, &loops);
    munmap(maze.lines, CHASE_BYTES);
}
