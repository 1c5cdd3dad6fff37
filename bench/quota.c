/* SPDX-License-Identifier: MIT */
/* How many processors and how much memory a process really has: affinity and control groups, versions 1 and 2.
 *
 * A limit may stand on any ancestor of the process's group, and inside a container the group's path may belong to a
 * tree that is not visible. So the files are looked for at the path that its /proc/PID/cgroup names and at every
 * ancestor of it up to the mount, and the smallest limit counts. */
#include "quota.h"

#include "machine.h"
#include "sysfile.h"

#include <inttypes.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
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

/* The process's path below the controller's mount; "" when unknown. pid 0: this process. */
static void group_path(const char *root, int pid, const char *controller, char path[PATH_MAX])
{
    char file[64] = "/proc/self/cgroup", text[8192], *save = NULL;
    path[0] = '\0';
    if (pid > 0)
        snprintf(file, sizeof file, "/proc/%d/cgroup", pid);
    agb_sysfile_read(root, file, text, sizeof text);
    for (char *line = strtok_r(text, "\n", &save); line; line = strtok_r(NULL, "\n", &save)) {
        char *list = strchr(line, ':');
        char *name = list ? strchr(list + 1, ':') : NULL;
        if (!name)
            continue;
        *name = '\0';
        if (names_controller(list + 1, controller))
            snprintf(path, PATH_MAX, "%s", strcmp(name + 1, "/") == 0 ? "" : name + 1);
    }
}

/* Where a controller's files may be. */
typedef struct hierarchy {
    const char *mount, *controller;
} hierarchy;

static const hierarchy unified[] = {{"/sys/fs/cgroup", ""}, {"/sys/fs/cgroup/unified", ""}, {NULL, NULL}};
static const hierarchy cpu_v1[] = {{"/sys/fs/cgroup/cpu", "cpu"}, {NULL, NULL}};
static const hierarchy cpuacct_v1[] = {{"/sys/fs/cgroup/cpu,cpuacct", "cpu"}, {NULL, NULL}};
static const hierarchy cpuset_v1[] = {{"/sys/fs/cgroup/cpuset", "cpuset"}, {NULL, NULL}};
static const hierarchy memory_v1[] = {{"/sys/fs/cgroup/memory", "memory"}, {NULL, NULL}};

/* Shows the process's group and each ancestor of it, in each hierarchy, until see returns true. */
typedef bool (*see_fn)(const char *root, const char *folder, void *context);

static void each_group(const char *root, int pid, const hierarchy *places, see_fn see, void *context)
{
    char path[PATH_MAX], folder[2 * PATH_MAX];
    for (const hierarchy *place = places; place->mount; place++) {
        group_path(root, pid, place->controller, path);
        for (char *last = path; last;) {
            snprintf(folder, sizeof folder, "%s%s", place->mount, path);
            if (see(root, folder, context))
                return;
            last = strrchr(path, '/');
            if (last)
                *last = '\0';
        }
    }
}

static bool number_in(const char *root, const char *folder, const char *file, int64_t *number)
{
    char path[2 * PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/%s", folder, file);
    return agb_sysfile_number(root, path, number);
}

static void keep_smallest(double *smallest, double here)
{
    if (*smallest < 0 || here < *smallest)
        *smallest = here;
}

/* ---- Processors -------------------------------------------------------------------------------------------------- */

/* Version 2: "200000 100000" is 2 processors' time; "max 100000" is no limit. */
static bool see_cpus_v2(const char *root, const char *folder, void *smallest)
{
    char path[2 * PATH_MAX + 64], text[64];
    double quota, period;
    snprintf(path, sizeof path, "%s/cpu.max", folder);
    agb_sysfile_read(root, path, text, sizeof text);
    if (sscanf(text, "%lf %lf", &quota, &period) == 2 && period > 0)
        keep_smallest(smallest, quota / period);
    return false;
}

static bool see_cpus_v1(const char *root, const char *folder, void *smallest)
{
    int64_t quota, period;
    if (number_in(root, folder, "cpu.cfs_quota_us", &quota) && quota > 0 &&
        number_in(root, folder, "cpu.cfs_period_us", &period) && period > 0)
        keep_smallest(smallest, (double)quota / (double)period);
    return false;
}

double agb_quota_cpus(const char *root, int pid)
{
    double smallest = -1;
    each_group(root, pid, unified, see_cpus_v2, &smallest);
    each_group(root, pid, cpu_v1, see_cpus_v1, &smallest);
    each_group(root, pid, cpuacct_v1, see_cpus_v1, &smallest);
    return smallest;
}

unsigned agb_machine_default_threads(const char *root)
{
    unsigned allowed = agb_machine_allowed_cpus(NULL, 0);
    double quota = agb_quota_cpus(root, 0);
    if (allowed == 0)
        allowed = 1;
    if (quota < 0 || quota >= allowed)
        return allowed;
    unsigned whole = (unsigned)quota;
    whole += quota > whole;
    return whole > 0 ? whole : 1;
}

/* A line of cpu.stat: throttled_usec of version 2, throttled_time in ns of version 1. */
static bool add_throttling(char *line, void *context)
{
    agb_throttling *out = context;
    char name[32];
    uint64_t number;
    if (sscanf(line, "%31s %" SCNu64, name, &number) != 2)
        return false;
    bool us = strcmp(name, "throttled_usec") == 0, ns = strcmp(name, "throttled_time") == 0;
    out->known |= us || ns;
    out->periods += strcmp(name, "nr_periods") == 0 ? number : 0;
    out->throttled += strcmp(name, "nr_throttled") == 0 ? number : 0;
    out->throttled_s += us ? (double)number / 1e6 : ns ? (double)number / 1e9 : 0;
    return false;
}

/* Each group counts its own. */
static bool see_throttling(const char *root, const char *folder, void *context)
{
    char path[2 * PATH_MAX + 64];
    snprintf(path, sizeof path, "%s/cpu.stat", folder);
    return agb_sysfile_any_line(root, path, add_throttling, context);
}

agb_throttling agb_quota_throttling(const char *root, int pid)
{
    static const hierarchy *const places[] = {unified, cpu_v1, cpuacct_v1};    /* the last two may be one folder */
    agb_throttling out = {0};
    for (size_t i = 0; i < sizeof places / sizeof places[0] && !out.known; i++)
        each_group(root, pid, places[i], see_throttling, &out);
    return out;
}

double agb_machine_throttled_s(const char *root)
{
    agb_throttling throttling = agb_quota_throttling(root, 0);
    return throttling.known ? throttling.throttled_s : -1;
}

typedef struct text_room {
    char *text;
    size_t size;
} text_room;

/* The nearest group that has the file decides: what stands there is effective already. */
static bool see_cpuset(const char *root, const char *folder, void *context)
{
    static const char *const names[] = {"cpuset.cpus.effective", "cpuset.effective_cpus"};
    const text_room *out = context;
    for (size_t i = 0; i < 2; i++) {
        char path[2 * PATH_MAX + 64];
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        if (agb_sysfile_read(root, path, out->text, out->size) && out->text[0])
            return true;
    }
    return false;
}

void agb_quota_cpuset(const char *root, int pid, char *list, size_t size)
{
    text_room out = {list, size};
    list[0] = '\0';
    each_group(root, pid, unified, see_cpuset, &out);
    if (list[0] == '\0')
        each_group(root, pid, cpuset_v1, see_cpuset, &out);
}

/* ---- Memory ------------------------------------------------------------------------------------------------------ */

static void keep_left(double *smallest, int64_t limit, int64_t used)
{
    keep_smallest(smallest, (double)(limit > used ? limit - used : 0));
}

static bool see_memory_v2(const char *root, const char *folder, void *smallest)
{
    int64_t limit, used;
    if (number_in(root, folder, "memory.max", &limit) && number_in(root, folder, "memory.current", &used))
        keep_left(smallest, limit, used);
    return false;
}

/* Version 1 writes "no limit" as a number near 2^63; as the smallest of all that never counts. */
static bool see_memory_v1(const char *root, const char *folder, void *smallest)
{
    int64_t limit, used;
    if (number_in(root, folder, "memory.limit_in_bytes", &limit) &&
        number_in(root, folder, "memory.usage_in_bytes", &used))
        keep_left(smallest, limit, used);
    return false;
}

uint64_t agb_machine_available_bytes(const char *root)
{
    uint64_t kibibytes = 0;
    agb_sysfile_field_number(root, "/proc/meminfo", "MemAvailable", &kibibytes);
    double available = (double)kibibytes * 1024, left = -1;
    each_group(root, 0, unified, see_memory_v2, &left);
    each_group(root, 0, memory_v1, see_memory_v1, &left);
    return (uint64_t)(left >= 0 && left < available ? left : available);
}
