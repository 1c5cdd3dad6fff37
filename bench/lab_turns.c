/* SPDX-License-Identifier: MIT */
/* Interleaved repetitions: see lab_turns.h. */
#include "lab_turns.h"

#include "disturbance.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>

typedef struct trial {
    double value[AGB_LAB_MOST_REPETITIONS];
    unsigned disturbed;
} trial;

void agb_lab_shuffle(size_t *order, size_t n, uint64_t *random)
{
    for (size_t i = n; i > 1; i--) {
        *random = *random * 6364136223846793005u + 1442695040888963407u;
        size_t other = (size_t)((*random >> 33) % i), kept = order[i - 1];
        order[i - 1] = order[other];
        order[other] = kept;
    }
}

/* A disturbance too short for one repetition's ticks may still be seen over the whole round. */
static agb_status take_round(agb_lab_run *run, const agb_lab_turns *turns, trial *trials, const size_t *order,
                             unsigned round, agb_error *err)
{
    unsigned most_threads = 1;
    agb_status status = AGB_OK;
    agb_disturbance whole = agb_disturbance_begin(run->root);
    bool *seen = calloc(turns->trials, sizeof *seen);
    if (!seen)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: no memory for %zu trials: free some, and run again", turns->trials);
    for (size_t i = 0; i < turns->trials && status == AGB_OK; i++) {
        size_t at = order[i], all = turns->all ? turns->all : turns->repetitions;
        if (!agb_lab_progress(run, turns->what, (turns->done + round) * turns->trials + i, all * turns->trials)) {
            status = agb_lab_stopped(run, err);
            break;
        }
        unsigned threads = turns->threads ? turns->threads : turns->threads_of(turns->context, at);
        most_threads = threads > most_threads ? threads : most_threads;
        agb_disturbance one = agb_disturbance_begin(run->root);
        status = turns->measure(turns->context, at, &trials[at].value[round], err);
        seen[at] = agb_disturbance_seen(&one, threads);
    }
    bool everywhere = agb_disturbance_seen(&whole, most_threads);
    for (size_t i = 0; i < turns->trials; i++)
        trials[i].disturbed += seen[i] || everywhere;
    free(seen);
    return status;
}

static void summarize(const agb_lab_turns *turns, trial *trials, agb_lab_point *points)
{
    for (size_t i = 0; i < turns->trials; i++) {
        agb_summary summary = agb_summarize(trials[i].value, turns->repetitions, i + 1);
        bool once = turns->repetitions == 1;
        points[i].y = summary.median;
        points[i].low = once ? NAN : summary.ci95_low;
        points[i].high = once ? NAN : summary.ci95_high;
        points[i].noisy = 2 * trials[i].disturbed >= turns->repetitions;
    }
}

agb_status agb_lab_take_turns(agb_lab_run *run, const agb_lab_turns *turns, agb_lab_point *points, agb_error *err)
{
    trial *trials = calloc(turns->trials, sizeof *trials);
    size_t *order = calloc(turns->trials, sizeof *order);
    uint64_t random = 1;
    agb_status status = AGB_OK;
    if (!trials || !order)
        status = agb_fail(err, AGB_ERR_MEMORY, "lab: no memory for %zu trials: free some, and run again",
                          turns->trials);
    for (size_t i = 0; i < turns->trials && status == AGB_OK; i++)
        order[i] = i;
    for (unsigned round = 0; round < turns->repetitions && status == AGB_OK; round++) {
        agb_lab_shuffle(order, turns->trials, &random);
        status = take_round(run, turns, trials, order, round, err);
    }
    if (status == AGB_OK)
        summarize(turns, trials, points);
    free(trials);
    free(order);
    return status;
}
