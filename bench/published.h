/* SPDX-License-Identifier: MIT */
/* The figures of the published experiment: Pivot, 28 October 2026, SELECT count(*), UserID FROM hits GROUP BY UserID,
 * one core of an AMD EPYC 9124, bare metal, data in page cache, perf stat -M backend_bound_memory,retiring. Its simple
 * hash table is `naive` here, its partitioned one (4096 partitions by the top 12 bits of the hash) is `radix`. */
#ifndef AGB_PUBLISHED_H
#define AGB_PUBLISHED_H

#include "results.h"

#include <jansson.h>

/* Size of the published data set. */
enum { AGB_PUBLISHED_ROWS = 99997497, AGB_PUBLISHED_GROUPS = 17630976 };

enum { AGB_PUBLISHED_SIMPLE, AGB_PUBLISHED_PARTITIONED, AGB_PUBLISHED_STRATEGIES };

typedef enum agb_figure_unit { AGB_FIGURE_COUNT, AGB_FIGURE_S, AGB_FIGURE_PCT, AGB_FIGURE_BYTES } agb_figure_unit;

typedef struct agb_published_figure {
    const char *key, *label;        /* in JSON, on paper */
    agb_figure_unit unit;
    bool counted;                   /* by the PMU */
    double value[AGB_PUBLISHED_STRATEGIES];    /* NAN: not published */
    /* The same figure of a right result of ours; false when there is none. */
    bool (*measured)(const agb_results *results, const agb_result *result, double *value);
} agb_published_figure;

extern const agb_published_figure agb_published_figures[];    /* ended by an entry with key NULL */
extern const double agb_published_speedup;                    /* partitioned against simple, warm */
extern const char *const agb_published_aggregator[AGB_PUBLISHED_STRATEGIES];    /* "naive", "radix" */

/* The right result of that strategy, or NULL. */
const agb_result *agb_published_result(const agb_results *results, unsigned strategy);
/* {"by", "cpu", "speedup": {"published", "measured", "ci95_low", "ci95_high"}, "strategies": [{"name", "aggregator",
 *  "result": index in results | null, "figures": {KEY: {"published": number | null, "measured": number | null}}}]} */
json_t *agb_published_json(const agb_results *results);

#endif
