/* SPDX-License-Identifier: MIT */
/* The few calls on perf events that the counters need, behind function pointers, so that every path of counters.c can
 * be tried on a machine without a PMU. perf_backend.c is the kernel; the tests bring their own. */
#ifndef AGB_PERF_H
#define AGB_PERF_H

#include "slots.h"

/* One reading of a group: PERF_FORMAT_GROUP | TOTAL_TIME_ENABLED | TOTAL_TIME_RUNNING. */
typedef struct agb_perf_reading {
    uint64_t events, enabled_ns, running_ns;
    uint64_t value[AGB_MOST_EVENTS];
} agb_perf_reading;

typedef struct agb_perf {
    void *context;
    /* Opens an event on the calling thread, user mode only, not inherited. leader -1 opens a new, disabled group.
     * Returns a handle of 0 or more, or -errno. */
    int (*open)(void *context, uint32_t type, uint64_t config, uint64_t config1, int leader);
    int (*enable)(void *context, int leader);     /* the whole group; 0 or -errno */
    int (*disable)(void *context, int leader);
    int (*read)(void *context, int leader, agb_perf_reading *out);
    void (*close)(void *context, int handle);
} agb_perf;

extern const agb_perf agb_perf_kernel;

/* Whom to count where it is not the calling thread: a thread (cpu -1), or all on a processor (tid -1). inherited: also
 * what it starts from now on. */
typedef struct agb_perf_target {
    int tid, cpu;
    bool inherited;
} agb_perf_target;
/* The kernel's events on *target, which may change between two opens. */
agb_perf agb_perf_kernel_on(agb_perf_target *target);

/* What messages about failures need to know. */
typedef struct agb_perf_place {
    const char *root;        /* before /proc and /sys; "" except in tests */
    const agb_perf *perf;
    agb_cpu_id cpu;
} agb_perf_place;

/* The same as the functions without _on, on a place of the caller's choice. */
void agb_counters_probe_on(const agb_perf_place *place, agb_counter_support *out);
agb_status agb_counters_create_on(agb_counters **out, const agb_perf_place *place, const agb_counter_support *support,
                                  unsigned workers, agb_error *err);
agb_status agb_counters_add_events_on(const agb_perf_place *place, agb_counter_support *support, const char *list,
                                      agb_error *err);

/* The two loops of the calibration; tests bring their own. */
typedef struct agb_calibration_loops {
    void *context;
    void (*spin)(void *context);    /* independent additions: retires as much as the width allows, no memory */
    void (*chase)(void *context);   /* each load's address is the value of the one before; nothing is in a cache */
} agb_calibration_loops;
void agb_counters_calibrate_on(const agb_perf_place *place, agb_counter_support *support,
                               const agb_calibration_loops *loops);

/* perf_reason.c: one sentence with the cure for a failed open. what: the event or the pass; events: how many the group
 * would have with this one. */
void agb_perf_reason(const agb_perf_place *place, int error, const char *what, unsigned events, char *text,
                     size_t size);
/* Why a group was enabled longer than it ran. */
void agb_perf_short_reason(const agb_perf_place *place, const char *pass, uint64_t running_ns, uint64_t enabled_ns,
                           char *text, size_t size);

/* perf_group.c: a pass as one open group. */
typedef struct agb_perf_group {
    int handle[AGB_MOST_EVENTS];
    unsigned events;    /* 0 = closed */
} agb_perf_group;

unsigned agb_pass_events(const agb_pass *pass);
uint32_t agb_slots_type(const char *root, const agb_slots *family);    /* perf type of the family's events */
/* All or nothing; on failure false and the reason. */
bool agb_perf_group_open(agb_perf_group *group, const agb_perf_place *place, const agb_slots *family,
                         const agb_pass *pass, char *reason, size_t size);
/* One event of the user's, alone in its group. */
bool agb_perf_event_open(agb_perf_group *group, const agb_perf_place *place, const agb_user_event *event, char *reason,
                         size_t size);
void agb_perf_group_close(agb_perf_group *group, const agb_perf *perf);

#endif
