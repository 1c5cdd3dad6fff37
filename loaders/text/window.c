/* SPDX-License-Identifier: MIT */
/* The moving window. Over a mapping it only moves two pointers. */
#include "window.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

agb_status agb_text_window_open(agb_text_window *window, const agb_input *input, agb_error *err)
{
    size_t bytes;
    *window = (agb_text_window){0};
    agb_status status = agb_text_source_open(&window->source, input, err);
    if (status != AGB_OK)
        return status;
    window->map = agb_text_source_map(window->source, &bytes);
    if (window->map) {
        window->begin = window->end = window->map;
        window->map_end = window->map + bytes;
    }
    return AGB_OK;
}

void agb_text_window_close(agb_text_window *window)
{
    agb_text_source_close(window->source);
    free(window->buffer);
    *window = (agb_text_window){0};
}

void agb_text_window_release(const agb_text_window *window, const unsigned char *begin, const unsigned char *end)
{
    if (!window->map)
        return;
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    size_t from = (size_t)(begin - window->map) / page * page, to = (size_t)(end - window->map) / page * page;
    if (from < to)
        madvise((void *)(window->map + from), to - from, MADV_DONTNEED);
}

/* Room for `bytes` in the buffer. Realloc moves pages where it can, which matters for a row of many MiB. */
static agb_status grow_buffer(agb_text_window *window, size_t bytes, agb_error *err)
{
    if (bytes <= window->capacity)
        return AGB_OK;
    unsigned char *buffer = realloc(window->buffer, bytes);
    if (!buffer)
        return agb_fail(err, AGB_ERR_MEMORY, "text: the system refuses %zu bytes", bytes);
    window->buffer = buffer;
    window->capacity = bytes;
    return AGB_OK;
}

static agb_status move_in_buffer(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err)
{
    size_t kept = (size_t)(window->end - to), got;
    if (kept && to > window->buffer)
        memmove(window->buffer, to, kept);
    agb_status status = grow_buffer(window, kept + step, err);
    window->begin = window->buffer;
    window->end = window->buffer + kept;
    if (status == AGB_OK)
        status = agb_text_source_read(window->source, window->buffer + kept, step, &got, err);
    if (status != AGB_OK)
        return status;
    window->end += got;
    window->last = got < step;
    return AGB_OK;
}

agb_status agb_text_window_move(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err)
{
    if (!window->map)
        return move_in_buffer(window, to, step, err);
    window->begin = to;
    window->end += (size_t)(window->map_end - window->end) < step ? (size_t)(window->map_end - window->end) : step;
    window->last = window->end == window->map_end;
    return AGB_OK;
}
