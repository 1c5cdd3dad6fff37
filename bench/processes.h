/* SPDX-License-Identifier: MIT */
/* --processes N: the same experiment again in fresh processes. Contestants are forked, and a fork shares its parent's
 * layout: where the program, its libraries, its stack and the rows lie in memory is drawn once, by the kernel, when the
 * program starts, and can make a difference of several percent that looks like a property of a strategy (T. Mytkowicz
 * and others, "Producing wrong data without doing anything obviously wrong!", 2009). So the whole command is started
 * anew: it loads the rows again, lets all contestants take their turns again, in other orders, and gives its runs back
 * in a memory file.
 *
 * JSON: settings.processes; each run has process, each result processes [{"median_s"}] and process_spread_pct (both
 * empty for one process); layouts [{"text", "stack", "rows"}] holds the addresses of each process on each source. */
#ifndef AGB_PROCESSES_H
#define AGB_PROCESSES_H

#include "rounds.h"
#include "share.h"

/* In such a process: writes the field's runs. */
agb_status agb_share_write(const agb_share *share, const agb_field *field, agb_error *err);

/* In the parent, after its own rounds: starts the others one after another and adds their runs to the rows. One that
 * cannot be had is a note; a contestant that fails in one of them is a row that says so. */
agb_status agb_processes_run(agb_field *field, agb_error *err);

/* Where things lie in this process. */
agb_layout agb_layout_here(const agb_table *table);

#endif
