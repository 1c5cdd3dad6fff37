/* SPDX-License-Identifier: MIT */
/* A file that has a temporary name, ".NAME.PID.tmp" in the same folder, until it is complete and safe on the disk.
 * Whatever ends the process in between, under the right name stands the old file or none; and a folder that is loaded
 * as a whole passes over hidden files. */
#ifndef AGB_DRAFT_H
#define AGB_DRAFT_H

#include "aggbench.h"

typedef struct agb_draft {
    const char *name;      /* as the caller calls it; borrowed */
    char *path;            /* where it will stand: behind symbolic links */
    char *temporary;
    int fd;
    uint64_t bytes;        /* written so far; gaps included */
} agb_draft;

/* Refuses what is there and is no regular file. After a failure nothing needs to be released. */
agb_status agb_draft_open(agb_draft *out, const char *path, agb_error *err);
agb_status agb_draft_append(agb_draft *draft, const void *from, size_t bytes, agb_error *err);
/* Leaves a gap up to the next multiple of `bytes`. */
void agb_draft_align(agb_draft *draft, uint64_t bytes);
/* Both end the draft. Publishing forces it to the disk and gives it its name; if that fails it is dropped. */
agb_status agb_draft_publish(agb_draft *draft, agb_error *err);
void agb_draft_drop(agb_draft *draft);

#endif
