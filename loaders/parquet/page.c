/* SPDX-License-Identifier: MIT */
#include "parquet/page.h"

#include <stddef.h>

/* The raw numbers, negative where the file says so. */
typedef struct header {
    int32_t type, bytes, stored_bytes, crc;
    int32_t values, encoding, level_encoding, definition_bytes, repetition_bytes;
    bool has_crc, packed, has_details;
} header;

/* The three kinds of details differ only in which field number holds what: 0 where a kind has no such field. */
typedef struct layout {
    int values, encoding, level_encoding, definition_bytes, repetition_bytes, packed;
} layout;

static const layout data_page = {.values = 1, .encoding = 2, .level_encoding = 3};
static const layout dictionary_page = {.values = 1, .encoding = 2};
static const layout data_page_v2 = {.values = 1, .encoding = 4, .definition_bytes = 5, .repetition_bytes = 6,
                                    .packed = 7};

static void read_details(agb_thrift *thrift, header *header, const layout *layout)
{
    agb_thrift_field field = {0};
    header->has_details = true;
    while (agb_thrift_next(thrift, &field)) {
        if (field.id == layout->values)
            header->values = agb_thrift_i32(thrift, &field);
        else if (field.id == layout->encoding)
            header->encoding = agb_thrift_i32(thrift, &field);
        else if (field.id == layout->level_encoding)
            header->level_encoding = agb_thrift_i32(thrift, &field);
        else if (field.id == layout->definition_bytes)
            header->definition_bytes = agb_thrift_i32(thrift, &field);
        else if (field.id == layout->repetition_bytes)
            header->repetition_bytes = agb_thrift_i32(thrift, &field);
        else if (field.id == layout->packed)
            header->packed = agb_thrift_bool(thrift, &field);
        else
            agb_thrift_skip(thrift, &field);
    }
}

/* The details that belong to a type of page stand in the field of this number; 0 for a page that is skipped. */
static int details_field(int type)
{
    switch (type) {
    case AGB_PARQUET_DATA_PAGE:
        return 5;
    case AGB_PARQUET_DICTIONARY_PAGE:
        return 7;
    case AGB_PARQUET_DATA_PAGE_V2:
        return 8;
    default:
        return 0;
    }
}

static void read_header(agb_thrift *thrift, header *header)
{
    agb_thrift_field field = {0};
    while (agb_thrift_next(thrift, &field)) {
        switch (field.id) {
        case 1:
            header->type = agb_thrift_i32(thrift, &field);
            break;
        case 2:
            header->bytes = agb_thrift_i32(thrift, &field);
            break;
        case 3:
            header->stored_bytes = agb_thrift_i32(thrift, &field);
            break;
        case 4:
            header->crc = agb_thrift_i32(thrift, &field);
            header->has_crc = true;
            break;
        case 5:
        case 7:
        case 8:
            if (field.id == details_field(header->type) && agb_thrift_struct(thrift, &field))
                read_details(thrift, header,
                             field.id == 5 ? &data_page : field.id == 7 ? &dictionary_page : &data_page_v2);
            else
                agb_thrift_skip(thrift, &field);
            break;
        default:
            agb_thrift_skip(thrift, &field);
        }
    }
}

static agb_parquet_page_found check(const header *header, agb_error *err)
{
    const struct {
        const char *name;
        int32_t value;
    } sizes[] = {
        {"page size", header->bytes},
        {"stored page size", header->stored_bytes},
        {"number of values", header->values},
        {"length of the definition levels", header->definition_bytes},
        {"length of the repetition levels", header->repetition_bytes},
    };
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        if (sizes[i].value < 0) {
            agb_fail(err, AGB_ERR_FORMAT, "the page header has a negative %s (%d)", sizes[i].name, sizes[i].value);
            return AGB_PARQUET_PAGE_BAD;
        }
    }
    if (header->type < 0 || (details_field(header->type) && !header->has_details)) {
        agb_fail(err, AGB_ERR_FORMAT, "the page header of type %d has no details of that type", header->type);
        return AGB_PARQUET_PAGE_BAD;
    }
    return AGB_PARQUET_PAGE_READ;
}

agb_parquet_page_found agb_parquet_page_parse(agb_parquet_page *page, const unsigned char *bytes, size_t count,
                                              size_t *header_bytes, agb_error *err)
{
    agb_thrift thrift = {.at = bytes, .end = bytes + count};
    /* A size that the header leaves out is as wrong as a negative one; a level encoding is not always needed. */
    header header = {.type = -1, .bytes = -1, .stored_bytes = -1, .encoding = -1, .packed = true,
                     .level_encoding = AGB_PARQUET_RLE};
    read_header(&thrift, &header);
    if (thrift.bad && thrift.cut)
        return AGB_PARQUET_PAGE_CUT;
    if (thrift.bad) {
        agb_fail(err, AGB_ERR_FORMAT, "the bytes there are not a page header");
        return AGB_PARQUET_PAGE_BAD;
    }
    *header_bytes = (size_t)(thrift.at - bytes);
    *page = (agb_parquet_page){
        .type = header.type,
        .stored_bytes = (uint32_t)header.stored_bytes,
        .bytes = (uint32_t)header.bytes,
        .values = (uint32_t)header.values,
        .encoding = header.encoding,
        .level_encoding = header.level_encoding,
        .definition_bytes = (uint32_t)header.definition_bytes,
        .repetition_bytes = (uint32_t)header.repetition_bytes,
        .packed = header.packed,
        .has_crc = header.has_crc,
        .crc = (uint32_t)header.crc,
    };
    return check(&header, err);
}
