/* SPDX-License-Identifier: MIT */
/* A stretch of a text that moves from its beginning to its end. Rows are cut out of it by who looks at it; what stands
 * behind the last whole row stays when the window moves on. Over a plain file it is a part of the mapping and copies
 * nothing; over a stream it is a buffer that holds no more than the step and the longest row ask for. */
#ifndef AGB_TEXT_WINDOW_H
#define AGB_TEXT_WINDOW_H

#include "source.h"

typedef struct agb_text_window {
    const unsigned char *begin, *end;    /* the text in sight */
    bool last;                           /* nothing comes after end */
    agb_text_source *source;
    const unsigned char *map, *map_end;
    unsigned char *buffer;
    size_t capacity;
} agb_text_window;

/* An empty window before the first byte. */
agb_status agb_text_window_open(agb_text_window *window, const agb_input *input, agb_error *err);
void agb_text_window_close(agb_text_window *window);    /* also of one that is all zero */

/* Drops the text before `to` (begin <= to <= end), and takes in `step` further bytes, or fewer when the text ends. */
agb_status agb_text_window_move(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err);

/* Hands the pages of [begin, end) back to the system where they are mapped ones; they stay in the page cache, and
 * looking at them again brings them back. Without it a file of 70 GB would show as 70 GB of resident memory. Called
 * by each worker for what it has parsed: for one thread to do it all costs a fifth of the speed of two workers. */
void agb_text_window_release(const agb_text_window *window, const unsigned char *begin, const unsigned char *end);

#endif
