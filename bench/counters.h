/* SPDX-License-Identifier: MIT */
/* Pipeline-slot and related counters: a value or a reason, never a silent zero.
 *
 * Passes, not multiplexing: events that belong into one ratio are opened as one group that fits the hardware; a
 * repetition counts one group (a pass), and the passes take turns over the repetitions. A group whose running time is
 * short of its enabled time is refused, not scaled silently. Only user-mode instructions are counted.
 *
 * In a contestant process: create, arm on every worker's thread, run with the observer, collect.
 * In the parent: agb_metrics_compute over the collected counts of all repetitions. */
#ifndef AGB_COUNTERS_H
#define AGB_COUNTERS_H

#include "aggbench.h"

enum {
    AGB_MOST_EVENTS = 8, AGB_MOST_PASSES = 8,
    AGB_MOST_USER_EVENTS = 8,       /* of --events */
    AGB_MOST_COUNTED_THREADS = 32   /* whose own counts are kept; those of more threads are only summed */
};

typedef struct agb_counters agb_counters;
typedef struct agb_slots agb_slots;    /* slots.h: one processor family */

/* An event of the user's choice. Each is a pass of its own, so that none is refused for want of room. */
typedef struct agb_user_event {
    char name[64];              /* as it was given */
    uint32_t type;
    uint64_t config, config1;
    bool counts;
    char reason[256];           /* why it does not */
} agb_user_event;

/* What this machine can count, found once at start. */
typedef struct agb_counter_support {
    bool available;
    char reason[320];            /* when not available: why, and the cure */
    const agb_slots *family;     /* NULL when the processor is in no table */
    char processor[64];          /* "Zen 4", or "GenuineIntel family 6 model 85" */
    unsigned passes;             /* 0 when not available */
    unsigned char pass_of[AGB_MOST_PASSES];    /* pass 0..passes-1 is this entry of family->passes: those that the
                                                  machine can count; what it cannot is named in reason */
    double switch_ns;            /* cost of one phase change: one reading of the largest group */
    char uncalibrated[320];      /* why no share of slots is shown although slots are counted; "" = they are */
    char calibration[160];       /* what the two calibration loops gave; "" where they were not run */
    agb_user_event event[AGB_MOST_USER_EVENTS];
    unsigned events;
} agb_counter_support;

void agb_counters_probe(agb_counter_support *out);

/* Adds a comma list of events: names of libpfm4 or raw codes rNNNN. A name that nobody knows is an error; an event that
 * this machine cannot count is kept with its reason. Not to be called by two threads at once. */
agb_status agb_counters_add_events(agb_counter_support *support, const char *list, agb_error *err);
/* The family's passes and one for each user event that counts. */
unsigned agb_counters_passes(const agb_counter_support *support);
/* The user event that is counted by a pass of that number, or NULL. */
const agb_user_event *agb_counters_event_of(const agb_counter_support *support, unsigned pass);
/* Runs two loops whose shares of slots theory knows, one that only computes and one that only waits for memory, and
 * withholds the shares (support->uncalibrated) where they do not land where they must. Takes about 0.3 s. */
void agb_counters_calibrate(agb_counter_support *support);

/* Counts of one repetition, plain data that crosses a pipe. */
typedef struct agb_counts {
    uint64_t value[AGB_MOST_EVENTS];    /* in the order of the pass's events, summed over the workers */
    uint64_t enabled_ns, running_ns;    /* summed likewise */
} agb_counts;

typedef struct agb_repetition_counts {
    int pass;                            /* 0..agb_counters_passes-1; -1: nothing was counted, for this reason: */
    char reason[256];
    agb_counts total;                    /* enter..leave */
    agb_counts phase[AGB_MOST_PHASES];
    unsigned threads;                    /* that counted; the first of them: */
    agb_counts thread[AGB_MOST_COUNTED_THREADS];
} agb_repetition_counts;

agb_status agb_counters_create(agb_counters **out, const agb_counter_support *support, unsigned workers,
                               agb_error *err);
void agb_counters_destroy(agb_counters *counters);
/* On the worker's own thread, before the repetition: opens the events of that pass. Failure is kept as the reason. */
void agb_counters_arm(agb_counters *counters, unsigned worker, unsigned pass);
const agb_observer *agb_counters_observer(agb_counters *counters);
/* After the repetition, on any thread: adds the workers up and forgets them. */
void agb_counters_collect(agb_counters *counters, agb_repetition_counts *out);

typedef enum agb_metric {
    AGB_RETIRING_PCT, AGB_MEMORY_BOUND_PCT, AGB_BACKEND_BOUND_PCT, AGB_FRONTEND_BOUND_PCT, AGB_BAD_SPECULATION_PCT,
    AGB_IPC, AGB_INSTRUCTIONS, AGB_OPS_RETIRED, AGB_CYCLES, AGB_DRAM_DEMAND_BYTES, AGB_LLC_MISSES, AGB_DTLB_WALKS,
    AGB_COVERAGE_PCT,
    AGB_CORE_BOUND_PCT, AGB_SMT_CONTENTION_PCT, AGB_GHZ, AGB_DRAM_FILL_BYTES,
    AGB_BACKEND_STALLED_CYCLES_PCT, AGB_FRONTEND_STALLED_CYCLES_PCT, AGB_MEMORY_STALLED_CYCLES_PCT,
    AGB_LEVEL_1_PCT,    /* what the level 1 shares come to, where each was counted by itself: must be near 100 */
    AGB_METRICS
} agb_metric;

const char *agb_metric_name(agb_metric metric);    /* the JSON key: "retiring_pct" ... */

typedef struct agb_metrics {
    bool has[AGB_METRICS];
    double value[AGB_METRICS];           /* median over the repetitions that counted it */
    unsigned counted[AGB_METRICS];       /* how many did; 0 where it follows from others */
    double least[AGB_METRICS], most[AGB_METRICS];    /* of them */
    bool has_event[AGB_MOST_USER_EVENTS];
    double event[AGB_MOST_USER_EVENTS];  /* the same for the user's events */
    bool impossible;                     /* a share could not be true: none of its group is believed */
    bool remainder;                      /* a level 1 share is what the others leave: their sum checks nothing */
    char reason[640];                    /* "" or why nothing, or why some of it, is missing or suspect */
} agb_metrics;

/* Over n repetitions; phase -1 = the whole run. Implausible counts (fewer than 1e6 cycles a second, closure off by more
 * than 2 points) are withheld with the reason; one impossible share withholds all shares of its group. */
void agb_metrics_compute(const agb_counter_support *support, const agb_repetition_counts *repetitions, size_t n,
                         int phase, agb_metrics *out);
/* Whether any is there, coverage aside. */
bool agb_metrics_any(const agb_metrics *metrics);
/* The same for what one thread counted. */
void agb_metrics_compute_thread(const agb_counter_support *support, const agb_repetition_counts *repetitions, size_t n,
                                unsigned thread, agb_metrics *out);

#endif
