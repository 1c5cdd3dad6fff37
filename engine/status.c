/* SPDX-License-Identifier: MIT */
/* Sentences about failures. Names of files, columns and whatever else comes from outside stand in them as they are;
 * here is the one place where bytes that would break the line or act on a terminal are made visible. */
#include "status.h"

#include <stdarg.h>
#include <stdio.h>
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

/* U+0000..1F, U+7F and U+80..9F: the last are control characters of terminals, too. */
static bool is_control(const unsigned char *at)
{
    return at[0] < 0x20 || at[0] == 0x7f || (at[0] == 0xc2 && at[1] < 0xa0);
}

/* Copies whole characters as long as they fit; a control byte, or one that is no UTF-8, as \xNN. */
static void make_visible(char *to, size_t room, const unsigned char *from, size_t n)
{
    while (n) {
        size_t length = agb_utf8_character(from, n), taken = length ? length : 1;
        bool hidden = length == 0 || is_control(from);
        size_t written = hidden ? 4 * taken : taken;
        if (written >= room)
            break;
        for (size_t i = 0; i < taken; i++)
            if (hidden)
                snprintf(to + 4 * i, 5, "\\x%02x", from[i]);
            else
                to[i] = (char)from[i];
        to += written;
        room -= written;
        from += taken;
        n -= taken;
    }
    *to = '\0';
}

/* Where a text that was cut after n bytes has its last whole character's end. */
static size_t whole_characters(const unsigned char *text, size_t n)
{
    size_t start = n;
    while (start > 0 && n - start < 4 && (text[--start] & 0xc0) == 0x80)
        ;
    return start < n && text[start] >= 0xc0 && agb_utf8_character(text + start, n - start) == 0 ? start : n;
}

agb_status agb_fail(agb_error *err, agb_status status, const char *format, ...)
{
    if (err) {
        unsigned char raw[sizeof err->text];    /* apart, so that err's own text may be an argument */
        va_list arguments;
        va_start(arguments, format);
        int length = vsnprintf((char *)raw, sizeof raw, format, arguments);
        va_end(arguments);
        size_t n = length < 0 ? 0 : (size_t)length;
        err->status = status;
        make_visible(err->text, sizeof err->text, raw, n < sizeof raw ? n : whole_characters(raw, sizeof raw - 1));
    }
    return status;
}
