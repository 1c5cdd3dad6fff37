/* SPDX-License-Identifier: MIT */
/* aggbench matrix: all strategies over a grid of sources. */
#include "commands.h"
#include "matrix.h"
#include "output.h"
#include "process.h"
#include "text.h"

static agb_text time_of(double seconds)
{
    agb_text text;
    if (seconds < 100)
        snprintf(text.s, sizeof text.s, "%.0f s", seconds);
    else if (seconds < 7200)
        snprintf(text.s, sizeof text.s, "%.0f min", seconds / 60);
    else
        snprintf(text.s, sizeof text.s, "%.1f h", seconds / 3600);
    return text;
}

/* A dry run touches nothing: what would refuse the run is no error then, but told with the plan. */
static agb_status open_state(agb_matrix *matrix, agb_error *refusal, agb_error *err)
{
    agb_status status = agb_matrix_state_open(matrix, err);
    if (status == AGB_OK || !matrix->options->dry_run)
        return status;
    *refusal = *err;
    *err = (agb_error){0};
    return AGB_OK;
}

/* Before it starts: what is to be done, and how long that will take. */
static agb_status announce(const agb_matrix *matrix, const agb_error *refusal, FILE *to, double *estimate_s,
                           agb_error *err)
{
    double pilot_s = 0;
    *estimate_s = 0;
    agb_status status = AGB_OK;
    if (matrix->n_done < matrix->n)
        status = agb_matrix_estimate(matrix, estimate_s, &pilot_s, err);
    if (status != AGB_OK || !to)
        return status;
    fprintf(to,
            "matrix: %zu cells of %s rows, %zu done, %zu not possible with so many rows; the rest takes about %s (by a "
            "pilot of %s); state in %s\n",
            matrix->n, agb_text_count(matrix->rows).s, matrix->n_done, matrix->beyond, time_of(*estimate_s).s,
            agb_text_seconds(pilot_s).s, matrix->state_path);
    if (refusal->status != AGB_OK)
        fprintf(to, "matrix: without --dry-run it would be refused: %s\n", refusal->text);
    fflush(to);
    return status;
}

static agb_status write_report(const agb_matrix *matrix, const agb_options *options, agb_output *output, agb_error *err)
{
    agb_status status = agb_output_begin(output, err);
    if (status != AGB_OK)
        return status;
    if (options->format == AGB_FORMAT_JSON)
        agb_report_matrix_json(output->file, matrix);
    else if (options->format == AGB_FORMAT_CSV)
        agb_report_matrix_csv(output->file, matrix);
    else
        agb_report_matrix_table(output->file, matrix);
    return agb_output_close(output, err);
}

/* The report would take the place of all cells. */
static agb_status check_output(const agb_matrix *matrix, const agb_output *output, agb_error *err)
{
    struct stat state;
    if (fstat(matrix->state, &state) == 0 && agb_output_is(output, &state))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--output: %s: is where the state is, too: name two files",
                        output->path);
    return AGB_OK;
}

static int matrix(const agb_options *options, agb_error *err)
{
    agb_matrix matrix;
    agb_output output = {0};
    agb_error refusal = {0};
    double estimate_s;
    agb_status status = agb_matrix_plan(&matrix, options, err);
    if (status == AGB_OK)
        status = agb_output_prepare(&output, options->output, err);
    if (status == AGB_OK)
        status = open_state(&matrix, &refusal, err);
    if (status == AGB_OK)
        status = check_output(&matrix, &output, err);
    agb_older_children older;
    agb_strays_adopt(&older);
    if (status == AGB_OK)
        status = announce(&matrix, &refusal, options->dry_run ? stdout : options->quiet ? NULL : stderr, &estimate_s,
                          err);
    if (status == AGB_OK && !options->dry_run)
        status = agb_matrix_run(&matrix, estimate_s, err);
    agb_strays_end(&older);
    if (status == AGB_OK && !options->dry_run)
        status = write_report(&matrix, options, &output, err);
    int code = agb_exit_of(status);
    agb_output_release(&output);
    agb_matrix_release(&matrix);
    return code;
}

static const char *const matrix_options[] = {
    "rows",   "groups",     "distributions", "threads", "aggregator", "plugin", "repetitions",
    "warmup", "time-limit", "dry-run",       "state",   "timeout",    "memory", "pages",
    "hash",   "batch-rows", "seed",          "format",  "output",     "quiet",  NULL};

const agb_command agb_command_matrix = {
    .name = "matrix",
    .summary = "all strategies over a grid of sources: who is fastest where, by how much",
    .about = "Runs the strategies over generated rows of every distribution, number of groups and number of\n"
             "threads, and tells who is fastest in each cell, with an interval for the lead, and where the lead\n"
             "changes hands. It says how long that will take before it starts. Each cell that is done stands in\n"
             "the state file: whatever ends the command, the same command goes on from there.",
    .example = "aggbench matrix --rows 4M --groups 10..1e6 --aggregator naive,prefetch,radix",
    .interrupted = "what is done stands in its state file: the same command goes on from there",
    .options = matrix_options, .run = matrix};
