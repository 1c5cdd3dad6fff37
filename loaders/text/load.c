/* SPDX-License-Identifier: MIT */
/* Loading all rows. A worker takes the next stretch of the text, counts its rows, makes room in the table for exactly
 * as many, and parses them. Only the middle of that, what must know how many rows went before, is done in the order of
 * the text. Of a plain file a stretch is cut anywhere: its rows are those that begin behind its first row end, so that
 * the last of them ends in what is read of the text behind the stretch. Of a stream, which can be read only once, a
 * stretch is read and cut at a row end before the next worker may go on; the rest goes before the next one's.
 *
 * HOW MUCH AT A TIME  1 MiB. From 512 KiB to 2 MiB all are as fast (328 MB of hits, one thread: 82 to 83 ms, two
 * threads: 42 to 43); 4 MiB do not stay in the caches (47 with two).
 * NO STEPS  All workers once took one step after another through the text: counting, then parsing, each waiting for the
 * last of them at the end of both. That made two threads 1.5 to 1.8 times as fast as one where this makes them 1.9
 * times, was slower with every size but 2 MiB, and did not read a stream on while it was parsed. */
#include "parts.h"

#include "common/tasks.h"
#include "scan.h"
#include "stretch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
    LEAST_STEP_BYTES = 64 << 10,
    PARTS_PER_WORKER = 8            /* of a small file, so that all workers get some of it */
};

typedef struct worker {
    agb_text_stretch stretch;
    uint64_t lines;              /* line feeds before the stretch */
    uint64_t whole;              /* rows that begin in the stretch and end in it */
    agb_text_target *targets;    /* its own: where they are may change from stretch to stretch */
    agb_text_arena arena;
} worker;

typedef struct loading {
    agb_text_reader *reader;
    agb_table *table;
    const agb_load *load;
    size_t n_targets, step;
    worker *worker;
    unsigned workers;
    uint64_t rows_wanted;        /* in the table, those that were there before included */
    uint64_t from, bytes;        /* of a plain file: where its first row begins, and where it ends */
    pthread_rwlock_t places;     /* shared: values are written; exclusive: they are moved */
    agb_first_error failed;      /* by number of the stretch */

    /* The front, touched by one worker at a time: in its turn, or with the lock. */
    uint64_t lines;
    atomic_bool enough;          /* all wanted rows have been found; read by others, too, before their turn */
    bool inside;                 /* of quotes */
    pthread_mutex_t lock;        /* of a stream, with what follows */
    size_t stretches;
    const unsigned char *kept;   /* read, but not a whole row yet; in the buffer of who read it */
    size_t n_kept;
    bool last;                   /* nothing comes behind it */
} loading;

/* ---- Rows ---- */

static void note_stop(const loading *self)
{
    if (self->load->stopped)
        *self->load->stopped = true;
}

/* Room for those of the piece's rows that are wanted. Where there are many more than the first stretch let expect,
 * values move. */
static agb_status place_rows(loading *self, agb_text_piece *piece, agb_error *err)
{
    uint64_t before = agb_table_rows(self->table), rows = piece->rows;
    if (rows > self->rows_wanted - before) {
        rows = piece->rows = self->rows_wanted - before;
        note_stop(self);
    }
    bool fits = rows <= agb_table_room(self->table) - before;
    piece->first_row = before;
    if (!fits)
        pthread_rwlock_wrlock(&self->places);
    agb_status status = agb_table_extend(self->table, rows, err);
    if (!fits)
        pthread_rwlock_unlock(&self->places);
    if (status != AGB_OK)
        return status;
    self->enough = before + rows >= self->rows_wanted;
    if (self->load->progress)
        self->load->progress(self->load->context, before + rows, 0);
    return AGB_OK;
}

static agb_status fail_at(const loading *self, const worker *worker, const agb_text_fault *fault, agb_error *err)
{
    uint64_t line = worker->lines + agb_text_count(worker->stretch.buffer, fault->at, '\n') + 1;
    bool named = fault->target != AGB_TEXT_NO_TARGET;
    return agb_fail(err, fault->status, "%s: line %" PRIu64 ": %s%s%s%s", self->reader->input->path, line,
                    named ? "column '" : "", named ? worker->targets[fault->target].name : "", named ? "': " : "",
                    fault->reason);
}

static agb_status parse_rows(loading *self, worker *worker, agb_text_piece *piece, agb_error *err)
{
    pthread_rwlock_rdlock(&self->places);
    for (size_t i = 0; i < self->n_targets; i++) {
        worker->targets[i].values = agb_table_values(self->table, worker->targets[i].column);
        worker->targets[i].nulls = NULL;
    }
    piece->targets = worker->targets;
    piece->n_targets = self->n_targets;
    piece->names = self->reader->name;
    piece->fields = self->reader->fields;
    piece->arena = &worker->arena;
    self->reader->format->parse(piece);
    pthread_rwlock_unlock(&self->places);
    return piece->fault.at ? fail_at(self, worker, &piece->fault, err) : AGB_OK;
}

/* ---- A plain file ---- */

static uint64_t offset_of(const loading *self, size_t number)
{
    return self->from + (uint64_t)number * self->step;
}

static size_t stretches_of_file(const loading *self)
{
    return (size_t)((self->bytes - self->from + self->step - 1) / self->step);
}

static agb_status read_stretch(const loading *self, worker *worker, size_t number, agb_error *err)
{
    agb_status status = agb_text_stretch_read_at(&worker->stretch, self->reader->window.source,
                                                 offset_of(self, number), self->step, self->bytes, err);
    if (status == AGB_OK)
        agb_text_stretch_count(&worker->stretch, self->reader->format->quoted);
    return status;
}

/* What the first stretch lets expect, and a little more. */
static void reserve_rows(loading *self, uint64_t rows_of_first)
{
    uint64_t rows = rows_of_first * stretches_of_file(self), before = agb_table_rows(self->table);
    rows += rows / 16;
    if (rows > self->rows_wanted - before)
        rows = self->rows_wanted - before;
    agb_table_reserve(self->table, before + rows);
}

/* Where the rows of a stretch begin and how many they are; piece->end is where the last of them begins, if the stretch
 * holds no more of it. */
static agb_status cut_stretch(loading *self, worker *worker, size_t number, agb_text_piece *piece, agb_error *err)
{
    const agb_text_stretch *stretch = &worker->stretch;
    const agb_text_row_ends *ends = &stretch->ends[self->inside];
    worker->lines = self->lines;
    self->lines += stretch->ends[0].n + stretch->ends[1].n;
    self->inside ^= stretch->flips;
    if (number > 0 && ends->n == 0)
        return AGB_OK;    /* the middle of a row */
    bool goes_on = offset_of(self, number) + ends->behind_last < self->bytes;
    piece->begin = stretch->buffer + (number > 0 ? ends->behind_first : 0);
    piece->end = stretch->buffer + ends->behind_last;
    worker->whole = ends->n - (number > 0);
    piece->rows = worker->whole + goes_on;
    if (number == 0)
        reserve_rows(self, piece->rows);
    return place_rows(self, piece, err);
}

/* Reads on until the piece's last row ends. */
static agb_status end_last_row(const loading *self, worker *worker, size_t number, agb_text_piece *piece,
                               agb_error *err)
{
    agb_text_stretch *stretch = &worker->stretch;
    uint64_t offset = offset_of(self, number);
    size_t begin = (size_t)(piece->begin - stretch->buffer), last = (size_t)(piece->end - stretch->buffer);
    const unsigned char *end = NULL;
    agb_status status = AGB_OK;
    while (status == AGB_OK) {
        end = agb_text_row_end(self->reader->format, stretch->buffer + last, stretch->buffer + stretch->held);
        if (end || offset + stretch->held == self->bytes)
            break;
        if (stretch->held - last >= AGB_TEXT_MOST_ROW_BYTES)
            status = agb_text_refuse_long_row(self->reader, worker->lines + agb_text_count(
                                                  stretch->buffer, stretch->buffer + last, '\n'), err);
        else
            status = agb_text_stretch_read_behind(stretch, self->reader->window.source, offset,
                                              last + AGB_TEXT_MOST_ROW_BYTES, self->bytes, err);
    }
    piece->begin = stretch->buffer + begin;    /* the buffer may have moved */
    piece->end = end ? end : stretch->buffer + stretch->held;
    return status;
}

/* All wanted rows of the stretch. Where its last one does not end, a fault of those before it is told, wherever the
 * stretch happened to begin. */
static agb_status parse_stretch(loading *self, worker *worker, size_t number, agb_text_piece *piece, agb_error *err)
{
    agb_error unended = {0};
    if (piece->rows > worker->whole && end_last_row(self, worker, number, piece, &unended) != AGB_OK)
        piece->rows = worker->whole;
    agb_status status = parse_rows(self, worker, piece, err);
    return status == AGB_OK && unended.status != AGB_OK ? agb_fail(err, unended.status, "%s", unended.text) : status;
}

static void load_stretch(void *argument, unsigned number_of_worker, size_t number)
{
    loading *self = argument;
    worker *worker = &self->worker[number_of_worker];
    agb_text_piece piece = {0};
    agb_error error = {0};
    bool wanted = !self->enough && !agb_first_error_is_before(&self->failed, number);
    agb_status status = wanted ? read_stretch(self, worker, number, &error) : AGB_OK;
    agb_pool_await_turn(self->load->pool, number);
    if (self->enough) {
        note_stop(self);
        status = AGB_OK;    /* whatever is wrong with it */
    } else if (wanted && status == AGB_OK)
        status = cut_stretch(self, worker, number, &piece, &error);
    agb_pool_pass_turn(self->load->pool);
    if (status == AGB_OK && piece.rows)
        status = parse_stretch(self, worker, number, &piece, &error);
    if (status != AGB_OK)
        agb_first_error_note(&self->failed, number, &error);
}

/* ---- A stream ---- */

/* Reads on until there is a whole row, or the end. */
static agb_status read_on(loading *self, worker *worker, agb_error *err)
{
    agb_text_stretch *stretch = &worker->stretch;
    do {
        size_t step = self->n_kept < self->step ? self->step : self->n_kept;
        if (self->n_kept >= AGB_TEXT_MOST_ROW_BYTES)
            return agb_text_refuse_long_row(self->reader, self->lines, err);
        if (step > AGB_TEXT_MOST_ROW_BYTES - self->n_kept)
            step = AGB_TEXT_MOST_ROW_BYTES - self->n_kept;
        agb_status status = agb_text_stretch_read_on(stretch, self->reader->window.source, self->kept, self->n_kept,
                                                     step, &self->last, err);
        if (status != AGB_OK)
            return status;
        self->kept = stretch->buffer;
        self->n_kept = stretch->held;
        agb_text_stretch_count(stretch, self->reader->format->quoted);
    } while (stretch->ends[0].n == 0 && !self->last);
    return AGB_OK;
}

static agb_status cut_stream(loading *self, worker *worker, agb_text_piece *piece, agb_error *err)
{
    agb_text_stretch *stretch = &worker->stretch;
    agb_status status = read_on(self, worker, err);
    if (status != AGB_OK)
        return status;
    const unsigned char *end = stretch->buffer + stretch->held;
    size_t behind_last = stretch->ends[0].behind_last;
    piece->begin = stretch->buffer;
    piece->end = self->last ? end : stretch->buffer + behind_last;
    piece->rows = stretch->ends[0].n + (self->last && behind_last < stretch->held);
    self->kept = piece->end;
    self->n_kept = (size_t)(end - piece->end);
    worker->lines = self->lines;
    self->lines += stretch->ends[0].n + stretch->ends[1].n - agb_text_count(piece->end, end, '\n');
    return place_rows(self, piece, err);
}

/* The next stretch, until there is none. */
static void load_stream(void *argument, unsigned number_of_worker, size_t task)
{
    loading *self = argument;
    worker *worker = &self->worker[number_of_worker];
    (void)task;
    for (bool more = true; more;) {
        agb_text_piece piece = {0};
        agb_error error = {0};
        agb_status status = AGB_OK;
        pthread_mutex_lock(&self->lock);
        size_t number = self->stretches++;
        if (self->enough && !self->last)
            note_stop(self);
        more = !self->last && !self->enough && !agb_first_error_is_before(&self->failed, number);
        if (more)
            status = cut_stream(self, worker, &piece, &error);
        if (status != AGB_OK)
            agb_first_error_note(&self->failed, number, &error);
        pthread_mutex_unlock(&self->lock);
        if (status == AGB_OK && piece.rows && parse_rows(self, worker, &piece, &error) != AGB_OK)
            agb_first_error_note(&self->failed, number, &error);
    }
}

/* ---- Setting up ---- */

static int compare_targets(const void *a, const void *b)
{
    size_t left = ((const agb_text_target *)a)->field, right = ((const agb_text_target *)b)->field;
    return (left > right) - (left < right);
}

static bool make_targets(const loading *self, worker *worker, const size_t *column)
{
    const agb_text_reader *reader = self->reader;
    worker->targets = calloc(self->n_targets + 1, sizeof *worker->targets);
    for (size_t i = 0; worker->targets && i < self->n_targets; i++)
        worker->targets[i] = (agb_text_target){.name = reader->name[column[i]], .column = i, .field = column[i],
                                               .kind = reader->kind[column[i]]};
    if (worker->targets)
        qsort(worker->targets, self->n_targets, sizeof *worker->targets, compare_targets);
    return worker->targets != NULL;
}

static agb_status make_workers(loading *self, const size_t *column, agb_error *err)
{
    agb_status status = AGB_OK;
    self->worker = calloc(self->workers, sizeof *self->worker);
    for (unsigned i = 0; self->worker && i < self->workers && status == AGB_OK; i++) {
        worker *worker = &self->worker[i];
        worker->arena.table = self->table;
        status = make_targets(self, worker, column) ? agb_text_stretch_make(&worker->stretch, self->step, err)
                                                    : AGB_ERR_MEMORY;
    }
    if (self->worker && status == AGB_OK)
        return AGB_OK;
    return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses memory to load with %u workers",
                    self->reader->input->path, self->workers);
}

static void release_workers(loading *self)
{
    for (unsigned i = 0; self->worker && i < self->workers; i++) {
        free(self->worker[i].targets);
        free(self->worker[i].stretch.buffer);
    }
    free(self->worker);
}

static void choose_step(loading *self, bool flat)
{
    size_t most = AGB_TEXT_MOST_STEP_BYTES / self->workers;
    self->step = self->reader->step_bytes < most ? self->reader->step_bytes : most;
    uint64_t share = flat ? (self->bytes - self->from) / self->workers / PARTS_PER_WORKER : SIZE_MAX;
    if (share < LEAST_STEP_BYTES)
        share = LEAST_STEP_BYTES;
    if (self->workers > 1 && share < self->step)
        self->step = (size_t)share;
}

static agb_status run(loading *self, const size_t *column, agb_error *err)
{
    const agb_text_window *window = &self->reader->window;
    bool flat = agb_text_source_is_flat(window->source, &self->bytes);
    self->kept = self->reader->at;
    self->n_kept = (size_t)(window->end - self->reader->at);
    self->from = window->end_offset - self->n_kept;
    if (flat && self->bytes < self->from)
        self->bytes = self->from;
    choose_step(self, flat);
    agb_status status = make_workers(self, column, err);
    if (status != AGB_OK)
        return status;
    status = flat ? agb_pool_run(self->load->pool, stretches_of_file(self), load_stretch, self)
                  : agb_pool_each(self->load->pool, load_stream, self);
    if (status != AGB_OK)
        return agb_fail(err, status, "%s: the workers are busy: load outside of their tasks",
                        self->reader->input->path);
    return agb_first_error_tell(&self->failed, err);
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
    loading self = {.reader = reader, .table = table, .load = load, .n_targets = n_columns,
                    .workers = agb_pool_workers(load->pool), .failed = AGB_FIRST_ERROR_NONE,
                    .places = PTHREAD_RWLOCK_INITIALIZER, .lock = PTHREAD_MUTEX_INITIALIZER};
    agb_status status = self.reader->loaded ? rewind_reader(reader, err) : AGB_OK;
    self.reader->loaded = true;
    self.lines = self.reader->lines;
    self.rows_wanted = load->rows_wanted ? agb_table_rows(table) + load->rows_wanted : UINT64_MAX;
    if (status == AGB_OK)
        status = run(&self, column, err);
    release_workers(&self);
    return status;
}
