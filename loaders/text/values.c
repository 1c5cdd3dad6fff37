/* SPDX-License-Identifier: MIT */
/* Exact conversion of text fields, and the sentences for fields that cannot be converted. */
#include "values.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    ARENA_BYTES = 1 << 20,          /* cut from the table's heap at a time */
    ARENA_OWN_BYTES = 1 << 17,      /* a string this long gets memory of its own, so that little is wasted */
    MOST_DAYS = 65535               /* a Date of ClickHouse has 16 bits */
};

unsigned char *agb_text_arena_take(agb_text_arena *arena, size_t bytes)
{
    if (bytes > arena->left) {
        if (bytes >= ARENA_OWN_BYTES)
            return agb_table_heap(arena->table, bytes);
        arena->at = agb_table_heap(arena->table, ARENA_BYTES);
        arena->left = arena->at ? ARENA_BYTES : 0;
        if (!arena->at)
            return NULL;
    }
    arena->left -= bytes;
    arena->at += bytes;
    return arena->at - bytes;
}

/* ---- integers ---- */

static bool parse_digits(const unsigned char *at, const unsigned char *end, uint64_t *out)
{
    uint64_t value = 0;
    for (const unsigned char *sure = end - at > 19 ? at + 19 : end; at < sure; at++) {    /* 19 digits always fit */
        unsigned digit = (unsigned)*at - '0';
        if (digit > 9)
            return false;
        value = value * 10 + digit;
    }
    for (; at < end; at++) {
        unsigned digit = (unsigned)*at - '0';
        if (digit > 9 || __builtin_mul_overflow(value, UINT64_C(10), &value) ||
            __builtin_add_overflow(value, (uint64_t)digit, &value))
            return false;
    }
    *out = value;
    return true;
}

static bool parse_integer(const unsigned char *at, const unsigned char *end, int64_t *out)
{
    bool negative = at < end && *at == '-';
    at += negative;
    uint64_t value;
    if (at == end || !parse_digits(at, end, &value) || value > (uint64_t)INT64_MAX + negative)
        return false;
    *out = negative ? (int64_t)(0 - value) : (int64_t)value;
    return true;
}

/* ---- dates and times ---- */

static int parse_fixed(const unsigned char *at, int digits)    /* -1 when a byte is no digit */
{
    int value = 0;
    for (int i = 0; i < digits; i++) {
        unsigned digit = (unsigned)at[i] - '0';
        if (digit > 9)
            return -1;
        value = value * 10 + (int)digit;
    }
    return value;
}

static bool parse_days(const unsigned char *at, int64_t *days)    /* the ten bytes YYYY-MM-DD */
{
    int year = parse_fixed(at, 4), month = parse_fixed(at + 5, 2), day = parse_fixed(at + 8, 2);
    return at[4] == '-' && at[7] == '-' && year >= 0 && agb_days_of_date(year, month, day, days);
}

static bool parse_date(const unsigned char *at, const unsigned char *end, int64_t *days)
{
    return end - at == 10 && parse_days(at, days) && *days >= 0 && *days <= MOST_DAYS;
}

static bool parse_time(const unsigned char *at, const unsigned char *end, int64_t *seconds)
{
    int64_t days;
    if (end - at != 19 || !parse_days(at, &days) || at[10] != ' ' || at[13] != ':' || at[16] != ':')
        return false;
    int hour = parse_fixed(at + 11, 2), minute = parse_fixed(at + 14, 2), second = parse_fixed(at + 17, 2);
    if (hour < 0 || hour > 23 || minute < 0 || minute > 59 || second < 0 || second > 59)
        return false;
    *seconds = days * 86400 + hour * 3600 + minute * 60 + second;
    return true;
}

/* ---- storing ---- */

static bool store_unsigned(const agb_text_target *target, uint64_t row, const unsigned char *begin,
                           const unsigned char *end)
{
    uint64_t value;
    bool narrow = target->kind == AGB_TEXT_UINT32;
    if (begin == end || !parse_digits(begin, end, &value) || (narrow && value > UINT32_MAX))
        return false;
    if (narrow)
        ((uint32_t *)target->values)[row] = (uint32_t)value;
    else
        ((uint64_t *)target->values)[row] = value;
    return true;
}

bool agb_text_store_number(const agb_text_target *target, uint64_t row, const unsigned char *begin,
                           const unsigned char *end)
{
    int64_t value;
    switch (target->kind) {
    case AGB_TEXT_INT16:
    case AGB_TEXT_INT32: {
        int64_t most = target->kind == AGB_TEXT_INT16 ? INT16_MAX : INT32_MAX;
        if (!parse_integer(begin, end, &value) || value < -most - 1 || value > most)
            return false;
        ((int32_t *)target->values)[row] = (int32_t)value;
        return true;
    }
    case AGB_TEXT_INT64:
        return parse_integer(begin, end, &((int64_t *)target->values)[row]);
    case AGB_TEXT_UINT32:
    case AGB_TEXT_UINT64:
        return store_unsigned(target, row, begin, end);
    case AGB_TEXT_TIME:
        return parse_time(begin, end, &((int64_t *)target->values)[row]);
    case AGB_TEXT_DATE:
        if (!parse_date(begin, end, &value))
            return false;
        ((uint32_t *)target->values)[row] = (uint32_t)value;
        return true;
    case AGB_TEXT_STRING:
        break;
    }
    return false;
}

/* ---- sentences ---- */

const char *agb_text_quote(char to[AGB_TEXT_QUOTE_BYTES], const unsigned char *begin, const unsigned char *end)
{
    const unsigned char *cut = end - begin > 40 ? begin + 40 : end;
    char *at = to;
    *at++ = '"';
    for (const unsigned char *byte = begin; byte < cut; byte++)
        if (*byte < 0x20 || *byte > 0x7e || *byte == '"' || *byte == '\\')
            at += sprintf(at, "\\x%02x", *byte);
        else
            *at++ = (char)*byte;
    strcpy(at, cut < end ? "...\"" : "\"");
    return to;
}

static void explain_integer(const char *quoted, const char *range, char *to, size_t size)
{
    snprintf(to, size, "%s is no such integer: write digits only, within %s", quoted, range);
}

void agb_text_explain(agb_text_kind kind, const unsigned char *begin, const unsigned char *end, char *to, size_t size)
{
    char quoted[AGB_TEXT_QUOTE_BYTES];
    agb_text_quote(quoted, begin, end);
    switch (kind) {
    case AGB_TEXT_INT16:
        explain_integer(quoted, "-32768..32767", to, size);
        break;
    case AGB_TEXT_INT32:
        explain_integer(quoted, "-2147483648..2147483647", to, size);
        break;
    case AGB_TEXT_INT64:
        explain_integer(quoted, "-9223372036854775808..9223372036854775807", to, size);
        break;
    case AGB_TEXT_UINT32:
        explain_integer(quoted, "0..4294967295", to, size);
        break;
    case AGB_TEXT_UINT64:
        explain_integer(quoted, "0..18446744073709551615", to, size);
        break;
    case AGB_TEXT_DATE:
        snprintf(to, size, "%s is no date YYYY-MM-DD: allowed are 1970-01-01..2149-06-06", quoted);
        break;
    case AGB_TEXT_TIME:
        snprintf(to, size, "%s is no time YYYY-MM-DD hh:mm:ss: allowed are years 0000..9999", quoted);
        break;
    case AGB_TEXT_STRING:
        snprintf(to, size, "%s cannot be read as bytes", quoted);
        break;
    }
}
