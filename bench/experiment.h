/* SPDX-License-Identifier: MIT */
/* The measuring itself: load, count the reference answer, let the contestants run in shuffled rounds, sum up. It knows
 * no option and prints nothing. */
#ifndef AGB_EXPERIMENT_H
#define AGB_EXPERIMENT_H

#include "options.h"
#include "output.h"
#include "plugins.h"
#include "results.h"

/* One contestant to be. */
typedef struct agb_entry {
    const agb_aggregator *aggregator;    /* NULL: could not be loaded, `refused` says why */
    char *name, *params;                 /* owned */
    unsigned threads;                    /* workers, where they are swept; 0: those of the settings */
    agb_error refused;
} agb_entry;

/* How far it is: "loading", "measuring" ...; total 0 = unknown. */
typedef struct agb_progress {
    const char *what, *subject;
    uint64_t done, total;
} agb_progress;

typedef struct agb_experiment {
    const agb_registry *registry;
    const agb_plugins *plugins;            /* those among the aggregators, or NULL */
    char **sources;
    size_t n_sources;
    const char *input_format;              /* a loader's name, or NULL */
    const char *schema;                    /* text of --schema, or NULL */
    agb_entry *entries;
    size_t n_entries;
    agb_settings settings;
    const agb_counter_support *support;    /* NULL: counters are switched off */
    const agb_replay *replay;              /* counts of the file instead of this machine's; support is the file's */
    bool estimate, simulate;               /* the two substitutes: resident.h, simulate.h */
    bool demanded;                         /* by name: one that cannot be had at all is an error then */
    bool perf_check;                       /* perf_check.h */
    const agb_ipc_line *ipc_line;          /* or NULL; for the reports */
    const char *program;                   /* this program's file, for simulate and perf_check */
    agb_words plugin_words;                /* that it has to open again there */
    double timeout_s;                      /* for one run of a contestant, and for the reference answer */
    const char *spill_folder;              /* or NULL */
    double most_s;                         /* fewer repetitions, at least one, so as not to exceed this; 0 = no limit */
    unsigned least_repetitions;            /* that are made even so; 0 = one */
    size_t most_at_once;                   /* contestants that wait in memory together; 0 = as many as it holds */
    bool no_floor;                         /* nobody asks how far from the machine's floor it is */
    bool twin;                             /* run the baseline in a second process, too */
    agb_output *groups;                    /* prepared: takes all groups of the first good contestant; or NULL */
    const struct agb_share *share;         /* this process is one of several, and not the first: processes.h */
    const char *command;                   /* that this program was started with, and the words behind it */
    char **words;
    int n_words;
    void (*progress)(void *context, const agb_progress *progress);    /* or NULL */
    void *context;
} agb_experiment;

/* Fills out->sources, results, comparisons, noises, notes and settings; the caller fills the rest. A contestant that
 * fails is a row, not an error; an error is what leaves nothing to report: no table, no reference answer. */
agb_status agb_experiment_run(const agb_experiment *experiment, agb_results *out, agb_error *err);

/* For the parts of an experiment. */
void agb_tell_progress(const agb_experiment *experiment, const char *what, const char *subject, uint64_t done,
                       uint64_t total);

#endif
