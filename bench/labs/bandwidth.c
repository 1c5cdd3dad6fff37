/* SPDX-License-Identifier: MIT */
/* How many bytes a second memory gives and takes, over one to all threads: reading, writing, streaming stores, copying,
 * and STREAM's triad, all over one working set far beyond the caches. All workers start together, and bytes are divided
 * by the one wall window that holds all of them. */
#include "interrupt.h"
#include "lab_team.h"
#include "lab_turns.h"
#include "room.h"
#include "kernels.h"

#include <math.h>
#include <stdlib.h>

enum { REPETITIONS = 5, MOST_COUNTS = 16 };

static const uint64_t least_set = 256 << 20;
static const double value = 1, usual_s = 12, least_slot_s = 0.05;

typedef struct bandwidth {
    agb_lab_run *run;
    agb_pool *pool;
    agb_room room;
    size_t set_bytes;
    unsigned counts[MOST_COUNTS];
    size_t n_counts;
    double slot_s;
    uint64_t repeats[AGB_KERNELS * MOST_COUNTS];    /* that fill the slot, once known */
    uint64_t *wrong;                                /* one for each worker, a line apart */

    agb_kernel kernel;                              /* the measurement under way */
    size_t bytes_each;
    uint64_t passes;
} bandwidth;

enum { WORDS_A_LINE = 8 };

/* ---- One measurement --------------------------------------------------------------------------------------------- */

static void stream_slice(void *context, unsigned worker)
{
    bandwidth *lab = context;
    uint64_t wrong = 0;
    for (uint64_t pass = 0; pass < lab->passes && !agb_interrupt_signal(); pass++)
        wrong |= agb_kernel_pass(lab->kernel, lab->room.at + worker * lab->bytes_each, lab->bytes_each, value);
    lab->wrong[(size_t)worker * WORDS_A_LINE] |= wrong;
}

static unsigned threads_of(const void *context, size_t trial)
{
    const bandwidth *lab = context;
    return lab->counts[trial % lab->n_counts];
}

static agb_status measure(void *context, size_t trial, double *gbps, agb_error *err)
{
    bandwidth *lab = context;
    unsigned threads = threads_of(context, trial);
    lab->kernel = (agb_kernel)(trial / lab->n_counts);
    lab->bytes_each = agb_kernel_slice(lab->set_bytes, threads);
    if (lab->repeats[trial] == 0) {    /* the first turn's own warm-up tells how many passes fill the slot */
        lab->passes = 1;
        double once_s = agb_team_wall_s(lab->pool, threads, stream_slice, lab);
        lab->repeats[trial] = once_s > 0 && once_s < lab->slot_s ? (uint64_t)ceil(lab->slot_s / once_s) : 1;
    }
    lab->passes = lab->repeats[trial];
    double wall_s = agb_team_wall_s(lab->pool, threads, stream_slice, lab), rate;
    double bytes = (double)lab->bytes_each * threads * (double)lab->passes;
    agb_status status = agb_lab_rate(bytes, wall_s, agb_kernel_name(lab->kernel), &rate, err);
    *gbps = rate / 1e9;
    for (unsigned worker = 0; worker < threads && status == AGB_OK; worker++)
        if (lab->wrong[(size_t)worker * WORDS_A_LINE])
            status = agb_fail(err, AGB_ERR_IO, "lab: bandwidth: memory returned other values than were written: this "
                                               "machine's memory is faulty: run a memory test");
    return status;
}

/* ---- The record -------------------------------------------------------------------------------------------------- */

/* The fewest threads that reach nine tenths of the most that any number reaches. */
static const agb_lab_point *knee_of(const agb_lab_series *series, const agb_lab_point **best)
{
    *best = &series->points[0];
    for (size_t i = 1; i < series->n; i++)
        *best = series->points[i].y > (*best)->y ? &series->points[i] : *best;
    const agb_lab_point *knee = &series->points[0];
    while (knee->y < 0.9 * (*best)->y)
        knee++;
    return knee;
}

static agb_status add_summary(agb_lab_run *run, const agb_lab_chart *chart, agb_error *err)
{
    static const agb_lab_column columns[] = {{"", ""}, {"one thread", "GB/s"}, {"most", "GB/s"}, {"by threads", ""},
                                             {"knee at threads", ""}, {"most, with hidden reads", "GB/s"}};
    agb_lab_table *table = agb_lab_add_table(run->record, "the knee: the fewest threads that reach 90 % of the most",
                                             columns, 6);
    agb_status status = AGB_OK;
    for (size_t i = 0; i < chart->n_series && status == AGB_OK; i++) {
        const agb_lab_point *best, *knee = knee_of(&chart->series[i], &best);
        double hidden = agb_kernel_hidden_bytes((agb_kernel)i, best->y);
        agb_lab_cell row[] = {agb_lab_text("%s", chart->series[i].name), agb_lab_number(chart->series[i].points[0].y),
                              agb_lab_number(best->y), agb_lab_number(best->x), agb_lab_number(knee->x),
                              agb_lab_number(best->y + hidden)};
        status = agb_lab_add_row(table, row, err);
    }
    const agb_lab_point *read, *write, *past, *knee = knee_of(&chart->series[AGB_KERNEL_READ], &read);
    knee_of(&chart->series[AGB_KERNEL_WRITE], &write);
    knee_of(&chart->series[AGB_KERNEL_PAST], &past);
    if (chart->series[AGB_KERNEL_READ].n > 1)
        agb_lab_find(run->record, "reading reaches %s GB/s by %.0f thread%s, the knee is at %.0f; one alone reads %s%s",
                     agb_text_number(read->y).s, read->x, read->x == 1 ? "" : "s", knee->x,
                     agb_text_number(chart->series[AGB_KERNEL_READ].points[0].y).s, agb_lab_doubt(read, knee));
    else
        agb_lab_find(run->record, "one thread reads %s GB/s [%s, %s]; a knee needs two or more to show%s",
                     agb_text_number(read->y).s, agb_text_number(read->low).s, agb_text_number(read->high).s,
                     agb_lab_doubt(read, knee));
    agb_lab_find(run->record, "streaming stores write %s as fast as ordinary ones: %s%s", agb_lab_times(past, write).s,
                 past->y > 1.2 * write->y && agb_lab_differ(past, write)
                     ? "that is the hidden read of each line, which they do without"
                     : "no hidden read shows; either this processor leaves it out for whole lines, or something else "
                       "is the limit", agb_lab_doubt(past, write));
    agb_lab_note(run->record, "counted are the bytes that loads and stores name. The column `with hidden reads` adds "
                 "the line that an ordinary store reads before it writes: write 2, copy 1.5, triad 1.33 times; tools "
                 "that count at the memory controller show that");
    return status;
}

static agb_status add_record(bandwidth *lab, const agb_lab_point *points, agb_error *err)
{
    char title[120];
    snprintf(title, sizeof title, "bytes over one wall window, working set of %.20s",
             agb_text_binary(lab->set_bytes).s);
    agb_lab_chart *chart = agb_lab_add_chart(lab->run->record, title, (agb_lab_axis){"threads", "", false},
                                             (agb_lab_axis){"bandwidth", "GB/s", false});
    agb_status status = AGB_OK;
    for (size_t i = 0; i < AGB_KERNELS * lab->n_counts && status == AGB_OK; i++) {
        agb_lab_series *series = i % lab->n_counts == 0
                                     ? agb_lab_add_series(chart, agb_kernel_name((agb_kernel)(i / lab->n_counts)))
                                     : chart ? &chart->series[i / lab->n_counts] : NULL;
        status = agb_lab_add_point(lab->run->record, series, points[i], err);
    }
    return status == AGB_OK ? add_summary(lab->run, chart, err) : status;
}

/* ---- The lab ----------------------------------------------------------------------------------------------------- */

static void fill_slice(void *context, unsigned worker)
{
    bandwidth *lab = context;
    agb_kernel_pass(AGB_KERNEL_WRITE, lab->room.at + worker * lab->bytes_each, lab->bytes_each, value);
}

/* Every worker touches its own part first, so that on a machine of several nodes it lies near. */
static agb_status prepare(bandwidth *lab, agb_error *err)
{
    const agb_options *options = lab->run->options;
    size_t beyond = 4 * lab->run->machine->caches.l3;
    agb_lab_crew crew;
    lab->set_bytes = options->working_set ? options->working_set : beyond > least_set ? beyond : least_set;
    agb_pages pages = agb_option_given(options, "pages") ? (agb_pages)options->pages : AGB_PAGES_HUGE;
    agb_status status = agb_lab_crew_of(lab->run, &crew, err);
    if (status == AGB_OK)
        status = agb_room_map(&lab->room, lab->set_bytes, pages, "lab: bandwidth", err);
    if (status == AGB_OK)
        status = agb_pool_create(&lab->pool, crew.threads, crew.pins.n ? crew.pins.cpu : NULL, err);
    if (status != AGB_OK)
        return status;
    lab->wrong = calloc((size_t)crew.threads * WORDS_A_LINE, sizeof *lab->wrong);
    if (!lab->wrong)
        return agb_fail(err, AGB_ERR_MEMORY, "lab: bandwidth: no memory for %u workers: free some, and run again",
                        crew.threads);
    lab->n_counts = agb_lab_worker_counts(crew.threads, lab->counts);
    double whole_s = lab->run->seconds > 0 ? lab->run->seconds : usual_s;
    lab->slot_s = fmax(least_slot_s, whole_s / (double)(AGB_KERNELS * lab->n_counts) / (REPETITIONS + 1));
    lab->bytes_each = agb_kernel_slice(lab->set_bytes, crew.threads);
    agb_team_wall_s(lab->pool, crew.threads, fill_slice, lab);
    lab->bytes_each = lab->set_bytes;
    fill_slice(lab, 0);    /* what the rounding left between the slices */
    return AGB_OK;
}

static agb_status run(agb_lab_run *run, agb_error *err)
{
    bandwidth lab = {.run = run};
    agb_lab_point points[AGB_KERNELS * MOST_COUNTS] = {{0}};
    agb_status status = prepare(&lab, err);
    agb_lab_turns turns = {.what = "streaming", .trials = AGB_KERNELS * lab.n_counts, .repetitions = REPETITIONS,
                           .threads_of = threads_of, .measure = measure, .context = &lab};
    for (size_t i = 0; i < turns.trials; i++)
        points[i].x = lab.counts[i % lab.n_counts];
    if (status == AGB_OK)
        status = agb_lab_take_turns(run, &turns, points, err);
    if (status == AGB_OK)
        status = add_record(&lab, points, err);
    agb_pool_destroy(lab.pool);
    agb_room_unmap(&lab.room);
    free(lab.wrong);
    return status;
}

static const char *const options[] = {"seconds", "threads", "pin", "pages", "working-set", NULL};

const agb_lab agb_lab_bandwidth = {
    .name = "bandwidth",
    .summary = "bytes a second from and to memory, over one to all threads",
    .prediction = "one thread cannot fill the memory's bandwidth; a few threads can, and more add nothing: the knee. "
                  "Ordinary writes reach half to two thirds of what reading does where each line is read before it is "
                  "written; streaming stores win that back",
    .limits = "intervals are 95 % of the median of 5; points take turns. Some processors leave out the hidden read for "
              "whole lines by themselves, which cannot be seen from here: where counters of the memory controller can "
              "be read they tell. In a virtual machine the neighbours use the same memory",
    .options = options, .run = run};
