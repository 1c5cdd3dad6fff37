/* SPDX-License-Identifier: MIT */
/* One of several processes of a run: see processes.h. */
#ifndef AGB_SHARE_H
#define AGB_SHARE_H

#include "aggbench.h"

/* Order to one such process, and what its parent has to know to start it. */
typedef struct agb_share {
    int file;            /* descriptor of the memory file */
    unsigned process;    /* its number: the parent's is 0 */
    size_t source;       /* the only one that it measures */
} agb_share;

/* "FILE:PROCESS:SOURCE". */
agb_status agb_share_parse(agb_share *out, const char *text, agb_error *err);

#endif
