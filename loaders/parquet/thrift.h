/* SPDX-License-Identifier: MIT */
/* A reader of Thrift's compact protocol, as far as Parquet's footer and page headers use it.
 *
 * Errors stick: once something does not fit, `bad` is set, every loop over fields ends and every value reads as 0, so
 * that a caller checks once, at the end of a structure. No claim is believed: a list is never longer than the bytes
 * that are left, and nesting ends at a fixed depth. Source: "Thrift compact protocol" in Apache Thrift's documents. */
#ifndef AGB_PARQUET_THRIFT_H
#define AGB_PARQUET_THRIFT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef struct agb_thrift {
    const unsigned char *at, *end;
    bool bad;    /* something did not fit */
    bool cut;    /* it was the end of the bytes: with more of them it might */
} agb_thrift;

typedef enum agb_thrift_type {
    AGB_THRIFT_TRUE = 1,
    AGB_THRIFT_FALSE,
    AGB_THRIFT_BYTE,
    AGB_THRIFT_I16,
    AGB_THRIFT_I32,
    AGB_THRIFT_I64,
    AGB_THRIFT_DOUBLE,
    AGB_THRIFT_BINARY,
    AGB_THRIFT_LIST,
    AGB_THRIFT_SET,
    AGB_THRIFT_MAP,
    AGB_THRIFT_STRUCT
} agb_thrift_type;

/* Start with {0}. */
typedef struct agb_thrift_field {
    int id;
    int type;    /* agb_thrift_type, or a number that has no meaning */
} agb_thrift_field;

typedef struct agb_thrift_text {
    const char *bytes;    /* borrowed from the input, not NUL-terminated */
    size_t length;
} agb_thrift_text;

/* The next field of the structure; false at its end or when bad. The caller reads or skips the field's value. */
bool agb_thrift_next(agb_thrift *thrift, agb_thrift_field *field);

/* Values of a field that next() has found. One of another type than asked for makes the reader bad. */
int64_t agb_thrift_i64(agb_thrift *thrift, const agb_thrift_field *field);    /* any integer width */
int32_t agb_thrift_i32(agb_thrift *thrift, const agb_thrift_field *field);
bool agb_thrift_bool(agb_thrift *thrift, const agb_thrift_field *field);
agb_thrift_text agb_thrift_binary(agb_thrift *thrift, const agb_thrift_field *field);
/* True when the value is a structure, whose fields follow. */
bool agb_thrift_struct(agb_thrift *thrift, const agb_thrift_field *field);
/* Number of elements, all of the type `element`, that follow. */
size_t agb_thrift_list(agb_thrift *thrift, const agb_thrift_field *field, agb_thrift_type element);
/* One integer that is an element of a list. */
int64_t agb_thrift_element(agb_thrift *thrift);

void agb_thrift_skip(agb_thrift *thrift, const agb_thrift_field *field);

/* An unsigned LEB128 number; also used by Parquet's own encodings. */
uint64_t agb_thrift_varint(agb_thrift *thrift);
static inline int64_t agb_thrift_unzigzag(uint64_t zigzag)
{
    return (int64_t)((zigzag >> 1) ^ (0 - (zigzag & 1)));
}

#endif
