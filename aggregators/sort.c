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
 *     Pairs have a second column of keys and eight more digits; strings are sorted in place (sort_strings_part.h).
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
#include "sort_strings_part.h"

enum { WORD_DIGITS = 8, DIGITS = 2 * WORD_DIGITS, DIGIT_VALUES = 256, LEAST_ROOM = 4096, EMIT_GROUPS = 1 << 16 };

typedef struct column {
    uint64_t *keys, *seconds, *weights;    /* seconds: of pairs, else NULL; weights: NULL when rows count once */
} column;

typedef struct sort {
    agb_host *host;
    agb_key_kind kind;
    bool weighted;
    size_t rows, room;           /* filled; both columns have this room */
    column from, to;
    string_sort strings;         /* instead of all that, when the keys are strings */
    uint64_t histogram[DIGITS][DIGIT_VALUES];
} sort;

enum { COPY, SORT, COUNT };
static const char *const phases[] = {"copy", "sort", "count", NULL};

static bool sort_open_column(sort *self, column *c, size_t room)
{
    size_t bytes = room * sizeof *c->keys;
    bool pairs = self->kind == AGB_KEYS_PAIR;
    c->keys = agb_alloc(self->host, bytes, 0);
    c->seconds = pairs && c->keys ? agb_alloc(self->host, bytes, 0) : NULL;
    c->weights = self->weighted && c->keys ? agb_alloc(self->host, bytes, 0) : NULL;
    return c->keys && (c->seconds || !pairs) && (c->weights || !self->weighted);
}

static void sort_close_column(sort *self, column *c, size_t room)
{
    agb_release(self->host, c->keys, room * sizeof *c->keys);
    agb_release(self->host, c->seconds, room * sizeof *c->seconds);
    agb_release(self->host, c->weights, room * sizeof *c->weights);
    *c = (column){0};
}

/* n values to `to`, which may be NULL; `step` words from one to the next. */
static inline void sort_copy(uint64_t *to, const uint64_t *from, size_t n, size_t step)
{
    for (size_t i = 0; to && i < n; i++)
        to[i] = from[i * step];
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
        sort_close_column(self, &wider, room);
        return AGB_ERR_MEMORY;
    }
    sort_copy(wider.keys, self->from.keys, self->rows, 1);
    sort_copy(wider.seconds, self->from.seconds, self->rows, 1);
    sort_copy(wider.weights, self->from.weights, self->rows, 1);
    sort_close_column(self, &self->from, self->room);
    self->from = wider;
    self->room = room;
    return AGB_OK;
}

/* The word of a key that a digit is in. */
static inline const uint64_t *sort_words(const sort *self, unsigned digit)
{
    return digit < WORD_DIGITS ? self->from.keys : self->from.seconds;
}

static inline unsigned sort_digit(const uint64_t *words, size_t row, unsigned digit)
{
    return words[row] >> (8 * (digit % WORD_DIGITS)) & 0xff;
}

static void sort_count_digits(sort *self, unsigned first)
{
    const uint64_t *words = sort_words(self, first);
    for (size_t i = 0; i < self->rows; i++)
        for (unsigned d = first; d < first + WORD_DIGITS; d++)
            self->histogram[d][sort_digit(words, i, d)]++;
}

static bool sort_digit_is_constant(const sort *self, unsigned digit)
{
    return self->histogram[digit][sort_digit(sort_words(self, digit), 0, digit)] == self->rows;
}

/* `pairs` and `weighted` are constants, so that a plain word is moved by one load and one store. */
static inline void sort_move(sort *self, unsigned digit, bool pairs, bool weighted)
{
    size_t place[DIGIT_VALUES], sum = 0;
    const uint64_t *words = sort_words(self, digit);
    column from = self->from, to = self->to;
    for (unsigned v = 0; v < DIGIT_VALUES; v++) {
        place[v] = sum;
        sum += self->histogram[digit][v];
    }
    for (size_t i = 0; i < self->rows; i++) {
        size_t at = place[sort_digit(words, i, digit)]++;
        to.keys[at] = from.keys[i];
        if (pairs)
            to.seconds[at] = from.seconds[i];
        if (weighted)
            to.weights[at] = from.weights[i];
    }
    self->from = to;
    self->to = from;
}

static void sort_by_digit(sort *self, unsigned digit)
{
    if (self->kind == AGB_KEYS_PAIR && self->weighted)
        sort_move(self, digit, true, true);
    else if (self->kind == AGB_KEYS_PAIR)
        sort_move(self, digit, true, false);
    else if (self->weighted)
        sort_move(self, digit, false, true);
    else
        sort_move(self, digit, false, false);
}

static bool sort_is_same(const column *c, size_t a, size_t b)
{
    return c->keys[a] == c->keys[b] && (!c->seconds || c->seconds[a] == c->seconds[b]);
}

/* The length of the run of equal keys at `first`, in rows; *count is its weight. */
static size_t sort_run(const sort *self, size_t first, uint64_t *count)
{
    size_t end = first;
    *count = 0;
    while (end < self->rows && sort_is_same(&self->from, end, first)) {
        *count += self->weighted ? self->from.weights[end] : 1;
        end++;
    }
    return end - first;
}

static agb_status sort_emit_runs(sort *self)
{
    bool pairs = self->kind == AGB_KEYS_PAIR;
    for (size_t row = 0; row < self->rows;) {
        uint64_t *keys, *counts;
        agb_status status = agb_emit_begin(self->host, 0, EMIT_GROUPS, &keys, &counts);
        if (status != AGB_OK)
            return status;
        size_t groups = 0;
        for (; groups < EMIT_GROUPS && row < self->rows; groups++) {
            *keys++ = self->from.keys[row];
            if (pairs)
                *keys++ = self->from.seconds[row];
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
    self->kind = config->kind;
    self->weighted = config->weighted;
    self->strings.host = host;
    size_t room = config->rows ? config->rows : LEAST_ROOM;
    if (self->kind == AGB_KEYS_BYTES)
        return string_sort_reserve(&self->strings, room) ? AGB_OK : AGB_ERR_MEMORY;
    return sort_reserve(self, room);
}

static agb_status sort_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    sort *self = state;
    if (self->kind == AGB_KEYS_BYTES)
        return string_sort_copy(&self->strings, batch);
    agb_status status = sort_reserve(self, self->rows + batch->rows);
    if (status != AGB_OK)
        return status;
    const column *to = &self->from;
    if (to->seconds) {
        sort_copy(to->keys + self->rows, batch->keys, batch->rows, 2);
        sort_copy(to->seconds + self->rows, batch->keys + 1, batch->rows, 2);
    } else {
        sort_copy(to->keys + self->rows, batch->keys, batch->rows, 1);
    }
    if (to->weights)
        sort_copy(to->weights + self->rows, batch->weights, batch->rows, 1);
    self->rows += batch->rows;
    return AGB_OK;
}

static agb_status sort_finish_strings(sort *self)
{
    agb_phase(self->host, 0, SORT);
    string_sort_run(&self->strings);
    agb_phase(self->host, 0, COUNT);
    return string_sort_emit(&self->strings);
}

static agb_status sort_finish(void *state)
{
    sort *self = state;
    if (self->kind == AGB_KEYS_BYTES)
        return sort_finish_strings(self);
    if (self->rows == 0)
        return AGB_OK;
    unsigned digits = self->kind == AGB_KEYS_PAIR ? DIGITS : WORD_DIGITS;
    agb_phase(self->host, 0, SORT);
    if (!sort_open_column(self, &self->to, self->room))
        return AGB_ERR_MEMORY;
    for (unsigned first = 0; first < digits; first += WORD_DIGITS)
        sort_count_digits(self, first);
    for (unsigned digit = 0; digit < digits; digit++)
        if (!sort_digit_is_constant(self, digit))
            sort_by_digit(self, digit);
    agb_phase(self->host, 0, COUNT);
    return sort_emit_runs(self);
}

static void sort_destroy(void *state)
{
    sort *self = state;
    sort_close_column(self, &self->from, self->room);
    sort_close_column(self, &self->to, self->room);
    string_sort_close(&self->strings);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_sort = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "sort",
    .summary = "copy, sort, count the runs: the oracle",
    .prediction = "bound by bandwidth rather than latency: retiring above naive's, and yet slow",
    .phases = phases,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = sort_create,
    .consume = sort_consume,
    .finish = sort_finish,
    .destroy = sort_destroy,
};
