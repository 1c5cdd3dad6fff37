/* SPDX-License-Identifier: MIT */
/* Identification by /proc/cpuinfo, which every kernel has, rather than by CPUID or MIDR, which need a processor's own
 * code. What the kernel exports of the counters (core types of hybrids, slots a cycle, PERF_METRICS) comes from
 * sysfs. */
#include "processor.h"

#include "machine.h"
#include "sysfile.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_CPUS = 4096, ARM_LIMITED = 0x41 };

/* The next range of a list, and a step over it; false at the end and at what is no number. */
static bool next_range(const char **list, long *first, long *last)
{
    char *end;
    *last = *first = strtol(*list, &end, 10);
    if (end == *list)
        return false;
    if (*end == '-')
        *last = strtol(end + 1, &end, 10);
    *list = *end == ',' ? end + 1 : end;
    return true;
}

unsigned agb_processor_list_count(const char *list)
{
    unsigned count = 0;
    for (long first, last; next_range(&list, &first, &last);)
        count += last >= first ? (unsigned)(last - first + 1) : 0;
    return count;
}

bool agb_processor_list_covers(const char *list, const int *cpus, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        bool found = false;
        const char *at = list;
        for (long first, last; !found && next_range(&at, &first, &last);)
            found = cpus[i] >= first && cpus[i] <= last;
        if (!found)
            return false;
    }
    return count > 0;
}

static unsigned cpuinfo_number(const char *root, const char *name)
{
    uint64_t number = 0;
    agb_sysfile_field_number(root, "/proc/cpuinfo", name, &number);
    return (unsigned)number;
}

/* arm64 kernels print no family; "CPU architecture" is 8 for all of them. */
static void read_arm(const char *root, agb_cpu_id *out)
{
    unsigned implementer = cpuinfo_number(root, "CPU implementer");
    if (implementer == 0)    /* neither x86 nor ARM, or no /proc */
        return;
    if (implementer == ARM_LIMITED)
        snprintf(out->vendor, sizeof out->vendor, "ARM");
    else
        snprintf(out->vendor, sizeof out->vendor, "ARM maker 0x%x", implementer & 0xff);
    out->family = cpuinfo_number(root, "CPU architecture");
    out->model = cpuinfo_number(root, "CPU part");
    out->stepping = 16 * cpuinfo_number(root, "CPU variant") + cpuinfo_number(root, "CPU revision");
}

/* Hybrids name their two kinds of core cpu_core and cpu_atom. A process that may run on both is taken to run on the
 * performance cores; a group that was moved to the other kind shows it by not having run all the time. */
static void read_core_type(const char *root, agb_cpu_id *out)
{
    char list[512];
    if (!agb_sysfile_exists(root, "/sys/bus/event_source/devices/cpu_atom"))
        return;
    int cpus[MOST_CPUS];
    unsigned count = agb_machine_allowed_cpus(cpus, MOST_CPUS);
    agb_sysfile_read(root, "/sys/bus/event_source/devices/cpu_atom/cpus", list, sizeof list);
    bool efficient = agb_processor_list_covers(list, cpus, count < MOST_CPUS ? count : MOST_CPUS);
    out->core = efficient ? AGB_CORE_EFFICIENT : AGB_CORE_PERFORMANCE;
}

static void read_metric_level(const char *root, agb_cpu_id *out)
{
    const char *events = out->core ? "/sys/bus/event_source/devices/cpu_core/events/"
                                   : "/sys/bus/event_source/devices/cpu/events/";
    static const char *const proof[] = {"topdown-retiring", "topdown-mem-bound"};
    for (unsigned level = 0; level < 2; level++) {
        char path[128];
        snprintf(path, sizeof path, "%s%s", events, proof[level]);
        if (agb_sysfile_exists(root, path))
            out->metric_level = level + 1;
    }
}

/* caps/slots of the first ARM counter device, hexadecimal. */
static void read_arm_slots(const char *root, agb_cpu_id *out)
{
    char pattern[PATH_MAX], text[32];
    snprintf(pattern, sizeof pattern, "%s/sys/bus/event_source/devices/armv8_*/caps/slots", root);
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0) {
        if (agb_sysfile_read("", found.gl_pathv[0], text, sizeof text))
            out->slots = (unsigned)strtoul(text, NULL, 16);
        globfree(&found);
    }
}

void agb_processor_read(const char *root, agb_cpu_id *out)
{
    memset(out, 0, sizeof *out);
    if (!agb_sysfile_field(root, "/proc/cpuinfo", "vendor_id", out->vendor, sizeof out->vendor)) {
        read_arm(root, out);
        read_arm_slots(root, out);
        return;
    }
    out->family = cpuinfo_number(root, "cpu family");
    out->model = cpuinfo_number(root, "model");
    out->stepping = cpuinfo_number(root, "stepping");
    read_core_type(root, out);
    read_metric_level(root, out);
}

const agb_slots *agb_processor_family(const agb_cpu_id *cpu)
{
    for (size_t i = 0; agb_slots_families[i]; i++)
        if (agb_slots_families[i]->matches(cpu))
            return agb_slots_families[i];
    return NULL;
}

void agb_processor_name(const agb_cpu_id *cpu, char *name, size_t size)
{
    const agb_slots *family = agb_processor_family(cpu);
    if (!cpu->vendor[0])
        snprintf(name, size, "unknown processor");
    else if (family)
        snprintf(name, size, "%s", family->uarch);
    else if (cpu->vendor[0] == 'A' && cpu->vendor[1] == 'R')
        snprintf(name, size, "%s part 0x%x", cpu->vendor, cpu->model);
    else
        snprintf(name, size, "%s family %u model %u stepping %u", cpu->vendor, cpu->family, cpu->model, cpu->stepping);
}
