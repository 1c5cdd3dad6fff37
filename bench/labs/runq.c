/* SPDX-License-Identifier: MIT */
/* Who waits for a processor? Each thread's run-queue wait over a window: the time in which it could have run and none
 * was free for it. Load averages count heads; this counts the seconds they lost. */
#include "lab.h"
#include "proc.h"
#include "process.h"
#include "tasks.h"
#include "text.h"

#include <math.h>
#include <poll.h>
#include <stdlib.h>

enum { ROWS = 15, LOOKS = 12 };

static const double usual_window_s = 3, watch_interval_s = 1;
/* Threads that wanted to run for less than this have a share that says nothing. */
static const double least_wanted_s = 0.001;

typedef struct watch {
    agb_lab_run *run;
    agb_tasks tasks;
    agb_cpu_ticks before, after;
    bool has_ticks;
    agb_lab_chart *chart;
    agb_tasks_sum last;
    double last_s;
} watch;

/* ---- The window -------------------------------------------------------------------------------------------------- */

static double more(double before, double after)
{
    return after > before ? after - before : 0;
}

/* Threads that ran and that waited, on average, since the look before. */
static agb_status add_points(watch *watch, agb_error *err)
{
    agb_tasks_sum sum = agb_tasks_sum_of(&watch->tasks);
    double passed_s = watch->tasks.last_s - watch->last_s;
    double x = watch->tasks.last_s - watch->tasks.first_s;
    double threads[] = {more(watch->last.waited_s, sum.waited_s), more(watch->last.ran_s, sum.ran_s)};
    bool noisy = watch->tasks.scan_s > passed_s / 4;
    agb_status status = AGB_OK;
    for (size_t i = 0; i < 2 && passed_s > 0 && status == AGB_OK; i++) {
        agb_lab_point point = {.x = x, .y = threads[i] / passed_s, .low = NAN, .high = NAN, .noisy = noisy};
        status = agb_lab_add_point(watch->run->record, &watch->chart->series[i], point, err);
    }
    watch->last = sum;
    watch->last_s = watch->tasks.last_s;
    return status;
}

static const agb_task *worst(const agb_tasks *tasks)
{
    const agb_task *found = NULL;
    for (size_t i = 0; i < tasks->n; i++) {
        const agb_task *task = &tasks->task[i];
        if (!task->unreadable && (!found || agb_task_waited_s(task) > agb_task_waited_s(found)))
            found = task;
    }
    return found;
}

/* The line of progress, which is what --watch is for. */
static bool show(const watch *watch, size_t done, size_t all)
{
    char what[160];
    const agb_task *task = worst(&watch->tasks);
    agb_clean_text name = agb_text_clean(task ? task->name : "");
    double passed_s = watch->tasks.last_s - watch->tasks.first_s;
    if (task && passed_s > 0)
        snprintf(what, sizeof what, "waited %.12s in %.12s, most of all %.32s (%d): %.12s",
                 agb_text_seconds(watch->last.waited_s).s, agb_text_seconds(passed_s).s, name.s, task->tid,
                 agb_text_seconds(agb_task_waited_s(task)).s);
    else
        snprintf(what, sizeof what, "looking");
    return agb_lab_progress(watch->run, what, done, all);
}

static agb_status follow(watch *watch, agb_error *err)
{
    bool endless = watch->run->options->watch && watch->run->seconds == 0;
    double window_s = watch->run->seconds > 0 ? watch->run->seconds : usual_window_s;
    double interval_s = endless ? watch_interval_s : window_s / LOOKS;
    watch->run->until_told = endless;
    watch->has_ticks = agb_cpu_ticks_read(watch->run->root, &watch->before);
    agb_status status = agb_tasks_look(&watch->tasks, err);
    watch->last_s = watch->tasks.last_s;
    size_t all = endless ? 0 : LOOKS;
    bool go_on = true;
    for (size_t look = 1; status == AGB_OK && go_on && (endless || look <= LOOKS); look++) {
        double left_s = watch->tasks.first_s + (double)look * interval_s - agb_now_s();
        poll(NULL, 0, left_s > 0 ? (int)(left_s * 1e3) + 1 : 1);
        status = agb_tasks_look(&watch->tasks, err);
        if (status == AGB_OK)
            status = add_points(watch, err);
        go_on = show(watch, look, all);
    }
    watch->has_ticks &= agb_cpu_ticks_read(watch->run->root, &watch->after);
    return status;
}

/* ---- What it says ------------------------------------------------------------------------------------------------ */

static double share_pct(const agb_task *task)
{
    double waited_s = agb_task_waited_s(task), wanted_s = waited_s + agb_task_ran_s(task);
    return wanted_s > 0 ? 100 * waited_s / wanted_s : 0;
}

static int by_wait(const void *a, const void *b)
{
    const agb_task *left = *(const agb_task *const *)a, *right = *(const agb_task *const *)b;
    double left_s = agb_task_waited_s(left), right_s = agb_task_waited_s(right);
    return left_s < right_s ? 1 : left_s > right_s ? -1 : 0;
}

static int by_share(const void *a, const void *b)
{
    const agb_task *left = *(const agb_task *const *)a, *right = *(const agb_task *const *)b;
    double left_pct = share_pct(left), right_pct = share_pct(right);
    return left_pct < right_pct ? 1 : left_pct > right_pct ? -1 : by_wait(a, b);
}

static agb_lab_cell seen(const agb_task *task)
{
    return agb_lab_text("%s", task->born && task->gone ? "born, gone" : task->born ? "born" : task->gone ? "gone" : "");
}

static agb_status add_rows(watch *watch, const char *title, const agb_task **tasks, size_t n, agb_error *err)
{
    static const agb_lab_column columns[] = {
        {"thread", ""}, {"pid", ""}, {"tid", ""}, {"waited", "ms"}, {"ran", "ms"}, {"waited, of both", "%"},
        {"slices", ""}, {"seen", ""}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    agb_lab_table *table = agb_lab_add_table(watch->run->record, title, columns, COLUMNS);
    agb_status status = table ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "no memory for a table");
    for (size_t i = 0; i < n && i < ROWS && agb_task_waited_s(tasks[i]) > 0 && status == AGB_OK; i++) {
        const agb_task *task = tasks[i];
        agb_lab_cell cells[COLUMNS] = {
            agb_lab_text("%s", agb_text_clean(task->name).s), agb_lab_text("%d", task->pid),
            agb_lab_text("%d", task->tid), agb_lab_number(1e3 * agb_task_waited_s(task)),
            agb_lab_number(1e3 * agb_task_ran_s(task)), agb_lab_number(share_pct(task)),
            agb_lab_number((double)(task->slices - task->first_slices)), seen(task)};
        status = agb_lab_add_row(table, cells, err);
    }
    return status;
}

/* Threads of the wanted process, or all, that have an account and wanted to run for at least that long. */
static size_t choose(const watch *watch, const agb_task **out, double least_s)
{
    int pid = (int)watch->run->options->pid;
    size_t n = 0;
    for (size_t i = 0; i < watch->tasks.n; i++) {
        const agb_task *task = &watch->tasks.task[i];
        bool meant = (pid == 0 || task->pid == pid) && !task->unreadable;
        if (meant && agb_task_waited_s(task) + agb_task_ran_s(task) >= least_s)
            out[n++] = task;
    }
    return n;
}

static void find_total(watch *watch, const char *whose, double waited_s, double ran_s)
{
    unsigned cpus = agb_cpus_online(watch->run->root);
    double window_s = watch->tasks.last_s - watch->tasks.first_s, capacity_s = window_s * (cpus ? cpus : 1);
    agb_lab_find(watch->run->record,
                 "%s waited %.3f s for a processor within %.2f s on %u processor%s: %.1f %% of that capacity "
                 "(wait / (wall x processors)); they ran %.3f s, %.1f %% of it", whose, waited_s, window_s,
                 cpus ? cpus : 1, cpus > 1 ? "s" : "", 100 * waited_s / capacity_s, ran_s, 100 * ran_s / capacity_s);
}

static void find_leaders(watch *watch, const agb_task **absolute, size_t n, const agb_task **fraction, size_t m)
{
    if (n == 0 || agb_task_waited_s(absolute[0]) <= 0)
        return;
    agb_lab_find(watch->run->record, "%s (thread %d of process %d) waited longest: %s, %.1f %% of the time it wanted "
                 "to run", agb_text_clean(absolute[0]->name).s, absolute[0]->tid, absolute[0]->pid,
                 agb_text_seconds(agb_task_waited_s(absolute[0])).s, share_pct(absolute[0]));
    if (m > 0 && fraction[0] != absolute[0])
        agb_lab_find(watch->run->record, "%s (thread %d) waited for the largest part of what it wanted, %.1f %%, but "
                     "only %s: a fraction alone misleads", agb_text_clean(fraction[0]->name).s, fraction[0]->tid,
                     share_pct(fraction[0]), agb_text_seconds(agb_task_waited_s(fraction[0])).s);
}

static agb_status add_coverage(watch *watch, agb_error *err)
{
    static const agb_lab_column columns[] = {
        {"in both ends", "threads"}, {"born", "threads"}, {"gone", "threads"}, {"never read", "threads"},
        {"no account", "threads"}, {"looks", ""}, {"longest look", "ms"},
        {"window", "s"}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    const agb_tasks *tasks = &watch->tasks;
    agb_tasks_sum sum = agb_tasks_sum_of(tasks);
    agb_lab_table *table = agb_lab_add_table(watch->run->record, "Coverage", columns, COLUMNS);
    if (!table)
        return agb_fail(err, AGB_ERR_MEMORY, "no memory for a table");
    agb_lab_cell cells[COLUMNS] = {
        agb_lab_number((double)sum.both), agb_lab_number((double)sum.born), agb_lab_number((double)sum.gone),
        agb_lab_number((double)tasks->passed_over), agb_lab_number((double)sum.unreadable),
        agb_lab_number(tasks->looks), agb_lab_number(1e3 * tasks->scan_s),
        agb_lab_number(tasks->last_s - tasks->first_s)};
    return agb_lab_add_row(table, cells, err);
}

static void note_limits(watch *watch)
{
    agb_tasks_sum sum = agb_tasks_sum_of(&watch->tasks);
    agb_lab_record *record = watch->run->record;
    if (sum.gone > 0)
        agb_lab_note(record, "%zu thread%s ended within the window: what was read last is kept (\"gone\"); the wait "
                     "after that, at most one interval each, is not seen", sum.gone, sum.gone > 1 ? "s" : "");
    if (sum.unreadable > 0)
        agb_lab_note(record, "%zu thread%s without an account that can be believed (missing, malformed, or smaller "
                     "than before): not available, and in no sum", sum.unreadable, sum.unreadable > 1 ? "s" : "");
}

static agb_status report(watch *watch, const agb_task **tasks, agb_error *err)
{
    size_t all = choose(watch, tasks, 0);
    const agb_task **fraction = tasks + watch->tasks.n;
    size_t n = choose(watch, fraction, least_wanted_s);
    double waited_s = 0, ran_s = 0;
    for (size_t i = 0; i < all; i++) {
        waited_s += agb_task_waited_s(tasks[i]);
        ran_s += agb_task_ran_s(tasks[i]);
    }
    qsort(tasks, all, sizeof *tasks, by_wait);
    qsort(fraction, n, sizeof *fraction, by_share);
    agb_tasks_sum sum = agb_tasks_sum_of(&watch->tasks);
    if (watch->run->options->pid)
        find_total(watch, "the threads of this process", waited_s, ran_s);
    find_total(watch, "all threads", sum.waited_s, sum.ran_s);
    find_leaders(watch, tasks, all, fraction, n);
    note_limits(watch);
    agb_status status = add_rows(watch, "By seconds waited", tasks, all, err);
    if (status == AGB_OK)
        status = add_rows(watch, "By the part of the time they wanted that they waited (of 1 ms or more)", fraction, n,
                          err);
    return status == AGB_OK ? add_coverage(watch, err) : status;
}

static agb_status begin(watch *watch, agb_error *err)
{
    static const agb_lab_axis time = {"time in the window", "s", false}, threads = {"threads, on average", "", false};
    agb_lab_run *run = watch->run;
    if (run->options->pid) {
        agb_proc_stat stat;
        if (agb_proc_stat_read(run->root, (int)run->options->pid, 0, &stat) != 0)
            return agb_fail(err, AGB_ERR_NOT_FOUND, "runq: --pid %llu: there is no such process: see ps -e",
                            (unsigned long long)run->options->pid);
    }
    watch->chart = agb_lab_add_chart(run->record, "Threads that ran, and that waited for a processor", time, threads);
    if (watch->chart && agb_lab_add_series(watch->chart, "waited") && agb_lab_add_series(watch->chart, "ran"))
        return AGB_OK;
    return agb_fail(err, AGB_ERR_MEMORY, "no memory for a chart");
}

static agb_status runq(agb_lab_run *run, agb_error *err)
{
    watch watch = {.run = run, .tasks = {.root = run->root}};
    agb_status status = begin(&watch, err);
    if (status == AGB_OK)
        status = follow(&watch, err);
    agb_cpu_ticks passed = agb_cpu_ticks_between(&watch.before, &watch.after);
    double busy_s = watch.has_ticks ? agb_ticks_s(agb_cpu_ticks_busy(&passed)) : 0;
    const char *refusal = agb_tasks_refusal(&watch.tasks, busy_s);
    const agb_task **tasks = status == AGB_OK ? calloc(2 * watch.tasks.n + 1, sizeof *tasks) : NULL;
    if (status == AGB_OK && !tasks)
        status = agb_fail(err, AGB_ERR_MEMORY, "no memory to sort %zu threads", watch.tasks.n);
    if (status == AGB_OK && refusal) {
        agb_lab_find(run->record, "run-queue wait is not available: %s", refusal);
        status = add_coverage(&watch, err);
    } else if (status == AGB_OK) {
        status = report(&watch, tasks, err);
    }
    free(tasks);
    agb_tasks_release(&watch.tasks);
    return status;
}

static const char *const runq_options[] = {"seconds", "pid", "watch", NULL};

const agb_lab agb_lab_runq = {
    .name = "runq",
    .summary = "which threads wait for a processor, and for how long",
    .prediction = "Where no more threads want to run than there are processors, nobody waits. Each one more costs one "
                  "second of waiting a second, whatever the utilisation says: it is 100 % already. Two busy loops on "
                  "one processor wait half of the time each.",
    .limits = "The kernel's account starts when a thread is put on a run queue: time that a hypervisor takes (steal), "
              "waiting for a lock, a disk or memory is not in it. Threads that are born and end between two looks are "
              "not seen. A quota's throttling may count as waiting.",
    .options = runq_options,
    .run = runq,
};
