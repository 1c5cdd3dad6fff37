/* SPDX-License-Identifier: MIT */
/* The file of --schema, as the engine takes it: text. */
#ifndef AGB_SCHEMA_FILE_H
#define AGB_SCHEMA_FILE_H

#include "aggbench.h"

/* path NULL: *text is NULL. Else the caller frees it. */
agb_status agb_schema_file_read(char **text, const char *path, agb_error *err);
/* The engine knows only the text, and begins what it finds wrong in it with "schema: ": that becomes the file's name.
 * Other errors stay as they are. path may be NULL. */
void agb_schema_file_name(agb_error *err, const char *path);

#endif
