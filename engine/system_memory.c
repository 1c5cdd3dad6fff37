/* SPDX-License-Identifier: MIT */
/* How much memory the machine has, and how much of it is to be had. The system gives out address space unseen and kills
 * who uses it, so a request is held against these figures before it is made. */
#include "internal.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The first number in a file, behind `key` when there is one; UINT64_MAX: none ("max", or no such file). */
static uint64_t number_in(const char *path, const char *key)
{
    unsigned long long number = 0;
    bool found = false;
    char line[256];
    FILE *file = fopen(path, "re");
    while (file && !found && fgets(line, sizeof line, file))
        found = strncmp(line, key, strlen(key)) == 0 && sscanf(line + strlen(key), "%llu", &number) == 1;
    if (file)
        fclose(file);
    return found ? number : UINT64_MAX;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The limits of a control group and of those around it: `group` is cut shorter and shorter. */
static uint64_t limit_of_group(const char *root, char *group, const char *name)
{
    uint64_t limit = UINT64_MAX;
    for (;;) {
        char path[768];
        snprintf(path, sizeof path, "%s%s/%s", root, group, name);
        limit = least(limit, number_in(path, ""));
        char *slash = strrchr(group, '/');
        if (!slash)
            return limit;
        *slash = '\0';
    }
}

/* Both generations of control groups (Linux: Documentation/admin-guide/cgroup-v1/memory.rst, cgroup-v2.rst). */
static uint64_t limit_of_groups(void)
{
    uint64_t limit = UINT64_MAX;
    char line[512];
    FILE *file = fopen("/proc/self/cgroup", "re");
    while (file && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = '\0';
        char *group = strstr(line, ":memory:");
        if (group)
            limit = least(limit, limit_of_group("/sys/fs/cgroup/memory", strrchr(line, ':') + 1,
                                                "memory.limit_in_bytes"));
        else if (strncmp(line, "0::", 3) == 0)
            limit = least(limit, limit_of_group("/sys/fs/cgroup", line + 3, "memory.max"));
    }
    if (file)
        fclose(file);
    return limit;
}

uint64_t agb_system_memory(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
    uint64_t physical = pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
    return least(physical, limit_of_groups());
}

uint64_t agb_system_memory_available(void)
{
    uint64_t kib = number_in("/proc/meminfo", "MemAvailable:");
    return least(kib > UINT64_MAX / 1024 ? UINT64_MAX : kib * 1024, agb_system_memory());
}
