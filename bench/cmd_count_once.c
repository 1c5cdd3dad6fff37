/* SPDX-License-Identifier: MIT */
/* aggbench count-once: the program that valgrind and perf stat are put around, see job.h. Not for people: help does not
 * show it. */
#include "commands.h"
#include "job.h"

#include <stdio.h>

static int count_once(const agb_options *options, agb_error *err)
{
    int file;
    unsigned number;
    char end;
    if (sscanf(options->operand, "%d:%u%c", &file, &number, &end) != 2) {
        agb_fail(err, AGB_ERR_ARGUMENT, "count-once: %s: not an order: this command is for aggbench itself",
                 options->operand);
        return AGB_EXIT_USAGE;
    }
    return agb_exit_of(agb_job_do(file, number, err));
}

const agb_command agb_command_count_once = {
    .name = "count-once", .operand = "DESCRIPTOR:JOB", .needs_operand = true, .hidden = true,
    .summary = "for aggbench itself", .about = "One count for a tool that is put around it.",
    .example = "aggbench run SOURCE --counters simulate", .options = agb_no_options, .run = count_once};
