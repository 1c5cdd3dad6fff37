/* SPDX-License-Identifier: MIT */
/* Counts other threads than our own: those of a process, of a command and what it starts, or all of the machine's. The
 * passes take turns in time instead of in repetitions, each as one group on every target, and never multiplexed. */
#ifndef AGB_DOCTOR_COUNTING_H
#define AGB_DOCTOR_COUNTING_H

#include "perf.h"

typedef struct agb_counting agb_counting;

/* Opens every pass of the support on each target; place->perf opens on *slot, which is set to each in turn. NULL, and
 * why, when one cannot be. */
agb_counting *agb_counting_start(const agb_perf_place *place, agb_perf_target *slot, const agb_counter_support *support,
                                 const agb_perf_target *targets, size_t n, char *reason, size_t size);
/* Ends the turn of one pass and begins that of the next. */
void agb_counting_turn(agb_counting *counting);
/* Ends the last turn, and computes. */
void agb_counting_end(agb_counting *counting, agb_metrics *out);

#endif
