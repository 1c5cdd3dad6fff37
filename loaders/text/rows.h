/* SPDX-License-Identifier: MIT */
/* What the row parsers of the text formats share with the reader that runs them: pieces of whole rows in, values in
 * the table's columns out. */
#ifndef AGB_TEXT_ROWS_H
#define AGB_TEXT_ROWS_H

#include "values.h"

enum { AGB_TEXT_NO_TARGET = -1 };

/* Why a piece could not be parsed. */
typedef struct agb_text_fault {
    const unsigned char *at;    /* beginning of the row; NULL: no fault */
    agb_status status;
    int target;                 /* the column, or AGB_TEXT_NO_TARGET */
    char reason[320];
} agb_text_fault;

/* A run of whole rows, parsed by one worker at a time. */
typedef struct agb_text_piece {
    const unsigned char *begin, *end;     /* from the beginning of a row to behind the end of one */
    uint64_t first_row, rows;
    agb_text_target *targets;             /* the wanted columns, by ascending field; the worker's own */
    size_t n_targets;
    char *const *names;                   /* of all fields, by their order in the first row */
    size_t fields;                        /* how many those are */
    agb_text_arena *arena;                /* of the worker */
    agb_text_fault fault;
} agb_text_piece;

/* Each notes the piece's fault and returns false, so that a parser can write: return agb_text_refuse(...). */
__attribute__((format(printf, 4, 5)))
bool agb_text_refuse(agb_text_piece *piece, const unsigned char *row_begin, int target, const char *format, ...);
bool agb_text_refuse_value(agb_text_piece *piece, const unsigned char *row_begin, const agb_text_target *target,
                           const unsigned char *begin, const unsigned char *end);
bool agb_text_refuse_fields(agb_text_piece *piece, const unsigned char *row_begin, uint64_t found);

/* The three ways to store a field. False: see the piece's fault. */
bool agb_text_put_null(agb_text_piece *piece, const agb_text_target *target, uint64_t row,
                       const unsigned char *row_begin);
bool agb_text_put_copy(agb_text_piece *piece, const agb_text_target *target, uint64_t row,
                       const unsigned char *row_begin, const unsigned char *begin, const unsigned char *end);
/* Room for a string of up to `bytes`, to be filled and then stored with agb_text_store_bytes. NULL: see the fault. */
unsigned char *agb_text_room(agb_text_piece *piece, const unsigned char *row_begin, size_t bytes);

/* Reads the row that begins at row_begin and stores its wanted fields at `row`. Returns where the next row begins, or
 * NULL: see the piece's fault. */
typedef const unsigned char *(*agb_text_parse_row)(agb_text_piece *piece, uint64_t row, const unsigned char *row_begin);

/* All rows of the piece, until one is refused. */
static inline void agb_text_parse_rows(agb_text_piece *piece, agb_text_parse_row parse_row)
{
    const unsigned char *at = piece->begin;
    for (uint64_t i = 0; i < piece->rows && at; i++)
        at = parse_row(piece, piece->first_row + i, at);
}

/* Where a row's own bytes end: before a CR that belongs to the line end. */
static inline const unsigned char *agb_text_before_cr(const unsigned char *begin, const unsigned char *end)
{
    return end > begin && end[-1] == '\r' ? end - 1 : end;
}

#endif
