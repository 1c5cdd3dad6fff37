/* SPDX-License-Identifier: MIT */
/* Runs of equal values: see runs.h.
 *
 * Each function is written once for any width; the inline bodies are called with a constant one, from which the
 * compiler makes three versions with single loads and stores. */
#include "agb/runs.h"

#include <string.h>

enum { MOST_LENGTH = 255 };

static inline bool same(const unsigned char *a, const unsigned char *b, size_t width)
{
    return memcmp(a, b, width) == 0;
}

static inline size_t count(const unsigned char *values, size_t n, size_t width)
{
    size_t runs = 0;
    for (size_t i = 0, start = 0; i < n; i++)
        if (i == 0 || i - start == MOST_LENGTH || !same(values + i * width, values + (i - 1) * width, width)) {
            start = i;
            runs++;
        }
    return runs;
}

size_t agb_native_runs_count(const void *values, size_t n, size_t width)
{
    return width == 8 ? count(values, n, 8) : width == 4 ? count(values, n, 4) : count(values, n, 1);
}

static inline void make(const unsigned char *values, size_t n, size_t width, size_t runs, unsigned char *out)
{
    unsigned char *lengths = out + runs * width;
    for (size_t i = 0; i < n;) {
        size_t length = 1;
        while (i + length < n && length < MOST_LENGTH && same(values + i * width, values + (i + length) * width, width))
            length++;
        memcpy(out, values + i * width, width);
        out += width;
        *lengths++ = (unsigned char)length;
        i += length;
    }
}

void agb_native_runs_make(const void *values, size_t n, size_t width, size_t runs, unsigned char *out)
{
    if (width == 8)
        make(values, n, 8, runs, out);
    else if (width == 4)
        make(values, n, 4, runs, out);
    else
        make(values, n, 1, runs, out);
}

/* Copies of one value, STEP at a time: most runs are short, and stores past a run's end are cheaper than a branch that
 * nobody can foresee. The next run overwrites them; near the end of the room it goes value by value. */
static inline bool expand(const unsigned char *packed, size_t runs, size_t width, unsigned char *out, size_t n)
{
    enum { STEP = 4, SAFE = MOST_LENGTH + STEP };
    const unsigned char *lengths = packed + runs * width;
    size_t i = 0, left = n;
    for (; i < runs && left >= SAFE; i++) {
        size_t length = lengths[i];
        if (length == 0)
            return false;
        for (size_t done = 0; done < length; done += STEP)
            for (size_t k = 0; k < STEP; k++)
                memcpy(out + (done + k) * width, packed + i * width, width);
        out += length * width;
        left -= length;
    }
    for (; i < runs; i++) {
        size_t length = lengths[i];
        if (length == 0 || length > left)
            return false;
        left -= length;
        for (; length > 0; length--, out += width)
            memcpy(out, packed + i * width, width);
    }
    return left == 0;
}

bool agb_native_runs_expand(const unsigned char *packed, size_t runs, size_t width, void *out, size_t n)
{
    return width == 8   ? expand(packed, runs, 8, out, n)
           : width == 4 ? expand(packed, runs, 4, out, n)
                        : expand(packed, runs, 1, out, n);
}
