/* SPDX-License-Identifier: MIT */
/* Threads that count together: behind one mutex, in one atomic counter, and each in a shard of its own. What is shared
 * stays flat or falls as threads are added; what is not scales. */
#include "hammer.h"

static const double scales = 0.7;    /* of the number of threads */

static agb_status run(agb_lab_run *run, agb_error *err)
{
    static const agb_hammer_series series[] = {
        {AGB_HAMMER_MUTEX, "one mutex"}, {AGB_HAMMER_ATOMIC, "one atomic"}, {AGB_HAMMER_SHARDED, "sharded"}};
    enum { SERIES = sizeof series / sizeof series[0] };
    agb_status status = agb_hammer_measure(run, "counting together", series, SERIES, err);
    const agb_lab_chart *chart = run->record->charts;
    for (size_t i = 0; i < SERIES && status == AGB_OK; i++) {
        const agb_lab_series *curve = &chart->series[i];
        const agb_lab_point *one = &curve->points[0], *all = &curve->points[curve->n - 1];
        double gain = all->y / one->y;
        /* Two threads win more of a processor that others want, so a disturbed gain would look like scaling. */
        const char *verdict = gain < 1 && agb_lab_differ(all, one) ? "it falls"
                              : gain < scales * all->x             ? "it stays nearly flat" : "it scales";
        if (one->noisy || all->noisy)
            verdict = "others took processor time, which hides how it scales";
        if (curve->n > 1)
            agb_lab_find(run->record, "%s: %.0f threads count %s as fast as one: %s%s", curve->name, all->x,
                         agb_lab_times(all, one).s, verdict, agb_lab_doubt(one, all));
    }
    return status;
}

static const char *const options[] = {"seconds", "threads", "pin", NULL};

const agb_lab agb_lab_contention = {
    .name = "contention",
    .summary = "one mutex, one atomic counter, or a counter for each thread",
    .prediction = "the mutex and the atomic counter are fastest with one thread: each further one makes the line of "
                  "the counter travel between cores. Sharded counters scale with the threads. All threads are 100 % "
                  "busy in all three cases",
    .limits = "intervals are 95 % of the median of 7; points take turns. Workers do nothing but count, which real "
              "programs do not: their contention is lower. Where two workers share one core (SMT) the line does not "
              "travel",
    .options = options, .run = run};
