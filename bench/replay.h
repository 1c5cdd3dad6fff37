/* SPDX-License-Identifier: MIT */
/* Recorded counts: written by `--counters pmu --record FILE` on a machine with a PMU, fed through everything behind the
 * counting by `--counters replay:FILE` on any machine. So a table of formulas can be checked, and its results looked at
 * in every report, without the processor it is for.
 *
 * TO SEND US COUNTS of a processor that we do not have: run, on it,
 *
 *     aggbench pivot --counters pmu --record counts.json
 *
 * and send counts.json, with the output of `aggbench list --counters`. The file is JSON; it can be read, and by hand
 * written, as follows. Counts are plain numbers of events, user mode, of the counted region; symbols are those of the
 * family's file in bench/slots.
 *
 *     {"aggbench_counts": 1,
 *      "family": "zen4",                            a name of `aggbench list --counters`
 *      "processor": "AMD EPYC 9124",                in words, for the reports
 *      "about": "how these counts came to be",      shown by every report: what was measured, what was made up
 *      "switch_ns": 900,                            cost of one phase change; may be left out
 *      "results": [
 *       {"aggregator": "naive", "params": "",       the contestant that these counts are of
 *        "phases": ["build"],                       names, in order; may be left out
 *        "repetitions": [
 *         {"pass": "slots",                         a pass of the family: its events, and only those
 *          "enabled_ns": 3600000000, "running_ns": 3600000000,
 *          "counts": {"CYC": 1, "OPS": 2, "BE": 3, "LDNC": 4, "NC": 5},
 *          "phases": [{"enabled_ns", "running_ns", "counts"}],      one for each; may be left out
 *          "threads": [{"enabled_ns", "running_ns", "counts"}]},    the same; their sum is the whole
 *         {"reason": "why this one was not counted"}]}]}
 *
 * Replayed values are of the machine that was recorded; times beside them are of the one that runs. Every report says
 * so, and JSON calls the source of such counters "replay". */
#ifndef AGB_REPLAY_H
#define AGB_REPLAY_H

#include "output.h"
#include "results.h"

typedef struct agb_replay_row {
    char *aggregator, *params;
    agb_repetition_counts *repetitions;
    size_t n;
} agb_replay_row;

struct agb_replay {
    char *file;
    char about[640];                /* what the file says of its counts; "" = nothing */
    agb_counter_support support;    /* of the machine that it is of */
    agb_replay_row *rows;
    size_t n;
};

/* Errors are one sentence that names the file, the place in it, and what is wanted there. */
agb_status agb_replay_load(agb_replay *out, const char *path, agb_error *err);
void agb_replay_release(agb_replay *replay);
/* The counts of one contestant, or NULL. */
const agb_replay_row *agb_replay_find(const agb_replay *replay, const char *aggregator, const char *params);

/* Writes what the timed runs counted. to: prepared; it is closed. */
agb_status agb_record_write(agb_output *to, const agb_results *results, agb_error *err);

#endif
