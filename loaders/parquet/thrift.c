/* SPDX-License-Identifier: MIT */
#include "parquet/thrift.h"

enum { MOST_DEPTH = 32 };

static void spoil(agb_thrift *thrift, bool cut)
{
    if (!thrift->bad)
        thrift->cut = cut;
    thrift->bad = true;
    thrift->at = thrift->end;
}

static unsigned byte(agb_thrift *thrift)
{
    if (thrift->at == thrift->end) {
        spoil(thrift, true);
        return 0;
    }
    return *thrift->at++;
}

static void advance(agb_thrift *thrift, uint64_t bytes)
{
    if (bytes > (uint64_t)(thrift->end - thrift->at))
        spoil(thrift, true);
    else
        thrift->at += bytes;
}

uint64_t agb_thrift_varint(agb_thrift *thrift)
{
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        unsigned part = byte(thrift);
        value |= (uint64_t)(part & 0x7f) << shift;
        if (!(part & 0x80))
            return value;
    }
    spoil(thrift, false);
    return 0;
}

bool agb_thrift_next(agb_thrift *thrift, agb_thrift_field *field)
{
    unsigned head = byte(thrift);
    if (thrift->bad || head == 0)
        return false;
    field->type = head & 15;
    if (head >> 4)
        field->id += (int)(head >> 4);
    else
        field->id = (int16_t)agb_thrift_unzigzag(agb_thrift_varint(thrift));
    return !thrift->bad;
}

int64_t agb_thrift_i64(agb_thrift *thrift, const agb_thrift_field *field)
{
    switch (field->type) {
    case AGB_THRIFT_BYTE:
        return (int8_t)byte(thrift);
    case AGB_THRIFT_I16:
    case AGB_THRIFT_I32:
    case AGB_THRIFT_I64:
        return agb_thrift_unzigzag(agb_thrift_varint(thrift));
    default:
        spoil(thrift, false);
        return 0;
    }
}

int32_t agb_thrift_i32(agb_thrift *thrift, const agb_thrift_field *field)
{
    int64_t value = agb_thrift_i64(thrift, field);
    if (value < INT32_MIN || value > INT32_MAX) {
        spoil(thrift, false);
        return 0;
    }
    return (int32_t)value;
}

bool agb_thrift_bool(agb_thrift *thrift, const agb_thrift_field *field)
{
    if (field->type != AGB_THRIFT_TRUE && field->type != AGB_THRIFT_FALSE)
        spoil(thrift, false);
    return field->type == AGB_THRIFT_TRUE;
}

agb_thrift_text agb_thrift_binary(agb_thrift *thrift, const agb_thrift_field *field)
{
    agb_thrift_text text = {.bytes = ""};
    if (field->type != AGB_THRIFT_BINARY) {
        spoil(thrift, false);
        return text;
    }
    uint64_t length = agb_thrift_varint(thrift);
    const unsigned char *start = thrift->at;
    advance(thrift, length);
    if (!thrift->bad)
        text = (agb_thrift_text){.bytes = (const char *)start, .length = (size_t)length};
    return text;
}

bool agb_thrift_struct(agb_thrift *thrift, const agb_thrift_field *field)
{
    if (field->type != AGB_THRIFT_STRUCT)
        spoil(thrift, false);
    return !thrift->bad;
}

/* Every element takes at least one byte, so a longer list than bytes is a lie. */
static uint64_t list_head(agb_thrift *thrift, int *element)
{
    unsigned head = byte(thrift);
    uint64_t count = head >> 4;
    if (count == 15)
        count = agb_thrift_varint(thrift);
    if (count > (uint64_t)(thrift->end - thrift->at))
        spoil(thrift, true);
    *element = head & 15;
    return thrift->bad ? 0 : count;
}

size_t agb_thrift_list(agb_thrift *thrift, const agb_thrift_field *field, agb_thrift_type element)
{
    if (field->type != AGB_THRIFT_LIST) {
        spoil(thrift, false);
        return 0;
    }
    int found;
    uint64_t count = list_head(thrift, &found);
    if (count && found != (int)element) {
        spoil(thrift, false);
        return 0;
    }
    return (size_t)count;
}

int64_t agb_thrift_element(agb_thrift *thrift)
{
    return agb_thrift_unzigzag(agb_thrift_varint(thrift));
}

static void skip(agb_thrift *thrift, int type, bool in_list, unsigned depth);

static void skip_struct(agb_thrift *thrift, unsigned depth)
{
    agb_thrift_field field = {0};
    while (agb_thrift_next(thrift, &field))
        skip(thrift, field.type, false, depth + 1);
}

static void skip_map(agb_thrift *thrift, unsigned depth)
{
    uint64_t count = agb_thrift_varint(thrift);
    if (count == 0)
        return;
    unsigned types = byte(thrift);
    if (count > (uint64_t)(thrift->end - thrift->at))
        spoil(thrift, true);
    for (uint64_t i = 0; i < count && !thrift->bad; i++) {
        skip(thrift, types >> 4, true, depth + 1);
        skip(thrift, types & 15, true, depth + 1);
    }
}

/* A boolean field has its value in the field's head; a boolean in a list is a byte. */
static void skip(agb_thrift *thrift, int type, bool in_list, unsigned depth)
{
    if (depth > MOST_DEPTH) {
        spoil(thrift, false);
        return;
    }
    switch (type) {
    case AGB_THRIFT_TRUE:
    case AGB_THRIFT_FALSE:
        advance(thrift, in_list ? 1 : 0);
        break;
    case AGB_THRIFT_BYTE:
        advance(thrift, 1);
        break;
    case AGB_THRIFT_I16:
    case AGB_THRIFT_I32:
    case AGB_THRIFT_I64:
        agb_thrift_varint(thrift);
        break;
    case AGB_THRIFT_DOUBLE:
        advance(thrift, 8);
        break;
    case AGB_THRIFT_BINARY:
        advance(thrift, agb_thrift_varint(thrift));
        break;
    case AGB_THRIFT_LIST:
    case AGB_THRIFT_SET: {
        int element;
        uint64_t count = list_head(thrift, &element);
        for (uint64_t i = 0; i < count && !thrift->bad; i++)
            skip(thrift, element, true, depth + 1);
        break;
    }
    case AGB_THRIFT_MAP:
        skip_map(thrift, depth);
        break;
    case AGB_THRIFT_STRUCT:
        skip_struct(thrift, depth);
        break;
    default:
        spoil(thrift, false);
    }
}

void agb_thrift_skip(agb_thrift *thrift, const agb_thrift_field *field)
{
    skip(thrift, field->type, false, 0);
}
