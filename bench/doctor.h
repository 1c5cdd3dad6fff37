/* SPDX-License-Identifier: MIT */
/* Which kind of busy is it? The troubleshooting path as a checklist: steps in an order in which each one is only worth
 * asking when those before it did not answer. Evidence is gathered once, over one window; the steps then only read it,
 * so each can be tried on evidence of a test's own. */
#ifndef AGB_DOCTOR_H
#define AGB_DOCTOR_H

#include "counters.h"
#include "ipc_line.h"
#include "load_samples.h"
#include "machine.h"
#include "proc.h"
#include "quota.h"
#include "tasks.h"
#include "text.h"

#include <stdio.h>

/* ---- Evidence ---------------------------------------------------------------------------------------------------- */

typedef enum agb_subject { AGB_SUBJECT_MACHINE, AGB_SUBJECT_PROCESS, AGB_SUBJECT_COMMAND } agb_subject;

enum { AGB_DOCTOR_NODES = 64 };

/* One look at what the kernel counts since boot, or since the process began. */
typedef struct agb_vitals {
    double at_s;                       /* by agb_now_s */
    agb_cpu_ticks cpu;                 /* of all processors together */
    uint64_t interrupts, switches, major_faults, swapped_in, swapped_out;
    uint64_t node_misses;              /* pages that came from another node than was wanted */
    double pressure_s;                 /* some task waited for a processor (PSI); NAN = unknown */
    agb_throttling throttling;         /* of the subject's control groups */
    agb_proc_stat process;
} agb_vitals;

/* What a process keeps in memory, as seen last. */
typedef struct agb_footprint {
    bool known;                        /* resident, at least */
    char refused[96];                  /* why huge pages and nodes are not known */
    uint64_t resident, swapped;        /* bytes */
    bool has_pages;
    uint64_t anonymous, huge;          /* bytes; huge: in transparent or explicit huge pages */
    bool has_nodes;
    uint64_t on_node[AGB_DOCTOR_NODES];  /* bytes */
} agb_footprint;

/* How a command ended. */
typedef struct agb_command_end {
    bool ended;
    int status;                        /* as waitpid gives it */
    double wall_s, user_s, sys_s;      /* of the command and of its children that it waited for */
    uint64_t peak_bytes, major_faults, voluntary, involuntary;
} agb_command_end;

typedef struct agb_evidence {
    agb_subject subject;
    const char *root;                  /* before /proc and /sys: "" except in tests */
    int pid;                           /* 0 for the machine */
    char name[32];                     /* of a command: given before the first look */
    agb_machine machine;
    unsigned online;                   /* processors */
    char allowed[256], cpuset[256];    /* lists of the subject's processors; "" = unknown */
    double quota_cpus;                 /* negative = no limit */
    unsigned nodes;
    char node_cpus[AGB_DOCTOR_NODES][256];

    agb_vitals first, last;
    double seen_s;                     /* by agb_now_s: when the process was read last */
    double window_s;                   /* from the first look until then, or until the end of a command */
    agb_tasks tasks;                   /* of the subject */
    agb_footprint footprint;
    bool vanished, interrupted;
    agb_command_end command;

    agb_counter_support support;
    bool counted;
    char not_counted[320];             /* why, though there may be counters */
    agb_metrics metrics;
    bool has_line;
    agb_ipc_line line;
    char no_line[256];
    agb_load_samples loads;
} agb_evidence;

/* Looks once. The first look fails when there is no such process; from then on one that is gone is evidence, too. */
agb_status agb_evidence_look(agb_evidence *evidence, agb_error *err);
/* After the last look: what does not change, and the window. */
void agb_evidence_close(agb_evidence *evidence);
void agb_evidence_release(agb_evidence *evidence);

/* Seconds on processors, and waiting for one, in the window; NAN when unknown. */
double agb_evidence_ran_s(const agb_evidence *evidence);
double agb_evidence_waited_s(const agb_evidence *evidence);
/* Why the wait is not known, or NULL. */
const char *agb_evidence_no_wait(const agb_evidence *evidence);
/* Threads that wanted to run for at least 5 % of the window. */
unsigned agb_evidence_busy_threads(const agb_evidence *evidence);
/* What commands of perf end with: "-p 1234 -- sleep 10", "-a -- sleep 10", or "-- PROGRAM ...". */
agb_text agb_evidence_whose(const agb_evidence *evidence);

/* ---- Findings ---------------------------------------------------------------------------------------------------- */

typedef enum agb_ruling {
    AGB_RULED_OUT,      /* looked at, and not the cause */
    AGB_SUSPECT,        /* may be part of it: go on */
    AGB_FOUND,          /* explains it: the steps behind it would not say more */
    AGB_UNSEEN,         /* cannot be seen here */
    AGB_SKIPPED         /* a step before has answered */
} agb_ruling;

const char *agb_ruling_word(agb_ruling verdict);

typedef struct agb_figure {
    char name[48], unit[24];
    double value;                      /* NAN = not had */
    bool estimate;
} agb_figure;

/* What cannot be seen here, why, and what to run where it can. */
typedef struct agb_unseen {
    char what[64], reason[360], command[240];
} agb_unseen;

enum { AGB_MOST_FIGURES = 16, AGB_MOST_UNSEEN = 4 };

typedef struct agb_finding {
    agb_ruling verdict;
    agb_figure figures[AGB_MOST_FIGURES];
    unsigned n_figures;
    char measured[640];                /* in words, with the figures */
    char means[480];                   /* what it rules out, or shows */
    char next[480];                    /* what to do */
    agb_unseen unseen[AGB_MOST_UNSEEN];
    unsigned n_unseen;
} agb_finding;

void agb_finding_figure(agb_finding *finding, const char *name, const char *unit, double value);
void agb_finding_estimate(agb_finding *finding, const char *name, const char *unit, double value);
/* Sets the verdict and what it means. */
__attribute__((format(printf, 3, 4)))
void agb_finding_conclude(agb_finding *finding, agb_ruling verdict, const char *format, ...);
/* Add a sentence, joined by a semicolon. */
__attribute__((format(printf, 2, 3))) void agb_finding_measured(agb_finding *finding, const char *format, ...);
__attribute__((format(printf, 2, 3))) void agb_finding_next(agb_finding *finding, const char *format, ...);
__attribute__((format(printf, 4, 5)))
void agb_finding_unseen(agb_finding *finding, const char *what, const char *reason, const char *command, ...);

/* ---- The path ---------------------------------------------------------------------------------------------------- */

typedef struct agb_step {
    const char *name, *question;
    void (*examine)(const agb_evidence *evidence, agb_finding *finding);
    bool always;                       /* also behind a step that has answered: it qualifies all the others */
} agb_step;

extern const agb_step agb_doctor_steps[];    /* ended by an entry without a name */
enum { AGB_DOCTOR_STEPS = 9 };

/* One step each; in the order of the path. */
void agb_examine_on_cpu(const agb_evidence *evidence, agb_finding *finding);     /* doctor_cpu.c */
void agb_examine_pinned(const agb_evidence *evidence, agb_finding *finding);
void agb_examine_ipc(const agb_evidence *evidence, agb_finding *finding);        /* doctor_pipeline.c */
void agb_examine_slots(const agb_evidence *evidence, agb_finding *finding);
void agb_examine_memory(const agb_evidence *evidence, agb_finding *finding);     /* doctor_memory.c */
void agb_examine_sharing(const agb_evidence *evidence, agb_finding *finding);
void agb_examine_numa(const agb_evidence *evidence, agb_finding *finding);
void agb_examine_tlb(const agb_evidence *evidence, agb_finding *finding);
void agb_examine_noise(const agb_evidence *evidence, agb_finding *finding);      /* doctor_cpu.c */

typedef struct agb_diagnosis {
    agb_finding findings[AGB_DOCTOR_STEPS];
    int answered;                      /* the step that answered, or -1 */
    char conclusion[640];
} agb_diagnosis;

void agb_doctor_walk(const agb_evidence *evidence, agb_diagnosis *out);

void agb_doctor_report_table(FILE *to, const agb_evidence *evidence, const agb_diagnosis *diagnosis);
/* {"aggbench": 1, "doctor": {"subject": {"kind", "pid", "name", "threads", "window_s", "vanished", "interrupted",
 *  "exit_status", "signal"}, "machine": {..}, "steps": [{"step", "question", "verdict", "measured", "means", "next",
 *  "figures": [{"name", "value", "unit", "estimate": bool}], "unseen": [{"what", "reason", "command"}]}],
 *  "answered_by": step | null, "conclusion"}} */
void agb_doctor_report_json(FILE *to, const agb_evidence *evidence, const agb_diagnosis *diagnosis);

#endif
