/* SPDX-License-Identifier: MIT */
/* Shared by whoever writes whole cache lines past the caches: a streaming store does not first read the line that it
 * will overwrite, and throws nothing useful out of the cache. The only place that knows the instruction by name;
 * elsewhere a plain copy gives the same bytes. */
#ifndef AGB_STREAM_PART_H
#define AGB_STREAM_PART_H

#include <stdint.h>
#include <string.h>

enum { LINE_BYTES = 64, LINE_WORDS = LINE_BYTES / 8 };

#if defined __SSE2__

#include <emmintrin.h>

/* Both are aligned to a line. */
static inline void stream_line(uint64_t *to, const uint64_t *from)
{
    for (unsigned i = 0; i < LINE_WORDS; i += 2)
        _mm_stream_si128((__m128i *)&to[i], _mm_load_si128((const __m128i *)&from[i]));
}

/* Streamed lines become visible to other threads in no particular order: close them before anybody is told. */
static inline void stream_close(void)
{
    _mm_sfence();
}

#else

static inline void stream_line(uint64_t *to, const uint64_t *from)
{
    memcpy(to, from, LINE_BYTES);
}

static inline void stream_close(void)
{
}

#endif
#endif
