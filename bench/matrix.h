/* SPDX-License-Identifier: MIT */
/* All strategies over a grid of generated sources: who is fastest where, by how much, and where the lead changes hands.
 * Each cell is an experiment of its own; when it is done, its line is appended to a state file and synced, so that
 * whatever ends the command costs the cell that it was in. The same command goes on from there. */
#ifndef AGB_MATRIX_H
#define AGB_MATRIX_H

#include "options.h"
#include "statistics.h"
#include "sweep.h"

#include <jansson.h>
#include <stdio.h>

enum { AGB_MOST_DISTRIBUTIONS = 8, AGB_MOST_CELLS = 4096 };

/* Rows as they come: "zipf0.8" is synth:zipf with skew=0.8. */
typedef struct agb_distribution {
    const char *name, *kind, *rest;    /* "synth:KIND,rows=..,groups=..REST" */
    bool standard;                     /* of the grid that nobody has asked anything else of */
} agb_distribution;

/* Who was fastest in a cell. */
typedef struct agb_win {
    const char *winner, *second;    /* labels; NULL: nobody, nobody else */
    double ns_per_row;              /* of the winner */
    agb_ratio lead;                 /* on the second */
    bool paired, claimed;
} agb_win;

typedef struct agb_matrix_cell {
    const agb_distribution *distribution;
    uint64_t groups;
    unsigned threads;
    char source[160];
    json_t *done;            /* its line of the state file; NULL: not measured yet */
    agb_win win;             /* by that line */
} agb_matrix_cell;

typedef struct agb_matrix {
    const agb_options *options;
    uint64_t rows;
    const agb_distribution *distribution[AGB_MOST_DISTRIBUTIONS];
    size_t distributions;
    agb_sweep groups, threads;       /* their values */
    agb_matrix_cell *cells;          /* by threads, then distribution, then groups */
    size_t n, n_done;
    size_t beyond;                   /* that the generator refuses: more groups than the rows can have, mostly */
    json_t *head;                    /* what all cells have in common; first line of the state file */
    int state;                       /* the file's descriptor */
    const char *state_path;
    bool out_of_time;
} agb_matrix;

/* ---- matrix.c ---- */

/* From options to cells. After a failure, too, release it. */
agb_status agb_matrix_plan(agb_matrix *out, const agb_options *options, agb_error *err);
/* Seconds that the cells which are not done will take, from a pilot over few rows; *pilot_s: what that took. */
agb_status agb_matrix_estimate(const agb_matrix *matrix, double *seconds, double *pilot_s, agb_error *err);
/* Measures what is not done. */
agb_status agb_matrix_run(agb_matrix *matrix, double estimate_s, agb_error *err);
void agb_matrix_release(agb_matrix *matrix);

/* ---- matrix_plan.c ---- */

/* Rows, axes and cells; the caller makes the rest. */
agb_status agb_matrix_grid(agb_matrix *matrix, const agb_registry *registry, agb_error *err);

/* ---- matrix_state.c ---- */

/* Opens or makes the state file, and takes over the cells that it holds. Refuses one of another matrix, saying what
 * differs; a last line that is cut short is dropped. A dry run makes and changes nothing. */
agb_status agb_matrix_state_open(agb_matrix *matrix, agb_error *err);
/* Takes the reference, also after a failure. */
agb_status agb_matrix_state_add(agb_matrix *matrix, agb_matrix_cell *cell, json_t *line, agb_error *err);

/* ---- matrix_verdict.c ---- */

/* line: of a cell in the state file; labels are borrowed from it. */
agb_win agb_matrix_win(const json_t *line);

/* Between two neighbouring numbers of groups the winner changes; claimed: both leads are outside the noise. */
typedef struct agb_crossover {
    const agb_matrix_cell *before, *after;
    bool claimed;
} agb_crossover;

/* The next one at or behind cell *i; false when there is none. */
bool agb_matrix_crossover(const agb_matrix *matrix, size_t *i, agb_crossover *out);

/* ---- report_matrix.c ---- */

void agb_report_matrix_table(FILE *to, const agb_matrix *matrix);
void agb_report_matrix_csv(FILE *to, const agb_matrix *matrix);
/* {"aggbench": 1, "kind": "matrix", "complete": bool, "settings": {"rows", "repetitions", "warmup", "pages", "memory",
 *  "seed", "aggregators": [label], "cpu", "cores", "commit"}, "grid": {"distributions": [..], "groups": [..],
 *  "threads": [..]}, "cells": [{"distribution", "groups", "threads", "source", "seconds", "winner", "second", "lead",
 *  "ci95_low", "ci95_high", "pairing": "rounds"|"none", "claimed": bool, "results": [{"aggregator" (label), "state",
 *  "reason", "median_s", "ci95_low", "ci95_high", "ns_per_row"}]}], "crossovers": [{"distribution", "threads", "from",
 *  "to", "from_groups", "to_groups", "claimed": bool}], "wins": [{"aggregator", "cells", "claimed"}]}
 * cells: only those that are done. Keys are only ever added. */
void agb_report_matrix_json(FILE *to, const agb_matrix *matrix);

#endif
