/* SPDX-License-Identifier: MIT */
/* aggbench run: GROUP BY counts through the named aggregators. */
#include "commands.h"
#include "report.h"

static int run(const agb_options *options, agb_error *err)
{
    agb_session session = {.source = options->operand, .aggregators = "all", .table = agb_report_table};
    return agb_session_run(&session, options, err);
}

static const char *const run_options[] = {
    "aggregator", "plugin", "sweep", "group-by", "where", "query", "head", "every", "input-format", "schema", "threads",
    "pin", "repetitions", "precision", "processes", "time-limit", "warmup", "timeout", "memory", "pages",
    "memory-budget", "spill-folder", "batch-rows", "hash", "counters", "events", "record", "perf-check", "ipc-line",
    "twin", "no-twin", "seed", "top", "offset", "groups", "format", "output", "quiet", NULL};

const agb_command agb_command_run = {
    .name = "run", .operand = "SOURCE", .needs_operand = true,
    .summary = "GROUP BY counts through the named aggregators, measured and checked",
    .about = "Counts the rows of each value of a column with every chosen aggregator, checks each answer, and\n"
             "reports wall time with intervals, memory, and pipeline-slot counters where there are some.\n"
             "SOURCE is a file, a folder or glob of files, `-` for text on standard input, or a generator such\n"
             "as synth:hits,rows=1000000 (`aggbench list` shows the loaders).\n"
             "Every aggregator runs in a process of its own: one that fails costs its own row, and exit code 1.",
    .example = "aggbench run synth:hits,rows=10000000 --aggregator naive,prefetch,radix:bits=10",
    .options = run_options, .run = run};
