/* SPDX-License-Identifier: MIT */
/* What one processor family's file in bench/slots/ provides: who it is, which events to count together, and how counts
 * become metrics. Adding a family is adding one file that defines `const agb_slots agb_slots_<file stem>`. */
#ifndef AGB_SLOTS_H
#define AGB_SLOTS_H

#include "counters.h"

/* A processor as CPUID (or MIDR) names it. */
typedef struct agb_cpu_id {
    char vendor[16];                       /* "AuthenticAMD", "GenuineIntel", "ARM" ... */
    unsigned family, model, stepping;      /* decimal, as in /proc/cpuinfo; ARM: model = part number */
} agb_cpu_id;

typedef struct agb_event {
    const char *symbol;      /* as in the formulas of the file */
    uint64_t config;         /* for PERF_TYPE_RAW */
    uint64_t config1;        /* 0 except for events with an extra register */
    const char *pfm;         /* libpfm4 string that must encode to the same config; NULL where 4.13 has none or a wrong one */
} agb_event;

/* Events that are opened as one group: the first is the leader. */
typedef struct agb_pass {
    const char *name;                        /* "slots", "instructions" ... */
    agb_event events[AGB_MOST_EVENTS + 1];   /* ended by an entry with symbol NULL */
} agb_pass;

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
};

/* NULL-ended list made by the Makefile from bench/slots/[a-z]*.c. */
extern const agb_slots *const agb_slots_families[];

#endif
