/* SPDX-License-Identifier: MIT */
/* How narrow intervals are: see precision.h. */
#include "precision.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

agb_status agb_precision_parse(const char *text, agb_settings *settings, agb_error *err)
{
    static const char speedup[] = "speedup:";
    const double least_pct = 0.1, most_pct = 50;
    settings->precise_speedups = strncmp(text, speedup, strlen(speedup)) == 0;
    const char *number = text + (settings->precise_speedups ? strlen(speedup) : 0);
    char *end;
    double pct = *number >= '0' && *number <= '9' ? strtod(number, &end) : NAN;
    if (!(pct >= least_pct && pct <= most_pct) || (strcmp(end, "%") != 0 && *end != '\0'))
        return agb_fail(err, AGB_ERR_ARGUMENT, "--precision: %s: not a share such as 2%% or speedup:2%% in the allowed "
                        "range 0.1%%..50%%", text);
    settings->precision = pct / 100;
    return AGB_OK;
}

double agb_precision_of(double middle, double low, double high)
{
    return isnan(low) ? NAN : fmax(high - middle, middle - low) / middle;
}

double agb_precision_worst(const agb_results *results, size_t *widest)
{
    double worst = NAN;
    bool speedups = results->settings.precise_speedups;
    for (size_t i = 0; i < results->n_results; i++) {
        const agb_result *result = &results->results[i];
        const agb_comparison *comparison = agb_results_comparison_of(results, i);
        if (result->state != AGB_STATE_OK || (speedups && !comparison))
            continue;
        double own = speedups ? agb_precision_of(comparison->speedup.ratio, comparison->speedup.ci95_low,
                                                 comparison->speedup.ci95_high)
                              : agb_precision_of(result->wall.median, result->wall.ci95_low, result->wall.ci95_high);
        if (isnan(worst) || own > worst) {
            worst = own;
            if (widest)
                *widest = i;
        }
    }
    return worst;
}
