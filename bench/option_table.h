/* SPDX-License-Identifier: MIT */
/* All options there are, a row each: private to options.c and option_table.c. Adding an option is adding a field to
 * agb_options and a row, and naming it in the commands that take it; its range check and its line of --help follow from
 * the row. */
#ifndef AGB_OPTION_TABLE_H
#define AGB_OPTION_TABLE_H

#include "options.h"

typedef enum agb_option_kind {
    IS_FLAG, IS_COUNT, IS_BYTES, IS_CHOICE, IS_TEXT, IS_WORDS, IS_PINS, IS_COUNTERS
} agb_option_kind;

typedef struct agb_option {
    const char *name, *argument;
    const char *command;             /* the only commands that mean this row by the name; NULL = all the others */
    agb_option_kind kind;
    size_t offset;                   /* of the field in agb_options */
    uint64_t standard, least, most;  /* IS_COUNT, IS_BYTES; standard also of IS_CHOICE */
    const char *const *choices;      /* IS_CHOICE: NULL-ended, in the order of the enum */
    const char *about;
} agb_option;

extern const agb_option agb_option_table[];
extern const size_t agb_option_count;

#endif
