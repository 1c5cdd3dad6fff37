/* SPDX-License-Identifier: MIT */
/* .agb: our own column file. How to read it: agb/format.h is the format; agb/footer.c reads and makes what is around
 * the blocks, agb/block.c one block; agb/read.c fills a table, agb/write.c saves one. */
#include "agb/footer.h"
#include "agb/read.h"
#include "agb/write.h"
#include "common/file.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SURE = 100,
    BY_NAME = 15    /* so that a damaged file is refused with a reason; text under this name is still text */
};

typedef struct reader {
    const agb_input *input;
    agb_native_file file;
} reader;

static int agb_probe(const agb_input *input)
{
    if (input->head_bytes >= AGB_NATIVE_MAGIC_BYTES &&
        memcmp(input->head, AGB_NATIVE_MAGIC, AGB_NATIVE_MAGIC_BYTES) == 0)
        return SURE;
    return agb_file_has_suffix(input->path, ".agb") ? BY_NAME : 0;
}

static agb_status agb_open(const agb_input *input, void **self, agb_error *err)
{
    reader *reader = calloc(1, sizeof *reader);
    if (!reader)
        return agb_fail(err, AGB_ERR_MEMORY, "agb: %s: the system refused memory", input->path);
    agb_error inner = {0};
    reader->input = input;
    *self = reader;
    agb_status status = agb_native_footer_read(&reader->file, input, &inner);
    return status == AGB_OK ? AGB_OK : agb_fail(err, status, "agb: %s: %s", input->path, inner.text);
}

/* ---- Describing ---- */

typedef struct sums {
    uint64_t stored_bytes, unpacked_bytes;
    size_t blocks[AGB_NATIVE_CODECS + 1], runs;    /* blocks of each codec; the last: of unknown ones */
    bool nulls;
} sums;

static sums sum_up(const agb_native_column *column)
{
    sums sums = {0};
    for (size_t i = 0; i < column->chunks; i++)
        for (size_t kind = 0; kind < AGB_NATIVE_KINDS; kind++) {
            const agb_native_block *block = &column->chunk[i].block[kind];
            if (agb_native_block_is_absent(block))
                continue;
            sums.stored_bytes += block->stored_bytes;
            sums.blocks[block->codec < AGB_NATIVE_CODECS ? block->codec : AGB_NATIVE_CODECS]++;
            sums.runs += block->coding == AGB_NATIVE_RUNS;
            sums.nulls |= kind == AGB_NATIVE_NULLS;
        }
    return sums;
}

static agb_status agb_schema_of(void *self, agb_schema *schema, agb_error *err)
{
    const reader *reader = self;
    char detail[160];
    schema->rows = reader->file.rows;
    for (size_t i = 0; i < reader->file.columns; i++) {
        const agb_native_column *column = &reader->file.column[i];
        sums sums = sum_up(column);
        if (column->type == AGB_TYPE_OTHER)
            snprintf(detail, sizeof detail, "of type number %u, which is not known", column->type_number);
        else
            snprintf(detail, sizeof detail, "%" PRIu64 " bytes, %zu chunks, blocks: %zu zstd, %zu none, %zu in runs",
                     sums.stored_bytes, column->chunks, sums.blocks[AGB_NATIVE_ZSTD], sums.blocks[AGB_NATIVE_NONE],
                     sums.runs);
        agb_status status = agb_schema_add(schema, column->name, column->type, sums.nulls, detail, err);
        if (status != AGB_OK)
            return status;
    }
    snprintf(detail, sizeof detail, "version %d", AGB_NATIVE_VERSION);
    return agb_schema_set_detail(schema, detail, err);
}

/* ---- Loading ---- */

static agb_status agb_read(void *self, const size_t *column, size_t n_columns, agb_table *table, const agb_load *load,
                           agb_error *err)
{
    const reader *reader = self;
    return agb_native_read(&reader->file, reader->input, column, n_columns, table, load, err);
}

static void agb_close(void *self)
{
    reader *reader = self;
    agb_native_file_release(&reader->file);
    free(reader);
}

const agb_loader agb_loader_agb = {
    .abi = AGB_LOADER_ABI,
    .size = sizeof(agb_loader),
    .name = "agb",
    .summary = "our own column files, which `aggbench load` writes (zstd or mapped, checksums)",
    .probe = agb_probe,
    .open = agb_open,
    .schema = agb_schema_of,
    .load = agb_read,
    .close = agb_close,
    .save = agb_native_write,
};
