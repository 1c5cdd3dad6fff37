/* SPDX-License-Identifier: MIT */
/* The 105 columns of ClickBench's table hits, and what a text field of each kind means.
 *
 * Text says nothing about types, and guessing them from the first rows goes wrong at row 30,000. So a column with a
 * name of hits has the type it has in ClickBench's CREATE TABLE, and every other column is a byte string; who knows
 * better says so in a schema (schema.h). */
#ifndef AGB_TEXT_HITS_H
#define AGB_TEXT_HITS_H

#include "aggbench.h"

enum { AGB_TEXT_HITS_COLUMNS = 105 };

typedef enum agb_text_kind {
    AGB_TEXT_STRING,    /* bytes as they are once escapes are undone */
    AGB_TEXT_INT16,     /* held as int32, as the INT_16 of Parquet is */
    AGB_TEXT_INT32,
    AGB_TEXT_INT64,
    AGB_TEXT_UINT32,    /* of no column of hits; a schema may ask for it, as for the next */
    AGB_TEXT_UINT64,
    AGB_TEXT_DATE,      /* YYYY-MM-DD, held as uint32 days since 1970-01-01, as the UINT_16 of Parquet is */
    AGB_TEXT_TIME       /* YYYY-MM-DD hh:mm:ss in UTC, held as int64 seconds since 1970-01-01 00:00:00 */
} agb_text_kind;

typedef struct agb_text_named_kind {
    const char *name;
    agb_text_kind kind;
} agb_text_named_kind;

/* In the order of hits.tsv and hits.csv. */
extern const agb_text_named_kind agb_text_hits[AGB_TEXT_HITS_COLUMNS];

/* false, and *kind is a string: no column of hits has that name. */
bool agb_text_kind_of(const char *name, agb_text_kind *kind);
agb_type agb_text_kind_type(agb_text_kind kind);
const char *agb_text_kind_detail(agb_text_kind kind);    /* one line for `describe` */

#endif
