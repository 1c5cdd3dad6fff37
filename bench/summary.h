/* SPDX-License-Identifier: MIT */
/* From repetitions to figures: medians with intervals, paired speed-ups, verdicts. Pure arithmetic over results. */
#ifndef AGB_SUMMARY_H
#define AGB_SUMMARY_H

#include "results.h"

/* Moves `n` finished rows of one source into results (which has room) and sums them up; twin: the baseline's second
 * process, or NULL. support: NULL when counters are off. */
void agb_summarize_source(agb_results *results, agb_result *rows, size_t n, const agb_result *twin,
                          const agb_counter_support *support);

/* Where code and data of one process happen to lie can make this much of a difference. */
extern const double agb_least_claim;
/* What is not claimed at least: that, or nothing where several processes are inside the interval. */
double agb_least_claim_of(unsigned processes);

/* No difference is seen when the interval holds 1, or when the ratio is no farther from 1 than the twin's interval, or
 * than least_claim. noise may be NULL. */
agb_verdict agb_verdict_of(const agb_ratio *speedup, const agb_ratio *noise, double least_claim);

/* How much faster one right result of a source is than another one, by rounds where both took part in the same ones
 * (*paired), else by medians; and whether that is more than noise. */
agb_ratio agb_lead_of(const agb_results *results, size_t better, size_t other, bool *paired);
/* How much faster a result is than one of another measurement: the ratio of medians, each side resampled by itself,
 * for what was not interleaved. */
agb_ratio agb_unpaired_of(const agb_results *of_slower, const agb_result *slower, const agb_results *of_faster,
                          const agb_result *faster);
bool agb_lead_is_claimed(const agb_results *results, size_t better, const agb_ratio *lead);

#endif
