/* SPDX-License-Identifier: MIT */
/* A data page: definition levels say which rows are NULL, the values of the others follow in an encoding of their own.
 * Both are read a piece at a time, straight into the column; where all rows of a piece have values, or none has, the
 * piece is as long as the run of levels. */
#include "parquet/reader.h"

#include <string.h>

enum { LEVELS = 1024 };    /* definition levels that are unpacked at a time */

/* The values of the page, opened when the first one is needed: a page of NULLs has none, and then often no bytes that
 * would be a proper start of its encoding. */
typedef struct page_values {
    agb_parquet_reader *reader;
    const agb_parquet_page *page;
    size_t rows;        /* of the page that are wanted */
    agb_parquet_span bytes;
    bool open;
    agb_parquet_values values;
} page_values;

static agb_status take(page_values *from, size_t n, void *out)
{
    agb_parquet_reader *reader = from->reader;
    if (n == 0)
        return AGB_OK;
    if (!from->open) {
        agb_status status = agb_parquet_values_open(&from->values, reader->job->column, from->page->encoding,
                                                    from->bytes.from, from->bytes.end, &reader->dictionary,
                                                    reader->job->table, reader->err);
        if (status != AGB_OK)
            return status;
        from->open = true;
    }
    return from->values.next(&from->values, n, out, reader->err);
}

/* Moves `values` values that stand at the start of n places to the places whose level is 1, from the back, so that
 * none is overwritten before it has been moved. */
__attribute__((always_inline)) static inline void spread_values(unsigned char *out, const uint32_t *level, size_t n,
                                                                size_t values, const size_t width)
{
    for (size_t i = n; i-- > 0;) {
        if (level[i])
            memmove(out + i * width, out + --values * width, width);
        else
            memset(out + i * width, 0, width);
    }
}

static void spread(unsigned char *out, const uint32_t *level, size_t n, size_t values, size_t width)
{
    switch (width) {
    case 1:
        spread_values(out, level, n, values, 1);
        break;
    case 4:
        spread_values(out, level, n, values, 4);
        break;
    case 8:
        spread_values(out, level, n, values, 8);
        break;
    default:
        spread_values(out, level, n, values, sizeof(agb_bytes));
    }
}

/* Where a column has no NULL, though it might, there is nothing to be made, nor to be counted afterwards. */
static agb_status find_nulls(agb_parquet_reader *reader)
{
    if (reader->nulls)
        return AGB_OK;
    uint8_t *nulls = agb_table_nulls(reader->job->table, reader->job->table_column);
    if (!nulls)
        return agb_fail(reader->err, AGB_ERR_MEMORY, "the system refused memory for the NULLs of %llu rows",
                        (unsigned long long)agb_table_rows(reader->job->table));
    reader->nulls = nulls + reader->job->table_row;
    return AGB_OK;
}

static agb_status read_packed_levels(page_values *from, agb_parquet_hybrid *levels, size_t n, uint64_t row)
{
    agb_parquet_reader *reader = from->reader;
    unsigned char *out = reader->job->values + row * reader->width;
    uint32_t level[LEVELS];
    size_t values = 0;
    agb_parquet_hybrid_unpack(levels, n, level);
    for (size_t i = 0; i < n; i++)
        values += level[i];
    agb_status status = take(from, values, out);
    if (status != AGB_OK || values == n)
        return status;
    spread(out, level, n, values, reader->width);
    status = find_nulls(reader);
    for (size_t i = 0; i < n && status == AGB_OK; i++)
        reader->nulls[row + i] = !level[i];
    return status;
}

static agb_status read_optional(page_values *from, agb_parquet_hybrid *levels)
{
    agb_parquet_reader *reader = from->reader;
    agb_status status = AGB_OK;
    uint64_t row = reader->row;
    for (size_t left = from->rows; left && status == AGB_OK;) {
        if (!agb_parquet_hybrid_run(levels))
            return agb_fail(reader->err, AGB_ERR_FORMAT, "the page holds fewer levels than its header says");
        size_t n = (size_t)agb_parquet_least(left, levels->left);
        if (!levels->repeated) {
            n = (size_t)agb_parquet_least(n, LEVELS);
            status = read_packed_levels(from, levels, n, row);
        } else {
            if (levels->value > 1)
                return agb_fail(reader->err, AGB_ERR_FORMAT, "a definition level of %u, allowed range is 0..1",
                                levels->value);
            if (levels->value)
                status = take(from, n, reader->job->values + row * reader->width);
            else if ((status = find_nulls(reader)) == AGB_OK)
                memset(reader->nulls + row, 1, n);
            levels->left -= n;
        }
        row += n;
        left -= n;
    }
    return status;
}

/* BIT_PACKED levels stand most significant bit first; turned around, they are one packed run. */
static void turn_bits(unsigned char *bytes, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        unsigned byte = bytes[i];
        byte = (byte & 0xf0) >> 4 | (byte & 0x0f) << 4;
        byte = (byte & 0xcc) >> 2 | (byte & 0x33) << 2;
        bytes[i] = (unsigned char)((byte & 0xaa) >> 1 | (byte & 0x55) << 1);
    }
}

/* Version 1: the levels stand at the start of the unpacked page. Takes them off the body. */
static agb_status open_levels(agb_parquet_reader *reader, const agb_parquet_page *page, agb_parquet_span *body,
                              agb_parquet_hybrid *levels)
{
    size_t left = (size_t)(body->end - body->from);
    uint32_t bytes = 0;
    bool runs = page->level_encoding == AGB_PARQUET_RLE;
    if (!runs && page->level_encoding != AGB_PARQUET_BIT_PACKED)
        return agb_fail(reader->err, AGB_ERR_UNSUPPORTED, "definition levels in encoding %s (%d)",
                        agb_parquet_encoding_name(page->level_encoding), page->level_encoding);
    if (runs && left < sizeof bytes)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "the page ends inside its levels");
    if (runs) {
        memcpy(&bytes, body->from, sizeof bytes);
        body->from += sizeof bytes;
        left -= sizeof bytes;
    } else {
        bytes = (uint32_t)(((uint64_t)page->values + 7) / 8);
    }
    if (bytes > left)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "%u bytes of levels in a page that has %zu left", bytes, left);
    if (runs) {
        agb_parquet_hybrid_open(levels, body->from, body->from + bytes, 1);
    } else {
        turn_bits(body->from, bytes);
        agb_parquet_hybrid_open_packed(levels, body->from, body->from + bytes, 1);
    }
    body->from += bytes;
    return AGB_OK;
}

/* Numbers that stand in the page as they will stand in the table can be unpacked right there, if all are wanted. */
static agb_parquet_place place_of(const agb_parquet_reader *reader, const page_values *from, uint32_t levels)
{
    const agb_parquet_column *column = reader->job->column;
    const agb_parquet_page *page = from->page;
    bool number = column->type == AGB_PARQUET_INT32 || column->type == AGB_PARQUET_INT64;
    if (agb_parquet_values_stay(column, page->encoding))
        return AGB_PARQUET_IN_HEAP;
    if (number && !column->optional && page->encoding == AGB_PARQUET_PLAIN && from->rows == page->values &&
        page->bytes == (uint64_t)page->values * reader->width + levels)
        return AGB_PARQUET_IN_COLUMN;
    return AGB_PARQUET_IN_SCRATCH;
}

agb_status agb_parquet_read_data(agb_parquet_reader *reader, const agb_parquet_page *page, unsigned char *stored)
{
    bool second = page->type == AGB_PARQUET_DATA_PAGE_V2;
    uint32_t level_bytes = second ? page->definition_bytes + page->repetition_bytes : 0;    /* each below 2^31 */
    if (page->values > reader->job->rows - reader->row)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "a page of %u values where the row group has %llu rows left",
                        page->values, (unsigned long long)(reader->job->rows - reader->row));
    page_values from = {.reader = reader, .page = page};
    from.rows = (size_t)agb_parquet_least(page->values, reader->job->wanted - reader->row);
    agb_parquet_place place = place_of(reader, &from, level_bytes);
    agb_status status = agb_parquet_unpack_body(reader, page, stored, level_bytes, place, &from.bytes);
    if (status != AGB_OK)
        return status;
    if (!reader->job->column->optional) {
        if (place != AGB_PARQUET_IN_COLUMN)
            status = take(&from, from.rows, reader->job->values + reader->row * reader->width);
    } else {
        agb_parquet_hybrid levels;
        stored += page->repetition_bytes;
        if (second)
            agb_parquet_hybrid_open(&levels, stored, stored + page->definition_bytes, 1);
        else
            status = open_levels(reader, page, &from.bytes, &levels);
        if (status == AGB_OK)
            status = read_optional(&from, &levels);
    }
    reader->row += from.rows;
    return status;
}
