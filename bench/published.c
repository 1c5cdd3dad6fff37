/* SPDX-License-Identifier: MIT */
/* The published figures, once, as numbers: see published.h. */
#include "published.h"

#include <math.h>
#include <string.h>

const double agb_published_speedup = 3.6 / 2.7;
const char *const agb_published_aggregator[AGB_PUBLISHED_STRATEGIES] = {"naive", "radix"};

/* ---- The same of ours -------------------------------------------------------------------------------------------- */

static bool rows_of(const agb_results *results, const agb_result *result, double *value)
{
    *value = (double)results->sources[result->source].rows;
    return true;
}

static bool groups_of(const agb_results *results, const agb_result *result, double *value)
{
    (void)results;
    *value = (double)result->digest.groups;
    return true;
}

static bool first_of(const agb_results *results, const agb_result *result, double *value)
{
    (void)results;
    *value = result->first_s;
    return true;
}

static bool warm_of(const agb_results *results, const agb_result *result, double *value)
{
    (void)results;
    *value = result->wall.median;
    return true;
}

static bool metric_of(const agb_result *result, agb_metric metric, double *value)
{
    *value = result->metrics.value[metric];
    return result->metrics.has[metric];
}

static bool memory_of(const agb_results *results, const agb_result *result, double *value)
{
    (void)results;
    return metric_of(result, AGB_MEMORY_BOUND_PCT, value);
}

static bool retiring_of(const agb_results *results, const agb_result *result, double *value)
{
    (void)results;
    return metric_of(result, AGB_RETIRING_PCT, value);
}

static bool operations_of(const agb_results *results, const agb_result *result, double *value)
{
    (void)results;
    return metric_of(result, AGB_OPS_RETIRED, value);
}

static bool dram_of(const agb_results *results, const agb_result *result, double *value)
{
    (void)results;
    return metric_of(result, AGB_DRAM_DEMAND_BYTES, value);
}

/* ---- The figures ------------------------------------------------------------------------------------------------- */

const agb_published_figure agb_published_figures[] = {
    {"rows", "rows", AGB_FIGURE_COUNT, false, {AGB_PUBLISHED_ROWS, AGB_PUBLISHED_ROWS}, rows_of},
    {"groups", "groups", AGB_FIGURE_COUNT, false, {AGB_PUBLISHED_GROUPS, AGB_PUBLISHED_GROUPS}, groups_of},
    {"first_s", "first run", AGB_FIGURE_S, false, {3.9, NAN}, first_of},
    {"warm_s", "warm run, median", AGB_FIGURE_S, false, {3.6, 2.7}, warm_of},
    {"memory_bound_pct", "slots stalled on memory", AGB_FIGURE_PCT, true, {50.1, 23.5}, memory_of},
    {"retiring_pct", "slots retiring", AGB_FIGURE_PCT, true, {16.1, 32.2}, retiring_of},
    {"ops_retired", "operations retired", AGB_FIGURE_COUNT, true, {11431618219, 19350459182}, operations_of},
    {"dram_demand_bytes", "pulled from DRAM on demand", AGB_FIGURE_BYTES, true, {4.5e9, 1.5e9}, dram_of},
    {NULL, NULL, 0, false, {0, 0}, NULL},
};

const agb_result *agb_published_result(const agb_results *results, unsigned strategy)
{
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        if (result->state == AGB_STATE_OK && strcmp(result->name, agb_published_aggregator[strategy]) == 0)
            return result;
    }
    return NULL;
}

/* ---- As JSON ----------------------------------------------------------------------------------------------------- */

static json_t *number(agb_figure_unit unit, double value)
{
    if (isnan(value))
        return json_null();
    return unit == AGB_FIGURE_COUNT || unit == AGB_FIGURE_BYTES ? json_integer((json_int_t)value) : json_real(value);
}

static json_t *strategy_json(const agb_results *results, unsigned strategy)
{
    static const char *const names[] = {"simple hash table", "partitioned, 4096 by the top 12 bits of the hash"};
    const agb_result *result = agb_published_result(results, strategy);
    json_t *figures = json_object();
    for (const agb_published_figure *figure = agb_published_figures; figure->key; figure++) {
        double here = NAN;
        bool has = result && figure->measured(results, result, &here);
        json_object_set_new(figures, figure->key,
                            json_pack("{s:o, s:o}", "published", number(figure->unit, figure->value[strategy]),
                                      "measured", number(figure->unit, has ? here : NAN)));
    }
    return json_pack("{s:s, s:s, s:o, s:o}", "name", names[strategy], "aggregator", agb_published_aggregator[strategy],
                     "result", result ? json_integer(result - results->results) : json_null(), "figures", figures);
}

json_t *agb_published_json(const agb_results *results)
{
    const agb_result *simple = agb_published_result(results, AGB_PUBLISHED_SIMPLE);
    const agb_result *partitioned = agb_published_result(results, AGB_PUBLISHED_PARTITIONED);
    agb_ratio here = {NAN, NAN, NAN};
    json_t *strategies = json_array();
    for (unsigned strategy = 0; strategy < AGB_PUBLISHED_STRATEGIES; strategy++)
        json_array_append_new(strategies, strategy_json(results, strategy));
    const agb_comparison *comparison = NULL;
    if (simple && partitioned)
        comparison = agb_results_comparison_of(results, (size_t)(partitioned - results->results));
    if (comparison && comparison->baseline == (size_t)(simple - results->results))
        here = comparison->speedup;
    return json_pack("{s:s, s:s, s:{s:f, s:o, s:o, s:o}, s:o}", "by", "Pivot, 28 October 2026", "cpu", "AMD EPYC 9124",
                     "speedup", "published", agb_published_speedup, "measured", number(AGB_FIGURE_S, here.ratio),
                     "ci95_low", number(AGB_FIGURE_S, here.ci95_low), "ci95_high",
                     number(AGB_FIGURE_S, here.ci95_high), "strategies", strategies);
}
