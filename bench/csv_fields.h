/* SPDX-License-Identifier: MIT */
/* Fields of reports for spreadsheets, each behind its comma; a figure that is not there is an empty field. */
#ifndef AGB_CSV_FIELDS_H
#define AGB_CSV_FIELDS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* Always in quotes, so that no content can break the line's shape. */
void agb_csv_text_field(FILE *to, const char *text);
void agb_csv_number_field(FILE *to, bool has, double value);
void agb_csv_count_field(FILE *to, bool has, uint64_t value);

#endif
