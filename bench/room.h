/* SPDX-License-Identifier: MIT */
/* Large stretches of memory for measurements, with a page policy, and what the kernel really gave. */
#ifndef AGB_ROOM_H
#define AGB_ROOM_H

#include "aggbench.h"

typedef struct agb_room {
    char *at;            /* 2 MiB aligned */
    size_t bytes;
    void *base;          /* of the mapping */
    size_t mapped;
} agb_room;

/* Untouched; AGB_ERR_MEMORY where it would take more than three quarters of what is available. `what` begins the
 * sentence: "lab: chase". */
agb_status agb_room_map(agb_room *out, size_t bytes, agb_pages pages, const char *what, agb_error *err);
void agb_room_unmap(agb_room *room);
/* Bytes of it that stand in huge pages now. */
size_t agb_room_huge_bytes(const agb_room *room);

#endif
