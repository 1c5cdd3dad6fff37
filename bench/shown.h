/* SPDX-License-Identifier: MIT */
/* The JSON of a run as a page shows it: rows with names short enough for a picture, and the pictures of them. */
#ifndef AGB_SHOWN_H
#define AGB_SHOWN_H

#include "section.h"

typedef struct agb_shown_row {
    agb_json at;                    /* in the file */
    char label[128];                /* "radix bits=10": the parameters that tell it from its namesakes */
    const char *aggregator, *state, *reason, *source;    /* of the file */
    bool ok, baseline;
    double first_s, low_s, median_s, high_s;             /* low and high: NAN where there were too few runs */
    double ns_per_row, times_floor, peak_bytes;
    double *runs;                   /* wall times */
    bool *noisy;
    size_t n_runs;
    double speedup, speedup_low, speedup_high;           /* NAN: not compared */
    const char *verdict;            /* "faster", "slower", "no difference seen"; "" = not compared */
} agb_shown_row;

typedef struct agb_shown {
    agb_json file;                  /* the object of the run */
    agb_shown_row *rows;
    size_t n, n_sources;
    double noise_low, noise_high;   /* of the baseline against its twin; NAN: there was none */
} agb_shown;

/* What is wrong stays in the file's reader. Release it either way. */
agb_shown agb_shown_read(const agb_json *run);
void agb_shown_release(agb_shown *shown);
/* The row that the member "result" of an object names by its number; NULL when it is absent, or names none, which
 * reading takes for a failure. */
agb_shown_row *agb_shown_result(const agb_shown *shown, const agb_json *at);
/* Of the first source; NULL when there is none. */
const agb_shown_row *agb_shown_baseline(const agb_shown *shown);
const agb_shown_row *agb_shown_named(const agb_shown *shown, const char *aggregator);
agb_tone agb_shown_tone(const agb_shown_row *row);
/* "2.58 x [2.15, 2.87]", "no difference seen", "baseline", "". */
agb_text agb_shown_speedup(const agb_shown_row *row);
/* What was found, in one sentence that its intervals bear out. */
void agb_shown_headline(const agb_shown *shown, char *text, size_t size);

/* Parts of the page; each writes nothing where the file has nothing for it. */
void agb_show_times(agb_page *page, const agb_shown *shown);           /* shown_times.c */
void agb_show_sweep(agb_page *page, const agb_shown *shown);           /* shown_sweep.c */
void agb_show_maps(agb_page *page, const agb_shown *shown);            /* shown_map.c: of a sweep over two axes */
void agb_show_best(agb_page *page, const agb_shown *shown);            /* the sweep's best settings, in sentences */
void agb_show_slots(agb_page *page, const agb_shown *shown);           /* shown_slots.c: measured */
void agb_show_estimates(agb_page *page, const agb_shown *shown);
void agb_show_simulations(agb_page *page, const agb_shown *shown);
void agb_show_phases(agb_page *page, const agb_shown *shown);
void agb_show_published(agb_page *page, const agb_shown *shown);       /* shown_published.c */
void agb_show_scaling(agb_page *page, const agb_shown *shown);         /* shown_scaling.c: of a sweep of threads */
/* More rows than a picture of single runs can hold: the sweep's curves stand instead. */
bool agb_shown_is_sweep(const agb_shown *shown);

#endif
