/* SPDX-License-Identifier: MIT */
/* The first rows of a text: see window.h. */
#include "window.h"

#include <stdlib.h>
#include <string.h>

agb_status agb_text_window_open(agb_text_window *window, const agb_input *input, agb_error *err)
{
    *window = (agb_text_window){0};
    return agb_text_source_open(&window->source, input, err);
}

void agb_text_window_close(agb_text_window *window)
{
    agb_text_source_close(window->source);
    free(window->buffer);
    *window = (agb_text_window){0};
}

/* At the beginning of a page: the system copies a file's pages there an eighth faster (one thread, 328 MB of hits: 94
 * ms with what malloc gives, 16 bytes behind one, and 82). */
agb_status agb_text_grow(unsigned char **buffer, size_t *room, size_t bytes, agb_error *err)
{
    enum { PAGE_BYTES = 4096, UNASKED_BYTES = 16 << 20 };
    if (bytes <= *room)
        return AGB_OK;
    bytes += bytes / 8;    /* what is kept differs from time to time: not a bit more each time */
    bytes = (bytes + PAGE_BYTES - 1) & ~(size_t)(PAGE_BYTES - 1);
    /* Many workers with long rows: the system would grant more than it has. */
    bool fits = bytes <= UNASKED_BYTES || bytes <= agb_system_memory_available();
    unsigned char *larger = fits ? aligned_alloc(PAGE_BYTES, bytes) : NULL;
    if (!larger)
        return agb_fail(err, AGB_ERR_MEMORY, "text: the system refuses %zu bytes", bytes);
    if (*room)
        memcpy(larger, *buffer, *room);
    free(*buffer);
    *buffer = larger;
    *room = bytes;
    return AGB_OK;
}

agb_status agb_text_window_move(agb_text_window *window, const unsigned char *to, size_t step, agb_error *err)
{
    size_t kept = (size_t)(window->end - to), got;
    if (kept && to > window->buffer)
        memmove(window->buffer, to, kept);
    agb_status status = agb_text_grow(&window->buffer, &window->room, kept + step, err);
    window->begin = window->buffer;
    window->end = window->buffer + kept;
    if (status == AGB_OK)
        status = agb_text_source_read(window->source, window->buffer + kept, step, &got, err);
    if (status != AGB_OK)
        return status;
    window->end += got;
    window->end_offset += got;
    window->last = got < step;
    return AGB_OK;
}
