/* SPDX-License-Identifier: MIT */
/* Raw files: 64-bit integers, little-endian, one after another and nothing else. There is nothing in them to be known
 * by, so it takes the name, NAME.raw, NAME.i64 or NAME.u64 (signed but for the last), or --input-format raw, which
 * takes any other name for signed numbers. The one column is called UserID. NAME.raw is also written: what every other
 * program can read, for comparisons with them. */
#include "loader.h"

#include "common/draft.h"
#include "common/file.h"
#include "common/tasks.h"

#include <inttypes.h>
#include <stdlib.h>

enum {
    BY_NAME = 95,               /* above what any text format can say of bytes that look like text by chance */
    BLOCK_BYTES = 4 << 20       /* read by one task */
};

static const char column_name[] = "UserID";

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "values are copied as they stand in the file");

static int raw_probe(const agb_input *input)
{
    static const char *const suffixes[] = {".raw", ".i64", ".u64"};
    for (size_t i = 0; i < sizeof suffixes / sizeof suffixes[0]; i++)
        if (agb_file_has_suffix(input->path, suffixes[i]))
            return BY_NAME;
    return 0;
}

static agb_status raw_open(const agb_input *input, void **self, agb_error *err)
{
    if (!input->seekable)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "raw: %s: a pipe does not tell its size: save it and name the file",
                        input->path);
    if (input->bytes % sizeof(int64_t) != 0)
        return agb_fail(err, AGB_ERR_FORMAT, "raw: %s: %" PRIu64 " bytes are not a multiple of 8: cut short, or not a "
                        "file of 64-bit integers", input->path, input->bytes);
    *self = (void *)input;
    return AGB_OK;
}

static agb_status raw_schema(void *self, agb_schema *schema, agb_error *err)
{
    const agb_input *input = self;
    bool is_unsigned = agb_file_has_suffix(input->path, ".u64");
    schema->rows = input->bytes / sizeof(int64_t);
    return agb_schema_add(schema, column_name, is_unsigned ? AGB_TYPE_UINT64 : AGB_TYPE_INT64, false,
                          "64 bits, little-endian", err);
}

/* ---- Loading ---- */

typedef struct loading {
    const agb_input *input;
    const agb_load *load;
    unsigned char *values;
    uint64_t bytes;    /* of the wanted rows */
    atomic_uint_fast64_t bytes_done;
} loading;

static agb_status load_block(void *argument, unsigned worker, size_t task, agb_error *err)
{
    loading *self = argument;
    const agb_load *load = self->load;
    uint64_t at = (uint64_t)task * BLOCK_BYTES, left = self->bytes - at;
    size_t bytes = left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES;
    agb_error inner;
    agb_status status = agb_file_read(self->input->fd, at, self->values + at, bytes, &inner);
    if (status != AGB_OK)
        return agb_fail(err, status, "raw: %s: %s", self->input->path, inner.text);
    uint64_t done = atomic_fetch_add_explicit(&self->bytes_done, bytes, memory_order_relaxed) + bytes;
    if (worker == 0 && load->progress)
        load->progress(load->context, done / sizeof(int64_t), self->bytes / sizeof(int64_t));
    return AGB_OK;
}

static agb_status raw_load(void *self, const size_t *column, size_t n_columns, agb_table *table, const agb_load *load,
                           agb_error *err)
{
    (void)column, (void)n_columns;    /* there is one */
    loading loading = {.input = self, .load = load};
    const agb_input *input = self;
    uint64_t rows = agb_load_wanted(load, input->bytes / sizeof(int64_t)), rows_before = agb_table_rows(table);
    agb_status status = agb_table_extend(table, rows, err);
    if (status != AGB_OK)
        return status;
    loading.bytes = rows * sizeof(int64_t);
    loading.values = (unsigned char *)agb_table_values(table, 0) + rows_before * sizeof(int64_t);
    size_t blocks = (size_t)((loading.bytes + BLOCK_BYTES - 1) / BLOCK_BYTES);
    status = agb_tasks_run(load->pool, blocks, load_block, &loading, err);
    if (status == AGB_ERR_CONTRACT)
        return agb_fail(err, status, "raw: %s: it cannot be read from within a task", input->path);
    if (status == AGB_OK && load->progress)
        load->progress(load->context, rows, rows);
    return status;
}

static void raw_close(void *self)
{
    (void)self;    /* the engine's own input */
}

/* ---- Saving ---- */

static agb_status write_values(agb_draft *draft, const agb_column *column, uint64_t rows,
                               const agb_save_options *options, agb_error *err)
{
    const unsigned char *values = column->values;
    uint64_t bytes = rows * sizeof(int64_t);
    for (uint64_t at = 0; at < bytes; at += BLOCK_BYTES) {
        uint64_t left = bytes - at;
        agb_status status = agb_draft_append(draft, values + at, left < BLOCK_BYTES ? left : BLOCK_BYTES, err);
        if (status != AGB_OK)
            return status;
        if (options->progress && !options->progress(options->context, draft->bytes / sizeof(int64_t), rows))
            return agb_fail(err, AGB_ERR_IO, "writing %s: given up before the end", draft->name);
    }
    return AGB_OK;
}

static agb_status raw_save(const agb_table *table, const char *const *columns, size_t n_columns, const char *path,
                           const agb_save_options *options, agb_error *err)
{
    agb_column column;
    if (n_columns != 1)
        return agb_fail(err, AGB_ERR_ARGUMENT, "writing %s: %zu columns: a raw file holds exactly 1: name it", path,
                        n_columns);
    agb_table_find_column(table, columns[0], &column);
    if (column.type != AGB_TYPE_INT64 || column.null_count > 0)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "writing %s: column '%s' is %s%s: a raw file holds int64 without "
                        "NULL",
                        path, columns[0], agb_type_name(column.type), column.null_count > 0 ? " with NULL" : "");
    if (options->codec)
        return agb_fail(err, AGB_ERR_ARGUMENT, "writing %s: codec '%s': a raw file has none", path, options->codec);
    agb_draft draft;
    agb_status status = agb_draft_open(&draft, path, err);
    if (status != AGB_OK)
        return status;
    status = write_values(&draft, &column, agb_table_rows(table), options, err);
    if (status == AGB_OK)
        return agb_draft_publish(&draft, err);
    agb_draft_drop(&draft);
    return status;
}

const agb_loader agb_loader_raw = {
    .abi = AGB_LOADER_ABI,
    .size = sizeof(agb_loader),
    .name = "raw",
    .summary = "raw little-endian 64-bit integers: files named .raw, .i64 or .u64, or --input-format raw",
    .probe = raw_probe,
    .open = raw_open,
    .schema = raw_schema,
    .load = raw_load,
    .close = raw_close,
    .save = raw_save,
};
