/* SPDX-License-Identifier: MIT */
/* All groups of a count as a CSV file. */
#ifndef AGB_GROUPS_FILE_H
#define AGB_GROUPS_FILE_H

#include "output.h"

/* A header, then a line for each group (RFC 4180): the key, one field for each of its columns, and the count, in the
 * order of the keys: NULL first, numbers by value, strings by their bytes. Of a key of one column the header's name is
 * `key`, of several they are the columns' names. NULL is the bare word; a string of that name stands in quotes. nulls:
 * rows that were counted apart. to: prepared; it is closed. */
agb_status agb_groups_write(agb_output *to, const agb_sink *sink, uint64_t nulls, const agb_key_layout *layout,
                            agb_error *err);

#endif
