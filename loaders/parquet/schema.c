/* SPDX-License-Identifier: MIT */
/* The schema is a tree written depth first, each group saying how many children follow. The walk keeps one counter per
 * open group, so that it needs no tree and its depth has a limit. */
#include "parquet/schema.h"

#include "parquet/buffer.h"

#include <string.h>

enum {
    MOST_DEPTH = 64,
    MOST_NAME_GROWTH = 64,    /* a name is written once and stands in the path of every column below it */
    CONVERTED_UINT_8 = 11, CONVERTED_UINT_64 = 14,
    LOGICAL_INTEGER = 10
};

typedef struct element {
    agb_thrift_text name;
    int type;           /* -1: a group */
    int length;
    int repetition;
    int children;
    int converted;      /* -1: none */
    int logical;        /* 0: none */
    int logical_bits;
    bool logical_signed;
} element;

typedef struct level {
    int64_t children;    /* still to come */
    size_t path;         /* length of the path up to here */
    bool repeated;
} level;

typedef struct walk {
    agb_parquet_schema *schema;
    size_t depth;
    level level[MOST_DEPTH];
    agb_parquet_buffer path;
    uint64_t names_left;    /* bytes that the columns' names may still take */
} walk;

static void read_integer_type(agb_thrift *thrift, element *element)
{
    agb_thrift_field field = {0};
    while (agb_thrift_next(thrift, &field)) {
        switch (field.id) {
        case 1:
            element->logical_bits = (int)agb_thrift_i64(thrift, &field);
            break;
        case 2:
            element->logical_signed = agb_thrift_bool(thrift, &field);
            break;
        default:
            agb_thrift_skip(thrift, &field);
        }
    }
}

/* LogicalType is a union: the number of its one member is the type. */
static void read_logical_type(agb_thrift *thrift, element *element)
{
    agb_thrift_field field = {0};
    while (agb_thrift_next(thrift, &field)) {
        element->logical = field.id;
        if (field.id == LOGICAL_INTEGER && field.type == AGB_THRIFT_STRUCT)
            read_integer_type(thrift, element);
        else
            agb_thrift_skip(thrift, &field);
    }
}

static element read_element(agb_thrift *thrift)
{
    element element = {.name.bytes = "", .type = -1, .converted = -1, .logical_signed = true};
    agb_thrift_field field = {0};
    while (agb_thrift_next(thrift, &field)) {
        switch (field.id) {
        case 1:
            element.type = agb_thrift_i32(thrift, &field);
            if (element.type == -1)
                element.type = AGB_PARQUET_TYPES;    /* -1 stands for "no type" here, but is a wrong one there */
            break;
        case 2:
            element.length = agb_thrift_i32(thrift, &field);
            break;
        case 3:
            element.repetition = agb_thrift_i32(thrift, &field);
            break;
        case 4:
            element.name = agb_thrift_binary(thrift, &field);
            break;
        case 5:
            element.children = agb_thrift_i32(thrift, &field);
            break;
        case 6:
            element.converted = agb_thrift_i32(thrift, &field);
            break;
        case 10:
            if (agb_thrift_struct(thrift, &field))
                read_logical_type(thrift, &element);
            break;
        default:
            agb_thrift_skip(thrift, &field);
        }
    }
    return element;
}

static bool is_unsigned(const element *element)
{
    if (element->logical == LOGICAL_INTEGER)
        return !element->logical_signed;
    return element->converted >= CONVERTED_UINT_8 && element->converted <= CONVERTED_UINT_64;
}

static const char *annotation_of(const element *element)
{
    if (element->logical == LOGICAL_INTEGER) {
        switch (element->logical_bits) {
        case 8:
            return element->logical_signed ? "INT_8" : "UINT_8";
        case 16:
            return element->logical_signed ? "INT_16" : "UINT_16";
        case 32:
            return element->logical_signed ? "INT_32" : "UINT_32";
        default:
            return element->logical_signed ? "INT_64" : "UINT_64";
        }
    }
    if (element->logical)
        return agb_parquet_logical_name(element->logical);
    return element->converted >= 0 ? agb_parquet_converted_name(element->converted) : "";
}

static void choose_type(agb_parquet_column *column, const element *element, bool nested)
{
    bool no_sign = is_unsigned(element);
    column->as = AGB_TYPE_OTHER;
    if (nested) {
        column->refusal = "nested or repeated";
        return;
    }
    switch (column->type) {
    case AGB_PARQUET_BOOLEAN:
        column->as = AGB_TYPE_BOOL;
        break;
    case AGB_PARQUET_INT32:
        column->as = no_sign ? AGB_TYPE_UINT32 : AGB_TYPE_INT32;
        break;
    case AGB_PARQUET_INT64:
        column->as = no_sign ? AGB_TYPE_UINT64 : AGB_TYPE_INT64;
        break;
    case AGB_PARQUET_BYTE_ARRAY:
        column->as = AGB_TYPE_BYTES;
        break;
    case AGB_PARQUET_FIXED:
        column->as = column->length ? AGB_TYPE_BYTES : AGB_TYPE_OTHER;
        column->refusal = column->length ? NULL : "strings of length 0";
        break;
    case AGB_PARQUET_INT96:
        column->refusal = "a time of 96 bits";
        break;
    default:
        column->refusal = "floating point";
    }
}

static agb_status add_column(walk *walk, const element *element, size_t path, bool nested, agb_error *err)
{
    agb_parquet_schema *schema = walk->schema;
    const char *name = (const char *)walk->path.bytes;
    if (element->type < 0 || element->type >= AGB_PARQUET_TYPES)
        return agb_fail(err, AGB_ERR_FORMAT, "column %.*s: physical type %d, allowed range is 0..%d", (int)path, name,
                        element->type, AGB_PARQUET_TYPES - 1);
    if (element->type == AGB_PARQUET_FIXED && element->length < 0)
        return agb_fail(err, AGB_ERR_FORMAT, "column %.*s: strings of fixed length %d", (int)path, name,
                        element->length);
    if (element->repetition < AGB_PARQUET_REQUIRED || element->repetition > AGB_PARQUET_REPEATED)
        return agb_fail(err, AGB_ERR_FORMAT, "column %.*s: repetition %d, allowed range is 0..2", (int)path, name,
                        element->repetition);
    if (path > walk->names_left)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "the names of the columns are larger than %d times the footer",
                        MOST_NAME_GROWTH);
    walk->names_left -= path;
    void *grown = agb_parquet_list_grow(schema->column, schema->columns, sizeof *schema->column);
    if (!grown)
        return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for the schema");
    schema->column = grown;
    agb_parquet_column *column = &schema->column[schema->columns];
    *column = (agb_parquet_column){
        .name = strndup(name, path),
        .type = element->type,
        .length = element->type == AGB_PARQUET_FIXED ? (uint32_t)element->length : 0,
        .optional = element->repetition == AGB_PARQUET_OPTIONAL,
        .annotation = annotation_of(element),
    };
    if (!column->name)
        return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for the schema");
    schema->columns++;
    choose_type(column, element, nested || element->repetition == AGB_PARQUET_REPEATED);
    return AGB_OK;
}

/* Appends ".name" to the path of the parent; the path's new length goes to *path. */
static agb_status extend_path(walk *walk, const element *element, size_t *path, agb_error *err)
{
    size_t start = walk->depth > 1 ? walk->level[walk->depth - 1].path : 0;
    bool dot = walk->depth > 1;
    size_t length = start + dot + element->name.length;
    if (length + 1 > walk->path.capacity) {
        unsigned char *grown = realloc(walk->path.bytes, 2 * length + 64);
        if (!grown)
            return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for the schema");
        walk->path = (agb_parquet_buffer){.bytes = grown, .capacity = 2 * length + 64};
    }
    if (dot)
        walk->path.bytes[start] = '.';
    memcpy(walk->path.bytes + start + dot, element->name.bytes, element->name.length);
    *path = length;
    return AGB_OK;
}

static agb_status visit(walk *walk, const element *element, agb_error *err)
{
    while (walk->depth && walk->level[walk->depth - 1].children == 0)
        walk->depth--;
    if (walk->depth == 0)
        return agb_fail(err, AGB_ERR_FORMAT, "the schema has more elements than its groups say");
    walk->level[walk->depth - 1].children--;
    size_t path = 0;
    agb_status status = extend_path(walk, element, &path, err);
    if (status != AGB_OK)
        return status;
    if (element->children < 0)
        return agb_fail(err, AGB_ERR_FORMAT, "a group of the schema has %d children", element->children);
    if (element->type != -1)
        return add_column(walk, element, path, walk->depth > 1, err);
    if (walk->depth == MOST_DEPTH)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "the schema is nested deeper than %d levels", MOST_DEPTH);
    walk->level[walk->depth++] = (level){.children = element->children, .path = path};
    return AGB_OK;
}

agb_status agb_parquet_schema_read(agb_parquet_schema *schema, agb_thrift *thrift, size_t elements, agb_error *err)
{
    walk walk = {.schema = schema, .names_left = (uint64_t)(thrift->end - thrift->at) * MOST_NAME_GROWTH};
    agb_status status = AGB_OK;
    for (size_t i = 0; i < elements && status == AGB_OK; i++) {
        element element = read_element(thrift);
        if (thrift->bad) {
            status = agb_fail(err, AGB_ERR_FORMAT, "element %zu of the schema cannot be read", i);
        } else if (i == 0) {
            walk.level[0] = (level){.children = element.children};
            walk.depth = 1;
        } else {
            status = visit(&walk, &element, err);
        }
    }
    while (walk.depth && walk.level[walk.depth - 1].children == 0)
        walk.depth--;
    if (status == AGB_OK && walk.depth)
        status = agb_fail(err, AGB_ERR_FORMAT, "the schema has fewer elements than its groups say");
    free(walk.path.bytes);
    return status;
}

void agb_parquet_schema_release(agb_parquet_schema *schema)
{
    for (size_t i = 0; i < schema->columns; i++)
        free(schema->column[i].name);
    free(schema->column);
    *schema = (agb_parquet_schema){0};
}
