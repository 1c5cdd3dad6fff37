/* SPDX-License-Identifier: MIT */
/* All groups of a count as a CSV file. */
#ifndef AGB_GROUPS_FILE_H
#define AGB_GROUPS_FILE_H

#include "aggbench.h"

/* Lines `key,count` after a header of these words, in the order of the keys (as signed or unsigned numbers); rows
 * whose key is NULL come first as `NULL,count`. The file appears only when it is complete. */
agb_status agb_groups_write(const char *path, const agb_sink *sink, uint64_t nulls, bool signed_keys, agb_error *err);

#endif
