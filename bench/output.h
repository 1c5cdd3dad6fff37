/* SPDX-License-Identifier: MIT */
/* A file that appears only when it is complete. It is written without a name, or under a temporary one, beside the file
 * that it replaces, and takes its name at the end. Links are followed. What is no regular file (a pipe, a terminal, an
 * open descriptor such as /dev/stdout) is opened once, by prepare, and written straight. */
#ifndef AGB_OUTPUT_H
#define AGB_OUTPUT_H

#include "aggbench.h"

#include <stdio.h>
#include <sys/stat.h>

typedef struct agb_output {
    FILE *file;          /* to be written to, between begin and close */
    const char *path;    /* borrowed; as it was given */
    char *target;        /* the regular file that it means, links followed; NULL when it is written straight */
    char *temporary;     /* its name until the end; NULL when it has none */
    bool nameless;       /* opened by O_TMPFILE */
} agb_output;

/* Before a long run: whether a file could be made there; leaves nothing behind. path NULL or "-": standard output. */
agb_status agb_output_prepare(agb_output *out, const char *path, agb_error *err);
agb_status agb_output_begin(agb_output *out, agb_error *err);
/* Reports any write error since the beginning; then nothing is left of a new file, and an old one is as it was. */
agb_status agb_output_close(agb_output *out, agb_error *err);
/* Gives up what was not closed. */
void agb_output_release(agb_output *out);

/* Whether both would be written to one place where they hurt each other: a terminal and /dev/null are none. */
bool agb_output_same(const agb_output *a, const agb_output *b);
/* Whether writing it would replace this file. */
bool agb_output_is(const agb_output *out, const struct stat *file);

/* errno of the first write to a stream that failed, or 0. */
int agb_write_error(FILE *file);
/* "writing PATH: reason: what to do". */
agb_status agb_cannot_write(const char *path, int reason, agb_error *err);

#endif
