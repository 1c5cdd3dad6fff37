/* SPDX-License-Identifier: MIT */
/* Results on paper. Each function writes one complete report; write errors stay in the stream, for agb_output_close. */
#ifndef AGB_REPORT_H
#define AGB_REPORT_H

#include "results.h"
#include "text.h"

#include <jansson.h>
#include <stdio.h>

void agb_report_table(FILE *to, const agb_results *results);
void agb_report_json(FILE *to, const agb_results *results);
json_t *agb_results_json(const agb_results *results);    /* the same, not yet written */
void agb_report_csv(FILE *to, const agb_results *results);

/* The tables of counters of one source, and the line about where they come from: report_counters.c. */
void agb_report_counters(FILE *to, const agb_results *results, size_t source, int width);
void agb_report_counters_state(FILE *to, const agb_results *results);
/* Why a contestant lacks some of them; nothing where they were not to be had at all. */
void agb_report_counters_remarks(FILE *to, const agb_results *results, size_t source);
/* The tables of estimated and simulated values of one source, where they were asked for: report_substitutes.c. */
void agb_report_substitutes(FILE *to, const agb_results *results, size_t source, int width);
/* What a simulation is and is not, in one line with its rows and models. */
void agb_report_simulation_terms(FILE *to, const agb_results *results, const agb_simulation *simulation);
/* What an estimate is and is not, in one line. */
void agb_report_estimate_terms(FILE *to, const agb_source_info *source);
/* "est. 43.1 %", "sim. 78.1" a row, or "-". */
agb_text agb_text_estimate(const agb_estimate *estimate);
/* One end of its interval, or "too few runs", or "-". */
agb_text agb_text_estimate_end(const agb_estimate *estimate, double percent);
agb_text agb_text_simulated(const agb_simulation *simulation, uint64_t count);

/* The parts of the table that stand under every report for people. */
void agb_report_top(FILE *to, const agb_results *results, size_t source);
void agb_report_environment(FILE *to, const agb_results *results);
/* Processor, caches, build: three lines. */
void agb_report_machine(FILE *to, const agb_machine *machine);
/* A line across the report. */
void agb_report_rule(FILE *to);
/* "label   text", wrapped at AGB_TEXT_CELLS with the text's left edge kept. */
__attribute__((format(printf, 3, 4))) void agb_report_line(FILE *to, const char *label, const char *format, ...);

#endif
