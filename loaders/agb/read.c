/* SPDX-License-Identifier: MIT */
/* Loading: see read.h. Every chunk of every wanted column is a task of its own that writes to its own place.
 *
 * MAPPING  Uncompressed numbers that lie in the file as they do in memory are mapped (copy on write) where the caller
 * allows it. Copying them takes 4 to 6 times as long on a virtual machine (480 MB in 0.42 s instead of 0.07 to 0.1 s,
 * and 0.9 s or more into huge pages), all of it for pages that have to be made and zeroed. A mapping cannot be looked
 * at safely when somebody cuts the file (SIGBUS), so a load never does: the checksum is taken of bytes that are read.
 * Booleans and columns with NULLs, whose values have to be looked at, are copied. */
#include "agb/read.h"

#include "agb/block.h"
#include "common/tasks.h"

#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

typedef struct scratch {
    agb_native_unpacker unpacker;
    agb_native_room lengths;    /* of a chunk's strings */
} scratch;

/* A wanted column and its place in the table. */
typedef struct target {
    agb_native_column column;   /* without the chunks behind the wanted rows */
    unsigned char *values;      /* where this file's first row goes */
    uint8_t *nulls;             /* or NULL: no chunk has a NULL */
    uint64_t mapped_bytes;      /* that stand in the file already, from the first row on */
    size_t first_task;
} target;

typedef struct loading {
    const agb_native_file *file;
    const agb_input *input;
    target *target;
    size_t n_targets;
    size_t tasks;
    uint64_t rows;              /* of the wanted chunks, of the column that has most */
    agb_table *table;
    const agb_load *load;
    scratch *scratch;           /* one for each worker */
    atomic_uint_fast64_t values_done;
} loading;

/* ---- Claims ---- */

static agb_status in_chunk(const loading *self, const agb_native_column *column, const agb_native_chunk *chunk,
                           const agb_error *inner, agb_error *err)
{
    return agb_fail(err, inner->status, "agb: %s: column %s: rows %" PRIu64 "..%" PRIu64 ": %s", self->input->path,
                    column->name, chunk->row, chunk->row + chunk->rows - 1, inner->text);
}

static agb_status check_chunk(const agb_native_column *column, const agb_native_chunk *chunk, agb_error *err)
{
    const agb_native_block *nulls = &chunk->block[AGB_NATIVE_NULLS], *bytes = &chunk->block[AGB_NATIVE_BYTES];
    agb_status status = agb_native_block_check(&chunk->block[AGB_NATIVE_VALUES], chunk->rows,
                                               agb_native_width(column->type), err);
    if (status == AGB_OK && !agb_native_block_is_absent(nulls))
        status = agb_native_block_check(nulls, chunk->rows, 1, err);
    if (status != AGB_OK || agb_native_block_is_absent(bytes))
        return status;
    if (column->type != AGB_TYPE_BYTES)
        return agb_fail(err, AGB_ERR_FORMAT, "a block of string bytes in a column that has no strings");
    if (bytes->coding != AGB_NATIVE_PLAIN)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "string bytes of coding number %u: take a newer program or write the "
                        "file again", bytes->coding);
    return agb_native_block_check(bytes, bytes->unpacked_bytes, 1, err);
}

/* Everything that can be known to be wrong before memory is asked for. */
static agb_status check_column(const loading *self, const agb_native_column *column, agb_error *err)
{
    for (size_t i = 0; i < column->chunks; i++) {
        agb_error inner = {0};
        if (check_chunk(column, &column->chunk[i], &inner) != AGB_OK)
            return in_chunk(self, column, &column->chunk[i], &inner, err);
    }
    return AGB_OK;
}

/* ---- Chunks ---- */

static bool all_at_most_one(const uint8_t *bytes, uint64_t n)
{
    uint8_t seen = 0;
    for (uint64_t i = 0; i < n; i++)
        seen |= bytes[i];
    return seen <= 1;
}

static bool is_zero(const unsigned char *value, size_t width)
{
    return value[0] == 0 && memcmp(value, value + 1, width - 1) == 0;
}

/* NULL bytes, and the rule that a NULL's value is 0. */
static agb_status read_nulls(scratch *scratch, int fd, const agb_native_chunk *chunk, const unsigned char *values,
                             size_t width, uint8_t *nulls, agb_error *err)
{
    if (agb_native_block_is_absent(&chunk->block[AGB_NATIVE_NULLS]))
        return AGB_OK;
    agb_status status = agb_native_block_read(&scratch->unpacker, fd, &chunk->block[AGB_NATIVE_NULLS], nulls,
                                              chunk->rows, 1, err);
    if (status != AGB_OK)
        return status;
    if (!all_at_most_one(nulls, chunk->rows))
        return agb_fail(err, AGB_ERR_FORMAT, "a NULL byte that is neither 0 nor 1");
    for (uint64_t i = 0; i < chunk->rows; i++)
        if (nulls[i] && !is_zero(values + i * width, width))
            return agb_fail(err, AGB_ERR_FORMAT, "row %" PRIu64 " is NULL and has a value", chunk->row + i);
    return AGB_OK;
}

/* Asks for the pages of a place that is about to be filled in one call, which takes two thirds of the time of as many
 * page faults (0.09 s instead of 0.14 s for 240 MB on a virtual machine): half of a load was page faults. Advice: a
 * kernel before 5.14 refuses, and the faults come one by one. */
static void touch(unsigned char *values, uint64_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t start = ((uintptr_t)values + page - 1) / page * page, end = ((uintptr_t)values + bytes) / page * page;
    if (start < end)
        madvise((void *)start, end - start, MADV_POPULATE_WRITE);
}

static agb_status read_numbers(loading *self, scratch *scratch, const target *target, const agb_native_chunk *chunk,
                               agb_error *err)
{
    const agb_native_block *block = &chunk->block[AGB_NATIVE_VALUES];
    agb_type type = target->column.type;
    size_t width = agb_native_width(type);
    unsigned char *values = target->values + chunk->row * width;
    bool mapped = (chunk->row + chunk->rows) * width <= target->mapped_bytes;
    if (!mapped)
        touch(values, chunk->rows * width);
    agb_status status = mapped ? agb_native_block_verify(&scratch->unpacker, self->input->fd, block, err)
                               : agb_native_block_read(&scratch->unpacker, self->input->fd, block, values, chunk->rows,
                                                       width, err);
    if (status == AGB_OK && type == AGB_TYPE_BOOL && !all_at_most_one(values, chunk->rows))
        status = agb_fail(err, AGB_ERR_FORMAT, "a boolean that is neither 0 nor 1");
    if (status == AGB_OK)
        status = read_nulls(scratch, self->input->fd, chunk, values, width,
                            target->nulls ? target->nulls + chunk->row : NULL, err);
    return status;
}

static agb_status read_strings(loading *self, scratch *scratch, const target *target, const agb_native_chunk *chunk,
                               agb_error *err)
{
    const agb_native_block *block = &chunk->block[AGB_NATIVE_BYTES];
    int fd = self->input->fd;
    uint32_t *length = (uint32_t *)agb_native_room_of(&scratch->lengths, chunk->rows * sizeof *length);
    unsigned char *bytes = block->unpacked_bytes ? agb_table_heap(self->table, block->unpacked_bytes) : NULL;
    if (!length || (block->unpacked_bytes && !bytes))
        return agb_fail(err, AGB_ERR_MEMORY, "the system refused %" PRIu64 " bytes for its strings",
                        block->unpacked_bytes);
    agb_status status = agb_native_block_read(&scratch->unpacker, fd, &chunk->block[AGB_NATIVE_VALUES], length,
                                              chunk->rows, sizeof *length, err);
    if (status == AGB_OK)
        status = read_nulls(scratch, fd, chunk, (const unsigned char *)length, sizeof *length,
                            target->nulls ? target->nulls + chunk->row : NULL, err);
    if (status == AGB_OK && bytes)
        status = agb_native_block_read(&scratch->unpacker, fd, block, bytes, block->unpacked_bytes, 1, err);
    if (status != AGB_OK)
        return status;
    uint64_t total = 0;
    for (uint64_t i = 0; i < chunk->rows; i++)
        total += length[i];
    if (total != block->unpacked_bytes)
        return agb_fail(err, AGB_ERR_FORMAT, "its strings have %" PRIu64 " bytes, their lengths say %" PRIu64,
                        block->unpacked_bytes, total);
    agb_bytes *value = (agb_bytes *)target->values + chunk->row;
    touch((unsigned char *)value, chunk->rows * sizeof *value);
    for (uint64_t i = 0, at = 0; i < chunk->rows; at += length[i], i++)
        value[i] = (agb_bytes){length[i] ? bytes + at : NULL, length[i]};
    return AGB_OK;
}

static const target *target_of(const loading *self, size_t task)
{
    size_t i = self->n_targets - 1;
    while (self->target[i].first_task > task)
        i--;
    return &self->target[i];
}

static agb_status load_chunk(void *argument, unsigned worker, size_t task, agb_error *err)
{
    loading *self = argument;
    const agb_load *load = self->load;
    const target *target = target_of(self, task);
    const agb_native_chunk *chunk = &target->column.chunk[task - target->first_task];
    agb_error inner = {0};
    agb_status status = target->column.type == AGB_TYPE_BYTES
                            ? read_strings(self, &self->scratch[worker], target, chunk, &inner)
                            : read_numbers(self, &self->scratch[worker], target, chunk, &inner);
    if (status != AGB_OK)
        return in_chunk(self, &target->column, chunk, &inner, err);
    uint64_t done = atomic_fetch_add_explicit(&self->values_done, chunk->rows, memory_order_relaxed) + chunk->rows;
    if (worker == 0 && load->progress)
        load->progress(load->context, done / self->n_targets, self->rows);
    return AGB_OK;
}

/* ---- The whole load ---- */

static bool has_nulls(const agb_native_column *column)
{
    for (size_t i = 0; i < column->chunks; i++)
        if (!agb_native_block_is_absent(&column->chunk[i].block[AGB_NATIVE_NULLS]))
            return true;
    return false;
}

/* How many bytes of the column lie in the file, one after another, as they lie in memory. */
static uint64_t mappable_bytes(const agb_native_column *column)
{
    uint64_t bytes = 0;
    if (column->type == AGB_TYPE_BYTES || column->type == AGB_TYPE_BOOL || has_nulls(column) || column->chunks == 0)
        return 0;
    uint64_t start = column->chunk[0].block[AGB_NATIVE_VALUES].offset;
    for (size_t i = 0; i < column->chunks; i++) {
        const agb_native_block *block = &column->chunk[i].block[AGB_NATIVE_VALUES];
        if (block->codec != AGB_NATIVE_NONE || block->coding != AGB_NATIVE_PLAIN || block->offset != start + bytes)
            break;
        bytes += block->stored_bytes;
    }
    return bytes;
}

/* How many of them are mapped behind the rows that are there already: whole pages, which must lie alike in both. */
static uint64_t bytes_to_map(const loading *self, const agb_native_column *column, uint64_t rows_before)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), at = rows_before * agb_native_width(column->type);
    uint64_t bytes = self->load->may_map ? mappable_bytes(column) / page * page : 0;
    bool alike = bytes && at % page == 0 && column->chunk[0].block[AGB_NATIVE_VALUES].offset % page == 0;
    return alike ? bytes : 0;
}

static void map_values(loading *self, size_t i, uint64_t rows_before)
{
    target *target = &self->target[i];
    uint64_t bytes = bytes_to_map(self, &target->column, rows_before);
    if (bytes && agb_table_map(self->table, i, rows_before * agb_native_width(target->column.type), self->input->fd,
                               target->column.chunk[0].block[AGB_NATIVE_VALUES].offset, bytes))
        target->mapped_bytes = bytes;
}

/* But for a column's last rows, which fill no page. */
static bool maps_everything(const loading *self, uint64_t rows_before)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE);
    for (size_t i = 0; i < self->n_targets; i++) {
        const agb_native_column *column = &self->target[i].column;
        if (bytes_to_map(self, column, rows_before) < self->rows * agb_native_width(column->type) / page * page)
            return false;
    }
    return true;
}

static agb_status place_target(loading *self, size_t i, uint64_t rows_before, agb_error *err)
{
    target *target = &self->target[i];
    target->values = (unsigned char *)agb_table_values(self->table, i) +
                     rows_before * agb_type_bytes(target->column.type);
    map_values(self, i, rows_before);
    if (!has_nulls(&target->column))
        return AGB_OK;
    uint8_t *nulls = agb_table_nulls(self->table, i);
    if (!nulls)
        return agb_fail(err, AGB_ERR_MEMORY, "agb: %s: column %s: the system refused memory for the NULLs of %" PRIu64
                        " rows", self->input->path, target->column.name, self->rows);
    target->nulls = nulls + rows_before;
    return AGB_OK;
}

static void prepare_unpacker(const loading *self, agb_native_unpacker *unpacker)
{
    for (size_t i = 0; i < self->n_targets; i++) {
        const agb_native_column *column = &self->target[i].column;
        for (size_t j = 0; j < column->chunks; j++)
            for (size_t kind = 0; kind < AGB_NATIVE_KINDS; kind++)
                if (!agb_native_block_is_absent(&column->chunk[j].block[kind]))
                    agb_native_unpacker_prepare(unpacker, &column->chunk[j].block[kind]);
    }
}

static void want_chunks(loading *self, target *target, const agb_native_column *column)
{
    uint64_t wanted = agb_load_wanted(self->load, self->file->rows), rows = 0;
    target->column = *column;
    for (target->column.chunks = 0; target->column.chunks < column->chunks && rows < wanted; target->column.chunks++)
        rows += column->chunk[target->column.chunks].rows;
    self->tasks += target->column.chunks;
    self->rows = rows > self->rows ? rows : self->rows;
}

static agb_status prepare(loading *self, const size_t *column, agb_error *err)
{
    uint64_t rows_before = agb_table_rows(self->table);
    self->target = calloc(self->n_targets, sizeof *self->target);
    self->scratch = calloc(agb_pool_workers(self->load->pool), sizeof *self->scratch);
    if (!self->target || !self->scratch)
        return agb_fail(err, AGB_ERR_MEMORY, "agb: %s: the system refused memory", self->input->path);
    for (size_t i = 0; i < self->n_targets; i++) {
        self->target[i].first_task = self->tasks;
        want_chunks(self, &self->target[i], &self->file->column[column[i]]);
        agb_status status = check_column(self, &self->target[i].column, err);
        if (status != AGB_OK)
            return status;
    }
    for (unsigned i = 0; i < agb_pool_workers(self->load->pool) && i < self->tasks; i++)
        prepare_unpacker(self, &self->scratch[i].unpacker);
    agb_status status = maps_everything(self, rows_before)
                            ? agb_table_extend_to_map(self->table, self->rows, err)
                            : agb_table_extend(self->table, self->rows, err);
    for (size_t i = 0; i < self->n_targets && self->tasks && status == AGB_OK; i++)
        status = place_target(self, i, rows_before, err);
    return status;
}

static agb_status run(loading *self, agb_error *err)
{
    const agb_load *load = self->load;
    agb_status status = agb_tasks_run(load->pool, self->tasks, load_chunk, self, err);
    if (status == AGB_ERR_CONTRACT)
        return agb_fail(err, status, "agb: %s: its chunks cannot be read from within a task", self->input->path);
    if (status == AGB_OK && load->progress)
        load->progress(load->context, self->rows, self->rows);
    return status;
}

agb_status agb_native_read(const agb_native_file *file, const agb_input *input, const size_t *column,
                           size_t n_columns, agb_table *table, const agb_load *load, agb_error *err)
{
    loading self = {.file = file, .input = input, .n_targets = n_columns, .table = table, .load = load};
    agb_status status = prepare(&self, column, err);
    if (status == AGB_OK)
        status = run(&self, err);
    for (unsigned i = 0; self.scratch && i < agb_pool_workers(load->pool); i++) {
        agb_native_unpacker_release(&self.scratch[i].unpacker);
        agb_native_room_release(&self.scratch[i].lengths);
    }
    free(self.scratch);
    free(self.target);
    return status;
}
