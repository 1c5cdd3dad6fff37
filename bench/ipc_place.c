/* SPDX-License-Identifier: MIT */
/* Strategies against the machine's own line: see ipc_place.h. A line in instructions a cycle takes counted instructions
 * and cycles. One in instructions a nanosecond can do without a PMU: a simulation counts the instructions, the clock
 * the time; that is said of every such value. */
#include "ipc_place.h"

#include "json_text.h"
#include "report.h"

#include <time.h>

/* Instructions a nanosecond of one thread, from counts. */
static bool counted_per_ns(const agb_metrics *metrics, double *value)
{
    *value = metrics->value[AGB_IPC] * metrics->value[AGB_GHZ];
    return metrics->has[AGB_IPC] && metrics->has[AGB_GHZ];
}

static bool simulated_per_ns(const agb_result *result, double *value)
{
    const agb_simulation *simulation = &result->simulation;
    if (!simulation->has || simulation->rows == 0 || result->stats.workers > 1 || !(result->ns_per_row > 0))
        return false;
    *value = (double)simulation->instructions / (double)simulation->rows / result->ns_per_row;
    return true;
}

static void explain(const agb_results *results, const agb_result *result, agb_ipc_place *out)
{
    bool cycles = results->ipc_line->unit == AGB_IPC_PER_CYCLE;
    const char *why = result->metrics.reason[0] ? result->metrics.reason : results->support.reason;
    if (results->replay)
        snprintf(out->reason, sizeof out->reason, "the counts are replayed: they are not of the machine of this line");
    else if (cycles)
        snprintf(out->reason, sizeof out->reason, "instructions and cycles are not counted: %.300s", why);
    else
        snprintf(out->reason, sizeof out->reason, "instructions are not counted: %.300s; %s", why,
                 result->stats.workers > 1 ? "a simulation stands in for them with one thread only"
                                           : "--counters simulate stands in for them");
}

agb_ipc_place agb_ipc_place_of(const agb_results *results, const agb_result *result)
{
    const agb_metrics *metrics = &result->metrics;
    agb_ipc_place out = {.has = false};
    if (results->ipc_line->unit == AGB_IPC_PER_CYCLE && metrics->has[AGB_IPC] && !results->replay) {
        out.has = true;
        out.value = metrics->value[AGB_IPC];
    } else if (results->ipc_line->unit == AGB_IPC_PER_NS) {
        out.has = !results->replay && counted_per_ns(metrics, &out.value);
        out.simulated = !out.has && simulated_per_ns(result, &out.value);
        out.has = out.has || out.simulated;
    }
    if (!out.has)
        explain(results, result, &out);
    return out;
}

const char *agb_ipc_side(const agb_ipc_line *line, double value)
{
    if (value > line->cpu_bound)
        return "beyond computing";
    if (value < line->memory_bound)
        return "below waiting";
    return value < line->midpoint ? "nearer to waiting" : "nearer to computing";
}

/* ---- Reports ----------------------------------------------------------------------------------------------------- */

static json_t *place_json(const agb_results *results, size_t number)
{
    const agb_result *result = &results->results[number];
    agb_ipc_place place = agb_ipc_place_of(results, result);
    if (result->state != AGB_STATE_OK)
        place = (agb_ipc_place){.has = false};
    return json_pack("{s:I, s:s, s:o, s:o, s:o}", "result", (json_int_t)number, "source",
                     !place.has ? "none" : place.simulated ? "simulate" : "pmu", "value",
                     place.has ? json_real(place.value) : json_null(), "side",
                     place.has ? json_string(agb_ipc_side(results->ipc_line, place.value)) : json_null(), "reason",
                     place.has ? json_null() : agb_json_text(place.reason[0] ? place.reason : result->reason));
}

json_t *agb_ipc_line_json(const agb_results *results)
{
    const agb_ipc_line *line = results->ipc_line;
    json_t *rows = json_array();
    for (size_t i = 0; i < results->n_results; i++)
        json_array_append_new(rows, place_json(results, i));
    return json_pack("{s:s, s:f, s:f, s:f, s:I, s:o}", "unit", agb_ipc_unit_name(line->unit), "cpu_bound",
                     line->cpu_bound, "memory_bound", line->memory_bound, "midpoint", line->midpoint, "measured_s",
                     (json_int_t)line->measured_s, "results", rows);
}

static void print_terms(FILE *to, const agb_ipc_line *line)
{
    char day[32] = "an unknown day";
    struct tm parts;
    time_t seconds = (time_t)line->measured_s;
    if (gmtime_r(&seconds, &parts))
        strftime(day, sizeof day, "%Y-%m-%d", &parts);
    agb_report_line(to, "line", "this machine's own, measured on %s: a loop that only computes reaches %s, one that "
                    "only waits for memory %s, and %s lies between: %s", day, agb_text_number(line->cpu_bound).s,
                    agb_text_number(line->memory_bound).s, agb_text_number(line->midpoint).s,
                    agb_ipc_unit_words(line->unit));
}

void agb_report_ipc_line(FILE *to, const agb_results *results, size_t source, int width)
{
    bool simulated = false;
    fprintf(to, "\n%-*s %24s   %s\n", width, "line", agb_ipc_unit_words(results->ipc_line->unit), "where");
    agb_report_rule(to);
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        char label[256];
        if (result->source != source || result->state != AGB_STATE_OK)
            continue;
        agb_ipc_place place = agb_ipc_place_of(results, result);
        agb_result_label(result, label, sizeof label);
        int at = fprintf(to, "%-*.*s ", width, width, label);
        if (place.has)
            fprintf(to, "%s%*s   %s\n", place.simulated ? "sim." : "    ", 20, agb_text_number(place.value).s,
                    agb_ipc_side(results->ipc_line, place.value));
        else
            agb_text_wrap(to, place.reason, at, at);
        simulated = simulated || place.simulated;
    }
    print_terms(to, results->ipc_line);
    if (simulated)
        agb_report_line(to, "sim.", "instructions a row of a simulation over fewer rows, over the measured time a row: "
                        "an estimate, not a measured value");
}
