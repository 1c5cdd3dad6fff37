/* SPDX-License-Identifier: MIT */
/* One fuzzer (libFuzzer) for everything that reads bytes somebody else wrote. AGB_FUZZ says whose: a loader's name,
 * "schema" for the file of --schema, or "where" for the texts of --where and --group-by. tests/fuzz/run gives it seeds,
 * time and limits.
 *
 * Beside what the sanitizers see, each of these ends the run: a failure without a sentence, rows that are not as many
 * as the schema said, a NULL with a value, and two ways to load the same bytes that do not come to the same table: by
 * one thread, or by several workers (text: in small steps, of a file or through a pipe; others: mapped). */
#include "fuzz.h"

#include "internal.h"
#include "text/reader.h"
#include "text/source.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MOST_VALUES = 1 << 20, MOST_COLUMNS = 128, HEAD_BYTES = 136 << 10, WORKERS = 2 };

#define must(condition)                                                                                                \
    do {                                                                                                               \
        if (!(condition)) {                                                                                            \
            fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                             \
            abort();                                                                                                   \
        }                                                                                                              \
    } while (0)

static agb_registry *registry;
static agb_pool *pool;
static const agb_loader *loader;
static void (*fuzz)(const uint8_t *data, size_t size);

agb_input agb_fuzz_input(const char *path, const uint8_t *data, size_t size, bool seekable)
{
    size_t head = size < HEAD_BYTES ? size : HEAD_BYTES;
    int fd = memfd_create("fuzz", MFD_CLOEXEC);
    must(fd >= 0 && write(fd, data, size) == (ssize_t)size && lseek(fd, seekable ? 0 : (off_t)head, SEEK_SET) >= 0);
    return (agb_input){.path = path, .fd = fd, .seekable = seekable, .bytes = seekable ? size : 0, .head = data,
                       .head_bytes = head};
}

static void check_sentence(const agb_error *error)
{
    size_t length = strlen(error->text);
    must(error->status != AGB_OK && length > 0 && !strchr(error->text, '\n') && error->text[length - 1] != '.');
}

/* ---- Loading ---- */

static bool is_text(void)
{
    return loader->traits & AGB_LOADER_UNTYPED;
}

/* The columns that can be loaded, from number `first` on. Of wide texts some: the rows are read all the same, and each
 * column's memory has its price. */
static size_t choose_columns(const agb_schema *schema, size_t first, size_t most, size_t *column)
{
    enum { WIDE = 12 };
    size_t n = 0, step = is_text() ? 1 + schema->columns / WIDE : 1;
    for (size_t i = first; i < schema->columns && n < most; i += step)
        if (schema->column[i].type != AGB_TYPE_OTHER)
            column[n++] = i;
    return n;
}

/* A table of these columns, by the second way or the first, and of so many rows (0: all); NULL when the bytes are
 * refused. */
static agb_table *load(const agb_input *input, size_t first, size_t most, bool second, uint64_t head, agb_error *error)
{
    void *self = NULL;
    agb_schema schema = {0};
    agb_table *table = NULL;
    size_t column[MOST_COLUMNS], n = 0;
    agb_status status = loader->open(input, &self, error);
    if (status == AGB_OK)
        status = loader->schema(self, &schema, error);
    if (status == AGB_OK)
        n = choose_columns(&schema, first, most, column);
    bool small = schema.rows == UINT64_MAX || (n && schema.rows <= MOST_VALUES / n);
    if (status == AGB_OK && n && small) {
        must(agb_table_create(&table, NULL) == AGB_OK);
        for (size_t i = 0; i < n; i++) {
            char name[24];    /* the file's own may be there twice */
            snprintf(name, sizeof name, "%zu", i);
            must(agb_table_add(table, name, schema.column[column[i]].type, AGB_PAGES_DEFAULT, NULL) == AGB_OK);
        }
        if (is_text() && second)
            agb_text_set_step(self, 1 + input->head_bytes % 97);
        agb_load how = {.may_map = second, .pool = second ? pool : NULL, .rows_wanted = head};
        status = loader->load(self, column, n, table, &how, error);
        agb_table_loaded(table, loader->name, head, schema.rows);
        must(status != AGB_OK || schema.rows == UINT64_MAX || head || agb_table_rows(table) == schema.rows);
    }
    agb_schema_release(&schema);
    if (self)
        loader->close(self);
    if (status == AGB_OK)
        return table;
    check_sentence(error);
    agb_table_destroy(table);
    return NULL;
}

/* ---- What came of it ---- */

static void check_nulls(const agb_column *column, uint64_t rows)
{
    static const unsigned char zero[sizeof(agb_bytes)];
    size_t width = agb_type_bytes(column->type);
    for (uint64_t row = 0; column->nulls && row < rows; row++)
        must(column->nulls[row] <= 1 &&
             (!column->nulls[row] || memcmp((const char *)column->values + row * width, zero, width) == 0));
}

static void check_same(const agb_column *a, const agb_column *b, uint64_t rows)
{
    const agb_bytes *left = a->values, *right = b->values;
    must(a->null_count == b->null_count && (!a->nulls || memcmp(a->nulls, b->nulls, rows) == 0));
    if (a->type != AGB_TYPE_BYTES)
        must(rows == 0 || memcmp(a->values, b->values, rows * agb_type_bytes(a->type)) == 0);
    else
        for (uint64_t row = 0; row < rows; row++)
            must(left[row].length == right[row].length &&
                 (left[row].length == 0 || memcmp(left[row].data, right[row].data, left[row].length) == 0));
}

static void check_tables(const agb_table *one, const agb_table *other)
{
    agb_column a, b;
    uint64_t rows = agb_table_rows(one);
    must(agb_table_rows(other) == rows);
    for (size_t i = 0; agb_table_column_at(one, i, &a); i++) {
        must(agb_table_column_at(other, i, &b) && a.type == b.type);
        check_nulls(&a, rows);
        check_same(&a, &b, rows);
    }
}

/* The first rows alone are the first ones of all. */
static void load_head(const uint8_t *data, size_t size, size_t first, size_t most, const agb_table *all)
{
    agb_error error = {0};
    agb_row_sample sample = {.head = 1 + size % (agb_table_rows(all) + 1)};
    agb_input input = agb_fuzz_input("input", data, size, true);
    agb_table *wanted, *table = load(&input, first, most, size & 1, sample.head, &error);
    close(input.fd);
    must(table && agb_table_sample(&wanted, all, &sample, AGB_PAGES_DEFAULT, NULL) == AGB_OK);
    check_tables(wanted, table);
    agb_table_destroy(wanted);
    agb_table_destroy(table);
}

/* Both ways; false: refused. */
static bool load_twice(const uint8_t *data, size_t size, size_t first, size_t most)
{
    agb_error error[2] = {0};
    agb_table *table[2];
    for (int second = 0; second < 2; second++) {
        agb_input input = agb_fuzz_input("input", data, size, !(second && is_text() && (size & 1)));
        table[second] = load(&input, first, most, second, 0, &error[second]);
        close(input.fd);
        must(second == 0 || error[0].status == error[1].status || agb_text_is_packed(&input));
    }
    must(!table[0] == !table[1]);
    if (table[0]) {
        check_tables(table[0], table[1]);
        load_head(data, size, first, most, table[0]);
    }
    agb_table_destroy(table[0]);
    agb_table_destroy(table[1]);
    return error[0].status == AGB_OK;
}

/* All columns; when one of them is refused, some of them alone. */
static void fuzz_loader(const uint8_t *data, size_t size)
{
    enum { ALONE = 12 };
    if (size && !load_twice(data, size, 0, MOST_COLUMNS))
        for (size_t i = 0; i < ALONE && !is_text(); i++)
            load_twice(data, size, i, 1);
}

/* ---- The texts of --where and --group-by ---- */

static void select_rows(const agb_filter *filter)
{
    static const uint64_t values[200];
    static const agb_type types[] = {AGB_TYPE_INT32, AGB_TYPE_UINT32, AGB_TYPE_INT64, AGB_TYPE_UINT64, AGB_TYPE_BOOL,
                                     AGB_TYPE_BYTES};
    enum { ROWS = 100 };
    uint32_t selected[ROWS];
    uint64_t words[ROWS];
    agb_table *table;
    agb_selection *selection;
    agb_error error;
    must(agb_table_create(&table, NULL) == AGB_OK);
    for (size_t i = 0; agb_filter_column_at(filter, i); i++)
        agb_table_lend(table, agb_filter_column_at(filter, i), types[i % 6], values, ROWS, NULL);
    if (agb_selection_create(&selection, filter, table, &error) == AGB_OK)
        must(agb_selection_run(selection, 0, ROWS, selected, words) <= ROWS);
    else
        check_sentence(&error);
    agb_selection_destroy(selection);
    agb_table_destroy(table);
}

static void fuzz_where(const uint8_t *data, size_t size)
{
    agb_filter *filter;
    agb_key_terms terms;
    agb_error error;
    char *text = strndup((const char *)data, size);
    if (agb_filter_parse(&filter, text, &error) == AGB_OK) {
        select_rows(filter);
        agb_filter_destroy(filter);
    } else {
        check_sentence(&error);
    }
    if (agb_key_terms_parse(&terms, text, (const char *[]){"UserID", "URL", NULL}, &error) != AGB_OK)
        check_sentence(&error);
    agb_key_terms_release(&terms);
    free(text);
}

/* ---- The file of --schema ---- */

static void fuzz_schema(const uint8_t *data, size_t size)
{
    static const char rows[] = "1\t2013-07-15\n2\t\\N\n";
    agb_error error = {0};
    char *text = strndup((const char *)data, size);
    agb_input input = agb_fuzz_input("input", (const uint8_t *)rows, sizeof rows - 1, true);
    input.schema = text;
    agb_table_destroy(load(&input, 0, MOST_COLUMNS, false, 0, &error));
    close(input.fd);
    free(text);
}

/* ---- libFuzzer's functions ---- */

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
    const char *name = getenv("AGB_FUZZ");
    (void)argc, (void)argv;
    must(name && agb_registry_create(&registry, NULL) == AGB_OK);
    must(agb_pool_create(&pool, WORKERS, NULL, NULL) == AGB_OK);
    fuzz = strcmp(name, "where") == 0 ? fuzz_where : strcmp(name, "schema") == 0 ? fuzz_schema : fuzz_loader;
    loader = agb_registry_find_loader(registry, fuzz == fuzz_loader ? name : "tsv");
    must(loader);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz(data, size);
    return 0;
}

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t most, unsigned seed)
{
    enum { PLAIN_ONE_IN = 8 };
    size_t made = 0;
    if (seed % PLAIN_ONE_IN && strcmp(loader->name, "agb") == 0)
        made = agb_fuzz_mutate_agb(data, size, most, seed);
    else if (seed % PLAIN_ONE_IN && strcmp(loader->name, "parquet") == 0)
        made = agb_fuzz_mutate_parquet(data, size, most, seed);
    return made ? made : LLVMFuzzerMutate(data, size, most);
}
