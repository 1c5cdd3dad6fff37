/* SPDX-License-Identifier: MIT */
/* Every thread of the machine, or of some processes, followed over a window: how long each ran, and how long it could
 * have run and had to wait for a processor.
 *
 * The account is /proc/PID/task/TID/schedstat: nanoseconds run, nanoseconds waited, slices. The file of the process
 * shows its first thread alone, so each thread's own is read. A thread that ends takes its account with it: the window
 * is looked at several times, and what was read last is kept. */
#ifndef AGB_TASKS_H
#define AGB_TASKS_H

#include "aggbench.h"

typedef struct agb_task {
    int pid, tid, parent;           /* parent: of the process */
    char name[32];
    uint64_t start;                 /* ticks after boot; 0 = unknown */
    int cpu;                        /* it ran on last; -1 = unknown */
    uint64_t first_ran_ns, first_waited_ns, first_slices;    /* 0 for a thread that was born in the window */
    uint64_t ran_ns, waited_ns, slices;                      /* as read last */
    unsigned looks, running, sleeping, device;    /* how often it was found at all, and in state R, S, and D */
    bool born, gone;
    bool unreadable;                /* its account is missing, malformed, or went backwards: there is none */
    unsigned last_look;
} agb_task;

/* What comes from one window; begin it with the members up to the blank line. */
typedef struct agb_tasks {
    const char *root;               /* before /proc: "" except in tests */
    int pid;                        /* of one process; 0 = of all */
    bool descendants;               /* with a pid: of its children, too, and theirs */

    agb_task *task;                 /* in the order of tid and start */
    size_t n, room;
    unsigned looks;
    double first_s, last_s;         /* of the first and the last look, by agb_now_s */
    double scan_s;                  /* the longest look took */
    size_t passed_over;             /* vanished after they were listed and before they were ever read */
    uint64_t first_tick;            /* after boot, of the first look; 0 = unknown */
} agb_tasks;

/* Looks once at every thread. Two looks make a window. A pid that does not exist leaves the tasks empty, or gone. */
agb_status agb_tasks_look(agb_tasks *tasks, agb_error *err);
void agb_tasks_release(agb_tasks *tasks);

/* Within the window; NAN when its account is not available. */
double agb_task_ran_s(const agb_task *task);
double agb_task_waited_s(const agb_task *task);

typedef struct agb_tasks_sum {
    double ran_s, waited_s;         /* of the threads that have an account */
    size_t threads;                 /* seen at all, */
    size_t both, born, gone;        /* in the first and the last look; begun, ended in between: one may be both */
    size_t unreadable;
} agb_tasks_sum;

agb_tasks_sum agb_tasks_sum_of(const agb_tasks *tasks);
/* Does the kernel keep these accounts? Not when none moved although processors worked for busy_s; never by a setting.
 * NULL, or why not. */
const char *agb_tasks_refusal(const agb_tasks *tasks, double busy_s);

#endif
