/* SPDX-License-Identifier: MIT */
/* Points that are to be compared take turns: each is measured once a round, in shuffled order, so that a machine that
 * grows slower or faster meanwhile does so for all of them. */
#ifndef AGB_LAB_TURNS_H
#define AGB_LAB_TURNS_H

#include "lab.h"

enum { AGB_LAB_MOST_REPETITIONS = 64 };

typedef struct agb_lab_turns {
    const char *what;            /* for the progress */
    size_t trials;
    unsigned repetitions;        /* 1..AGB_LAB_MOST_REPETITIONS */
    unsigned threads;            /* that work at once; 0: threads_of says, for each trial */
    unsigned (*threads_of)(const void *context, size_t trial);
    /* One measurement; a value that is no number must be a failure. */
    agb_status (*measure)(void *context, size_t trial, double *value, agb_error *err);
    void *context;
    size_t done, all;            /* of a longer work that these turns are a part of, in rounds; all 0: they are all */
} agb_lab_turns;

/* Another order, drawn at random. */
void agb_lab_shuffle(size_t *order, size_t n, uint64_t *random);
/* points[trial]: y is the median, low and high its 95 % interval (NAN for a single repetition), noisy when at least
 * half of the repetitions were disturbed; x stays. */
agb_status agb_lab_take_turns(agb_lab_run *run, const agb_lab_turns *turns, agb_lab_point *points, agb_error *err);

#endif
