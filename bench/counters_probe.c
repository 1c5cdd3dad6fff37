/* SPDX-License-Identifier: MIT */
/* What this machine can count, found by counting: a loop whose least number of instructions is known is run under the
 * kernel's generic events, then under every pass of the processor's family. A live but false counter (a virtual
 * machine that reports thousands of instructions a second, an event that exists and stays 0) is worse than none, so
 * what does not pass is not offered. User mode only, from the first open: asking for more would be refused for the
 * wrong reason. */
#include "perf.h"
#include "pfm.h"
#include "processor.h"

#include <inttypes.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

/* Turns of the known loop, 0.5 ms. Each has at least two instructions, an increment and a branch; no processor here
 * does more than 8 instructions a cycle. */
enum { TURNS = 1000000, LEAST_INSTRUCTIONS = 2 * TURNS, MOST_INSTRUCTIONS = 40 * TURNS, LEAST_CYCLES = TURNS / 4 };

static void known_loop(void)
{
    for (long turn = 0; turn < TURNS; turn++)
        __asm__ volatile("" : : "r"(turn));
}

/* Runs the loop under an open group. */
static int count_loop(const agb_perf_place *place, int leader, agb_perf_reading *out)
{
    const agb_perf *perf = place->perf;
    memset(out, 0, sizeof *out);
    int failed = perf->enable(perf->context, leader);
    if (failed)
        return failed;
    known_loop();
    perf->disable(perf->context, leader);
    return perf->read(perf->context, leader, out);
}

/* Did a group run all the time? */
static bool ran(const agb_perf_place *place, const char *what, const agb_perf_reading *reading, char *reason,
                size_t size)
{
    if (reading->running_ns > 0 && reading->running_ns >= reading->enabled_ns)
        return true;
    agb_perf_short_reason(place, what, reading->running_ns, reading->enabled_ns, reason, size);
    return false;
}

/* The kernel's own events for cycles and instructions, of the performance or efficient cores on hybrids. */
static bool open_generic(const agb_perf_place *place, const agb_slots *family, agb_perf_group *group, char *reason,
                         size_t size)
{
    static const uint64_t codes[] = {PERF_COUNT_HW_CPU_CYCLES, PERF_COUNT_HW_INSTRUCTIONS};
    static const char *const names[] = {"cycles", "instructions"};
    uint32_t type = family ? agb_slots_type(place->root, family) : PERF_TYPE_RAW;
    uint64_t pmu = type == PERF_TYPE_RAW ? 0 : type;    /* 0: the kernel's choice, the only one it has */
    group->events = 0;
    for (unsigned i = 0; i < 2; i++) {
        int leader = i > 0 ? group->handle[0] : -1;
        int handle = place->perf->open(place->perf->context, PERF_TYPE_HARDWARE, codes[i] | pmu << 32, 0, leader);
        if (handle < 0) {
            agb_perf_reason(place, -handle, names[i], i + 1, reason, size);
            agb_perf_group_close(group, place->perf);
            return false;
        }
        group->handle[group->events++] = handle;
    }
    return true;
}

static bool generic_events_are_true(const agb_perf_place *place, const agb_slots *family, char *reason, size_t size)
{
    agb_perf_group group;
    agb_perf_reading reading;
    if (!open_generic(place, family, &group, reason, size))
        return false;
    int failed = count_loop(place, group.handle[0], &reading);
    agb_perf_group_close(&group, place->perf);
    if (failed) {
        agb_perf_reason(place, -failed, "cycles and instructions", 2, reason, size);
        return false;
    }
    if (!ran(place, "cycles and instructions", &reading, reason, size))
        return false;
    uint64_t cycles = reading.value[0], instructions = reading.value[1];
    if (instructions >= LEAST_INSTRUCTIONS && instructions <= MOST_INSTRUCTIONS && cycles >= LEAST_CYCLES)
        return true;
    snprintf(reason, size, "counters are there but not believed: a loop of %d to %d instructions counted as %" PRIu64
                           " instructions in %" PRIu64 " cycles: run on bare metal, or tell the provider",
             LEAST_INSTRUCTIONS, MOST_INSTRUCTIONS, instructions, cycles);
    return false;
}

/* What one phase change will cost: one reading, averaged over some. */
static double reading_ns(const agb_perf_place *place, int leader)
{
    enum { READINGS = 64 };
    struct timespec from, to;
    agb_perf_reading reading;
    clock_gettime(CLOCK_MONOTONIC, &from);
    for (unsigned i = 0; i < READINGS; i++)
        place->perf->read(place->perf->context, leader, &reading);
    clock_gettime(CLOCK_MONOTONIC, &to);
    return ((double)(to.tv_sec - from.tv_sec) * 1e9 + (double)(to.tv_nsec - from.tv_nsec)) / READINGS;
}

static bool pass_counts(const agb_perf_place *place, const agb_slots *family, const agb_pass *pass, double *switch_ns,
                        char *reason, size_t size)
{
    agb_perf_group group;
    agb_perf_reading reading;
    if (!agb_perf_group_open(&group, place, family, pass, reason, size))
        return false;
    int failed = count_loop(place, group.handle[0], &reading);
    double ns = reading_ns(place, group.handle[0]);
    *switch_ns = ns > *switch_ns ? ns : *switch_ns;
    agb_perf_group_close(&group, place->perf);
    if (failed) {
        agb_perf_reason(place, -failed, pass->name, reading.events ? (unsigned)reading.events : 1, reason, size);
        return false;
    }
    if (!ran(place, pass->name, &reading, reason, size))
        return false;
    if (reading.value[0] >= LEAST_CYCLES)
        return true;
    snprintf(reason, size, "pass %s is not believed: event %s counted %" PRIu64 " in a loop of %d instructions",
             pass->name, pass->events[0].symbol, reading.value[0], LEAST_INSTRUCTIONS);
    return false;
}

static void add_reason(agb_counter_support *out, const char *reason)
{
    size_t used = strlen(out->reason);
    snprintf(out->reason + used, sizeof out->reason - used, "%s%s", used ? "; " : "", reason);
}

static bool has_working_spare(const agb_pass *passes, const bool *counts, unsigned pass)
{
    for (unsigned i = 0; passes[i].name; i++)
        if (counts[i] && passes[i].spare_for == pass + 1)
            return true;
    return false;
}

/* Passes in order, so that a spare knows whether it is needed. A refusal is worth telling only where no spare helps. */
static void probe_passes(const agb_perf_place *place, agb_counter_support *out)
{
    const agb_pass *passes = out->family->passes;
    bool counts[AGB_MOST_PASSES] = {false};
    char reasons[AGB_MOST_PASSES][256] = {""};
    for (unsigned i = 0; passes[i].name && i < AGB_MOST_PASSES; i++) {
        bool needless = passes[i].spare_for && counts[passes[i].spare_for - 1];
        if (needless || (passes[i].usable && !passes[i].usable(&place->cpu)))
            continue;
        counts[i] = pass_counts(place, out->family, &passes[i], &out->switch_ns, reasons[i], sizeof reasons[i]);
        if (counts[i])
            out->pass_of[out->passes++] = (unsigned char)i;
    }
    for (unsigned i = 0; passes[i].name && i < AGB_MOST_PASSES; i++)
        if (reasons[i][0] && !has_working_spare(passes, counts, i))
            add_reason(out, reasons[i]);
    out->available = out->passes > 0;
}

/* A kernel that knows the width better than the table is believed, not overruled. */
static bool width_agrees(const agb_perf_place *place, const agb_slots *family, char *reason, size_t size)
{
    if (place->cpu.slots == 0 || family->width == 0 || place->cpu.slots == family->width)
        return true;
    snprintf(reason, size, "the kernel says that this processor has %u slots a cycle, the table of %s says %u: please "
                           "report it", place->cpu.slots, family->uarch, family->width);
    return false;
}

void agb_counters_probe_on(const agb_perf_place *place, agb_counter_support *out)
{
    memset(out, 0, sizeof *out);
    agb_processor_name(&place->cpu, out->processor, sizeof out->processor);
    out->family = agb_processor_family(&place->cpu);
    char reason[sizeof out->reason] = "";
    bool counts = generic_events_are_true(place, out->family, reason, sizeof reason);
    if (counts && !out->family)
        snprintf(reason, sizeof reason, "%s is in no table: its slots a cycle are not known and are not guessed: add a "
                                        "file to bench/slots", out->processor);
    else if (counts && width_agrees(place, out->family, reason, sizeof reason))
        probe_passes(place, out);
    if (!out->available && reason[0])
        snprintf(out->reason, sizeof out->reason, "%s", reason);
    if (!out->available && !agb_pfm_is_built_in())
        add_reason(out, "built without libpfm4");
}

void agb_counters_probe(agb_counter_support *out)
{
    agb_perf_place place = {.root = "", .perf = &agb_perf_kernel};
    agb_processor_read(place.root, &place.cpu);
    agb_counters_probe_on(&place, out);
}
