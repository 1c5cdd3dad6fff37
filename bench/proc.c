/* SPDX-License-Identifier: MIT */
/* Processor time as /proc tells it: see proc.h. */
#include "proc.h"

#include "sysfile.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Processors -------------------------------------------------------------------------------------------------- */

/* Kernels before 2.6.11 have fewer fields; a line with less than steal is not understood. */
static bool parse_ticks(const char *fields, agb_cpu_ticks *out)
{
    return sscanf(fields, "%" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64 " %" SCNu64
                  " %" SCNu64, &out->user, &out->nice, &out->system, &out->idle, &out->iowait, &out->irq, &out->softirq,
                  &out->steal) == 8;
}

static bool read_all_cpus(char *line, void *context)
{
    return strncmp(line, "cpu ", 4) == 0 && parse_ticks(line + 4, context);
}

bool agb_cpu_ticks_read(const char *root, agb_cpu_ticks *out)
{
    *out = (agb_cpu_ticks){0};
    return agb_sysfile_any_line(root, "/proc/stat", read_all_cpus, out);
}

void agb_cpu_ticks_add(agb_cpu_ticks *sum, const agb_cpu_ticks *more)
{
    sum->user += more->user;
    sum->nice += more->nice;
    sum->system += more->system;
    sum->idle += more->idle;
    sum->iowait += more->iowait;
    sum->irq += more->irq;
    sum->softirq += more->softirq;
    sum->steal += more->steal;
}

typedef struct wanted_cpus {
    const int *cpus;
    unsigned n, found;
    agb_cpu_ticks *sum;
} wanted_cpus;

static bool add_cpu(char *line, void *context)
{
    wanted_cpus *wanted = context;
    agb_cpu_ticks one;
    char *end;
    if (strncmp(line, "cpu", 3) != 0 || !isdigit((unsigned char)line[3]))
        return false;
    long cpu = strtol(line + 3, &end, 10);
    for (unsigned i = 0; i < wanted->n; i++) {
        if (wanted->cpus[i] != cpu || !parse_ticks(end, &one))
            continue;
        wanted->found++;
        agb_cpu_ticks_add(wanted->sum, &one);
    }
    return false;
}

bool agb_cpu_ticks_sum(const char *root, const int *cpus, unsigned n, agb_cpu_ticks *out)
{
    wanted_cpus wanted = {cpus, n, 0, out};
    *out = (agb_cpu_ticks){0};
    agb_sysfile_any_line(root, "/proc/stat", add_cpu, &wanted);
    return wanted.found > 0;
}

static uint64_t grown(uint64_t before, uint64_t after)
{
    return after > before ? after - before : 0;
}

agb_cpu_ticks agb_cpu_ticks_between(const agb_cpu_ticks *before, const agb_cpu_ticks *after)
{
    return (agb_cpu_ticks){
        .user = grown(before->user, after->user),
        .nice = grown(before->nice, after->nice),
        .system = grown(before->system, after->system),
        .idle = grown(before->idle, after->idle),
        .iowait = grown(before->iowait, after->iowait),
        .irq = grown(before->irq, after->irq),
        .softirq = grown(before->softirq, after->softirq),
        .steal = grown(before->steal, after->steal),
    };
}

uint64_t agb_cpu_ticks_busy(const agb_cpu_ticks *ticks)
{
    return ticks->user + ticks->nice + ticks->system + ticks->irq + ticks->softirq;
}

uint64_t agb_cpu_ticks_all(const agb_cpu_ticks *ticks)
{
    return agb_cpu_ticks_busy(ticks) + ticks->idle + ticks->iowait + ticks->steal;
}

double agb_cpu_busy_pct(const agb_cpu_ticks *ticks)
{
    uint64_t all = agb_cpu_ticks_all(ticks);
    return all > 0 ? 100.0 * (double)agb_cpu_ticks_busy(ticks) / (double)all : NAN;
}

static bool count_cpu(char *line, void *context)
{
    *(unsigned *)context += strncmp(line, "cpu", 3) == 0 && isdigit((unsigned char)line[3]);
    return false;
}

unsigned agb_cpus_online(const char *root)
{
    unsigned cpus = 0;
    agb_sysfile_any_line(root, "/proc/stat", count_cpu, &cpus);
    return cpus;
}

typedef struct wanted_number {
    const char *name;
    uint64_t *number;
} wanted_number;

static bool read_number(char *line, void *context)
{
    wanted_number *wanted = context;
    size_t length = strlen(wanted->name);
    return strncmp(line, wanted->name, length) == 0 && line[length] == ' ' &&
           sscanf(line + length, "%" SCNu64, wanted->number) == 1;
}

bool agb_proc_number(const char *root, const char *path, const char *name, uint64_t *number)
{
    wanted_number wanted = {name, number};
    *number = 0;
    return agb_sysfile_any_line(root, path, read_number, &wanted);
}

double agb_ticks_s(uint64_t ticks)
{
    return (double)ticks / (double)sysconf(_SC_CLK_TCK);
}

double agb_uptime_s(const char *root)
{
    char text[64];
    double seconds;
    agb_sysfile_read(root, "/proc/uptime", text, sizeof text);
    return sscanf(text, "%lf", &seconds) == 1 ? seconds : NAN;
}

/* ---- Processes and threads --------------------------------------------------------------------------------------- */

/* The name may hold blanks and brackets: it ends at the last one. */
bool agb_proc_stat_parse(char *line, agb_proc_stat *out)
{
    char *open = strchr(line, '('), *close = strrchr(line, ')');
    memset(out, 0, sizeof *out);
    out->cpu = -1;
    if (!open || !close || close < open)
        return false;
    snprintf(out->name, sizeof out->name, "%.*s", (int)(close - open - 1), open + 1);
    uint64_t children_user, children_system;
    int read = sscanf(close + 1, " %c %d %*d %*d %*d %*d %*u %" SCNu64 " %*u %" SCNu64 " %*u %" SCNu64 " %" SCNu64
                      " %" SCNu64 " %" SCNu64 " %*d %*d %u %*d %" SCNu64 " %*u %" SCNu64, &out->state, &out->parent,
                      &out->minor_faults, &out->major_faults, &out->user, &out->system, &children_user,
                      &children_system, &out->threads, &out->start, &out->resident_pages);
    if (read != 11)
        return false;
    out->children = children_user + children_system;
    const char *at = close + 1;
    for (int field = 3; at && field <= 39; field++)    /* at the blank before field */
        at = field == 39 ? at : strchr(at + 1, ' ');
    if (at)
        out->cpu = atoi(at + 1);
    return true;
}

int agb_proc_stat_read(const char *root, int pid, int tid, agb_proc_stat *out)
{
    char path[96], text[2048];
    if (tid > 0)
        snprintf(path, sizeof path, "/proc/%d/task/%d/stat", pid, tid);
    else
        snprintf(path, sizeof path, "/proc/%d/stat", pid);
    int failed = agb_sysfile_try(root, path, text, sizeof text);
    if (failed)
        return failed;
    return agb_proc_stat_parse(text, out) ? 0 : EBADMSG;
}

bool agb_proc_stat_has_ended(const agb_proc_stat *stat)
{
    return stat->state == 'Z' && stat->threads <= 1;
}
