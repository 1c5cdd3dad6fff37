/* SPDX-License-Identifier: MIT */
/* The commands, one per cmd_<name>.c, and what several of them share. */
#ifndef AGB_COMMANDS_H
#define AGB_COMMANDS_H

#include "lineup.h"
#include "options.h"
#include "results.h"

extern const agb_command agb_command_run, agb_command_pivot, agb_command_list, agb_command_describe,
    agb_command_load, agb_command_verify, agb_command_compare, agb_command_matrix, agb_command_new, agb_command_lab,
    agb_command_doctor, agb_command_investigate, agb_command_report, agb_command_help, agb_command_count_once,
    agb_command_completion, agb_command_manual;

/* What `aggbench --help` prints; commands: all that there are, NULL-ended. */
void agb_help_overview(FILE *to, const agb_command *const *commands);
/* NULL: there is none of that name, and *err has the sentence, which names the nearest. */
const agb_command *agb_command_find(const agb_command *const *commands, const char *name, agb_error *err);

/* AGB_EXIT_USAGE for what the command line got wrong, AGB_EXIT_FAILED for the rest. */
int agb_exit_of(agb_status status);

/* Creates the line-up, runs it with progress, and writes the report as --format and --output say. table: how the
 * report for people is written. plain_progress: lines of progress also where stderr is no terminal. */
typedef struct agb_session {
    const char *source, *aggregators;    /* defaults of the command */
    double most_s;                       /* see agb_experiment */
    bool plain_progress;
    bool no_twin;                        /* unless --twin asks for it */
    bool published;                      /* it is the published experiment */
    bool substitutes;                    /* estimate and simulate by themselves where there are no counters */
    void (*table)(FILE *to, const agb_results *results);
    const char *note;                    /* to be said with the results, or NULL */
} agb_session;

int agb_session_run(const agb_session *session, const agb_options *options, agb_error *err);

#endif
