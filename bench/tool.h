/* SPDX-License-Identifier: MIT */
/* Other people's programs (valgrind, perf) as child processes, with all that they say kept for the message of a
 * failure. */
#ifndef AGB_TOOL_H
#define AGB_TOOL_H

#include "aggbench.h"

typedef struct agb_tool {
    int pid;           /* 0 when it is not running */
    int status;        /* as waitpid gives it, once it has ended */
    bool late;         /* it was ended because it took too long */
    int said;          /* memory file with its standard output and errors; -1 = none */
    double end_s;      /* by agb_now_s: when it has to be done */
} agb_tool;

/* argv[0] is looked for in PATH. inherited: descriptors that it shall see, ended by -1; all others close. */
agb_status agb_tool_start(agb_tool *tool, char *const argv[], const int *inherited, double timeout_s, agb_error *err);
/* Whether it is over by now; never waits. */
bool agb_tool_is_over(agb_tool *tool);
/* After its end: true for exit status 0. Else `how` tells, with the last line that it said. */
bool agb_tool_succeeded(const agb_tool *tool, char *how, size_t size);
/* What it said, cut to size. */
void agb_tool_read(const agb_tool *tool, char *text, size_t size);
/* Ends it if need be. */
void agb_tool_release(agb_tool *tool);

/* Whether PATH has a program of that name. */
bool agb_tool_exists(const char *name);

#endif
