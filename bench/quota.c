/* SPDX-License-Identifier: MIT */
/* How many processors and how much memory this process really has: affinity and control groups, versions 1 and 2.
 *
 * A limit may stand on any ancestor of the process's group, and inside a container the group's path may belong to a
 * tree that is not visible. So the files are looked for at the path that /proc/self/cgroup names and at every ancestor
 * of it up to the mount, and the smallest limit counts. */
#include "machine.h"
#include "sysfile.h"

#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

unsigned agb_machine_allowed_cpus(int *cpus, unsigned most)
{
    unsigned count = 0;
    for (int room = 1024; room <= 1 << 20; room *= 4) {    /* the kernel refuses a set smaller than its own */
        cpu_set_t *set = CPU_ALLOC(room);
        size_t bytes = CPU_ALLOC_SIZE(room);
        bool read = set && sched_getaffinity(0, bytes, set) == 0;
        for (int cpu = 0; read && cpu < room; cpu++)
            if (CPU_ISSET_S(cpu, bytes, set) && count++ < most)
                cpus[count - 1] = cpu;
        CPU_FREE(set);
        if (read)
            break;
    }
    return count;
}

/* Does a line "5:cpu,cpuacct:/path" speak of the controller? "" is version 2, whose list is empty. */
static bool names_controller(char *list, const char *controller)
{
    if (controller[0] == '\0')
        return list[0] == '\0';
    char *save = NULL;
    for (char *word = strtok_r(list, ",", &save); word; word = strtok_r(NULL, ",", &save))
        if (strcmp(word, controller) == 0)
            return true;
    return false;
}

/* This process's path below the controller's mount; "" when unknown. */
static void group_path(const char *root, const char *controller, char path[PATH_MAX])
{
    char text[8192], *save = NULL;
    path[0] = '\0';
    agb_sysfile_read(root, "/proc/self/cgroup", text, sizeof text);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *list = strchr(line, ':');
        char *name = list ? strchr(list + 1, ':') : NULL;
        if (!name)
            continue;
        *name = '\0';
        if (names_controller(list + 1, controller))
            snprintf(path, PATH_MAX, "%s", name + 1);
    }
}

typedef double (*limit_fn)(const char *root, const char *folder);    /* of one folder; negative = none */
typedef double (*choose_fn)(double a, double b);                     /* fmin, fmax */

static double over_ancestors(const char *root, const char *mount, const char *controller, limit_fn limit,
                             choose_fn choose)
{
    char path[PATH_MAX], folder[2 * PATH_MAX];
    double chosen = -1;
    group_path(root, controller, path);
    for (;;) {
        snprintf(folder, sizeof folder, "%s%s", mount, path);
        double here = limit(root, folder);
        if (here >= 0)
            chosen = chosen < 0 ? here : choose(chosen, here);
        char *last = strrchr(path, '/');
        if (!last)
            return chosen;
        *last = '\0';
    }
}

static bool number_in(const char *root, const char *folder, const char *file, int64_t *number)
{
    char path[2 * PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return agb_sysfile_number(root, path, number);
}

/* Version 2: "200000 100000" is 2 processors' time; "max 100000" is no limit. */
static double cpus_v2(const char *root, const char *folder)
{
    char path[2 * PATH_MAX + 64], text[64];
    double quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    agb_sysfile_read(root, path, text, sizeof text);
    return sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0 ? quota / period : -1;
}

static double cpus_v1(const char *root, const char *folder)
{
    int64_t quota, period;
    bool limited = number_in(root, folder, "cpu.cfs_quota_us", &quota) && quota > 0
                   && number_in(root, folder, "cpu.cfs_period_us", &period) && period > 0;
    return limited ? (double)quota / (double)period : -1;
}

static double memory_v2(const char *root, const char *folder)
{
    int64_t limit, used;
    bool limited = number_in(root, folder, "memory.max", &limit) && number_in(root, folder, "memory.current", &used);
    return limited ? (double)(limit > used ? limit - used : 0) : -1;
}

/* Version 1 writes "no limit" as a number near 2^63; as the smallest of all that never counts. */
static double memory_v1(const char *root, const char *folder)
{
    int64_t limit, used;
    bool limited = number_in(root, folder, "memory.limit_in_bytes", &limit)
                   && number_in(root, folder, "memory.usage_in_bytes", &used);
    return limited ? (double)(limit > used ? limit - used : 0) : -1;
}

/* The number behind NAME in a folder's cpu.stat. */
static double cpu_stat(const char *root, const char *folder, const char *name)
{
    char path[2 * PATH_MAX + 64], text[1024];
    double number;
    snprintf(path, sizeof path, "%s/cpu.stat", folder);
    agb_sysfile_read(root, path, text, sizeof text);
    const char *line = strstr(text, name);
    return line && sscanf(line + strlen(name), "%lf", &number) == 1 ? number : -1;
}

static double throttled_v2(const char *root, const char *folder)
{
    double microseconds = cpu_stat(root, folder, "throttled_usec ");
    return microseconds < 0 ? -1 : microseconds / 1e6;
}

static double throttled_v1(const char *root, const char *folder)
{
    double nanoseconds = cpu_stat(root, folder, "throttled_time ");
    return nanoseconds < 0 ? -1 : nanoseconds / 1e9;
}

typedef struct hierarchy {
    const char *mount, *controller;
    limit_fn limit;
} hierarchy;

static double over_places(const char *root, const hierarchy *places, size_t count, choose_fn choose)
{
    double chosen = -1;
    for (size_t i = 0; i < count; i++) {
        double here = over_ancestors(root, places[i].mount, places[i].controller, places[i].limit, choose);
        if (here >= 0)
            chosen = chosen < 0 ? here : choose(chosen, here);
    }
    return chosen;
}

unsigned agb_machine_default_threads(const char *root)
{
    static const hierarchy places[] = {
        {"/sys/fs/cgroup", "", cpus_v2},
        {"/sys/fs/cgroup/unified", "", cpus_v2},
        {"/sys/fs/cgroup/cpu", "cpu", cpus_v1},
        {"/sys/fs/cgroup/cpu,cpuacct", "cpu", cpus_v1},
    };
    unsigned allowed = agb_machine_allowed_cpus(NULL, 0);
    double quota = over_places(root, places, sizeof places / sizeof *places, fmin);
    if (allowed == 0)
        allowed = 1;
    if (quota < 0 || quota >= allowed)
        return allowed;
    unsigned whole = (unsigned)quota;
    whole += quota > whole;
    return whole > 0 ? whole : 1;
}

uint64_t agb_machine_available_bytes(const char *root)
{
    static const hierarchy places[] = {
        {"/sys/fs/cgroup", "", memory_v2},
        {"/sys/fs/cgroup/unified", "", memory_v2},
        {"/sys/fs/cgroup/memory", "memory", memory_v1},
    };
    uint64_t kibibytes = 0;
    agb_sysfile_field_number(root, "/proc/meminfo", "MemAvailable", &kibibytes);
    double available = (double)kibibytes * 1024;
    double left = over_places(root, places, sizeof places / sizeof *places, fmin);
    return (uint64_t)(left >= 0 && left < available ? left : available);
}

double agb_machine_throttled_s(const char *root)
{
    static const hierarchy places[] = {
        {"/sys/fs/cgroup", "", throttled_v2},
        {"/sys/fs/cgroup/unified", "", throttled_v2},
        {"/sys/fs/cgroup/cpu", "cpu", throttled_v1},
        {"/sys/fs/cgroup/cpu,cpuacct", "cpu", throttled_v1},
    };
    return over_places(root, places, sizeof places / sizeof *places, fmax);
}
