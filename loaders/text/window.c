/* SPDX-License-Identifier: MIT */
/* The moving window: see window.h. */
#include "window.h"

#include <stdlib.h>
#include <string.h>

agb_status agb_text_window_open(agb_text_window *window, const agb_input *input, agb_error *err)
{
    *window = (agb_text_window){0};
    agb_status status = agb_text_source_open(&window->source, input, err);
    if (status == AGB_OK)
        window->flat = agb_text_source_is_flat(window->source, &window->file_bytes);
    return status;
}

void agb_text_window_close(agb_text_window *window)
{
    agb_text_source_close(window->source);
    free(window->buffer);
    *window = (agb_text_window){0};
}

/* Room for `bytes` in the buffer. Realloc moves pages where it can, which matters for a row of many MiB. */
static agb_status grow_buffer(agb_text_window *window, size_t bytes, agb_error *err)
{
    if (bytes <= window->capacity)
        return AGB_OK;
    bytes += bytes / 8;    /* what is kept differs from step to step: not a bit more each time */
    unsigned char *buffer = realloc(window->buffer, bytes);
    if (!buffer)
        return agb_fail(err, AGB_ERR_MEMORY, "text: the system refuses %zu bytes", bytes);
    window->buffer = buffer;
    window->capacity = bytes;
    return AGB_OK;
}

/* Moves the text from `to` on to the front of the buffer, and makes room for `step` bytes behind it. */
static agb_status keep_from(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err)
{
    size_t kept = (size_t)(window->end - to);
    if (kept && to > window->buffer)
        memmove(window->buffer, to, kept);
    agb_status status = grow_buffer(window, kept + step, err);
    window->begin = window->buffer;
    window->end = window->unread = window->buffer + kept;
    return status;
}

static void see_more_of_file(agb_text_window *window, size_t step)
{
    uint64_t left = window->file_bytes - window->end_offset;
    size_t more = left < step ? (size_t)left : step;
    window->end += more;
    window->end_offset += more;
    window->last = window->end_offset == window->file_bytes;
}

static agb_status read_stream(agb_text_window *window, size_t step, agb_error *err)
{
    size_t got;
    agb_status status = agb_text_source_read(window->source, window->buffer + (window->end - window->buffer), step,
                                             &got, err);
    if (status != AGB_OK)
        return status;
    window->end += got;
    window->unread = window->end;
    window->last = got < step;
    return AGB_OK;
}

agb_status agb_text_window_move_unread(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err)
{
    agb_status status = keep_from(window, to, step, err);
    if (status != AGB_OK)
        return status;
    if (!window->flat)
        return read_stream(window, step, err);
    see_more_of_file(window, step);
    return AGB_OK;
}

agb_status agb_text_window_fill(const agb_text_window *window, const unsigned char *begin, const unsigned char *end,
                                agb_error *err)
{
    if (begin < window->unread)
        begin = window->unread;
    if (begin >= end)
        return AGB_OK;
    return agb_text_source_read_at(window->source, window->end_offset - (uint64_t)(window->end - begin),
                                   window->buffer + (begin - window->buffer), (size_t)(end - begin), err);
}

agb_status agb_text_window_move(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err)
{
    agb_status status = agb_text_window_move_unread(window, to, step, err);
    if (status == AGB_OK)
        status = agb_text_window_fill(window, window->unread, window->end, err);
    window->unread = window->end;
    return status;
}
