/* SPDX-License-Identifier: MIT */
/* From options to an experiment: who takes part, on which sources, with which settings. Everything that can be wrong
 * with a command line is found here, before a byte is loaded. */
#ifndef AGB_LINEUP_H
#define AGB_LINEUP_H

#include "experiment.h"
#include "loader.h"
#include "options.h"
#include "plugins.h"
#include "replay.h"
#include "share.h"

typedef struct agb_lineup {
    agb_registry *registry;
    agb_plugins plugins;
    agb_experiment experiment;
    agb_share share;
    agb_sweep sweeps[AGB_MOST_SWEEPS];
    unsigned most_threads;   /* of a sweep of them; 0: there is none */
    agb_counter_support support;
    agb_replay replay;
    agb_ipc_line ipc_line;   /* with --ipc-line */
    agb_pins pins;
    char program[4096];      /* this program's file */
    agb_filter *filter;      /* of --where; or NULL */
    char *schema;            /* text of --schema; or NULL */
    agb_results warnings;    /* notes only: to be said with the results */
} agb_lineup;

/* standard: the --aggregator list when none is given. source: the operand or the command's default. After a failure,
 * too, release it. */
agb_status agb_lineup_create(agb_lineup *out, const agb_options *options, const char *source, const char *standard,
                             agb_error *err);
/* The part of it that decides what counts: lineup_counters.c. */
agb_status agb_lineup_set_counters(agb_lineup *lineup, const agb_options *options, agb_error *err);
/* After the run: what --counters or --events demanded by name and a right result lacks is an error, the sentence says
 * why. The report stands all the same. */
agb_status agb_lineup_check_demands(const agb_options *options, const agb_results *results, agb_error *err);
void agb_lineup_release(agb_lineup *lineup);

/* Runs it and adds the environment: a complete set of results. */
agb_status agb_lineup_run(agb_lineup *lineup, agb_results *out, agb_error *err);

/* The part that makes sources, and contestants of a swept parameter or number of threads: lineup_sweep.c. */
agb_status agb_lineup_set_sources(agb_lineup *lineup, const agb_options *options, const char *source, agb_error *err);
/* A SOURCE "NAME:spec" of a loader that generates rows. */
bool agb_lineup_is_generated(const agb_registry *registry, const char *source);
/* Copies name and params; refused may be NULL. */
agb_status agb_lineup_add_entry(agb_experiment *experiment, const agb_aggregator *aggregator, const char *name,
                                const char *params, const agb_error *refused, agb_error *err);
void agb_lineup_release_entries(agb_entry *entries, size_t n);

/* Whether --spill-folder, or NULL, can take files. */
agb_status agb_lineup_check_folder(const char *folder, agb_error *err);
/* With the nearest name in the error. */
agb_status agb_lineup_find_aggregator(const agb_registry *registry, const char *name, const agb_aggregator **out,
                                      agb_error *err);

#endif
