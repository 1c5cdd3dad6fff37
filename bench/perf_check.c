/* SPDX-License-Identifier: MIT */
/* perf stat beside our own counting: see perf_check.h. */
#include "perf_check.h"

#include "perf.h"
#include "tool.h"

#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* value;unit;event;time it ran;percent of the time it ran;...: lines of messages have no such shape. */
size_t agb_perf_parse(const char *text, agb_perf_count *out, size_t most)
{
    size_t n = 0;
    for (const char *line = text; *line && n < most; line += strcspn(line, "\n"), line += *line == '\n') {
        char value[64] = "", event[128] = "";
        double percent = 0;
        const char *unit = memchr(line, ';', strcspn(line, "\n"));
        if (!unit || (size_t)(unit - line) >= sizeof value)
            continue;
        memcpy(value, line, (size_t)(unit - line));
        unit += 1 + strcspn(unit + 1, ";");    /* the unit may be empty, which scanf cannot read */
        if (sscanf(unit, ";%127[^;\n];%*[^;\n];%lf", event, &percent) != 2)
            continue;
        char *end;
        out[n].value = strtod(value, &end);
        out[n].counted = end != value && *end == '\0';
        out[n].running_pct = percent;
        n++;
    }
    return n;
}

/* ---- One run under perf stat ------------------------------------------------------------------------------------- */

typedef struct pipes {
    int words[2], answers[2];    /* read end, write end */
} pipes;

static void close_pipes(const pipes *pipes)
{
    const int ends[] = {pipes->words[0], pipes->words[1], pipes->answers[0], pipes->answers[1]};
    for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
        if (ends[i] > 0)
            close(ends[i]);
    }
}

agb_status agb_perf_stat(const char *program, agb_jobs *jobs, const char *events, agb_perf_count *out, size_t n,
                         double timeout_s, agb_error *err)
{
    pipes pipes = {0};
    char control[64], order[64], how[300], text[8192];
    if (pipe2(pipes.words, O_CLOEXEC) != 0 || pipe2(pipes.answers, O_CLOEXEC) != 0) {
        close_pipes(&pipes);
        return agb_fail(err, AGB_ERR_IO, "perf stat: no pipes to talk to it: raise ulimit -n");
    }
    jobs->job[0].bracket = AGB_BRACKET_PERF;
    jobs->job[0].control = pipes.words[1];
    jobs->job[0].acknowledge = pipes.answers[0];
    jobs->job[0].done = false;
    snprintf(control, sizeof control, "fd:%d,%d", pipes.words[0], pipes.answers[1]);
    snprintf(order, sizeof order, "%d:0", jobs->file);
    char *argv[] = {"perf", "stat", "-x", ";", "-D", "-1", "--control", control, "-e", (char *)events, "--",
                    (char *)program, "count-once", order, NULL};
    int inherited[] = {pipes.words[0], pipes.words[1], pipes.answers[0], pipes.answers[1], jobs->file, -1};
    agb_tool tool;
    agb_status status = agb_tool_start(&tool, argv, inherited, timeout_s, err);
    while (status == AGB_OK && !agb_tool_is_over(&tool))
        poll(NULL, 0, 5);
    if (status == AGB_OK && !agb_tool_succeeded(&tool, how, sizeof how))
        status = agb_fail(err, AGB_ERR_IO, "perf stat: %s", how);
    else if (status == AGB_OK && !jobs->job[0].done)
        status = agb_fail(err, AGB_ERR_IO, "perf stat: the count under it gave no answer");
    else if (status == AGB_OK && jobs->job[0].error.status != AGB_OK)
        status = agb_fail(err, jobs->job[0].error.status, "perf stat: %s", jobs->job[0].error.text);
    if (status == AGB_OK) {
        agb_tool_read(&tool, text, sizeof text);
        if (agb_perf_parse(text, out, n) != n)
            status = agb_fail(err, AGB_ERR_FORMAT, "perf stat: its output is not understood: %.100s", text);
    }
    agb_tool_release(&tool);
    close_pipes(&pipes);
    return status;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* A pass as perf writes a group. */
static void write_group(const agb_slots *family, const agb_pass *pass, char *text, size_t size)
{
    const char *pmu = family->pmu ? family->pmu : "cpu";
    size_t used = (size_t)snprintf(text, size, "{");
    for (const agb_event *event = pass->events; event->symbol && used < size; event++) {
        const char *comma = event == pass->events ? "" : ",";
        if (event->config1 || family->pmu)
            used += (size_t)snprintf(text + used, size - used, "%s%s/config=0x%" PRIx64 ",config1=0x%" PRIx64 "/u",
                                     comma, pmu, event->config, event->config1);
        else
            used += (size_t)snprintf(text + used, size - used, "%sr%" PRIx64 ":u", comma, event->config);
    }
    if (used < size)
        snprintf(text + used, size - used, "}");
}

static double our_median(const agb_result *result, unsigned pass, size_t event)
{
    double *values = calloc(result->n_runs + 1, sizeof *values), median = 0;
    size_t n = 0;
    for (size_t i = result->n_warmup; values && i < result->n_runs; i++) {
        if (result->runs[i].counts.pass == (int)pass)
            values[n++] = (double)result->runs[i].counts.total.value[event];
    }
    if (n > 0)
        median = agb_median(values, n);
    free(values);
    return median;
}

static void check_pass(agb_perf_check *out, const agb_perf_check_plan *plan, const agb_results *results, size_t row,
                       unsigned pass, agb_jobs *jobs)
{
    const agb_slots *family = results->support.family;
    const agb_pass *events = &family->passes[results->support.pass_of[pass]];
    agb_perf_count counts[AGB_MOST_EVENTS] = {{0}};
    char group[1024];
    agb_error error = {0};
    size_t n = agb_pass_events(events);
    write_group(family, events, group, sizeof group);
    if (agb_perf_stat(plan->program, jobs, group, counts, n, plan->timeout_s, &error) != AGB_OK) {
        snprintf(out->reason, sizeof out->reason, "%.300s", error.text);
        return;
    }
    agb_checked_event *list = realloc(out->event, (out->n + n) * sizeof *list);
    if (!list)
        return;
    out->event = list;
    for (size_t i = 0; i < n; i++) {
        agb_checked_event *checked = &list[out->n++];
        *checked = (agb_checked_event){.result = row, .theirs = counts[i],
                                       .ours = our_median(&results->results[row], pass, i)};
        snprintf(checked->pass, sizeof checked->pass, "%s", events->name);
        snprintf(checked->symbol, sizeof checked->symbol, "%s", events->events[i].symbol);
    }
}

/* What is in the way before anything is run. */
static bool is_possible(agb_perf_check *out, const agb_results *results)
{
    if (results->replay)
        snprintf(out->reason, sizeof out->reason, "counts are replayed, perf stat would count this machine");
    else if (results->counters_off)
        snprintf(out->reason, sizeof out->reason, "counters are switched off");
    else if (!results->support.available)
        snprintf(out->reason, sizeof out->reason, "%s", results->support.reason);
    else if (!agb_tool_exists("perf"))
        snprintf(out->reason, sizeof out->reason, "perf is not installed: apt-get install linux-perf (Ubuntu: "
                 "linux-tools-generic)");
    else if (results->settings.threads > 1)
        snprintf(out->reason, sizeof out->reason, "it counts one worker: leave --threads out");
    return out->reason[0] == '\0';
}

void agb_perf_check_run(agb_perf_check *out, const agb_perf_check_plan *plan, const agb_results *results)
{
    agb_jobs jobs;
    agb_error error = {0};
    if (!is_possible(out, results))
        return;
    if (agb_jobs_create(&jobs, 1, &plan->query, UINT64_MAX, &error) != AGB_OK) {
        snprintf(out->reason, sizeof out->reason, "%.300s", error.text);
        return;
    }
    for (size_t row = 0; row < results->n_results && !out->reason[0]; row++) {
        const agb_result *result = &results->results[row];
        if (result->source != plan->source || result->state != AGB_STATE_OK)
            continue;
        agb_job_order(&jobs.job[0], result->name, result->params, results->settings.hash, plan->plugins,
                      plan->n_plugins);
        jobs.job[0].batch_rows = results->settings.batch_rows;
        jobs.job[0].caches = agb_caches_of(results->settings.cpus ? results->settings.cpus[0] : 0);
        for (unsigned pass = 0; pass < results->support.passes && !out->reason[0]; pass++)
            check_pass(out, plan, results, row, pass, &jobs);
    }
    agb_jobs_release(&jobs);
}
