/* SPDX-License-Identifier: MIT */
/* A stretch of a text: what one worker reads at a time, into a buffer of its own that stays in the caches. (A plain
 * file was mapped once; reading it is as fast, needs no page faults and no pages to give back, and a file that is cut
 * short meanwhile is an error with a sentence instead of a signal.)
 *
 * WHERE ROWS BEGIN  A worker that starts in the middle of a CSV cannot know whether it stands between quotes. So it
 * counts line ends for both cases, in one pass; the number of quotes before it, odd or even, then says which of the two
 * counts holds. Text that breaks the quoting rules can make the choice wrong only behind the place where it breaks
 * them, and the parser refuses that place first. */
#ifndef AGB_TEXT_STRETCH_H
#define AGB_TEXT_STRETCH_H

#include "source.h"

typedef struct agb_text_row_ends {
    uint64_t n;
    size_t behind_first, behind_last;    /* bytes from the beginning; 0 where there is none */
} agb_text_row_ends;

typedef struct agb_text_stretch {
    unsigned char *buffer;
    size_t room;
    size_t bytes;                 /* from buffer on: the stretch itself */
    size_t held;                  /* with what has been read of the text behind it */
    agb_text_row_ends ends[2];    /* index 0: when it begins outside of quotes, 1: inside */
    bool flips;                   /* it has an odd number of quotes */
} agb_text_stretch;

/* Room for a stretch of so many bytes and what is read behind it, made before the workers run: they would wait for one
 * another in the system. */
agb_status agb_text_stretch_make(agb_text_stretch *stretch, size_t bytes, agb_error *err);

/* Of a plain file of file_bytes: reads the stretch at `offset`, and a little behind it for the end of its last row. */
agb_status agb_text_stretch_read_at(agb_text_stretch *stretch, const agb_text_source *source, uint64_t offset,
                                    size_t bytes, uint64_t file_bytes, agb_error *err);
/* Doubles what has been read behind it, or reads until `most` bytes are held, or up to the file's end. */
agb_status agb_text_stretch_read_behind(agb_text_stretch *stretch, const agb_text_source *source, uint64_t offset,
                                        size_t most, uint64_t file_bytes, agb_error *err);

/* Of any text: kept[0..n_kept), which may stand in the stretch's own buffer, and behind it the next `step` bytes of the
 * source; fewer when the text ends. */
agb_status agb_text_stretch_read_on(agb_text_stretch *stretch, agb_text_source *source, const unsigned char *kept,
                                    size_t n_kept, size_t step, bool *last, agb_error *err);

/* Counts the row ends of the stretch; quoted: those between double quotes are none. */
void agb_text_stretch_count(agb_text_stretch *stretch, bool quoted);

#endif
