/* SPDX-License-Identifier: MIT */
/* Reading a stretch and counting its rows: see stretch.h. */
#include "stretch.h"

#include "scan.h"
#include "window.h"

#include <string.h>

enum { BEHIND_BYTES = 4096 };    /* some rows of hits */

/* ---- Reading ---- */

static size_t behind_at_first(size_t bytes)
{
    return bytes < BEHIND_BYTES ? bytes : BEHIND_BYTES;
}

agb_status agb_text_stretch_make(agb_text_stretch *stretch, size_t bytes, agb_error *err)
{
    return agb_text_grow(&stretch->buffer, &stretch->room, bytes + behind_at_first(bytes), err);
}

/* Reads on until `to` bytes are held, or all of the file. */
static agb_status read_up_to(agb_text_stretch *stretch, const agb_text_source *source, uint64_t offset, size_t to,
                             uint64_t file_bytes, agb_error *err)
{
    if (to > file_bytes - offset)
        to = (size_t)(file_bytes - offset);
    agb_status status = agb_text_grow(&stretch->buffer, &stretch->room, to, err);
    if (status == AGB_OK)
        status = agb_text_source_read_at(source, offset + stretch->held, stretch->buffer + stretch->held,
                                         to - stretch->held, err);
    if (status == AGB_OK)
        stretch->held = to;
    return status;
}

agb_status agb_text_stretch_read_at(agb_text_stretch *stretch, const agb_text_source *source, uint64_t offset,
                                    size_t bytes, uint64_t file_bytes, agb_error *err)
{
    stretch->held = 0;
    agb_status status = read_up_to(stretch, source, offset, bytes + behind_at_first(bytes), file_bytes, err);
    stretch->bytes = bytes < stretch->held ? bytes : stretch->held;
    return status;
}

agb_status agb_text_stretch_read_behind(agb_text_stretch *stretch, const agb_text_source *source, uint64_t offset,
                                        size_t most, uint64_t file_bytes, agb_error *err)
{
    size_t to = stretch->held + (stretch->held - stretch->bytes);
    return read_up_to(stretch, source, offset, to < most ? to : most, file_bytes, err);
}

agb_status agb_text_stretch_read_on(agb_text_stretch *stretch, agb_text_source *source, const unsigned char *kept,
                                    size_t n_kept, size_t step, bool *last, agb_error *err)
{
    bool own = kept >= stretch->buffer && kept < stretch->buffer + stretch->room;
    if (own)
        memmove(stretch->buffer, kept, n_kept);
    agb_status status = agb_text_grow(&stretch->buffer, &stretch->room, n_kept + step, err);
    if (status != AGB_OK)
        return status;
    if (!own && n_kept)
        memcpy(stretch->buffer, kept, n_kept);
    size_t got;
    status = agb_text_source_read(source, stretch->buffer + n_kept, step, &got, err);
    if (status != AGB_OK)
        return status;
    stretch->bytes = stretch->held = n_kept + got;
    *last = got < step;
    return AGB_OK;
}

/* ---- Counting ---- */

/* Bit i of the result: an odd number of bits of `bits` stand at or below i. */
static uint64_t odd_below(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

static inline void note_row_ends(agb_text_row_ends *noted, size_t at, uint64_t ends)
{
    if (!ends)
        return;
    if (!noted->n)
        noted->behind_first = at + (unsigned)__builtin_ctzll(ends) + 1;
    noted->behind_last = at + 64 - (unsigned)__builtin_clzll(ends);
    noted->n += (unsigned)__builtin_popcountll(ends);
}

void agb_text_stretch_count(agb_text_stretch *stretch, bool quoted)
{
    const unsigned char *begin = stretch->buffer, *end = begin + stretch->bytes;
    uint64_t inside = 0;    /* all ones while a quote is open */
    agb_text_row_ends ends[2] = {0};
    for (const unsigned char *at = begin; at < end; at += AGB_TEXT_BLOCK) {
        uint64_t valid;
        agb_text_block block = agb_text_block_at(at, end, &valid);
        uint64_t line_feeds = agb_text_block_find(block, '\n') & valid;
        if (quoted) {
            uint64_t open = odd_below(agb_text_block_find(block, '"') & valid) ^ inside;
            note_row_ends(&ends[1], (size_t)(at - begin), line_feeds & open);
            line_feeds &= ~open;
            inside = 0 - (open >> 63);
        }
        note_row_ends(&ends[0], (size_t)(at - begin), line_feeds);
    }
    stretch->ends[0] = ends[0];
    stretch->ends[1] = ends[1];
    stretch->flips = inside != 0;
}
