/* SPDX-License-Identifier: MIT */
/* Counting one repetition: every worker opens the pass's events as one group on its own thread, the group runs exactly
 * between the observer's enter and leave, and phases are differences of readings. Nothing is inherited and nothing is
 * reset: both have surprises (a reset does not clear what ended threads left; a thread created before the open is not
 * counted). A fresh group per repetition has none.
 *
 * Each worker writes only its own entry; whoever collects does so after the pool's own synchronisation. */
#include "counters.h"
#include "perf.h"
#include "processor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct lane {
    _Alignas(128) agb_perf_group group;
    bool armed;
    unsigned pass;                   /* of the support's */
    unsigned phase;                  /* that is running now */
    agb_perf_reading last;
    agb_counts total, phases[AGB_MOST_PHASES];
    char reason[256];                /* "" while all is well */
} lane;

struct agb_counters {
    agb_perf_place place;
    agb_counter_support support;
    agb_observer observer;
    unsigned workers;
    lane *lanes;
};

/* The user's events stand behind the family's passes, those that count. */
const agb_user_event *agb_counters_event_of(const agb_counter_support *support, unsigned pass)
{
    unsigned number = support->passes;
    for (unsigned i = 0; i < support->events; i++) {
        if (support->event[i].counts && number++ == pass)
            return &support->event[i];
    }
    return NULL;
}

unsigned agb_counters_passes(const agb_counter_support *support)
{
    unsigned passes = support->passes;
    for (unsigned i = 0; i < support->events; i++)
        passes += support->event[i].counts;
    return passes;
}

static const agb_pass *pass_of(const agb_counters *self, unsigned pass)
{
    return &self->support.family->passes[self->support.pass_of[pass]];
}

static const char *pass_name(const agb_counters *self, unsigned pass)
{
    const agb_user_event *event = agb_counters_event_of(&self->support, pass);
    return event ? event->name : pass_of(self, pass)->name;
}

static void fail_lane(agb_counters *self, lane *lane, const char *call, int error)
{
    const char *pass = pass_name(self, lane->pass);
    if (!lane->reason[0])
        snprintf(lane->reason, sizeof lane->reason, "pass %s: %s of the counters: %s: look for \"perf\" in dmesg", pass,
                 call, strerror(error));
    agb_perf_group_close(&lane->group, self->place.perf);
}

static void add_difference(agb_counts *to, const agb_perf_reading *from, const agb_perf_reading *until)
{
    for (uint64_t i = 0; i < until->events && i < AGB_MOST_EVENTS; i++)
        to->value[i] += until->value[i] - from->value[i];
    to->enabled_ns += until->enabled_ns - from->enabled_ns;
    to->running_ns += until->running_ns - from->running_ns;
}

/* Charges what was counted since the last reading to the phase that is running. */
static void close_phase(agb_counters *self, lane *lane)
{
    agb_perf_reading now = {0};
    int failed = self->place.perf->read(self->place.perf->context, lane->group.handle[0], &now);
    if (failed) {
        fail_lane(self, lane, "reading", -failed);
        return;
    }
    add_difference(&lane->phases[lane->phase], &lane->last, &now);
    add_difference(&lane->total, &lane->last, &now);
    lane->last = now;
}

static bool is_open(const lane *lane)
{
    return lane->group.events > 0;
}

static void on_enter(void *context, unsigned worker)
{
    agb_counters *self = context;
    lane *lane = &self->lanes[worker];
    if (!is_open(lane))
        return;
    const agb_perf *perf = self->place.perf;
    lane->phase = 0;
    int failed = perf->read(perf->context, lane->group.handle[0], &lane->last);
    if (!failed)
        failed = perf->enable(perf->context, lane->group.handle[0]);
    if (failed)
        fail_lane(self, lane, "starting", -failed);
}

static void on_phase(void *context, unsigned worker, unsigned phase)
{
    agb_counters *self = context;
    lane *lane = &self->lanes[worker];
    if (!is_open(lane) || phase == lane->phase || phase >= AGB_MOST_PHASES)
        return;
    close_phase(self, lane);
    lane->phase = phase;
}

static void on_leave(void *context, unsigned worker)
{
    agb_counters *self = context;
    lane *lane = &self->lanes[worker];
    if (!is_open(lane))
        return;
    self->place.perf->disable(self->place.perf->context, lane->group.handle[0]);
    close_phase(self, lane);
}

agb_status agb_counters_create_on(agb_counters **out, const agb_perf_place *place, const agb_counter_support *support,
                                  unsigned workers, agb_error *err)
{
    *out = NULL;
    if (agb_counters_passes(support) == 0)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "counters: %s", support->reason);
    agb_counters *self = calloc(1, sizeof *self);
    lane *lanes = aligned_alloc(_Alignof(lane), workers * sizeof *lanes);
    if (!self || !lanes) {
        free(self);
        free(lanes);
        return agb_fail(err, AGB_ERR_MEMORY, "counters: %zu bytes for %u workers: the system refused memory: free some",
                        sizeof *self + workers * sizeof *lanes, workers);
    }
    memset(lanes, 0, workers * sizeof *lanes);
    *self = (agb_counters){.place = *place, .support = *support, .workers = workers, .lanes = lanes};
    self->observer = (agb_observer){.context = self, .enter = on_enter, .phase = on_phase, .leave = on_leave};
    *out = self;
    return AGB_OK;
}

agb_status agb_counters_create(agb_counters **out, const agb_counter_support *support, unsigned workers,
                               agb_error *err)
{
    agb_perf_place place = {.root = "", .perf = &agb_perf_kernel};
    agb_processor_read(place.root, &place.cpu);
    return agb_counters_create_on(out, &place, support, workers, err);
}

void agb_counters_destroy(agb_counters *self)
{
    if (!self)
        return;
    for (unsigned worker = 0; worker < self->workers; worker++)
        agb_perf_group_close(&self->lanes[worker].group, self->place.perf);
    free(self->lanes);
    free(self);
}

void agb_counters_arm(agb_counters *self, unsigned worker, unsigned pass)
{
    lane *lane = &self->lanes[worker];
    agb_perf_group_close(&lane->group, self->place.perf);
    memset(lane, 0, sizeof *lane);
    lane->armed = true;
    lane->pass = pass;
    const agb_user_event *event = agb_counters_event_of(&self->support, pass);
    if (event)
        agb_perf_event_open(&lane->group, &self->place, event, lane->reason, sizeof lane->reason);
    else if (pass < self->support.passes)
        agb_perf_group_open(&lane->group, &self->place, self->support.family, pass_of(self, pass), lane->reason,
                            sizeof lane->reason);
    else
        snprintf(lane->reason, sizeof lane->reason, "pass %u: allowed range is 0..%u", pass,
                 agb_counters_passes(&self->support) - 1);
}

const agb_observer *agb_counters_observer(agb_counters *self)
{
    return &self->observer;
}

static void add_counts(agb_counts *to, const agb_counts *from)
{
    for (size_t i = 0; i < AGB_MOST_EVENTS; i++)
        to->value[i] += from->value[i];
    to->enabled_ns += from->enabled_ns;
    to->running_ns += from->running_ns;
}

static void add_lane(agb_repetition_counts *out, const lane *lane)
{
    add_counts(&out->total, &lane->total);
    if (out->threads < AGB_MOST_COUNTED_THREADS)
        out->thread[out->threads] = lane->total;
    out->threads++;
    for (size_t phase = 0; phase < AGB_MOST_PHASES; phase++)
        add_counts(&out->phase[phase], &lane->phases[phase]);
    if (lane->reason[0] && !out->reason[0])
        snprintf(out->reason, sizeof out->reason, "%s", lane->reason);
}

/* Refuses sums that are not what they seem: a worker without counts, or a group that did not run all the time. */
static void judge(const agb_counters *self, agb_repetition_counts *out, bool armed)
{
    const agb_counts *total = &out->total;
    if (out->reason[0])
        out->pass = -1;
    else if (!armed || total->enabled_ns == 0) {
        out->pass = -1;
        snprintf(out->reason, sizeof out->reason, "counters: nothing was counted: the run was not bracketed");
    } else if (total->running_ns < total->enabled_ns) {
        agb_perf_short_reason(&self->place, pass_name(self, (unsigned)out->pass), total->running_ns,
                              total->enabled_ns, out->reason, sizeof out->reason);
        out->pass = -1;
    }
}

void agb_counters_collect(agb_counters *self, agb_repetition_counts *out)
{
    bool armed = false;
    memset(out, 0, sizeof *out);
    for (unsigned worker = 0; worker < self->workers; worker++) {
        lane *lane = &self->lanes[worker];
        if (!lane->armed)
            continue;
        armed = true;
        out->pass = (int)lane->pass;
        add_lane(out, lane);
        agb_perf_group_close(&lane->group, self->place.perf);
        memset(lane, 0, sizeof *lane);
    }
    judge(self, out, armed);
}
