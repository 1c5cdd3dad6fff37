/* SPDX-License-Identifier: MIT */
/* Intel Gracemont: the efficient cores of Alder and Raptor Lake, and the N-series (model 190). Five slots a cycle.
 * libpfm4 4.13 has no table for it: all codes are of the vendor's list.
 *
 *     SLOTS           = 5 * CYC
 *     retiring        = RET / SLOTS
 *     frontend bound  = FE / SLOTS
 *     backend bound   = BE / SLOTS
 *     bad speculation = BAD / SLOTS     the vendor takes the rest; counted, level 1 can be checked
 *     store bound     = MSCH / SLOTS * SBB / SBA
 *     memory bound    ~ the smaller of backend bound and LDH / CYC + store bound
 *
 * SOURCE  intel/perfmon, E-core_TMA_Metrics.csv. LDH are cycles in which a load at retirement waits, so memory bound
 * mixes cycles with slots: an estimate, labelled so; newer tables of the vendor have dropped it. */
#include "slots.h"

#include <string.h>

enum { WIDTH = 5, SLOTS = 0, MEMORY, WORK, DRAM };

static const agb_pass passes[] = {
    [SLOTS] = {.name = "slots", .events = {
        {"CYC", 0x3c, 0, NULL},
        {"RET", 0xc2, 0, NULL},
        {"FE", 0x71, 0, NULL},
        {"BE", 0x74, 0, NULL},
        {"BAD", 0x73, 0, NULL}}},
    [MEMORY] = {.name = "memory", .events = {
        {"CYC", 0x3c, 0, NULL},
        {"BE", 0x74, 0, NULL},
        {"LDH", 0xff05, 0, NULL},
        {"MSCH", 0x274, 0, NULL},
        {"SBB", 0x104, 0, NULL},
        {"SBA", 0x704, 0, NULL}}},
    [WORK] = {.name = "work", .events = {
        {"CYC", 0x3c, 0, NULL},
        {"INS", 0xc0, 0, NULL},
        {"LLC", 0x412e, 0, NULL},
        {"WALKS_LOAD", 0xe08, 0, NULL},
        {"WALKS_STORE", 0xe49, 0, NULL}}},
    [DRAM] = {.name = "dram", .events = {
        {"CYC", 0x3c, 0, NULL},
        {"DEMAND", 0x1b7, 0x784000001, NULL}}},
    {.name = NULL},
};

static bool matches(const agb_cpu_id *cpu)
{
    if (strcmp(cpu->vendor, "GenuineIntel") != 0 || cpu->family != 6)
        return false;
    switch (cpu->model) {
    case 190:
        return true;
    case 151: case 154: case 183: case 186: case 191:
        return cpu->core == AGB_CORE_EFFICIENT;
    default:
        return false;
    }
}

static void set_slots(const uint64_t *values, agb_metrics *out)
{
    enum { CYC, RET, FE, BE, BAD };
    double slots = WIDTH * (double)values[CYC];
    agb_metrics_set_share(out, AGB_RETIRING_PCT, (double)values[RET], slots);
    agb_metrics_set_share(out, AGB_FRONTEND_BOUND_PCT, (double)values[FE], slots);
    agb_metrics_set_share(out, AGB_BACKEND_BOUND_PCT, (double)values[BE], slots);
    agb_metrics_set_share(out, AGB_BAD_SPECULATION_PCT, (double)values[BAD], slots);
}

static void set_memory(const uint64_t *values, agb_metrics *out)
{
    enum { CYC, BE, LDH, MSCH, SBB, SBA };
    double slots = WIDTH * (double)values[CYC], backend = (double)values[BE];
    double blocked = values[SBA] ? (double)values[MSCH] * (double)values[SBB] / (double)values[SBA] : 0;
    double memory = WIDTH * (double)values[LDH] + blocked;
    memory = memory < backend ? memory : backend;
    agb_metrics_set_share(out, AGB_MEMORY_BOUND_PCT, memory, slots);
    agb_metrics_set_share(out, AGB_CORE_BOUND_PCT, backend - memory, slots);
    agb_metrics_note(out, "memory_bound_pct is an estimate: it mixes cycles with slots");
}

static void metrics(unsigned pass, const uint64_t *values, agb_metrics *out)
{
    agb_metrics_set_plain(out, &passes[pass], values);
    if (pass == SLOTS)
        set_slots(values, out);
    else if (pass == MEMORY)
        set_memory(values, out);
}

const agb_slots agb_slots_gracemont = {
    .name = "gracemont",
    .uarch = "Gracemont (efficient core)",
    .about = "Slots by ordinary counters, five a cycle, each level 1 share by an event of its own. Memory bound is an "
             "estimate that mixes cycles in which a load waits at retirement with slots blocked by a full store "
             "buffer. On hybrids these are the efficient cores: pin threads to them. DRAM bytes are those that loads "
             "demanded; there is no event for any fill",
    .matches = matches,
    .width = WIDTH,
    .passes = passes,
    .metrics = metrics,
    .pmu = "cpu_atom",
};
