/* SPDX-License-Identifier: MIT */
/* Counts other threads than our own: see doctor_counting.h. Opened groups stand still until their turn, so that the
 * hardware never has to share its counters between two of ours. */
#include "doctor_counting.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>

typedef struct counted_group {
    agb_perf_group group;
    agb_perf_reading last;
} counted_group;

struct agb_counting {
    const agb_counter_support *support;
    agb_perf perf;
    size_t targets;
    counted_group *groups;              /* pass after pass, targets of each */
    agb_repetition_counts *passes;      /* sums over the targets and turns */
    unsigned pass;                      /* whose turn it is */
    bool begun;
};

static counted_group *group_of(agb_counting *counting, unsigned pass, size_t target)
{
    return &counting->groups[pass * counting->targets + target];
}

static void release(agb_counting *counting)
{
    for (size_t i = 0; counting->groups && i < counting->support->passes * counting->targets; i++)
        agb_perf_group_close(&counting->groups[i].group, &counting->perf);
    free(counting->groups);
    free(counting->passes);
    free(counting);
}

static bool has_ended(const agb_perf_target *target)
{
    return target->tid > 0 && kill(target->tid, 0) != 0 && errno == ESRCH;
}

/* A thread that has just ended cannot be opened, and has nothing to count. */
static bool open_all(agb_counting *counting, const agb_perf_place *place, agb_perf_target *slot,
                     const agb_perf_target *targets, char *reason, size_t size)
{
    const agb_counter_support *support = counting->support;
    for (unsigned pass = 0; pass < support->passes; pass++) {
        for (size_t i = 0; i < counting->targets; i++) {
            const agb_pass *which = &support->family->passes[support->pass_of[pass]];
            *slot = targets[i];
            counted_group *counted = group_of(counting, pass, i);
            bool opened = agb_perf_group_open(&counted->group, place, support->family, which, reason, size);
            if (!opened && !has_ended(&targets[i]))
                return false;
        }
    }
    return true;
}

agb_counting *agb_counting_start(const agb_perf_place *place, agb_perf_target *slot, const agb_counter_support *support,
                                 const agb_perf_target *targets, size_t n, char *reason, size_t size)
{
    reason[0] = '\0';
    if (support->passes == 0)
        return NULL;
    agb_counting *counting = calloc(1, sizeof *counting);
    if (counting) {
        *counting = (agb_counting){.support = support, .perf = *place->perf, .targets = n};
        counting->groups = calloc(support->passes * n + 1, sizeof *counting->groups);
        counting->passes = calloc(support->passes, sizeof *counting->passes);
    }
    if (!counting || !counting->groups || !counting->passes) {
        snprintf(reason, size, "no memory to count %zu threads", n);
    } else if (open_all(counting, place, slot, targets, reason, size)) {
        for (unsigned pass = 0; pass < support->passes; pass++)
            counting->passes[pass].pass = (int)pass;
        reason[0] = '\0';
        return counting;
    }
    if (counting)
        release(counting);
    return NULL;
}

/* What a group counted since its last reading goes to the sums of its pass. */
static void take(agb_counting *counting, counted_group *counted)
{
    agb_counts *sum = &counting->passes[counting->pass].total;
    agb_perf_reading now;
    counting->perf.disable(counting->perf.context, counted->group.handle[0]);
    if (counting->perf.read(counting->perf.context, counted->group.handle[0], &now) != 0)
        return;
    for (unsigned i = 0; i < counted->group.events; i++)
        sum->value[i] += now.value[i] - counted->last.value[i];
    sum->enabled_ns += now.enabled_ns - counted->last.enabled_ns;
    sum->running_ns += now.running_ns - counted->last.running_ns;
    counted->last = now;
}

static void end_turn(agb_counting *counting)
{
    for (size_t i = 0; counting->begun && i < counting->targets; i++) {
        counted_group *counted = group_of(counting, counting->pass, i);
        if (counted->group.events > 0)
            take(counting, counted);
    }
}

void agb_counting_turn(agb_counting *counting)
{
    end_turn(counting);
    counting->pass = counting->begun ? (counting->pass + 1) % counting->support->passes : 0;
    counting->begun = true;
    for (size_t i = 0; i < counting->targets; i++) {
        const counted_group *counted = group_of(counting, counting->pass, i);
        if (counted->group.events > 0)
            counting->perf.enable(counting->perf.context, counted->group.handle[0]);
    }
}

void agb_counting_end(agb_counting *counting, agb_metrics *out)
{
    end_turn(counting);
    agb_metrics_compute(counting->support, counting->passes, counting->support->passes, -1, out);
    release(counting);
}
