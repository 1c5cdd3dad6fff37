/* SPDX-License-Identifier: MIT */
/* What more threads brought: see scaling.h. */
#include "scaling.h"

#include "json_text.h"
#include "report.h"
#include "summary.h"
#include "text.h"

#include <math.h>
#include <string.h>

enum { LABEL = 30 };

bool agb_scaling_is_asked(const agb_settings *settings)
{
    bool asked = false;
    for (size_t i = 0; i < settings->n_sweeps; i++)
        asked = asked || settings->sweeps[i].of_threads;
    return asked;
}

static bool only_threads_differ(const agb_result *a, const agb_result *b)
{
    return a->source == b->source && strcmp(a->name, b->name) == 0 && strcmp(a->params, b->params) == 0;
}

/* A base that failed is none, and no other takes its place: the figure would mean something else from row to row. */
bool agb_scaling_of(const agb_results *results, size_t i, agb_scaling *out)
{
    const agb_result *result = &results->results[i];
    size_t base = i;
    for (size_t k = 0; result->threads && k < results->n_results; k++)
        if (only_threads_differ(&results->results[k], result) &&
            results->results[k].threads < results->results[base].threads)
            base = k;
    if (results->results[base].threads == result->threads || result->state != AGB_STATE_OK ||
        results->results[base].state != AGB_STATE_OK)
        return false;
    const agb_noise *noise = agb_results_noise_of(results, result->source);
    *out = (agb_scaling){.base = base};
    out->speedup = agb_lead_of(results, i, base, &out->paired);
    out->verdict = agb_verdict_of(&out->speedup, noise ? &noise->ratio : NULL,
                                  agb_least_claim_of(results->processes));
    return true;
}

static double efficiency_pct(const agb_results *results, size_t i, const agb_scaling *scaling)
{
    return 100 * scaling->speedup.ratio * results->results[scaling->base].threads / results->results[i].threads;
}

static void print_line(FILE *to, const agb_results *results, size_t i, const agb_scaling *scaling)
{
    const agb_ratio *speedup = &scaling->speedup;
    const agb_result *result = &results->results[i], *base = &results->results[scaling->base];
    char label[256];
    agb_result_label(result, label, sizeof label);
    fprintf(to, "%-*.*s %9s %9s %10s %%  %-23s %s\n", LABEL, LABEL, agb_text_clean(label).s,
            agb_text_seconds(base->wall.median).s, agb_text_seconds_like(result->wall.median, base->wall.median).s,
            agb_text_number(efficiency_pct(results, i, scaling)).s,
            agb_text_ratio(speedup->ratio, speedup->ci95_low, speedup->ci95_high).s,
            isnan(speedup->ci95_low) ? "too few runs" : agb_verdict_name(scaling->verdict));
}

static void print_head(FILE *to, unsigned fewest)
{
    char on[24];
    snprintf(on, sizeof on, "on %u", fewest);
    fprintf(to, "%-*s %9s %9s %12s  speed-up over %u thread%s\n", LABEL, "threads", on, "on these", "efficiency",
            fewest, fewest == 1 ? "" : "s");
    agb_report_rule(to);
}

void agb_report_scaling(FILE *to, const agb_results *results)
{
    agb_scaling scaling;
    size_t shown = 0, source = 0;
    for (size_t i = 0; i < results->n_results; i++) {
        if (!agb_scaling_of(results, i, &scaling))
            continue;
        if (shown == 0)
            print_head(to, results->results[scaling.base].threads);
        if (results->n_sources > 1 && (shown == 0 || results->results[i].source != source))
            fprintf(to, "%s\n", agb_text_clean(results->sources[results->results[i].source].name).s);
        source = results->results[i].source;
        shown++;
        print_line(to, results, i, &scaling);
    }
    if (shown > 0)
        fputc('\n', to);
}

json_t *agb_scaling_json(const agb_results *results)
{
    agb_scaling scaling;
    json_t *list = json_array();
    for (size_t i = 0; i < results->n_results; i++)
        if (agb_scaling_of(results, i, &scaling))
            json_array_append_new(
                list, json_pack("{s:I, s:I, s:i, s:i, s:o, s:o, s:o, s:o, s:s, s:s}", "result", (json_int_t)i, "base",
                                (json_int_t)scaling.base, "threads", (int)results->results[i].threads, "base_threads",
                                (int)results->results[scaling.base].threads, "speedup",
                                agb_json_number(scaling.speedup.ratio), "ci95_low",
                                agb_json_number(scaling.speedup.ci95_low), "ci95_high",
                                agb_json_number(scaling.speedup.ci95_high), "efficiency_pct",
                                agb_json_number(efficiency_pct(results, i, &scaling)), "pairing",
                                scaling.paired ? "rounds" : "none", "verdict",
                                agb_verdict_name(scaling.verdict)));
    return list;
}
