/* SPDX-License-Identifier: MIT */
/* Cache sizes from the kernel's description of a processor. */
#include "internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool read_line(int cpu, int index, const char *file, char *text, int room)
{
    char path[128];
    snprintf(path, sizeof path, "/sys/devices/system/cpu/cpu%d/cache/index%d/%s", cpu, index, file);
    FILE *in = fopen(path, "re");
    if (!in)
        return false;
    bool got = fgets(text, room, in) != NULL;
    fclose(in);
    return got;
}

static size_t size_of(const char *text)
{
    char *unit;
    unsigned long value = strtoul(text, &unit, 10);
    return value << (*unit == 'K' ? 10 : *unit == 'M' ? 20 : 0);
}

agb_caches agb_caches_of(int cpu)
{
    agb_caches caches = {0};
    char level[8], type[16], size[16], line[16];
    for (int i = 0; read_line(cpu, i, "level", level, sizeof level); i++) {
        if (!read_line(cpu, i, "type", type, sizeof type) || strncmp(type, "Instruction", 11) == 0
            || !read_line(cpu, i, "size", size, sizeof size))
            continue;
        size_t *place = level[0] == '1'   ? &caches.l1d
                        : level[0] == '2' ? &caches.l2
                        : level[0] == '3' ? &caches.l3
                                          : NULL;
        if (place)
            *place = size_of(size);
        if (read_line(cpu, i, "coherency_line_size", line, sizeof line))
            caches.line = size_of(line);
    }
    return caches;
}
