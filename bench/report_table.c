/* SPDX-License-Identifier: MIT */
/* The report for people: figures with units, right under each other, and beside them what they do and do not mean. */
#include "report.h"

#include "ipc_place.h"
#include "precision.h"
#include "report_sweep.h"
#include "sampling.h"
#include "scaling.h"
#include "summary.h"
#include "text.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { LEAST_LABEL = 12, MOST_LABEL = 24 };

/* ---- Cells ------------------------------------------------------------------------------------------------------- */

static agb_text text_of(const char *format, ...) __attribute__((format(printf, 1, 2)));

static agb_text text_of(const char *format, ...)
{
    agb_text text;
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text.s, sizeof text.s, format, arguments);
    va_end(arguments);
    return text;
}

static agb_text label_of(const agb_result *result, size_t width)
{
    char label[256];
    agb_result_label(result, label, sizeof label);
    agb_clean_text clean = agb_text_clean(label);
    if (strlen(clean.s) > width) {
        clean.s[width - 1] = '~';
        clean.s[width] = '\0';
    }
    return text_of("%s", clean.s);
}

static int label_width(const agb_results *results)
{
    size_t width = LEAST_LABEL;
    for (size_t i = 0; i < results->n_results; i++) {
        char label[256];
        agb_result_label(&results->results[i], label, sizeof label);
        width = strlen(label) > width ? strlen(label) : width;
    }
    return width > MOST_LABEL ? MOST_LABEL : (int)width;
}

/* With the gap before it: a column that is not there leaves no blanks at the line's end. */
static agb_text speedup_of(const agb_results *results, size_t i)
{
    const agb_comparison *comparison = agb_results_comparison_of(results, i);
    if (!comparison)
        return text_of("%s", results->n_comparisons > 0 ? "  baseline" : "");
    const agb_ratio *speedup = &comparison->speedup;
    bool alone = isnan(speedup->ci95_low);
    return text_of(" %c%.60s%s", comparison->verdict == AGB_VERDICT_SAME && !alone ? '~' : ' ',
                   agb_text_ratio(speedup->ratio, speedup->ci95_low, speedup->ci95_high).s,
                   alone ? ", too few runs" : "");
}

void agb_report_rule(FILE *to)
{
    for (int i = 0; i < AGB_TEXT_CELLS; i++)
        fputc('-', to);
    fputc('\n', to);
}

void agb_report_line(FILE *to, const char *label, const char *format, ...)
{
    char text[2048];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    agb_text_wrap(to, text, 11, fprintf(to, "%-10s ", label));
}

/* ---- Times ------------------------------------------------------------------------------------------------------- */

/* "wrong at key 5: ...", "out of memory: ...": a reason that begins with its state needs no other word for it. */
static bool says_state(const char *reason, const char *state)
{
    while (*state && (*reason == *state || (*state == '-' && *reason == ' '))) {
        reason++;
        state++;
    }
    return *state == '\0';
}

static void print_bad_row(FILE *to, const agb_result *result, int width)
{
    char text[1200];
    const char *state = agb_state_name(result->state);
    bool said = says_state(result->reason, state);
    snprintf(text, sizeof text, "%s%s%s", said ? "" : state, said ? "" : ": ", result->reason);
    agb_text_wrap(to, text, width + 2, fprintf(to, "%-*s  ", width, label_of(result, (size_t)width).s));
}

/* In the unit of the interval beside it. */
static agb_text median_of(const agb_summary *wall)
{
    return isnan(wall->ci95_high) ? agb_text_seconds(wall->median)
                                  : agb_text_seconds_like(wall->median, wall->ci95_high);
}

static agb_text floor_of(const agb_result *result)
{
    if (result->in_cache)
        return text_of("cache");
    return result->floor_s > 0 ? agb_text_number(result->times_floor) : text_of("-");
}

static void print_times(FILE *to, const agb_results *results, size_t source, int width)
{
    fprintf(to, "%-*s %9s %9s %15s %7s %7s%s\n", width, "aggregator", "first run", "warm run", "95 % interval",
            "ns/row", "x floor", results->n_comparisons ? "  speed-up" : "");
    agb_report_rule(to);
    bool unseen = false, cached = false;
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->source != source)
            continue;
        if (result->state != AGB_STATE_OK) {
            print_bad_row(to, result, width);
            continue;
        }
        agb_text speedup = speedup_of(results, i);
        fprintf(to, "%-*s %9s %9s %15s %7s %7s%s\n", width, label_of(result, (size_t)width).s,
                agb_text_seconds(result->first_s).s, median_of(&result->wall).s,
                agb_text_interval(result->wall.ci95_low, result->wall.ci95_high).s,
                isnan(result->ns_per_row) ? "-" : agb_text_number(result->ns_per_row).s, floor_of(result).s,
                speedup.s);
        unseen = unseen || strncmp(speedup.s, " ~", 2) == 0;
        cached = cached || result->in_cache;
    }
    if (unseen)
        fprintf(to, "~ no difference seen: the interval holds 1, or the noise below covers it\n");
    if (cached)
        fprintf(to, "cache: it fits into L2, or was faster than memory: memory's bandwidth is no floor\n");
}

/* ---- Phases and memory ------------------------------------------------------------------------------------------- */

static void print_phases(FILE *to, const agb_result *result, int left)
{
    char text[512] = "";
    size_t at = 0;
    for (size_t phase = 0; phase < result->stats.phases && at < sizeof text; phase++)
        at += (size_t)snprintf(text + at, sizeof text - at, "%s%s %s", phase ? ", " : "",
                               result->aggregator->phases[phase], agb_text_seconds(result->phase_s[phase]).s);
    agb_text_wrap(to, text, left, left);
}

/* Of the timed runs: the median would hide the one that went wrong, so the most of each is shown. */
static void print_details(FILE *to, const agb_results *results, size_t source, int width)
{
    if (!agb_results_any_ok(results, source))
        return;
    fprintf(to, "\n%-*s %9s %9s %11s %8s  %s\n", width, "", "peak", "result", "page faults", "system",
            "phases (median)");
    agb_report_rule(to);
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->source != source || result->state != AGB_STATE_OK)
            continue;
        int64_t faults = 0;
        double sys_s = 0;
        for (size_t run = result->n_warmup; run < result->n_runs; run++) {
            const agb_os_usage *usage = &result->runs[run].usage;
            int64_t both = usage->minor_faults + usage->major_faults;
            faults = both > faults ? both : faults;
            sys_s = usage->sys_s > sys_s ? usage->sys_s : sys_s;
        }
        int left = fprintf(to, "%-*s %9s %9s %11s %8s  ", width, label_of(result, (size_t)width).s,
                           agb_text_bytes(result->stats.peak_bytes).s, agb_text_bytes(result->stats.result_bytes).s,
                           agb_text_count((uint64_t)faults).s, agb_text_seconds(sys_s).s);
        print_phases(to, result, left);
    }
}


/* ---- What the figures were measured on --------------------------------------------------------------------------- */

void agb_report_machine(FILE *to, const agb_machine *machine)
{
    agb_report_line(to, "machine", "%s (%s), %u processor%s, %s memory%s%s; %s", machine->cpu, machine->uarch,
                    machine->cores, machine->cores == 1 ? "" : "s", agb_text_bytes(machine->memory_bytes).s,
                    machine->governor[0] ? ", governor " : "", machine->governor, machine->kernel);
    agb_report_line(to, "caches", "L1d %zu KiB, L2 %zu KiB, L3 %zu KiB, lines of %zu bytes", machine->caches.l1d >> 10,
                    machine->caches.l2 >> 10, machine->caches.l3 >> 10, machine->caches.line);
    agb_report_line(to, "build", "%s %s, commit %s", machine->compiler, machine->flags, machine->commit);
}

static void print_settings(FILE *to, const agb_results *results)
{
    const agb_settings *settings = &results->settings;
    static const char *const pages[] = {"default pages", "4 KiB pages", "huge pages"};
    agb_text several =
        results->processes > 1 ? text_of(", in each of %u fresh processes", results->processes) : text_of("%s", "");
    const char *on = settings->n_cpus > 1 ? "on processors " : "on processor ";
    char place[128] = "not pinned";
    size_t at = 0;
    for (unsigned i = 0; i < settings->n_cpus && at < sizeof place - 16; i++)
        at += (size_t)snprintf(place + at, sizeof place - at, "%s%d", i ? "," : on, settings->cpus[i]);
    agb_report_line(to, "settings",
                    "%s%u thread%s %s; %s memory, %s (system: %s)%s%s; batches of %s rows; hash %s; final "
                    "size not known beforehand; %u warm-up + %u timed runs in shuffled rounds%s, seed %" PRIu64,
                    agb_scaling_is_asked(settings) ? "at most " : "", settings->threads,
                    settings->threads == 1 ? "" : "s", place,
                    agb_memory_mode_name(settings->memory), pages[settings->pages],
                    results->machine.pages, settings->memory_budget ? ", budget " : "",
                    settings->memory_budget ? agb_text_bytes(settings->memory_budget).s : "",
                    agb_text_count(settings->batch_rows).s, settings->hash, settings->warmup, settings->repetitions,
                    several.s, settings->seed);
    agb_report_line(to, "clock", "from the first row to the last group written: growing, merging and the result are in "
                    "it; load, create, destroy and the check are not. The first run pays for untouched memory%s%s",
                    results->machine.reports_free_pages ? ", many times as much where the host has taken it back since "
                    "it was freed (free page reporting)" : "",
                    settings->warmup == 0 ? ", and is one of the timed ones (--warmup 0)" : "");
}

/* One layout's accident shows as a process that differs from the others. */
static void print_processes(FILE *to, const agb_results *results)
{
    enum { SHOWN = 8 };
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->state != AGB_STATE_OK || !result->process_s)
            continue;
        char medians[SHOWN * 24] = "";
        size_t at = 0;
        for (size_t k = 0; k < result->n_process && k < SHOWN; k++)
            at += (size_t)snprintf(medians + at, sizeof medians - at, "%s%s", k ? ", " : "",
                                   agb_text_seconds_like(result->process_s[k], result->wall.median).s);
        agb_report_line(to, "processes", "%s: medians %s%s: %s %% apart%s%s", label_of(result, MOST_LABEL).s, medians,
                        result->n_process > SHOWN ? ", ..." : "", agb_text_number(100 * agb_process_spread(result)).s,
                        results->n_sources > 1 ? "; " : "",
                        results->n_sources > 1 ? results->sources[result->source].name : "");
    }
}

static void print_precision(FILE *to, const agb_results *results)
{
    const agb_settings *settings = &results->settings;
    size_t widest = 0;
    double worst = agb_precision_worst(results, &widest);
    const char *each = settings->precise_speedups ? "each speed-up" : "each median";
    if (settings->precision == 0)
        return;
    if (isnan(worst)) {
        agb_report_line(to, "precision", "+-%s %% of %s wanted, NOT REACHED: %s",
                        agb_text_number(100 * settings->precision).s, each,
                        settings->precise_speedups && results->n_comparisons == 0
                            ? "a speed-up takes two aggregators that are right"
                            : "too few right runs for an interval: raise --repetitions");
        return;
    }
    agb_report_line(to, "precision", "+-%s %% of %s wanted, %s: the widest is %s with +-%s %% after %zu runs%s",
                    agb_text_number(100 * settings->precision).s, each,
                    worst <= settings->precision ? "reached" : "NOT REACHED",
                    label_of(&results->results[widest], MOST_LABEL).s, agb_text_number(100 * worst).s,
                    results->results[widest].n_runs - results->results[widest].n_warmup,
                    worst <= settings->precision ? "" : ": raise --repetitions, or quiet the machine");
}

static void print_trust(FILE *to, const agb_results *results)
{
    size_t noisy, all;
    if (results->settings.repetitions < AGB_LEAST_FOR_INTERVAL)
        agb_report_line(to, "interval", "%u repetition%s: too few for an interval, and for saying what is faster: at "
                        "least %d are wanted", results->settings.repetitions,
                        results->settings.repetitions == 1 ? "" : "s", AGB_LEAST_FOR_INTERVAL);
    agb_results_count_noisy(results, &noisy, &all);
    const char *hypervisor = results->machine.hypervisor;
    for (size_t i = 0; i < results->n_noises; i++) {
        const agb_noise *noise = &results->noises[i];
        const agb_result *baseline = &results->results[noise->baseline];
        agb_report_line(to, "noise", "%s against its twin %s [%s, %s]: differences within that%s are not claimed%s%s",
                        label_of(baseline, MOST_LABEL).s, agb_text_number(noise->ratio.ratio).s,
                        agb_text_number(noise->ratio.ci95_low).s, agb_text_number(noise->ratio.ci95_high).s,
                        agb_least_claim_of(results->processes) > 1 ? ", or under 5 %," : "",
                        results->n_sources > 1 ? "; " : "",
                        results->n_sources > 1 ? results->sources[baseline->source].name : "");
    }
    if (all > 0 && (noisy > 0 || hypervisor[0]))
        agb_report_line(to, "caution", "%zu of %zu timed runs lost more than 2 %% to waiting for a core%s%s%s", noisy,
                        all, hypervisor[0] ? "; this is a virtual machine (" : "", hypervisor,
                        hypervisor[0] ? "): its neighbours can slow any run without a trace here" : "");
}

static void print_memory(FILE *to, const agb_results *results)
{
    const agb_result *largest = NULL;
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->state == AGB_STATE_OK && (!largest || result->peak_rss_bytes > largest->peak_rss_bytes))
            largest = result;
    }
    if (largest)
        agb_report_line(to, "memory", "the largest contestant, %s, held %s at most, accounted for: %s; the reference "
                        "answer's process %s; no process of the whole command more than %s",
                        label_of(largest, MOST_LABEL).s, agb_text_bytes(largest->peak_rss_bytes).s,
                        agb_text_bytes(largest->accounted_peak_bytes).s,
                        agb_text_bytes(results->sources[largest->source].reference_peak_rss_bytes).s,
                        agb_text_bytes(results->largest_rss_bytes).s);
}

static void print_remarks(FILE *to, const agb_results *results)
{
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->state == AGB_STATE_OK && result->too_fast)
            agb_report_line(to, "doubt",
                            "%s: less than 0.2 ns a row although the groups are many: was all of it counted?",
                            label_of(result, MOST_LABEL).s);
        if (result->state == AGB_STATE_OK && result->stats.note[0])
            agb_report_line(to, "note", "%s: %s", label_of(result, MOST_LABEL).s, result->stats.note);
        if (result->state == AGB_STATE_OK && result->stats.spilled_bytes)
            agb_report_line(to, "spilled", "%s: %s to a file in each run", label_of(result, MOST_LABEL).s,
                            agb_text_bytes(result->stats.spilled_bytes).s);
    }
    for (size_t i = 0; i < results->n_notes; i++)
        agb_report_line(to, "note", "%s", results->notes[i]);
}

void agb_report_environment(FILE *to, const agb_results *results)
{
    print_precision(to, results);
    print_processes(to, results);
    print_trust(to, results);
    print_memory(to, results);
    agb_report_counters_state(to, results);
    print_remarks(to, results);
    agb_report_machine(to, &results->machine);
    print_settings(to, results);
}

/* ---- The whole --------------------------------------------------------------------------------------------------- */

static void print_source(FILE *to, const agb_results *results, size_t source)
{
    const agb_source_info *info = &results->sources[source];
    double verify_s = 0;
    for (size_t i = 0; i < results->n_results; i++) {
        if (results->results[i].source == source && results->results[i].verify_s > verify_s)
            verify_s = results->results[i].verify_s;
    }
    fprintf(to, "%s\n", agb_text_clean(info->name).s);
    agb_report_line(to, "rows", "%s%s%s in %s groups of %s%s%s, %s, loaded in %s%s%s", agb_text_count(info->rows).s,
                    agb_sampling_words(&results->settings.sample, info->rows, info->of_rows).s,
                    info->of_rows > info->rows ? "," : "", agb_text_count(info->groups).s,
                    results->settings.group_by, info->nulls ? "; NULL rows: " : "",
                    info->nulls ? agb_text_count(info->nulls).s : "", agb_text_bytes(info->bytes).s,
                    agb_text_seconds(info->load_s).s, info->format[0] ? " by " : "", info->format);
    if (results->settings.where)
        agb_report_line(to, "where", "%s: %s rows, selected inside the clock", results->settings.where,
                        agb_text_count(info->selected).s);
    bool checked = verify_s > 0;    /* else no run came to its end */
    agb_report_line(to, "check", "every run against the reference answer (counted in %s)%s%s%s",
                    agb_text_seconds(info->reference_s).s, checked ? "; at most " : "",
                    checked ? agb_text_seconds(verify_s).s : "", checked ? " a run, outside the clock" : "");
    if (info->has_floor)
        agb_report_line(to, "floor", "this machine reads %s and writes %s GB/s now",
                        agb_text_number(info->floor.read_gbps).s, agb_text_number(info->floor.write_gbps).s);
    fputc('\n', to);
}

void agb_report_table(FILE *to, const agb_results *results)
{
    int width = label_width(results);
    for (size_t source = 0; source < results->n_sources; source++) {
        print_source(to, results, source);
        print_times(to, results, source, width);
        print_details(to, results, source, width);
        agb_report_counters(to, results, source, width);
        agb_report_substitutes(to, results, source, width);
        if (results->ipc_line)
            agb_report_ipc_line(to, results, source, width);
        agb_report_top(to, results, source);
        fputc('\n', to);
    }
    agb_report_sweep(to, results);
    agb_report_environment(to, results);
}
