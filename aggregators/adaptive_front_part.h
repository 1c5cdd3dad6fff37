/* SPDX-License-Identifier: MIT */
/* Part of adaptive: the front table, and whether it is worth its while. Of words it is direct-mapped, of 16-byte cells:
 * first come, first served, no probes, nobody evicted. Pairs and strings have naive's table instead.
 *
 * Why it may miss what it may: a row that the front takes saves its way through partition and tables. Measured on one
 * Zen 4 core, it pays up to a fifth of misses where the groups fill L2 evenly, up to three tenths where few of them are
 * hot; runs have cheaper ways to go, and pay up to a fourteenth. At twice these shares it costs 10 to 30 %. Where rows
 * repeat by chance, as those of few groups do, the other choice is an entry for each run: the fewer rows start one, the
 * less the front may miss, and at three tenths it may miss nothing. These are ratios of work, not times of one machine;
 * sizes come from the caches. A trial ends as soon as it cannot be won: taken to their ends, trials in vain were what
 * made cells of many groups 10 to 15 % slower than best.
 *
 * Tried and lost: a selection instead of the branch on an empty cell (7 to 20 % slower: in a table that stays, the
 * branch is foreseen). */
#ifndef AGB_ADAPTIVE_FRONT_PART_H
#define AGB_ADAPTIVE_FRONT_PART_H

#include "packed_list_part.h"
#include "runs_part.h"
#include "wide_table_part.h"

enum { BLOCK_ROWS = 2048, MOST_RUNS = BLOCK_ROWS + 128, FIRST_PAUSE = 16, LONGEST_PAUSE = 128 };

/* A branch costs as much to mispredict as it saves so often. */
enum { FORESEEN = 32 };

typedef enum trial {               /* of an empty front */
    TRIAL_BEGINS,
    TRIAL_GOES_ON,                 /* after an eighth of its window */
    TRIAL_OVER
} trial;

typedef struct front {             /* one a worker */
    linear_cell *cells;            /* count 0 = empty */
    uint64_t *keys, *weights;      /* MOST_RUNS: of the runs in a block; of what is missed */
    bool foreseen;                 /* hardly any of the block before was missed */
    wide_table table;              /* pairs and strings have these three instead: */
    uint64_t entered;              /* rows or runs in the table */
    run_block runs;
    bool on;
    trial trial;
    uint64_t tried, missed;        /* rows, or collapsed runs, in the window under way */
    uint64_t pause_left;           /* rows or runs until the next trial */
    uint64_t pause;                /* its length, in windows */
    uint64_t seen_front, seen_runs, seen_straight;    /* rows, for the note */
    uint64_t seen_tried, seen_taken;                  /* rows and runs */
    char apart[64];                /* workers share no cache line */
} front;

/* ---- Counting words ---- */

/* Counts n keys, of one row each, or with `weights` of so many; those whose cell belongs to another are moved together
 * at `missed` and `missed_weights`, which may be the keys and weights themselves; returns how many. foreseen, a
 * constant: where hardly any key is missed, a branch on "is it ours?" takes a fifth less time than a selection. */
PACKED_INLINE size_t front_count(linear_cell *cells, unsigned shift, agb_hash hash, const uint64_t *keys,
                                 const uint64_t *weights, size_t n, uint64_t *missed, uint64_t *missed_weights,
                                 bool foreseen)
{
    size_t misses = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[i], weight = weights ? weights[i] : 1;
        linear_cell *cell = &cells[agb_hash_word(hash, key) >> shift];
        if (foreseen && !packed_unlikely(cell->key != key)) {
            cell->count += weight;
            continue;
        }
        if (packed_unlikely(cell->count == 0))
            cell->key = key;
        uint64_t ours = cell->key == key;
        cell->count += weight & -ours;
        missed[misses] = key;
        if (weights)
            missed_weights[misses] = weight;
        misses += 1 - ours;
    }
    return misses;
}

/* Where at most half of the rows start a run, the front gets runs instead of rows. */
static inline bool front_collapses(unsigned starts)
{
    return starts <= PACKED_SAMPLE / 2;
}

/* So many of PACKED_SAMPLE: a fourteenth of the runs; of the rows, five sixteenths of those beyond three tenths that
 * start a run. */
static inline unsigned front_may_miss(unsigned starts)
{
    return front_collapses(starts) ? PACKED_SAMPLE / 14 : (starts * 10 - PACKED_SAMPLE * 3) / 32;
}

PACKED_INLINE size_t front_count_as(front *f, unsigned shift, agb_hash hash, const uint64_t *keys,
                                    const uint64_t *weights, size_t n)
{
    return f->foreseen ? front_count(f->cells, shift, hash, keys, weights, n, f->keys, f->weights, true)
                       : front_count(f->cells, shift, hash, keys, weights, n, f->keys, f->weights, false);
}

/* The runs of equal keys from row *at on, at most MOST_RUNS of them, with their lengths; moves *at behind them. */
static inline size_t front_collapse(front *f, const uint64_t *keys, size_t rows, size_t *at)
{
    size_t runs = 0, start = *at, row = start + 1;
    for (; row + 64 <= rows && runs < BLOCK_ROWS; row += 64) {
        for (uint64_t starts = packed_starts(keys + row); starts; starts &= starts - 1) {
            size_t end = row + (size_t)__builtin_ctzll(starts);
            f->keys[runs] = keys[start];
            f->weights[runs++] = end - start;
            start = end;
        }
    }
    for (; row < rows && row + 64 > rows && runs < BLOCK_ROWS; row++) {
        if (keys[row] == keys[row - 1])
            continue;
        f->keys[runs] = keys[start];
        f->weights[runs++] = row - start;
        start = row;
    }
    f->keys[runs] = keys[start];
    f->weights[runs++] = row - start;
    *at = row;
    return runs;
}

/* ---- The judgement ---- */

/* How many cells are taken, by a sixteenth of them. */
static inline uint64_t front_claimed(const front *f, unsigned log2_cells)
{
    size_t cells = (size_t)1 << log2_cells, some = cells < 1024 ? cells : cells / 16;
    uint64_t claimed = 0;
    for (size_t i = 0; i < some; i++)
        claimed += f->cells[i].count != 0;
    return claimed * (cells / some);
}

/* At the end of a window, or as soon as its outcome is known. */
static inline void front_decide(front *f, uint64_t window, bool pays)
{
    f->seen_tried += f->tried;
    f->seen_taken += f->tried - f->missed;
    f->tried = f->missed = 0;
    f->trial = TRIAL_OVER;
    f->on = pays;
    if (pays) {
        f->pause = FIRST_PAUSE;
    } else {
        f->pause_left = f->pause * window;
        f->pause = f->pause < LONGEST_PAUSE ? f->pause * 2 : f->pause;
    }
}

/* Is the front worth its while? It is told after a window, or as soon as it can only be no. May_miss: of PACKED_SAMPLE
 * rows or runs. In the first window, those that find an empty cell tell nothing; and where at its beginning more are
 * missed than found again, there are far too many groups. */
static inline void front_judge(front *f, unsigned log2_cells, uint64_t window, uint64_t may_miss)
{
    bool early = f->trial == TRIAL_BEGINS && f->tried >= window / 8;
    bool lost = f->missed * PACKED_SAMPLE >= window * may_miss;
    if (f->tried < window && !early && !lost)
        return;
    uint64_t told = f->tried - (f->trial == TRIAL_OVER || lost ? 0 : front_claimed(f, log2_cells));
    if (early && f->tried < window && f->missed * 2 <= told) {
        f->trial = TRIAL_GOES_ON;
        return;
    }
    front_decide(f, window, !lost && f->missed * PACKED_SAMPLE < told * may_miss);
}

/* ---- Its memory ---- */

/* false: no memory; front_close is due all the same. */
static inline bool front_open_words(front *f, agb_host *host, unsigned log2_cells)
{
    f->cells = agb_alloc(host, sizeof *f->cells << log2_cells, AGB_ZEROED);
    f->keys = agb_alloc(host, MOST_RUNS * sizeof *f->keys, 0);
    f->weights = agb_alloc(host, MOST_RUNS * sizeof *f->weights, 0);
    return f->cells && f->keys && f->weights;
}

static inline void front_close(front *f, agb_host *host, unsigned log2_cells)
{
    agb_release(host, f->cells, sizeof *f->cells << log2_cells);
    agb_release(host, f->keys, MOST_RUNS * sizeof *f->keys);
    agb_release(host, f->weights, MOST_RUNS * sizeof *f->weights);
    wide_table_close(&f->table);
}

#endif
