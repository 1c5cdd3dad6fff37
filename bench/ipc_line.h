/* SPDX-License-Identifier: MIT */
/* This machine's own line between busy and waiting: what a loop that only computes, and one that only waits for memory,
 * reach here, and the middle between them. `lab calibrate` measures and saves it; `run --ipc-line` and doctor lay what
 * they count against it. An IPC of 1 says little by itself: it is a good figure on one processor and a bad one on the
 * next.
 *
 * Saved at $XDG_CACHE_HOME/aggbench/ipc-line.json, else ~/.cache/aggbench/ipc-line.json:
 *
 *     {"aggbench_ipc_line": 1, "machine": "AMD EPYC 9124 16-Core Processor, Zen 4, L3 65536 KiB, bare metal",
 *      "unit": "ipc", "cpu_bound": 3.9, "memory_bound": 0.11, "midpoint": 0.66, "measured": "2026-11-30T14:00:00Z"} */
#ifndef AGB_IPC_LINE_H
#define AGB_IPC_LINE_H

#include "machine.h"

typedef enum agb_ipc_unit {
    AGB_IPC_PER_CYCLE,               /* "ipc": instructions a cycle, counted by the PMU */
    AGB_IPC_PER_NS                   /* "ops_per_ns": where there is no PMU: instructions of a loop whose number is
                                      * known, a nanosecond of one thread */
} agb_ipc_unit;

typedef struct agb_ipc_line {
    char machine[320];               /* as agb_ipc_line_machine writes it */
    agb_ipc_unit unit;
    double cpu_bound, memory_bound;  /* of the two loops */
    double midpoint;                 /* below it, a program is nearer to waiting; memory_bound < midpoint < cpu_bound */
    int64_t measured_s;              /* when: seconds since 1970, UTC */
} agb_ipc_line;

const char *agb_ipc_unit_name(agb_ipc_unit unit);     /* "ipc", "ops_per_ns" */
const char *agb_ipc_unit_words(agb_ipc_unit unit);    /* "instructions a cycle", "instructions a nanosecond" */

/* What a line holds for: processor, last-level cache and hypervisor. */
void agb_ipc_line_machine(const agb_machine *machine, char *text, size_t size);
/* Where it is kept. AGB_ERR_NOT_FOUND when neither XDG_CACHE_HOME nor HOME names a folder. */
agb_status agb_ipc_line_path(char *path, size_t size, agb_error *err);

/* Replaces the saved line at once or not at all; makes the folder. */
agb_status agb_ipc_line_save(const agb_ipc_line *line, agb_error *err);
/* The saved line, if it is of this machine. AGB_ERR_NOT_FOUND: none was saved; AGB_ERR_FORMAT: the file is damaged;
 * AGB_ERR_UNSUPPORTED: it is of another machine. */
agb_status agb_ipc_line_load(agb_ipc_line *out, const agb_machine *machine, agb_error *err);

#endif
