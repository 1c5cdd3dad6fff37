/* SPDX-License-Identifier: MIT */
/* The environment block that every output carries. */
#ifndef AGB_MACHINE_H
#define AGB_MACHINE_H

#include "aggbench.h"

typedef struct agb_machine {
    char cpu[128];                /* model name as the kernel prints it */
    char uarch[64];               /* "Zen 4", or "family F model M" when it is in no slot table */
    unsigned cores;               /* processors this process may run on: min(affinity, cgroup quota) */
    agb_caches caches;
    uint64_t memory_bytes;
    uint64_t memory_available_bytes;    /* MemAvailable, and the cgroup's limit where that is lower */
    char kernel[128];
    char hypervisor[32];          /* "" on bare metal */
    bool reports_free_pages;      /* to its host, which takes them back: agb_machine_reports_free_pages */
    char pages[64];               /* /sys/kernel/mm/transparent_hugepage/enabled, the chosen word */
    char governor[32];            /* "" when there is none */
    char compiler[96], flags[160], commit[48];    /* of this build */
} agb_machine;

void agb_machine_read(agb_machine *out);

/* Processors this process may run on, ascending; returns how many (at most `most` are written). */
unsigned agb_machine_allowed_cpus(int *cpus, unsigned most);
/* Default number of threads: min(affinity, cgroup v1/v2 CPU quota rounded up). root is "" except in tests, where it is
 * put before /proc and /sys. */
unsigned agb_machine_default_threads(const char *root);

/* Seconds that the control group's quota has kept its processes from running, since it was made; negative: unknown. */
double agb_machine_throttled_s(const char *root);

/* Bytes this process may still take: MemAvailable, or what the control group's limit leaves where that is less. */
uint64_t agb_machine_available_bytes(const char *root);
/* Does this guest tell its host which pages are free (virtio balloon, feature 5)? The host takes them back, so that a
 * first touch some seconds after memory was freed costs many times as much as right away: on KVM, for 2 MiB, 3 to 5 ms
 * against 0.2. What stays mapped stays. */
bool agb_machine_reports_free_pages(const char *root);
/* Name of the hypervisor, "" on bare metal. CPUID is asked only when root is "". */
void agb_machine_hypervisor(const char *root, char *name, size_t size);

/* Streaming bandwidth of `workers` threads of the pool at this moment, in 1e9 bytes a second, best of several passes
 * over a buffer well beyond the last-level cache: reading, and writing (the better of ordinary and streaming stores).
 * Takes about 0.3 s. Status is AGB_ERR_MEMORY when there is no room for the buffer. */
typedef struct agb_floor {
    double read_gbps, write_gbps;
} agb_floor;
agb_status agb_floor_measure(agb_floor *out, agb_pool *pool, agb_error *err);
/* Seconds to read rows keys once, write and read back the partitions, and write the result of `groups`. */
double agb_floor_seconds(const agb_floor *floor, uint64_t rows, uint64_t key_bytes, uint64_t groups);

#endif
