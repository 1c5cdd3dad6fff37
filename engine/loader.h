/* SPDX-License-Identifier: MIT */
/* What a file format must provide: one C file in loaders/ that defines `const agb_loader agb_loader_<file stem>`.
 * Adding a format is adding that file; the engine finds it by asking every loader whether it knows the first bytes.
 *
 * ORDER      open; then schema and load any number of times; close exactly once if open set *self, also when open
 *            failed afterwards. One reader serves one file (or one generator spec).
 * VALUES     A loader writes values straight into the table's memory: agb_table_extend makes room for rows, and
 *            agb_table_values gives the place. Rows that were extended must all be written before load returns AGB_OK.
 * ERRORS     The sentence names the file and, where it makes sense, column, row group or line and byte offset.
 *            A failed load leaves a table that the engine throws away: no partial result can be taken for a whole one.
 * CLAIMS     Every size in a file is a claim. Check it in 64 bits against bytes that exist before allocating or
 *            reading; never allocate more than a stated multiple of what the file really holds. */
#ifndef AGB_LOADER_H
#define AGB_LOADER_H

#include "aggbench.h"

#ifdef __cplusplus
extern "C" {
#endif

#define AGB_LOADER_ABI 1u

enum {
    AGB_LOADER_GENERATES = 1u << 0,   /* opened with a spec, not with a file: SOURCE is "NAME:spec" */
    AGB_LOADER_UNTYPED = 1u << 1      /* its files say nothing of types: agb_input.schema may */
};

/* What open is given. The engine opens, sizes and closes the file; it stays open until close has returned. */
typedef struct agb_input {
    const char *path;             /* for messages, and for the rare format that has no magic; "-" for standard input;
                                     for a generator: its spec, fd is then -1 */
    int fd;
    bool seekable;                /* a regular file that says its size: bytes; the offset of fd is 0 */
    uint64_t bytes;
    const unsigned char *head;    /* its first bytes, up to 136 KiB. Not seekable: these have been taken out of fd */
    size_t head_bytes;
    const char *schema;           /* agb_load_options.schema; NULL, or the loader is AGB_LOADER_UNTYPED */
} agb_input;

/* Help that the engine gives a load. */
typedef struct agb_load {
    agb_pool *pool;                                      /* for agb_pool_run; may be NULL */
    void (*progress)(void *context, uint64_t done, uint64_t total);    /* rows so far; may be NULL; any one thread */
    void *context;
    bool may_map;                                        /* agb_table_map is allowed */
    /* Rows behind so many, counted from this file's first, are dropped by the engine: a loader may stop there, at a row
     * of its choice not before it, and what it does not read it does not check. 0: all are wanted. A loader whose
     * schema does not tell the rows sets *stopped, which may be NULL, where it has not read to the end. */
    uint64_t rows_wanted;
    bool *stopped;
} agb_load;

/* How many of a file's `rows` rows are wanted. */
static inline uint64_t agb_load_wanted(const agb_load *load, uint64_t rows)
{
    return load->rows_wanted && load->rows_wanted < rows ? load->rows_wanted : rows;
}

struct agb_loader {
    uint32_t abi, size;     /* AGB_LOADER_ABI, sizeof(agb_loader) */
    const char *name;       /* equal to the file's stem */
    const char *summary;    /* one line */
    const char *help;       /* more lines, e.g. the kinds and keys of a generator; may be NULL */
    unsigned traits;

    /* How sure this loader is that it can read a file with this head (0 = not mine, 100 = by its magic). NULL for a
     * generator. */
    int (*probe)(const agb_input *input);

    /* input and what it points to are borrowed until close. */
    agb_status (*open)(const agb_input *input, void **self, agb_error *err);

    /* Fills columns, rows and detail (all of it owned by the schema: use agb_schema_add). */
    agb_status (*schema)(void *self, agb_schema *schema, agb_error *err);

    /* Appends this file's rows of the table's columns. column[i] is the index in this file's schema of the table's
     * column number i; types have been checked to be equal. */
    agb_status (*load)(void *self, const size_t *column, size_t n_columns, agb_table *table, const agb_load *load,
                       agb_error *err);

    void (*close)(void *self);

    /* Writes columns of a table, which are there, to a new file that appears at `path` only when it is complete and
     * safe on its disk; whatever was there before stays as it is until then. Needs no open. NULL: this format cannot
     * be written. */
    agb_status (*save)(const agb_table *table, const char *const *columns, size_t n_columns, const char *path,
                       const agb_save_options *options, agb_error *err);
};

/* Appends a column to a schema; name and detail are copied. */
agb_status agb_schema_add(agb_schema *schema, const char *name, agb_type type, bool optional, const char *detail,
                          agb_error *err);
agb_status agb_schema_set_detail(agb_schema *schema, const char *detail, agb_error *err);

/* Days since 1970-01-01 in the Gregorian calendar, which is taken to hold for all years; year >= 0. false: there is no
 * such day. */
bool agb_days_of_date(int year, int month, int day, int64_t *days);

/* ---- Filling a table ---- */

/* Room for `rows` more rows in every column; existing values stay, base pointers may move. New values are 0, new
 * nulls are "not NULL". Call it once for all rows where the number is known, else in large steps. */
agb_status agb_table_extend(agb_table *table, uint64_t rows, agb_error *err);
/* The same for rows that will all be mapped: address space only, which may be more than there is memory. */
agb_status agb_table_extend_to_map(agb_table *table, uint64_t rows, agb_error *err);
/* How many rows the table can be extended to while its values and nulls stay where they are. */
uint64_t agb_table_room(const agb_table *table);
/* Makes room for so many rows at first, which is address space only, so that extensions up to there move nothing. Not
 * where the system refuses: an extension then tells of it when the rows are really there. */
void agb_table_reserve(agb_table *table, uint64_t rows);
/* Takes rows back from the end, where the number that was asked for proved too high. */
void agb_table_shrink(agb_table *table, uint64_t rows);

/* Base of column i's values (all rows from 0). Different row ranges may be written by different threads. */
void *agb_table_values(agb_table *table, size_t column);
/* Zero-copy: lets `bytes` of a file from `offset` on stand, copy on write, in the place of column i's values from byte
 * `at` on; all three are multiples of the system's page size, and the place has been made by agb_table_extend. The page
 * size that the load asked for is of memory; a file's pages are as the system keeps them. false: the system does not
 * allow it: read the bytes instead. A file that somebody cuts short while it is mapped ends a process that looks
 * at the lost part (SIGBUS): only where the load may map, and the loader itself reads the bytes instead of looking. */
bool agb_table_map(agb_table *table, size_t column, uint64_t at, int fd, uint64_t offset, uint64_t bytes);
/* Base of column i's null bytes (1 = NULL), made at the first call. Thread-safe. Memory that is never written costs
 * little, a column that is never asked for nothing at all: the engine counts the null bytes of the others after the
 * load. NULL when the system refuses memory. */
uint8_t *agb_table_nulls(agb_table *table, size_t column);
/* For AGB_TYPE_BYTES: memory for string bytes that lives as long as the table; values point into it. Thread-safe.
 * NULL when the system refuses. */
unsigned char *agb_table_heap(agb_table *table, size_t bytes);

#ifdef __cplusplus
}
#endif
#endif
