/* SPDX-License-Identifier: MIT */
/* The inside of a filter, for selection.c. */
#ifndef AGB_FILTER_H
#define AGB_FILTER_H

#include "aggbench.h"

typedef enum agb_operator {
    AGB_EQUAL, AGB_NOT_EQUAL, AGB_LESS, AGB_AT_MOST, AGB_GREATER, AGB_AT_LEAST, AGB_IN
} agb_operator;

typedef struct agb_literal {
    char *text;                /* what stands in quotes, without them; NULL: a number */
    size_t length;
    bool negative;             /* the number is -magnitude */
    uint64_t magnitude;
} agb_literal;

typedef struct agb_condition {
    char *column;
    agb_operator comparison;
    const char *operator;      /* as it was written */
    size_t n;                  /* 1, but for AGB_IN */
    agb_literal *literal;
} agb_condition;

struct agb_filter {
    size_t n;
    agb_condition *condition;
};

/* Every comparison of integers is one with a range: (value - low <= span) != negated, modulo 2^64. */
typedef struct agb_range {
    uint64_t low, span;
    bool negated;
} agb_range;

/* What literal i asks of a column of that type; of AGB_IN, as if it were the only one. range: for integer types. */
agb_status agb_condition_fit(const agb_condition *condition, size_t i, agb_type type, agb_range *range, agb_error *err);

#endif
