/* SPDX-License-Identifier: MIT */
#include "parquet/footer.h"

#include "parquet/buffer.h"

#include <string.h>

typedef struct parse {
    agb_parquet_footer *footer;
    agb_thrift thrift;
    size_t chunks;           /* read so far */
    int64_t claimed_rows;    /* of the file; -1: not said */
    bool has_schema;
    agb_error *err;
} parse;

static agb_status out_of_memory(agb_error *err)
{
    return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for the footer");
}

static void read_chunk_metadata(agb_thrift *thrift, agb_parquet_chunk *chunk)
{
    enum { TYPE = 1, CODEC = 4, VALUES = 5, BYTES = 7, DATA_OFFSET = 9 };
    const unsigned needed = 1u << TYPE | 1u << CODEC | 1u << VALUES | 1u << BYTES | 1u << DATA_OFFSET;
    unsigned found = 0;
    agb_thrift_field field = {0};
    while (agb_thrift_next(thrift, &field)) {
        if (field.id >= 0 && field.id < 32)
            found |= 1u << field.id;
        switch (field.id) {
        case TYPE:
            chunk->type = agb_thrift_i32(thrift, &field);
            break;
        case 2:
            for (size_t left = agb_thrift_list(thrift, &field, AGB_THRIFT_I32); left && !thrift->bad; left--)
                chunk->encodings |= 1u << (agb_thrift_element(thrift) & 31);
            break;
        case CODEC:
            chunk->codec = agb_thrift_i32(thrift, &field);
            break;
        case VALUES:
            chunk->values = agb_thrift_i64(thrift, &field);
            break;
        case BYTES:
            chunk->bytes = agb_thrift_i64(thrift, &field);
            break;
        case DATA_OFFSET:
            chunk->data_offset = agb_thrift_i64(thrift, &field);
            break;
        case 11:
            chunk->dictionary_offset = agb_thrift_i64(thrift, &field);
            break;
        default:
            agb_thrift_skip(thrift, &field);
        }
    }
    chunk->described = (found & needed) == needed;
}

static void read_chunk(agb_thrift *thrift, agb_parquet_chunk *chunk)
{
    agb_thrift_field field = {0};
    while (agb_thrift_next(thrift, &field)) {
        switch (field.id) {
        case 1:
            chunk->elsewhere = agb_thrift_binary(thrift, &field).length != 0;
            break;
        case 3:
            if (agb_thrift_struct(thrift, &field))
                read_chunk_metadata(thrift, chunk);
            break;
        case 8:
        case 9:
            chunk->encrypted = true;
            agb_thrift_skip(thrift, &field);
            break;
        default:
            agb_thrift_skip(thrift, &field);
        }
    }
}

static agb_status read_chunks(parse *parse, const agb_thrift_field *list)
{
    agb_parquet_footer *footer = parse->footer;
    size_t count = agb_thrift_list(&parse->thrift, list, AGB_THRIFT_STRUCT);
    if (!parse->thrift.bad && count != footer->schema.columns)
        return agb_fail(parse->err, AGB_ERR_FORMAT, "row group %zu has %zu column chunks, the schema has %zu columns",
                        footer->row_groups, count, footer->schema.columns);
    for (size_t i = 0; i < count && !parse->thrift.bad; i++) {
        void *grown = agb_parquet_list_grow(footer->chunk, parse->chunks, sizeof *footer->chunk);
        if (!grown)
            return out_of_memory(parse->err);
        footer->chunk = grown;
        footer->chunk[parse->chunks] = (agb_parquet_chunk){0};
        read_chunk(&parse->thrift, &footer->chunk[parse->chunks++]);
    }
    return AGB_OK;
}

static agb_status read_row_group(parse *parse)
{
    agb_parquet_footer *footer = parse->footer;
    size_t chunks_before = parse->chunks;
    int64_t rows = -1;
    agb_status status = AGB_OK;
    agb_thrift_field field = {0};
    while (status == AGB_OK && agb_thrift_next(&parse->thrift, &field)) {
        switch (field.id) {
        case 1:
            status = read_chunks(parse, &field);
            break;
        case 3:
            rows = agb_thrift_i64(&parse->thrift, &field);
            break;
        default:
            agb_thrift_skip(&parse->thrift, &field);
        }
    }
    if (status != AGB_OK || parse->thrift.bad)
        return status;
    if (parse->chunks - chunks_before != footer->schema.columns)
        return agb_fail(parse->err, AGB_ERR_FORMAT, "row group %zu does not have one list of column chunks",
                        footer->row_groups);
    if (rows < 0 || (uint64_t)rows > INT64_MAX - footer->rows)
        return agb_fail(parse->err, AGB_ERR_FORMAT, "row group %zu claims %lld rows", footer->row_groups,
                        (long long)rows);
    void *grown = agb_parquet_list_grow(footer->group_rows, footer->row_groups, sizeof *footer->group_rows);
    if (!grown)
        return out_of_memory(parse->err);
    footer->group_rows = grown;
    footer->group_rows[footer->row_groups++] = (uint64_t)rows;
    footer->rows += (uint64_t)rows;
    return AGB_OK;
}

static agb_status read_field(parse *parse, const agb_thrift_field *field)
{
    agb_thrift *thrift = &parse->thrift;
    agb_status status = AGB_OK;
    switch (field->id) {
    case 2:
        if (parse->has_schema)
            return agb_fail(parse->err, AGB_ERR_FORMAT, "there are two schemas");
        parse->has_schema = true;
        return agb_parquet_schema_read(&parse->footer->schema, thrift,
                                       agb_thrift_list(thrift, field, AGB_THRIFT_STRUCT), parse->err);
    case 3:
        parse->claimed_rows = agb_thrift_i64(thrift, field);
        break;
    case 4:
        if (!parse->has_schema)
            return agb_fail(parse->err, AGB_ERR_FORMAT, "there is no schema before the row groups");
        for (size_t left = agb_thrift_list(thrift, field, AGB_THRIFT_STRUCT);
             left && !thrift->bad && status == AGB_OK; left--)
            status = read_row_group(parse);
        break;
    case 6: {
        agb_thrift_text writer = agb_thrift_binary(thrift, field);
        free(parse->footer->writer);
        parse->footer->writer = strndup(writer.bytes, writer.length);
        break;
    }
    default:
        agb_thrift_skip(thrift, field);
    }
    return status;
}

/* A column that is encrypted in any row group cannot be loaded from any. */
static void mark_encrypted(agb_parquet_footer *footer)
{
    size_t columns = footer->schema.columns;
    for (size_t i = 0; i < footer->row_groups * columns; i++) {
        if (footer->chunk[i].encrypted) {
            footer->schema.column[i % columns].as = AGB_TYPE_OTHER;
            footer->schema.column[i % columns].refusal = "encrypted";
        }
    }
}

agb_status agb_parquet_footer_parse(agb_parquet_footer *footer, const unsigned char *bytes, size_t count,
                                    agb_error *err)
{
    *footer = (agb_parquet_footer){0};
    parse parse = {.footer = footer, .thrift = {.at = bytes, .end = bytes + count}, .claimed_rows = -1, .err = err};
    agb_thrift_field field = {0};
    agb_status status = AGB_OK;
    while (status == AGB_OK && agb_thrift_next(&parse.thrift, &field))
        status = read_field(&parse, &field);
    if (status != AGB_OK)
        return status;
    if (parse.thrift.bad)
        return agb_fail(err, AGB_ERR_FORMAT, "field %d of the footer's %zu bytes cannot be read", field.id, count);
    if (!parse.has_schema)
        return agb_fail(err, AGB_ERR_FORMAT, "the footer has no schema");
    if (parse.claimed_rows < 0 || (uint64_t)parse.claimed_rows != footer->rows)
        return agb_fail(err, AGB_ERR_FORMAT, "the footer claims %lld rows, its %zu row groups have %llu",
                        (long long)parse.claimed_rows, footer->row_groups, (unsigned long long)footer->rows);
    mark_encrypted(footer);
    return AGB_OK;
}

void agb_parquet_footer_release(agb_parquet_footer *footer)
{
    agb_parquet_schema_release(&footer->schema);
    free(footer->group_rows);
    free(footer->chunk);
    free(footer->writer);
    *footer = (agb_parquet_footer){0};
}
