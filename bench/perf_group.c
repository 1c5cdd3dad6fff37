/* SPDX-License-Identifier: MIT */
/* A pass of a family opened as one group on the calling thread. */
#include "perf.h"

#include "sysfile.h"

#include <linux/perf_event.h>
#include <stdio.h>

unsigned agb_pass_events(const agb_pass *pass)
{
    unsigned events = 0;
    while (pass->events[events].symbol)
        events++;
    return events;
}

uint32_t agb_slots_type(const char *root, const agb_slots *family)
{
    char path[256];
    int64_t type;
    if (!family->pmu)
        return PERF_TYPE_RAW;
    snprintf(path, sizeof path, "/sys/bus/event_source/devices/%s/type", family->pmu);
    return agb_sysfile_number(root, path, &type) && type >= 0 ? (uint32_t)type : PERF_TYPE_RAW;
}

bool agb_perf_group_open(agb_perf_group *group, const agb_perf_place *place, const agb_slots *family,
                         const agb_pass *pass, char *reason, size_t size)
{
    uint32_t type = agb_slots_type(place->root, family);
    group->events = 0;
    for (const agb_event *event = pass->events; event->symbol; event++) {
        int leader = group->events ? group->handle[0] : -1;
        int handle = place->perf->open(place->perf->context, type, event->config, event->config1, leader);
        if (handle < 0) {
            char what[96];
            snprintf(what, sizeof what, "pass %s, event %s (0x%llx)", pass->name, event->symbol,
                     (unsigned long long)event->config);
            agb_perf_reason(place, -handle, what, group->events + 1, reason, size);
            agb_perf_group_close(group, place->perf);
            return false;
        }
        group->handle[group->events++] = handle;
    }
    return true;
}

bool agb_perf_event_open(agb_perf_group *group, const agb_perf_place *place, const agb_user_event *event, char *reason,
                         size_t size)
{
    char what[96];
    int handle = place->perf->open(place->perf->context, event->type, event->config, event->config1, -1);
    group->events = 0;
    if (handle < 0) {
        snprintf(what, sizeof what, "event %s", event->name);
        agb_perf_reason(place, -handle, what, 1, reason, size);
        return false;
    }
    group->handle[group->events++] = handle;
    return true;
}

/* Members first: closing a leader would make each of them a group of its own for a moment. */
void agb_perf_group_close(agb_perf_group *group, const agb_perf *perf)
{
    while (group->events > 0)
        perf->close(perf->context, group->handle[--group->events]);
}
