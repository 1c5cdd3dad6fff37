/* SPDX-License-Identifier: MIT */
/* Text of unknown origin, such as a path or a column's name, as a JSON string. */
#ifndef AGB_JSON_TEXT_H
#define AGB_JSON_TEXT_H

#include <jansson.h>
#include <stdio.h>

/* JSON is UTF-8, a name need not be: where it is not, its bytes beyond ASCII become '?', so that the report stays
 * whole. */
json_t *agb_json_text(const char *bytes);
/* null for NULL and "". */
json_t *agb_json_text_or_null(const char *bytes);
/* A finite number, or null. */
json_t *agb_json_number(double value);
/* One whole report; takes the reference. */
void agb_json_write(FILE *to, json_t *report);

#endif
