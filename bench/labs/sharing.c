/* SPDX-License-Identifier: MIT */
/* False sharing: each thread has a counter of its own, but the counters stand in one cache line, or in lines of their
 * own. The program is the same; only addresses differ. */
#include "hammer.h"

static agb_status run(agb_lab_run *run, agb_error *err)
{
    static const agb_hammer_series series[] = {{AGB_HAMMER_LINE, "one line"},
                                               {AGB_HAMMER_OWN_LINES, "own lines"},
                                               {AGB_HAMMER_LINE_ATOMIC, "one line, atomic"},
                                               {AGB_HAMMER_SHARDED, "own lines, atomic"}};
    agb_status status = agb_hammer_measure(run, "counters of their own", series, 4, err);
    const agb_lab_chart *chart = run->record->charts;
    for (size_t i = 0; i < 4 && status == AGB_OK; i += 2) {
        const agb_lab_series *together = &chart->series[i], *apart = &chart->series[i + 1];
        const agb_lab_point *shared = &together->points[together->n - 1], *own = &apart->points[apart->n - 1];
        if (together->n > 1)
            agb_lab_find(run->record, "%s additions: %.0f threads count %s as fast when their counters stand in lines "
                         "of their own%s%s", i ? "atomic" : "plain", own->x, agb_lab_times(own, shared).s,
                         agb_lab_differ(own, shared) ? "" : ": no difference seen", agb_lab_doubt(own, shared));
    }
    return status;
}

static const char *const options[] = {"seconds", "threads", "pin", NULL};

const agb_lab agb_lab_sharing = {
    .name = "sharing",
    .summary = "false sharing: counters in one cache line, or each in its own",
    .prediction = "no thread touches another's counter, yet in one line they slow each other down several times; in "
                  "lines of their own they scale",
    .limits = "intervals are 95 % of the median of 7; points take turns. Plain additions can hide in a core's store "
              "buffer for a while; atomic ones cannot. Own lines are 128 bytes apart, as some processors fetch lines "
              "in pairs",
    .options = options, .run = run};
