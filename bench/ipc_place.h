/* SPDX-License-Identifier: MIT */
/* Where each strategy stands against this machine's own line (ipc_line.h). */
#ifndef AGB_IPC_PLACE_H
#define AGB_IPC_PLACE_H

#include "results.h"

#include <jansson.h>

typedef struct agb_ipc_place {
    bool has;
    bool simulated;        /* instructions of a simulation over measured time: see simulate.h */
    double value;          /* in the line's unit */
    char reason[480];      /* why there is none */
} agb_ipc_place;

agb_ipc_place agb_ipc_place_of(const agb_results *results, const agb_result *result);
/* "nearer to computing", "nearer to waiting", and where it lies beyond either loop. */
const char *agb_ipc_side(const agb_ipc_line *line, double value);

/* results->ipc_line is there. {"unit", "cpu_bound", "memory_bound", "midpoint", "measured_s", "results": [{"result",
 * "source": "pmu"|"simulate"|"none", "value": number | null, "side": text | null, "reason": text | null}]} */
json_t *agb_ipc_line_json(const agb_results *results);
/* The table of one source. */
void agb_report_ipc_line(FILE *to, const agb_results *results, size_t source, int width);

#endif
