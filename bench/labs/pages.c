/* SPDX-License-Identifier: MIT */
/* The same aggregation with its memory in 4 KiB pages, in transparent huge pages and in explicit ones, where that
 * memory was touched before (warm) and where every page fault is paid inside the clock (fresh). */
#include "counters.h"
#include "lab_team.h"
#include "lab_turns.h"
#include "os_usage.h"
#include "page_settings.h"

#include <math.h>
#include <stdlib.h>

enum { REPETITIONS = 5, KINDS = 3, MODES = 2, STRATEGIES = 2, TRIALS = STRATEGIES * KINDS * MODES };

static const char *const strategies[STRATEGIES] = {"naive", "radix"};
static const char *const kind_names[KINDS] = {"4 KiB", "madvise", "explicit"};
static const agb_pages kind_pages[KINDS] = {AGB_PAGES_4K, AGB_PAGES_HUGE, AGB_PAGES_EXPLICIT};
static const char *const mode_names[MODES] = {"warm", "fresh"};
static const agb_memory_mode modes[MODES] = {AGB_MEMORY_WARM, AGB_MEMORY_FRESH};
static const unsigned most_rows = 4000000, least_rows = 200000;
static const double usual_s = 25;    /* that the most rows take */
static const unsigned group_counts[] = {10000, 100000, 1000000, 3000000};
enum { SIZES = sizeof group_counts / sizeof group_counts[0] };

/* One strategy, page size and mode: what its repetitions cost. */
typedef struct trial {
    size_t strategy, kind, mode;
    double faults, sys_s;                        /* of the last repetition */
    agb_repetition_counts counts[REPETITIONS];
    unsigned counted;
} trial;

typedef struct pages_lab {
    agb_lab_run *run;
    agb_registry *registry;
    agb_table *table;
    unsigned rows, groups;                       /* in it */
    size_t n_sizes;
    agb_sink *sink;
    agb_counter_support support;
    agb_counters *counters;                      /* NULL where nothing can be counted */
    bool has_kind[KINDS];
    trial trials[TRIALS];
    size_t n_trials;
} pages_lab;

/* ---- One measurement --------------------------------------------------------------------------------------------- */

static agb_status count_groups(pages_lab *lab, const trial *trial, agb_memory *memory, const agb_observer *observer,
                               agb_stats *stats, agb_error *err)
{
    agb_plan plan = {.table = lab->table, .column = "UserID", .memory = memory, .observer = observer,
                     .aggregator = agb_registry_find_aggregator(lab->registry, strategies[trial->strategy])};
    return agb_count_groups(&plan, lab->sink, stats, err);
}

/* Once more around the clock, with a pass of the counters. */
static agb_status count_measured(pages_lab *lab, trial *trial, agb_memory *memory, double *ns_a_row, agb_error *err)
{
    agb_os_usage before, after;
    agb_stats stats;
    unsigned passes = lab->counters ? agb_counters_passes(&lab->support) : 0;
    if (passes > 0)
        agb_counters_arm(lab->counters, 0, trial->counted % passes);
    agb_os_usage_read(&before);
    agb_status status = count_groups(lab, trial, memory, passes ? agb_counters_observer(lab->counters) : NULL, &stats,
                                     err);
    agb_os_usage_read(&after);
    if (passes > 0 && trial->counted < REPETITIONS)
        agb_counters_collect(lab->counters, &trial->counts[trial->counted++]);
    if (status != AGB_OK)
        return status;
    agb_os_usage usage = agb_os_usage_between(&before, &after);
    trial->faults = (double)(usage.minor_faults + usage.major_faults);
    trial->sys_s = usage.sys_s;
    double rate;
    status = agb_lab_rate(lab->rows, (double)stats.wall_ns / 1e9, strategies[trial->strategy], &rate, err);
    *ns_a_row = 1e9 / rate;
    return status;
}

static agb_status measure(void *context, size_t at, double *ns_a_row, agb_error *err)
{
    pages_lab *lab = context;
    trial *trial = &lab->trials[at];
    agb_memory_options options = {.pages = kind_pages[trial->kind], .mode = modes[trial->mode]};
    agb_memory *memory;
    agb_stats stats;
    agb_status status = agb_memory_create(&memory, &options, err);
    if (status == AGB_OK && options.mode == AGB_MEMORY_WARM)
        status = count_groups(lab, trial, memory, NULL, &stats, err);    /* touches what it will reuse */
    if (status == AGB_OK)
        agb_memory_fault_in(memory);
    if (status == AGB_OK)
        status = count_measured(lab, trial, memory, ns_a_row, err);
    agb_digest digest = status == AGB_OK ? agb_sink_digest(lab->sink) : (agb_digest){0};
    agb_sink_destroy(lab->sink);    /* its groups stand in that memory */
    lab->sink = NULL;
    agb_memory_destroy(memory);
    if (status == AGB_OK && (digest.groups != lab->groups || digest.rows != lab->rows))
        status = agb_fail(err, AGB_ERR_CONTRACT, "lab: pages: %s counted %llu groups of %llu rows instead of %u of %u: "
                          "report this", strategies[trial->strategy], (unsigned long long)digest.groups,
                          (unsigned long long)digest.rows, lab->groups, lab->rows);
    return status == AGB_OK ? agb_sink_collect(&lab->sink, err) : status;
}

/* ---- One number of groups ---------------------------------------------------------------------------------------- */

static agb_status load(pages_lab *lab, unsigned groups, agb_error *err)
{
    static const char *const columns[] = {"UserID"};
    char source[96];
    agb_load_options options = {.pages = AGB_PAGES_HUGE};
    snprintf(source, sizeof source, "synth:uniform,rows=%u,groups=%u", lab->rows, groups);
    agb_table_destroy(lab->table);
    lab->table = NULL;
    lab->groups = groups;
    return agb_table_load(&lab->table, lab->registry, source, columns, 1, &options, err);
}

static void line_up(pages_lab *lab, size_t strategies_now)
{
    lab->n_trials = 0;
    for (size_t i = 0; i < strategies_now; i++)
        for (size_t kind = 0; kind < KINDS; kind++)
            for (size_t mode = 0; mode < MODES && lab->has_kind[kind]; mode++)
                lab->trials[lab->n_trials++] = (trial){.strategy = i, .kind = kind, .mode = mode};
}

/* The first strategy's points go into the chart, one series for each page size and mode. */
static agb_status measure_size(pages_lab *lab, size_t size, agb_lab_point *points, agb_error *err)
{
    line_up(lab, size + 1 == lab->n_sizes ? STRATEGIES : 1);
    agb_lab_turns turns = {.what = "counting", .trials = lab->n_trials, .repetitions = REPETITIONS, .threads = 1,
                           .measure = measure, .context = lab, .done = size * REPETITIONS,
                           .all = (lab->n_sizes + 1) * REPETITIONS};
    agb_status status = load(lab, group_counts[size], err);
    if (status == AGB_OK)
        status = agb_lab_take_turns(lab->run, &turns, points, err);
    agb_lab_chart *chart = lab->run->record->charts;
    for (size_t i = 0; i < lab->n_trials && lab->trials[i].strategy == 0 && status == AGB_OK; i++) {
        points[i].x = group_counts[size];
        status = agb_lab_add_point(lab->run->record, &chart->series[i], points[i], err);
    }
    return status;
}

/* ---- The record -------------------------------------------------------------------------------------------------- */

static agb_status begin_chart(pages_lab *lab, agb_error *err)
{
    char title[120];
    snprintf(title, sizeof title, "%s over %.20s rows, by the pages of its memory", strategies[0],
             agb_text_count(lab->rows).s);
    agb_lab_chart *chart = agb_lab_add_chart(lab->run->record, title, (agb_lab_axis){"groups", "", true},
                                             (agb_lab_axis){"time", "ns a row", true});
    line_up(lab, 1);
    for (size_t i = 0; i < lab->n_trials; i++) {
        char name[64];
        snprintf(name, sizeof name, "%s, %s", kind_names[lab->trials[i].kind], mode_names[lab->trials[i].mode]);
        if (!agb_lab_add_series(chart, name))
            return agb_fail(err, AGB_ERR_MEMORY, "lab: pages: no memory for its chart: free some, and run again");
    }
    return AGB_OK;
}

static double walks_of(const pages_lab *lab, const trial *trial)
{
    agb_metrics metrics;
    if (trial->counted == 0)
        return NAN;
    agb_metrics_compute(&lab->support, trial->counts, trial->counted, -1, &metrics);
    return metrics.has[AGB_DTLB_WALKS] ? metrics.value[AGB_DTLB_WALKS] / lab->rows : NAN;
}

static agb_status add_details(pages_lab *lab, const agb_lab_point *points, agb_error *err)
{
    static const agb_lab_column columns[] = {{"strategy", ""}, {"pages", ""}, {"memory", ""}, {"time", "ns a row"},
                                             {"against 4 KiB", ""}, {"page faults", ""}, {"system", "ms"},
                                             {"dTLB walks a row", ""}};
    char title[120];
    snprintf(title, sizeof title, "at %.20s groups", agb_text_count(group_counts[lab->n_sizes - 1]).s);
    agb_lab_table *table = agb_lab_add_table(lab->run->record, title, columns, lab->counters ? 8 : 7);
    agb_status status = AGB_OK;
    const agb_lab_point *small[STRATEGIES][MODES] = {{NULL}};
    for (size_t i = 0; i < lab->n_trials && status == AGB_OK; i++) {
        const trial *trial = &lab->trials[i];
        const agb_lab_point **base = &small[trial->strategy][trial->mode];
        *base = trial->kind == 0 ? &points[i] : *base;
        agb_lab_cell row[] = {agb_lab_text("%s", strategies[trial->strategy]),
                              agb_lab_text("%s", kind_names[trial->kind]),
                              agb_lab_text("%s", mode_names[trial->mode]), agb_lab_number(points[i].y),
                              agb_lab_number((*base)->y / points[i].y), agb_lab_number(trial->faults),
                              agb_lab_number(trial->sys_s * 1e3), agb_lab_number(walks_of(lab, trial))};
        status = agb_lab_add_row(table, row, err);
        if (trial->kind == 1)
            agb_lab_find(lab->run->record, "%s on %s memory: with huge pages %s as fast as with 4 KiB%s%s",
                         strategies[trial->strategy], mode_names[trial->mode], agb_lab_times(*base, &points[i]).s,
                         agb_lab_differ(*base, &points[i]) ? "" : ": no difference seen",
                         agb_lab_doubt(*base, &points[i]));
    }
    if (!lab->counters)
        agb_lab_note(lab->run->record, "TLB walks could not be counted: %s", lab->support.reason);
    return status;
}

/* ---- The lab ----------------------------------------------------------------------------------------------------- */

/* Are there enough explicit pages for the largest of all trials? */
static agb_status try_explicit(pages_lab *lab, agb_error *err)
{
    enum { NEEDED = 400 };
    agb_error refused = {0};
    double ns;
    agb_status status = load(lab, group_counts[lab->n_sizes - 1], err);
    for (size_t i = 0; i < STRATEGIES && lab->has_kind[2] && status == AGB_OK; i++) {
        lab->trials[0] = (trial){.strategy = i, .kind = 2, .mode = 0};
        lab->has_kind[2] = measure(lab, 0, &ns, &refused) == AGB_OK;
        if (!lab->sink)
            status = agb_sink_collect(&lab->sink, err);
    }
    int64_t free_pages = agb_page_settings_free(lab->run->root);
    if (!lab->has_kind[2] && free_pages < 0)
        agb_lab_note(lab->run->record, "explicit huge pages: this system has no pool of 2 MiB pages: the kernel needs "
                     "CONFIG_HUGETLBFS");
    else if (!lab->has_kind[2])
        agb_lab_note(lab->run->record, "explicit huge pages: the pool has %lld free pages of 2 MiB, %d are needed: "
                     "`sudo sysctl vm.nr_hugepages=%d`, run this again, and give them back with 0",
                     (long long)free_pages, NEEDED, NEEDED);
    return status;
}

static agb_status prepare(pages_lab *lab, agb_error *err)
{
    double part = lab->run->seconds > 0 ? fmin(1, lab->run->seconds / usual_s) : 1;
    lab->rows = part * most_rows > least_rows ? (unsigned)(part * most_rows) : least_rows;
    while (lab->n_sizes < SIZES && group_counts[lab->n_sizes] <= lab->rows / 4 * 3)
        lab->n_sizes++;
    agb_status status = agb_lab_pin_self(lab->run, err);
    if (status == AGB_OK)
        status = agb_registry_create(&lab->registry, err);
    if (status == AGB_OK)
        status = agb_sink_collect(&lab->sink, err);
    if (status != AGB_OK)
        return status;
    agb_counters_probe(&lab->support);
    if (lab->support.available)
        status = agb_counters_create(&lab->counters, &lab->support, 1, err);
    for (size_t i = 0; i < KINDS; i++)
        lab->has_kind[i] = true;
    if (status == AGB_OK)
        status = try_explicit(lab, err);
    return status == AGB_OK ? begin_chart(lab, err) : status;
}

static agb_status run(agb_lab_run *run, agb_error *err)
{
    pages_lab *lab = calloc(1, sizeof *lab);    /* counts of many repetitions: too much for a small stack */
    agb_lab_point points[TRIALS] = {{0}};
    if (!lab)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: pages: no memory for its own bookkeeping: free some, and run again");
    lab->run = run;
    agb_status status = prepare(lab, err);
    for (size_t size = 0; size < lab->n_sizes && status == AGB_OK; size++)
        status = measure_size(lab, size, points, err);
    if (status == AGB_OK)
        status = add_details(lab, points, err);
    if (status == AGB_OK)
        status = agb_page_settings_add(run->record, run->root, err);
    agb_counters_destroy(lab->counters);
    agb_sink_destroy(lab->sink);
    agb_table_destroy(lab->table);
    agb_registry_destroy(lab->registry);
    free(lab);
    return status;
}

static const char *const options[] = {"seconds", "pin", NULL};

const agb_lab agb_lab_pages = {
    .name = "pages",
    .summary = "one aggregation in 4 KiB, transparent huge and explicit huge pages, warm and fresh",
    .prediction = "few groups fit in the TLB's reach, and pages do not matter; with many groups each row needs another "
                  "page and huge pages save the walk. Fresh memory pays a fault for each page: 512 times fewer "
                  "of huge ones",
    .limits = "intervals are 95 % of the median of 5; points take turns. Faults and system time are of the last "
              "repetition. One thread; the keys themselves always stand in huge pages; only the strategy's memory "
              "changes. In a virtual machine the host has pages of its own, which cannot be seen from here",
    .options = options, .run = run};
