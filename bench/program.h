/* SPDX-License-Identifier: MIT */
/* A program of the user's that is watched while it runs: it has our terminal, standard input and output, and is held at
 * a gate until everything that shall watch it is in place. It dies with this process. */
#ifndef AGB_PROGRAM_H
#define AGB_PROGRAM_H

#include "aggbench.h"

#include <sys/resource.h>

typedef struct agb_program {
    int pid;                 /* 0 when it was never started, or is over and done with */
    int gate, answer;        /* own ends of two pipes; -1 = closed */
    int watch;               /* pidfd, or -1 where the kernel has none */
    double start_s, wall_s;
    int status;              /* as waitpid gives it, */
    struct rusage usage;     /* of it and the children that it waited for; once it is over */
} agb_program;

/* Forks and holds. quiet_stdout: what it writes to standard output goes to standard error. */
agb_status agb_program_hold(agb_program *out, char *const argv[], bool quiet_stdout, agb_error *err);
/* Lets it go. AGB_ERR_NOT_FOUND and the like when it cannot be executed. */
agb_status agb_program_go(agb_program *program, const char *name, agb_error *err);
/* Waits at most that long; true when it has ended. It is not reaped: its account can still be read. */
bool agb_program_ended_within(const agb_program *program, double seconds);
/* Takes its status and usage. */
void agb_program_reap(agb_program *program);
/* After a signal to this process: it had the same from the terminal, or gets it now; then SIGKILL. */
void agb_program_end(agb_program *program, int number);
/* Ends what is still held. */
void agb_program_release(agb_program *program);

#endif
