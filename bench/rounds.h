/* SPDX-License-Identifier: MIT */
/* The contestants' turns: rounds in shuffled order, in heats where memory does not hold all contestants at once. */
#ifndef AGB_ROUNDS_H
#define AGB_ROUNDS_H

#include "contestant.h"
#include "experiment.h"

/* One source's contestants. The caller fills the first part; rows are made by agb_rounds_run. */
typedef struct agb_field {
    const agb_experiment *experiment;
    agb_results *results;            /* for notes */
    const agb_contest *contest;
    size_t source;
    size_t most_at_once;             /* contestants that memory has room for, at least 2 */
    unsigned repetitions;            /* wanted; afterwards: done */
    unsigned most_done;              /* by the longest heat, where precision may end it */
    double start_s;                  /* of all the work, for experiment->most_s */
    uint64_t random;                 /* state of the shuffling */
    uint64_t program_bytes, table_bytes;    /* what a contestant's process holds before it starts */

    agb_result *rows;                /* one for each entry, and one more for the twin */
    agb_result *twin;                /* the last of them, or NULL */
} agb_field;

/* Fails only for want of memory, or when --groups cannot be written; rows are then complete all the same. */
agb_status agb_rounds_run(agb_field *field, agb_error *err);
void agb_field_release(agb_field *field);

#endif
