/* SPDX-License-Identifier: MIT */
/* A stretch of a text that moves from its beginning to its end. Rows are cut out of it by who looks at it; what stands
 * behind the last whole row stays when the window moves on. It is a buffer that holds no more than the step and the
 * longest row ask for.
 *
 * A plain file is read by the workers that look at it, each its own part. It was mapped once; reading it into a buffer
 * that stays in the caches is as fast, needs no page faults and no pages to give back, and a file that is cut short
 * meanwhile is an error with a sentence instead of a signal. */
#ifndef AGB_TEXT_WINDOW_H
#define AGB_TEXT_WINDOW_H

#include "source.h"

typedef struct agb_text_window {
    const unsigned char *begin, *end;    /* the text in sight */
    const unsigned char *unread;         /* from here to end there is only room yet: see agb_text_window_fill */
    bool last;                           /* nothing comes after end */
    agb_text_source *source;
    bool flat;                           /* a plain file: can be read anywhere */
    uint64_t end_offset, file_bytes;     /* flat: of `end`, and of the whole file when it was opened */
    unsigned char *buffer;
    size_t capacity;
} agb_text_window;

/* An empty window before the first byte. */
agb_status agb_text_window_open(agb_text_window *window, const agb_input *input, agb_error *err);
void agb_text_window_close(agb_text_window *window);    /* also of one that is all zero */

/* Drops the text before `to` (begin <= to <= end), and takes in `step` further bytes, or fewer when the text ends. */
agb_status agb_text_window_move(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err);

/* The same, but of a plain file the further bytes must be read by fill before they are looked at. */
agb_status agb_text_window_move_unread(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err);

/* Reads what is not read yet of [begin, end), a part of the window. Threads may fill different parts at once. */
agb_status agb_text_window_fill(const agb_text_window *window, const unsigned char *begin, const unsigned char *end,
                                agb_error *err);

#endif
