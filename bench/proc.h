/* SPDX-License-Identifier: MIT */
/* The two accounts of processor time that the kernel keeps in /proc: of each processor (stat) and of each process and
 * thread (PID/stat). root is put before /proc: "" except in tests. */
#ifndef AGB_PROC_H
#define AGB_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Time since boot, in clock ticks, of one processor or of several together. Time of guests is part of user and nice. */
typedef struct agb_cpu_ticks {
    uint64_t user, nice, system, idle, iowait, irq, softirq, steal;
} agb_cpu_ticks;

/* All processors together. false when the file does not tell. */
bool agb_cpu_ticks_read(const char *root, agb_cpu_ticks *out);
/* The sum of these processors. false when none of them is there. */
bool agb_cpu_ticks_sum(const char *root, const int *cpus, unsigned n, agb_cpu_ticks *out);
/* after - before, no field below zero: the kernel lets iowait and idle go back by a little. */
agb_cpu_ticks agb_cpu_ticks_between(const agb_cpu_ticks *before, const agb_cpu_ticks *after);
void agb_cpu_ticks_add(agb_cpu_ticks *sum, const agb_cpu_ticks *more);
uint64_t agb_cpu_ticks_all(const agb_cpu_ticks *ticks);
uint64_t agb_cpu_ticks_busy(const agb_cpu_ticks *ticks);    /* all but idle, iowait and steal */
/* What tools show as "% CPU": busy of all. NAN when no tick has passed. */
double agb_cpu_busy_pct(const agb_cpu_ticks *ticks);
/* Processors that /proc/stat lists. */
unsigned agb_cpus_online(const char *root);
/* A line "NAME number" of /proc/stat or /proc/vmstat. */
bool agb_proc_number(const char *root, const char *path, const char *name, uint64_t *number);

double agb_ticks_s(uint64_t ticks);
double agb_uptime_s(const char *root);    /* NAN when unknown */

/* One process, all of its threads that live or have ended together, or one thread. */
typedef struct agb_proc_stat {
    char name[32], state;           /* R runs or could, S sleeps, D waits for a device, T stopped, Z ended */
    int parent, cpu;                /* the processor it ran on last */
    unsigned threads;
    uint64_t minor_faults, major_faults;
    uint64_t user, system;          /* ticks */
    uint64_t children;              /* ticks of children that have ended and been waited for */
    uint64_t start;                 /* ticks after boot: tells a number that was given anew */
    uint64_t resident_pages;
} agb_proc_stat;

/* The line of a stat file. false when it is malformed. */
bool agb_proc_stat_parse(char *line, agb_proc_stat *out);
/* 0, errno, or EBADMSG for a malformed file. tid 0: the whole process. */
int agb_proc_stat_read(const char *root, int pid, int tid, agb_proc_stat *out);
/* Of a whole process: has it ended, and only waits for its parent to notice? Its first thread may end before others. */
bool agb_proc_stat_has_ended(const agb_proc_stat *stat);

#endif
