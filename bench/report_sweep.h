/* SPDX-License-Identifier: MIT */
/* What a sweep found: times over one or two axes as a map, the best setting, and whether its lead is more than noise.
 */
#ifndef AGB_REPORT_SWEEP_H
#define AGB_REPORT_SWEEP_H

#include "results.h"

#include <jansson.h>
#include <stdio.h>

/* What a result has on an axis, as text; false when it has nothing there. */
bool agb_sweep_value_of(const agb_results *results, const agb_result *result, const agb_sweep *axis, char *value,
                        size_t size);

/* Maps and sentences; nothing when nothing was swept. */
void agb_report_sweep(FILE *to, const agb_results *results);

/* null when nothing was swept, else
 * {"axes": [{"name", "of": "aggregator"|"threads"|"source", "values": [..]}],
 *  "cells": [{"result": index in results, "at": [index of each axis' value or null]}],
 *  "best": [{"source", "aggregator", "params", "result", "second": label or null, "second_result", "lead", "ci95_low",
 *            "ci95_high", "pairing": "rounds"|"none", "claimed": bool}],
 *  "scaling": see scaling.h}
 * best: for each source, of each swept aggregator's settings; where only the source was swept, of all contestants. */
json_t *agb_sweep_json(const agb_results *results);

#endif
