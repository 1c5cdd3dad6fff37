/* SPDX-License-Identifier: MIT */
/* What one processor family's file in bench/slots/ provides: who it is, which events to count together, and how counts
 * become metrics. Adding a family is adding one file that defines `const agb_slots agb_slots_<file stem>`. */
#ifndef AGB_SLOTS_H
#define AGB_SLOTS_H

#include "counters.h"

/* A processor as CPUID (or MIDR) names it, and what the kernel says of its counters. */
typedef struct agb_cpu_id {
    char vendor[16];                       /* "AuthenticAMD", "GenuineIntel", "ARM" ... */
    unsigned family, model, stepping;      /* decimal, as in /proc/cpuinfo; ARM: model = part number, stepping =
                                              16 * variant + revision, so that r0p3 is 3 and r1p0 is 16 */
    enum { AGB_CORE_ONLY, AGB_CORE_PERFORMANCE, AGB_CORE_EFFICIENT } core;    /* hybrids: of allowed processors */
    unsigned slots;                        /* slots a cycle by the kernel's word (ARM), 0 = it does not say */
    unsigned metric_level;                 /* Intel PERF_METRICS that the kernel exports: 0 none, 1, or 2 levels */
} agb_cpu_id;

typedef struct agb_event {
    const char *symbol;      /* as in the formulas of the file */
    uint64_t config;         /* for PERF_TYPE_RAW */
    uint64_t config1;        /* 0 except for events with an extra register */
    const char *pfm;         /* libpfm4 string that must encode to the same codes; NULL where 4.13 has no right one */
} agb_event;

/* Events that are opened as one group: the first is the leader. */
typedef struct agb_pass {
    const char *name;                        /* "slots", "instructions" ... */
    agb_event events[AGB_MOST_EVENTS + 1];   /* ended by an entry with symbol NULL; the first counts cycles, or slots
                                                where the hardware has them: a run without any is not believed */
    bool (*usable)(const agb_cpu_id *cpu);   /* NULL = on every processor of the family */
    unsigned spare_for;                      /* 1 + number of an earlier pass, in whose place this one is counted where
                                                there are too few counters for that; 0 = none */
} agb_pass;

/* Counts of one pass divided by that pass's first event: what may be compared across passes. Medians. */
typedef struct agb_rates {
    bool has;
    double per_leader[AGB_MOST_EVENTS];
} agb_rates;

struct agb_slots {
    const char *name;                        /* the file's stem */
    const char *uarch;                       /* "Zen 4" */
    const char *about;                       /* what each number means on this family and what it cannot say */
    bool (*matches)(const agb_cpu_id *cpu);
    unsigned width;                          /* slots a cycle; 0 = this family counts none */
    const agb_pass *passes;                  /* ended by an entry with name NULL */
    /* Sets the metrics that this pass's counts give. A zero denominator or an impossible value sets nothing and
     * writes the reason. Counts are already unscaled and complete. */
    void (*metrics)(unsigned pass, const uint64_t *values, agb_metrics *out);
    /* Adds what needs several passes at once, from the medians in out and the rates of each pass; NULL = nothing. */
    void (*combine)(const agb_rates *rates, agb_metrics *out);
    const char *pmu;    /* folder of /sys/bus/event_source/devices whose type the events take; NULL = PERF_TYPE_RAW */
};

/* ---- How a family writes its results (metrics.c) ----------------------------------------------------------------- */

/* Sets a plain number. */
void agb_metrics_set(agb_metrics *out, agb_metric metric, double value);
/* Sets 100 * part / whole. A whole of 0, a share above 100 % or below -1 % sets nothing, says why, and casts doubt on
 * the whole group; a share between -1 % and 0, which rounding gives to differences and remainders, is set to 0 and
 * said. */
void agb_metrics_set_share(agb_metrics *out, agb_metric metric, double part, double whole);
/* The same of a level 1 share that no event counts, but is what the others leave of the whole: said. */
void agb_metrics_set_rest(agb_metrics *out, agb_metric metric, double part, double whole);
/* A reason for which no share of this group can be true. */
__attribute__((format(printf, 2, 3)))
void agb_metrics_doubt(agb_metrics *out, const char *format, ...);
/* Sets what counts say by themselves, by the beginning of the events' symbols: CYC cycles, INS instructions (and with
 * CYC the IPC), OPS operations retired, LLC last-level misses, WALKS page walks of the data TLB, DEMAND and FILLS
 * lines of 64 bytes from DRAM. Events of the same beginning (WALKS_LOAD, WALKS_STORE) add up. */
void agb_metrics_set_plain(agb_metrics *out, const agb_pass *pass, const uint64_t *values);
/* Adds a sentence to the reason, once. */
__attribute__((format(printf, 2, 3)))
void agb_metrics_note(agb_metrics *out, const char *format, ...);

/* NULL-ended list made by the Makefile from bench/slots/[a-z]*.c. */
extern const agb_slots *const agb_slots_families[];

#endif
