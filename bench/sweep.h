/* SPDX-License-Identifier: MIT */
/* --sweep p=a..b: one name and the values it takes. */
#ifndef AGB_SWEEP_H
#define AGB_SWEEP_H

#include "aggbench.h"

enum { AGB_MOST_SWEEP = 64, AGB_MOST_SWEEPS = 2 };

typedef struct agb_sweep {
    char name[32];
    char value[AGB_MOST_SWEEP][32];
    size_t n;
    /* For the caller: a key of the generator, or the number of workers, not a parameter of an aggregator. */
    bool of_source, of_threads;
} agb_sweep;

/* "p=a..b/step", "p=a..b*factor", or "p=a,b,c"; numbers also as 1e8 and 0.5. "p=a..b" is in steps of 1, or in powers of
 * ten from a on where that would be more than 64 values. */
agb_status agb_sweep_parse(agb_sweep *out, const char *text, agb_error *err);

/* "bits=8:load=50" with `name` set to `value`, whether it stood there or not; parts end at `separator`: ':' in the
 * parameters of an aggregator, ',' in the SOURCE of a generator. free() it. NULL without memory. */
char *agb_sweep_set(const char *text, char separator, const char *name, const char *value);
/* The same text without the name and its value; free() it. NULL without memory. */
char *agb_sweep_without(const char *text, char separator, const char *name);
/* The value that stands there; false when there is none. The kind in front of a generator's keys may be any word. */
bool agb_sweep_get(const char *text, char separator, const char *name, char *value, size_t size);

#endif
