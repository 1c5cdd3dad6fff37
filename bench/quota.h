/* SPDX-License-Identifier: MIT */
/* What control groups, versions 1 and 2, leave a process of the machine. A limit on any ancestor of its group counts.
 * pid 0: this process. root is put before /proc and /sys: "" except in tests. */
#ifndef AGB_QUOTA_H
#define AGB_QUOTA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Processors' time that the quota allows; negative = no limit. */
double agb_quota_cpus(const char *root, int pid);

typedef struct agb_throttling {
    bool known;                     /* the kernel keeps it for a group of the process */
    uint64_t periods, throttled;    /* since the groups began: periods, and those in which the quota ran out */
    double throttled_s;             /* stopped for that, added up over processors */
} agb_throttling;
agb_throttling agb_quota_throttling(const char *root, int pid);

/* The processors of its cpuset, such as "0-3"; "" when unknown. */
void agb_quota_cpuset(const char *root, int pid, char *list, size_t size);

#endif
