/* SPDX-License-Identifier: MIT */
/* One aggregator with its parameters, living in a process of its own: it repeats the same count whenever it is told to,
 * with memory that stays warm in between, checks the answer outside the clock, and reports one plain struct. Whatever
 * happens to it costs its own row and nothing else. */
#ifndef AGB_CONTESTANT_H
#define AGB_CONTESTANT_H

#include "counters.h"
#include "crash.h"
#include "os_usage.h"
#include "output.h"
#include "plugins.h"
#include "process.h"
#include "reference.h"
#include "resident.h"
#include "results.h"

/* What all contestants of an experiment have in common. Borrowed; must not change while they live. */
typedef struct agb_contest {
    const agb_plugins *plugins;               /* or NULL */
    const agb_table *table;
    const char *column;
    const agb_filter *filter;                 /* or NULL */
    const agb_key_layout *layout;
    unsigned threads;
    const int *cpus;                          /* one for each thread, or NULL */
    size_t batch_rows;
    const char *hash;
    agb_memory_options memory;
    const agb_counter_support *support;       /* NULL = no counters wanted */
    const agb_reference *reference;
    const agb_resident *resident;             /* the cache-resident twin, or NULL */
    double timeout_s;
    const char *spill_folder;                 /* or NULL */
    size_t top;
    agb_output *groups;                       /* prepared, or NULL */
} agb_contest;

/* Groups in one piece of memory: `groups` agb_group, then `bytes` bytes of their strings. */
typedef struct agb_top_size {
    size_t groups, bytes;
} agb_top_size;

/* One repetition. */
typedef struct agb_measurement {
    agb_error error;               /* status AGB_OK: all is well */
    bool wrong;                    /* the count went through, but its answer is not the reference's */
    agb_stats stats;
    agb_digest digest;
    agb_os_usage usage;            /* between the two ends of the count: setup and teardown included */
    agb_repetition_counts counts;
    agb_memory_usage memory;
    uint64_t peak_rss_bytes;
    double verify_s;               /* digest and comparison, outside the clock */
    agb_top_size top;              /* of the largest groups that follow */
} agb_measurement;

typedef struct agb_contestant {
    const agb_contest *contest;
    const agb_aggregator *aggregator;
    const char *params;
    unsigned threads;
    agb_process process;
    uint64_t oom_kills;            /* of the system, at the start */
    agb_last_word *last;           /* shared with the child */
} agb_contestant;

/* Forks; the caller must have no threads. threads: at most those of the contest; 0: as many. */
agb_status agb_contestant_start(agb_contestant *out, const agb_contest *contest, const agb_aggregator *aggregator,
                                const char *params, unsigned threads, agb_error *err);
/* One repetition that counts pass number `pass`. Anything but AGB_STATE_OK ends the process; measurement->error then
 * says why in one sentence. top: takes the largest groups, measurement->top.groups of them, in one malloc of the
 * caller's; NULL: they are not wanted. */
agb_state agb_contestant_run(agb_contestant *contestant, unsigned pass, agb_measurement *measurement, agb_group **top);
/* One repetition over the cache-resident twin of the table, without counters, in the same process and memory. */
agb_state agb_contestant_run_resident(agb_contestant *contestant, agb_measurement *measurement);
/* After a good run: its process writes all groups to contest->groups. */
agb_status agb_contestant_write_groups(agb_contestant *contestant, agb_error *err);
void agb_contestant_end(agb_contestant *contestant);

#endif
