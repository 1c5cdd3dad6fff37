/* SPDX-License-Identifier: MIT */
/* Was a measurement disturbed? Three things are looked at between its begin and its end: how long this process's own
 * threads waited for a core, how much the hypervisor took away (steal), and how much others computed meanwhile, which
 * costs shared caches, bandwidth and clock rate even where no thread of ours waited. The last two come in ticks of
 * mostly 10 ms, and are judged only over LEAST_S and more. */
#ifndef AGB_DISTURBANCE_H
#define AGB_DISTURBANCE_H

#include <stdbool.h>

typedef struct agb_disturbance {
    const char *root;
    double at_s, cpu_s;              /* wall clock; this process's own time on processors */
    double waited_s;                 /* negative: the kernel does not tell */
    double stolen_s, busy_s;         /* of the whole machine; negative: unknown */
} agb_disturbance;

/* root: before /proc; "" except in tests. Borrowed. */
agb_disturbance agb_disturbance_begin(const char *root);
/* More than 2 % of the time of `threads` waited or stolen, or others computing on more than 5 % of the machine. */
bool agb_disturbance_seen(const agb_disturbance *since, unsigned threads);
/* The same of two readings. */
bool agb_disturbance_between(const agb_disturbance *before, const agb_disturbance *after, unsigned threads);

#endif
