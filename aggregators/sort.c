/* SPDX-License-Identifier: MIT */
/* sort: copy all keys, sort them, count the runs. Slow and obvious: the oracle that every other answer is compared with.
 * It shares neither hash nor table with the contestants.
 *
 * Idea
 *   In sorted order equal keys are neighbours. Least-significant-digit radix sort, eight bits at a time (Knuth, The Art
 *   of Computer Programming 3, 5.2.5); a digit that is the same in all keys needs no pass.
 *
 * Layout
 *     keys      k0 k1 k2 ...        weights (weighted runs only)   w0 w1 w2 ...       filled by consume
 *     others    the same again: each pass moves everything from one side to the other
 *
 * Cost per row
 *   Up to eight passes of one sequential load and one store to one of 256 places: no random access, but the memory is
 *   read and written eight times.
 *
 * Where the slots should go
 *   Bound by bandwidth and store traffic rather than by latency: retiring well above naive's, and yet slow.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator naive,sort
 *   aggbench run synth:sequential,rows=10M,groups=1000 --aggregator naive,sort      (two passes instead of eight) */
#include "aggregator.h"

enum { DIGITS = 8, DIGIT_VALUES = 256, LEAST_ROOM = 4096, EMIT_GROUPS = 1 << 16 };

typedef struct column {
    uint64_t *keys, *weights;    /* weights: NULL when rows count once */
} column;

typedef struct sort {
    agb_host *host;
    bool weighted;
    size_t rows, room;           /* filled; both columns have this room */
    column from, to;
    uint64_t histogram[DIGITS][DIGIT_VALUES];
} sort;

enum { COPY, SORT, COUNT };
static const char *const phases[] = {"copy", "sort", "count", NULL};

static bool sort_open_column(sort *self, column *c, size_t room)
{
    c->keys = agb_alloc(self->host, room * sizeof *c->keys, 0);
    if (self->weighted && c->keys)
        c->weights = agb_alloc(self->host, room * sizeof *c->weights, 0);
    return c->keys && (c->weights || !self->weighted);
}

static void sort_close_column(sort *self, column *c)
{
    agb_release(self->host, c->keys, self->room * sizeof *c->keys);
    agb_release(self->host, c->weights, self->room * sizeof *c->weights);
    *c = (column){0};
}

static void sort_copy(column to, size_t at, column from, size_t rows)
{
    for (size_t i = 0; i < rows; i++)
        to.keys[at + i] = from.keys[i];
    for (size_t i = 0; from.weights && i < rows; i++)
        to.weights[at + i] = from.weights[i];
}

/* Room for more rows. When the number of rows is known beforehand this happens once, in create. */
static agb_status sort_reserve(sort *self, size_t room)
{
    if (room <= self->room)
        return AGB_OK;
    if (room < 2 * self->room)
        room = 2 * self->room;
    column wider = {0};
    if (!sort_open_column(self, &wider, room)) {
        agb_release(self->host, wider.keys, room * sizeof *wider.keys);
        return AGB_ERR_MEMORY;
    }
    sort_copy(wider, 0, self->from, self->rows);
    sort_close_column(self, &self->from);
    self->from = wider;
    self->room = room;
    return AGB_OK;
}

static void sort_count_digits(sort *self)
{
    for (size_t i = 0; i < self->rows; i++)
        for (unsigned d = 0; d < DIGITS; d++)
            self->histogram[d][self->from.keys[i] >> (8 * d) & 0xff]++;
}

static bool sort_digit_is_constant(const sort *self, unsigned digit)
{
    return self->histogram[digit][self->from.keys[0] >> (8 * digit) & 0xff] == self->rows;
}

static void sort_by_digit(sort *self, unsigned digit)
{
    size_t place[DIGIT_VALUES], sum = 0;
    for (unsigned v = 0; v < DIGIT_VALUES; v++) {
        place[v] = sum;
        sum += self->histogram[digit][v];
    }
    for (size_t i = 0; i < self->rows; i++) {
        size_t at = place[self->from.keys[i] >> (8 * digit) & 0xff]++;
        self->to.keys[at] = self->from.keys[i];
        if (self->weighted)
            self->to.weights[at] = self->from.weights[i];
    }
    column sorted = self->to;
    self->to = self->from;
    self->from = sorted;
}

/* The length of the run of equal keys at `first`, in rows; *count is its weight. */
static size_t sort_run(const sort *self, size_t first, uint64_t *count)
{
    size_t end = first;
    *count = 0;
    while (end < self->rows && self->from.keys[end] == self->from.keys[first]) {
        *count += self->weighted ? self->from.weights[end] : 1;
        end++;
    }
    return end - first;
}

static agb_status sort_emit_runs(sort *self)
{
    for (size_t row = 0; row < self->rows;) {
        uint64_t *keys, *counts;
        agb_status status = agb_emit_begin(self->host, 0, EMIT_GROUPS, &keys, &counts);
        if (status != AGB_OK)
            return status;
        size_t groups = 0;
        for (; groups < EMIT_GROUPS && row < self->rows; groups++) {
            keys[groups] = self->from.keys[row];
            row += sort_run(self, row, &counts[groups]);
        }
        status = agb_emit_end(self->host, 0, groups);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

static agb_status sort_create(agb_host *host, const agb_config *config, void **out)
{
    sort *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->weighted = config->weighted;
    return sort_reserve(self, config->rows ? config->rows : LEAST_ROOM);
}

static agb_status sort_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    sort *self = state;
    agb_status status = sort_reserve(self, self->rows + batch->rows);
    if (status != AGB_OK)
        return status;
    sort_copy(self->from, self->rows, (column){(uint64_t *)batch->keys, (uint64_t *)batch->weights}, batch->rows);
    self->rows += batch->rows;
    return AGB_OK;
}

static agb_status sort_finish(void *state)
{
    sort *self = state;
    if (self->rows == 0)
        return AGB_OK;
    agb_phase(self->host, 0, SORT);
    if (!sort_open_column(self, &self->to, self->room))
        return AGB_ERR_MEMORY;
    sort_count_digits(self);
    for (unsigned digit = 0; digit < DIGITS; digit++)
        if (!sort_digit_is_constant(self, digit))
            sort_by_digit(self, digit);
    agb_phase(self->host, 0, COUNT);
    return sort_emit_runs(self);
}

static void sort_destroy(void *state)
{
    sort *self = state;
    sort_close_column(self, &self->from);
    sort_close_column(self, &self->to);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_sort = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "sort",
    .summary = "copy, sort, count the runs: the oracle",
    .prediction = "bound by bandwidth rather than latency: retiring above naive's, and yet slow",
    .phases = phases,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS,
    .create = sort_create,
    .consume = sort_consume,
    .finish = sort_finish,
    .destroy = sort_destroy,
};
