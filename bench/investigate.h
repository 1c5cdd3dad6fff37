/* SPDX-License-Identifier: MIT */
/* The staged investigation: which measurements are made, and what may be said of them. Every measurement is a `run`,
 * made by the same words that repeat it. */
#ifndef AGB_INVESTIGATE_H
#define AGB_INVESTIGATE_H

#include "options.h"
#include "progress.h"
#include "story.h"
#include "summary.h"
#include "text.h"

typedef struct agb_investigation {
    const agb_options *options;    /* of the command */
    const char *source;
    agb_story story;
    agb_progress_printer *printer;
    char stage[160];               /* for the progress */
    unsigned processors;           /* that threads may use */
    double most_s;                 /* that the timed part of one measurement may take */
} agb_investigation;

/* One `run` of these words, parted by '\n' (a SOURCE may have blanks); its results are the story's newest measurement.
 * One whose strategies did not all end well is an error: claims need whole results. */
agb_status agb_investigate_measure(agb_investigation *self, const char *title, const char *words, agb_error *err);
/* The newest measurement, or M1, M2 ... of the story. */
const agb_results *agb_investigate_results(const agb_investigation *self, size_t id);

/* The stages, in order; each measures and says what follows from it. investigate_stages.c, investigate_fix.c */
agb_status agb_stage_single_shot(agb_investigation *self, agb_error *err);     /* M1 */
agb_status agb_stage_baseline(agb_investigation *self, agb_error *err);        /* M2 */
agb_status agb_stage_sweep(agb_investigation *self, agb_error *err);           /* M3 */
agb_status agb_stage_profile(agb_investigation *self, agb_error *err);         /* M4 */
agb_status agb_stage_pages(agb_investigation *self, agb_error *err);           /* M5, M6 */
agb_status agb_stage_movement(agb_investigation *self, agb_error *err);        /* M7 */
agb_status agb_stage_threads(agb_investigation *self, agb_error *err);         /* M8, M9 */
agb_status agb_stage_final(agb_investigation *self, agb_error *err);           /* M10 */
/* What holds for all of it: fields that no stage fills. */
void agb_investigate_conclude(agb_investigation *self);

/* ---- For the stages ---------------------------------------------------------------------------------------------- */

/* " [627 ms, 726 ms]", or that there were too few runs. */
agb_text agb_told_interval(double low, double high, agb_text (*text)(double));
/* "652 ms [627 ms, 726 ms]" */
agb_text agb_told_time(const agb_summary *wall);
/* "2.63 times as fast [2.48, 3.14]", "no difference seen [0.97, 1.04]", "2.63 times as fast (too few runs ..)". */
agb_text agb_told_ratio(const agb_ratio *speedup, agb_verdict verdict);
/* Too few runs have no interval, and nothing follows from them. */
bool agb_is_told(const agb_ratio *speedup);

#endif
