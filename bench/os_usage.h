/* SPDX-License-Identifier: MIT */
/* What the operating system charges to this process, all of its threads together: the noise around a measurement. */
#ifndef AGB_OS_USAGE_H
#define AGB_OS_USAGE_H

#include <stdint.h>

typedef struct agb_os_usage {
    double user_s, sys_s;
    double runq_wait_s;               /* waiting for a core: /proc/self/task/<tid>/schedstat, field two, in ns;
                                         negative when the kernel does not keep it */
    int64_t minor_faults, major_faults, involuntary_switches;
} agb_os_usage;

/* Since the process began. Exited threads' run-queue wait is not included: keep workers alive between two readings. */
void agb_os_usage_read(agb_os_usage *out);
/* after - before, never below zero. A run-queue wait that shrank means that a thread took its account with it: it is
 * then not available (negative). */
agb_os_usage agb_os_usage_between(const agb_os_usage *before, const agb_os_usage *after);

/* Processor time alone, user and system. */
double agb_os_cpu_s(void);
/* The run-queue wait alone, of the tasks under ROOT/proc/self/task; root is "" except in tests. */
double agb_runq_wait_s(const char *root);

uint64_t agb_peak_rss_bytes(void);    /* VmHWM of this process; 0 when unknown */
/* The most that this process, or any child that has ended, held at once. */
uint64_t agb_largest_rss_bytes(void);

/* Processes that the system has ended for want of memory, of this machine and of this control group, since they began:
 * a change tells that memory was short. 0 where the kernel does not count them. */
uint64_t agb_oom_kills(const char *root);

#endif
