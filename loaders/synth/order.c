/* SPDX-License-Identifier: MIT */
/* Running over the rows with all workers, and bringing them into another order, in place: no second column is held.
 *
 * shuffled  Blocks that fit a cache are shuffled by themselves (Fisher and Yates), then merged pair by pair, each merge
 *           by coin flips: MergeShuffle (Bacher, Bodini, Hollender, Lumbroso: MergeShuffle: a very fast, parallel
 *           random permutation algorithm, 2015). Every order is equally likely, as far as the random words are random;
 *           memory is read in streams, so that 11 passes over 100 million rows cost less than one pass at random.
 * sorted    A radix sort from the highest differing bit down (McIlroy, Bostic, McIlroy: Engineering radix sort, 1993);
 *           the first pass runs alone, its 256 parts on all workers. */
#include "fill.h"

agb_status agb_synth_each(agb_synth_fill *fill, size_t tasks, agb_task_fn task, void *argument, agb_error *err)
{
    agb_status status = agb_pool_run(fill->load->pool, tasks, task, argument);
    if (status != AGB_OK)
        return agb_fail(err, status, "synth:%s: the worker pool refused to run (%s): load outside of its tasks",
                        agb_synth_kind_name(fill->spec), agb_status_text(status));
    return AGB_OK;
}

agb_status agb_synth_each_block(agb_synth_fill *fill, agb_task_fn task, void *argument, agb_error *err)
{
    size_t blocks = (size_t)((fill->rows + AGB_SYNTH_BLOCK_ROWS - 1) / AGB_SYNTH_BLOCK_ROWS);
    return agb_synth_each(fill, blocks, task, argument, err);
}

/* ---- Shuffling ---- */

typedef struct shuffle {
    agb_synth_fill *fill;
    uint64_t parts;    /* of this pass; a power of two */
} shuffle;

static uint64_t part_start(const shuffle *self, uint64_t part)
{
    return (uint64_t)((unsigned __int128)self->fill->spec->rows * part / self->parts);
}

static inline void swap(int64_t *a, int64_t *b)
{
    int64_t kept = *a;
    *a = *b;
    *b = kept;
}

/* Puts each of rows[from..n) at a random place among those before it and itself. */
static void insert_at_random(int64_t *rows, uint64_t from, uint64_t n, uint64_t *stream)
{
    for (uint64_t i = from; i < n; i++)
        swap(&rows[i], &rows[agb_synth_below(agb_synth_next(stream), i + 1)]);
}

static uint64_t stream_of(const shuffle *self, size_t part)
{
    return agb_synth_word(self->fill->spec->seed, AGB_SYNTH_SHUFFLE, self->parts + part);    /* as in a binary heap */
}

static void shuffle_part(void *argument, unsigned worker, size_t part)
{
    const shuffle *self = argument;
    (void)worker;
    uint64_t stream = stream_of(self, part), start = part_start(self, part);
    insert_at_random(self->fill->values + start, 0, part_start(self, part + 1) - start, &stream);
}

enum { COINS = 64 };    /* in one random word */

/* COINS steps of the merge, with no end in reach. A coin is exactly what a branch predictor cannot guess, so rows are
 * swapped with masks; and b stays in a register, because reading back what was just stored would be the longest chain
 * of the loop (shuffling 100 million rows on two cores took 5.6 s before, 0.8 s after). */
static void merge_steps(int64_t *rows, uint64_t i, uint64_t *second, uint64_t coins)
{
    uint64_t j = *second;
    int64_t b = rows[j];
    for (unsigned step = 0; step < COINS; step++, i++, coins >>= 1) {
        int64_t a = rows[i], next = rows[j + 1], mask = -(int64_t)(coins & 1), change = (a ^ b) & mask;
        rows[i] = a ^ change;
        rows[j] = b ^ change;
        b ^= (b ^ next) & mask;
        j += coins & 1;
    }
    *second = j;
}

/* rows[0..middle) and rows[middle..n) are shuffled; afterwards all are. A coin says from which side the next row comes,
 * until the side that it names is used up: rows[i..j) are what is left of the first, rows[j..n) of the second. */
static void merge_halves(int64_t *rows, uint64_t middle, uint64_t n, uint64_t *stream)
{
    uint64_t i = 0, j = middle;
    for (; j - i > COINS && n - j > COINS; i += COINS)
        merge_steps(rows, i, &j, agb_synth_next(stream));
    for (uint64_t coins = 0, left = 0;; coins >>= 1, left--) {
        if (left == 0) {
            coins = agb_synth_next(stream);
            left = COINS;
        }
        if (coins & 1 ? j == n : i == j)
            break;
        if (coins & 1)
            swap(&rows[i], &rows[j++]);
        i++;
    }
    insert_at_random(rows, i, n, stream);
}

static void merge_part(void *argument, unsigned worker, size_t part)
{
    const shuffle *self = argument;
    (void)worker;
    shuffle halves = {self->fill, self->parts * 2};
    uint64_t stream = stream_of(self, part), start = part_start(self, part), end = part_start(self, part + 1);
    merge_halves(self->fill->values + start, part_start(&halves, 2 * part + 1) - start, end - start, &stream);
}

agb_status agb_synth_shuffle(agb_synth_fill *fill, agb_error *err)
{
    shuffle self = {.fill = fill, .parts = 1};
    while (fill->spec->rows / self.parts > AGB_SYNTH_BLOCK_ROWS)
        self.parts *= 2;
    agb_status status = agb_synth_each(fill, (size_t)self.parts, shuffle_part, &self, err);
    while (status == AGB_OK && self.parts > 1) {
        self.parts /= 2;
        status = agb_synth_each(fill, (size_t)self.parts, merge_part, &self, err);
    }
    return status;
}

/* ---- Sorting ---- */

enum { DIGITS = 256, DIGIT_BITS = 8, FEW = 24 };

static void insertion_sort(int64_t *keys, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        int64_t key = keys[i];
        size_t j = i;
        for (; j > 0 && keys[j - 1] > key; j--)
            keys[j] = keys[j - 1];
        keys[j] = key;
    }
}

static inline unsigned digit_of(int64_t key, unsigned shift, unsigned mask)
{
    return (unsigned)(((uint64_t)key ^ (uint64_t)1 << 63) >> shift) & mask;
}

/* Parts the keys by the highest bits in which they differ; start[d]..start[d+1] are then those of digit d. false, and
 * nothing done, when all keys are equal. */
static bool part_by_digit(int64_t *keys, size_t n, size_t start[DIGITS + 1])
{
    uint64_t differing = 0;
    for (size_t i = 1; i < n; i++)
        differing |= (uint64_t)(keys[i] ^ keys[0]);
    if (differing == 0)
        return false;
    unsigned bits = 64 - (unsigned)__builtin_clzll(n), top = 64 - (unsigned)__builtin_clzll(differing);
    bits = bits < DIGIT_BITS ? bits : DIGIT_BITS;
    unsigned shift = top > bits ? top - bits : 0, mask = (1u << bits) - 1;

    size_t next[DIGITS] = {0};
    for (size_t i = 0; i < n; i++)
        next[digit_of(keys[i], shift, mask)]++;
    start[0] = 0;
    for (unsigned d = 0; d < DIGITS; d++) {
        start[d + 1] = start[d] + next[d];
        next[d] = start[d];
    }
    for (unsigned d = 0; d <= mask; d++) {
        while (next[d] < start[d + 1]) {    /* follow one cycle of keys, each to its part, until one belongs here */
            int64_t key = keys[next[d]];
            for (unsigned to = digit_of(key, shift, mask); to != d; to = digit_of(key, shift, mask))
                swap(&key, &keys[next[to]++]);
            keys[next[d]++] = key;
        }
    }
    return true;
}

void agb_synth_sort_keys(int64_t *keys, size_t n)
{
    size_t start[DIGITS + 1];
    if (n <= FEW) {
        insertion_sort(keys, n);
        return;
    }
    if (!part_by_digit(keys, n, start))
        return;
    for (unsigned d = 0; d < DIGITS; d++) {
        if (start[d + 1] - start[d] > 1)
            agb_synth_sort_keys(keys + start[d], start[d + 1] - start[d]);
    }
}

typedef struct sorting {
    int64_t *keys;
    size_t start[DIGITS + 1];
} sorting;

static void sort_part(void *argument, unsigned worker, size_t part)
{
    const sorting *self = argument;
    (void)worker;
    agb_synth_sort_keys(self->keys + self->start[part], self->start[part + 1] - self->start[part]);
}

agb_status agb_synth_sort(agb_synth_fill *fill, agb_error *err)
{
    sorting self = {.keys = fill->values};
    if (!part_by_digit(fill->values, (size_t)fill->spec->rows, self.start))
        return AGB_OK;
    return agb_synth_each(fill, DIGITS, sort_part, &self, err);
}
