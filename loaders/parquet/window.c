/* SPDX-License-Identifier: MIT */
#include "parquet/window.h"

#include "common/file.h"

#include <string.h>

enum {
    STEP_BYTES = 128 << 10,     /* least that is read at once; stays in the second-level cache until it is unpacked */
    AHEAD_BYTES = 1 << 10       /* read behind a page: the next page's header */
};

void agb_parquet_window_open(agb_parquet_window *window, int fd, uint64_t end)
{
    window->fd = fd;
    window->end = end;
    window->offset = 0;
    window->filled = 0;
}

/* Moves the bytes from `offset` on, as far as they are here, to the front of a buffer of at least `want` bytes. */
static bool move_to_front(agb_parquet_window *window, uint64_t offset, size_t want)
{
    bool here = offset >= window->offset && offset - window->offset < window->filled;
    size_t skip = here ? (size_t)(offset - window->offset) : 0;
    size_t keep = here ? window->filled - skip : 0;
    if (want > window->buffer.capacity) {
        agb_parquet_buffer larger = {.capacity = window->buffer.capacity};    /* to grow from */
        if (!agb_parquet_buffer_reserve(&larger, want))
            return false;
        if (keep)
            memcpy(larger.bytes, window->buffer.bytes + skip, keep);
        agb_parquet_buffer_release(&window->buffer);
        window->buffer = larger;
    } else if (keep) {
        memmove(window->buffer.bytes, window->buffer.bytes + skip, keep);
    }
    window->offset = offset;
    window->filled = keep;
    return true;
}

unsigned char *agb_parquet_window_at(agb_parquet_window *window, uint64_t offset, size_t bytes, size_t *available,
                                     agb_error *err)
{
    bool inside = offset >= window->offset && offset - window->offset <= window->filled &&
                  bytes <= window->filled - (offset - window->offset);
    if (!inside || !window->buffer.bytes) {
        uint64_t most = window->end - offset;
        uint64_t want = (uint64_t)bytes + AHEAD_BYTES > STEP_BYTES ? (uint64_t)bytes + AHEAD_BYTES : STEP_BYTES;
        if (want > most)
            want = most;
        if (!move_to_front(window, offset, (size_t)want)) {
            agb_fail(err, AGB_ERR_MEMORY, "the system refused %llu bytes of memory", (unsigned long long)want);
            return NULL;
        }
        size_t have = window->filled;
        if (agb_file_read(window->fd, offset + have, window->buffer.bytes + have, (size_t)want - have, err) !=
            AGB_OK)
            return NULL;
        window->filled = (size_t)want;
    }
    size_t skip = (size_t)(offset - window->offset);
    if (available)
        *available = window->filled - skip;
    return window->buffer.bytes + skip;
}
