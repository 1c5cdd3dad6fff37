/* SPDX-License-Identifier: MIT */
/* Figures as JSON values, null where there is none. Names are short because reports are long lists of them. */
#ifndef AGB_JSON_FIGURES_H
#define AGB_JSON_FIGURES_H

#include "json_text.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

static inline json_t *number(bool has, double value)
{
    return has && isfinite(value) ? json_real(value) : json_null();
}

static inline json_t *count(uint64_t value)
{
    return json_integer((json_int_t)value);
}

static inline json_t *text_or_null(const char *bytes)
{
    return bytes && *bytes ? agb_json_text(bytes) : json_null();
}

/* One whole report; takes the reference. */
static inline void write_json(FILE *to, json_t *report)
{
    if (json_dumpf(report, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0)
        fputc('\n', to);
    json_decref(report);
}

#endif
