/* SPDX-License-Identifier: MIT */
/* From counts to metrics: each repetition is judged by itself, a metric is the median over the repetitions that gave
 * it, and what cannot be true is withheld with the reason. Counts of worker threads were summed before: a ratio is
 * computed once from sums, never as a mean of ratios. */
#include "slots.h"
#include "statistics.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double LEAST_EVENTS_A_SECOND = 1e6;    /* of cycles and of instructions, on a core that works */
static const double MOST_GHZ = 10;
static const uint64_t LEAST_NS = 100000;            /* shorter, and the readings themselves would be measured */
static const double CLOSURE_POINTS = 2;

const char *agb_metric_name(agb_metric metric)
{
    static const char *const names[AGB_METRICS] = {
        [AGB_RETIRING_PCT] = "retiring_pct",
        [AGB_MEMORY_BOUND_PCT] = "memory_bound_pct",
        [AGB_BACKEND_BOUND_PCT] = "backend_bound_pct",
        [AGB_FRONTEND_BOUND_PCT] = "frontend_bound_pct",
        [AGB_BAD_SPECULATION_PCT] = "bad_speculation_pct",
        [AGB_IPC] = "ipc",
        [AGB_INSTRUCTIONS] = "instructions",
        [AGB_OPS_RETIRED] = "ops_retired",
        [AGB_CYCLES] = "cycles",
        [AGB_DRAM_DEMAND_BYTES] = "dram_demand_bytes",
        [AGB_LLC_MISSES] = "llc_misses",
        [AGB_DTLB_WALKS] = "dtlb_walks",
        [AGB_COVERAGE_PCT] = "coverage_pct",
        [AGB_CORE_BOUND_PCT] = "core_bound_pct",
        [AGB_SMT_CONTENTION_PCT] = "smt_contention_pct",
        [AGB_GHZ] = "ghz",
        [AGB_DRAM_FILL_BYTES] = "dram_fill_bytes",
        [AGB_BACKEND_STALLED_CYCLES_PCT] = "backend_stalled_cycles_pct",
        [AGB_FRONTEND_STALLED_CYCLES_PCT] = "frontend_stalled_cycles_pct",
        [AGB_MEMORY_STALLED_CYCLES_PCT] = "memory_stalled_cycles_pct",
        [AGB_LEVEL_1_PCT] = "level_1_pct",
    };
    return (unsigned)metric < AGB_METRICS ? names[metric] : "unknown";
}

bool agb_metrics_any(const agb_metrics *metrics)
{
    for (unsigned metric = 0; metric < AGB_METRICS; metric++) {
        if (metrics->has[metric] && metric != AGB_COVERAGE_PCT)
            return true;
    }
    return false;
}

static void add_sentence(agb_metrics *out, const char *format, va_list arguments)
{
    char sentence[sizeof out->reason];
    vsnprintf(sentence, sizeof sentence, format, arguments);
    size_t used = strlen(out->reason);
    if (sentence[0] && !strstr(out->reason, sentence))
        snprintf(out->reason + used, sizeof out->reason - used, "%s%s", used ? "; " : "", sentence);
}

void agb_metrics_note(agb_metrics *out, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    add_sentence(out, format, arguments);
    va_end(arguments);
}

void agb_metrics_doubt(agb_metrics *out, const char *format, ...)
{
    va_list arguments;
    out->impossible = true;
    va_start(arguments, format);
    add_sentence(out, format, arguments);
    va_end(arguments);
}

void agb_metrics_set(agb_metrics *out, agb_metric metric, double value)
{
    out->has[metric] = true;
    out->value[metric] = value;
}

void agb_metrics_set_share(agb_metrics *out, agb_metric metric, double part, double whole)
{
    const char *name = agb_metric_name(metric);
    double percent = whole > 0 ? 100 * part / whole : 0;
    if (!(whole > 0))
        agb_metrics_doubt(out, "%s: unreliable: its denominator was counted as 0", name);
    else if (!(percent >= -1 && percent <= 100))
        agb_metrics_doubt(out, "%s: unreliable: came out as %.1f %%, outside 0..100", name, percent);
    else if (percent < 0) {
        agb_metrics_note(out, "%s: %.2f %% set to 0", name, percent);
        agb_metrics_set(out, metric, 0);
    } else
        agb_metrics_set(out, metric, percent);
}

void agb_metrics_set_rest(agb_metrics *out, agb_metric metric, double part, double whole)
{
    agb_metrics_set_share(out, metric, part, whole);
    out->remainder = true;
    agb_metrics_note(out, "%s is what the other shares leave: that they come to 100 %% checks nothing",
                     agb_metric_name(metric));
}

void agb_metrics_set_plain(agb_metrics *out, const agb_pass *pass, const uint64_t *values)
{
    enum { LINE_BYTES = 64 };
    static const struct {
        const char *symbol;
        agb_metric metric;
        double unit;
    } plain[] = {
        {"CYC", AGB_CYCLES, 1},
        {"INS", AGB_INSTRUCTIONS, 1},
        {"OPS", AGB_OPS_RETIRED, 1},
        {"LLC", AGB_LLC_MISSES, 1},
        {"WALKS", AGB_DTLB_WALKS, 1},
        {"DEMAND", AGB_DRAM_DEMAND_BYTES, LINE_BYTES},
        {"FILLS", AGB_DRAM_FILL_BYTES, LINE_BYTES},
    };
    for (unsigned event = 0; pass->events[event].symbol; event++) {
        for (size_t i = 0; i < sizeof plain / sizeof *plain; i++) {
            agb_metric metric = plain[i].metric;
            if (strncmp(pass->events[event].symbol, plain[i].symbol, strlen(plain[i].symbol)) == 0)
                agb_metrics_set(out, metric, out->value[metric] + plain[i].unit * (double)values[event]);
        }
    }
    if (out->has[AGB_INSTRUCTIONS] && out->value[AGB_CYCLES] > 0)
        agb_metrics_set(out, AGB_IPC, out->value[AGB_INSTRUCTIONS] / out->value[AGB_CYCLES]);
}

static void withhold(agb_metrics *out, agb_metric metric)
{
    out->has[metric] = false;
    out->value[metric] = 0;
    out->counted[metric] = 0;
}

/* Is there anything in these counts to compute from? */
static bool counts_are_usable(const agb_counts *counts, agb_metrics *out)
{
    if (counts->enabled_ns == 0) {
        agb_metrics_note(out, "not measured: the counters were never switched on");
        return false;
    }
    double a_second = (double)counts->value[0] * 1e9 / (double)counts->enabled_ns;
    if (counts->running_ns > counts->enabled_ns)
        agb_metrics_note(out, "unreliable: the counters ran %.0f %% of the time that they were switched on",
                         100.0 * (double)counts->running_ns / (double)counts->enabled_ns);
    else if (counts->running_ns < counts->enabled_ns)
        agb_metrics_note(out, counts->running_ns ? "refused: the counters ran %.0f %% of the time"
                                                 : "not measured: the counters never ran (%.0f %%)",
                         100.0 * (double)counts->running_ns / (double)counts->enabled_ns);
    else if (counts->enabled_ns < LEAST_NS)
        agb_metrics_note(out, "too short to count: %.0f of at least %.0f microseconds",
                         (double)counts->enabled_ns / 1e3, (double)LEAST_NS / 1e3);
    else if (a_second < LEAST_EVENTS_A_SECOND)
        agb_metrics_note(out, "unreliable: %.0f cycles a second on a busy core", a_second);
    else
        return true;
    return false;
}

/* What the rates of one repetition cannot be. */
static void check_rates(const agb_counts *counts, agb_metrics *out)
{
    double ns = (double)counts->enabled_ns;
    if (out->has[AGB_CYCLES]) {
        double ghz = out->value[AGB_CYCLES] / ns;
        if (ghz > MOST_GHZ) {
            agb_metrics_note(out, "cycles: unreliable: %.1f GHz", ghz);
            withhold(out, AGB_CYCLES);
            withhold(out, AGB_IPC);
        } else
            agb_metrics_set(out, AGB_GHZ, ghz);
    }
    if (out->has[AGB_INSTRUCTIONS] && out->value[AGB_INSTRUCTIONS] * 1e9 / ns < LEAST_EVENTS_A_SECOND) {
        agb_metrics_note(out, "instructions: unreliable: %.0f in %.3f s on a busy core", out->value[AGB_INSTRUCTIONS],
                         ns / 1e9);
        withhold(out, AGB_INSTRUCTIONS);
        withhold(out, AGB_IPC);
    }
}

/* Shares of slots: level 1 first, then what SMT takes, then level 2. */
static const agb_metric slot_shares[] = {AGB_RETIRING_PCT, AGB_BACKEND_BOUND_PCT, AGB_FRONTEND_BOUND_PCT,
                                         AGB_BAD_SPECULATION_PCT, AGB_SMT_CONTENTION_PCT, AGB_MEMORY_BOUND_PCT,
                                         AGB_CORE_BOUND_PCT};
enum { LEVEL_1 = 4, WITH_SMT = 5, SHARES = 7 };

static void withhold_shares(agb_metrics *out)
{
    for (unsigned i = 0; i < SHARES; i++)
        withhold(out, slot_shares[i]);
    withhold(out, AGB_LEVEL_1_PCT);
}

/* Counts of one group are right or wrong together: where one share cannot be, the others are no better. */
static void withhold_group(agb_metrics *out, const char *pass)
{
    withhold_shares(out);
    agb_metrics_note(out, "all shares of pass %s are withheld for that", pass);
}

/* Level 1 must come to 100 % of the slots, whichever passes its parts came from. */
static void check_closure(agb_metrics *out)
{
    double sum = 0;
    bool whole = true;
    for (unsigned i = 0; i < WITH_SMT; i++) {
        sum += out->has[slot_shares[i]] ? out->value[slot_shares[i]] : 0;
        whole = whole && (i >= LEVEL_1 || out->has[slot_shares[i]]);
    }
    if (whole && !out->remainder && !out->has[AGB_LEVEL_1_PCT])
        agb_metrics_set(out, AGB_LEVEL_1_PCT, sum);
    bool closes = sum <= 100 + CLOSURE_POINTS && (!whole || sum >= 100 - CLOSURE_POINTS);
    if (closes)
        return;
    agb_metrics_note(out, "shares: unreliable: level 1 comes to %.1f %%, not 100 within %.0f points", sum,
                     CLOSURE_POINTS);
    withhold_shares(out);
}

/* The repetitions' values, metric by metric, then event by event of each pass. */
typedef struct samples {
    size_t most;
    size_t metric_n[AGB_METRICS], rate_n[AGB_MOST_PASSES], event_n[AGB_MOST_USER_EVENTS];
    bool tried[AGB_MOST_PASSES];      /* by some repetition */
    double *metric, *rate, *event;    /* [AGB_METRICS][most], [AGB_MOST_PASSES][AGB_MOST_EVENTS][most], and
                                         [AGB_MOST_USER_EVENTS][most] */
} samples;

static double *rates_of(const samples *all, unsigned pass, unsigned event)
{
    return all->rate + (pass * AGB_MOST_EVENTS + event) * all->most;
}

static void add_sample(samples *all, const agb_metrics *one, unsigned pass, const agb_counts *counts)
{
    for (unsigned metric = 0; metric < AGB_METRICS; metric++)
        if (one->has[metric])
            all->metric[metric * all->most + all->metric_n[metric]++] = one->value[metric];
    for (unsigned event = 0; event < AGB_MOST_EVENTS; event++)
        rates_of(all, pass, event)[all->rate_n[pass]] = (double)counts->value[event] / (double)counts->value[0];
    all->rate_n[pass]++;
}

/* A user's event means what its user knows: only that it was counted all the time is asked for. */
static void add_event(samples *all, const agb_counter_support *support, const agb_user_event *event,
                      const agb_counts *counts, agb_metrics *out)
{
    size_t i = (size_t)(event - support->event);
    if (counts->enabled_ns > 0 && counts->running_ns >= counts->enabled_ns)
        all->event[i * all->most + all->event_n[i]++] = (double)counts->value[0];
    else if (counts->enabled_ns > 0)
        agb_metrics_note(out, "%s: refused: it was counted %.0f %% of the time", event->name,
                         100.0 * (double)counts->running_ns / (double)counts->enabled_ns);
}

/* Which counts of a repetition are meant: the whole, a phase, or a thread. */
typedef struct part {
    enum { WHOLE, PHASE, THREAD } kind;
    unsigned number;
} part;

static const agb_counts *counts_of(const agb_repetition_counts *repetition, part part)
{
    static const agb_counts none = {0};
    if (part.kind == PHASE)
        return &repetition->phase[part.number];
    if (part.kind == THREAD)
        return part.number < repetition->threads ? &repetition->thread[part.number] : &none;
    return &repetition->total;
}

static void add_repetition(samples *all, const agb_counter_support *support, const agb_repetition_counts *repetition,
                           part part, agb_metrics *out)
{
    const agb_counts *counts = counts_of(repetition, part);
    const agb_user_event *event = repetition->pass < 0 ? NULL
                                                       : agb_counters_event_of(support, (unsigned)repetition->pass);
    if (event) {
        add_event(all, support, event, counts, out);
        return;
    }
    if (counts->enabled_ns > 0)
        all->metric[AGB_COVERAGE_PCT * all->most + all->metric_n[AGB_COVERAGE_PCT]++] =
            100.0 * (double)counts->running_ns / (double)counts->enabled_ns;
    if (repetition->pass < 0 || (unsigned)repetition->pass >= support->passes) {
        agb_metrics_note(out, "%s", repetition->reason);
        return;
    }
    unsigned pass = support->pass_of[repetition->pass];
    all->tried[pass] = true;
    if (!counts_are_usable(counts, out))
        return;
    agb_metrics one = {0};
    support->family->metrics(pass, counts->value, &one);
    check_rates(counts, &one);
    if (one.impossible)
        withhold_group(&one, support->family->passes[pass].name);
    agb_metrics_note(out, "%s", one.reason);
    out->remainder = out->remainder || one.remainder;
    add_sample(all, &one, pass, counts);
}

/* What no repetition tried is missing for no reason of its own. */
static void note_untried(const samples *all, const agb_counter_support *support, agb_metrics *out)
{
    char names[200] = "";
    size_t used = 0;
    for (unsigned i = 0; i < support->passes && used < sizeof names; i++) {
        if (!all->tried[support->pass_of[i]])
            used += (size_t)snprintf(names + used, sizeof names - used, "%s%s", used ? ", " : "",
                                     support->family->passes[support->pass_of[i]].name);
    }
    if (used)
        agb_metrics_note(out, "no repetition counted these passes: %s", names);
}

static void take_medians(samples *all, const agb_counter_support *support, agb_metrics *out)
{
    agb_rates rates[AGB_MOST_PASSES] = {{0}};
    for (unsigned metric = 0; metric < AGB_METRICS; metric++) {
        double *values = all->metric + metric * all->most;
        size_t n = all->metric_n[metric];
        if (n == 0)
            continue;
        agb_metrics_set(out, metric, agb_median(values, n));    /* sorts them */
        out->counted[metric] = (unsigned)n;
        out->least[metric] = values[0];
        out->most[metric] = values[n - 1];
    }
    for (unsigned pass = 0; pass < AGB_MOST_PASSES; pass++) {
        rates[pass].has = all->rate_n[pass] > 0;
        for (unsigned event = 0; rates[pass].has && event < AGB_MOST_EVENTS; event++)
            rates[pass].per_leader[event] = agb_median(rates_of(all, pass, event), all->rate_n[pass]);
    }
    for (unsigned i = 0; i < support->events; i++) {
        out->has_event[i] = all->event_n[i] > 0;
        if (out->has_event[i])
            out->event[i] = agb_median(all->event + i * all->most, all->event_n[i]);
    }
    if (support->available && support->family->combine)
        support->family->combine(rates, out);
    check_closure(out);
    if (support->uncalibrated[0])
        withhold_shares(out);
}

static void compute(const agb_counter_support *support, const agb_repetition_counts *repetitions, size_t n, part part,
                    agb_metrics *out)
{
    enum { SAMPLES = AGB_METRICS + AGB_MOST_PASSES * AGB_MOST_EVENTS + AGB_MOST_USER_EVENTS };
    memset(out, 0, sizeof *out);
    agb_metrics_note(out, "%s", support->reason);
    agb_metrics_note(out, "%s", support->uncalibrated);
    if (agb_counters_passes(support) == 0 || n == 0)
        return;
    samples all = {.most = n};
    all.metric = malloc(n * SAMPLES * sizeof *all.metric);
    if (!all.metric) {
        agb_metrics_note(out, "counters: out of memory");
        return;
    }
    all.rate = all.metric + n * AGB_METRICS;
    all.event = all.rate + n * AGB_MOST_PASSES * AGB_MOST_EVENTS;
    for (size_t i = 0; i < n; i++)
        add_repetition(&all, support, &repetitions[i], part, out);
    note_untried(&all, support, out);
    take_medians(&all, support, out);
    free(all.metric);
}

void agb_metrics_compute(const agb_counter_support *support, const agb_repetition_counts *repetitions, size_t n,
                         int phase, agb_metrics *out)
{
    bool known = phase < AGB_MOST_PHASES;
    part part = {phase < 0 ? WHOLE : PHASE, phase < 0 ? 0 : (unsigned)phase};
    compute(support, repetitions, known ? n : 0, part, out);
}

void agb_metrics_compute_thread(const agb_counter_support *support, const agb_repetition_counts *repetitions, size_t n,
                                unsigned thread, agb_metrics *out)
{
    compute(support, repetitions, thread < AGB_MOST_COUNTED_THREADS ? n : 0, (part){THREAD, thread}, out);
}
