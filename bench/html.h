/* SPDX-License-Identifier: MIT */
/* A page that needs nothing but itself: no network, no script. It is HTML and well-formed XML at once. */
#ifndef AGB_HTML_H
#define AGB_HTML_H

#include <stdio.h>

/* A page that is being written. */
typedef struct agb_page {
    FILE *to;
    unsigned pictures;    /* so far: gives each its own id */
} agb_page;

/* Text of unknown origin: what means something in HTML is escaped, what would disturb a line or turn its direction
 * stands as \xNN. */
void agb_html_text(FILE *to, const char *text);
/* The same not yet escaped, cut to fit: for whoever needs to know how long it is. */
void agb_html_visible(char *out, size_t size, const char *text);
/* printf, escaped as a whole. */
__attribute__((format(printf, 2, 3))) void agb_html_print(FILE *to, const char *format, ...);
/* The same, with its first letter as a sentence has it. */
__attribute__((format(printf, 4, 5))) void agb_html_sentence(FILE *to, const char *tag, const char *class,
                                                             const char *format, ...);
/* <tag class="class">text</tag>; class may be NULL. */
__attribute__((format(printf, 4, 5))) void agb_html_element(FILE *to, const char *tag, const char *class,
                                                            const char *format, ...);

void agb_page_begin(agb_page *page, FILE *to, const char *title);
void agb_page_end(agb_page *page);

/* A table: begin, then for each row begin_row, cells, end_row, then end. Headings are parted by '|'; one that begins
 * with '#' is of a column of numbers. "": a table whose rows only have names. */
void agb_html_table_begin(FILE *to, const char *caption, const char *headings);
void agb_html_row_begin(FILE *to);
/* The first cell of a row names it. */
__attribute__((format(printf, 2, 3))) void agb_html_row_name(FILE *to, const char *format, ...);
__attribute__((format(printf, 2, 3))) void agb_html_cell(FILE *to, const char *format, ...);
__attribute__((format(printf, 2, 3))) void agb_html_number_cell(FILE *to, const char *format, ...);
void agb_html_row_end(FILE *to);
void agb_html_table_end(FILE *to);

extern const char agb_page_style[];    /* page_style.c */

#endif
