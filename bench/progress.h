/* SPDX-License-Identifier: MIT */
/* How far a long command is, on standard error. */
#ifndef AGB_PROGRESS_H
#define AGB_PROGRESS_H

#include "experiment.h"

#include <stdio.h>

typedef enum agb_progress_style {
    AGB_PROGRESS_NONE,
    AGB_PROGRESS_LINE,     /* one line that is written over: a terminal */
    AGB_PROGRESS_PLAIN     /* a new line at each change and every few seconds: a log */
} agb_progress_style;

typedef struct agb_progress_printer {
    FILE *to;
    agb_progress_style style;
    double start_s, last_s;      /* 0 before the first */
    const char *last_what;
    bool shown;                  /* a line stands there that must be wiped */
} agb_progress_printer;

agb_progress_printer agb_progress_printer_of(FILE *to, bool quiet, bool plain);
/* context is an agb_progress_printer. */
void agb_progress_print(void *context, const agb_progress *progress);
void agb_progress_end(agb_progress_printer *printer);

#endif
