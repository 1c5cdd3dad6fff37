/* SPDX-License-Identifier: MIT */
/* Numbers as people read them, by value, so that they can stand right in a printf argument: agb_text_seconds(x).s */
#ifndef AGB_TEXT_H
#define AGB_TEXT_H

#include "aggbench.h"

#include <stdio.h>

typedef struct agb_text {
    char s[80];
} agb_text;

agb_text agb_text_count(uint64_t n);           /* 17,630,976 */
agb_text agb_text_seconds(double s);           /* 5.52 s, 41.3 ms, 870 us */
agb_text agb_text_seconds_like(double s, double other_s);    /* in the unit that other_s is written in */
agb_text agb_text_interval(double low_s, double high_s);     /* both in the unit of the larger: 5.40..5.71 s; NAN: - */
agb_text agb_text_ratio(double ratio, double low, double high);    /* 1.24 x [1.13, 1.34]; without interval: 1.24 x */
agb_text agb_text_bytes(uint64_t bytes);       /* 799.98 MB, in powers of 1000 */
agb_text agb_text_binary(uint64_t bytes);      /* 48 KiB, 1.5 MiB: for what comes in powers of 2 */
agb_text agb_text_number(double x);            /* three or four digits that matter: 0.012, 1.24, 55.1, 812 */

/* Writes one character of *rest, or one byte as \xNN where it would disturb a line, and steps over it; returns its
 * cells. */
int agb_text_character(char *out, size_t *at, agb_bytes *rest);
/* Terminal cells that UTF-8 text takes up, one for each character. */
int agb_text_cells(const char *text);

/* Names of unknown origin for people: what would disturb a line or act on a terminal stands as \xNN. Cut to fit. */
typedef struct agb_clean_text {
    char s[1024];
} agb_clean_text;

agb_clean_text agb_text_clean(const char *text);

enum { AGB_TEXT_CELLS = 100 };    /* the widest line that is printed, in terminal cells */

/* Prints words, cleaned, and a line end, from `at` cells into the current line on; further lines begin at cell
 * `left`. */
void agb_text_wrap(FILE *to, const char *words, int left, int at);

#endif
