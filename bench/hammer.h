/* SPDX-License-Identifier: MIT */
/* Workers that increment counters as fast as they can, for labs contention and sharing: the labs differ only in whose
 * counter it is, where it stands, and what guards it. */
#ifndef AGB_HAMMER_H
#define AGB_HAMMER_H

#include "lab.h"

typedef enum agb_hammer_kind {
    AGB_HAMMER_MUTEX,           /* one counter behind one mutex */
    AGB_HAMMER_ATOMIC,          /* one counter, atomic additions */
    AGB_HAMMER_SHARDED,         /* one for each worker, each in a line of its own, atomic additions */
    AGB_HAMMER_LINE,            /* one for each worker, side by side in as few lines as hold them, plain additions */
    AGB_HAMMER_OWN_LINES,       /* the same in lines of their own */
    AGB_HAMMER_LINE_ATOMIC      /* side by side, atomic additions; its other half is AGB_HAMMER_SHARDED */
} agb_hammer_kind;

typedef struct agb_hammer_series {
    agb_hammer_kind kind;
    const char *name;
} agb_hammer_series;

/* A chart of million increments a second over 1..all threads, one series for each kind, and a table of what the most
 * threads reach against one. Counts are checked: every increment must be in the counters afterwards. */
agb_status agb_hammer_measure(agb_lab_run *run, const char *title, const agb_hammer_series *series, size_t n,
                              agb_error *err);

#endif
