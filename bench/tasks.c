/* SPDX-License-Identifier: MIT */
/* Follows threads over a window: see tasks.h. */
#include "tasks.h"

#include "proc.h"
#include "process.h"
#include "sysfile.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- One thread -------------------------------------------------------------------------------------------------- */

/* What one look sees. */
typedef struct sight {
    agb_proc_stat stat;
    uint64_t ran_ns, waited_ns, slices;
    bool unreadable;
} sight;

static bool is_vanished(int failed)
{
    return failed == ENOENT || failed == ESRCH;
}

static bool is_starved(int failed)
{
    return failed == EMFILE || failed == ENFILE;
}

static agb_status starved(int failed, agb_error *err)
{
    return agb_fail(err, AGB_ERR_IO, "/proc cannot be read: %s: raise the limit (ulimit -n)", strerror(failed));
}

/* 0; ESRCH: it vanished since it was listed; or what kept this process from opening any file. */
static int see(const char *root, int pid, int tid, sight *out)
{
    char path[96], text[128];
    int failed = agb_proc_stat_read(root, pid, tid, &out->stat);
    if (is_vanished(failed) || is_starved(failed))
        return is_starved(failed) ? failed : ESRCH;
    snprintf(path, sizeof path, "/proc/%d/task/%d/schedstat", pid, tid);
    int refused = agb_sysfile_try(root, path, text, sizeof text);
    if (refused == ESRCH || (refused == ENOENT && is_vanished(agb_proc_stat_read(root, pid, tid, &out->stat))))
        return ESRCH;
    if (is_starved(refused))
        return refused;
    out->unreadable = refused || sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, &out->ran_ns, &out->waited_ns,
                                        &out->slices) != 3;
    return 0;
}

static int compare(const void *a, const void *b)
{
    const agb_task *left = a, *right = b;
    if (left->tid != right->tid)
        return left->tid < right->tid ? -1 : 1;
    return left->start < right->start ? -1 : left->start > right->start;
}

/* The youngest of that number among the first n, which are in order. */
static agb_task *find(const agb_tasks *tasks, size_t n, int tid)
{
    size_t low = 0, high = n;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (tasks->task[middle].tid <= tid)
            low = middle + 1;
        else
            high = middle;
    }
    return low > 0 && tasks->task[low - 1].tid == tid ? &tasks->task[low - 1] : NULL;
}

static agb_task *add(agb_tasks *tasks, int pid, int tid, agb_error *err)
{
    if (tasks->n == tasks->room) {
        size_t room = tasks->room ? 2 * tasks->room : 256;
        agb_task *larger = realloc(tasks->task, room * sizeof *larger);
        if (!larger) {
            agb_fail(err, AGB_ERR_MEMORY, "no memory to follow %zu threads", room);
            return NULL;
        }
        tasks->task = larger;
        tasks->room = room;
    }
    agb_task *task = &tasks->task[tasks->n++];
    *task = (agb_task){.pid = pid, .tid = tid, .cpu = -1};
    return task;
}

/* Begun since the first look: then all of its account belongs to the window. One tick of doubt is the clock's. */
static bool began_in_window(const agb_tasks *tasks, const sight *seen)
{
    return tasks->looks > 0 && tasks->first_tick > 0 && seen->stat.start + 1 >= tasks->first_tick;
}

static void note_state(agb_task *task, char state)
{
    task->looks++;
    task->running += state == 'R';
    task->sleeping += state == 'S';
    task->device += state == 'D';
}

static void note_account(agb_task *task, const sight *seen)
{
    bool first = task->looks == 0;
    if (first && !task->born) {
        task->first_ran_ns = seen->ran_ns;
        task->first_waited_ns = seen->waited_ns;
        task->first_slices = seen->slices;
    }
    bool backwards = !first && (seen->ran_ns < task->ran_ns || seen->waited_ns < task->waited_ns ||
                                seen->slices < task->slices);
    task->unreadable |= seen->unreadable || backwards;
    task->ran_ns = seen->ran_ns;
    task->waited_ns = seen->waited_ns;
    task->slices = seen->slices;
}

/* sorted: how many of the tasks are in order, those of earlier looks. */
static agb_status note(agb_tasks *tasks, size_t sorted, int pid, int tid, agb_error *err)
{
    sight seen = {0};
    agb_task *task = find(tasks, sorted, tid);
    int failed = see(tasks->root, pid, tid, &seen);
    if (is_starved(failed))
        return starved(failed, err);
    if (failed) {
        tasks->passed_over += !task || task->gone;
        return AGB_OK;
    }
    bool given_anew = task && (task->gone || (seen.stat.start && task->start && seen.stat.start != task->start));
    if (!task || given_anew) {
        task = add(tasks, pid, tid, err);
        if (!task)
            return AGB_ERR_MEMORY;
        task->born = began_in_window(tasks, &seen);
        task->start = seen.stat.start;
    }
    snprintf(task->name, sizeof task->name, "%s", seen.stat.name);
    task->parent = seen.stat.parent;
    task->cpu = seen.stat.cpu;
    note_account(task, &seen);
    note_state(task, seen.stat.state);
    task->last_look = tasks->looks + 1;
    return AGB_OK;
}

/* ---- All of them ------------------------------------------------------------------------------------------------- */

typedef struct walk {
    agb_tasks *tasks;
    size_t sorted;
    int pid;
    agb_error *err;
} walk;

/* Calls each number in a folder; a folder that is not there has none. */
static agb_status each_number(const char *root, const char *path, agb_status (*visit)(walk *walk, int number),
                              walk *walk)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", root, path);
    DIR *folder = opendir(full);
    agb_status status = !folder && is_starved(errno) ? starved(errno, walk->err) : AGB_OK;
    for (const struct dirent *entry; folder && status == AGB_OK && (entry = readdir(folder));)
        if (isdigit((unsigned char)entry->d_name[0]))
            status = visit(walk, atoi(entry->d_name));
    if (folder)
        closedir(folder);
    return status;
}

static agb_status visit_thread(walk *walk, int tid)
{
    return note(walk->tasks, walk->sorted, walk->pid, tid, walk->err);
}

static agb_status visit_process(walk *walk, int pid)
{
    char path[64];
    walk->pid = pid;
    snprintf(path, sizeof path, "/proc/%d/task", pid);
    return each_number(walk->tasks->root, path, visit_thread, walk);
}

/* Is it of the followed process, or born of it? Parents of the living only: an orphan has init for its parent. */
static bool descends(const char *root, int pid, int from)
{
    agb_proc_stat stat;
    for (int steps = 0; pid > 1 && steps < 64; steps++) {
        if (pid == from)
            return true;
        if (agb_proc_stat_read(root, pid, 0, &stat) != 0)
            return false;
        pid = stat.parent;
    }
    return pid == from;
}

static agb_status visit_descendant(walk *walk, int pid)
{
    const agb_tasks *tasks = walk->tasks;
    const agb_task *known = find(tasks, walk->sorted, pid);
    bool ours = (known && !known->gone) || descends(tasks->root, pid, tasks->pid);
    return ours ? visit_process(walk, pid) : AGB_OK;
}

agb_status agb_tasks_look(agb_tasks *tasks, agb_error *err)
{
    double from_s = agb_now_s();
    walk walk = {.tasks = tasks, .sorted = tasks->n, .err = err};
    if (tasks->looks == 0) {
        double uptime_s = agb_uptime_s(tasks->root);
        tasks->first_s = from_s;
        tasks->first_tick = isnan(uptime_s) ? 0 : (uint64_t)(uptime_s * (double)sysconf(_SC_CLK_TCK));
    }
    agb_status status = tasks->pid == 0      ? each_number(tasks->root, "/proc", visit_process, &walk)
                        : tasks->descendants ? each_number(tasks->root, "/proc", visit_descendant, &walk)
                                             : visit_process(&walk, tasks->pid);
    tasks->looks++;
    tasks->last_s = from_s;
    for (size_t i = 0; i < tasks->n; i++)
        tasks->task[i].gone = tasks->task[i].last_look != tasks->looks;
    if (tasks->n > 0)
        qsort(tasks->task, tasks->n, sizeof *tasks->task, compare);
    double took_s = agb_now_s() - from_s;
    tasks->scan_s = took_s > tasks->scan_s ? took_s : tasks->scan_s;
    return status;
}

void agb_tasks_release(agb_tasks *tasks)
{
    free(tasks->task);
    tasks->task = NULL;
    tasks->n = tasks->room = 0;
}

/* ---- What they say ----------------------------------------------------------------------------------------------- */

double agb_task_ran_s(const agb_task *task)
{
    return task->unreadable ? NAN : (double)(task->ran_ns - task->first_ran_ns) / 1e9;
}

double agb_task_waited_s(const agb_task *task)
{
    return task->unreadable ? NAN : (double)(task->waited_ns - task->first_waited_ns) / 1e9;
}

agb_tasks_sum agb_tasks_sum_of(const agb_tasks *tasks)
{
    agb_tasks_sum sum = {.threads = tasks->n};
    for (size_t i = 0; i < tasks->n; i++) {
        const agb_task *task = &tasks->task[i];
        sum.born += task->born;
        sum.gone += task->gone;
        sum.both += !task->born && !task->gone;
        sum.unreadable += task->unreadable;
        if (!task->unreadable) {
            sum.ran_s += agb_task_ran_s(task);
            sum.waited_s += agb_task_waited_s(task);
        }
    }
    return sum;
}

const char *agb_tasks_refusal(const agb_tasks *tasks, double busy_s)
{
    static const double clearly_s = 0.05;
    agb_tasks_sum sum = agb_tasks_sum_of(tasks);
    if (tasks->n == 0)
        return "/proc shows no thread: it is not mounted here, or hides them";
    if (sum.unreadable == tasks->n)
        return "no thread's schedstat could be read or made sense of: this kernel was built without scheduler "
               "accounting (CONFIG_SCHED_INFO)";
    if (busy_s > clearly_s && sum.ran_s == 0 && sum.waited_s == 0)
        return "the kernel's schedstat stands still although processors worked: it was built without scheduler "
               "accounting (CONFIG_SCHED_INFO)";
    return NULL;
}
