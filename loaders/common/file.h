/* SPDX-License-Identifier: MIT */
/* Reading and writing at a place of a file, whole or not at all: what the formats that are not streams share. */
#ifndef AGB_FILE_H
#define AGB_FILE_H

#include "aggbench.h"

/* Reads exactly that many bytes from `offset` on. The sentence of a failure has only the reason. */
agb_status agb_file_read(int fd, uint64_t offset, void *out, size_t bytes, agb_error *err);

/* Writes all bytes from `offset` on; 0, or the errno of the failure. */
int agb_file_write(int fd, uint64_t offset, const void *from, size_t bytes);

/* Whether a path ends in this suffix, which includes its dot. */
bool agb_file_has_suffix(const char *path, const char *suffix);

#endif
