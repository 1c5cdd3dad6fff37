/* SPDX-License-Identifier: MIT */
/* perf_event_open for real. The three exclude flags are decided here, once for all events: user mode only, which the
 * kernel grants to ordinary users, and which makes every event of a group count the same instructions. */
#include "perf.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int kernel_open(void *context, uint32_t type, uint64_t config, uint64_t config1, int leader)
{
    static const agb_perf_target self = {.tid = 0, .cpu = -1};
    const agb_perf_target *target = context ? context : &self;
    struct perf_event_attr attr;
    memset(&attr, 0, sizeof attr);
    attr.size = sizeof attr;
    attr.type = type;
    attr.config = config;
    attr.config1 = config1;
    attr.disabled = leader < 0;    /* members follow their leader */
    attr.exclude_kernel = 1;
    attr.exclude_hv = 1;
    attr.inherit = target->inherited;
    attr.exclude_guest = 0;        /* the default of the kernel, and of perf stat for user events */
    attr.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED | PERF_FORMAT_TOTAL_TIME_RUNNING;
    long fd = syscall(SYS_perf_event_open, &attr, target->tid, target->cpu, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

static int kernel_enable(void *context, int leader)
{
    (void)context;
    return ioctl(leader, PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP) < 0 ? -errno : 0;
}

static int kernel_disable(void *context, int leader)
{
    (void)context;
    return ioctl(leader, PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP) < 0 ? -errno : 0;
}

static int kernel_read(void *context, int leader, agb_perf_reading *out)
{
    (void)context;
    ssize_t got = read(leader, out, sizeof *out);    /* the structure is the kernel's own layout */
    if (got < 0)
        return -errno;
    size_t header = offsetof(agb_perf_reading, value);
    return (size_t)got < header || (size_t)got < header + out->events * sizeof *out->value ? -EIO : 0;
}

static void kernel_close(void *context, int handle)
{
    (void)context;
    close(handle);
}

const agb_perf agb_perf_kernel = {
    .open = kernel_open,
    .enable = kernel_enable,
    .disable = kernel_disable,
    .read = kernel_read,
    .close = kernel_close,
};

agb_perf agb_perf_kernel_on(agb_perf_target *target)
{
    agb_perf perf = agb_perf_kernel;
    perf.context = target;
    return perf;
}
