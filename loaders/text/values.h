/* SPDX-License-Identifier: MIT */
/* From the bytes of a field to the value in a column. Every rule of what a number or date may look like is here, and
 * all text formats share it:
 *
 *   integer   an optional '-' and digits, nothing else: no '+', no space, no point, not empty; exactly in range
 *   date      YYYY-MM-DD from 1970-01-01 to 2149-06-06, what 16 bits of days can hold
 *   time      YYYY-MM-DD hh:mm:ss, years 0000 to 9999; no leap seconds
 *   string    any bytes */
#ifndef AGB_TEXT_VALUES_H
#define AGB_TEXT_VALUES_H

#include "hits.h"
#include "loader.h"

/* A wanted column: where it stands in the file and where its values go. */
typedef struct agb_text_target {
    const char *name;
    agb_text_kind kind;
    size_t field;        /* position in the file's schema, from 0 */
    size_t column;       /* position in the table */
    void *values;        /* base of the column, all rows from 0 */
    uint8_t *nulls;      /* base of the null bytes; NULL until a first NULL of the piece is seen */
} agb_text_target;

/* Where string bytes are put: pieces of the table's heap, cut off one after another. One worker's own. */
typedef struct agb_text_arena {
    agb_table *table;
    unsigned char *at;
    size_t left;
} agb_text_arena;

/* Memory for `bytes` string bytes; NULL when the system refuses. */
unsigned char *agb_text_arena_take(agb_text_arena *arena, size_t bytes);

/* Converts a field of any kind but AGB_TEXT_STRING and stores it at `row`. false when the text is not such a value;
 * agb_text_explain says why. */
bool agb_text_store_number(const agb_text_target *target, uint64_t row, const unsigned char *begin,
                           const unsigned char *end);

static inline void agb_text_store_bytes(const agb_text_target *target, uint64_t row, const unsigned char *data,
                                        size_t length)
{
    ((agb_bytes *)target->values)[row] = (agb_bytes){data, length};
}

/* Why [begin, end) is no value of this kind, e.g. `"12abc" is no integer: allowed are -32768..32767`. */
void agb_text_explain(agb_text_kind kind, const unsigned char *begin, const unsigned char *end, char *to, size_t size);

/* Text from a file, made fit for a message: in quotes, all but printable ASCII as \xNN, cut after 40 bytes. */
enum { AGB_TEXT_QUOTE_BYTES = 4 * 40 + 6 };
const char *agb_text_quote(char to[AGB_TEXT_QUOTE_BYTES], const unsigned char *begin, const unsigned char *end);

#endif
