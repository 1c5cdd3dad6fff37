/* SPDX-License-Identifier: MIT */
/* Bytes that grow, and Thrift's compact protocol written into them by hand. */
#ifndef AGB_THRIFT_BUILD_H
#define AGB_THRIFT_BUILD_H

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { I32 = 5, I64 = 6, BINARY = 8, LIST = 9, STRUCT = 12 };

typedef struct made_bytes {
    unsigned char *data;
    size_t n;
} made_bytes;

static inline void made_put(made_bytes *to, const void *from, size_t n)
{
    if ((to->n + n) / 1024 != to->n / 1024 || !to->data)
        to->data = realloc(to->data, (to->n + n) / 1024 * 1024 + 1024);
    if (n)
        memcpy(to->data + to->n, from, n);
    to->n += n;
}

static inline void made_byte(made_bytes *to, unsigned byte)
{
    made_put(to, &(unsigned char){(unsigned char)byte}, 1);
}

static inline void made_varint(made_bytes *to, uint64_t value)
{
    for (; value >= 0x80; value >>= 7)
        made_byte(to, (unsigned)(value & 0x7f) | 0x80);
    made_byte(to, (unsigned)value);
}

static inline void made_zigzag(made_bytes *to, int64_t value)
{
    made_varint(to, ((uint64_t)value << 1) ^ (uint64_t)(value >> 63));
}

/* A field's head in the long form, which needs no memory of the field before. */
static inline void made_field(made_bytes *to, int id, int type)
{
    made_byte(to, (unsigned)type);
    made_zigzag(to, id);
}

static inline void made_number(made_bytes *to, int id, int type, int64_t value)
{
    made_field(to, id, type);
    made_zigzag(to, value);
}

static inline void made_text(made_bytes *to, const char *text)
{
    made_varint(to, strlen(text));
    made_put(to, text, strlen(text));
}

static inline void made_list(made_bytes *to, int id, int element, uint64_t count)
{
    made_field(to, id, LIST);
    made_byte(to, 0xf0u | (unsigned)element);
    made_varint(to, count);
}

#endif
