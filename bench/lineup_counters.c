/* SPDX-License-Identifier: MIT */
/* What counts in an experiment: from --counters, --events and --record to what the machine, or a file, can give. */
#include "lineup.h"

#include <unistd.h>

static agb_status replay(agb_lineup *lineup, const agb_options *options, agb_error *err)
{
    agb_status status = agb_replay_load(&lineup->replay, options->replay, err);
    if (status != AGB_OK)
        return status;
    lineup->support = lineup->replay.support;
    lineup->experiment.replay = &lineup->replay;
    return AGB_OK;
}

static agb_status check_simulator(agb_error *err)
{
    agb_machine machine;
    char reason[320];
    agb_machine_read(&machine);
    agb_simulate_reason(machine.flags, reason, sizeof reason);
    return reason[0] ? agb_fail(err, AGB_ERR_UNSUPPORTED, "--counters simulate: %s", reason) : AGB_OK;
}

/* Options that need counts of this run. */
static agb_status check_wishes(const agb_lineup *lineup, const agb_options *options, agb_error *err)
{
    bool off = options->counters == AGB_COUNTERS_OFF, replayed = options->counters == AGB_COUNTERS_REPLAY;
    if (options->events && (off || replayed))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: nothing is counted with --counters %s: leave that out",
                        options->events, off ? "off" : "replay");
    if (options->record && (off || replayed))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--record: %s: nothing is counted with --counters %s: leave that out",
                        options->record, off ? "off" : "replay");
    if (options->record && !lineup->support.available)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "--record: %s: nothing can be counted here: %s", options->record,
                        lineup->support.reason);
    if (options->counters == AGB_COUNTERS_PMU && !lineup->support.available)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "--counters pmu: %s", lineup->support.reason);
    return options->simulate ? check_simulator(err) : AGB_OK;
}

/* Events have names, so they are demanded, not wished for. */
static agb_status check_events(const agb_counter_support *support, agb_error *err)
{
    for (unsigned i = 0; i < support->events; i++) {
        if (!support->event[i].counts)
            return agb_fail(err, AGB_ERR_UNSUPPORTED, "--events: %s: cannot be counted: %s", support->event[i].name,
                            support->event[i].reason);
    }
    return AGB_OK;
}

static agb_status load_ipc_line(agb_lineup *lineup, agb_error *err)
{
    agb_machine machine;
    agb_machine_read(&machine);
    agb_status status = agb_ipc_line_load(&lineup->ipc_line, &machine, err);
    lineup->experiment.ipc_line = &lineup->ipc_line;
    return status == AGB_ERR_NOT_FOUND ? AGB_ERR_UNSUPPORTED : status;    /* the command line is not at fault */
}

agb_status agb_lineup_set_counters(agb_lineup *lineup, const agb_options *options, agb_error *err)
{
    agb_experiment *experiment = &lineup->experiment;
    agb_status status = AGB_OK;
    ssize_t length = readlink("/proc/self/exe", lineup->program, sizeof lineup->program - 1);
    experiment->program = length > 0 ? lineup->program : "aggbench";
    experiment->plugin_words = options->plugins;
    experiment->estimate = options->estimate;
    experiment->simulate = options->simulate;
    experiment->perf_check = options->perf_check;
    if (options->counters == AGB_COUNTERS_REPLAY)
        status = replay(lineup, options, err);
    else
        agb_counters_probe(&lineup->support);
    if (options->counters != AGB_COUNTERS_OFF)
        experiment->support = &lineup->support;
    if (status == AGB_OK)
        status = check_wishes(lineup, options, err);
    if (status == AGB_OK && options->ipc_line)
        status = load_ipc_line(lineup, err);
    if (status == AGB_OK && options->events)
        status = agb_counters_add_events(&lineup->support, options->events, err);
    if (status == AGB_OK)
        status = check_events(&lineup->support, err);
    if (status == AGB_OK && (options->counters == AGB_COUNTERS_AUTO || options->counters == AGB_COUNTERS_PMU))
        agb_counters_calibrate(&lineup->support);
    return status;
}

/* ---- Afterwards -------------------------------------------------------------------------------------------------- */

static agb_status check_result(const agb_options *options, const agb_results *results, const agb_result *result,
                               agb_error *err)
{
    char label[256];
    agb_result_label(result, label, sizeof label);
    if (options->estimate && !result->estimate.has)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "--counters estimate: %s: %s", label, result->estimate.reason);
    if (options->simulate && !result->simulation.has)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "--counters simulate: %s: %s", label, result->simulation.reason);
    if (options->counters == AGB_COUNTERS_PMU && !agb_metrics_any(&result->metrics))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "--counters pmu: %s: nothing was counted: %s", label,
                        result->metrics.reason);
    for (unsigned i = 0; i < results->support.events; i++) {
        if (!result->metrics.has_event[i])
            return agb_fail(err, AGB_ERR_UNSUPPORTED, "--events: %s: %s: was not counted: %s",
                            results->support.event[i].name, label, result->metrics.reason);
    }
    return AGB_OK;
}

agb_status agb_lineup_check_demands(const agb_options *options, const agb_results *results, agb_error *err)
{
    agb_status status = AGB_OK;
    for (size_t i = 0; i < results->n_results && status == AGB_OK; i++) {
        if (results->results[i].state == AGB_STATE_OK)
            status = check_result(options, results, &results->results[i], err);
    }
    return status;
}
