/* SPDX-License-Identifier: MIT */
/* Small files of /proc and /sys, read whole. root is put before the path: "" except in tests, which bring a tree of
 * their own. */
#ifndef AGB_SYSFILE_H
#define AGB_SYSFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The file's text without its last line end, cut to size. false, and "", when it cannot be read. */
bool agb_sysfile_read(const char *root, const char *path, char *text, size_t size);
/* The same, returning 0 or errno: ENOENT and ESRCH for what a process took with it when it ended. */
int agb_sysfile_try(const char *root, const char *path, char *text, size_t size);
/* A file that holds one decimal number and nothing else. */
bool agb_sysfile_number(const char *root, const char *path, int64_t *number);
/* The value of the first line "NAME<blanks>:<blanks>VALUE" of a file such as /proc/cpuinfo or /proc/meminfo. */
bool agb_sysfile_field(const char *root, const char *path, const char *name, char *value, size_t size);
/* The same as a number, decimal or 0x hexadecimal; what follows it (" kB") is left alone. */
bool agb_sysfile_field_number(const char *root, const char *path, const char *name, uint64_t *number);
/* Shows each line to see until it returns true; so does this then. */
bool agb_sysfile_any_line(const char *root, const char *path, bool (*see)(char *line, void *context), void *context);
bool agb_sysfile_exists(const char *root, const char *path);

#endif
