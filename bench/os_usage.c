/* SPDX-License-Identifier: MIT */
/* Process accounting. getrusage covers all threads; the wait for a core stands only in each thread's own schedstat:
 * the file of the process shows its first thread alone. */
#include "os_usage.h"
#include "sysfile.h"

#include <ctype.h>
#include <dirent.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

static double seconds_of(struct timeval time)
{
    return (double)time.tv_sec + (double)time.tv_usec / 1e6;
}

/* One thread's "ran waited slices", in ns, ns and a number. false: vanished since it was listed, or malformed. */
static bool read_task(const char *root, const char *task, uint64_t *ran_ns, uint64_t *waited_ns)
{
    char path[PATH_MAX], text[128];
    uint64_t slices;
    snprintf(path, sizeof path, "/proc/self/task/%.32s/schedstat", task);
    return agb_sysfile_read(root, path, text, sizeof text)
           && sscanf(text, "%" SCNu64 " %" SCNu64 " %" SCNu64, ran_ns, waited_ns, &slices) == 3;
}

double agb_runq_wait_s(const char *root)
{
    char path[PATH_MAX];
    snprintf(path, sizeof path, "%s/proc/self/task", root);
    DIR *folder = opendir(path);
    if (!folder)
        return -1;
    uint64_t waited_ns = 0;
    bool kept = false;    /* a kernel without scheduler statistics writes zeros for everybody */
    for (const struct dirent *entry; (entry = readdir(folder));) {
        uint64_t ran, waited;
        if (isdigit((unsigned char)entry->d_name[0]) && read_task(root, entry->d_name, &ran, &waited)) {
            kept |= ran != 0;
            waited_ns += waited;
        }
    }
    closedir(folder);
    return kept ? (double)waited_ns / 1e9 : -1;
}

double agb_os_cpu_s(void)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
}

void agb_os_usage_read(agb_os_usage *out)
{
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    *out = (agb_os_usage){
        .user_s = seconds_of(usage.ru_utime),
        .sys_s = seconds_of(usage.ru_stime),
        .runq_wait_s = agb_runq_wait_s(""),
        .minor_faults = usage.ru_minflt,
        .major_faults = usage.ru_majflt,
        .involuntary_switches = usage.ru_nivcsw,
    };
}

static double grown(double before, double after)
{
    return after > before ? after - before : 0;
}

static int64_t more(int64_t before, int64_t after)
{
    return after > before ? after - before : 0;
}

agb_os_usage agb_os_usage_between(const agb_os_usage *before, const agb_os_usage *after)
{
    bool waits_known = before->runq_wait_s >= 0 && after->runq_wait_s >= before->runq_wait_s;
    return (agb_os_usage){
        .user_s = grown(before->user_s, after->user_s),
        .sys_s = grown(before->sys_s, after->sys_s),
        .runq_wait_s = waits_known ? after->runq_wait_s - before->runq_wait_s : -1,
        .minor_faults = more(before->minor_faults, after->minor_faults),
        .major_faults = more(before->major_faults, after->major_faults),
        .involuntary_switches = more(before->involuntary_switches, after->involuntary_switches),
    };
}

uint64_t agb_peak_rss_bytes(void)
{
    uint64_t kibibytes = 0;
    return agb_sysfile_field_number("", "/proc/self/status", "VmHWM", &kibibytes) ? kibibytes * 1024 : 0;
}

uint64_t agb_largest_rss_bytes(void)
{
    struct rusage children;
    getrusage(RUSAGE_CHILDREN, &children);
    uint64_t own = agb_peak_rss_bytes(), theirs = (uint64_t)children.ru_maxrss * 1024;
    return own > theirs ? own : theirs;
}

uint64_t agb_oom_kills(const char *root)
{
    static const char *const paths[] = {"/proc/vmstat", "/sys/fs/cgroup/memory.events"};
    uint64_t all = 0;
    for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
        char text[1 << 14];
        uint64_t kills;
        agb_sysfile_read(root, paths[i], text, sizeof text);
        const char *line = strstr(text, "oom_kill ");
        if (line && sscanf(line, "oom_kill %" SCNu64, &kills) == 1)
            all += kills;
    }
    return all;
}
