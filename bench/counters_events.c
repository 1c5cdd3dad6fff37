/* SPDX-License-Identifier: MIT */
/* Events of the user's choice: names that libpfm4 knows, or raw codes as perf writes them, r01c0. */
#include "perf.h"
#include "pfm.h"
#include "processor.h"

#include <errno.h>
#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* rNNNN: 1 to 16 hexadecimal digits, for the processor's own counters. */
static bool parse_raw(const char *name, uint64_t *config)
{
    enum { MOST_DIGITS = 16 };
    size_t digits = strspn(name + 1, "0123456789abcdefABCDEF");
    if (name[0] != 'r' || digits == 0 || digits > MOST_DIGITS || name[1 + digits] != '\0')
        return false;
    *config = strtoull(name + 1, NULL, 16);
    return true;
}

/* The library encodes the events of any processor. Those of its tables that our table of this one names are right here,
 * also where the library does not know the processor itself: most of Zen 4, all of Zen 5, Emerald Rapids. */
static bool is_of_this_processor(const agb_slots *family, const agb_pfm_code *code)
{
    if (code->present || code->type != PERF_TYPE_RAW)
        return true;
    size_t length = strlen(code->pmu);
    for (const agb_pass *pass = family ? family->passes : NULL; pass && pass->name; pass++) {
        for (const agb_event *event = pass->events; event->symbol; event++) {
            if (event->pfm && strncmp(event->pfm, code->pmu, length) == 0 && event->pfm[length] == ':')
                return true;
        }
    }
    return false;
}

static agb_status encode(const agb_perf_place *place, const agb_slots *family, agb_user_event *event, agb_error *err)
{
    agb_pfm_code code = {.type = family ? agb_slots_type(place->root, family) : PERF_TYPE_RAW};
    bool raw = parse_raw(event->name, &code.config);
    if (!raw && agb_pfm_encode(event->name, &code, err) != AGB_OK)
        return AGB_ERR_ARGUMENT;
    const agb_pfm_mistake *mistake = agb_pfm_mistake_of(event->name, &code);
    if (mistake && mistake->wrong != mistake->right)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: this libpfm4 encodes it as 0x%" PRIx64 ", the maker's "
                        "list as 0x%" PRIx64 ": %s", event->name, mistake->wrong, mistake->right, mistake->cure);
    if (mistake)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: this libpfm4 encodes it with 0x%" PRIx64 " in the extra "
                        "register, the maker's list with 0x%" PRIx64 ": %s", event->name, mistake->wrong1,
                        mistake->right1, mistake->cure);
    if (code.kernel)
        return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: asks for kernel mode: only user mode is counted: leave "
                        "that modifier out", event->name);
    if (!raw && !is_of_this_processor(family, &code))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: is of another processor (%s): here its code would count "
                        "something else: name an event of %s", event->name, code.pmu,
                        family ? family->uarch : "this processor, or give its raw code");
    event->type = code.type;
    event->config = code.config;
    event->config1 = code.config1;
    return AGB_OK;
}

/* An event twice would be two columns of one meaning, perhaps of two values. */
static agb_status check_new(const agb_counter_support *support, const agb_user_event *event, agb_error *err)
{
    for (unsigned i = 0; i < support->events; i++) {
        const agb_user_event *other = &support->event[i];
        if (other->type == event->type && other->config == event->config && other->config1 == event->config1)
            return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: is %s%s: name it once", event->name,
                            strcmp(other->name, event->name) == 0 ? "given twice" : "the same event as ",
                            strcmp(other->name, event->name) == 0 ? "" : other->name);
    }
    return AGB_OK;
}

/* Counts nothing but that it can be counted: what the number means is the user's knowledge. */
static void try_event(const agb_perf_place *place, agb_user_event *event)
{
    agb_perf_group group;
    if (!agb_perf_event_open(&group, place, event, event->reason, sizeof event->reason))
        return;
    int failed = place->perf->enable(place->perf->context, group.handle[0]);
    if (failed)
        agb_perf_reason(place, -failed, event->name, 1, event->reason, sizeof event->reason);
    event->counts = failed == 0;
    agb_perf_group_close(&group, place->perf);
}

agb_status agb_counters_add_events_on(const agb_perf_place *place, agb_counter_support *support, const char *list,
                                      agb_error *err)
{
    for (const char *at = list;; at++) {
        size_t length = strcspn(at, ",");
        agb_user_event *event = &support->event[support->events];
        if (support->events == AGB_MOST_USER_EVENTS)
            return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: more than %d events: leave some for another run",
                            list, AGB_MOST_USER_EVENTS);
        if (length == 0 || length >= sizeof event->name)
            return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: a name is %s: names have 1..%zu letters", list,
                            length ? "too long" : "empty", sizeof event->name - 1);
        *event = (agb_user_event){.counts = false};
        memcpy(event->name, at, length);
        agb_status status = encode(place, support->family, event, err);
        if (status == AGB_OK)
            status = check_new(support, event, err);
        if (status != AGB_OK)
            return status;
        try_event(place, event);
        support->events++;
        at += length;
        if (*at == '\0')
            return AGB_OK;
    }
}

agb_status agb_counters_add_events(agb_counter_support *support, const char *list, agb_error *err)
{
    agb_perf_place place = {.root = "", .perf = &agb_perf_kernel};
    agb_processor_read(place.root, &place.cpu);
    return agb_counters_add_events_on(&place, support, list, err);
}
