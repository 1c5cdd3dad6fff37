/* SPDX-License-Identifier: MIT */
/* Parquet files with flat columns: every integer, boolean and byte string type, every standard encoding, every codec
 * but LZO. How to read it: this file says what happens to a file, parquet/chunk.c to a column of a row group,
 * parquet/data.c to a page, parquet/values.c to the values in it.
 *
 * The rows of all row groups are known from the footer, so the table is made large enough once, and then every column
 * of every row group is a task of its own that writes to its own place. Only the wanted columns' bytes are read; where
 * only the first rows are wanted, no row group and no page behind them. */
#include "common/file.h"
#include "common/tasks.h"
#include "loader.h"
#include "parquet/chunk.h"

#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

enum {
    MAGIC_BYTES = 4,
    TAIL_BYTES = 8,                     /* length of the footer, magic */
    MOST_FOOTER_BYTES = 256 << 20,
    SURE = 100,
    BY_NAME = 5                         /* so that a file that only has the name is refused with a reason */
};

typedef struct reader {
    const agb_input *input;
    uint64_t data_end;                  /* file offset where the footer starts */
    agb_parquet_footer footer;
} reader;

static bool has_magic(const agb_input *input, const char *magic)
{
    return input->head_bytes >= MAGIC_BYTES && memcmp(input->head, magic, MAGIC_BYTES) == 0;
}

static int parquet_probe(const agb_input *input)
{
    static const char suffix[] = ".parquet";
    size_t length = strlen(input->path), suffix_length = sizeof suffix - 1;
    if (has_magic(input, "PAR1") || has_magic(input, "PARE"))
        return SURE;
    return length >= suffix_length && strcmp(input->path + length - suffix_length, suffix) == 0 ? BY_NAME : 0;
}

/* ---- Opening ---- */

static agb_status check_magic(const agb_input *input, agb_error *err)
{
    if (has_magic(input, "PARE"))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "parquet: %s: the footer is encrypted (magic PARE): decrypt the file "
                        "first", input->path);
    if (!has_magic(input, "PAR1"))
        return agb_fail(err, AGB_ERR_FORMAT, "parquet: %s: not a Parquet file: bad magic: its first 4 bytes are not "
                        "PAR1: check that it is what its name says, or get it again", input->path);
    if (!input->seekable)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "parquet: %s: the footer stands at the end, so the file cannot come "
                        "through a pipe: save it and name the file", input->path);
    if (input->bytes < MAGIC_BYTES + TAIL_BYTES)
        return agb_fail(err, AGB_ERR_FORMAT, "parquet: %s: %llu bytes are too few for a Parquet file, the least is %d",
                        input->path, (unsigned long long)input->bytes, MAGIC_BYTES + TAIL_BYTES);
    return AGB_OK;
}

static agb_status find_footer(const agb_input *input, uint32_t *footer_bytes, agb_error *err)
{
    unsigned char tail[TAIL_BYTES];
    agb_error inner;
    if (agb_file_read(input->fd, input->bytes - TAIL_BYTES, tail, TAIL_BYTES, &inner) != AGB_OK)
        return agb_fail(err, inner.status, "parquet: %s: %s", input->path, inner.text);
    if (memcmp(tail + 4, "PARE", MAGIC_BYTES) == 0)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "parquet: %s: the footer is encrypted (magic PARE): decrypt the file "
                        "first", input->path);
    if (memcmp(tail + 4, "PAR1", MAGIC_BYTES) != 0)
        return agb_fail(err, AGB_ERR_FORMAT, "parquet: %s: cut short: bad magic at its end: the last 4 of its %llu "
                        "bytes are not PAR1: get a whole copy", input->path, (unsigned long long)input->bytes);
    memcpy(footer_bytes, tail, sizeof *footer_bytes);
    uint64_t most = input->bytes - MAGIC_BYTES - TAIL_BYTES;
    if (*footer_bytes > most)
        return agb_fail(err, AGB_ERR_FORMAT, "parquet: %s: footer length %u is larger than the file, which has room "
                        "for %llu: get a good copy", input->path, *footer_bytes, (unsigned long long)most);
    if (*footer_bytes == 0)
        return agb_fail(err, AGB_ERR_FORMAT, "parquet: %s: footer length 0: whoever wrote it did not end it: get a "
                        "whole copy", input->path);
    if (*footer_bytes > MOST_FOOTER_BYTES)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "parquet: %s: footer length %u is larger than the limit of %d",
                        input->path, *footer_bytes, MOST_FOOTER_BYTES);
    return AGB_OK;
}

static agb_status read_footer(reader *reader, uint32_t footer_bytes, agb_error *err)
{
    const agb_input *input = reader->input;
    agb_error inner = {0};
    reader->data_end = input->bytes - TAIL_BYTES - footer_bytes;
    unsigned char *bytes = malloc(footer_bytes ? footer_bytes : 1);
    if (!bytes)
        return agb_fail(err, AGB_ERR_MEMORY, "parquet: %s: the system refused %u bytes for the footer", input->path,
                        footer_bytes);
    agb_status status = agb_file_read(input->fd, reader->data_end, bytes, footer_bytes, &inner);
    if (status == AGB_OK)
        status = agb_parquet_footer_parse(&reader->footer, bytes, footer_bytes, &inner);
    free(bytes);
    if (status != AGB_OK)
        return agb_fail(err, status, "parquet: %s: %s: the footer is damaged or not of a known kind: get "
                        "a good copy", input->path,
                        inner.text);
    return AGB_OK;
}

static agb_status parquet_open(const agb_input *input, void **self, agb_error *err)
{
    uint32_t footer_bytes;
    agb_status status = check_magic(input, err);
    if (status == AGB_OK)
        status = find_footer(input, &footer_bytes, err);
    if (status != AGB_OK)
        return status;
    reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return agb_fail(err, AGB_ERR_MEMORY, "parquet: %s: the system refused memory", input->path);
    reader->input = input;
    *self = reader;
    return read_footer(reader, footer_bytes, err);
}

static void parquet_close(void *self)
{
    reader *reader = self;
    agb_parquet_footer_release(&reader->footer);
    free(reader);
}

/* ---- Describing ---- */

/* Text that is cut where its room ends. */
typedef struct text {
    char bytes[512];
    size_t length;
} text;

__attribute__((format(printf, 2, 3))) static void append(text *text, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int wanted = vsnprintf(text->bytes + text->length, sizeof text->bytes - text->length, format, arguments);
    va_end(arguments);
    size_t room = sizeof text->bytes - 1 - text->length;
    text->length += wanted < 0 ? 0 : (size_t)wanted < room ? (size_t)wanted : room;
}

/* What Parquet means as numbers, but stores as byte strings: they are loaded, and grouped, as those bytes. */
static bool is_number_in_bytes(const agb_parquet_column *column)
{
    static const char *const numbers[] = {"DECIMAL", "FLOAT16", "INTERVAL"};
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        if (column->as == AGB_TYPE_BYTES && strcmp(column->annotation, numbers[i]) == 0)
            return true;
    return false;
}

/* "INT32 (UINT_16), SNAPPY, PLAIN RLE_DICTIONARY": type, annotation, codecs and encodings of all row groups. */
static void describe_column(const agb_parquet_footer *footer, size_t c, text *text)
{
    const agb_parquet_column *column = &footer->schema.column[c];
    uint32_t codecs = 0, encodings = 0;
    for (size_t g = 0; g < footer->row_groups; g++) {
        const agb_parquet_chunk *chunk = &footer->chunk[g * footer->schema.columns + c];
        if (chunk->described)
            codecs |= 1u << (chunk->codec & 31);
        encodings |= chunk->encodings;
    }
    append(text, "%s", agb_parquet_type_name(column->type));
    if (column->length)
        append(text, "(%u)", column->length);
    if (*column->annotation)
        append(text, " (%s)", column->annotation);
    if (column->refusal)
        append(text, ", %s", column->refusal);
    if (is_number_in_bytes(column))
        append(text, ", taken as its bytes");
    for (int i = 0, found = 0; i < 32; i++)
        if (codecs & 1u << i)
            append(text, "%s%s", found++ ? " " : ", ", agb_parquet_codec_name(i));
    for (int i = 0, found = 0; i < 32; i++)
        if (encodings & 1u << i)
            append(text, "%s%s", found++ ? " " : ", ", agb_parquet_encoding_name(i));
}

static agb_status parquet_schema(void *self, agb_schema *schema, agb_error *err)
{
    const reader *reader = self;
    const agb_parquet_footer *footer = &reader->footer;
    agb_status status = AGB_OK;
    for (size_t c = 0; c < footer->schema.columns && status == AGB_OK; c++) {
        const agb_parquet_column *column = &footer->schema.column[c];
        text detail = {.length = 0};
        describe_column(footer, c, &detail);
        status = agb_schema_add(schema, column->name, column->as, column->optional, detail.bytes, err);
    }
    text detail = {.length = 0};
    append(&detail, "%zu row group%s", footer->row_groups, footer->row_groups == 1 ? "" : "s");
    if (footer->writer)
        append(&detail, ", written by %.200s", footer->writer);
    schema->rows = footer->rows;
    return status == AGB_OK ? agb_schema_set_detail(schema, detail.bytes, err) : status;
}

/* ---- Loading ---- */

/* What the tasks share. Task t reads column t % n_columns of row group t / n_columns. */
typedef struct loading {
    const reader *reader;
    const size_t *column;
    size_t n_columns;
    agb_table *table;
    uint64_t rows_before;               /* of the table */
    uint64_t rows;                      /* wanted ones */
    size_t groups;                      /* row groups that hold them */
    uint64_t *group_start;              /* first row of each row group, and behind the last one */
    agb_parquet_scratch *scratch;       /* one for each worker */
    const agb_load *load;
    atomic_uint_fast64_t values_done;
} loading;

static size_t tasks_of(const loading *loading)
{
    return loading->groups * loading->n_columns;
}

static agb_parquet_job job_of(const loading *loading, size_t task, bool with_memory)
{
    const reader *reader = loading->reader;
    const agb_parquet_footer *footer = &reader->footer;
    size_t group = task / loading->n_columns, i = task % loading->n_columns;
    size_t c = loading->column[i];
    uint64_t start = loading->group_start[group], rows = footer->group_rows[group];
    agb_parquet_job job = {
        .path = reader->input->path,
        .fd = reader->input->fd,
        .data_end = reader->data_end,
        .column = &footer->schema.column[c],
        .chunk = &footer->chunk[group * footer->schema.columns + c],
        .row_group = group,
        .rows = rows,
        .wanted = rows < loading->rows - start ? rows : loading->rows - start,
        .table = loading->table,
        .table_column = i,
    };
    if (with_memory) {
        job.table_row = loading->rows_before + start;
        job.values = (unsigned char *)agb_table_values(loading->table, i) +
                     job.table_row * agb_type_bytes(job.column->as);
    }
    return job;
}

/* Asks the system to fetch a chunk before it is needed, if all of it is. */
static void fetch_ahead(const loading *loading, size_t task)
{
    uint64_t start, end;
    if (task >= tasks_of(loading))
        return;
    agb_parquet_job job = job_of(loading, task, false);
    if (job.wanted == job.rows && agb_parquet_chunk_check(&job, &start, &end, NULL) == AGB_OK && end > start)
        posix_fadvise(job.fd, (off_t)start, (off_t)(end - start), POSIX_FADV_WILLNEED);
}

static agb_status load_chunk(void *argument, unsigned worker, size_t task, agb_error *err)
{
    loading *loading = argument;
    const agb_load *load = loading->load;
    fetch_ahead(loading, task + 1);
    agb_parquet_job job = job_of(loading, task, true);
    agb_status status = agb_parquet_chunk_read(&job, &loading->scratch[worker], err);
    if (status != AGB_OK)
        return status;
    uint64_t done = atomic_fetch_add_explicit(&loading->values_done, job.wanted, memory_order_relaxed) + job.wanted;
    if (worker == 0 && load->progress)
        load->progress(load->context, done / loading->n_columns, loading->rows);
    return AGB_OK;
}

/* Everything that can be known to be wrong before memory is asked for. */
static agb_status check_columns(const loading *loading, agb_error *err)
{
    const agb_parquet_footer *footer = &loading->reader->footer;
    uint64_t start, end;
    for (size_t i = 0; i < loading->n_columns; i++) {
        const agb_parquet_column *column = &footer->schema.column[loading->column[i]];
        if (column->refusal)
            return agb_fail(err, AGB_ERR_UNSUPPORTED, "parquet: %s: column %s: %s: only flat columns of integers, "
                            "booleans and byte strings can be loaded: choose another column",
                            loading->reader->input->path, column->name, column->refusal);
    }
    for (size_t task = 0; task < tasks_of(loading); task++) {
        agb_parquet_job job = job_of(loading, task, false);
        agb_status status = agb_parquet_chunk_check(&job, &start, &end, err);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

/* Row groups without rows at the end belong to a load of all rows. */
static agb_status find_groups(loading *loading, agb_error *err)
{
    const agb_parquet_footer *footer = &loading->reader->footer;
    loading->group_start = malloc((footer->row_groups + 1) * sizeof *loading->group_start);
    if (!loading->group_start)
        return agb_fail(err, AGB_ERR_MEMORY, "parquet: %s: the system refused memory", loading->reader->input->path);
    uint64_t start = loading->group_start[0] = 0;
    while (loading->groups < footer->row_groups && (start < loading->rows || loading->rows == footer->rows)) {
        start += footer->group_rows[loading->groups++];
        loading->group_start[loading->groups] = start;
    }
    return AGB_OK;
}

static agb_status prepare(loading *loading, agb_error *err)
{
    loading->scratch = calloc(agb_pool_workers(loading->load->pool), sizeof *loading->scratch);
    if (!loading->scratch)
        return agb_fail(err, AGB_ERR_MEMORY, "parquet: %s: the system refused memory", loading->reader->input->path);
    for (unsigned i = 0; i < agb_pool_workers(loading->load->pool) && i < tasks_of(loading); i++)
        agb_parquet_scratch_prepare(&loading->scratch[i]);
    return agb_table_extend(loading->table, loading->rows, err);
}

static agb_status run(loading *loading, agb_error *err)
{
    const agb_load *load = loading->load;
    unsigned workers = agb_pool_workers(load->pool);
    for (unsigned i = 0; i < workers && i < tasks_of(loading); i++)
        fetch_ahead(loading, agb_tasks_at(i, tasks_of(loading), workers));
    agb_status status = agb_tasks_run(load->pool, tasks_of(loading), load_chunk, loading, err);
    if (status == AGB_ERR_CONTRACT)
        return agb_fail(err, status, "parquet: %s: its row groups cannot be read from within a task",
                        loading->reader->input->path);
    if (status == AGB_OK && load->progress)
        load->progress(load->context, loading->rows, loading->rows);
    return status;
}

static agb_status parquet_load(void *self, const size_t *column, size_t n_columns, agb_table *table,
                               const agb_load *load, agb_error *err)
{
    loading loading = {
        .reader = self, .column = column, .n_columns = n_columns, .table = table,
        .rows_before = agb_table_rows(table), .load = load,
    };
    loading.rows = agb_load_wanted(load, loading.reader->footer.rows);
    agb_status status = find_groups(&loading, err);
    if (status == AGB_OK)
        status = check_columns(&loading, err);
    if (status == AGB_OK)
        status = prepare(&loading, err);
    if (status == AGB_OK && loading.rows)
        status = run(&loading, err);
    for (unsigned i = 0; loading.scratch && i < agb_pool_workers(load->pool); i++)
        agb_parquet_scratch_release(&loading.scratch[i]);
    free(loading.scratch);
    free(loading.group_start);
    return status;
}

const agb_loader agb_loader_parquet = {
    .abi = AGB_LOADER_ABI,
    .size = sizeof(agb_loader),
    .name = "parquet",
    .summary = "Parquet files with flat columns (all standard encodings; snappy, gzip, zstd, lz4, brotli)",
    .probe = parquet_probe,
    .open = parquet_open,
    .schema = parquet_schema,
    .load = parquet_load,
    .close = parquet_close,
};
