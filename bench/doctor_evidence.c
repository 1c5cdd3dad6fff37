/* SPDX-License-Identifier: MIT */
/* Gathers what the kernel says of one process, or of the machine, over a window: see doctor.h. A process may end at any
 * moment between two looks: what was seen last is kept. */
#include "doctor.h"

#include "process.h"
#include "processor.h"
#include "sysfile.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The machine ------------------------------------------------------------------------------------------------- */

/* PSI: "some avg10=8.94 ... total=7014294460", microseconds. */
static double read_pressure_s(const char *root)
{
    char text[512];
    unsigned long long us;
    agb_sysfile_read(root, "/proc/pressure/cpu", text, sizeof text);
    const char *total = strstr(text, "total=");
    return strncmp(text, "some", 4) == 0 && total && sscanf(total, "total=%llu", &us) == 1 ? (double)us / 1e6 : NAN;
}

static uint64_t sum_node_misses(const char *root, unsigned nodes)
{
    uint64_t all = 0;
    for (unsigned node = 0; node < nodes; node++) {
        char path[96];
        uint64_t misses;
        snprintf(path, sizeof path, "/sys/devices/system/node/node%u/numastat", node);
        if (agb_proc_number(root, path, "numa_miss", &misses))
            all += misses;
    }
    return all;
}

static void read_machine(const agb_evidence *evidence, agb_vitals *out)
{
    const char *root = evidence->root;
    out->at_s = agb_now_s();
    agb_cpu_ticks_read(root, &out->cpu);
    agb_proc_number(root, "/proc/stat", "intr", &out->interrupts);
    agb_proc_number(root, "/proc/stat", "ctxt", &out->switches);
    agb_proc_number(root, "/proc/vmstat", "pgmajfault", &out->major_faults);
    agb_proc_number(root, "/proc/vmstat", "pswpin", &out->swapped_in);
    agb_proc_number(root, "/proc/vmstat", "pswpout", &out->swapped_out);
    out->node_misses = sum_node_misses(root, evidence->nodes);
    out->pressure_s = read_pressure_s(root);
}

/* Of the subject's control groups, while it lives: one that has ended belongs to none. */
static void read_limits(agb_evidence *evidence, agb_vitals *out)
{
    agb_throttling now = agb_quota_throttling(evidence->root, evidence->pid);
    if (now.known && now.periods >= out->throttling.periods)
        out->throttling = now;
    agb_quota_cpuset(evidence->root, evidence->pid, evidence->cpuset, sizeof evidence->cpuset);
    evidence->quota_cpus = agb_quota_cpus(evidence->root, evidence->pid);
}

/* Nodes need not be numbered without gaps, but those beyond the last are none. */
static void read_nodes(agb_evidence *evidence)
{
    char online[256];
    agb_sysfile_read(evidence->root, "/sys/devices/system/node/online", online, sizeof online);
    evidence->nodes = 0;
    for (int node = 0; node < AGB_DOCTOR_NODES; node++) {
        char path[96];
        if (!agb_processor_list_covers(online, &node, 1))
            continue;
        evidence->nodes = (unsigned)node + 1;
        snprintf(path, sizeof path, "/sys/devices/system/node/node%d/cpulist", node);
        agb_sysfile_read(evidence->root, path, evidence->node_cpus[node], sizeof evidence->node_cpus[node]);
    }
}

/* ---- The process ------------------------------------------------------------------------------------------------- */

static const char *path_of(char *path, size_t size, int pid, const char *file)
{
    snprintf(path, size, "/proc/%d/%s", pid, file);
    return path;
}

static uint64_t status_bytes(const agb_evidence *evidence, const char *name)
{
    char path[64];
    uint64_t kibibytes = 0;
    agb_sysfile_field_number(evidence->root, path_of(path, sizeof path, evidence->pid, "status"), name, &kibibytes);
    return kibibytes * 1024;
}

/* One line of smaps_rollup: "AnonHugePages:       0 kB". */
static void add_rollup(const char *line, agb_footprint *footprint)
{
    static const char *const huge[] = {"AnonHugePages", "ShmemPmdMapped", "FilePmdMapped", "Private_Hugetlb",
                                       "Shared_Hugetlb"};
    char name[32];
    uint64_t kibibytes;
    if (sscanf(line, "%31[^:]: %" SCNu64, name, &kibibytes) != 2)
        return;
    if (strcmp(name, "Anonymous") == 0)
        footprint->anonymous = kibibytes * 1024;
    for (size_t i = 0; i < sizeof huge / sizeof huge[0]; i++)
        if (strcmp(name, huge[i]) == 0)
            footprint->huge += kibibytes * 1024;
}

/* "7f... default anon=3 dirty=3 N0=2 N1=1 kernelpagesize_kB=4": pages of that size on each node. */
static bool add_node_pages(char *line, void *context)
{
    agb_footprint *footprint = context;
    const char *size = strstr(line, "kernelpagesize_kB=");
    uint64_t page_bytes = size ? 1024 * strtoull(size + strlen("kernelpagesize_kB="), NULL, 10) : 4096;
    for (char *save = NULL, *word = strtok_r(line, " \n", &save); word; word = strtok_r(NULL, " \n", &save)) {
        unsigned node;
        uint64_t pages;
        if (sscanf(word, "N%u=%" SCNu64, &node, &pages) == 2 && node < AGB_DOCTOR_NODES) {
            footprint->on_node[node] += pages * page_bytes;
            footprint->has_nodes = true;
        }
    }
    return false;
}

/* For each of the two files the kernel walks all of the process's pages, at every reading: so once, and see is_due. */
static void read_pages(agb_evidence *evidence, agb_footprint *out)
{
    char path[64], text[4096];
    int failed = agb_sysfile_try(evidence->root, path_of(path, sizeof path, evidence->pid, "smaps_rollup"), text,
                                 sizeof text);
    out->has_pages = failed == 0 && text[0];
    if (failed)
        snprintf(out->refused, sizeof out->refused, "%s: %s", path, strerror(failed));
    out->anonymous = out->huge = 0;
    for (char *save = NULL, *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save))
        add_rollup(line, out);
    if (evidence->nodes > 1)
        agb_sysfile_any_line(evidence->root, path_of(path, sizeof path, evidence->pid, "numa_maps"), add_node_pages,
                             out);
}

/* The first look, then at distances that double: a large process shall not be held up again and again. */
static bool is_due(unsigned looks)
{
    return (looks & (looks - 1)) == 0;
}

static void read_footprint(agb_evidence *evidence)
{
    agb_footprint now = evidence->footprint;
    now.resident = status_bytes(evidence, "VmRSS");
    now.swapped = status_bytes(evidence, "VmSwap");
    now.known = now.resident > 0;
    if (now.known && is_due(evidence->tasks.looks)) {
        memset(now.on_node, 0, sizeof now.on_node);
        now.has_nodes = false;
        read_pages(evidence, &now);
    }
    if (now.known)    /* an ending process holds nothing any more */
        evidence->footprint = now;
}

static agb_status first_look_at_process(agb_evidence *evidence, agb_error *err)
{
    agb_proc_stat stat;
    int failed = agb_proc_stat_read(evidence->root, evidence->pid, 0, &stat);
    if (failed == ENOENT || failed == ESRCH)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "doctor: --pid %d: there is no such process: see ps -e", evidence->pid);
    if (failed)
        return agb_fail(err, AGB_ERR_IO, "doctor: --pid %d: its /proc/%d/stat cannot be read: %s", evidence->pid,
                        evidence->pid, strerror(failed));
    if (agb_proc_stat_has_ended(&stat))
        return agb_fail(err, AGB_ERR_NOT_FOUND, "doctor: --pid %d: %s has ended, and only waits for its parent to "
                        "notice: there is nothing to examine", evidence->pid, stat.name);
    return AGB_OK;
}

/* false: it is not there any more. One that has ended and was not waited for yet still has its final account. */
static bool look_at_process(agb_evidence *evidence, agb_vitals *out)
{
    char path[64];
    int failed = agb_proc_stat_read(evidence->root, evidence->pid, 0, &out->process);
    if (failed)
        out->process = evidence->last.process;
    else
        evidence->seen_s = out->at_s;
    evidence->vanished = failed || agb_proc_stat_has_ended(&out->process);
    if (evidence->vanished)
        return !failed;
    if (evidence->subject == AGB_SUBJECT_PROCESS)
        snprintf(evidence->name, sizeof evidence->name, "%s", out->process.name);
    agb_sysfile_field(evidence->root, path_of(path, sizeof path, evidence->pid, "status"), "Cpus_allowed_list",
                      evidence->allowed, sizeof evidence->allowed);
    read_limits(evidence, out);
    read_footprint(evidence);
    return true;
}

static bool shows_process(const agb_evidence *evidence)
{
    agb_proc_stat stat;
    return agb_proc_stat_read(evidence->root, evidence->pid, 0, &stat) == 0;
}

agb_status agb_evidence_look(agb_evidence *evidence, agb_error *err)
{
    bool first = evidence->tasks.looks == 0 && evidence->last.at_s == 0;
    agb_vitals now = evidence->last;
    agb_status status = AGB_OK;
    if (first) {
        evidence->quota_cpus = -1;
        read_nodes(evidence);
        evidence->online = agb_cpus_online(evidence->root);
        evidence->tasks.root = evidence->root;
        evidence->tasks.pid = evidence->pid;
        evidence->tasks.descendants = evidence->subject == AGB_SUBJECT_COMMAND;
        if (evidence->online == 0 && (evidence->subject == AGB_SUBJECT_MACHINE || !shows_process(evidence)))
            status = agb_fail(err, AGB_ERR_NOT_FOUND, "doctor: /proc/stat: it cannot be read, and /proc shows no "
                              "process: mount it (sudo mount -t proc proc /proc), or run where it is");
        else if (evidence->subject == AGB_SUBJECT_PROCESS)
            status = first_look_at_process(evidence, err);
    }
    if (status != AGB_OK || evidence->vanished)
        return status;
    read_machine(evidence, &now);
    if (evidence->subject == AGB_SUBJECT_MACHINE)
        read_limits(evidence, &now);
    if (evidence->subject == AGB_SUBJECT_MACHINE || look_at_process(evidence, &now))
        status = agb_tasks_look(&evidence->tasks, err);
    if (first)
        evidence->first = now;
    evidence->last = now;
    return status;
}

void agb_evidence_close(agb_evidence *evidence)
{
    evidence->window_s = (evidence->pid > 0 ? evidence->seen_s : evidence->last.at_s) - evidence->first.at_s;
    if (evidence->command.ended)
        evidence->window_s = evidence->command.wall_s;
}

void agb_evidence_release(agb_evidence *evidence)
{
    agb_tasks_release(&evidence->tasks);
}

/* ---- What several steps ask -------------------------------------------------------------------------------------- */

/* On processors within the window, by the accounts in ticks: of all of them, or of the process. */
static double ticked_s(const agb_evidence *evidence)
{
    const agb_vitals *first = &evidence->first, *last = &evidence->last;
    agb_cpu_ticks passed = agb_cpu_ticks_between(&first->cpu, &last->cpu);
    uint64_t own = last->process.user + last->process.system - first->process.user - first->process.system;
    return agb_ticks_s(evidence->subject == AGB_SUBJECT_MACHINE ? agb_cpu_ticks_busy(&passed) : own);
}

const char *agb_evidence_no_wait(const agb_evidence *evidence)
{
    if (evidence->tasks.looks < 2)
        return "it was seen only once: too short to follow its threads";
    return agb_tasks_refusal(&evidence->tasks, ticked_s(evidence));
}

double agb_evidence_waited_s(const agb_evidence *evidence)
{
    return agb_evidence_no_wait(evidence) ? NAN : agb_tasks_sum_of(&evidence->tasks).waited_s;
}

/* The end of a command tells all; else the threads' accounts, in ns; else the process's, in ticks. */
double agb_evidence_ran_s(const agb_evidence *evidence)
{
    double ticks_s = ticked_s(evidence);
    if (evidence->command.ended)
        return evidence->command.user_s + evidence->command.sys_s;
    if (evidence->subject == AGB_SUBJECT_MACHINE)
        return ticks_s;
    double threads_s = agb_evidence_no_wait(evidence) ? 0 : agb_tasks_sum_of(&evidence->tasks).ran_s;
    return threads_s > ticks_s ? threads_s : ticks_s;
}

unsigned agb_evidence_busy_threads(const agb_evidence *evidence)
{
    static const double busy = 0.05;
    unsigned n = 0;
    for (size_t i = 0; i < evidence->tasks.n; i++) {
        const agb_task *task = &evidence->tasks.task[i];
        n += !task->unreadable &&
             agb_task_ran_s(task) + agb_task_waited_s(task) >= busy * evidence->window_s;
    }
    return n;
}

agb_text agb_evidence_whose(const agb_evidence *evidence)
{
    agb_text out = {"-a -- sleep 10"};
    if (evidence->subject == AGB_SUBJECT_PROCESS)
        snprintf(out.s, sizeof out.s, "-p %d -- sleep 10", evidence->pid);
    else if (evidence->subject == AGB_SUBJECT_COMMAND)
        snprintf(out.s, sizeof out.s, "-- %s ...", evidence->name);
    return out;
}
