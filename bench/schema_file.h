/* SPDX-License-Identifier: MIT */
/* The file of --schema, as the engine takes it: text. */
#ifndef AGB_SCHEMA_FILE_H
#define AGB_SCHEMA_FILE_H

#include "aggbench.h"

/* path NULL: *text is NULL. Else the caller frees it. */
agb_status agb_schema_file_read(char **text, const char *path, agb_error *err);

#endif
