/* SPDX-License-Identifier: MIT */
/* Streaming loops: see kernels.h. */
#include "kernels.h"

/* 32 bytes at once: what AVX2 moves in one instruction, and two of NEON's. */
typedef double vector __attribute__((vector_size(32)));
typedef uint64_t bits __attribute__((vector_size(32)));

enum { UNROLLED = 4 };

#if defined(__x86_64__)
#include <emmintrin.h>

static void store_past(vector *to, double value)
{
    __m128d pair = _mm_set1_pd(value);
    _mm_stream_pd((double *)to, pair);
    _mm_stream_pd((double *)to + 2, pair);
}

static void end_past(void)
{
    _mm_sfence();
}
#else
static void store_past(vector *to, double value)
{
    *to = (vector){value, value, value, value};
}

static void end_past(void)
{
}
#endif

/* Compilers would make library calls of plain loops that fill or copy, and those stream past the caches by themselves
 * when the size is large. */
static void keep_loop(void)
{
    __asm__ volatile("" ::: "memory");
}

const char *agb_kernel_name(agb_kernel kernel)
{
    static const char *const names[AGB_KERNELS] = {"read", "write", "streaming stores", "copy", "triad"};
    return names[kernel];
}

size_t agb_kernel_slice(size_t bytes, unsigned workers)
{
    return bytes / workers / AGB_KERNEL_UNIT * AGB_KERNEL_UNIT;
}

static uint64_t read_all(const vector *from, size_t vectors, double value)
{
    bits wanted = (bits)(vector){value, value, value, value}, wrong[UNROLLED] = {{0}};
    for (size_t i = 0; i < vectors; i += UNROLLED)
        for (size_t lane = 0; lane < UNROLLED; lane++)
            wrong[lane] |= (bits)from[i + lane] ^ wanted;
    bits all = wrong[0] | wrong[1] | wrong[2] | wrong[3];
    return all[0] | all[1] | all[2] | all[3];
}

static void write_all(vector *to, size_t vectors, double value)
{
    vector filled = {value, value, value, value};
    for (size_t i = 0; i < vectors; i += UNROLLED) {
        for (size_t lane = 0; lane < UNROLLED; lane++)
            to[i + lane] = filled;
        keep_loop();
    }
}

static void write_past(vector *to, size_t vectors, double value)
{
    for (size_t i = 0; i < vectors; i++)
        store_past(to + i, value);
    end_past();
}

static void copy(vector *to, const vector *from, size_t vectors)
{
    for (size_t i = 0; i < vectors; i += UNROLLED) {
        for (size_t lane = 0; lane < UNROLLED; lane++)
            to[i + lane] = from[i + lane];
        keep_loop();
    }
}

/* scale is 0 at run time, which the compiler must not know: so the slice keeps its value. */
static void triad(vector *to, const vector *a, const vector *b, size_t vectors)
{
    double scale = 0;
    __asm__ volatile("" : "+m"(scale));
    for (size_t i = 0; i < vectors; i += UNROLLED) {
        for (size_t lane = 0; lane < UNROLLED; lane++)
            to[i + lane] = a[i + lane] + scale * b[i + lane];
        keep_loop();
    }
}

uint64_t agb_kernel_pass(agb_kernel kernel, void *slice, size_t bytes, double value)
{
    vector *at = slice;
    size_t vectors = bytes / sizeof *at, half = vectors / 2, third = vectors / 3;
    switch (kernel) {
    case AGB_KERNEL_READ:
        return read_all(at, vectors, value);
    case AGB_KERNEL_WRITE:
        write_all(at, vectors, value);
        break;
    case AGB_KERNEL_PAST:
        write_past(at, vectors, value);
        break;
    case AGB_KERNEL_COPY:
        copy(at + half, at, half);
        break;
    case AGB_KERNEL_TRIAD:
        triad(at, at + third, at + 2 * third, third);
        break;
    case AGB_KERNELS:
        break;
    }
    return 0;
}

double agb_kernel_hidden_bytes(agb_kernel kernel, double bytes)
{
    static const double written[AGB_KERNELS] = {[AGB_KERNEL_WRITE] = 1, [AGB_KERNEL_COPY] = 1.0 / 2,
                                                [AGB_KERNEL_TRIAD] = 1.0 / 3};
    return written[kernel] * bytes;
}
