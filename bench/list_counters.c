/* SPDX-License-Identifier: MIT */
/* What this machine can count: see list_counters.h. Everything is tried, nothing is concluded from names. */
#include "list_counters.h"

#include "json_text.h"
#include "machine.h"
#include "options.h"
#include "perf.h"
#include "pfm.h"
#include "simulate.h"
#include "sysfile.h"
#include "text.h"
#include "tool.h"

#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

enum { LEFT = 14 };

static agb_counter_support look(void)
{
    agb_counter_support support;
    agb_counters_probe(&support);
    agb_counters_calibrate(&support);
    return support;
}

/* "CYC, OPS, BE" */
static void events_of(const agb_pass *pass, char *text, size_t size)
{
    size_t used = 0;
    text[0] = '\0';
    for (const agb_event *event = pass->events; event->symbol && used < size; event++)
        used += (size_t)snprintf(text + used, size - used, "%s%s", used ? ", " : "", event->symbol);
}

static bool is_counted(const agb_counter_support *support, unsigned pass)
{
    for (unsigned i = 0; i < support->passes; i++) {
        if (support->pass_of[i] == pass)
            return true;
    }
    return false;
}

static void print_passes(FILE *to, const agb_counter_support *support)
{
    char line[400], events[200];
    for (unsigned i = 0; support->family->passes[i].name; i++) {
        const agb_pass *pass = &support->family->passes[i];
        if (!is_counted(support, i))
            continue;
        events_of(pass, events, sizeof events);
        snprintf(line, sizeof line, "pass %s: %s", pass->name, events);
        agb_help_entry(to, "counts", LEFT, line);
    }
}

/* What is in the way of counters on many machines, and the command that moves it. */
static void print_circumstances(FILE *to)
{
    int64_t level, watchdog;
    char line[400], hypervisor[32];
    struct rlimit files;
    if (agb_sysfile_number("", "/proc/sys/kernel/perf_event_paranoid", &level)) {
        snprintf(line, sizeof line, "kernel.perf_event_paranoid is %d%s", (int)level,
                 level > 2 ? ": some kernels refuse users then: sudo sysctl kernel.perf_event_paranoid=2"
                           : ": users may count their own programs");
        agb_help_entry(to, "permission", LEFT, line);
    }
    if (agb_sysfile_number("", "/proc/sys/kernel/nmi_watchdog", &watchdog) && watchdog > 0)
        agb_help_entry(to, "watchdog", LEFT, "holds one counter: sudo sysctl kernel.nmi_watchdog=0 frees it");
    agb_machine_hypervisor("", hypervisor, sizeof hypervisor);
    if (hypervisor[0]) {
        snprintf(line, sizeof line, "%s: what it does not pass on cannot be counted inside: qemu and libvirt pass "
                                    "counters on with -cpu host,pmu=on", hypervisor);
        agb_help_entry(to, "hypervisor", LEFT, line);
    }
    if (getrlimit(RLIMIT_NOFILE, &files) == 0) {
        snprintf(line, sizeof line, "%" PRIu64 " file descriptors, up to %d needed for each worker: ulimit -n raises "
                                    "the limit", (uint64_t)files.rlim_cur, AGB_MOST_EVENTS);
        agb_help_entry(to, "limit", LEFT, line);
    }
}

/* "" when perf stat can be laid beside our counts. */
static const char *perf_reason(const agb_counter_support *support)
{
    if (!support->available)
        return "no: there is nothing to count, see above";
    return agb_tool_exists("perf") ? "" : "no: perf is not installed: apt-get install linux-perf";
}

static void simulate_reason(char *reason, size_t size)
{
    agb_machine machine;
    agb_machine_read(&machine);
    agb_simulate_reason(machine.flags, reason, size);
}

static void print_substitutes(FILE *to, const agb_counter_support *support)
{
    char reason[320], line[400];
    simulate_reason(reason, sizeof reason);
    snprintf(line, sizeof line, "%s%s", reason[0] ? "no: " : "yes: instructions, cache misses, branches under valgrind",
             reason);
    fprintf(to, "\nBesides\n");
    agb_help_entry(to, "estimate", LEFT, "yes: the time beyond a cache-resident twin; it needs nothing of the machine");
    agb_help_entry(to, "simulate", LEFT, line);
    agb_help_entry(to, "replay", LEFT, "yes: counts that --record wrote on another machine");
    agb_help_entry(to, "--perf-check", LEFT, perf_reason(support)[0] ? perf_reason(support) : "yes");
    agb_help_entry(to, "--events", LEFT, agb_pfm_is_built_in() ? "names of libpfm4, and raw codes"
                                                               : "raw codes only: apt-get install libpfm4-dev, then "
                                                                 "make clean all, for names");
}

void agb_list_counters(FILE *to)
{
    agb_counter_support support = look();
    char line[200];
    fprintf(to, "Hardware counters of this machine\n");
    agb_help_entry(to, "processor", LEFT, support.processor);
    snprintf(line, sizeof line, "yes, in %u passes, one for each repetition", support.passes);
    agb_help_entry(to, "available", LEFT, support.available ? line : "no");
    if (support.available)
        print_passes(to, &support);
    if (support.reason[0])
        agb_help_entry(to, support.available ? "not counted" : "reason", LEFT, support.reason);
    if (support.available) {
        snprintf(line, sizeof line, "%.0f ns, measured: the price of knowing a phase's counts", support.switch_ns);
        agb_help_entry(to, "phase switch", LEFT, line);
        agb_help_entry(to, "meaning", LEFT, support.family->about);
    }
    if (support.uncalibrated[0] || support.calibration[0])
        agb_help_entry(to, "calibration", LEFT, support.uncalibrated[0] ? support.uncalibrated : support.calibration);
    print_circumstances(to);
    print_substitutes(to, &support);
    fprintf(to, "\nProcessor families with a table of events\n");
    for (const agb_slots *const *family = agb_slots_families; *family; family++)
        agb_help_entry(to, (*family)->name, LEFT, (*family)->uarch);
}

json_t *agb_list_counters_json(void)
{
    agb_counter_support support = look();
    char reason[320];
    json_t *passes = json_array(), *families = json_array();
    for (unsigned i = 0; i < support.passes; i++) {
        const agb_pass *pass = &support.family->passes[support.pass_of[i]];
        json_t *events = json_array();
        for (const agb_event *event = pass->events; event->symbol; event++)
            json_array_append_new(events, json_string(event->symbol));
        json_array_append_new(passes, json_pack("{s:s, s:o}", "name", pass->name, "events", events));
    }
    for (const agb_slots *const *family = agb_slots_families; *family; family++)
        json_array_append_new(families, json_string((*family)->name));
    simulate_reason(reason, sizeof reason);
    return json_pack("{s:b, s:o, s:s, s:o, s:o, s:o, s:o, s:o, s:o}", "available", support.available, "reason",
                     agb_json_text_or_null(support.reason), "processor", support.processor, "passes", passes,
                     "switch_ns", support.available ? json_real(support.switch_ns) : json_null(), "calibration",
                     agb_json_text_or_null(support.uncalibrated[0] ? support.uncalibrated : support.calibration),
                     "simulate_reason", agb_json_text_or_null(reason), "perf_check_reason",
                     agb_json_text_or_null(perf_reason(&support)), "families", families);
}
