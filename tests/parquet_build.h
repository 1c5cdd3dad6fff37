/* SPDX-License-Identifier: MIT */
/* Parquet files made by hand, byte by byte: for what no writer makes, right or wrong. A test appends pages to columns,
 * may then change any claim of the footer, and has the file written and loaded. */
#ifndef AGB_PARQUET_BUILD_H
#define AGB_PARQUET_BUILD_H

#include "parquet/format.h"
#include "test.h"
#include "thrift_build.h"

enum { MADE_COLUMNS = 4, MADE_GROUPS = 3 };

/* A page. Sizes are those of the bytes unless they are set. */
typedef struct made_page {
    int type;                    /* agb_parquet_page_type */
    int64_t values;
    int encoding, level_encoding;
    const void *bytes;           /* as stored: packed by the test where the column is packed */
    size_t n;
    int64_t unpacked;            /* size when unpacked; 0: n */
    int64_t stored;              /* claimed instead of n when set */
    int64_t definition_bytes;    /* version 2 */
    bool plain;                  /* version 2: says that it is not packed */
    const uint32_t *crc;
} made_page;

typedef struct made_chunk {
    int64_t values, bytes, data_offset, dictionary_offset;
    int type, codec;
    bool started, encrypted, elsewhere, undescribed;
} made_chunk;

typedef struct made_column {
    const char *name;
    int type, length, repetition, converted;
    int unsigned_bits;           /* the new annotation INTEGER(bits, unsigned) */
    int parent;                  /* 1: stands in a group of its own */
    int codec;
} made_column;

typedef struct made_file {
    made_bytes bytes;
    made_column column[MADE_COLUMNS];
    size_t columns;
    made_chunk chunk[MADE_GROUPS][MADE_COLUMNS];
    int64_t group_rows[MADE_GROUPS];
    size_t groups;
    int64_t rows;                /* -1: the sum */
    int64_t schema_list, group_list, name_length, footer_length;    /* claimed instead of the real ones when set */
    const char *magic;           /* at the end; NULL: PAR1 */
} made_file;

static inline made_file *made_start(void)
{
    made_file *file = calloc(1, sizeof *file);
    file->groups = 1;
    file->rows = -1;
    made_put(&file->bytes, "PAR1", 4);
    return file;
}

static inline size_t made_add_column(made_file *file, const char *name, int type, int repetition, int codec)
{
    file->column[file->columns] =
        (made_column){.name = name, .type = type, .repetition = repetition, .converted = -1, .codec = codec};
    return file->columns++;
}

static inline void made_page_header(made_bytes *to, const made_page *page)
{
    made_number(to, 1, I32, page->type);
    made_number(to, 2, I32, page->unpacked ? page->unpacked : (int64_t)page->n);
    made_number(to, 3, I32, page->stored ? page->stored : (int64_t)page->n);
    if (page->crc)
        made_number(to, 4, I32, (int32_t)*page->crc);
    if (page->type == AGB_PARQUET_DATA_PAGE_V2) {
        made_field(to, 8, STRUCT);
        made_number(to, 1, I32, page->values);
        made_number(to, 2, I32, 0);
        made_number(to, 3, I32, page->values);
        made_number(to, 4, I32, page->encoding);
        made_number(to, 5, I32, page->definition_bytes);
        made_number(to, 6, I32, 0);
        if (page->plain)
            made_field(to, 7, 2);
    } else if (page->type != AGB_PARQUET_INDEX_PAGE) {
        made_field(to, page->type == AGB_PARQUET_DICTIONARY_PAGE ? 7 : 5, STRUCT);
        made_number(to, 1, I32, page->values);
        made_number(to, 2, I32, page->encoding);
        if (page->type == AGB_PARQUET_DATA_PAGE) {
            made_number(to, 3, I32, page->level_encoding ? page->level_encoding : AGB_PARQUET_RLE);
            made_number(to, 4, I32, AGB_PARQUET_RLE);
        }
    }
    if (page->type != AGB_PARQUET_INDEX_PAGE)
        made_byte(to, 0);
    made_byte(to, 0);
}

/* Appends a page to the last row group's chunk of column c; a data page's values count as rows of the chunk. */
static inline void made_add_page(made_file *file, size_t c, made_page page)
{
    made_chunk *chunk = &file->chunk[file->groups - 1][c];
    int64_t offset = (int64_t)file->bytes.n;
    bool data = page.type == AGB_PARQUET_DATA_PAGE || page.type == AGB_PARQUET_DATA_PAGE_V2;
    chunk->type = file->column[c].type;
    chunk->codec = file->column[c].codec;
    if (page.type == AGB_PARQUET_DICTIONARY_PAGE)
        chunk->dictionary_offset = offset;
    else if (data && !chunk->data_offset)
        chunk->data_offset = offset;
    made_page_header(&file->bytes, &page);
    made_put(&file->bytes, page.bytes, page.n);
    chunk->bytes += (int64_t)file->bytes.n - offset;
    chunk->values += data ? page.values : 0;
    if (c == 0 && data)
        file->group_rows[file->groups - 1] += page.values;
}

/* A page of data, version 1. */
static inline void made_add_data(made_file *file, size_t c, int64_t values, int encoding, const void *bytes, size_t n)
{
    made_add_page(file, c, (made_page){.values = values, .encoding = encoding, .bytes = bytes, .n = n});
}

static inline void made_add_dictionary(made_file *file, size_t c, int64_t values, const void *bytes, size_t n)
{
    made_add_page(file, c, (made_page){.type = AGB_PARQUET_DICTIONARY_PAGE, .values = values, .bytes = bytes, .n = n});
}

static inline void made_schema(made_bytes *to, const made_file *file)
{
    size_t parents = 0;
    for (size_t c = 0; c < file->columns; c++)
        parents += file->column[c].parent != 0;
    made_list(to, 2, STRUCT, file->schema_list ? (uint64_t)file->schema_list : file->columns + parents + 1);
    made_field(to, 4, BINARY);
    made_text(to, "schema");
    made_number(to, 5, I32, (int64_t)file->columns);
    made_byte(to, 0);
    for (size_t c = 0; c < file->columns; c++) {
        const made_column *column = &file->column[c];
        if (column->parent) {
            made_field(to, 4, BINARY);
            made_text(to, "group");
            made_number(to, 5, I32, 1);
            made_byte(to, 0);
        }
        made_number(to, 1, I32, column->type);
        made_number(to, 2, I32, column->length);
        made_number(to, 3, I32, column->repetition);
        made_field(to, 4, BINARY);
        if (file->name_length)
            made_varint(to, (uint64_t)file->name_length);
        else
            made_text(to, column->name);
        if (column->converted >= 0)
            made_number(to, 6, I32, column->converted);
        if (column->unsigned_bits) {
            made_field(to, 10, STRUCT);
            made_field(to, 10, STRUCT);
            made_field(to, 1, 3);
            made_byte(to, (unsigned)column->unsigned_bits);
            made_field(to, 2, 2);
            made_byte(to, 0);
            made_byte(to, 0);
        }
        made_byte(to, 0);
    }
}

static inline void made_chunk_metadata(made_bytes *to, const made_chunk *chunk)
{
    if (chunk->elsewhere) {
        made_field(to, 1, BINARY);
        made_text(to, "other.parquet");
    }
    made_number(to, 2, I64, 0);
    if (!chunk->undescribed) {
        made_field(to, 3, STRUCT);
        made_number(to, 1, I32, chunk->type);
        made_number(to, 4, I32, chunk->codec);
        made_number(to, 5, I64, chunk->values);
        made_number(to, 6, I64, chunk->bytes);
        made_number(to, 7, I64, chunk->bytes);
        made_number(to, 9, I64, chunk->data_offset);
        if (chunk->dictionary_offset)
            made_number(to, 11, I64, chunk->dictionary_offset);
        made_byte(to, 0);
    }
    if (chunk->encrypted) {
        made_field(to, 8, STRUCT);
        made_byte(to, 0);
    }
    made_byte(to, 0);
}

/* Appends the footer: the file is then whole. */
static inline void made_end(made_file *file)
{
    made_bytes *to = &file->bytes;
    size_t start = to->n;
    int64_t rows = 0;
    made_number(to, 1, I32, 1);
    made_schema(to, file);
    for (size_t g = 0; g < file->groups; g++)
        rows += file->group_rows[g];
    made_number(to, 3, I64, file->rows != -1 ? file->rows : rows);
    made_list(to, 4, STRUCT, file->group_list ? (uint64_t)file->group_list : file->groups);
    for (size_t g = 0; g < file->groups; g++) {
        made_list(to, 1, STRUCT, file->columns);
        for (size_t c = 0; c < file->columns; c++)
            made_chunk_metadata(to, &file->chunk[g][c]);
        made_number(to, 2, I64, 0);
        made_number(to, 3, I64, file->group_rows[g]);
        made_byte(to, 0);
    }
    made_byte(to, 0);
    uint32_t length = file->footer_length ? (uint32_t)file->footer_length : (uint32_t)(to->n - start);
    made_put(to, &length, sizeof length);
    made_put(to, file->magic ? file->magic : "PAR1", 4);
}

static inline void made_free(made_file *file)
{
    free(file->bytes.data);
    free(file);
}

/* Writes bytes to a file of their own, whose name goes to `path`. */
static inline void made_write(const void *bytes, size_t n, char path[64])
{
    snprintf(path, 64, "/tmp/aggbench-made-XXXXXX.parquet");
    int fd = mkstemps(path, 8);
    assert_true(fd >= 0);
    assert_true(write(fd, bytes, n) == (ssize_t)n);
    close(fd);
}

static inline agb_status made_load_bytes(agb_table **table, const agb_registry *registry, const void *bytes, size_t n,
                                         const char *column, agb_error *err)
{
    char path[64];
    made_write(bytes, n, path);
    agb_status status = agb_table_load(table, registry, path, &column, 1, NULL, err);
    unlink(path);
    return status;
}

/* Ends the file, loads one column of it and forgets the file. */
static inline agb_status made_load(agb_table **table, const agb_registry *registry, made_file *file,
                                   const char *column, agb_error *err)
{
    made_end(file);
    agb_status status = made_load_bytes(table, registry, file->bytes.data, file->bytes.n, column, err);
    made_free(file);
    return status;
}

#endif
