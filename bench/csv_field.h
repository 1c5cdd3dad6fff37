/* SPDX-License-Identifier: MIT */
/* Fields of a CSV line, each with the comma before it. */
#ifndef AGB_CSV_FIELD_H
#define AGB_CSV_FIELD_H

#include <stdio.h>

/* Always in quotes, so that no content can break the line's shape. */
void agb_csv_text(FILE *to, const char *text);
/* Whole numbers with all their digits; empty where it is not finite. */
void agb_csv_number(FILE *to, double value);

#endif
