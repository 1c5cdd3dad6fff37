/* SPDX-License-Identifier: MIT */
/* Loops that stream through memory: the floor's, and lab bandwidth's. What they read is checked against what must stand
 * there, and what they write is read again, so that no compiler may leave anything out. */
#ifndef AGB_KERNELS_H
#define AGB_KERNELS_H

#include "aggbench.h"

typedef enum agb_kernel {
    AGB_KERNEL_READ,         /* every word */
    AGB_KERNEL_WRITE,        /* with ordinary stores: most processors first read the line that they write into */
    AGB_KERNEL_PAST,         /* with streaming stores, past the caches: no line is read */
    AGB_KERNEL_COPY,         /* first half to second half */
    AGB_KERNEL_TRIAD,        /* first third = second + scale * third third, as in STREAM (J. McCalpin, 1995) */
    AGB_KERNELS
} agb_kernel;

const char *agb_kernel_name(agb_kernel kernel);
/* Slices are whole multiples of this many bytes, aligned to 64. */
enum { AGB_KERNEL_UNIT = 3 * 2 * 4 * 32 };
/* Bytes of each worker's slice: the largest such multiple of which all fit. */
size_t agb_kernel_slice(size_t bytes, unsigned workers);

/* One pass over a slice that holds `value` everywhere, and does so afterwards. Returns the bits of all words read that
 * were different. */
uint64_t agb_kernel_pass(agb_kernel kernel, void *slice, size_t bytes, double value);
/* A pass counts the bytes that its loads and stores name: as many as the slice has. These come on top where the
 * processor reads a line before it writes into it (read for ownership); tools that count them show up to twice as
 * much. */
double agb_kernel_hidden_bytes(agb_kernel kernel, double bytes);

#endif
