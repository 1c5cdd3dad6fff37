/* SPDX-License-Identifier: MIT */
/* The reader's state, shared by its two halves: reader.c (the first row, the schema) and load.c (all rows). */
#ifndef AGB_TEXT_PARTS_H
#define AGB_TEXT_PARTS_H

#include "reader.h"
#include "window.h"

enum {
    AGB_TEXT_FIRST_BYTES = 64 << 10,      /* taken in to look at the first row; more if it is longer */
    AGB_TEXT_STEP_BYTES = 1 << 20,        /* text that one worker takes at a time */
    AGB_TEXT_MOST_STEP_BYTES = 32 << 20,  /* and all of them together: bounds the memory of many workers */
    AGB_TEXT_MOST_ROW_BYTES = 256 << 20   /* a row may be so long: bounds memory when a text has no line ends */
};

struct agb_text_reader {
    const agb_text_format *format;
    const agb_input *input;
    agb_text_window window;
    const unsigned char *at;    /* in the window: where the first row of data begins */
    uint64_t lines;             /* line feeds before `at` */
    char **name;
    agb_text_kind *kind;        /* of each field */
    size_t fields;
    bool positional;            /* the first row is data: the columns are those of hits, or of a schema */
    bool loaded;                /* the text has been read: it must be opened again */
    size_t step_bytes;
};

/* Opens the window and moves it until the whole first row is in it. */
agb_status agb_text_start(agb_text_reader *reader, agb_error *err);

/* Passes over a header, so that `at` is the first row of data. */
void agb_text_pass_header(agb_text_reader *reader);

agb_status agb_text_refuse_long_row(const agb_text_reader *reader, uint64_t lines_before, agb_error *err);

/* Behind the first row end in [begin, end), or NULL. */
const unsigned char *agb_text_row_end(const agb_text_format *format, const unsigned char *begin,
                                      const unsigned char *end);

#endif
