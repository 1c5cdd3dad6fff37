/* SPDX-License-Identifier: MIT */
/* Loading all rows: step by step the window moves on, its rows are counted by all workers, room is made for exactly
 * as many, and they are parsed by all workers.
 *
 * WHERE ROWS BEGIN  A worker that starts in the middle of a CSV cannot know whether it stands between quotes. So each
 * one counts line ends for both cases, in one pass; afterwards the number of quotes before it, odd or even, says
 * which of the two counts holds. Text that breaks the quoting rules can make the choice wrong only behind the place
 * where it breaks them, and the parser refuses that place first.
 *
 * HOW MUCH AT A TIME  2 MiB for each worker. Less fits the second-level cache and is slower all the same, by what each
 * step costs (335 MB of hits, one thread: 71 ms at 128 KiB, 62 at 512 KiB, 57 at 2 MiB, 61 at 8 MiB); the same for one
 * worker's chunks, so it has one. Several wait for one another twice in a step, 0.2 ms apart: see WAITING in
 * engine/pool.c, which took two threads from 1.4 to 1.7 times one. */
#include "parts.h"

#include "scan.h"

#include <inttypes.h>
#include <stdlib.h>

enum { CHUNKS_PER_WORKER = 8 };    /* of several, so that uneven chunks balance */

/* A part of the window, cut anywhere. Index 0: when it begins outside of quotes, 1: inside. */
typedef struct chunk {
    const unsigned char *begin, *end;
    uint64_t row_ends[2];
    const unsigned char *first[2], *last[2];    /* row ends: the line feeds themselves */
    bool flips;                                 /* has an odd number of quotes */
    agb_error error;                            /* it could not be read */
} chunk;

typedef struct loading {
    agb_text_reader *reader;
    agb_table *table;
    agb_pool *pool;
    agb_text_target *targets;
    size_t n_targets;
    agb_text_arena *arenas;    /* one per worker */
    chunk *chunks;
    agb_text_piece *pieces;
    size_t most_chunks, n_chunks, n_pieces;
    bool has_nulls;
} loading;

/* ---- Counting ---- */

/* Bit i of the result: an odd number of bits of `bits` stand at or below i. */
static uint64_t odd_below(uint64_t bits)
{
    for (unsigned shift = 1; shift < 64; shift *= 2)
        bits ^= bits << shift;
    return bits;
}

static void note_row_ends(chunk *c, int inside, const unsigned char *at, uint64_t ends)
{
    if (!ends)
        return;
    if (!c->row_ends[inside])
        c->first[inside] = at + __builtin_ctzll(ends);
    c->last[inside] = at + 63 - __builtin_clzll(ends);
    c->row_ends[inside] += (unsigned)__builtin_popcountll(ends);
}

/* Reads the chunk where that has not been done, and counts. */
static void count_chunk(void *argument, unsigned worker, size_t task)
{
    loading *self = argument;
    chunk *c = &self->chunks[task];
    bool quoted = self->reader->format->quoted;
    uint64_t inside = 0;    /* all ones while a quote is open */
    (void)worker;
    if (agb_text_window_fill(&self->reader->window, c->begin, c->end, &c->error) != AGB_OK)
        return;
    for (const unsigned char *at = c->begin; at < c->end; at += AGB_TEXT_BLOCK) {
        uint64_t valid;
        agb_text_block block = agb_text_block_at(at, c->end, &valid);
        uint64_t line_feeds = agb_text_block_find(block, '\n') & valid;
        if (quoted) {
            uint64_t open = odd_below(agb_text_block_find(block, '"') & valid) ^ inside;
            note_row_ends(c, 1, at, line_feeds & open);
            line_feeds &= ~open;
            inside = 0 - (open >> 63);
        }
        note_row_ends(c, 0, at, line_feeds);
    }
    c->flips = inside != 0;
}

static void cut_chunks(loading *self)
{
    const unsigned char *at = self->reader->window.begin, *end = self->reader->window.end;
    size_t bytes = ((size_t)(end - at) + self->most_chunks - 1) / self->most_chunks;
    for (self->n_chunks = 0; at < end; self->n_chunks++) {
        size_t left = (size_t)(end - at);
        self->chunks[self->n_chunks] = (chunk){.begin = at, .end = at + (bytes < left ? bytes : left)};
        at = self->chunks[self->n_chunks].end;
    }
}

/* ---- From chunks to pieces of whole rows ---- */

static agb_text_piece *add_piece(loading *self, const unsigned char *begin)
{
    agb_text_piece *piece = &self->pieces[self->n_pieces++];
    *piece = (agb_text_piece){.begin = begin, .end = begin, .targets = self->targets, .n_targets = self->n_targets,
                              .names = self->reader->name, .fields = self->reader->fields};
    return piece;
}

/* A piece begins behind the first row end of its chunk and goes on to the first row end of the next chunk that has
 * one. Returns the number of rows. */
static uint64_t cut_pieces(loading *self)
{
    const agb_text_window *window = &self->reader->window;
    int inside = 0;
    self->n_pieces = 0;
    agb_text_piece *piece = add_piece(self, window->begin);
    for (size_t i = 0; i < self->n_chunks; i++) {
        const chunk *c = &self->chunks[i];
        uint64_t row_ends = c->row_ends[inside];
        if (row_ends && i > 0) {
            piece->rows++;
            piece->end = c->first[inside] + 1;
            piece = add_piece(self, piece->end);
            row_ends--;
        }
        piece->rows += row_ends;
        if (c->row_ends[inside])
            piece->end = c->last[inside] + 1;
        inside ^= c->flips;
    }
    if (window->last && piece->end < window->end) {    /* the last row has no line end */
        piece->rows++;
        piece->end = window->end;
    }
    uint64_t rows = 0;
    for (size_t i = 0; i < self->n_pieces; i++) {
        self->pieces[i].first_row = agb_table_rows(self->table) + rows;
        rows += self->pieces[i].rows;
    }
    return rows;
}

/* ---- Parsing ---- */

static void parse_piece(void *argument, unsigned worker, size_t task)
{
    loading *self = argument;
    agb_text_piece *piece = &self->pieces[task];
    if (piece->rows == 0 || (piece->arena && !piece->wants_nulls))    /* nothing to do, or done before */
        return;
    piece->arena = &self->arenas[worker];
    piece->wants_nulls = false;
    piece->fault.at = NULL;
    self->reader->format->parse(piece);
}

static agb_status place_targets(loading *self, agb_error *err)
{
    for (size_t i = 0; i < self->n_targets; i++) {
        agb_text_target *target = &self->targets[i];
        target->values = agb_table_values(self->table, target->column);
        target->nulls = self->has_nulls ? agb_table_nulls(self->table, target->column) : NULL;
        if (self->has_nulls && !target->nulls)
            return agb_fail(err, AGB_ERR_MEMORY, "%s: column '%s': the system refuses memory for NULLs",
                            self->reader->input->path, target->name);
    }
    return AGB_OK;
}

static agb_status fail_at(const loading *self, const agb_text_fault *fault, agb_error *err)
{
    const agb_text_reader *reader = self->reader;
    uint64_t line = reader->lines + agb_text_count(reader->window.begin, fault->at, '\n') + 1;
    bool named = fault->target != AGB_TEXT_NO_TARGET;
    return agb_fail(err, fault->status, "%s: line %" PRIu64 ": %s%s%s%s", reader->input->path, line,
                    named ? "column '" : "", named ? self->targets[fault->target].name : "", named ? "': " : "",
                    fault->reason);
}

static agb_status parse_pieces(loading *self, agb_error *err)
{
    bool wants_nulls = false;
    agb_status status = place_targets(self, err);
    if (status == AGB_OK)
        status = agb_pool_run(self->pool, self->n_pieces, parse_piece, self);
    for (size_t i = 0; i < self->n_pieces && status == AGB_OK; i++)
        wants_nulls |= self->pieces[i].wants_nulls;
    if (wants_nulls && status == AGB_OK) {
        self->has_nulls = true;
        status = place_targets(self, err);
        if (status == AGB_OK)
            status = agb_pool_run(self->pool, self->n_pieces, parse_piece, self);
    }
    for (size_t i = 0; i < self->n_pieces && status == AGB_OK; i++)
        if (self->pieces[i].fault.at)
            status = fail_at(self, &self->pieces[i].fault, err);
    return status;
}

/* Loads the whole rows in sight and moves `at` behind them. */
static agb_status load_window(loading *self, agb_error *err)
{
    agb_text_reader *reader = self->reader;
    cut_chunks(self);
    agb_status status = agb_pool_run(self->pool, self->n_chunks, count_chunk, self);
    if (status != AGB_OK)
        return agb_fail(err, status, "%s: the workers are busy: load outside of their tasks", reader->input->path);
    for (size_t i = 0; i < self->n_chunks; i++)
        if (self->chunks[i].error.status != AGB_OK)
            return agb_fail(err, self->chunks[i].error.status, "%s", self->chunks[i].error.text);
    uint64_t rows = cut_pieces(self);
    if (rows == 0)
        return AGB_OK;
    status = agb_table_extend(self->table, rows, err);
    if (status == AGB_OK)
        status = parse_pieces(self, err);
    reader->at = self->pieces[self->n_pieces - 1].end;
    for (size_t i = 0; i < self->n_chunks; i++)
        reader->lines += self->chunks[i].row_ends[0] + self->chunks[i].row_ends[1];
    reader->lines -= agb_text_count(reader->at, reader->window.end, '\n');
    return status;
}

static agb_status load_windows(loading *self, const agb_load *load, agb_error *err)
{
    agb_text_reader *reader = self->reader;
    size_t step = reader->step_bytes * agb_pool_workers(self->pool);
    if (step > AGB_TEXT_MOST_STEP_BYTES)
        step = AGB_TEXT_MOST_STEP_BYTES;
    do {
        const unsigned char *before = reader->at;
        bool stuck = before == reader->window.begin && before < reader->window.end;    /* no whole row was in sight */
        agb_status status = stuck ? agb_text_more(reader, reader->step_bytes, err)
                                  : agb_text_window_move_unread(&reader->window, before, step, err);
        reader->at = reader->window.begin;
        if (status == AGB_OK)
            status = load_window(self, err);
        if (status != AGB_OK)
            return status;
        if (load->progress)
            load->progress(load->context, agb_table_rows(self->table), 0);
    } while (!reader->window.last);
    return AGB_OK;
}

/* ---- Setting up ---- */

static int compare_targets(const void *a, const void *b)
{
    size_t left = ((const agb_text_target *)a)->field, right = ((const agb_text_target *)b)->field;
    return (left > right) - (left < right);
}

static agb_status prepare(loading *self, const size_t *column, agb_error *err)
{
    const agb_text_reader *reader = self->reader;
    unsigned workers = agb_pool_workers(self->pool);
    self->most_chunks = workers > 1 ? (size_t)workers * CHUNKS_PER_WORKER : 1;
    self->targets = calloc(self->n_targets, sizeof *self->targets);
    self->arenas = calloc(workers, sizeof *self->arenas);
    self->chunks = calloc(self->most_chunks, sizeof *self->chunks);
    self->pieces = calloc(self->most_chunks, sizeof *self->pieces);
    if (!self->targets || !self->arenas || !self->chunks || !self->pieces)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses memory to load with %u workers",
                        reader->input->path, workers);
    for (unsigned i = 0; i < workers; i++)
        self->arenas[i].table = self->table;
    for (size_t i = 0; i < self->n_targets; i++)
        self->targets[i] = (agb_text_target){.name = reader->name[column[i]], .column = i, .field = column[i],
                                             .kind = reader->kind[column[i]]};
    qsort(self->targets, self->n_targets, sizeof *self->targets, compare_targets);
    return AGB_OK;
}

/* Goes back to the first row for a second load. */
static agb_status rewind_reader(agb_text_reader *reader, agb_error *err)
{
    if (!reader->input->seekable)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: a pipe can be loaded once only: write it to a file first",
                        reader->input->path);
    agb_status status = agb_text_start(reader, err);
    if (status == AGB_OK)
        agb_text_pass_header(reader);
    return status;
}

agb_status agb_text_load(void *reader, const size_t *column, size_t n_columns, agb_table *table, const agb_load *load,
                         agb_error *err)
{
    loading self = {.reader = reader, .table = table, .pool = load->pool, .n_targets = n_columns};
    agb_status status = self.reader->loaded ? rewind_reader(reader, err) : AGB_OK;
    self.reader->loaded = true;
    if (status == AGB_OK)
        status = prepare(&self, column, err);
    if (status == AGB_OK)
        status = load_windows(&self, load, err);
    free(self.targets);
    free(self.arenas);
    free(self.chunks);
    free(self.pieces);
    return status;
}
