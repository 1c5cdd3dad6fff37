/* SPDX-License-Identifier: MIT */
/* What `run` and `pivot` share: line up, measure, report. */
#include "commands.h"

#include "outputs.h"
#include "process.h"
#include "progress.h"
#include "report.h"

int agb_exit_of(agb_status status)
{
    if (status == AGB_OK)
        return AGB_EXIT_FINE;
    return status == AGB_ERR_ARGUMENT || status == AGB_ERR_NOT_FOUND ? AGB_EXIT_USAGE : AGB_EXIT_FAILED;
}

static agb_status write_report(const agb_session *session, const agb_options *options, const agb_results *results,
                               agb_output *output, agb_error *err)
{
    agb_status status = agb_output_begin(output, err);
    if (status != AGB_OK)
        return status;
    if (options->format == AGB_FORMAT_JSON)
        agb_report_json(output->file, results);
    else if (options->format == AGB_FORMAT_CSV)
        agb_report_csv(output->file, results);
    else
        session->table(output->file, results);
    return agb_output_close(output, err);
}

static agb_status measure(const agb_session *session, const agb_options *options, agb_lineup *lineup,
                          agb_results *results, agb_error *err)
{
    agb_progress_printer printer = agb_progress_printer_of(stderr, options->quiet, session->plain_progress);
    if (printer.style != AGB_PROGRESS_NONE) {
        lineup->experiment.progress = agb_progress_print;
        lineup->experiment.context = &printer;
    }
    lineup->experiment.most_s = options->time_limit_s ? (double)options->time_limit_s : session->most_s;
    lineup->experiment.demanded = options->estimate || options->simulate;
    if (session->note)
        agb_results_note(&lineup->warnings, "%s", session->note);
    bool nothing_named = options->counters == AGB_COUNTERS_AUTO && !options->estimate && !options->simulate;
    if (session->substitutes && nothing_named && !lineup->support.available)
        lineup->experiment.estimate = lineup->experiment.simulate = true;
    if (session->no_twin)
        lineup->experiment.twin = options->twin;
    agb_older_children older;
    agb_strays_adopt(&older);
    agb_status status = agb_lineup_run(lineup, results, err);
    results->published = session->published;
    agb_strays_end(&older);
    agb_progress_end(&printer);
    return status;
}

int agb_session_run(const agb_session *session, const agb_options *options, agb_error *err)
{
    agb_lineup lineup = {0};
    agb_results results = {0};
    agb_outputs outputs = {0};
    agb_status status = agb_lineup_create(&lineup, options, session->source, session->aggregators, err);
    bool shares = options->process_of;    /* gives its runs to another process, and writes nothing itself */
    if (status == AGB_OK && !shares)
        status = agb_outputs_prepare(&outputs, options, lineup.experiment.sources, lineup.experiment.n_sources, err);
    int code = agb_exit_of(status);
    if (status == AGB_OK) {
        lineup.experiment.groups = outputs.has_groups ? &outputs.groups : NULL;
        status = measure(session, options, &lineup, &results, err);
        bool unknown_column = status == AGB_ERR_NOT_FOUND;    /* what else has a name was looked for before */
        if (status == AGB_OK && !shares)
            status = write_report(session, options, &results, &outputs.report, err);
        if (status == AGB_OK && outputs.has_record && !shares)
            status = agb_record_write(&outputs.record, &results, err);
        if (status == AGB_OK && !shares)
            status = agb_lineup_check_demands(options, &results, err);
        code = status == AGB_OK && (shares || agb_results_all_ok(&results)) ? AGB_EXIT_FINE : AGB_EXIT_FAILED;
        if (unknown_column)
            code = AGB_EXIT_USAGE;
    }
    agb_results_release(&results);
    agb_outputs_release(&outputs);
    agb_lineup_release(&lineup);
    return code;
}
