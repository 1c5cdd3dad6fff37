/* SPDX-License-Identifier: MIT */
/* Header, footer and tail: see footer.h. Whoever made a file can give wrong numbers a right hash: the hash tells of
 * accidents, the checks here keep every number inside the file. */
#include "agb/footer.h"

#include "agb/block.h"
#include "common/file.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <xxhash.h>

static const agb_type types[] = {
    AGB_TYPE_OTHER, AGB_TYPE_INT32, AGB_TYPE_UINT32, AGB_TYPE_INT64, AGB_TYPE_UINT64, AGB_TYPE_BOOL, AGB_TYPE_BYTES,
};
enum { TYPES = sizeof types / sizeof types[0] };

/* ---- Reading ---- */

/* The footer's bytes, taken from the front. What is not there reads as 0 and is noted. */
typedef struct cursor {
    const unsigned char *at, *end;
    bool overrun;
} cursor;

static const unsigned char *take(cursor *c, uint64_t bytes)
{
    if (bytes > (uint64_t)(c->end - c->at)) {
        c->overrun = true;
        return NULL;
    }
    c->at += bytes;
    return c->at - bytes;
}

static uint64_t take_number(cursor *c, size_t bytes)
{
    const unsigned char *at = take(c, bytes);
    uint64_t value = 0;
    if (at)
        memcpy(&value, at, bytes);
    return value;
}

static uint64_t take_u64(cursor *c)
{
    return take_number(c, sizeof(uint64_t));
}

static uint32_t take_u32(cursor *c)
{
    return (uint32_t)take_number(c, sizeof(uint32_t));
}

static agb_status cut_short(agb_error *err)
{
    return agb_fail(err, AGB_ERR_FORMAT, "the footer ends inside its list of columns");
}

static uint64_t padded(uint64_t bytes)
{
    return (bytes + 7) / 8 * 8;
}

static agb_status take_name(cursor *c, uint32_t bytes, size_t number, char **out, agb_error *err)
{
    const char *name = (const char *)take(c, padded(bytes));
    if (!name)
        return cut_short(err);
    if (bytes == 0 || memchr(name, '\0', bytes))
        return agb_fail(err, AGB_ERR_FORMAT, "column number %zu: its name is empty or holds a NUL", number + 1);
    *out = strndup(name, bytes);
    return *out ? AGB_OK : agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for the footer");
}

static void take_chunk(cursor *c, agb_native_chunk *chunk)
{
    chunk->rows = take_u64(c);
    for (size_t kind = 0; kind < AGB_NATIVE_KINDS; kind++) {
        agb_native_block *block = &chunk->block[kind];
        block->offset = take_u64(c);
        block->stored_bytes = take_u64(c);
        block->unpacked_bytes = take_u64(c);
        block->hash = take_u64(c);
        block->codec = take_u32(c);
        block->coding = take_u32(c);
    }
}

static agb_status take_column(cursor *c, agb_native_file *file, agb_error *err)
{
    agb_native_column *column = &file->column[file->columns++];
    column->type_number = take_u32(c);
    uint32_t name_bytes = take_u32(c);
    uint64_t chunks = take_u64(c);
    column->type = column->type_number < TYPES ? types[column->type_number] : AGB_TYPE_OTHER;
    agb_status status = take_name(c, name_bytes, file->columns - 1, &column->name, err);
    if (status != AGB_OK)
        return status;
    if (chunks > (uint64_t)(c->end - c->at) / AGB_NATIVE_CHUNK_BYTES)
        return agb_fail(err, AGB_ERR_FORMAT, "column %s: claims %" PRIu64 " chunks, the footer has room for %" PRIu64,
                        column->name, chunks, (uint64_t)(c->end - c->at) / AGB_NATIVE_CHUNK_BYTES);
    column->chunk = calloc(chunks ? chunks : 1, sizeof *column->chunk);
    if (!column->chunk)
        return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for the footer");
    column->chunks = (size_t)chunks;
    for (size_t i = 0; i < column->chunks; i++)
        take_chunk(c, &column->chunk[i]);
    return AGB_OK;
}

static agb_status check_chunk(agb_native_column *column, size_t number, uint64_t row, agb_error *err)
{
    agb_native_chunk *chunk = &column->chunk[number];
    if (chunk->rows == 0 || chunk->rows > AGB_NATIVE_MOST_CHUNK_ROWS)
        return agb_fail(err, AGB_ERR_FORMAT, "column %s: chunk %zu claims %" PRIu64 " rows, allowed range is 1..%d",
                        column->name, number + 1, chunk->rows, AGB_NATIVE_MOST_CHUNK_ROWS);
    chunk->row = row;
    return AGB_OK;
}

/* A block begins where the one before has ended, or later, and ends before the footer; an absent one is nothing. */
static agb_status check_block(const agb_native_column *column, const agb_native_chunk *chunk,
                              const agb_native_block *block, uint64_t *at, uint64_t end, agb_error *err)
{
    if (agb_native_block_is_absent(block) && block->unpacked_bytes)
        return agb_fail(err, AGB_ERR_FORMAT, "column %s: rows %" PRIu64 "..%" PRIu64 ": no stored bytes cannot become %"
                        PRIu64, column->name, chunk->row, chunk->row + chunk->rows - 1, block->unpacked_bytes);
    if (agb_native_block_is_absent(block))
        return AGB_OK;
    if (block->offset < *at || block->offset > end || block->stored_bytes > end - block->offset)
        return agb_fail(err, AGB_ERR_FORMAT, "column %s: rows %" PRIu64 "..%" PRIu64 ": a block of %" PRIu64 " bytes "
                        "at offset %" PRIu64 " overlaps its neighbour or the footer: allowed range is %" PRIu64 "..%"
                        PRIu64, column->name, chunk->row, chunk->row + chunk->rows - 1, block->stored_bytes,
                        block->offset, *at, end);
    *at = block->offset + block->stored_bytes;
    return AGB_OK;
}

static agb_status check_column(agb_native_column *column, uint64_t rows, uint64_t *at, uint64_t end, agb_error *err)
{
    uint64_t row = 0;
    for (size_t i = 0; i < column->chunks; i++) {
        agb_status status = check_chunk(column, i, row, err);
        if (status != AGB_OK)
            return status;
        row += column->chunk[i].rows;
    }
    if (row != rows)
        return agb_fail(err, AGB_ERR_FORMAT, "column %s: its chunks have %" PRIu64 " rows, the footer says %" PRIu64,
                        column->name, row, rows);
    for (size_t kind = 0; kind < AGB_NATIVE_KINDS; kind++)
        for (size_t i = 0; i < column->chunks; i++) {
            const agb_native_chunk *chunk = &column->chunk[i];
            agb_status status = check_block(column, chunk, &chunk->block[kind], at, end, err);
            if (status != AGB_OK)
                return status;
        }
    return AGB_OK;
}

static agb_status check_file(agb_native_file *file, uint64_t blocks_end, agb_error *err)
{
    uint64_t at = AGB_NATIVE_HEADER_BYTES;
    for (size_t i = 0; i < file->columns; i++) {
        for (size_t j = 0; j < i; j++)
            if (strcmp(file->column[i].name, file->column[j].name) == 0)
                return agb_fail(err, AGB_ERR_FORMAT, "column %s stands there twice", file->column[i].name);
        agb_status status = check_column(&file->column[i], file->rows, &at, blocks_end, err);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

static agb_status parse(agb_native_file *file, cursor *c, uint64_t blocks_end, agb_error *err)
{
    file->rows = take_u64(c);
    uint64_t columns = take_u64(c);
    if (columns == 0 || columns > AGB_NATIVE_MOST_COLUMNS)
        return agb_fail(err, AGB_ERR_FORMAT, "the footer claims %" PRIu64 " columns, allowed range is 1..%d", columns,
                        AGB_NATIVE_MOST_COLUMNS);
    file->column = calloc(columns, sizeof *file->column);
    if (!file->column)
        return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for the footer");
    for (uint64_t i = 0; i < columns; i++) {
        agb_status status = take_column(c, file, err);
        if (status != AGB_OK)
            return status;
    }
    if (c->overrun)
        return cut_short(err);
    if (c->at != c->end)
        return agb_fail(err, AGB_ERR_FORMAT, "the footer has %zu bytes behind its last column",
                        (size_t)(c->end - c->at));
    return check_file(file, blocks_end, err);
}

static agb_status check_header(const agb_input *input, agb_error *err)
{
    uint32_t numbers[2];
    if (input->head_bytes < AGB_NATIVE_MAGIC_BYTES ||
        memcmp(input->head, AGB_NATIVE_MAGIC, AGB_NATIVE_MAGIC_BYTES) != 0)
        return agb_fail(err, AGB_ERR_FORMAT, "not an .agb file: bad magic: its first 8 bytes are not AGBCOL and a line "
                        "end");
    if (!input->seekable)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "the footer stands at the end, so the file cannot come through a "
                        "pipe: save it and name the file");
    if (input->bytes < AGB_NATIVE_HEADER_BYTES + AGB_NATIVE_TAIL_BYTES ||
        input->head_bytes < AGB_NATIVE_HEADER_BYTES)
        return agb_fail(err, AGB_ERR_FORMAT, "cut short: %" PRIu64 " bytes are too few, the least is %d", input->bytes,
                        AGB_NATIVE_HEADER_BYTES + AGB_NATIVE_TAIL_BYTES);
    memcpy(numbers, input->head + AGB_NATIVE_MAGIC_BYTES, sizeof numbers);
    if (numbers[0] > AGB_NATIVE_VERSION)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "version %u of the format, this program reads up to %d: take a newer "
                        "program or write the file again", numbers[0], AGB_NATIVE_VERSION);
    if (numbers[0] == 0 || numbers[1] != 0)
        return agb_fail(err, AGB_ERR_FORMAT, "the header is damaged: version %u, reserved number %u", numbers[0],
                        numbers[1]);
    return AGB_OK;
}

/* The tail's numbers: where the footer is, its size, its hash. */
static agb_status read_tail(const agb_input *input, uint64_t numbers[3], agb_error *err)
{
    unsigned char tail[AGB_NATIVE_TAIL_BYTES];
    uint64_t place = input->bytes - AGB_NATIVE_TAIL_BYTES;
    agb_status status = agb_file_read(input->fd, place, tail, sizeof tail, err);
    if (status != AGB_OK)
        return status;
    memcpy(numbers, tail, 3 * sizeof *numbers);
    if (memcmp(tail + 3 * sizeof *numbers, AGB_NATIVE_END_MAGIC, AGB_NATIVE_MAGIC_BYTES) != 0)
        return agb_fail(err, AGB_ERR_FORMAT, "cut short: bad magic at its end: the last 8 of its %" PRIu64 " bytes are "
                        "not AGBEND and a line end: get a whole copy", input->bytes);
    if (numbers[0] < AGB_NATIVE_HEADER_BYTES || numbers[0] > place || numbers[1] != place - numbers[0])
        return agb_fail(err, AGB_ERR_FORMAT, "a footer of %" PRIu64 " bytes at offset %" PRIu64 " does not end where "
                        "the tail begins, at %" PRIu64 ": get a whole copy", numbers[1], numbers[0], place);
    return AGB_OK;
}

agb_status agb_native_footer_read(agb_native_file *out, const agb_input *input, agb_error *err)
{
    uint64_t tail[3];
    *out = (agb_native_file){0};
    agb_status status = check_header(input, err);
    if (status == AGB_OK)
        status = read_tail(input, tail, err);
    if (status != AGB_OK)
        return status;
    unsigned char *bytes = malloc(tail[1] + 1);
    if (!bytes)
        return agb_fail(err, AGB_ERR_MEMORY, "the system refused %" PRIu64 " bytes for the footer", tail[1]);
    status = agb_file_read(input->fd, tail[0], bytes, tail[1], err);
    if (status == AGB_OK && XXH3_64bits(bytes, tail[1]) != tail[2])
        status = agb_fail(err, AGB_ERR_FORMAT, "the footer is damaged: its checksum is %016" PRIx64 ", it should be "
                          "%016" PRIx64 ": get a good copy", (uint64_t)XXH3_64bits(bytes, tail[1]), tail[2]);
    if (status == AGB_OK)
        status = parse(out, &(cursor){.at = bytes, .end = bytes + tail[1]}, tail[0], err);
    free(bytes);
    return status;
}

void agb_native_file_release(agb_native_file *file)
{
    for (size_t i = 0; i < file->columns; i++) {
        free(file->column[i].name);
        free(file->column[i].chunk);
    }
    free(file->column);
    *file = (agb_native_file){0};
}

/* ---- Writing ---- */

static unsigned char *put(unsigned char *to, const void *from, size_t bytes)
{
    memcpy(to, from, bytes);
    return to + bytes;
}

static unsigned char *put_u64(unsigned char *to, uint64_t value)
{
    return put(to, &value, sizeof value);
}

static unsigned char *put_u32(unsigned char *to, uint32_t value)
{
    return put(to, &value, sizeof value);
}

static unsigned char *put_column(unsigned char *to, const agb_native_column *column)
{
    size_t name_bytes = strlen(column->name);
    to = put_u32(to, column->type_number);
    to = put_u32(to, (uint32_t)name_bytes);
    to = put_u64(to, column->chunks);
    memcpy(to, column->name, name_bytes);
    to += padded(name_bytes);
    for (size_t i = 0; i < column->chunks; i++) {
        to = put_u64(to, column->chunk[i].rows);
        for (size_t kind = 0; kind < AGB_NATIVE_KINDS; kind++) {
            const agb_native_block *block = &column->chunk[i].block[kind];
            to = put_u64(to, block->offset);
            to = put_u64(to, block->stored_bytes);
            to = put_u64(to, block->unpacked_bytes);
            to = put_u64(to, block->hash);
            to = put_u32(to, block->codec);
            to = put_u32(to, block->coding);
        }
    }
    return to;
}

uint32_t agb_native_type_number(agb_type type)
{
    for (uint32_t i = 1; i < TYPES; i++)
        if (types[i] == type)
            return i;
    return 0;
}

void agb_native_header_make(unsigned char *header)
{
    header = put(header, AGB_NATIVE_MAGIC, AGB_NATIVE_MAGIC_BYTES);
    put_u32(put_u32(header, AGB_NATIVE_VERSION), 0);
}

unsigned char *agb_native_footer_make(const agb_native_file *file, uint64_t offset, size_t *bytes)
{
    size_t footer_bytes = 2 * sizeof(uint64_t);
    for (size_t i = 0; i < file->columns; i++)
        footer_bytes += AGB_NATIVE_COLUMN_BYTES + padded(strlen(file->column[i].name)) +
                        file->column[i].chunks * AGB_NATIVE_CHUNK_BYTES;
    *bytes = footer_bytes + AGB_NATIVE_TAIL_BYTES;
    unsigned char *footer = calloc(1, *bytes);
    if (!footer)
        return NULL;
    unsigned char *to = put_u64(put_u64(footer, file->rows), file->columns);
    for (size_t i = 0; i < file->columns; i++)
        to = put_column(to, &file->column[i]);
    to = put_u64(put_u64(to, offset), footer_bytes);
    to = put_u64(to, XXH3_64bits(footer, footer_bytes));
    put(to, AGB_NATIVE_END_MAGIC, AGB_NATIVE_MAGIC_BYTES);
    return footer;
}
