/* SPDX-License-Identifier: MIT */
/* The same counts by another hand: the count runs once more in a program of its own with `perf stat` around it, which
 * counts the same events, pass by pass, between the same brackets (perf's --control), and both stand beside each other.
 * Where they differ by more than a few thousandths, one of the two is wrong. */
#ifndef AGB_PERF_CHECK_H
#define AGB_PERF_CHECK_H

#include "job.h"
#include "results.h"

/* What perf stat said of one event. */
typedef struct agb_perf_count {
    bool counted;
    double value, running_pct;
} agb_perf_count;

/* One event of one contestant. */
typedef struct agb_checked_event {
    size_t result;
    char pass[32], symbol[32];
    double ours;             /* median over the repetitions */
    agb_perf_count theirs;
} agb_checked_event;

struct agb_perf_check {
    char reason[320];        /* why there is none, or why it is not whole; "" */
    agb_checked_event *event;
    size_t n;
};

/* The lines of `perf stat -x ;`, in the order of the events; what is no such line is passed over. Returns how many. */
size_t agb_perf_parse(const char *text, agb_perf_count *out, size_t most);

/* Runs job number 0 of `jobs` under perf stat with these events, n of them in perf's own syntax. */
agb_status agb_perf_stat(const char *program, agb_jobs *jobs, const char *events, agb_perf_count *out, size_t n,
                         double timeout_s, agb_error *err);

/* Checks every good result of one source. What is in the way becomes the reason. */
typedef struct agb_perf_check_plan {
    const char *program;
    agb_job_query query;
    const char *const *plugins;
    size_t n_plugins, source;
    double timeout_s;
} agb_perf_check_plan;

void agb_perf_check_run(agb_perf_check *out, const agb_perf_check_plan *plan, const agb_results *results);

#endif
