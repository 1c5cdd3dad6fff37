/* SPDX-License-Identifier: MIT */
/* Writes what was counted as a file for replay: see replay.h. */
#include "replay.h"

#include "json_text.h"
#include "slots.h"

static json_t *counts_json(const agb_counts *counts, const agb_pass *pass)
{
    json_t *values = json_object();
    for (size_t i = 0; pass->events[i].symbol; i++)
        json_object_set_new(values, pass->events[i].symbol, json_integer((json_int_t)counts->value[i]));
    return json_pack("{s:I, s:I, s:o}", "enabled_ns", (json_int_t)counts->enabled_ns, "running_ns",
                     (json_int_t)counts->running_ns, "counts", values);
}

static json_t *list_json(const agb_counts *counts, size_t n, const agb_pass *pass)
{
    json_t *list = json_array();
    for (size_t i = 0; i < n; i++)
        json_array_append_new(list, counts_json(&counts[i], pass));
    return list;
}

static json_t *repetition_json(const agb_counter_support *support, const agb_repetition_counts *repetition,
                               size_t phases)
{
    if (repetition->pass < 0)
        return json_pack("{s:o}", "reason", agb_json_text(repetition->reason));
    const agb_pass *pass = &support->family->passes[support->pass_of[repetition->pass]];
    size_t threads = repetition->threads;
    json_t *out = counts_json(&repetition->total, pass);
    json_object_set_new(out, "pass", json_string(pass->name));
    json_object_set_new(out, "phases", list_json(repetition->phase, phases, pass));
    json_object_set_new(out, "threads", list_json(repetition->thread, threads < AGB_MOST_COUNTED_THREADS
                                                                          ? threads : AGB_MOST_COUNTED_THREADS, pass));
    return out;
}

/* Of the timed runs. User events are not of the family, and are left out. */
static json_t *result_json(const agb_results *results, const agb_result *result)
{
    json_t *phases = json_array(), *repetitions = json_array();
    char params[256];
    agb_result_params(result, params, sizeof params);
    for (size_t i = 0; i < result->stats.phases; i++)
        json_array_append_new(phases, agb_json_text(result->aggregator->phases[i]));
    for (size_t i = result->n_warmup; i < result->n_runs; i++) {
        const agb_repetition_counts *counts = &result->runs[i].counts;
        if (counts->pass < (int)results->support.passes)
            json_array_append_new(repetitions, repetition_json(&results->support, counts, result->stats.phases));
    }
    return json_pack("{s:o, s:o, s:o, s:o}", "aggregator", agb_json_text(result->name), "params",
                     agb_json_text(params), "phases", phases, "repetitions", repetitions);
}

agb_status agb_record_write(agb_output *to, const agb_results *results, agb_error *err)
{
    const agb_counter_support *support = &results->support;
    agb_status status = agb_output_begin(to, err);
    if (status != AGB_OK)
        return status;
    json_t *rows = json_array();
    for (size_t i = 0; i < results->n_results; i++) {
        if (results->results[i].state == AGB_STATE_OK)
            json_array_append_new(rows, result_json(results, &results->results[i]));
    }
    const agb_machine *machine = &results->machine;
    char about[640];
    snprintf(about, sizeof about, "Recorded by aggbench %s on %s%s%s, %s: %s", machine->commit, machine->uarch,
             machine->hypervisor[0] ? " under " : "", machine->hypervisor, machine->kernel,
             support->calibration[0] ? support->calibration : "not checked by the two loops");
    json_t *out = json_pack("{s:i, s:o, s:s, s:o, s:f, s:o}", "aggbench_counts", 1, "about", agb_json_text(about),
                            "family", support->family->name, "processor", agb_json_text(machine->cpu), "switch_ns",
                            support->switch_ns,
                            "results", rows);
    json_dumpf(out, to->file, JSON_INDENT(1) | JSON_REAL_PRECISION(9));
    fputc('\n', to->file);
    json_decref(out);
    return agb_output_close(to, err);
}
