/* SPDX-License-Identifier: MIT */
/* Columns as a caller names and types them, for text that says neither: one line `NAME TYPE` for each, in their
 * order. */
#ifndef AGB_TEXT_SCHEMA_H
#define AGB_TEXT_SCHEMA_H

#include "hits.h"

typedef struct agb_text_schema_line {
    const char *name;    /* not ended by a NUL */
    size_t length;
    agb_text_kind kind;
} agb_text_schema_line;

/* Takes the next line off *text that is not blank. false: there is none, or it is wrong, and then *err has a status and
 * the sentence, which begins with "schema: line N"; number: of the lines before, to start with 0. */
bool agb_text_schema_next(const char **text, size_t *number, agb_text_schema_line *line, agb_error *err);

#endif
