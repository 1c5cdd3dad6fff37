/* SPDX-License-Identifier: MIT */
/* Keys on paper: for people, as CSV fields and as JSON. */
#ifndef AGB_KEY_TEXT_H
#define AGB_KEY_TEXT_H

#include "aggbench.h"

#include <jansson.h>
#include <stdio.h>

/* By value, like agb_text. */
typedef struct agb_key_text {
    char s[256];
} agb_key_text;

/* One column's value for people: a number, NULL, or a string, an empty one as ''. Bytes that would disturb a line stand
 * as \xNN; what does not fit into `cells` terminal cells (at most 60) ends in "...". */
agb_key_text agb_text_value(const agb_value *value, int cells);
/* The whole key: "5"; of several columns "UserID=5, SearchPhrase=abc". */
agb_key_text agb_text_key(const agb_key_layout *layout, const agb_key *key);

/* One field for each column, parted by commas (RFC 4180): a string in quotes where it holds a quote, a comma, a line's
 * end, or is NULL's own name or empty; NULL as the bare word. Returns false when the stream has an error. */
bool agb_csv_key(FILE *to, const agb_key_layout *layout, const agb_key *key);
void agb_csv_bytes(FILE *to, agb_bytes bytes);

/* A string; for several columns an array of strings, with null where a value is NULL. Bytes that are not UTF-8: each of
 * them becomes U+FFFD. */
json_t *agb_json_key(const agb_key_layout *layout, const agb_key *key);

#endif
