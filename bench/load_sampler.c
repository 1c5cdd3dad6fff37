/* SPDX-License-Identifier: MIT */
/* Sampling of loads by perf events: see load_samples.h. AMD's IBS marks every so-and-so-many-th operation and tells of
 * loads among them; Intel's PEBS marks loads themselves, on newer processors only behind an auxiliary event. */
#include "load_samples.h"

#include "machine.h"
#include "processor.h"
#include "sysfile.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { RING_PAGES = 8, NO_FD = -1 };

/* How this machine samples loads. */
typedef struct method {
    uint32_t type;
    uint64_t config, config1, period;
    uint64_t auxiliary;                 /* code of the event that must lead the group; 0 = none */
    unsigned precise;
} method;

typedef struct stream {
    int leader, fd;                     /* leader: the auxiliary event, or NO_FD */
    struct perf_event_mmap_page *pages;
} stream;

struct agb_load_sampler {
    stream *streams;
    size_t n, page_bytes;
};

static const char devices[] = "/sys/bus/event_source/devices";

static bool device_type(const char *root, const char *device, uint32_t *type)
{
    char path[128];
    int64_t number;
    snprintf(path, sizeof path, "%s/%s/type", devices, device);
    if (!agb_sysfile_number(root, path, &number))
        return false;
    *type = (uint32_t)number;
    return true;
}

static bool has_event(const char *root, const char *device, const char *event)
{
    char path[160];
    snprintf(path, sizeof path, "%s/%s/events/%s", devices, device, event);
    return agb_sysfile_exists(root, path);
}

/* Codes: kernel, arch/x86/events/intel/core.c (mem-loads, mem-loads-aux) and arch/x86/events/amd/ibs.c (cnt_ctl). */
static bool find_method(const char *root, method *out)
{
    enum { IBS_COUNT_OPS = 1 << 19, MEM_LOADS = 0x1cd, MEM_LOADS_AUX = 0x8203, EVERY_LOAD = 3 };
    static const char *const intel[] = {"cpu_core", "cpu"};
    *out = (method){0};
    if (device_type(root, "ibs_op", &out->type)) {
        out->config = IBS_COUNT_OPS;
        out->period = 0x20000;          /* its low four bits must be 0 */
        return true;
    }
    for (size_t i = 0; i < 2; i++) {
        if (!has_event(root, intel[i], "mem-loads") || !device_type(root, intel[i], &out->type))
            continue;
        out->config = MEM_LOADS;
        out->config1 = EVERY_LOAD;      /* least latency, in cycles */
        out->auxiliary = has_event(root, intel[i], "mem-loads-aux") ? MEM_LOADS_AUX : 0;
        out->period = 20011;
        out->precise = 2;
        return true;
    }
    return false;
}

static int open_event(struct perf_event_attr *attr, const agb_perf_target *target, int leader)
{
    long fd = syscall(SYS_perf_event_open, attr, target->tid, target->cpu, leader, PERF_FLAG_FD_CLOEXEC);
    return fd < 0 ? -errno : (int)fd;
}

/* User mode only, where the sampler can tell; IBS of older kernels cannot, and refuses to be asked. */
static int open_sampling(const method *method, const agb_perf_target *target, int leader)
{
    struct perf_event_attr attr = {
        .size = sizeof attr, .type = method->type, .config = method->config, .config1 = method->config1,
        .sample_period = method->period, .precise_ip = method->precise, .inherit = target->inherited,
        .sample_type = PERF_SAMPLE_WEIGHT | PERF_SAMPLE_DATA_SRC, .exclude_kernel = 1, .exclude_hv = 1};
    int fd = open_event(&attr, target, leader);
    if (fd != -EINVAL && fd != -EOPNOTSUPP)
        return fd;
    attr.exclude_kernel = attr.exclude_hv = 0;
    return open_event(&attr, target, leader);
}

static int open_stream(stream *stream, const method *method, const agb_perf_target *target, size_t page_bytes)
{
    *stream = (struct stream){.leader = NO_FD, .fd = NO_FD};
    if (method->auxiliary) {
        struct perf_event_attr attr = {.size = sizeof attr, .type = method->type, .config = method->auxiliary,
                                       .inherit = target->inherited, .exclude_kernel = 1, .exclude_hv = 1};
        stream->leader = open_event(&attr, target, NO_FD);
        if (stream->leader < 0)
            return stream->leader;
    }
    stream->fd = open_sampling(method, target, stream->leader);
    if (stream->fd < 0)
        return stream->fd;
    stream->pages = mmap(NULL, (RING_PAGES + 1) * page_bytes, PROT_READ | PROT_WRITE, MAP_SHARED, stream->fd, 0);
    if (stream->pages != MAP_FAILED)
        return 0;
    stream->pages = NULL;
    return -errno;
}

static void close_stream(const stream *stream, size_t page_bytes)
{
    if (stream->pages)
        munmap(stream->pages, (RING_PAGES + 1) * page_bytes);
    if (stream->fd >= 0)
        close(stream->fd);
    if (stream->leader >= 0)
        close(stream->leader);
}

/* ---- Why not ----------------------------------------------------------------------------------------------------- */

static void explain_missing(const char *root, agb_load_samples *samples)
{
    char hypervisor[32];
    uint32_t type;
    agb_machine_hypervisor(root, hypervisor, sizeof hypervisor);
    if (device_type(root, "arm_spe_0", &type))
        snprintf(samples->reason, sizeof samples->reason, "this processor samples loads by SPE, whose records perf can "
                 "read and this program cannot");
    else
        snprintf(samples->reason, sizeof samples->reason, "the kernel offers neither AMD's IBS nor Intel's "
                 "mem-loads%s%s",
                 hypervisor[0] ? ": usual in virtual machines, here of " : "", hypervisor);
}

static void explain_refusal(const char *root, int error, agb_load_samples *samples)
{
    int64_t level = 0;
    agb_sysfile_number(root, "/proc/sys/kernel/perf_event_paranoid", &level);
    if (error == EACCES || error == EPERM)
        snprintf(samples->reason, sizeof samples->reason, "the kernel does not permit sampling of loads "
                 "(kernel.perf_event_paranoid is %d): run as root or with CAP_PERFMON", (int)level);
    else if (error == EINVAL || error == EOPNOTSUPP)
        snprintf(samples->reason, sizeof samples->reason, "this kernel does not sample the loads of single threads");
    else
        snprintf(samples->reason, sizeof samples->reason, "sampling of loads: %s", strerror(error));
}

/* ---- Sampling ---------------------------------------------------------------------------------------------------- */

agb_load_sampler *agb_load_sampler_start(const char *root, const agb_perf_target *targets, size_t n,
                                         agb_load_samples *samples)
{
    method method;
    *samples = (agb_load_samples){0};
    if (!find_method(root, &method)) {
        explain_missing(root, samples);
        return NULL;
    }
    agb_load_sampler *sampler = calloc(1, sizeof *sampler);
    int failed = sampler ? 0 : -ENOMEM;
    if (sampler) {
        sampler->page_bytes = (size_t)sysconf(_SC_PAGESIZE);
        sampler->streams = calloc(n ? n : 1, sizeof *sampler->streams);
        failed = sampler->streams ? 0 : -ENOMEM;
    }
    for (size_t i = 0; i < n && !failed; i++) {
        failed = open_stream(&sampler->streams[i], &method, &targets[i], sampler->page_bytes);
        sampler->n++;
        failed = failed == -ESRCH ? 0 : failed;    /* a thread that has just ended has no loads */
    }
    samples->had = !failed;
    if (!failed)
        return sampler;
    explain_refusal(root, -failed, samples);
    if (sampler)
        agb_load_sampler_end(sampler, samples);
    return NULL;
}

void agb_load_sampler_drain(agb_load_sampler *sampler, agb_load_samples *samples)
{
    for (size_t i = 0; i < sampler->n; i++) {
        struct perf_event_mmap_page *pages = sampler->streams[i].pages;
        if (!pages)
            continue;
        uint64_t head = __atomic_load_n(&pages->data_head, __ATOMIC_ACQUIRE);
        uint64_t tail = agb_load_samples_read(samples, (const char *)pages + sampler->page_bytes,
                                              RING_PAGES * sampler->page_bytes, pages->data_tail, head);
        __atomic_store_n(&pages->data_tail, tail, __ATOMIC_RELEASE);
    }
}

void agb_load_sampler_end(agb_load_sampler *sampler, agb_load_samples *samples)
{
    if (!sampler)
        return;
    agb_load_sampler_drain(sampler, samples);
    for (size_t i = 0; i < sampler->n; i++)
        close_stream(&sampler->streams[i], sampler->page_bytes);
    free(sampler->streams);
    free(sampler);
}

void agb_load_sampler_command(const char *root, const char *whose, char *text, size_t size)
{
    agb_cpu_id cpu;
    agb_processor_read(root, &cpu);
    snprintf(text, size, "sudo perf mem record %s; sudo perf mem report --sort=mem --stdio%s", whose,
             strcmp(cpu.vendor, "AuthenticAMD") == 0 ? " (perf and kernel 6.2 or newer, on bare metal)" : "");
}
