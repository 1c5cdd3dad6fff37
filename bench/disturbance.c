/* SPDX-License-Identifier: MIT */
/* What disturbed a measurement: see disturbance.h. */
#include "disturbance.h"

#include "os_usage.h"
#include "proc.h"
#include "process.h"

#include <unistd.h>

static const double most_waited = 0.02, most_of_others = 0.05, least_s = 0.2;

static void read_machine(agb_disturbance *out)
{
    agb_cpu_ticks ticks;
    bool known = agb_cpu_ticks_read(out->root, &ticks);
    out->stolen_s = known ? agb_ticks_s(ticks.steal) : -1;
    out->busy_s = known ? agb_ticks_s(agb_cpu_ticks_busy(&ticks)) : -1;
}

agb_disturbance agb_disturbance_begin(const char *root)
{
    agb_disturbance out = {.root = root, .waited_s = agb_runq_wait_s(root), .cpu_s = agb_os_cpu_s()};
    read_machine(&out);
    out.at_s = agb_now_s();
    return out;
}

static double grown(double before, double after)
{
    return before >= 0 && after > before ? after - before : 0;
}

bool agb_disturbance_between(const agb_disturbance *before, const agb_disturbance *after, unsigned threads)
{
    double wall_s = after->at_s - before->at_s;
    if (grown(before->waited_s, after->waited_s) > most_waited * wall_s * threads)
        return true;
    if (wall_s < least_s)
        return false;
    double others_s = grown(before->busy_s, after->busy_s) - grown(before->cpu_s, after->cpu_s);
    double cores = (double)sysconf(_SC_NPROCESSORS_ONLN);
    return grown(before->stolen_s, after->stolen_s) > most_waited * wall_s * threads ||
           others_s > most_of_others * wall_s * cores;
}

bool agb_disturbance_seen(const agb_disturbance *since, unsigned threads)
{
    agb_disturbance now = agb_disturbance_begin(since->root);
    return agb_disturbance_between(since, &now, threads);
}
