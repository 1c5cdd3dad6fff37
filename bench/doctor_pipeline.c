/* SPDX-License-Identifier: MIT */
/* The steps of doctor that look into the pipeline: instructions a cycle against this machine's own line, and what
 * becomes of the slots. Both need counters; without them they name the reason and the command to run elsewhere, and
 * guess nothing. */
#include "doctor.h"

#include "text.h"

#include <math.h>

/* Percent of the slots. */
static const double little_pct = 10, some_pct = 20;

static double metric(const agb_evidence *evidence, agb_metric which)
{
    return evidence->counted && evidence->metrics.has[which] ? evidence->metrics.value[which] : NAN;
}

static const char *why_not(const agb_evidence *evidence)
{
    return evidence->not_counted[0]      ? evidence->not_counted
           : !evidence->support.available ? evidence->support.reason
           : evidence->metrics.reason[0] ? evidence->metrics.reason
                                         : "nothing was counted";
}

/* ---- Instructions a cycle ---------------------------------------------------------------------------------------- */

static void judge_ipc(const agb_evidence *evidence, double ipc, agb_finding *finding)
{
    const agb_ipc_line *line = &evidence->line;
    bool slots = !isnan(metric(evidence, AGB_RETIRING_PCT));
    agb_finding_figure(finding, "a computing loop reaches", "instructions/cycle", line->cpu_bound);
    agb_finding_figure(finding, "a waiting loop reaches", "instructions/cycle", line->memory_bound);
    agb_finding_figure(finding, "the line between them", "instructions/cycle", line->midpoint);
    agb_finding_measured(finding, "here a computing loop reaches %.2f and a waiting one %.2f, with the line at %.2f",
                         line->cpu_bound, line->memory_bound, line->midpoint);
    if (ipc < line->midpoint) {
        agb_finding_conclude(finding, AGB_SUSPECT, "it is on the waiting side of this machine's line: busy, and mostly "
                             "not computing");
        agb_finding_next(finding, "see below what the slots wait for");
    } else if (slots || ipc < line->midpoint + (line->cpu_bound - line->midpoint) / 2) {
        agb_finding_conclude(finding, AGB_RULED_OUT, "rules out waiting as what it mostly does; single phases may "
                             "still");
    } else {
        agb_finding_conclude(finding, AGB_FOUND, "it computes, near what this machine can do: fewer instructions would "
                             "help, a better cache use would not");
        agb_finding_next(finding, "find where: sudo perf record %s; perf report", agb_evidence_whose(evidence).s);
    }
}

void agb_examine_ipc(const agb_evidence *evidence, agb_finding *finding)
{
    double ipc = metric(evidence, AGB_IPC), ghz = metric(evidence, AGB_GHZ);
    agb_finding_figure(finding, "IPC", "instructions/cycle", ipc);
    agb_finding_figure(finding, "clock while it ran", "GHz", ghz);
    if (isnan(ipc)) {
        agb_finding_conclude(finding, AGB_UNSEEN, "busy may mean computing or waiting: this machine does not tell");
        agb_finding_unseen(finding, "instructions a cycle", why_not(evidence),
                           "perf stat -e instructions:u,cycles:u %s", agb_evidence_whose(evidence).s);
        return;
    }
    agb_finding_measured(finding, "%.2f instructions a cycle in user mode", ipc);
    if (evidence->has_line && evidence->line.unit == AGB_IPC_PER_CYCLE) {
        judge_ipc(evidence, ipc, finding);
        return;
    }
    agb_finding_conclude(finding, AGB_UNSEEN, "an IPC says little without this machine's own line");
    agb_finding_unseen(finding, "this machine's line", evidence->has_line ? "the saved line is not in instructions a "
                       "cycle"
                                                                         : evidence->no_line, "aggbench lab calibrate");
    agb_finding_next(finding, "aggbench lab calibrate, then doctor again");
}

/* ---- Slots ------------------------------------------------------------------------------------------------------- */

static const struct {
    agb_metric metric;
    const char *name, *found, *next;
} others[] = {
    {AGB_RETIRING_PCT, "retiring", "most slots retire work: it computes", "do less, or use wider instructions; perf "
     "record shows where"},
    {AGB_FRONTEND_BOUND_PCT, "frontend bound", "the front end does not deliver: instruction cache, decoding or calls",
     "smaller or better laid out code: profile-guided optimisation, huge pages for text"},
    {AGB_BAD_SPECULATION_PCT, "bad speculation", "slots go to work that is thrown away: mispredicted branches",
     "find the branches: perf record -e branch-misses:u; use branch-free code there"},
    {AGB_CORE_BOUND_PCT, "core bound", "execution ports or long operations are the limit, not memory",
     "fewer divisions and dependent operations; perf annotate shows them"},
};

enum { OTHERS = sizeof others / sizeof others[0] };

/* The largest of the categories that are not memory; OTHERS when there is none. */
static size_t largest_other(const agb_evidence *evidence)
{
    size_t largest = OTHERS;
    double most = -1;
    for (size_t i = 0; i < OTHERS; i++) {
        double pct = metric(evidence, others[i].metric);
        if (pct > most) {
            most = pct;
            largest = i;
        }
    }
    return largest;
}

static void show_slots(const agb_evidence *evidence, double memory, double backend, agb_finding *finding)
{
    for (size_t i = 0; i < OTHERS; i++)
        agb_finding_figure(finding, others[i].name, "% of slots", metric(evidence, others[i].metric));
    agb_finding_figure(finding, "memory bound", "% of slots", memory);
    agb_finding_figure(finding, "backend bound", "% of slots", backend);
    agb_finding_measured(finding, "of all slots %.1f %% retired work", metric(evidence, AGB_RETIRING_PCT));
    if (!isnan(memory))
        agb_finding_measured(finding, "%.1f %% waited for memory", memory);
    else if (!isnan(backend))
        agb_finding_measured(finding, "%.1f %% waited for the back end (memory is not told apart)", backend);
}

void agb_examine_slots(const agb_evidence *evidence, agb_finding *finding)
{
    double memory = metric(evidence, AGB_MEMORY_BOUND_PCT), backend = metric(evidence, AGB_BACKEND_BOUND_PCT);
    double waiting = isnan(memory) ? backend : memory;
    double stalled = metric(evidence, AGB_MEMORY_STALLED_CYCLES_PCT);
    show_slots(evidence, memory, backend, finding);
    if (isnan(waiting)) {
        finding->measured[0] = '\0';
        if (!isnan(stalled))
            agb_finding_measured(finding, "%.1f %% of the cycles were stalled on memory (not slots)", stalled);
        agb_finding_figure(finding, "cycles stalled on memory", "%", stalled);
        agb_finding_conclude(finding, AGB_UNSEEN, "what the pipeline's slots wait for is not known");
        agb_finding_unseen(finding, "slots", why_not(evidence), "perf stat --topdown %s (AMD Zen 4 on: perf stat "
                           "-M PipelineL2 %s)", agb_evidence_whose(evidence).s, agb_evidence_whose(evidence).s);
        return;
    }
    size_t other = largest_other(evidence);
    if (waiting >= some_pct) {
        agb_finding_conclude(finding, AGB_SUSPECT, "it waits for %s: the next steps ask for what", isnan(memory) ?
                             "the back end, most likely memory" : "memory");
        agb_finding_next(finding, "shorten the way to the data: smaller, denser, partitioned, prefetched");
    } else if (waiting < little_pct && other < OTHERS) {
        agb_finding_conclude(finding, AGB_FOUND, "it hardly waits for memory; %s (%.1f %%)", others[other].found,
                             metric(evidence, others[other].metric));
        agb_finding_next(finding, "%s", others[other].next);
    } else {
        agb_finding_conclude(finding, AGB_SUSPECT, "memory is a part of it, not the most");
        agb_finding_next(finding, "compare the parts: the largest first");
    }
}
