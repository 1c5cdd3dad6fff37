/* SPDX-License-Identifier: MIT */
/* aggbench report: JSON results to one page with pictures. */
#include "commands.h"
#include "output.h"
#include "section.h"

#include <stdlib.h>
#include <sys/stat.h>

/* A report over one of its own files would be the last that is seen of it. */
static agb_status check_names(const agb_output *output, const agb_words *files, agb_error *err)
{
    struct stat about;
    for (size_t i = 0; i < files->n; i++)
        if (stat(files->word[i], &about) == 0 && agb_output_is(output, &about))
            return agb_fail(err, AGB_ERR_ARGUMENT, "--output: %s: is one of the files to be read: name another",
                            files->word[i]);
    return AGB_OK;
}

/* Into memory first: a file that turns out to be wrong in its last line leaves no half page, also on a pipe. */
static agb_status write_page(agb_output *output, const agb_words *files, agb_error *err)
{
    char *page = NULL;
    size_t size = 0;
    FILE *to = open_memstream(&page, &size);
    if (!to)
        return agb_fail(err, AGB_ERR_MEMORY, "report: no memory for the page");
    agb_status status = agb_report_page(to, files->word, files->n, err);
    if (fclose(to) != 0 && status == AGB_OK)
        status = agb_fail(err, AGB_ERR_MEMORY, "report: no memory for the page");
    if (status == AGB_OK)
        status = agb_output_begin(output, err);
    if (status == AGB_OK) {
        fwrite(page, 1, size, output->file);
        status = agb_output_close(output, err);
    }
    free(page);
    return status;
}

static int report(const agb_options *options, agb_error *err)
{
    agb_output output = {0};
    agb_status status = agb_output_prepare(&output, options->output, err);
    if (status == AGB_OK)
        status = check_names(&output, &options->operands, err);
    if (status == AGB_OK)
        status = write_page(&output, &options->operands, err);
    agb_output_release(&output);
    return agb_exit_of(status);
}

static const char *const report_options[] = {"output", NULL};

const agb_command agb_command_report = {
    .name = "report", .operand = "FILE.json...", .needs_operand = true,
    .summary = "JSON results as one page with pictures, for any browser",
    .about = "Makes one HTML page of files that run, pivot, lab, doctor ... wrote with --format json: times with\n"
             "intervals and single runs, pipeline slots or their labelled substitutes, phases, curves of sweeps\n"
             "and labs, the published figures beside, and the environment. The page needs no network and no\n"
             "script, is light or dark as the reader's system, and has every picture's figures as text, too.",
    .example = "aggbench report result.json --output report.html",
    .options = report_options, .run = report};
