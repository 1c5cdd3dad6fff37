/* SPDX-License-Identifier: MIT */
/* Recorded counts, event by event, and checks of the metrics that come of them. */
#ifndef AGB_RECORDED_H
#define AGB_RECORDED_H

#include "test.h"

#include "slots.h"

#include <math.h>

static const double TOLERANCE = 0.05;    /* points */

static inline const agb_slots *family_named(const char *name)
{
    for (size_t i = 0; agb_slots_families[i]; i++)
        if (strcmp(agb_slots_families[i]->name, name) == 0)
            return agb_slots_families[i];
    fail_msg("no family %s", name);
    return NULL;
}

static inline unsigned pass_named(const agb_slots *family, const char *name)
{
    for (unsigned i = 0; family->passes[i].name; i++)
        if (strcmp(family->passes[i].name, name) == 0)
            return i;
    fail_msg("%s has no pass %s", family->name, name);
    return 0;
}

/* One event's count, by its symbol. */
typedef struct count {
    const char *symbol;
    double value;
} count;

static inline agb_repetition_counts repetition_of(const agb_slots *family, unsigned pass, const count *counts)
{
    agb_repetition_counts repetition = {.pass = (int)pass};
    for (; counts->symbol; counts++) {
        const agb_event *event = family->passes[pass].events;
        while (event->symbol && strcmp(event->symbol, counts->symbol) != 0)
            event++;
        if (!event->symbol)
            fail_msg("%s, pass %s: no event %s", family->name, family->passes[pass].name, counts->symbol);
        repetition.total.value[event - family->passes[pass].events] = (uint64_t)counts->value;
    }
    /* recorded runs took longer than a second: make the clock fit, 3 GHz */
    uint64_t ns = repetition.total.value[0] / 3 + 1000000;
    repetition.total.enabled_ns = repetition.total.running_ns = ns;
    return repetition;
}

static inline agb_counter_support support_of(const agb_slots *family)
{
    agb_counter_support support = {.available = true, .family = family};
    while (family->passes[support.passes].name) {
        support.pass_of[support.passes] = (unsigned char)support.passes;
        support.passes++;
    }
    return support;
}

/* The metrics of one pass alone. counts: ended by {0}. */
static inline agb_metrics metrics_of(const char *family_name, const char *pass_name, const count *counts)
{
    const agb_slots *family = family_named(family_name);
    unsigned pass = pass_named(family, pass_name);
    agb_repetition_counts repetition = repetition_of(family, pass, counts);
    agb_metrics metrics = {0};
    family->metrics(pass, repetition.total.value, &metrics);
    return metrics;
}

static inline void check(const agb_metrics *metrics, agb_metric metric, double wanted)
{
    if (!metrics->has[metric])
        fail_msg("%s is not there: %s", agb_metric_name(metric), metrics->reason);
    if (!(fabs(metrics->value[metric] - wanted) <= TOLERANCE))
        fail_msg("%s: %.4f, wanted %.4f", agb_metric_name(metric), metrics->value[metric], wanted);
}

static inline void assert_withheld(const agb_metrics *metrics, agb_metric metric, const char *word)
{
    if (metrics->has[metric])
        fail_msg("%s is given as %.3f", agb_metric_name(metric), metrics->value[metric]);
    if (!strstr(metrics->reason, word))
        fail_msg("\"%s\" is not in: %s", word, metrics->reason);
}

/* Where the whole is the sum of passes: one repetition of each named pass, through agb_metrics_compute. */
typedef struct recorded {
    const char *pass;
    const count *counts;
} recorded;

static inline agb_metrics joined(const char *family_name, const recorded *passes)
{
    const agb_slots *family = family_named(family_name);
    agb_counter_support support = support_of(family);
    agb_repetition_counts repetitions[AGB_MOST_PASSES];
    size_t n = 0;
    for (; passes->pass; passes++)
        repetitions[n++] = repetition_of(family, pass_named(family, passes->pass), passes->counts);
    agb_metrics metrics;
    agb_metrics_compute(&support, repetitions, n, -1, &metrics);
    return metrics;
}

#endif
