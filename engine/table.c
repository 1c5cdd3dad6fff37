/* SPDX-License-Identifier: MIT */
/* Named columns of equal length. A column is either lent by the caller or stands in memory of its own, which grows by
 * moving page tables, so that a loader that does not know its rows beforehand never copies. */
#include "internal.h"
#include "loader.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct column {
    char *name;
    agb_type type;
    bool lent;
    bool mapped;    /* a stretch of the values stands in a file: see agb_table_map */
    agb_pages pages;
    uint64_t room;  /* rows that its memory has place for */
    void *values;
    uint8_t *nulls;
    uint64_t null_count;
} column;

typedef struct heap {    /* string bytes */
    struct heap *next;
    unsigned char *base;
    size_t used, room;
} heap;

struct agb_table {
    const char *format;
    uint64_t rows;
    uint64_t source_rows;    /* of what was loaded */
    size_t columns;
    column *column;
    pthread_mutex_t lock;    /* guards the making of NULL bytes, and what follows */
    heap *heaps;
    uint64_t heap_bytes;
};

enum {
    LEAST_HUGE_BYTES = 16 << 20,
    HEAP_BYTES = 32 << 20    /* large, so that the unused end of one is a small part; costs no memory until touched */
};

static const struct {
    const char *name;
    size_t bytes;
    bool is_signed;
} types[] = {
    [AGB_TYPE_INT32] = {"int32", 4, true},    [AGB_TYPE_UINT32] = {"uint32", 4, false},
    [AGB_TYPE_INT64] = {"int64", 8, true},    [AGB_TYPE_UINT64] = {"uint64", 8, false},
    [AGB_TYPE_BOOL] = {"bool", 1, false},     [AGB_TYPE_BYTES] = {"bytes", sizeof(agb_bytes), false},
    [AGB_TYPE_OTHER] = {"other", 0, false},
};

const char *agb_type_name(agb_type type)
{
    return types[type].name;
}

size_t agb_type_bytes(agb_type type)
{
    return types[type].bytes;
}

bool agb_type_is_signed(agb_type type)
{
    return types[type].is_signed;
}

agb_status agb_table_create(agb_table **out, agb_error *err)
{
    *out = calloc(1, sizeof **out);
    if (!*out)
        return agb_fail(err, AGB_ERR_MEMORY, "table: no memory for an empty one");
    (*out)->format = "memory";
    pthread_mutex_init(&(*out)->lock, NULL);
    return AGB_OK;
}

static void release_heaps(agb_table *table)
{
    while (table->heaps) {
        heap *h = table->heaps;
        table->heaps = h->next;
        agb_pages_unmap(h->base, h->room);
        free(h);
    }
}

void agb_table_destroy(agb_table *table)
{
    if (!table)
        return;
    for (size_t i = 0; i < table->columns; i++) {
        column *c = &table->column[i];
        if (!c->lent)
            agb_pages_unmap(c->values, c->room * agb_type_bytes(c->type));
        agb_pages_unmap(c->nulls, c->room);
        free(c->name);
    }
    release_heaps(table);
    pthread_mutex_destroy(&table->lock);
    free(table->column);
    free(table);
}

static const column *find(const agb_table *table, const char *name)
{
    for (size_t i = 0; i < table->columns; i++)
        if (strcmp(table->column[i].name, name) == 0)
            return &table->column[i];
    return NULL;
}

static agb_status add(agb_table *table, const char *name, agb_type type, column **out, agb_error *err)
{
    if (find(table, name))
        return agb_fail(err, AGB_ERR_ARGUMENT, "table: column '%s' is there already: name each column once", name);
    column *more = realloc(table->column, (table->columns + 1) * sizeof *more);
    if (more)
        table->column = more;
    char *copy = more ? strdup(name) : NULL;
    if (!copy)
        return agb_fail(err, AGB_ERR_MEMORY, "table: no memory for column '%s'", name);
    *out = &table->column[table->columns++];
    **out = (column){.name = copy, .type = type};
    return AGB_OK;
}

agb_status agb_table_add(agb_table *table, const char *name, agb_type type, agb_pages pages, agb_error *err)
{
    column *c;
    agb_status status = add(table, name, type, &c, err);
    if (status == AGB_OK)
        c->pages = pages;
    return status;
}

agb_status agb_table_lend(agb_table *table, const char *name, agb_type type, const void *values, uint64_t rows,
                          agb_error *err)
{
    if (agb_type_bytes(type) == 0 || (rows && !values))
        return agb_fail(err, AGB_ERR_ARGUMENT, "table: column '%s': no values of a loadable type are given", name);
    if (table->columns && rows != table->rows)
        return agb_fail(err, AGB_ERR_ARGUMENT, "table: column '%s' has %llu rows, the others have %llu", name,
                        (unsigned long long)rows, (unsigned long long)table->rows);
    column *c;
    agb_status status = add(table, name, type, &c, err);
    if (status != AGB_OK)
        return status;
    c->lent = true;
    c->values = (void *)values;
    table->rows = table->source_rows = rows;
    return AGB_OK;
}

/* The last huge page of a block comes as a whole, used or not: of a hundred small columns that would be most of their
 * memory. */
static agb_pages pages_of(agb_pages wanted, size_t bytes)
{
    return wanted == AGB_PAGES_HUGE && bytes < LEAST_HUGE_BYTES ? AGB_PAGES_DEFAULT : wanted;
}

static void *grow_values(column *c, size_t from_bytes, size_t to_bytes)
{
    agb_pages pages = pages_of(c->pages, to_bytes);
    if (from_bytes && !c->mapped)
        return agb_pages_grow(c->values, from_bytes, to_bytes, pages);
    void *values = agb_pages_map(to_bytes, pages);
    if (values && c->mapped) {    /* page tables of a file and of memory do not move together: copy */
        memcpy(values, c->values, from_bytes);
        agb_pages_unmap(c->values, from_bytes);
        c->mapped = false;
    }
    return values;
}

static agb_status grow_column(column *c, uint64_t to, agb_error *err)
{
    size_t width = agb_type_bytes(c->type);
    void *values = NULL;
    if (to <= SIZE_MAX / 2 / width)
        values = grow_values(c, c->room * width, to * width);
    if (!values) {
        char words[32];
        agb_bytes_in_words(to * width, words, sizeof words);
        return agb_fail(err, AGB_ERR_MEMORY, "column '%s': out of memory: %s for %llu rows are not to be had", c->name,
                        words, (unsigned long long)to);
    }
    c->values = values;
    if (c->nulls) {
        uint8_t *nulls = agb_pages_grow(c->nulls, c->room, to, AGB_PAGES_4K);
        if (!nulls)
            return agb_fail(err, AGB_ERR_MEMORY, "column '%s': out of memory for its NULLs", c->name);
        c->nulls = nulls;
    }
    c->room = to;
    return AGB_OK;
}

static agb_status grow_columns(agb_table *table, uint64_t to, agb_error *err)
{
    agb_status status = AGB_OK;
    for (size_t i = 0; i < table->columns && status == AGB_OK; i++)
        if (table->column[i].room < to)
            status = grow_column(&table->column[i], to, err);
    return status;
}

uint64_t agb_table_room(const agb_table *table)
{
    uint64_t room = table->columns ? UINT64_MAX : 0;
    for (size_t i = 0; i < table->columns; i++)
        if (table->column[i].room < room)
            room = table->column[i].room;
    return room;
}

static uint64_t bytes_of_row(const agb_table *table)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < table->columns; i++)
        bytes += agb_type_bytes(table->column[i].type);
    return bytes;
}

/* Whether memory is there for `to` rows. The system would grant more than it has, and kill who fills it. */
static bool fits(const agb_table *table, uint64_t to)
{
    enum { UNASKED_BYTES = 64 << 20 };
    uint64_t row_bytes = bytes_of_row(table), more = to - agb_table_room(table);
    return row_bytes == 0 || more <= UNASKED_BYTES / row_bytes || more <= agb_system_memory_available() / row_bytes;
}

static agb_status refuse_rows(const agb_table *table, uint64_t to, agb_error *err)
{
    char words[32];
    agb_bytes_in_words(agb_system_memory_available(), words, sizeof words);
    return agb_fail(err, AGB_ERR_MEMORY, "table: out of memory: %llu more rows of %llu bytes each do not fit the %s "
                    "that are available: load fewer columns or fewer rows",
                    (unsigned long long)(to - agb_table_room(table)), (unsigned long long)bytes_of_row(table), words);
}

static agb_status extend(agb_table *table, uint64_t rows, bool checked, agb_error *err)
{
    uint64_t need = table->rows + rows, to = need, room = agb_table_room(table);
    if (need < rows)
        return agb_fail(err, AGB_ERR_FORMAT, "table: %llu more rows are more than can be counted",
                        (unsigned long long)rows);
    if (need > room) {
        if (room)    /* the second time: the number of rows is not known, so grow in proportion */
            to = need + need / 2;
        if (checked && !fits(table, to))
            to = need;
        if (checked && !fits(table, to))
            return refuse_rows(table, to, err);
        agb_status status = grow_columns(table, to, err);
        if (status != AGB_OK)
            return status;
    }
    table->rows = need;
    return AGB_OK;
}

agb_status agb_table_extend(agb_table *table, uint64_t rows, agb_error *err)
{
    return extend(table, rows, true, err);
}

agb_status agb_table_extend_to_map(agb_table *table, uint64_t rows, agb_error *err)
{
    return extend(table, rows, false, err);
}

void agb_table_reserve(agb_table *table, uint64_t rows)
{
    if (rows > agb_table_room(table) && fits(table, rows))
        (void)grow_columns(table, rows, NULL);
}

void agb_table_shrink(agb_table *table, uint64_t rows)
{
    uint64_t to = rows < table->rows ? table->rows - rows : 0;
    for (size_t i = 0; i < table->columns; i++) {
        column *c = &table->column[i];
        size_t width = agb_type_bytes(c->type);
        memset((char *)c->values + to * width, 0, (table->rows - to) * width);
        if (c->nulls)
            memset(c->nulls + to, 0, table->rows - to);
    }
    table->rows = to;
}

void *agb_table_values(agb_table *table, size_t i)
{
    return table->column[i].values;
}

bool agb_table_map(agb_table *table, size_t i, uint64_t at, int fd, uint64_t offset, uint64_t bytes)
{
    column *c = &table->column[i];
    uint64_t room = table->rows * agb_type_bytes(c->type);
    if (bytes == 0 || at > room || bytes > room - at)
        return false;
    if (!agb_pages_map_file((char *)c->values + at, fd, offset, bytes))
        return false;
    c->mapped = true;
    return true;
}

uint8_t *agb_table_nulls(agb_table *table, size_t i)
{
    column *c = &table->column[i];
    pthread_mutex_lock(&table->lock);
    if (!c->nulls && c->room)
        c->nulls = agb_pages_map(c->room, AGB_PAGES_4K);    /* untouched stretches cost nothing */
    uint8_t *nulls = c->nulls;
    pthread_mutex_unlock(&table->lock);
    return nulls;
}

/* Strings lie in the pages that their columns lie in. */
static heap *new_heap(const agb_table *table, size_t room)
{
    heap *h = agb_system_memory_available() < room ? NULL : calloc(1, sizeof *h);
    if (!h)
        return NULL;
    h->base = agb_pages_map(room, pages_of(table->columns ? table->column[0].pages : AGB_PAGES_DEFAULT, room));
    h->room = agb_pages_round(room);
    if (!h->base) {
        free(h);
        return NULL;
    }
    return h;
}

unsigned char *agb_table_heap(agb_table *table, size_t bytes)
{
    unsigned char *place = NULL;
    pthread_mutex_lock(&table->lock);
    heap *h = table->heaps;
    if (!h || h->room - h->used < bytes) {
        h = new_heap(table, bytes > HEAP_BYTES / 2 ? bytes : HEAP_BYTES);
        if (h && table->heaps && bytes > HEAP_BYTES / 2) {    /* a large block of its own: keep filling the other one */
            h->next = table->heaps->next;
            table->heaps->next = h;
        } else if (h) {
            h->next = table->heaps;
            table->heaps = h;
        }
    }
    if (h) {
        place = h->base + h->used;
        h->used += bytes;
        table->heap_bytes += bytes;
    }
    pthread_mutex_unlock(&table->lock);
    return place;
}

/* Of bytes that are 0 or 1, eight at a time: a byte at a time this was a tenth of a load. */
static uint64_t count_ones(const uint8_t *bytes, uint64_t n)
{
    uint64_t count = 0, word, i = 0;
    for (; i + sizeof word <= n; i += sizeof word) {
        memcpy(&word, bytes + i, sizeof word);
        count += (uint64_t)__builtin_popcountll(word);
    }
    for (; i < n; i++)
        count += bytes[i];
    return count;
}

static void keep_head(agb_table *table, uint64_t rows)
{
    for (size_t i = 0; i < table->columns; i++) {
        column *c = &table->column[i];
        size_t width = agb_type_bytes(c->type);
        agb_pages_cut(c->values, c->room * width, rows * width);
        agb_pages_cut(c->nulls, c->room, rows);
        c->room = rows;
    }
    table->rows = rows;
}

void agb_table_loaded(agb_table *table, const char *format, uint64_t head, uint64_t source_rows)
{
    table->format = format;
    table->source_rows = source_rows;
    if (head && head < table->rows)
        keep_head(table, head);
    for (size_t i = 0; i < table->columns; i++) {
        column *c = &table->column[i];
        c->null_count = c->nulls ? count_ones(c->nulls, table->rows) : 0;
    }
}

uint64_t agb_table_rows(const agb_table *table)
{
    return table->rows;
}

uint64_t agb_table_source_rows(const agb_table *table)
{
    return table->source_rows;
}

const char *agb_table_format(const agb_table *table)
{
    return table->format;
}

uint64_t agb_table_bytes(const agb_table *table)
{
    uint64_t bytes = table->heap_bytes;
    for (size_t i = 0; i < table->columns; i++)
        bytes += table->rows * agb_type_bytes(table->column[i].type) + table->column[i].null_count;
    return bytes;
}

static bool show(const column *c, agb_column *out)
{
    if (c)
        *out = (agb_column){.name = c->name, .type = c->type, .values = c->values, .null_count = c->null_count,
                            .nulls = c->null_count ? c->nulls : NULL};
    return c != NULL;
}

bool agb_table_find_column(const agb_table *table, const char *name, agb_column *out)
{
    return show(find(table, name), out);
}

bool agb_table_column_at(const agb_table *table, size_t i, agb_column *out)
{
    return show(i < table->columns ? &table->column[i] : NULL, out);
}

const char **agb_table_names(const agb_table *table)
{
    const char **names = calloc(table->columns + 1, sizeof *names);
    for (size_t i = 0; names && i < table->columns; i++)
        names[i] = table->column[i].name;
    return names;
}

agb_status agb_table_no_column(const agb_table *table, const char *clause, const char *wanted, agb_error *err)
{
    const char **names = agb_table_names(table);
    const char *near = names ? agb_nearest_name(names, wanted) : NULL;
    agb_fail(err, AGB_ERR_NOT_FOUND, "%s: the table has no column '%s'%s%s%s", clause, wanted,
             near ? ": did you mean '" : "", near ? near : "", near ? "'" : "");
    free(names);
    return AGB_ERR_NOT_FOUND;
}
