/* SPDX-License-Identifier: MIT */
/* Which level of the memory hierarchy serves the loads: a sample of them, each with where its data came from, how long
 * it took, and whether another core had just written the line. The processor chooses them (AMD IBS, Intel PEBS); where
 * it cannot, or the kernel does not let us, there is a reason. */
#ifndef AGB_LOAD_SAMPLES_H
#define AGB_LOAD_SAMPLES_H

#include "perf.h"

typedef enum agb_load_level {
    AGB_LOAD_L1, AGB_LOAD_BUFFER, AGB_LOAD_L2, AGB_LOAD_L3, AGB_LOAD_DRAM, AGB_LOAD_REMOTE, AGB_LOAD_OTHER,
    AGB_LOAD_LEVELS
} agb_load_level;

const char *agb_load_level_name(agb_load_level level);    /* "L1", "fill buffer" ... */

typedef struct agb_load_samples {
    bool had;
    char reason[320];                       /* why not */
    uint64_t loads, lost;
    uint64_t by_level[AGB_LOAD_LEVELS];     /* samples; their latency in cycles, where it was told: */
    uint64_t cycles[AGB_LOAD_LEVELS], weighed;
    uint64_t hit_modified;                  /* the line was modified in another core's cache (HITM) */
    uint64_t tlb_known, tlb_walks;          /* address translated by a page walk */
} agb_load_samples;

/* One PERF_SAMPLE_DATA_SRC word and its weight in cycles, 0 = unknown. What is no load is left out. */
void agb_load_samples_add(agb_load_samples *samples, uint64_t data_source, uint64_t cycles);
/* Adds the records of a ring buffer's piece [tail, head) of a power of two bytes; returns the new tail. */
uint64_t agb_load_samples_read(agb_load_samples *samples, const void *ring, size_t bytes, uint64_t tail, uint64_t head);

typedef struct agb_load_sampler agb_load_sampler;

/* Samples from now on. NULL, with samples->reason, where it cannot. root is "" except in tests. */
agb_load_sampler *agb_load_sampler_start(const char *root, const agb_perf_target *targets, size_t n,
                                         agb_load_samples *samples);
/* Takes what has come so far out of the buffers. */
void agb_load_sampler_drain(agb_load_sampler *sampler, agb_load_samples *samples);
void agb_load_sampler_end(agb_load_sampler *sampler, agb_load_samples *samples);

/* What to run elsewhere, for the processor at hand. whose: "-a -- sleep 10" and the like. */
void agb_load_sampler_command(const char *root, const char *whose, char *text, size_t size);

#endif
