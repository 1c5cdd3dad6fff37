/* SPDX-License-Identifier: MIT */
/* Counts without a PMU: a strategy run once more, over fewer rows, on a simulated processor (valgrind's callgrind; N.
 * Nethercote, J. Seward, "Valgrind: a framework for heavyweight dynamic binary instrumentation", 2007).
 *
 * Instructions are exact and repeatable. Cache misses are those of a model: two levels, an L1 and a last one, of this
 * machine's sizes, cold at the start, least recently used, by virtual addresses, without prefetchers and without TLBs.
 * Branch mispredictions are those of a simple two-level predictor, worse than the ones built today. There is no time in
 * it: nothing here says how long anything took. */
#ifndef AGB_SIMULATE_H
#define AGB_SIMULATE_H

#include "job.h"

/* Of consume..finish, all workers' work on one. */
typedef struct agb_simulation {
    bool has;
    char reason[320];       /* why there is none; "" when none was wanted */
    uint64_t rows, groups;  /* of the smaller run */
    uint64_t instructions, l1_misses, last_misses, mispredictions;
} agb_simulation;

/* One simulated cache. */
typedef struct agb_model {
    uint64_t bytes, ways, line;
} agb_model;

/* The nearest cache not larger than this that callgrind can simulate: it wants a power of two of sets. ways 0 = not
 * known. */
agb_model agb_model_of(uint64_t bytes, uint64_t ways, uint64_t line);

/* The three that a simulation of these caches has; sizes that are not known are 32 KiB and 8 MiB. */
typedef struct agb_models {
    agb_model l1i, l1d, last;
} agb_models;

agb_models agb_models_of(const agb_caches *caches);

/* What all simulations of one source have in common. */
typedef struct agb_simulated_run {
    const char *program;               /* this program's file */
    agb_job_query query;
    const char *hash;
    const char *const *plugins;        /* to be opened first */
    size_t n_plugins;
    size_t batch_rows;
    agb_caches caches;                 /* simulated, and told to the strategies */
    uint64_t most_rows;
    double timeout_s;                  /* for all simulations together */
} agb_simulated_run;

typedef struct agb_simulated {
    const char *aggregator, *params;
    agb_simulation *out;
} agb_simulated;

/* Fills every entry's *out, several at a time. Only what leaves nothing to report is an error. */
agb_status agb_simulate(const agb_simulated_run *run, const agb_registry *registry, const agb_simulated *entries,
                        size_t n, agb_error *err);

/* Why this build or this machine cannot simulate: "" when it can. flags: of the compiler. */
void agb_simulate_reason(const char *flags, char *reason, size_t size);

#endif
