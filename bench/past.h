/* SPDX-License-Identifier: MIT */
/* Results of an earlier run, read back from its JSON: what a comparison needs of them. The file may come from anywhere,
 * so everything is checked before anything is used. */
#ifndef AGB_PAST_H
#define AGB_PAST_H

#include "aggbench.h"

#include <jansson.h>

/* One contestant on one source. Texts are borrowed from the file's values. */
typedef struct agb_past_row {
    const char *aggregator, *source, *state, *reason;    /* reason: or "" */
    const char *checksum;          /* of the answer; or "" */
    char *params;                  /* "bits=12 load=50", in the order of their names; "" */
    size_t source_number, copy;    /* copy: how many rows before it have the same source, aggregator and params */
    bool alone;                    /* no other row has its source and aggregator */
    uint64_t threads;
    size_t n;                      /* timed runs; 0 unless state is "ok" */
    double *wall_s;
    unsigned *round, *process;
} agb_past_row;

typedef struct agb_past {
    const char *path;
    json_t *root;
    agb_past_row *rows;
    size_t n;
    double noise_low, noise_high;    /* widest interval of a baseline against its twin; 1 and 1 without one */
    uint64_t seed;
    unsigned processes;              /* that the runs were spread over, at least 1 */
} agb_past;

/* After a failure, too, release it. */
agb_status agb_past_read(agb_past *out, const char *path, agb_error *err);
void agb_past_release(agb_past *past);

/* "machine", "cpu": the value under two keys as text, "null" where there is none; free() it. NULL without memory. */
char *agb_past_text(const agb_past *past, const char *object, const char *key);

#endif
