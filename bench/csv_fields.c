/* SPDX-License-Identifier: MIT */
/* Fields of reports for spreadsheets: see csv_fields.h. */
#include "csv_fields.h"

#include <inttypes.h>
#include <math.h>

void agb_csv_text_field(FILE *to, const char *text)
{
    fputs(",\"", to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void agb_csv_number_field(FILE *to, bool has, double value)
{
    if (has && value == floor(value) && fabs(value) < 1e15)    /* counts of events, with all their digits */
        fprintf(to, ",%.0f", value);
    else if (has && isfinite(value))
        fprintf(to, ",%.9g", value);
    else
        fputc(',', to);
}

void agb_csv_count_field(FILE *to, bool has, uint64_t value)
{
    if (has)
        fprintf(to, ",%" PRIu64, value);
    else
        fputc(',', to);
}
