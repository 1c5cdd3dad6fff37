/* SPDX-License-Identifier: MIT */
/* What a file holds decides how it is shown. Each kind is one file in bench/sections/ that defines
 * `const agb_section agb_section_<file stem>`: it knows its files by a key, and writes their part of the page. */
#ifndef AGB_SECTION_H
#define AGB_SECTION_H

#include "charts.h"
#include "json_read.h"

typedef struct agb_section {
    const char *key;         /* a file that has it is of this kind */
    const char *kind;        /* in words: "a lab" */
    /* Title of the part, for the list of contents. */
    void (*title)(const agb_json *file, char *text, size_t size);
    /* What is wrong stays in the file's reader; the page is given up then. */
    void (*write)(agb_page *page, const agb_json *file);
} agb_section;

/* NULL-ended list made by the Makefile from bench/sections/. */
extern const agb_section *const agb_sections[];

/* Reads the files and writes the whole page, or nothing that could be taken for one: to is to be given up then. */
agb_status agb_report_page(FILE *to, const char *const *names, size_t n, agb_error *err);
/* The same for one object in memory; name: what to call it in a failure. */
agb_status agb_report_page_of(FILE *to, const char *name, json_t *root, agb_error *err);
/* The part of one object within a page: of a section that holds others. */
void agb_section_write(agb_page *page, const agb_json *object);

/* ---- Parts that several kinds have ------------------------------------------------------------------------------- */

/* <p class="over">over</p><h2>title</h2> */
void agb_section_head(agb_page *page, const char *over, const char *title);
/* Of a verdict as files have it: "faster", "slower", or anything else. */
agb_tone agb_tone_of(const char *verdict);
/* Sentences of a list of text, as a list; nothing when it is empty. from: how many to leave out first. */
void agb_sentences(agb_page *page, const agb_json *list, size_t from, const char *class);

#endif
