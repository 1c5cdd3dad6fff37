/* SPDX-License-Identifier: MIT */
/* Sentences about failures. Names of files, columns and whatever else comes from outside stand in them as they are;
 * here is the one place where bytes that would break the line or act on a terminal are made visible. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const sentences[] = {
#define AGB_STATUS_SENTENCE(name, sentence) sentence,
    AGB_STATUS_LIST(AGB_STATUS_SENTENCE)
#undef AGB_STATUS_SENTENCE
};

bool agb_status_is_known(agb_status status)
{
    return (size_t)status < sizeof sentences / sizeof sentences[0];
}

const char *agb_status_text(agb_status status)
{
    return agb_status_is_known(status) ? sentences[status] : "a status that is none";
}

size_t agb_utf8_character(const unsigned char *bytes, size_t n)
{
    unsigned char first = n ? bytes[0] : 0xff;
    size_t length = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : first < 0xf5 ? 4 : 0;
    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if ((bytes[i] & 0xc0) != 0x80)
            return 0;
    unsigned char second = length > 1 ? bytes[1] : 0;
    bool bad = (first == 0xe0 && second < 0xa0) || (first == 0xed && second > 0x9f) ||
               (first == 0xf0 && second < 0x90) || (first == 0xf4 && second > 0x8f);
    return bad ? 0 : length;
}

/* U+80..9F are control characters of terminals, too; XML does not allow the last two at all. */
bool agb_utf8_disturbs(const unsigned char *character, size_t length)
{
    static const struct { unsigned first, last; } ranges[] = {
        {0, 0x1f}, {0x7f, 0x9f}, {0x61c, 0x61c}, {0x200e, 0x200f}, {0x2028, 0x202e}, {0x2066, 0x2069},
        {0xfffe, 0xffff}};
    static const unsigned char masks[] = {0, 0x7f, 0x1f, 0x0f, 0x07};
    unsigned code = character[0] & masks[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | (character[i] & 0x3fu);
    for (size_t i = 0; i < sizeof ranges / sizeof ranges[0]; i++)
        if (code >= ranges[i].first && code <= ranges[i].last)
            return true;
    return false;
}

/* How many bytes of n the next character takes, and how many it has where it is visible: the bytes of one that
 * disturbs, or of none, stand as \xNN. */
static size_t next_character(const unsigned char *from, size_t n, size_t *visible)
{
    size_t length = agb_utf8_character(from, n), taken = length ? length : 1;
    *visible = length == 0 || agb_utf8_disturbs(from, length) ? 4 * taken : taken;
    return taken;
}

static size_t visible_bytes(const unsigned char *from, size_t n)
{
    size_t sum = 0;
    for (size_t visible; n; sum += visible) {
        size_t taken = next_character(from, n, &visible);
        from += taken;
        n -= taken;
    }
    return sum;
}

/* Writes what of n bytes fits into `room`, with a final NUL, and returns where that is. */
static char *make_visible(char *to, size_t room, const unsigned char *from, size_t n)
{
    while (n) {
        size_t visible, taken = next_character(from, n, &visible);
        if (visible >= room)
            break;
        for (size_t i = 0; i < taken; i++)
            if (visible != taken)
                snprintf(to + 4 * i, 5, "\\x%02x", from[i]);
            else
                to[i] = (char)from[i];
        to += visible;
        room -= visible;
        from += taken;
        n -= taken;
    }
    *to = '\0';
    return to;
}

/* A sentence that is too long is so by what it quotes, which can stand anywhere in it: where it begins says what failed
 * and where it ends says why and what to do, so it loses its middle. */
static void write_sentence(char *to, size_t room, const unsigned char *from, size_t n)
{
    const char *end = to + room;
    size_t length = visible_bytes(from, n), visible;
    if (length >= room)
        to = stpcpy(make_visible(to, room / 2, from, n), " ... ");
    while (length >= (size_t)(end - to)) {
        size_t taken = next_character(from, n, &visible);
        length -= visible;
        from += taken;
        n -= taken;
    }
    make_visible(to, (size_t)(end - to), from, n);
}

agb_status agb_fail(agb_error *err, agb_status status, const char *format, ...)
{
    if (err) {
        char raw[sizeof err->text], *all = NULL;    /* apart, so that err's own text may be an argument */
        va_list arguments, again;
        va_start(arguments, format);
        va_copy(again, arguments);
        int length = vsnprintf(raw, sizeof raw, format, arguments);
        if (length >= (int)sizeof raw && vasprintf(&all, format, again) < 0)
            all = NULL;    /* without memory the end is lost instead of the middle */
        va_end(again);
        va_end(arguments);
        const char *sentence = all ? all : raw;
        write_sentence(err->text, sizeof err->text, (const unsigned char *)sentence, strlen(sentence));
        err->status = status;
        free(all);
    }
    return status;
}
