/* SPDX-License-Identifier: MIT */
/* Text of unknown origin as a JSON string: see json_text.h. */
#include "json_text.h"

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
