/* SPDX-License-Identifier: MIT */
/* The workers of a lab: they start together, and one wall window holds all their work. Rates of single workers are
 * never added up: they come from different windows, and their sum can be more than the machine ever did. */
#ifndef AGB_LAB_TEAM_H
#define AGB_LAB_TEAM_H

#include "lab.h"

/* How many workers a lab may have at most, and where they stay. */
typedef struct agb_lab_crew {
    unsigned threads;
    agb_pins pins;               /* one for each; none where workers outnumber the allowed processors */
} agb_lab_crew;

/* By --threads and --pin; else the processors that this process may use: affinity and quota. More are done when they
 * are asked for, and a note says so. */
agb_status agb_lab_crew_of(agb_lab_run *run, agb_lab_crew *out, agb_error *err);
/* Where the one thread of a lab stays: --pin's first, or the last allowed. The calling thread is pinned. */
agb_status agb_lab_pin_self(agb_lab_run *run, agb_error *err);
/* Worker counts for a curve up to `most`: all of them while they are few, then about 12, always 1 and most. Returns how
 * many were written; room: 16. */
size_t agb_lab_worker_counts(unsigned most, unsigned *counts);

/* Seconds from the moment when the first `active` workers of the pool were all ready to the moment when the last of
 * them was done with body(context, worker). */
double agb_team_wall_s(agb_pool *pool, unsigned active, void (*body)(void *context, unsigned worker), void *context);

/* amount / seconds; AGB_ERR_UNSUPPORTED when that is no rate, because the clock saw no time pass. */
agb_status agb_lab_rate(double amount, double seconds, const char *what, double *rate, agb_error *err);

#endif
