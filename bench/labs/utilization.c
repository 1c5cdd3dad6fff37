/* SPDX-License-Identifier: MIT */
/* Is a processor that is "50 % busy" half way to its limit? The utilisation that /proc/stat reports against the work
 * that was done, by two methods: all workers at 1 to 100 % duty, and 1 to N workers at 100 %. The experiment, and the
 * columns of the CSV, follow Brendan Long's "%CPU utilization is a lie" (2025). */
#include "disturbance.h"
#include "duty.h"
#include "lab_team.h"
#include "lab_turns.h"
#include "os_usage.h"
#include "pins.h"
#include "proc.h"
#include "statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST_ROUNDS = 3, MOST_TRIALS = 128 };

static const double usual_slice_s = 0.25, least_slice_s = 0.1, most_slice_s = 2;
static const unsigned duties[] = {1, 10, 20, 30, 40, 50, 60, 70, 80, 90, 100};
static const agb_duty_work workloads[] = {AGB_DUTY_INT64, AGB_DUTY_MATRIX, AGB_DUTY_MIX};
enum { DUTIES = sizeof duties / sizeof duties[0], WORKLOADS = sizeof workloads / sizeof workloads[0] };

typedef enum method { BY_DUTY, BY_WORKERS, SIDE_BY_SIDE } method;

static const char *const method_names[] = {"duty", "workers", "side by side"};

typedef struct trial {
    method method;
    agb_duty_work work;
    unsigned duty_pct, workers;
    /* What the rounds gave: */
    double rate[MOST_ROUNDS], ghz;         /* units a second */
    unsigned rounds, noisy;
    uint64_t units;
    double wall_s, own_s;             /* summed over the rounds */
    agb_cpu_ticks ticks;
    time_t at;
} trial;

typedef struct experiment {
    agb_lab_run *run;
    agb_lab_crew crew;
    agb_pool *pool;
    agb_duty_bench *benches;          /* one for each worker */
    agb_room room;
    agb_chain chain;
    bool has_chain;
    trial trials[MOST_TRIALS];
    size_t n;
    unsigned rounds;
    double slice_s;
    const trial *now;                 /* for the workers */
} experiment;

/* ---- The plan ---------------------------------------------------------------------------------------------------- */

static void add(experiment *experiment, method method, agb_duty_work work, unsigned duty_pct, unsigned workers)
{
    if (experiment->n < MOST_TRIALS)
        experiment->trials[experiment->n++] =
            (trial){.method = method, .work = work, .duty_pct = duty_pct, .workers = workers};
}

static void plan(experiment *experiment)
{
    unsigned counts[16], most = experiment->crew.threads;
    size_t n = agb_lab_worker_counts(most, counts);
    for (size_t k = 0; k < WORKLOADS; k++) {
        for (size_t i = 0; i < DUTIES; i++)
            add(experiment, BY_DUTY, workloads[k], duties[i], most);
        for (size_t i = 0; i < n; i++)
            add(experiment, BY_WORKERS, workloads[k], 100, counts[i]);
    }
    for (unsigned duty_pct = 50; duty_pct <= 100; duty_pct += 50) {
        add(experiment, SIDE_BY_SIDE, AGB_DUTY_SPIN, duty_pct, 1);
        if (experiment->has_chain)
            add(experiment, SIDE_BY_SIDE, AGB_DUTY_CHASE, duty_pct, 1);
    }
    double all_s = experiment->run->seconds > 0 ? experiment->run->seconds
                                                : usual_slice_s * MOST_ROUNDS * (double)experiment->n;
    experiment->rounds = all_s / (double)(experiment->n * MOST_ROUNDS) < least_slice_s ? 1 : MOST_ROUNDS;
    experiment->slice_s = fmin(fmax(all_s / (double)(experiment->n * experiment->rounds), least_slice_s), most_slice_s);
}

static agb_status prepare_chain(experiment *experiment, agb_error *err)
{
    enum { LEAST = 64 << 20, MOST = 512 << 20 };
    size_t bytes = 4 * experiment->run->machine->caches.l3;
    bytes = bytes < LEAST ? LEAST : bytes > MOST ? MOST : bytes;
    agb_error small = {0};
    agb_status status = agb_room_map(&experiment->room, bytes, AGB_PAGES_HUGE, "lab: utilization", &small);
    experiment->has_chain = status == AGB_OK;
    if (!experiment->has_chain)
        agb_lab_note(experiment->run->record, "no pointer chase beside the spin: %s", small.text);
    else if (!agb_chain_make(&experiment->chain, &experiment->room, bytes))
        return agb_fail(err, AGB_ERR_MEMORY, "lab: utilization: no memory for a chain of %zu bytes", bytes);
    return AGB_OK;
}

/* ---- Measuring --------------------------------------------------------------------------------------------------- */

static void do_work(void *context, unsigned worker)
{
    experiment *experiment = context;
    const trial *trial = experiment->now;
    agb_duty_do(&experiment->benches[worker], trial->work, trial->duty_pct / 100.0, experiment->slice_s);
}

static void read_ticks(const experiment *experiment, agb_cpu_ticks *out)
{
    const agb_pins *pins = &experiment->crew.pins;
    unsigned workers = experiment->now->method == SIDE_BY_SIDE ? 1 : pins->n;
    if (pins->n > 0)
        agb_cpu_ticks_sum(experiment->run->root, pins->cpu, workers, out);
    else
        agb_cpu_ticks_read(experiment->run->root, out);
}

static agb_status measure(experiment *experiment, trial *trial, agb_error *err)
{
    agb_cpu_ticks before, after;
    experiment->now = trial;
    for (unsigned i = 0; i < trial->workers; i++) {
        agb_duty_begin(&experiment->benches[i], i);
        experiment->benches[i].chain = &experiment->chain;
    }
    trial->at = time(NULL);
    agb_disturbance since = agb_disturbance_begin(experiment->run->root);
    read_ticks(experiment, &before);
    double own_before_s = agb_os_cpu_s();
    double wall_s = agb_team_wall_s(experiment->pool, trial->workers, do_work, experiment);
    trial->own_s += agb_os_cpu_s() - own_before_s;
    read_ticks(experiment, &after);
    trial->noisy += agb_disturbance_seen(&since, trial->workers);
    agb_cpu_ticks passed = agb_cpu_ticks_between(&before, &after);
    agb_cpu_ticks_add(&trial->ticks, &passed);
    uint64_t units = 0;
    for (unsigned i = 0; i < trial->workers; i++) {
        units += experiment->benches[i].units;
        trial->ghz = fmax(trial->ghz, experiment->benches[i].ghz);
    }
    trial->wall_s += wall_s;
    trial->units += units;
    return agb_lab_rate((double)units, wall_s, "utilization", &trial->rate[trial->rounds++], err);
}

/* Every trial once a round, in an order that is drawn anew. */
static agb_status take_rounds(experiment *experiment, agb_error *err)
{
    size_t order[MOST_TRIALS], all = experiment->rounds * experiment->n;
    uint64_t random = 1;
    for (size_t i = 0; i < experiment->n; i++)
        order[i] = i;
    for (size_t done = 0; done < all; done++) {
        if (done % experiment->n == 0)
            agb_lab_shuffle(order, experiment->n, &random);
        trial *trial = &experiment->trials[order[done % experiment->n]];
        if (!agb_lab_progress(experiment->run, agb_duty_name(trial->work), done, all))
            return agb_lab_stopped(experiment->run, err);
        agb_status status = measure(experiment, trial, err);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

/* ---- What it showed ---------------------------------------------------------------------------------------------- */

static double rate_of(const trial *trial)
{
    double rates[MOST_ROUNDS];
    memcpy(rates, trial->rate, sizeof rates);
    return agb_median(rates, trial->rounds);
}

static bool is_noisy(const trial *trial)
{
    return 2 * trial->noisy >= trial->rounds;
}

/* All workers at 100 %: what the workload can do at most here, by either method. */
static double most_of(const experiment *experiment, agb_duty_work work)
{
    double most = 0;
    for (size_t i = 0; i < experiment->n; i++) {
        const trial *trial = &experiment->trials[i];
        if (trial->work == work && trial->duty_pct == 100 && trial->workers == experiment->crew.threads)
            most = fmax(most, rate_of(trial));
    }
    return most;
}

static agb_lab_point point_of(const experiment *experiment, const trial *trial)
{
    double most = most_of(experiment, trial->work);
    agb_summary summary = agb_summarize(trial->rate, trial->rounds, 1);
    return (agb_lab_point){.x = agb_cpu_busy_pct(&trial->ticks), .y = 100 * summary.median / most,
                           .low = 100 * summary.min / most, .high = 100 * summary.max / most,
                           .noisy = is_noisy(trial)};
}

static int by_x(const void *a, const void *b)
{
    double left = ((const agb_lab_point *)a)->x, right = ((const agb_lab_point *)b)->x;
    return left < right ? -1 : left > right;
}

static agb_status add_series(experiment *experiment, agb_lab_chart *chart, method method, agb_duty_work work,
                             agb_error *err)
{
    agb_lab_point points[MOST_TRIALS];
    size_t n = 0;
    for (size_t i = 0; i < experiment->n; i++) {
        const trial *trial = &experiment->trials[i];
        agb_lab_point point = point_of(experiment, trial);
        if (trial->method == method && trial->work == work && !isnan(point.x))
            points[n++] = point;
    }
    qsort(points, n, sizeof *points, by_x);
    agb_lab_series *series = agb_lab_add_series(chart, agb_duty_name(work));
    agb_status status = series ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "lab: utilization: no memory for a curve");
    for (size_t i = 0; i < n && status == AGB_OK; i++)
        status = agb_lab_add_point(experiment->run->record, series, points[i], err);
    return status;
}

static agb_status add_chart(experiment *experiment, method method, const char *title, unsigned first_threads,
                            agb_error *err)
{
    static const agb_lab_axis x = {"reported utilisation", "%", false}, y = {"work, of the most", "%", false};
    agb_lab_chart *chart = agb_lab_add_chart(experiment->run->record, title, x, y);
    if (!chart)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: utilization: no memory for a chart");
    for (size_t i = 0; i < WORKLOADS; i++) {
        agb_status status = add_series(experiment, chart, method, workloads[i], err);
        if (status != AGB_OK)
            return status;
    }
    if (method == BY_WORKERS && first_threads > 0 && first_threads < experiment->crew.threads)
        agb_lab_add_mark(chart, 100.0 * first_threads / experiment->crew.threads, "second threads of cores from here");
    return AGB_OK;
}

static const char csv_title[] = "Measurements";

static agb_status add_measurements(experiment *experiment, agb_error *err)
{
    static const agb_lab_column columns[] = {
        {"timestamp", ""}, {"test_type", ""}, {"cpu_target", ""}, {"duration", ""}, {"workers", ""},
        {"actual_cpu_utilization", ""}, {"bogo_ops_per_sec", ""}, {"total_bogo_ops", ""}, {"error", ""},
        {"method", ""}, {"own_cpu_utilization", ""}, {"clock_ghz", ""}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    agb_lab_table *table = agb_lab_add_table(experiment->run->record, csv_title, columns, COLUMNS);
    agb_status status = table ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "lab: utilization: no memory for a table");
    for (size_t i = 0; i < experiment->n && status == AGB_OK; i++) {
        const trial *trial = &experiment->trials[i];
        unsigned cpus = trial->method == SIDE_BY_SIDE ? 1 : experiment->crew.threads;
        char when[32];
        struct tm parts;
        strftime(when, sizeof when, "%Y-%m-%dT%H:%M:%S", localtime_r(&trial->at, &parts));
        agb_lab_cell cells[COLUMNS] = {
            agb_lab_text("%s", when), agb_lab_text("%s", agb_duty_name(trial->work)), agb_lab_number(trial->duty_pct),
            agb_lab_number(trial->wall_s), agb_lab_number(trial->workers),
            agb_lab_number(agb_cpu_busy_pct(&trial->ticks)), agb_lab_number(rate_of(trial)),
            agb_lab_number((double)trial->units),
            agb_lab_text("%s", is_noisy(trial) ? "noisy: others took processor time" : ""),
            agb_lab_text("%s", method_names[trial->method]), agb_lab_number(100 * trial->own_s / trial->wall_s / cpus),
            agb_lab_number(trial->ghz)};
        status = agb_lab_add_row(table, cells, err);
    }
    return status;
}

static unsigned steps_of(const trial *trial)
{
    return trial->work == AGB_DUTY_SPIN ? AGB_DUTY_SPIN_STEPS : AGB_DUTY_CHASE_STEPS;
}

/* Of processor time, which other processes do not lengthen. */
static double step_ns(const trial *trial)
{
    return trial->units > 0 ? 1e9 * trial->own_s / ((double)trial->units * steps_of(trial)) : NAN;
}

static agb_status add_side_by_side(experiment *experiment, agb_error *err)
{
    static const agb_lab_column columns[] = {
        {"one worker", ""}, {"asked", "%"}, {"reported busy", "%"}, {"million steps a second", ""}, {"a step", "ns"},
        {"state", ""}};
    enum { COLUMNS = sizeof columns / sizeof columns[0] };
    agb_lab_table *table = agb_lab_add_table(experiment->run->record, "A spin and a pointer chase at equal utilisation",
                                             columns, COLUMNS);
    agb_status status = table ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "lab: utilization: no memory for a table");
    for (size_t i = 0; i < experiment->n && status == AGB_OK; i++) {
        const trial *trial = &experiment->trials[i];
        double steps = rate_of(trial) * steps_of(trial);
        agb_lab_cell cells[COLUMNS] = {
            agb_lab_text("%s", agb_duty_name(trial->work)), agb_lab_number(trial->duty_pct),
            agb_lab_number(agb_cpu_busy_pct(&trial->ticks)), agb_lab_number(steps / 1e6),
            agb_lab_number(step_ns(trial)), agb_lab_text(is_noisy(trial) ? "noisy" : "")};
        if (trial->method == SIDE_BY_SIDE)
            status = agb_lab_add_row(table, cells, err);
    }
    return status;
}

/* The work at 50 % reported, between the two points around it; NAN when there are none, or they were disturbed. */
static double work_at_half(const agb_lab_series *series)
{
    for (size_t i = 1; i < series->n; i++) {
        const agb_lab_point *left = &series->points[i - 1], *right = &series->points[i];
        if (left->x <= 50 && right->x >= 50 && right->x > left->x)
            return left->noisy || right->noisy ? NAN
                                               : left->y + (50 - left->x) / (right->x - left->x) * (right->y - left->y);
    }
    return NAN;
}

static agb_text half_text(double pct)
{
    agb_text out = {"not known (disturbed)"};
    if (!isnan(pct))
        snprintf(out.s, sizeof out.s, "%.0f %% of the most", pct);
    return out;
}

static void find_bends(experiment *experiment)
{
    agb_lab_record *record = experiment->run->record;
    unsigned known = 0;
    for (size_t i = 0; i < WORKLOADS && record->n_charts == 2; i++) {
        double duty = work_at_half(&record->charts[0].series[i]), part = work_at_half(&record->charts[1].series[i]);
        if (isnan(duty) && isnan(part))
            continue;
        known++;
        agb_lab_find(record, "%s: the work at 50 %% reported: with all workers at part duty %s, with a part of the "
                     "workers at 100 %% %s", agb_duty_name(workloads[i]), half_text(duty).s, half_text(part).s);
    }
    if (record->measured == 0)
        agb_lab_find(record, "reported utilisation is not available: /proc/stat cannot be read, or stands still");
    else if (known == 0)
        agb_lab_find(record, "nothing can be said of the work at 50 %% reported: the points around it are missing or "
                     "were disturbed");
}

static const trial *find_trial(const experiment *experiment, method method, agb_duty_work work, unsigned duty_pct,
                               unsigned workers)
{
    for (size_t i = 0; i < experiment->n; i++) {
        const trial *trial = &experiment->trials[i];
        if (trial->method == method && trial->work == work && trial->duty_pct == duty_pct && trial->workers == workers)
            return trial;
    }
    return NULL;
}

static void find_causes(experiment *experiment, unsigned first_threads)
{
    agb_lab_record *record = experiment->run->record;
    unsigned most = experiment->crew.threads;
    const trial *one = find_trial(experiment, BY_WORKERS, AGB_DUTY_INT64, 100, 1);
    const trial *all = find_trial(experiment, BY_WORKERS, AGB_DUTY_INT64, 100, most);
    if (first_threads == 0)
        agb_lab_note(record, "the workers are not pinned: where second threads of cores begin is not known");
    else if (first_threads < most)
        agb_lab_find(record, "SMT: %u workers have a core of their own; from there on two share one, and the line "
                     "bends", first_threads);
    else
        agb_lab_find(record, "SMT: none of the %u processors shares a core with another%s", most,
                     experiment->run->machine->hypervisor[0] ? ", as far as a guest sees" : "");
    if (one && all && one->ghz > 0)
        agb_lab_find(record, "turbo: by a chain of additions the clock is about %.2f GHz with 1 worker and %.2f GHz "
                     "with %u (estimate): %s", one->ghz, all->ghz, most, fabs(one->ghz / all->ghz - 1) < 0.05 ?
                     "it bends nothing here" : "the line bends by as much");
}

static void find_side_by_side(experiment *experiment)
{
    const trial *spin = find_trial(experiment, SIDE_BY_SIDE, AGB_DUTY_SPIN, 100, 1);
    const trial *chase = find_trial(experiment, SIDE_BY_SIDE, AGB_DUTY_CHASE, 100, 1);
    if (!spin || !chase)
        return;
    agb_lab_find(experiment->run->record, "reported %.0f %% and %.0f %% busy, a spin does a step in %.2f ns and a "
                 "pointer chase in %.0f: %.0f times less work%s. Utilisation does not tell computing from waiting",
                 agb_cpu_busy_pct(&spin->ticks), agb_cpu_busy_pct(&chase->ticks), step_ns(spin), step_ns(chase),
                 step_ns(chase) / step_ns(spin), is_noisy(spin) || is_noisy(chase) ? " (from noisy points)" : "");
}

static agb_status report(experiment *experiment, unsigned first_threads, agb_error *err)
{
    agb_status status = add_chart(experiment, BY_DUTY, "All workers, at 1 to 100 % duty", first_threads, err);
    if (status == AGB_OK)
        status = add_chart(experiment, BY_WORKERS, "1 to all workers, at 100 % duty", first_threads, err);
    if (status == AGB_OK)
        status = add_side_by_side(experiment, err);
    if (status == AGB_OK)
        status = add_measurements(experiment, err);
    find_bends(experiment);
    find_causes(experiment, first_threads);
    find_side_by_side(experiment);
    return status;
}

static agb_status utilization(agb_lab_run *run, agb_error *err)
{
    experiment *experiment = calloc(1, sizeof *experiment);
    if (!experiment)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: utilization: no memory for its trials");
    experiment->run = run;
    unsigned first_threads = 0;
    agb_status status = agb_lab_crew_of(run, &experiment->crew, err);
    if (status == AGB_OK) {
        unsigned threads = experiment->crew.threads;
        first_threads = agb_pins_by_core(&experiment->crew.pins, run->root);
        experiment->benches = aligned_alloc(128, threads * sizeof *experiment->benches);
        if (!experiment->benches)
            status = agb_fail(err, AGB_ERR_MEMORY, "lab: utilization: no memory for %u workers", threads);
        else
            memset(experiment->benches, 0, threads * sizeof *experiment->benches);
    }
    if (status == AGB_OK)
        status = prepare_chain(experiment, err);
    if (status == AGB_OK)
        status = agb_pool_create(&experiment->pool, experiment->crew.threads,
                                 experiment->crew.pins.n ? experiment->crew.pins.cpu : NULL, err);
    if (status == AGB_OK) {
        plan(experiment);
        status = take_rounds(experiment, err);
    }
    if (status == AGB_OK)
        status = report(experiment, first_threads, err);
    agb_pool_destroy(experiment->pool);
    agb_room_unmap(&experiment->room);
    free(experiment->benches);
    free(experiment);
    return status;
}

/* The measurements alone, a line each, as the original experiment writes them; our own columns stand behind. */
static void write_csv(FILE *to, const agb_lab_record *record)
{
    for (size_t i = 0; i < record->n_tables; i++) {
        const agb_lab_table *table = &record->tables[i];
        if (strcmp(table->title, csv_title) != 0)
            continue;
        for (size_t k = 0; k < table->n_columns; k++)
            fprintf(to, "%s%s", k ? "," : "", table->columns[k].name);
        for (size_t k = 0; k < table->n_rows * table->n_columns; k++) {
            const agb_lab_cell *cell = &table->cells[k];
            fputs(k % table->n_columns ? "," : "\n", to);
            if (cell->is_text)
                fputs(cell->text, to);
            else if (!isnan(cell->number))
                fprintf(to, "%.10g", cell->number);
        }
        fputc('\n', to);
    }
}

static const char *const utilization_options[] = {"threads", "pin", NULL};

const agb_lab agb_lab_utilization = {
    .name = "utilization",
    .summary = "reported CPU utilisation against the work that was really done",
    .prediction = "If \"50 % busy\" meant half of the work, every curve would be the diagonal. Where two threads share "
                  "a core (SMT), the first half of the workers does well more than half of the work; where the clock "
                  "falls as more cores work (turbo), too. On processors without either, the points lie on the line. "
                  "And a pointer chase will be as \"busy\" as a spin while it does a hundredth of the steps.",
    .limits = "/proc/stat counts in ticks of mostly 10 ms, so that a point is good to about 1 %. Work is compared with "
              "itself only, in units of a few microseconds. low and high are the least and the most of three rounds. "
              "Reported is what all processes together used of the workers' processors: what others take is in it, and "
              "marked noisy.",
    .options = utilization_options,
    .run = utilization,
    .csv = write_csv,
};
