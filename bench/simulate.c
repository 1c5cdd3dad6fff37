/* SPDX-License-Identifier: MIT */
/* Strategies under callgrind: see simulate.h. The count runs in a program of its own (job.h), and only between its
 * brackets is anything instrumented. Simulations take no time of each other's: they run on all processors at once. */
#include "simulate.h"

#include "bracket.h"
#include "machine.h"
#include "process.h"
#include "reference.h"
#include "tool.h"

#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_AT_ONCE = 16 };

agb_model agb_model_of(uint64_t bytes, uint64_t ways, uint64_t line)
{
    enum { USUAL_WAYS = 8, USUAL_LINE = 64 };
    ways = ways ? ways : USUAL_WAYS;
    line = line ? line : USUAL_LINE;
    uint64_t sets = 1;
    while (sets * 2 * ways * line <= bytes)
        sets *= 2;
    uint64_t fit = bytes / (sets * line);    /* ways that keep the size, at least as many as there are */
    ways = fit > ways ? fit : ways;
    return (agb_model){.bytes = sets * ways * line, .ways = ways, .line = line};
}

agb_models agb_models_of(const agb_caches *caches)
{
    enum { USUAL_L1 = 32 << 10, USUAL_LAST = 8 << 20 };
    size_t last = caches->l3 ? caches->l3 : caches->l2;
    return (agb_models){.l1i = agb_model_of(USUAL_L1, 0, caches->line),
                        .l1d = agb_model_of(caches->l1d ? caches->l1d : USUAL_L1, 0, caches->line),
                        .last = agb_model_of(last ? last : USUAL_LAST, 0, caches->line)};
}

void agb_simulate_reason(const char *flags, char *reason, size_t size)
{
    reason[0] = '\0';
    if (!agb_callgrind_is_built_in())
        snprintf(reason, size, "built without valgrind's headers: apt-get install valgrind, then make clean all");
    else if (strstr(flags, "-fsanitize"))
        snprintf(reason, size, "a build with sanitizers does not run under valgrind: make all without SAN");
    else if (!agb_tool_exists("valgrind"))
        snprintf(reason, size, "valgrind is not installed: apt-get install valgrind");
}

/* ---- One simulation ---------------------------------------------------------------------------------------------- */

typedef struct simulation {
    agb_tool tool;
    int counts;        /* memory file that callgrind writes */
    bool started;
} simulation;

static agb_status start(simulation *self, const agb_simulated_run *run, const agb_jobs *jobs, size_t number,
                        double end_s, agb_error *err)
{
    double left_s = end_s - agb_now_s();
    if (left_s <= 0)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "no time was left for it: the simulations before it took all %.0f s",
                        run->timeout_s);
    agb_models all = agb_models_of(&run->caches);
    char out[64], order[64], sizes[3][64];
    const agb_model *models[] = {&all.l1i, &all.l1d, &all.last};
    static const char *const names[] = {"I1", "D1", "LL"};
    self->counts = memfd_create("aggbench callgrind", MFD_CLOEXEC);
    if (self->counts < 0)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory file for its counts");
    for (size_t i = 0; i < 3; i++)
        snprintf(sizes[i], sizeof sizes[i], "--%s=%" PRIu64 ",%" PRIu64 ",%" PRIu64, names[i], models[i]->bytes,
                 models[i]->ways, models[i]->line);
    snprintf(out, sizeof out, "--callgrind-out-file=/proc/self/fd/%d", self->counts);
    snprintf(order, sizeof order, "%d:%zu", jobs->file, number);
    char *argv[] = {"valgrind", "-q", "--tool=callgrind", "--instr-atstart=no", "--cache-sim=yes", "--branch-sim=yes",
                    sizes[0], sizes[1], sizes[2], out, (char *)run->program, "count-once", order, NULL};
    int inherited[] = {self->counts, jobs->file, -1};
    return agb_tool_start(&self->tool, argv, inherited, left_s, err);
}

/* The number under a name of the "events:" line, in the "totals:" line below it. */
static uint64_t count_named(const char *events, const char *totals, const char *name)
{
    size_t length = strlen(name);
    char *end;
    for (;;) {
        events += strspn(events, " ");
        uint64_t value = strtoull(totals, &end, 10);
        if (end == totals || *events == '\n' || *events == '\0')
            return 0;
        if (strncmp(events, name, length) == 0 && strchr(" \n", events[length]))
            return value;
        events += strcspn(events, " \n");
        totals = end;
    }
}

/* Reads what callgrind wrote. */
static bool read_counts(int file, agb_simulation *out)
{
    static const char events_mark[] = "\nevents:", totals_mark[] = "\ntotals:";
    off_t size = lseek(file, 0, SEEK_END);
    char *text = size > 0 ? malloc((size_t)size + 1) : NULL;
    ssize_t got = text ? pread(file, text, (size_t)size, 0) : -1;
    const char *events = NULL, *totals = NULL;
    if (got > 0) {
        text[got] = '\0';
        events = strstr(text, events_mark);
        totals = strstr(text, totals_mark);
    }
    if (events && totals) {
        events += strlen(events_mark);
        totals += strlen(totals_mark);
        out->instructions = count_named(events, totals, "Ir");
        out->l1_misses = count_named(events, totals, "D1mr") + count_named(events, totals, "D1mw");
        out->last_misses = count_named(events, totals, "DLmr") + count_named(events, totals, "DLmw");
        out->mispredictions = count_named(events, totals, "Bcm") + count_named(events, totals, "Bim");
    }
    free(text);
    return out->instructions > 0;
}

static void finish(simulation *self, const agb_simulated_run *run, const agb_job *job, const agb_reference *reference,
                   agb_simulation *out)
{
    char how[300];
    out->rows = job->stats.rows;
    out->groups = job->digest.groups;
    if (self->tool.late)
        snprintf(out->reason, sizeof out->reason, "under valgrind it had not ended when the %.0f s that all "
                 "simulations have were over", run->timeout_s);
    else if (!agb_tool_succeeded(&self->tool, how, sizeof how))
        snprintf(out->reason, sizeof out->reason, "under valgrind %s", how);
    else if (!job->done)
        snprintf(out->reason, sizeof out->reason, "under valgrind it ended without an answer");
    else if (job->error.status != AGB_OK)
        snprintf(out->reason, sizeof out->reason, "%.300s", job->error.text);
    else if (!agb_reference_agrees(reference, &job->digest, &job->stats))
        snprintf(out->reason, sizeof out->reason, "its answer over the fewer rows was wrong");
    else if (!read_counts(self->counts, out))
        snprintf(out->reason, sizeof out->reason, "valgrind wrote no counts");
    else
        out->has = true;
    agb_tool_release(&self->tool);
    close(self->counts);
    self->started = false;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

/* Starts job number `next` on the first free place, if there is one and a job is left. */
static void fill_places(simulation *places, size_t n_places, size_t *job_of, const agb_simulated_run *run,
                        const agb_jobs *jobs, const agb_simulated *entries, double end_s, size_t *next)
{
    for (size_t i = 0; i < n_places && *next < jobs->n; i++) {
        agb_error error = {0};
        if (places[i].started)
            continue;
        job_of[i] = (*next)++;
        places[i] = (simulation){.tool.said = -1};
        places[i].started = start(&places[i], run, jobs, job_of[i], end_s, &error) == AGB_OK;
        if (!places[i].started)
            snprintf(entries[job_of[i]].out->reason, sizeof entries->out->reason, "%.300s", error.text);
    }
}

static void run_jobs(const agb_simulated_run *run, const agb_jobs *jobs, const agb_reference *reference,
                     const agb_simulated *entries)
{
    simulation places[MOST_AT_ONCE] = {0};
    size_t job_of[MOST_AT_ONCE], next = 0, running;
    size_t n_places = agb_machine_default_threads("");
    n_places = n_places < MOST_AT_ONCE ? n_places : MOST_AT_ONCE;
    double end_s = agb_now_s() + run->timeout_s;
    do {
        fill_places(places, n_places, job_of, run, jobs, entries, end_s, &next);
        poll(NULL, 0, 5);
        running = 0;
        for (size_t i = 0; i < n_places; i++) {
            if (places[i].started && agb_tool_is_over(&places[i].tool))
                finish(&places[i], run, &jobs->job[job_of[i]], reference, entries[job_of[i]].out);
            running += places[i].started;
        }
    } while (running > 0 || next < jobs->n);
}

agb_status agb_simulate(const agb_simulated_run *run, const agb_registry *registry, const agb_simulated *entries,
                        size_t n, agb_error *err)
{
    agb_jobs jobs;
    agb_reference reference = {0};
    agb_status status = agb_jobs_create(&jobs, n, &run->query, run->most_rows, err);
    if (status != AGB_OK)
        return status;
    agb_plan right = {.table = jobs.rows.table, .column = run->query.group_by, .filter = run->query.filter};
    status = agb_reference_count(&reference, registry, &right, run->timeout_s, err);
    for (size_t i = 0; i < n; i++) {
        agb_job_order(&jobs.job[i], entries[i].aggregator, entries[i].params, run->hash, run->plugins, run->n_plugins);
        jobs.job[i].batch_rows = run->batch_rows;
        jobs.job[i].caches = run->caches;
    }
    if (status == AGB_OK)
        run_jobs(run, &jobs, &reference, entries);
    agb_reference_release(&reference);
    agb_jobs_release(&jobs);
    return status;
}
