/* SPDX-License-Identifier: MIT */
/* This machine's own line between computing and waiting: the rate of a loop that only computes, of one that only waits
 * for memory, and the middle between them, which is saved for run and doctor. Mixtures of both show what lies
 * between. */
#include "counters.h"
#include "interrupt.h"
#include "ipc_line.h"
#include "known_loops.h"
#include "lab_team.h"
#include "lab_turns.h"
#include "process.h"

#include <math.h>
#include <time.h>

enum { REPETITIONS = 7, HOPS = 20000 };

static const double usual_s = 5, least_slot_s = 0.02;
static const size_t least_set = 128 << 20;

/* Turns of the computing loop after each load. */
static const uint64_t mixtures[] = {0, 1, 4, 16, 64, 256, 1024};
enum { MIXTURES = sizeof mixtures / sizeof mixtures[0], COMPUTE = MIXTURES, TRIALS };

typedef struct calibration {
    agb_lab_run *run;
    agb_room room;
    agb_chain chain;
    double slot_s;
    double units[TRIALS];        /* hops, or of COMPUTE turns, that fill the slot */
} calibration;

/* ---- Rates without a PMU ----------------------------------------------------------------------------------------- */

/* In pieces, so that it can be interrupted. Returns the instructions. */
static double run_trial(calibration *lab, size_t trial, uint64_t units)
{
    static const uint64_t piece = 1 << 18;
    uint64_t left = units;
    for (uint64_t now; left > 0 && !agb_interrupt_signal(); left -= now) {
        now = left < piece ? left : piece;
        if (trial == COMPUTE)
            agb_loop_compute(now);
        else
            agb_loop_mixed(&lab->chain, now, mixtures[trial]);
    }
    return trial == COMPUTE ? (double)units * AGB_COMPUTE_INSTRUCTIONS
                            : agb_loop_mixed_instructions(units, mixtures[trial]);
}

static agb_status measure(void *context, size_t trial, double *per_ns, agb_error *err)
{
    calibration *lab = context;
    if (lab->units[trial] == 0) {
        double start_s = agb_now_s();
        run_trial(lab, trial, HOPS / 10);
        double once_s = agb_now_s() - start_s;
        lab->units[trial] = once_s > 0 ? fmax(1, HOPS / 10 * lab->slot_s / once_s) : HOPS;
    }
    double start_s = agb_now_s();
    double instructions = run_trial(lab, trial, (uint64_t)lab->units[trial]), rate;
    agb_status status = agb_lab_rate(instructions, agb_now_s() - start_s, "calibrate", &rate, err);
    *per_ns = rate / 1e9;
    return status;
}

/* ---- Instructions a cycle ---------------------------------------------------------------------------------------- */

/* One loop, once for each pass of the counters. NAN where they do not give it. */
static double count_ipc(calibration *lab, const agb_counter_support *support, size_t trial)
{
    agb_repetition_counts counts[AGB_MOST_PASSES + AGB_MOST_USER_EVENTS];
    agb_counters *counters;
    agb_metrics metrics;
    unsigned passes = agb_counters_passes(support);
    if (!support->available || agb_counters_create(&counters, support, 1, NULL) != AGB_OK)
        return NAN;
    const agb_observer *observer = agb_counters_observer(counters);
    for (unsigned pass = 0; pass < passes; pass++) {
        agb_counters_arm(counters, 0, pass);
        observer->enter(observer->context, 0);
        run_trial(lab, trial, (uint64_t)lab->units[trial]);
        observer->leave(observer->context, 0);
        agb_counters_collect(counters, &counts[pass]);
    }
    agb_metrics_compute(support, counts, passes, -1, &metrics);
    agb_counters_destroy(counters);
    return metrics.has[AGB_IPC] ? metrics.value[AGB_IPC] : NAN;
}

/* ---- The line ---------------------------------------------------------------------------------------------------- */

/* Rates differ by factors, so their middle is the geometric one. */
static void save(calibration *lab, agb_ipc_unit unit, double compute, double wait, bool noisy)
{
    agb_lab_record *record = lab->run->record;
    agb_ipc_line line = {.unit = unit, .cpu_bound = compute, .memory_bound = wait, .midpoint = sqrt(compute * wait),
                         .measured_s = (int64_t)time(NULL)};
    agb_error err = {0};
    char path[4096];
    agb_ipc_line_machine(lab->run->machine, line.machine, sizeof line.machine);
    agb_lab_find(record, "computing reaches %s %s here, waiting %s: this machine's line between them is %s",
                 agb_text_number(compute).s, agb_ipc_unit_words(unit), agb_text_number(wait).s,
                 agb_text_number(line.midpoint).s);
    if (noisy)
        agb_lab_note(record, "the line was not saved, because its ends are noisy: run it again when nothing else does");
    else if (agb_ipc_line_save(&line, &err) != AGB_OK || agb_ipc_line_path(path, sizeof path, &err) != AGB_OK)
        agb_lab_note(record, "the line could not be saved: %s", err.text);
    else
        agb_lab_note(record, "saved for `run --ipc-line` and `doctor` in %s", path);
}

static agb_status add_line(calibration *lab, const agb_lab_point *points, agb_error *err)
{
    static const agb_lab_column columns[] = {{"workload", ""}, {"instructions a nanosecond", ""},
                                             {"instructions a cycle", ""}};
    agb_counter_support support;
    agb_counters_probe(&support);
    double compute_ipc = count_ipc(lab, &support, COMPUTE), wait_ipc = count_ipc(lab, &support, 0);
    double compute = points[COMPUTE].y, wait = points[0].y;
    bool noisy = points[COMPUTE].noisy || points[0].noisy;
    agb_lab_table *table = agb_lab_add_table(lab->run->record, "the two ends, and the line between them", columns, 3);
    const agb_lab_cell rows[3][3] = {
        {agb_lab_text("only computes"), agb_lab_number(compute), agb_lab_number(compute_ipc)},
        {agb_lab_text("midpoint"), agb_lab_number(sqrt(compute * wait)), agb_lab_number(sqrt(compute_ipc * wait_ipc))},
        {agb_lab_text("only waits for memory"), agb_lab_number(wait), agb_lab_number(wait_ipc)}};
    agb_status status = AGB_OK;
    for (size_t i = 0; i < 3 && status == AGB_OK; i++)
        status = agb_lab_add_row(table, rows[i], err);
    bool counted = isfinite(compute_ipc) && isfinite(wait_ipc) && compute_ipc > wait_ipc;
    if (status == AGB_OK && counted)
        save(lab, AGB_IPC_PER_CYCLE, compute_ipc, wait_ipc, noisy);
    else if (status == AGB_OK)
        save(lab, AGB_IPC_PER_NS, compute, wait, noisy);
    if (!counted)
        agb_lab_note(lab->run->record, "instructions a cycle could not be had: %s",
                     support.reason[0] ? support.reason : "the counters do not give them");
    return status;
}

static agb_status add_record(calibration *lab, agb_lab_point *points, agb_error *err)
{
    agb_lab_chart *chart = agb_lab_add_chart(lab->run->record, "additions after each load that waits for memory",
                                             (agb_lab_axis){"additions a load", "", true},
                                             (agb_lab_axis){"rate", "instructions a ns", true});
    agb_lab_series *mixed = agb_lab_add_series(chart, "mixture");
    agb_lab_series *compute = agb_lab_add_series(chart, "only additions");
    agb_status status = AGB_OK;
    for (size_t i = 0; i < MIXTURES && status == AGB_OK; i++) {
        points[i].x = i == 0 ? 1 : 8 * (double)mixtures[i];    /* none stands at 1, as the axis is logarithmic */
        points[COMPUTE].x = points[i].x;
        status = agb_lab_add_point(lab->run->record, mixed, points[i], err);
    }
    if (status == AGB_OK)
        status = agb_lab_add_point(lab->run->record, compute, points[COMPUTE], err);
    return status == AGB_OK ? add_line(lab, points, err) : status;
}

/* ---- The lab ----------------------------------------------------------------------------------------------------- */

static agb_status prepare(calibration *lab, agb_error *err)
{
    size_t beyond = 4 * lab->run->machine->caches.l3, bytes = beyond > least_set ? beyond : least_set;
    double whole_s = lab->run->seconds > 0 ? lab->run->seconds : usual_s;
    lab->slot_s = fmax(least_slot_s, whole_s / REPETITIONS / TRIALS);
    agb_status status = agb_lab_pin_self(lab->run, err);
    if (status == AGB_OK)
        status = agb_room_map(&lab->room, bytes, AGB_PAGES_HUGE, "lab: calibrate", err);
    if (status == AGB_OK && !agb_chain_make(&lab->chain, &lab->room, bytes))
        status = agb_fail(err, AGB_ERR_MEMORY, "lab: calibrate: no memory for the order of the nodes: free some, and "
                                               "run again");
    return status;
}

static agb_status run(agb_lab_run *run, agb_error *err)
{
    calibration lab = {.run = run};
    agb_lab_point points[TRIALS] = {{0}};
    agb_lab_turns turns = {.what = "the two ends", .trials = TRIALS, .repetitions = REPETITIONS, .threads = 1,
                           .measure = measure, .context = &lab};
    agb_status status = prepare(&lab, err);
    if (status == AGB_OK)
        status = agb_lab_take_turns(run, &turns, points, err);
    if (status == AGB_OK)
        status = add_record(&lab, points, err);
    agb_room_unmap(&lab.room);
    return status;
}

static const char *const options[] = {"seconds", "pin", NULL};

const agb_lab agb_lab_calibrate = {
    .name = "calibrate",
    .summary = "this machine's line between computing and waiting, for run and doctor",
    .prediction = "a core that only computes does several instructions a cycle, one that waits for memory one in a "
                  "hundred cycles; top shows 100 % for both. Additions after a load are free until they take as long "
                  "as the load",
    .limits = "intervals are 95 % of the median of 7; points take turns. Without a PMU instructions are known from how "
              "the loops are built, and per nanosecond they depend on the clock rate of the moment. One thread; the "
              "first point of the mixture has no additions at all",
    .options = options, .run = run};
