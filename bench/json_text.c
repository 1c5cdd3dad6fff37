/* SPDX-License-Identifier: MIT */
/* Text of unknown origin as a JSON string: see json_text.h. */
#include "json_text.h"

#include <math.h>

json_t *agb_json_text(const char *bytes)
{
    json_t *whole = json_string(bytes);
    if (whole)
        return whole;
    char clean[1024];
    size_t at = 0;
    for (; *bytes && at + 1 < sizeof clean; bytes++)
        clean[at++] = (unsigned char)*bytes < 0x80 ? *bytes : '?';
    return json_stringn(clean, at);
}

json_t *agb_json_text_or_null(const char *bytes)
{
    return bytes && *bytes ? agb_json_text(bytes) : json_null();
}

json_t *agb_json_number(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

void agb_json_write(FILE *to, json_t *report)
{
    if (json_dumpf(report, to, JSON_INDENT(2) | JSON_REAL_PRECISION(9)) == 0)
        fputc('\n', to);
    json_decref(report);
}
