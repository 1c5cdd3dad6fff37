/* SPDX-License-Identifier: MIT */
/* A chunk is a sequence of pages: at most one dictionary, then data. The pages are walked by their own headers and
 * trusted by their own types, because footers of real files point at the wrong one, or leave the dictionary out. */
#include "parquet/reader.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

enum {
    FIRST_PAGE = 4,                  /* behind the magic */
    MOST_HEADER_BYTES = 16 << 20,
    USUAL_PAGE_BYTES = 2 << 20,      /* writers end a page at 1 MiB */
    MOST_ROWS_PER_BYTE = 1 << 20     /* a run of equal values takes a few bytes for any number of rows; this many are
                                        believed, so that a damaged row count is not paid for with memory */
};

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
static agb_status read_header(agb_parquet_reader *reader, agb_parquet_page *page)
{
    uint64_t left = reader->end - reader->at;
    for (size_t want = 256;; want *= 8) {
        size_t available, header_bytes;
        const unsigned char *bytes = agb_parquet_window_at(&reader->scratch->window, reader->at,
                                                           agb_parquet_least(want, left), &available, reader->err);
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

static unsigned char *read_stored(agb_parquet_reader *reader, const agb_parquet_page *page)
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

static unsigned char *make_room(agb_parquet_reader *reader, agb_parquet_place place, size_t bytes)
{
    agb_parquet_scratch *scratch = reader->scratch;
    agb_parquet_buffer *buffer = place == AGB_PARQUET_IN_DICTIONARY ? &scratch->dictionary : &scratch->page;
    unsigned char *room;
    if (place == AGB_PARQUET_IN_COLUMN)
        room = reader->job->values + reader->row * reader->width;
    else if (place == AGB_PARQUET_IN_HEAP)
        room = agb_table_heap(reader->job->table, bytes + AGB_PARQUET_SLACK);
    else
        room = agb_parquet_buffer_reserve(buffer, bytes) ? buffer->bytes : NULL;
    if (!room)
        agb_fail(reader->err, AGB_ERR_MEMORY, "the system refused %zu bytes of memory", bytes);
    return room;
}

agb_status agb_parquet_unpack_body(agb_parquet_reader *reader, const agb_parquet_page *page, unsigned char *stored,
                                   uint32_t levels, agb_parquet_place place, agb_parquet_span *body)
{
    int codec = page->packed ? reader->job->chunk->codec : AGB_PARQUET_UNCOMPRESSED;
    if (levels > page->stored_bytes || levels > page->bytes)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "%u bytes of levels in a page of %u stored and %u unpacked bytes",
                        levels, page->stored_bytes, page->bytes);
    size_t packed = page->stored_bytes - levels, bytes = page->bytes - levels;
    stored += levels;
    *body = (agb_parquet_span){stored, stored + bytes};
    agb_status status = agb_parquet_unpack_check(codec, packed, bytes, reader->err);
    if (status != AGB_OK || bytes == 0)
        return status;
    if (codec == AGB_PARQUET_UNCOMPRESSED && place == AGB_PARQUET_IN_SCRATCH)
        return AGB_OK;
    unsigned char *room = make_room(reader, place, bytes);
    if (!room)
        return AGB_ERR_MEMORY;
    *body = (agb_parquet_span){room, room + bytes};
    if (codec != AGB_PARQUET_UNCOMPRESSED)
        return agb_parquet_unpack(&reader->scratch->unpacker, codec, stored, packed, room, bytes, reader->err);
    memcpy(room, stored, bytes);
    return AGB_OK;
}

/* ---- Dictionary pages ---- */

static agb_status read_dictionary(agb_parquet_reader *reader, const agb_parquet_page *page, unsigned char *stored)
{
    const agb_parquet_column *column = reader->job->column;
    bool strings = column->as == AGB_TYPE_BYTES;
    agb_parquet_span body;
    if (reader->dictionary.entries)
        return agb_fail(reader->err, AGB_ERR_FORMAT, "the column chunk has two dictionaries");
    if (page->encoding != AGB_PARQUET_PLAIN && page->encoding != AGB_PARQUET_PLAIN_DICTIONARY)
        return agb_parquet_encoding_refused(column, page->encoding, reader->err);
    if (column->type == AGB_PARQUET_BOOLEAN)
        return agb_fail(reader->err, AGB_ERR_UNSUPPORTED, "a dictionary of booleans");
    agb_status status = agb_parquet_unpack_body(reader, page, stored, 0,
                                                strings ? AGB_PARQUET_IN_HEAP : AGB_PARQUET_IN_DICTIONARY, &body);
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

/* ---- The walk ---- */

/* Old writers left the header of the dictionary page out of the chunk's size (PARQUET-816): so many bytes more may
 * belong to it. */
static void allow_forgotten_header(agb_parquet_reader *reader)
{
    reader->end = agb_parquet_least(reader->end + (reader->at - reader->page_offset), reader->job->data_end);
    reader->scratch->window.end = reader->end;
}

static agb_status read_page(agb_parquet_reader *reader)
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
        status = agb_parquet_read_data(reader, &page, stored);
    reader->at += page.stored_bytes;
    return status;
}

agb_status agb_parquet_chunk_read(const agb_parquet_job *job, agb_parquet_scratch *scratch, agb_error *err)
{
    agb_error local;
    agb_parquet_reader reader = {.job = job, .scratch = scratch, .width = agb_type_bytes(job->column->as),
                     .err = err ? err : &local};
    agb_status status = agb_parquet_chunk_check(job, &reader.at, &reader.end, reader.err);
    if (status != AGB_OK)
        return status;
    agb_parquet_window_open(&scratch->window, job->fd, reader.end);
    while (status == AGB_OK && reader.row < job->wanted)
        status = read_page(&reader);
    if (status == AGB_OK)
        return AGB_OK;
    name_place(job, reader.page_offset, reader.err);
    return reader.err->status;
}

void agb_parquet_scratch_prepare(agb_parquet_scratch *scratch)
{
    agb_parquet_buffer *const buffers[] = {&scratch->window.buffer, &scratch->page, &scratch->dictionary,
                                           &scratch->strings};
    for (size_t i = 0; i < sizeof buffers / sizeof *buffers; i++)
        (void)agb_parquet_buffer_reserve(buffers[i], USUAL_PAGE_BYTES);
}

void agb_parquet_scratch_release(agb_parquet_scratch *scratch)
{
    agb_parquet_buffer_release(&scratch->window.buffer);
    agb_parquet_buffer_release(&scratch->page);
    agb_parquet_buffer_release(&scratch->dictionary);
    agb_parquet_buffer_release(&scratch->strings);
    agb_parquet_unpacker_release(&scratch->unpacker);
}
