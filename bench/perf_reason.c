/* SPDX-License-Identifier: MIT */
/* One sentence for each way in which perf events are refused: what it is, why, and the command that would change it. */
#include "perf.h"

#include "machine.h"
#include "processor.h"
#include "sysfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static void no_pmu(const agb_perf_place *place, const char *what, unsigned events, char *text, size_t size)
{
    char hypervisor[32];
    agb_machine_hypervisor(place->root, hypervisor, sizeof hypervisor);
    if (events > 1)
        snprintf(text, size, "%s: this machine's PMU lacks the event, though it has others: usual in emulated and some "
                             "virtual machines: run on bare metal", what);
    else if (hypervisor[0])
        snprintf(text, size, "no hardware counters in this virtual machine: its hypervisor (%s) exposes no PMU: run on "
                             "bare metal, or ask the provider for a size that has one", hypervisor);
    else
        snprintf(text, size, "%s: the kernel has no driver for this processor's counters: look for \"PMU\" in dmesg, "
                             "and try a newer kernel", what);
}

static void not_permitted(const agb_perf_place *place, const char *what, char *text, size_t size)
{
    int64_t level;
    if (agb_sysfile_number(place->root, "/proc/sys/kernel/perf_event_paranoid", &level))
        snprintf(text, size, "%s: permission denied, user-only counting was tried (kernel.perf_event_paranoid is %d): "
                             "sudo sysctl kernel.perf_event_paranoid=2, or give the program CAP_PERFMON", what,
                 (int)level);
    else
        snprintf(text, size, "%s: permission denied, user-only counting was tried: give the program CAP_PERFMON", what);
}

static void group_refused(const agb_perf_place *place, const char *what, unsigned events, char *text, size_t size)
{
    char flags[4096];
    agb_sysfile_field(place->root, "/proc/cpuinfo", "flags", flags, sizeof flags);
    bool few = strcmp(place->cpu.vendor, "AuthenticAMD") == 0 && flags[0] && !strstr(flags, "perfctr_core");
    if (events < 2)
        snprintf(text, size, "%s: the kernel refuses this event's code: try a newer kernel", what);
    else
        snprintf(text, size, "%s: the kernel refuses a group of %u events: this needs %u counters at once%s", what,
                 events, events,
                 few ? ", and without the perfctr_core flag there are 4: let the virtual machine pass it on"
                     : ": let the virtual machine have more of them, or switch hyper-threading off");
}

void agb_perf_reason(const agb_perf_place *place, int error, const char *what, unsigned events, char *text,
                     size_t size)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case EOPNOTSUPP:
        no_pmu(place, what, events, text, size);
        break;
    case EACCES:
        not_permitted(place, what, text, size);
        break;
    case EPERM:
        snprintf(text, size, "%s: not permitted, most likely by a container's seccomp policy: run the container with "
                             "--cap-add=PERFMON, or with a seccomp profile that allows perf_event_open", what);
        break;
    case ENOSYS:
        snprintf(text, size, "%s: perf_event_open is not there: the kernel was built without CONFIG_PERF_EVENTS, or a "
                             "sandbox hides it: run outside of it", what);
        break;
    case EMFILE:
    case ENFILE:
        snprintf(text, size, "%s: no file descriptor left, one is needed for each event and worker: raise ulimit -n",
                 what);
        break;
    case ENXIO:
        snprintf(text, size, "%s: the event needs an extra register that this machine does not offer (usual in virtual "
                             "machines): run on bare metal", what);
        break;
    case EBUSY:
        snprintf(text, size, "%s: another program holds the counters for itself: end it", what);
        break;
    case EINVAL:
    case ENOSPC:
        group_refused(place, what, events, text, size);
        break;
    default:
        snprintf(text, size, "%s: perf_event_open: %s: look for \"perf\" in dmesg", what, strerror(error));
    }
}

/* Of a hybrid, when this thread may run on both kinds. One that is kept on one kind has no such excuse. */
static bool may_change_core_type(const agb_perf_place *place)
{
    enum { MOST_CPUS = 4096 };
    static const char *const kinds[] = {"/sys/bus/event_source/devices/cpu_core/cpus",
                                        "/sys/bus/event_source/devices/cpu_atom/cpus"};
    int cpus[MOST_CPUS];
    char list[512];
    if (!place->cpu.core)
        return false;
    unsigned count = agb_machine_allowed_cpus(cpus, MOST_CPUS);
    for (unsigned i = 0; i < 2; i++) {
        if (agb_sysfile_read(place->root, kinds[i], list, sizeof list) &&
            agb_processor_list_covers(list, cpus, count < MOST_CPUS ? count : MOST_CPUS))
            return false;
    }
    return true;
}

void agb_perf_short_reason(const agb_perf_place *place, const char *pass, uint64_t running_ns, uint64_t enabled_ns,
                           char *text, size_t size)
{
    int64_t watchdog = 0;
    agb_sysfile_number(place->root, "/proc/sys/kernel/nmi_watchdog", &watchdog);
    const char *held = watchdog > 0 ? "the NMI watchdog holds a counter: sudo sysctl kernel.nmi_watchdog=0"
                                    : "another user of the counters (perf, a profiler) holds some: end it";
    char cure[256];
    if (may_change_core_type(place))
        snprintf(cure, sizeof cure, "threads may have moved between kinds of cores: pin to one kind with --pin%s%s",
                 watchdog > 0 ? "; or " : "", watchdog > 0 ? held : "");
    else
        snprintf(cure, sizeof cure, "%s", held);
    if (running_ns == 0)
        snprintf(text, size, "%s: not measured: the group of counters never ran: %s", pass, cure);
    else
        snprintf(text, size, "%s: refused: the group of counters ran %.0f %% of the time, and shares of a sample are "
                             "not scaled up: %s", pass, 100.0 * (double)running_ns / (double)enabled_ns, cure);
}
