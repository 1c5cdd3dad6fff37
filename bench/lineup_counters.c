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
    return AGB_OK;
}

agb_status agb_lineup_set_counters(agb_lineup *lineup, const agb_options *options, agb_error *err)
{
    agb_experiment *experiment = &lineup->experiment;
    agb_status status = AGB_OK;
    ssize_t length = readlink("/proc/self/exe", lineup->program, sizeof lineup->program - 1);
    experiment->program = length > 0 ? lineup->program : "aggbench";
    experiment->plugins = options->plugins;
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
    if (status == AGB_OK && options->events)
        status = agb_counters_add_events(&lineup->support, options->events, err);
    if (status == AGB_OK && (options->counters == AGB_COUNTERS_AUTO || options->counters == AGB_COUNTERS_PMU))
        agb_counters_calibrate(&lineup->support);
    return status;
}
