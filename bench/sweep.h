/* SPDX-License-Identifier: MIT */
/* --sweep p=a..b: one name and the values it takes. */
#ifndef AGB_SWEEP_H
#define AGB_SWEEP_H

#include "aggbench.h"

enum { AGB_MOST_SWEEP = 64 };

typedef struct agb_sweep {
    char name[32];
    char value[AGB_MOST_SWEEP][32];
    size_t n;
} agb_sweep;

/* "p=a..b" in steps of 1, "p=a..b/step", "p=a..b*factor", or "p=a,b,c". */
agb_status agb_sweep_parse(agb_sweep *out, const char *text, agb_error *err);

/* "bits=8:load=50" with `name` set to `value`, whether it stood there or not; parts end at `separator`: ':' in the
 * parameters of an aggregator, ',' in the SOURCE of a generator. free() it. NULL without memory. */
char *agb_sweep_set(const char *text, char separator, const char *name, const char *value);

#endif
