/* SPDX-License-Identifier: MIT */
/* Results on paper. Each function writes one complete report; write errors stay in the stream, for agb_output_close. */
#ifndef AGB_REPORT_H
#define AGB_REPORT_H

#include "results.h"

#include <stdio.h>

void agb_report_table(FILE *to, const agb_results *results);
void agb_report_json(FILE *to, const agb_results *results);
void agb_report_csv(FILE *to, const agb_results *results);

/* The parts of the table that stand under every report for people. */
void agb_report_top(FILE *to, const agb_results *results, size_t source);
void agb_report_environment(FILE *to, const agb_results *results);
/* "label   text", wrapped at AGB_TEXT_CELLS with the text's left edge kept. */
__attribute__((format(printf, 3, 4))) void agb_report_line(FILE *to, const char *label, const char *format, ...);

#endif
