/* SPDX-License-Identifier: MIT */
/* Numbers as people read them: see text.h. */
#include "text.h"

#include <inttypes.h>
#include <math.h>
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

typedef struct unit {
    double least, scale;
    const char *name;
} unit;

static const unit *unit_of(double s)
{
    static const unit units[] = {{1, 1, "s"}, {1e-3, 1e3, "ms"}, {1e-6, 1e6, "us"}, {0, 1e9, "ns"}};
    const unit *unit = units;
    while (s < unit->least)
        unit++;
    return unit;
}

agb_text agb_text_seconds_like(double s, double other_s)
{
    const unit *unit = unit_of(other_s);
    agb_text out = agb_text_number(s * unit->scale);
    size_t length = strlen(out.s);
    snprintf(out.s + length, sizeof out.s - length, " %s", unit->name);
    return out;
}

agb_text agb_text_seconds(double s)
{
    return s == 0 ? (agb_text){"0 s"} : agb_text_seconds_like(s, s);
}

agb_text agb_text_interval(double low_s, double high_s)
{
    if (isnan(low_s))
        return (agb_text){"-"};
    agb_text out = agb_text_number(low_s * unit_of(high_s)->scale);
    size_t length = strlen(out.s);
    snprintf(out.s + length, sizeof out.s - length, "..%.32s", agb_text_seconds_like(high_s, high_s).s);
    return out;
}

agb_text agb_text_ratio(double ratio, double low, double high)
{
    agb_text out;
    if (isnan(low))
        snprintf(out.s, sizeof out.s, "%.20s x", agb_text_number(ratio).s);
    else
        snprintf(out.s, sizeof out.s, "%.20s x [%.20s, %.20s]", agb_text_number(ratio).s, agb_text_number(low).s,
                 agb_text_number(high).s);
    return out;
}

/* Into the largest of `units` units, each `step` times the one before, of which there is a whole one; returns which. */
static size_t scale_down(double *size, double step, size_t units)
{
    size_t unit = 0;
    for (; *size >= step && unit + 1 < units; unit++)
        *size /= step;
    return unit;
}

agb_text agb_text_bytes(uint64_t bytes)
{
    static const char *const units[] = {"B", "kB", "MB", "GB", "TB"};
    double size = (double)bytes;
    size_t unit = scale_down(&size, 1000, sizeof units / sizeof units[0]);
    agb_text out;
    snprintf(out.s, sizeof out.s, "%.*f %s", unit == 0 ? 0 : size >= 100 ? 1 : 2, size, units[unit]);
    return out;
}

agb_text agb_text_binary(uint64_t bytes)
{
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
    double size = (double)bytes;
    size_t unit = scale_down(&size, 1024, sizeof units / sizeof units[0]);
    agb_text out;
    snprintf(out.s, sizeof out.s, "%.4g %s", size, units[unit]);
    return out;
}

/* ---- Text of unknown origin ---- */

int agb_text_cells(const char *text)
{
    int cells = 0;
    for (; *text; text++)
        cells += ((unsigned char)*text & 0xc0) != 0x80;
    return cells;
}

/* The further bytes of a character that disturbs are none, and follow as such. */
int agb_text_character(char *out, size_t *at, agb_bytes *rest)
{
    size_t length = agb_utf8_character(rest->data, rest->length);
    unsigned char first = rest->data[0];
    int cells = 1;
    if (length == 0 || agb_utf8_disturbs(rest->data, length)) {
        length = 1;
        cells = sprintf(out + *at, "\\x%02x", first);
        *at += (size_t)cells;
    } else {
        memcpy(out + *at, rest->data, length);
        *at += length;
    }
    rest->data += length;
    rest->length -= length;
    return cells;
}

agb_clean_text agb_text_clean(const char *text)
{
    enum { WIDEST = 4 };    /* bytes of a character, or of \xNN */
    agb_clean_text out;
    agb_bytes rest = {(const unsigned char *)text, strlen(text)};
    size_t at = 0;
    while (rest.length > 0 && at + WIDEST < sizeof out.s)
        agb_text_character(out.s, &at, &rest);
    out.s[at] = '\0';
    return out;
}

void agb_text_wrap(FILE *to, const char *words, int left, int at)
{
    bool first = true;
    while (*words) {
        size_t length = strcspn(words, " ");
        char copy[2048];
        snprintf(copy, sizeof copy, "%.*s", (int)length, words);
        agb_clean_text word = agb_text_clean(copy);
        int cells = agb_text_cells(word.s);
        if (!first && at + 1 + cells > AGB_TEXT_CELLS)
            at = fprintf(to, "\n%*s", left, "") - 1;
        else if (!first)
            at += fprintf(to, " ");
        fputs(word.s, to);
        at += cells;
        first = false;
        words += length;
        words += *words == ' ';
    }
    fputc('\n', to);
}
