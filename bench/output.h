/* SPDX-License-Identifier: MIT */
/* A file that appears only when it is complete. It is written without a name, or under a temporary one, and takes its
 * name at the end; what is no regular file (a pipe, /dev/null) is written straight. */
#ifndef AGB_OUTPUT_H
#define AGB_OUTPUT_H

#include "aggbench.h"

#include <stdio.h>

typedef struct agb_output {
    FILE *file;
    const char *path;    /* borrowed; NULL = standard output */
    char *temporary;     /* its name until the end; NULL when it has none */
    bool nameless;       /* opened by O_TMPFILE */
} agb_output;

/* path NULL: standard output. */
agb_status agb_output_open(agb_output *out, const char *path, agb_error *err);
/* Whether a file could be made there; leaves nothing behind. For telling before a long run. */
agb_status agb_output_check(const char *path, agb_error *err);
/* Reports any write error since the opening; then nothing is left of a file. */
agb_status agb_output_close(agb_output *out, agb_error *err);

#endif
