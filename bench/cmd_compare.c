/* SPDX-License-Identifier: MIT */
/* aggbench compare: two JSON results of `run`, and whether anything became slower. */
#include "commands.h"
#include "compare.h"
#include "outputs.h"

/* Whatever keeps it from comparing is 2, so that 1 means a regression and nothing else. */
static int compare(const agb_options *options, agb_error *err)
{
    agb_compare compare;
    agb_output output = {0};
    agb_status status = agb_compare_files(&compare, options->operand, options->operands.word[1], options->force, err);
    if (status == AGB_OK)
        status = agb_output_prepare_apart(&output, "output", options->output, options->operands.word,
                                          options->operands.n, err);
    if (status == AGB_OK)
        status = agb_output_begin(&output, err);
    if (status == AGB_OK) {
        if (options->format == AGB_FORMAT_JSON)
            agb_report_compare_json(output.file, &compare);
        else if (options->format == AGB_FORMAT_CSV)
            agb_report_compare_csv(output.file, &compare);
        else
            agb_report_compare_table(output.file, &compare);
        status = agb_output_close(&output, err);
    }
    int code = status != AGB_OK ? AGB_EXIT_USAGE : compare.regressions > 0 ? AGB_EXIT_FAILED : AGB_EXIT_FINE;
    agb_output_release(&output);
    agb_compare_release(&compare);
    return code;
}

static const char *const compare_options[] = {"force", "format", "output", NULL};

const agb_command agb_command_compare = {
    .name = "compare", .operand = "OLD.json NEW.json", .needs_operand = true,
    .summary = "two JSON results: speed-ups with intervals, regressions flagged",
    .about = "Lays two files that run or pivot wrote with --format json beside each other: how much faster each\n"
             "contestant became, with a 95 % interval, and whether that is more than noise. Files of different\n"
             "machines, sources or settings are refused, and what differs is said.\n"
             "Exit codes: 0 no regression, 1 at least one (slower beyond the noise, or it fails now), 2 nothing\n"
             "was compared.",
    .example = "aggbench compare before.json after.json",
    .options = compare_options, .run = compare};
