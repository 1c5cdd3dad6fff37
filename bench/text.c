/* SPDX-License-Identifier: MIT */
/* Numbers as people read them: see text.h. */
#include "text.h"

#include <inttypes.h>
#include <string.h>

agb_text agb_text_count(uint64_t n)
{
    char digits[24];
    int length = snprintf(digits, sizeof digits, "%" PRIu64, n);
    agb_text out;
    size_t at = 0;
    for (int i = 0; i < length; i++) {
        if (i > 0 && (length - i) % 3 == 0)
            out.s[at++] = ',';
        out.s[at++] = digits[i];
    }
    out.s[at] = '\0';
    return out;
}

agb_text agb_text_number(double x)
{
    double size = x < 0 ? -x : x;
    int decimals = size >= 100 ? 0 : size >= 10 ? 1 : size >= 1 || size == 0 ? 2 : 3;
    agb_text out;
    snprintf(out.s, sizeof out.s, "%.*f", decimals, x);
    return out;
}

agb_text agb_text_seconds(double s)
{
    static const struct { double least, scale; const char *unit; } units[] = {
        {1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "us"}, {0, 1e9, "ns"}};
    if (s == 0)
        return (agb_text){"0 s"};
    size_t i = 0;
    while (s < units[i].least)
        i++;
    agb_text out = agb_text_number(s * units[i].scale);
    size_t length = strlen(out.s);
    snprintf(out.s + length, sizeof out.s - length, " %s", units[i].unit);
    return out;
}

agb_text agb_text_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double size = (double)bytes;
    size_t unit = 0;
    while (size >= 1000 && unit + 1 < sizeof units / sizeof units[0]) {
        size /= 1000;
        unit++;
    }
    agb_text out;
    snprintf(out.s, sizeof out.s, "%.*f %s", unit == 0 ? 0 : size >= 100 ? 1 : 2, size, units[unit]);
    return out;
}

void agb_text_wrap(FILE *to, const char *words, int left, int at)
{
    bool first = true;
    while (*words) {
        int word = (int)strcspn(words, " ");
        if (!first && at + 1 + word > AGB_TEXT_CELLS)
            at = fprintf(to, "\n%*s", left, "") - 1;
        else if (!first)
            at += fprintf(to, " ");
        at += fprintf(to, "%.*s", word, words);
        first = false;
        words += word;
        words += *words == ' ';
    }
    fputc('\n', to);
}
