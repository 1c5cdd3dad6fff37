/* SPDX-License-Identifier: MIT */
/* A chunk is a sequence of pages: at most one dictionary, then data. The pages are walked by their own headers and
 * trusted by their own types, because footers of real files point at the wrong one, or leave the dictionary out. */
#include "parquet/chunk.h"

#include "parquet/page.h"
#include "parquet/values.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    LEVELS = 1024,                   /* definition levels that are unpacked at a time */
    FIRST_PAGE = 4,                  /* behind the magic */
    MOST_HEADER_BYTES = 16 << 20,
    MOST_ROWS_PER_BYTE = 1 << 20     /* a run of equal values takes a few bytes for any number of rows; this many are
                                        believed, so that a damaged row count is not paid for with memory */
};

typedef struct reader {
    const agb_parquet_job *job;
    agb_parquet_scratch *scratch;
    size_t width;              /* bytes of a value in the table */
    uint64_t at, end;          /* file offsets */
    uint64_t page_offset;      /* of the current page's header */
    uint64_t row;              /* in the row group */
    agb_parquet_dictionary dictionary;
    agb_error *err;
} reader;

/* The bytes of a page's values, or of levels and values. */
typedef struct span {
    unsigned char *from, *end;
} span;

typedef enum place {
    IN_SCRATCH,       /* until the next page */
    IN_DICTIONARY,    /* until the next chunk */
    IN_HEAP,          /* as long as the table */
    IN_COLUMN         /* they are the column's values */
} place;

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* ---- Messages: the reason has been found deep inside, the place is added here ---- */

static agb_status name_place(const agb_parquet_job *job, uint64_t page_offset, agb_error *err)
{
    if (!err)
        return AGB_OK;
    agb_error inner = *err;
    char page[48] = "";
    if (page_offset)
        snprintf(page, sizeof page, ": page at byte %llu", (unsigned long long)page_offset);
    const char *advice = inner.status == AGB_ERR_FORMAT        ? ": the file is damaged, get a good copy"
                         : inner.status == AGB_ERR_UNSUPPORTED ? ": write the file again without that"
                                                               : "";
    return agb_fail(err, inner.status, "parquet: %.400s: column %.200s: row group %zu%s: %.300s%s", job->path,
                    job->column->name, job->row_group, page, inner.text, advice);
}

/* ---- What the footer claims ---- */

static agb_status check_claims(const agb_parquet_job *job, agb_error *err)
{
    const agb_parquet_chunk *chunk = job->chunk;
    if (chunk->encrypted)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "the column chunk is encrypted");
    if (chunk->elsewhere)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "the column chunk is in another file");
    if (!chunk->described)
        return agb_fail(err, AGB_ERR_FORMAT, "the footer leaves out what the column chunk is");
    if (chunk->type != job->column->type)
        return agb_fail(err, AGB_ERR_FORMAT, "the column chunk has type %s, the schema says %s",
                        agb_parquet_type_name(chunk->type), agb_parquet_type_name(job->column->type));
    if (chunk->values < 0 || (uint64_t)chunk->values != job->rows)
        return agb_fail(err, AGB_ERR_FORMAT, "the column chunk claims %lld values, its row group has %llu rows",
                        (long long)chunk->values, (unsigned long long)job->rows);
    if (chunk->bytes < 0 || (uint64_t)chunk->bytes > job->data_end)
        return agb_fail(err, AGB_ERR_FORMAT, "the column chunk claims %lld bytes, the file has %llu before its footer",
                        (long long)chunk->bytes, (unsigned long long)job->data_end);
    if (job->rows / MOST_ROWS_PER_BYTE > (uint64_t)chunk->bytes)
        return agb_fail(err, AGB_ERR_FORMAT, "%llu rows in a column chunk of %lld bytes",
                        (unsigned long long)job->rows, (long long)chunk->bytes);
    return agb_parquet_unpack_check(chunk->codec, 0, 0, err);
}

static bool is_page_offset(const agb_parquet_job *job, int64_t offset)
{
    return offset >= FIRST_PAGE && (uint64_t)offset < job->data_end;
}

static agb_status find_pages(const agb_parquet_job *job, uint64_t *start, uint64_t *end, agb_error *err)
{
    const agb_parquet_chunk *chunk = job->chunk;
    bool data = is_page_offset(job, chunk->data_offset);
    bool dictionary = is_page_offset(job, chunk->dictionary_offset);
    *start = *end = 0;
    if (job->rows == 0)
        return AGB_OK;
    if (!data && !dictionary)
        return agb_fail(err, AGB_ERR_FORMAT, "the pages are said to start at byte %lld, allowed range is %d..%llu",
                        (long long)chunk->data_offset, FIRST_PAGE, (unsigned long long)job->data_end - 1);
    *start = (uint64_t)(dictionary && (!data || chunk->dictionary_offset < chunk->data_offset)
                            ? chunk->dictionary_offset
                            : chunk->data_offset);
    if ((uint64_t)chunk->bytes > job->data_end - *start)
        return agb_fail(err, AGB_ERR_FORMAT, "the column chunk of %lld bytes at byte %llu runs into the footer at %llu",
                        (long long)chunk->bytes, (unsigned long long)*start, (unsigned long long)job->data_end);
    *end = *start + (uint64_t)chunk->bytes;
    return AGB_OK;
}

agb_status agb_parquet_chunk_check(const agb_parquet_job *job, uint64_t *start, uint64_t *end, agb_error *err)
{
    agb_status status = check_claims(job, err);
    if (status == AGB_OK)
        status = find_pages(job, start, end, err);
    if (status != AGB_OK)
        name_place(job, 0, err);
    return status;
}

/* ---- Getting a page's bytes ---- */

/* Statistics can make a header long; it is read with more and more bytes until it fits. */
static agb_status read_header(reader *reader, agb_parquet_page *page)
{
    uint64_t left = reader->end - reader->at;
    for (size_t want = 256;; want *= 8) {
        size_t available, header_bytes;
        const unsigned char *bytes = agb_parquet_window_at(&reader->scratch->window, reader->at, least(want, left),
                                                           &available, reader->err);
        if (!bytes)
            return reader->err->status;
        switch (agb_parquet_page_parse(page, bytes, available, &header_bytes, reader->err)) {
        case AGB_PARQUET_PAGE_READ:
            reader->at += header_bytes;
            return AGB_OK;
        case AGB_PARQUET_PAGE_BAD:
            return AGB_ERR_FORMAT;
        case AGB_PARQUET_PAGE_CUT:
            if (available >= left || available >= MOST_HEADER_BYTES)
                return agb_fail(reader->err, AGB_ERR_FORMAT, "the page header has no end");
        }
    }
}

static unsigned char *read_stored(reader *reader, const agb_parquet_page *page)
{
    uint64_t left = reader->end - reader->at;
    if (page->stored_bytes > left) {
        agb_fail(reader->err, AGB_ERR_FORMAT, "a page of %u stored bytes where the column chunk has %llu left",
                 page->stored_bytes, (unsigned long long)left);
        return NULL;
    }
    unsigned char *stored = agb_parquet_window_at(&reader->scratch->window, reader->at, page->stored_bytes, NULL,
                                                  reader->err);
    if (!stored)
        return NULL;
    if (page->has_crc && crc32_z(0, stored, page->stored_bytes) != page->crc) {
        agb_fail(reader->err, AGB_ERR_FORMAT, "the checksum of the page is %08lx, its header says %08x",
                 crc32_z(0, stored, page->stored_bytes), page->crc);
        return NULL;
    }
    return stored;
}

static unsigned char *make_room(reader *reader, place place, size_t bytes)
{
    agb_parquet_buffer *buffer = place == IN_DICTIONARY ? &reader->scratch->dictionary : &reader->scratch->page;
    unsigned char *room;
    if (place == IN_COLUMN)
        room = reader->job->values + reader->row * reader->width;
    else if (place == IN_HEAP)
        room = agb_table_heap(reader->job->table, bytes + AGB_PARQUET_SLACK);
    else
        room = agb_parquet_buffer_reserve(buffer, bytes) ? buffer->bytes : NULL;
    if (!room)
        agb_fail(reader->err, AGB_ERR_MEMORY, "the system refused %zu bytes of memory", bytes);
    return room;
}

/* Unpacks what follows the `levels` bytes at the start of a stored page. Version 1 has none there; those of version 2
 * are never packed. An empty body need not be packed data at all. */
static agb_status unpack_body(reader *reader, const agb_parquet_page *page, unsigned char *stored, uint32_t levels,
                              place place, span *body)
{
    int codec = page->packed ? reader->job->chunk->codec : AGB_PARQUET_UNCOMPRESSED;
    if (levels > page->stored_bytes || levels > page->bytes)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "%u bytes of levels in a page of %u stored and %u unpacked bytes",
                        levels, page->stored_bytes, page->bytes);
    size_t packed = page->stored_bytes - levels, bytes = page->bytes - levels;
    stored += levels;
    *body = (span){stored, stored + bytes};
    agb_status status = agb_parquet_unpack_check(codec, packed, bytes, reader->err);
    if (status != AGB_OK || bytes == 0)
        return status;
    if (codec == AGB_PARQUET_UNCOMPRESSED && place == IN_SCRATCH)
        return AGB_OK;
    unsigned char *room = make_room(reader, place, bytes);
    if (!room)
        return AGB_ERR_MEMORY;
    *body = (span){room, room + bytes};
    if (codec != AGB_PARQUET_UNCOMPRESSED)
        return agb_parquet_unpack(&reader->scratch->unpacker, codec, stored, packed, room, bytes, reader->err);
    memcpy(room, stored, bytes);
    return AGB_OK;
}

/* ---- Dictionary pages ---- */

static agb_status read_dictionary(reader *reader, const agb_parquet_page *page, unsigned char *stored)
{
    const agb_parquet_column *column = reader->job->column;
    bool strings = column->as == AGB_TYPE_BYTES;
    span body;
    if (reader->dictionary.entries)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "the column chunk has two dictionaries");
    if (page->encoding != AGB_PARQUET_PLAIN && page->encoding != AGB_PARQUET_PLAIN_DICTIONARY)
        return agb_parquet_encoding_refused(column, page->encoding, reader->err);
    if (column->type == AGB_PARQUET_BOOLEAN)
        return agb_fail(reader->err, AGB_ERR_UNSUPPORTED, "a dictionary of booleans");
    agb_status status = unpack_body(reader, page, stored, 0, strings ? IN_HEAP : IN_DICTIONARY, &body);
    if (status != AGB_OK)
        return status;
    size_t least_bytes = column->type == AGB_PARQUET_BYTE_ARRAY ? sizeof(uint32_t)
                         : column->type == AGB_PARQUET_FIXED    ? column->length
                                                                : reader->width;
    if (page->values > (size_t)(body.end - body.from) / least_bytes)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "a dictionary of %u values in %zu bytes", page->values,
                        (size_t)(body.end - body.from));
    reader->dictionary = (agb_parquet_dictionary){.entries = body.from, .count = page->values};
    if (!strings)
        return AGB_OK;
    agb_parquet_values values;
    agb_parquet_buffer *entries = &reader->scratch->strings;
    if (!agb_parquet_buffer_reserve(entries, page->values * sizeof(agb_bytes)))
        return agb_fail(reader->err, AGB_ERR_MEMORY, "the system refused memory for a dictionary of %u strings",
                        page->values);
    status = agb_parquet_values_open(&values, column, AGB_PARQUET_PLAIN, body.from, body.end, NULL,
                                     reader->job->table, reader->err);
    if (status == AGB_OK)
        status = values.next(&values, page->values, entries->bytes, reader->err);
    reader->dictionary.entries = entries->bytes;
    return status;
}

/* ---- Data pages ---- */

/* The values of the page, opened when the first one is needed: a page of NULLs has none, and then often no bytes that
 * would be a proper start of its encoding. */
typedef struct page_values {
    reader *reader;
    const agb_parquet_page *page;
    span bytes;
    bool open;
    agb_parquet_values values;
} page_values;

static agb_status take(page_values *from, size_t n, void *out)
{
    reader *reader = from->reader;
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

static agb_status read_packed_levels(page_values *from, agb_parquet_hybrid *levels, size_t n, unsigned char *out,
                                     uint8_t *nulls)
{
    uint32_t level[LEVELS];
    size_t values = 0;
    agb_parquet_hybrid_unpack(levels, n, level);
    for (size_t i = 0; i < n; i++)
        values += level[i];
    agb_status status = take(from, values, out);
    if (status != AGB_OK || values == n)
        return status;
    spread(out, level, n, values, from->reader->width);
    for (size_t i = 0; i < n; i++)
        nulls[i] = !level[i];
    return AGB_OK;
}

static agb_status read_optional(page_values *from, agb_parquet_hybrid *levels)
{
    reader *reader = from->reader;
    agb_status status = AGB_OK;
    uint64_t row = reader->row;
    for (size_t left = from->page->values; left && status == AGB_OK;) {
        unsigned char *out = reader->job->values + row * reader->width;
        uint8_t *nulls = reader->job->nulls + row;
        if (!agb_parquet_hybrid_run(levels))
            return agb_fail(reader->err, AGB_ERR_FORMAT, "the page holds fewer levels than its header says");
        size_t n = (size_t)least(left, levels->left);
        if (!levels->repeated) {
            n = (size_t)least(n, LEVELS);
            status = read_packed_levels(from, levels, n, out, nulls);
        } else {
            if (levels->value > 1)
                return agb_fail(reader->err, AGB_ERR_FORMAT, "a definition level of %u, allowed range is 0..1",
                                levels->value);
            if (levels->value)
                status = take(from, n, out);
            else
                memset(nulls, 1, n);
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
static agb_status open_levels(reader *reader, const agb_parquet_page *page, span *body, agb_parquet_hybrid *levels)
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

/* Numbers that stand in the page as they will stand in the table can be unpacked right there. */
static place place_of(const reader *reader, const agb_parquet_page *page, uint32_t levels)
{
    const agb_parquet_column *column = reader->job->column;
    bool number = column->type == AGB_PARQUET_INT32 || column->type == AGB_PARQUET_INT64;
    if (agb_parquet_values_stay(column, page->encoding))
        return IN_HEAP;
    if (number && !column->optional && page->encoding == AGB_PARQUET_PLAIN &&
        page->bytes == (uint64_t)page->values * reader->width + levels)
        return IN_COLUMN;
    return IN_SCRATCH;
}

static agb_status read_data(reader *reader, const agb_parquet_page *page, unsigned char *stored)
{
    bool second = page->type == AGB_PARQUET_DATA_PAGE_V2;
    uint64_t level_bytes = second ? (uint64_t)page->definition_bytes + page->repetition_bytes : 0;
    if (page->values > reader->job->rows - reader->row)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "a page of %u values where the row group has %llu rows left",
                        page->values, (unsigned long long)(reader->job->rows - reader->row));
    place place = place_of(reader, page, (uint32_t)level_bytes);
    page_values from = {.reader = reader, .page = page};
    agb_status status = unpack_body(reader, page, stored, (uint32_t)least(level_bytes, UINT32_MAX), place,
                                    &from.bytes);
    if (status != AGB_OK)
        return status;
    if (!reader->job->column->optional) {
        if (place != IN_COLUMN)
            status = take(&from, page->values, reader->job->values + reader->row * reader->width);
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
    reader->row += page->values;
    return status;
}

/* Old writers left the header of the dictionary page out of the chunk's size (PARQUET-816): so many bytes more may
 * belong to it. */
static void allow_forgotten_header(reader *reader)
{
    reader->end = least(reader->end + (reader->at - reader->page_offset), reader->job->data_end);
    reader->scratch->window.end = reader->end;
}

static agb_status read_page(reader *reader)
{
    agb_parquet_page page;
    if (reader->at >= reader->end)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "the pages end after %llu of %llu rows",
                        (unsigned long long)reader->row, (unsigned long long)reader->job->rows);
    reader->page_offset = reader->at;
    agb_status status = read_header(reader, &page);
    if (status != AGB_OK)
        return status;
    if (page.type == AGB_PARQUET_DICTIONARY_PAGE)
        allow_forgotten_header(reader);
    unsigned char *stored = read_stored(reader, &page);
    if (!stored)
        return reader->err->status;
    if (page.type == AGB_PARQUET_DICTIONARY_PAGE)
        status = read_dictionary(reader, &page, stored);
    else if (page.type == AGB_PARQUET_DATA_PAGE || page.type == AGB_PARQUET_DATA_PAGE_V2)
        status = read_data(reader, &page, stored);
    reader->at += page.stored_bytes;
    return status;
}

agb_status agb_parquet_chunk_read(const agb_parquet_job *job, agb_parquet_scratch *scratch, agb_error *err)
{
    agb_error local;
    reader reader = {.job = job, .scratch = scratch, .width = agb_type_bytes(job->column->as),
                     .err = err ? err : &local};
    agb_status status = agb_parquet_chunk_check(job, &reader.at, &reader.end, reader.err);
    if (status != AGB_OK)
        return status;
    agb_parquet_window_open(&scratch->window, job->fd, reader.end);
    while (status == AGB_OK && reader.row < job->rows)
        status = read_page(&reader);
    if (status == AGB_OK)
        return AGB_OK;
    name_place(job, reader.page_offset, reader.err);
    return reader.err->status;
}

void agb_parquet_scratch_release(agb_parquet_scratch *scratch)
{
    agb_parquet_buffer_release(&scratch->window.buffer);
    agb_parquet_buffer_release(&scratch->page);
    agb_parquet_buffer_release(&scratch->dictionary);
    agb_parquet_buffer_release(&scratch->strings);
    agb_parquet_unpacker_release(&scratch->unpacker);
}
