/* SPDX-License-Identifier: MIT */
/* Shared by the strategies that tell the report what they saw: the words of a note, without stdio. Each function writes
 * behind what there is and returns the new end. */
#ifndef AGB_NOTE_PART_H
#define AGB_NOTE_PART_H

#include <stdint.h>

static inline char *note_text(char *to, const char *text)
{
    while (*text)
        *to++ = *text++;
    *to = 0;
    return to;
}

static inline char *note_number(char *to, uint64_t number)
{
    char digits[21], *first = &digits[20];
    *first = 0;
    do {
        *--first = (char)('0' + number % 10);
    } while (number /= 10);
    return note_text(to, first);
}

static inline char *note_percent(char *to, uint64_t part, uint64_t whole)
{
    to = note_number(to, whole ? (uint64_t)((double)part * 100 / (double)whole + 0.5) : 0);
    return note_text(to, " %");
}

#endif
