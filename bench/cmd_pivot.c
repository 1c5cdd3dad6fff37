/* SPDX-License-Identifier: MIT */
/* aggbench pivot: the published experiment, as one command. */
#include "commands.h"
#include "machine.h"
#include "published.h"
#include "report_pivot.h"
#include "text.h"

#include <inttypes.h>

/* Bytes that the three contestants hold together with the column, its cache-resident twin and the reference answer, for
 * each row of hits: 60 were measured at full size. */
enum { BYTES_PER_ROW = 72, LEAST_ROWS = 1000 };

/* The whole command ends well within three minutes. */
static const double most_s = 140;

static uint64_t rows_that_fit(uint64_t memory_bytes)
{
    uint64_t rows = AGB_PUBLISHED_ROWS;
    while (rows > LEAST_ROWS && memory_bytes < rows * BYTES_PER_ROW)
        rows /= 2;
    return rows;
}

static void defaults(agb_options *options)
{
    options->pages = AGB_PAGES_HUGE;
}

static int pivot(const agb_options *options, agb_error *err)
{
    char source[64], note[400];
    agb_session session = {.source = options->operand, .aggregators = "naive,prefetch,radix", .most_s = most_s,
                           .plain_progress = true, .no_twin = true,
                           .published = true, .substitutes = true, .table = agb_report_pivot};
    if (!session.source) {
        agb_machine machine;
        agb_machine_read(&machine);
        uint64_t rows = rows_that_fit(machine.memory_available_bytes);
        snprintf(source, sizeof source, "synth:hits,rows=%" PRIu64, rows);
        session.source = source;
        if (rows < AGB_PUBLISHED_ROWS) {
            snprintf(note, sizeof note, "only %s of the published %s rows, because %s of memory are free and the whole "
                     "takes %s", agb_text_count(rows).s, agb_text_count(AGB_PUBLISHED_ROWS).s,
                     agb_text_bytes(machine.memory_available_bytes).s,
                     agb_text_bytes((uint64_t)AGB_PUBLISHED_ROWS * BYTES_PER_ROW).s);
            session.note = note;
        }
    }
    return agb_session_run(&session, options, err);
}

static const char *const pivot_options[] = {
    "aggregator", "group-by", "where", "input-format", "threads", "pin", "repetitions", "precision", "processes",
    "warmup", "timeout", "memory", "pages", "memory-budget", "spill-folder", "batch-rows", "hash", "counters", "events",
    "record", "perf-check", "ipc-line", "twin", "no-twin", "seed", "top", "groups", "format", "output", "quiet", NULL};

const agb_command agb_command_pivot = {
    .name = "pivot", .operand = "SOURCE",
    .summary = "the published experiment, published figures beside the measured ones",
    .about = "Runs SELECT count(*), UserID FROM hits GROUP BY UserID through a simple, a prefetching and a\n"
             "partitioned hash table on one pinned core, with warm memory and huge pages, and lays the published\n"
             "figures beside the measured ones. Without SOURCE it generates hits-like rows of the published size\n"
             "(99,997,497 rows, 17,630,976 groups) when memory allows, else the largest fraction 1/2, 1/4 ...\n"
             "that fits. With SOURCE it runs on real files, such as ClickBench's hits.parquet.",
    .example = "aggbench pivot hits.parquet",
    .options = pivot_options, .defaults = defaults, .run = pivot};
