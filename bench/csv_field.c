/* SPDX-License-Identifier: MIT */
/* Fields of a CSV line: see csv_field.h. */
#include "csv_field.h"

#include <math.h>

void agb_csv_text(FILE *to, const char *text)
{
    fputs(",\"", to);
    for (; *text; text++) {
        if (*text == '"')
            fputc('"', to);
        fputc(*text, to);
    }
    fputc('"', to);
}

void agb_csv_number(FILE *to, double value)
{
    if (value == floor(value) && fabs(value) < 1e15)    /* counts of events */
        fprintf(to, ",%.0f", value);
    else if (isfinite(value))
        fprintf(to, ",%.9g", value);
    else
        fputc(',', to);
}
