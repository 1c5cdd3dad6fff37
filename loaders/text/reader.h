/* SPDX-License-Identifier: MIT */
/* The reader that all text formats run on. A format is a row parser and a way to take names from the first row; the
 * reader does the rest: unpacking, finding row ends, spreading pieces over the workers, schema, errors with a line.
 *
 * THE FIRST ROW  A row of 105 fields that begins with an integer is ClickBench's form: no names, the columns of hits by
 * position. Any other first row is a header: it must name every column, and no name may be empty, a number or twice
 * there. A byte order mark before it is passed over. (JSON lines name their columns in every row.) A schema of the
 * caller's goes before all of that: its columns, in its order, and the first row is data unless it is their names.
 * ROWS  end with LF or CR LF; the last row may go without. Every row must have as many fields as the first.
 * TYPES  a schema's, else see hits.h. */
#ifndef AGB_TEXT_READER_H
#define AGB_TEXT_READER_H

#include "rows.h"

typedef struct agb_text_reader agb_text_reader;

typedef struct agb_text_format {
    const char *name;
    bool quoted;            /* an LF between double quotes ends no row */
    bool names_in_rows;     /* the first row is data, and names the columns all the same */

    /* Gives the fields of the first row [begin, end), its line end cut off, to agb_text_add_field, escapes undone. */
    agb_status (*first_row)(agb_text_reader *reader, const unsigned char *begin, const unsigned char *end,
                            agb_error *err);

    /* Parses exactly piece->rows rows. What stands in the piece's fault is its result. */
    void (*parse)(agb_text_piece *piece);
} agb_text_format;

/* The four functions of a loader. */
agb_status agb_text_open(const agb_text_format *format, const agb_input *input, void **self, agb_error *err);
agb_status agb_text_schema(void *self, agb_schema *schema, agb_error *err);
agb_status agb_text_load(void *self, const size_t *column, size_t n_columns, agb_table *table, const agb_load *load,
                         agb_error *err);
void agb_text_close(void *self);

/* For first_row. */
agb_status agb_text_add_field(agb_text_reader *reader, const unsigned char *begin, const unsigned char *end,
                              agb_error *err);

const char *agb_text_path(const agb_text_reader *reader);    /* of the file, for messages */

/* How many bytes a worker takes at a time; results must not depend on it. For tests: 1 is allowed. */
void agb_text_set_step(void *self, size_t bytes);

/* ---- Probing ---- */

/* What the first line looks like, unpacked; blank lines before it are passed over here, for the reader to refuse. */
typedef struct agb_text_look {
    size_t tabs;             /* all of them */
    size_t free_tabs;        /* outside of double quotes */
    size_t commas;           /* outside of double quotes */
    bool object;             /* begins with {, or with [ and then {: JSON, of one kind or another */
    bool quote;              /* it begins with ", or is a name and the second line begins with " */
    bool name;               /* the whole line is a name: letters, digits and _, not beginning with a digit */
    bool called_csv;         /* by the file's name, which counts where the content is both */
    bool hidden;             /* packed, and nothing can be unpacked of what is there: it is damaged, or in a way that
                                is not read, or from a pipe of which too little has come. Tsv takes these on, and tells
                                what is wrong if any is */
} agb_text_look;

/* False when this is no text of ours, e.g. a file that calls itself Parquet. */
bool agb_text_look_at(agb_text_look *look, const agb_input *input);

#endif
