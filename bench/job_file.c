/* SPDX-License-Identifier: MIT */
/* Writes the rows of a query into a memory file, and reads them as a table: see job.h and job_file.h. */
#include "job_file.h"

#include "query.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BLOCK_ROWS = 256, ALIGNMENT = 64 };

/* What is copied from. */
typedef struct chosen {
    agb_column column[AGB_JOB_MOST_COLUMNS];
    size_t columns;
    uint64_t table_rows, blocks, block_rows;
    uint64_t rows, string_bytes;    /* that are kept, and what their strings need */
} chosen;

static uint64_t aligned(uint64_t at)
{
    return (at + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* ---- Choosing rows ----------------------------------------------------------------------------------------------- */

/* Calls visit for each chosen row without NULLs. */
static void visit_rows(chosen *self, void (*visit)(chosen *self, uint64_t row, void *context), void *context)
{
    for (uint64_t block = 0; block < self->blocks; block++) {
        uint64_t first = (uint64_t)((unsigned __int128)block * self->table_rows / self->blocks);
        for (uint64_t row = first; row < first + self->block_rows && row < self->table_rows; row++) {
            bool null = false;
            for (size_t i = 0; i < self->columns; i++)
                null = null || (self->column[i].nulls && self->column[i].nulls[row]);
            if (!null)
                visit(self, row, context);
        }
    }
}

static void measure_row(chosen *self, uint64_t row, void *context)
{
    (void)context;
    self->rows++;
    for (size_t i = 0; i < self->columns; i++) {
        if (self->column[i].type == AGB_TYPE_BYTES)
            self->string_bytes += ((const agb_bytes *)self->column[i].values)[row].length;
    }
}

/* Where the next row goes. */
typedef struct writer {
    agb_job_header *header;
    uint64_t row, string_at;
} writer;

static void copy_row(chosen *self, uint64_t row, void *context)
{
    writer *to = context;
    char *file = (char *)to->header;
    for (size_t i = 0; i < self->columns; i++) {
        const agb_column *column = &self->column[i];
        char *values = file + to->header->column[i].at;
        size_t width = agb_type_bytes(column->type);
        if (column->type != AGB_TYPE_BYTES) {
            memcpy(values + width * to->row, (const char *)column->values + width * row, width);
            continue;
        }
        agb_bytes string = ((const agb_bytes *)column->values)[row];
        if (string.length)
            memcpy(file + to->string_at, string.data, string.length);
        string.data = (const unsigned char *)(uintptr_t)to->string_at;
        ((agb_bytes *)values)[to->row] = string;
        to->string_at += string.length;
    }
    to->row++;
}

static agb_status choose(chosen *out, const agb_job_query *query, uint64_t most_rows, agb_error *err)
{
    agb_query_columns names;
    agb_status status = agb_query_columns_find(&names, query->group_by, query->filter, NULL, err);
    *out = (chosen){.table_rows = agb_table_rows(query->table)};
    if (status == AGB_OK && names.n > AGB_JOB_MOST_COLUMNS)
        status = agb_fail(err, AGB_ERR_UNSUPPORTED, "%zu columns: allowed range is 1..%d", names.n,
                          AGB_JOB_MOST_COLUMNS);
    if (status == AGB_OK && query->where && strlen(query->where) >= AGB_JOB_LONG_TEXT)
        status = agb_fail(err, AGB_ERR_UNSUPPORTED, "--where: %zu bytes: allowed range is 1..%d", strlen(query->where),
                          AGB_JOB_LONG_TEXT - 1);
    for (size_t i = 0; i < names.n && status == AGB_OK; i++) {
        if (!agb_table_find_column(query->table, names.name[i], &out->column[out->columns++]))
            status = agb_fail(err, AGB_ERR_NOT_FOUND, "%s: the table has no such column", names.name[i]);
    }
    agb_query_columns_release(&names);
    if (status != AGB_OK)
        return status;
    bool all = out->table_rows <= most_rows;
    out->blocks = all ? 1 : most_rows / BLOCK_ROWS;
    out->block_rows = all ? out->table_rows : BLOCK_ROWS;
    visit_rows(out, measure_row, NULL);
    return AGB_OK;
}

/* ---- Writing ----------------------------------------------------------------------------------------------------- */

static void write_file(agb_job_header *header, chosen *from, const agb_job_query *query, uint64_t jobs)
{
    header->jobs = jobs;
    header->rows = from->rows;
    header->columns = from->columns;
    snprintf(header->group_by, sizeof header->group_by, "%s", query->group_by);
    snprintf(header->where, sizeof header->where, "%s", query->where ? query->where : "");
    uint64_t at = aligned(sizeof *header + jobs * sizeof(agb_job));
    for (size_t i = 0; i < from->columns; i++) {
        agb_job_column *column = &header->column[i];
        snprintf(column->name, sizeof column->name, "%s", from->column[i].name);
        column->type = from->column[i].type;
        column->at = at;
        at = aligned(at + from->rows * agb_type_bytes(column->type));
    }
    writer to = {.header = header, .string_at = at};
    visit_rows(from, copy_row, &to);
}

agb_status agb_jobs_create(agb_jobs *out, size_t n, const agb_job_query *query, uint64_t most_rows, agb_error *err)
{
    chosen from;
    *out = (agb_jobs){.file = -1, .n = n};
    agb_status status = choose(&from, query, most_rows, err);
    if (status != AGB_OK)
        return status;
    out->bytes = aligned(sizeof(agb_job_header) + n * sizeof(agb_job)) + from.string_bytes + 1;
    for (size_t i = 0; i < from.columns; i++)
        out->bytes += aligned(from.rows * agb_type_bytes(from.column[i].type));
    out->file = memfd_create("aggbench jobs", MFD_CLOEXEC);
    agb_job_header *header = MAP_FAILED;
    if (out->file >= 0 && ftruncate(out->file, (off_t)out->bytes) == 0)
        header = mmap(NULL, out->bytes, PROT_READ | PROT_WRITE, MAP_SHARED, out->file, 0);
    if (header == MAP_FAILED) {
        agb_fail(err, AGB_ERR_MEMORY, "%zu bytes for %" PRIu64 " rows: %s", out->bytes, from.rows, strerror(errno));
        agb_jobs_release(out);
        return AGB_ERR_MEMORY;
    }
    write_file(header, &from, query, n);
    out->job = agb_job_at(header, 0);
    status = agb_job_rows_lend(&out->rows, header, err);
    if (status != AGB_OK)
        agb_jobs_release(out);
    return status;
}

void agb_jobs_release(agb_jobs *jobs)
{
    agb_job_rows_release(&jobs->rows);
    if (jobs->job)
        munmap((agb_job_header *)jobs->job - 1, jobs->bytes);
    if (jobs->file >= 0)
        close(jobs->file);
    *jobs = (agb_jobs){.file = -1};
}

/* ---- Reading ----------------------------------------------------------------------------------------------------- */

/* From distances to addresses. NULL without memory. */
static agb_bytes *place_strings(const agb_job_header *header, const agb_job_column *column)
{
    agb_bytes *strings = malloc((header->rows + 1) * sizeof *strings);
    const agb_bytes *stored = (const agb_bytes *)((const char *)header + column->at);
    for (uint64_t row = 0; strings && row < header->rows; row++) {
        strings[row].length = stored[row].length;
        strings[row].data = (const unsigned char *)header + (uintptr_t)stored[row].data;
    }
    return strings;
}

agb_status agb_job_rows_lend(agb_job_rows *out, agb_job_header *header, agb_error *err)
{
    *out = (agb_job_rows){.columns = header->columns};
    out->strings = calloc(header->columns + 1, sizeof *out->strings);
    agb_status status = agb_table_create(&out->table, err);
    if (status == AGB_OK && !out->strings)
        status = agb_fail(err, AGB_ERR_MEMORY, "no memory for the rows");
    for (size_t i = 0; i < header->columns && status == AGB_OK; i++) {
        const agb_job_column *column = &header->column[i];
        const void *values = (const char *)header + column->at;
        if (column->type == AGB_TYPE_BYTES)
            values = out->strings[i] = place_strings(header, column);
        if (values)
            status = agb_table_lend(out->table, column->name, column->type, values, header->rows, err);
        else
            status = agb_fail(err, AGB_ERR_MEMORY, "no memory for the strings of %" PRIu64 " rows", header->rows);
    }
    return status;
}

void agb_job_rows_release(agb_job_rows *rows)
{
    agb_table_destroy(rows->table);
    for (size_t i = 0; rows->strings && i < rows->columns; i++)
        free(rows->strings[i]);
    free(rows->strings);
    *rows = (agb_job_rows){0};
}
