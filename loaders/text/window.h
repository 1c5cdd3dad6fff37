/* SPDX-License-Identifier: MIT */
/* The beginning of a text, in which the first row is looked for: a buffer that takes in more until the row is whole.
 * The rows behind it are read stretch by stretch: see stretch.h. */
#ifndef AGB_TEXT_WINDOW_H
#define AGB_TEXT_WINDOW_H

#include "source.h"

typedef struct agb_text_window {
    const unsigned char *begin, *end;    /* the text in sight */
    bool last;                           /* nothing comes after end */
    agb_text_source *source;
    uint64_t end_offset;                 /* bytes of text before `end` */
    unsigned char *buffer;
    size_t room;
} agb_text_window;

/* An empty window before the first byte. */
agb_status agb_text_window_open(agb_text_window *window, const agb_input *input, agb_error *err);
void agb_text_window_close(agb_text_window *window);    /* also of one that is all zero */

/* Drops the text before `to` (begin <= to <= end), and takes in `step` further bytes, or fewer when the text ends. */
agb_status agb_text_window_move(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err);

/* A larger buffer, with what stands in it; *room bytes it had and has. Where the system refuses nothing changes. */
agb_status agb_text_grow(unsigned char **buffer, size_t *room, size_t bytes, agb_error *err);

#endif
