/* SPDX-License-Identifier: MIT */
/* Saving: see write.h. Workers pack a handful of blocks side by side, then the calling thread writes them in their
 * order; column by column, and in a column kind by kind, so that uncompressed values lie in one piece. */
#include "agb/write.h"

#include "agb/block.h"
#include "agb/footer.h"
#include "common/draft.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SLOTS_PER_WORKER = 4 };

/* AUTO: numbers as they stand in memory, so that they are mapped; all else in zstd frames. */
typedef enum policy { AUTO, ZSTD, NONE } policy;

/* Where one block is packed. */
typedef struct slot {
    agb_native_packer packer;
    agb_native_room gathered;    /* lengths or bytes of strings */
    const void *stored;          /* the outcome; NULL: the system refused memory */
} slot;

typedef struct writing {
    const char *path;
    const agb_save_options *options;
    policy policy;
    agb_native_file file;        /* the footer to be */
    agb_draft draft;
    slot *slot;
    size_t slots;
    uint64_t rows_done;          /* of all columns */
    /* The batch under way: slot i packs this kind of block of chunk first + i. */
    const agb_column *source;
    agb_native_column *column;
    agb_native_kind kind;
    size_t first;
} writing;

/* ---- Cutting a column into chunks ---- */

/* Rows from `row` on that make a chunk, by number or by the bytes of their strings; 0: one string is too long. */
static uint64_t chunk_rows(const agb_column *source, uint64_t row, uint64_t rows)
{
    uint64_t most = rows - row < AGB_NATIVE_CHUNK_ROWS ? rows - row : AGB_NATIVE_CHUNK_ROWS;
    if (source->type != AGB_TYPE_BYTES)
        return most;
    const agb_bytes *value = (const agb_bytes *)source->values + row;
    uint64_t bytes = 0, n = 0;
    if (value[0].length > AGB_NATIVE_MOST_BLOCK_BYTES)
        return 0;
    while (n < most && (n == 0 || value[n].length <= AGB_NATIVE_CHUNK_STRING_BYTES - bytes) &&
           bytes <= AGB_NATIVE_CHUNK_STRING_BYTES)
        bytes += value[n++].length;
    return n;
}

static agb_status cut(writing *self, agb_native_column *column, const agb_column *source, agb_error *err)
{
    for (uint64_t row = 0; row < self->file.rows;) {
        uint64_t rows = chunk_rows(source, row, self->file.rows);
        if (rows == 0)
            return agb_fail(err, AGB_ERR_UNSUPPORTED, "writing %s: column %s: row %" PRIu64 ": a string of %zu bytes "
                            "is larger than the limit of %d", self->path, column->name, row,
                            ((const agb_bytes *)source->values)[row].length, AGB_NATIVE_MOST_BLOCK_BYTES);
        if ((column->chunks & (column->chunks - 1)) == 0) {    /* full at each power of two */
            size_t room = column->chunks ? 2 * column->chunks : 1;
            agb_native_chunk *more = realloc(column->chunk, room * sizeof *more);
            if (!more)
                return agb_fail(err, AGB_ERR_MEMORY, "writing %s: the system refused memory", self->path);
            column->chunk = more;
        }
        column->chunk[column->chunks++] = (agb_native_chunk){.row = row, .rows = rows};
        row += rows;
    }
    return AGB_OK;
}

static agb_status add_column(writing *self, const agb_table *table, const char *name, agb_error *err)
{
    agb_column source;
    agb_table_find_column(table, name, &source);
    agb_native_column *column = &self->file.column[self->file.columns++];
    *column = (agb_native_column){.name = strdup(name), .type = source.type,
                                  .type_number = agb_native_type_number(source.type)};
    if (!column->name)
        return agb_fail(err, AGB_ERR_MEMORY, "writing %s: the system refused memory", self->path);
    return cut(self, column, &source, err);
}

/* ---- Packing a block ---- */

static agb_native_codec codec_of(const writing *self)
{
    bool numbers = self->kind == AGB_NATIVE_VALUES && self->source->type != AGB_TYPE_BYTES;
    return self->policy == NONE || (self->policy == AUTO && numbers) ? AGB_NATIVE_NONE : AGB_NATIVE_ZSTD;
}

/* Lengths of a chunk's strings, in a row; NULL when memory is refused. */
static const void *gather_lengths(slot *slot, const agb_bytes *value, uint64_t rows)
{
    uint32_t *length = (uint32_t *)agb_native_room_of(&slot->gathered, rows * sizeof *length);
    for (uint64_t i = 0; length && i < rows; i++)
        length[i] = (uint32_t)value[i].length;
    return length;
}

static const void *gather_bytes(slot *slot, const agb_bytes *value, uint64_t rows, uint64_t *bytes)
{
    *bytes = 0;
    for (uint64_t i = 0; i < rows; i++)
        *bytes += value[i].length;
    unsigned char *to = agb_native_room_of(&slot->gathered, *bytes);
    const void *gathered = to;
    for (uint64_t i = 0; to && i < rows; to += value[i].length, i++)
        if (value[i].length)
            memcpy(to, value[i].data, value[i].length);
    return gathered;
}

/* The values a block is made of; *n 0: no such block. */
static const void *block_values(const writing *self, slot *slot, const agb_native_chunk *chunk, uint64_t *n,
                                size_t *width)
{
    const agb_column *source = self->source;
    const agb_bytes *strings = (const agb_bytes *)source->values + chunk->row;
    bool is_strings = source->type == AGB_TYPE_BYTES;
    *n = chunk->rows;
    *width = 1;
    switch (self->kind) {
    case AGB_NATIVE_VALUES:
        *width = agb_native_width(source->type);
        return is_strings ? gather_lengths(slot, strings, chunk->rows)
                          : (const unsigned char *)source->values + chunk->row * *width;
    case AGB_NATIVE_NULLS:
        if (!source->nulls || !memchr(source->nulls + chunk->row, 1, chunk->rows))
            *n = 0;
        return source->nulls ? source->nulls + chunk->row : (const uint8_t *)"";
    default:
        *n = 0;
        return is_strings ? gather_bytes(slot, strings, chunk->rows, n) : "";
    }
}

static void pack_block(void *argument, unsigned worker, size_t task)
{
    (void)worker;
    writing *self = argument;
    slot *slot = &self->slot[task];
    agb_native_chunk *chunk = &self->column->chunk[self->first + task];
    agb_native_codec codec = codec_of(self);
    bool may_be_runs = codec == AGB_NATIVE_ZSTD && self->kind != AGB_NATIVE_BYTES;
    uint64_t n;
    size_t width;
    slot->stored = block_values(self, slot, chunk, &n, &width);
    if (slot->stored && n)
        slot->stored = agb_native_block_pack(&slot->packer, codec, may_be_runs, slot->stored, n, width,
                                             &chunk->block[self->kind]);
}

/* ---- Writing ---- */

static agb_status write_slot(writing *self, size_t task, agb_error *err)
{
    agb_native_block *block = &self->column->chunk[self->first + task].block[self->kind];
    if (!self->slot[task].stored)
        return agb_fail(err, AGB_ERR_MEMORY, "writing %s: column %s: the system refused memory to pack it", self->path,
                        self->column->name);
    if (agb_native_block_is_absent(block))
        return AGB_OK;
    if (codec_of(self) == AGB_NATIVE_NONE && self->kind == AGB_NATIVE_VALUES && self->first + task == 0)
        agb_draft_align(&self->draft, AGB_NATIVE_PAGE_BYTES);
    block->offset = self->draft.bytes;
    return agb_draft_append(&self->draft, self->slot[task].stored, block->stored_bytes, err);
}

static agb_status report(writing *self, uint64_t rows, agb_error *err)
{
    const agb_save_options *options = self->options;
    self->rows_done += rows;
    if (!options->progress ||
        options->progress(options->context, self->rows_done, self->file.rows * self->file.columns))
        return AGB_OK;
    return agb_fail(err, AGB_ERR_IO, "writing %s: stopped at the caller's wish: nothing is left of it", self->path);
}

static agb_status write_batch(writing *self, size_t n, agb_error *err)
{
    agb_status status = agb_pool_run(self->options->pool, n, pack_block, self);
    if (status != AGB_OK)
        return agb_fail(err, status, "writing %s: the workers are busy: save outside of their tasks", self->path);
    uint64_t rows = 0;
    for (size_t i = 0; i < n && status == AGB_OK; i++) {
        status = write_slot(self, i, err);
        rows += self->column->chunk[self->first + i].rows;
    }
    return status == AGB_OK ? report(self, self->kind == AGB_NATIVE_VALUES ? rows : 0, err) : status;
}

static agb_status write_column(writing *self, const agb_table *table, size_t i, agb_error *err)
{
    agb_column source;
    agb_table_find_column(table, self->file.column[i].name, &source);
    self->source = &source;
    self->column = &self->file.column[i];
    agb_status status = AGB_OK;
    for (self->kind = 0; self->kind < AGB_NATIVE_KINDS; self->kind++)
        for (self->first = 0; self->first < self->column->chunks && status == AGB_OK; self->first += self->slots) {
            size_t left = self->column->chunks - self->first;
            status = write_batch(self, left < self->slots ? left : self->slots, err);
        }
    return status;
}

static agb_status write_footer(writing *self, agb_error *err)
{
    size_t bytes;
    unsigned char *footer = agb_native_footer_make(&self->file, self->draft.bytes, &bytes);
    if (!footer)
        return agb_fail(err, AGB_ERR_MEMORY, "writing %s: the system refused memory for the footer", self->path);
    agb_status status = agb_draft_append(&self->draft, footer, bytes, err);
    free(footer);
    return status;
}

static agb_status write_file(writing *self, const agb_table *table, agb_error *err)
{
    unsigned char header[AGB_NATIVE_HEADER_BYTES];
    agb_status status = agb_draft_open(&self->draft, self->path, err);
    if (status != AGB_OK)
        return status;
    agb_native_header_make(header);
    status = agb_draft_append(&self->draft, header, sizeof header, err);
    for (size_t i = 0; i < self->file.columns && status == AGB_OK; i++)
        status = write_column(self, table, i, err);
    if (status == AGB_OK)
        status = write_footer(self, err);
    if (status == AGB_OK)
        return agb_draft_publish(&self->draft, err);
    agb_draft_drop(&self->draft);
    return status;
}

/* ---- Setting up ---- */

static agb_status find_policy(writing *self, agb_error *err)
{
    static const char *const names[] = {[AUTO] = "auto", [ZSTD] = "zstd", [NONE] = "none"};
    const char *name = self->options->codec ? self->options->codec : names[AUTO];
    for (self->policy = AUTO; self->policy <= NONE; self->policy++)
        if (strcmp(name, names[self->policy]) == 0)
            return AGB_OK;
    return agb_fail(err, AGB_ERR_ARGUMENT, "writing %s: codec '%s': choose auto, zstd or none", self->path, name);
}

static agb_status prepare(writing *self, const agb_table *table, const char *const *columns, size_t n_columns,
                          agb_error *err)
{
    agb_status status = find_policy(self, err);
    if (status == AGB_OK && n_columns > AGB_NATIVE_MOST_COLUMNS)
        status = agb_fail(err, AGB_ERR_UNSUPPORTED, "writing %s: %zu columns are more than the limit of %d", self->path,
                          n_columns, AGB_NATIVE_MOST_COLUMNS);
    if (status != AGB_OK)
        return status;
    self->slots = (size_t)agb_pool_workers(self->options->pool) * SLOTS_PER_WORKER;
    self->slot = calloc(self->slots, sizeof *self->slot);
    self->file.rows = agb_table_rows(table);
    self->file.column = calloc(n_columns, sizeof *self->file.column);
    if (!self->slot || !self->file.column)
        return agb_fail(err, AGB_ERR_MEMORY, "writing %s: the system refused memory", self->path);
    for (size_t i = 0; i < n_columns && status == AGB_OK; i++)
        status = add_column(self, table, columns[i], err);
    return status;
}

agb_status agb_native_write(const agb_table *table, const char *const *columns, size_t n_columns, const char *path,
                            const agb_save_options *options, agb_error *err)
{
    writing self = {.path = path, .options = options};
    agb_status status = prepare(&self, table, columns, n_columns, err);
    if (status == AGB_OK)
        status = write_file(&self, table, err);
    for (size_t i = 0; self.slot && i < self.slots; i++) {
        agb_native_packer_release(&self.slot[i].packer);
        agb_native_room_release(&self.slot[i].gathered);
    }
    free(self.slot);
    agb_native_file_release(&self.file);
    return status;
}
