/* SPDX-License-Identifier: MIT */
/* adaptive: best, with a small table in front for as long as the rows show that it pays.
 *
 * Idea
 *   Three shapes of data want three treatments, and one column can have all three in turn. Runs of equal keys:
 *   collapse them. Few groups, or a few heavy ones among many: count them where they stand, in a table in L2, and
 *   partition only what it does not take. Many groups, none heavy: partition everything. So each batch is looked at.
 *   Rows meet the front table, or, where a sample shows that half of them repeat the one before, collapsed runs do. The
 *   share that it takes is at once the answer and the measurement: too little, and it is switched off, and tried
 *   again, empty, after a while; each time in vain, twice the while.
 *
 * Layout
 *     batch ---- front on?  rows or runs -> [key|count][key|count] ... -> what the front does not take -> lists of best
 *          \---- else ---------------------------------------> all of it, as best does -> (packed_list_part.h)
 *     front      first come, first served, half of L2; never probes, never evicts (see packed_table_part.h)
 *
 *   No row is lost when it changes its mind: the front's groups go to the lists as entries, like rows of that weight,
 *   and the parts add up what belongs together.
 *
 * Cost per row
 *   Taken by the front: about 12 instructions, one line in L1 or L2. Not taken: those, and best's. Front off: best's.
 *
 * Where the slots should go
 *   As best: instructions. With few groups hardly anything else.
 *
 * Try
 *   aggbench run synth:zipf,rows=20M,groups=1M --aggregator naive,best,adaptive
 *   aggbench run synth:uniform,rows=20M --aggregator naive,best,adaptive --sweep groups=10,1000,100000,10000000
 *
 * Where it stands: its time over that of the best fixed strategy in the cell, whose initial follows (best, preagg,
 * runs, preFetch); medians of 5 to 15 pairs, 10 million rows, one Zen 4 core of a virtual machine (1 MiB of L2):
 *     groups       10      100     1000     10^4     10^5     10^6     10^7     10^8, 100 million rows
 *     uniform   0.86 p   0.85 p   0.87 p   0.87 b   1.06 b   1.04 b   1.05 b   0.99 b
 *     zipf 1.0  0.87 p   0.85 p   0.89 p   0.89 p   0.89 f   1.08 b   1.05 b   1.02 b
 *     zipf 1.2  0.89 p   0.86 p   0.86 p   0.84 p   0.74 f   0.65 f   0.62 b   0.50 b
 *     hits      0.88 b   0.69 b   0.72 b   1.07 b   1.08 b   1.06 b   1.03 b   0.99 b
 *     sorted    1.00 b   0.99 b   0.96 b   1.10 b   1.06 b   1.02 b   1.03 b   1.00 b
 *     giant     0.75 r   0.69 r   0.68 b   1.02 b   1.06 b   1.04 b   1.01 b (100 million rows)
 * by `aggbench matrix --distributions uniform,zipf1.0,zipf1.2,hits,sorted,giant --rows 10M --threads 1 --pages huge
 * --aggregator adaptive,best,preagg,runs` (10^5 on: adaptive,best,prefetch), after two repetitions of ten strategies
 * had shown who is near. With 100 million rows: of adaptive and best the fastest of 3 to 5, as other work ran beside.
 * Giant of 10^8 groups needs 10^9 rows.
 *
 * Why it may miss what it may: a row that the front takes saves its way through partition and tables. Measured on that
 * core, it pays up to a fifth of misses where the groups fill L2 evenly, up to three tenths where few of them are hot;
 * runs have cheaper ways to go, and pay up to a fourteenth. At twice these shares it costs 10 to 30 %. Where rows
 * repeat by chance, as those of few groups do, the other choice is an entry for each run: the fewer rows start one, the
 * less the front may miss, and at three tenths it may miss nothing. These are ratios of work, not times of one machine;
 * sizes come from the caches. A trial ends as soon as it cannot be won: taken to their ends, trials in vain were what
 * made cells of many groups 10 to 15 % slower than best.
 *
 * Tried and lost: a selection instead of the branch on an empty cell (7 to 20 % slower: in a table that stays, the
 * branch is foreseen). Runs past the front and always to the lists: 1.3 to 1.45 times the time with up to 1000 groups
 * in hits order, 1.16 times that of runs with one giant group, whose entries wait for each other in one slot. */
#include "note_part.h"
#include "packed_exchange_part.h"

enum { BLOCK_ROWS = 2048, MOST_RUNS = BLOCK_ROWS + 128, FEW_ROWS = 4, FIRST_PAUSE = 16, LONGEST_PAUSE = 128 };

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
    bool on;
    trial trial;
    uint64_t tried, missed;        /* rows, or collapsed runs, in the window under way */
    uint64_t pause_left;           /* rows or runs until the next trial */
    uint64_t pause;                /* its length, in windows */
    uint64_t seen_front, seen_runs, seen_straight;    /* rows, for the note */
    uint64_t seen_tried, seen_taken;                  /* rows and runs */
    char apart[64];                /* workers share no cache line */
} front;

typedef struct adaptive {
    agb_host *host;
    exchange exchange;
    unsigned log2_cells;
    uint64_t window;               /* a verdict on the front needs so many rows or runs */
    size_t fronts;                 /* as many as workers; 0 until they are there */
    front *front;
} adaptive;

/* ---- The front ---- */

/* Counts n keys, of one row each, or with `weights` of so many; those whose cell belongs to another are moved together
 * at `missed` and `missed_weights`, which may be the keys and weights themselves; returns how many. */
PACKED_INLINE size_t front_count(linear_cell *cells, unsigned shift, agb_hash hash, const uint64_t *keys,
                                 const uint64_t *weights, size_t n, uint64_t *missed, uint64_t *missed_weights)
{
    size_t misses = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[i], weight = weights ? weights[i] : 1;
        linear_cell *cell = &cells[agb_hash_word(hash, key) >> shift];
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

/* The same where hardly any key is missed, and the branch "is it ours?" is foreseen: a fifth less time. */
PACKED_INLINE size_t front_count_ours(linear_cell *cells, unsigned shift, agb_hash hash, const uint64_t *keys,
                                      const uint64_t *weights, size_t n, uint64_t *missed, uint64_t *missed_weights)
{
    size_t misses = 0;
#pragma GCC unroll 4
    for (size_t i = 0; i < n; i++) {
        uint64_t key = keys[i], weight = weights ? weights[i] : 1;
        linear_cell *cell = &cells[agb_hash_word(hash, key) >> shift];
        if (packed_unlikely(cell->key != key)) {
            if (cell->count) {
                missed[misses] = key;
                if (weights)
                    missed_weights[misses] = weight;
                misses++;
                continue;
            }
            cell->key = key;
        }
        cell->count += weight;
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
    return f->foreseen ? front_count_ours(f->cells, shift, hash, keys, weights, n, f->keys, f->weights)
                       : front_count(f->cells, shift, hash, keys, weights, n, f->keys, f->weights);
}

/* The runs of equal keys from row *at on, at most MOST_RUNS of them, with their lengths; moves *at behind them. */
static size_t front_collapse(front *f, const uint64_t *keys, size_t rows, size_t *at)
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

/* The rows of a group that leaves the front, as an entry that is counted, or, if the lists have none such yet: few rows
 * as so many entries of one row, which do not make the others slower to count; more as an entry and a pair. */
static bool adaptive_push(const adaptive *self, exchange_worker *w, uint64_t hash, uint64_t rows)
{
    const packing *p = &self->exchange.packing;
    if (w->lists.counted)
        return packed_add(&w->lists, w->lists.place, &w->arena, p, hash, rows);
    if (rows > FEW_ROWS)
        return packed_push_many(&w->lists, &w->arena, p, hash, rows);
    for (; rows > 0; rows--)
        if (!packed_push(&w->lists, w->lists.place, &w->arena, hash >> (64 - p->bits), hash << p->bits))
            return false;
    return true;
}

/* The front is empty then, and on trial. */
static bool adaptive_drain(adaptive *self, unsigned worker)
{
    front *f = &self->front[worker];
    exchange_worker *w = &self->exchange.worker[worker];
    for (size_t i = 0; i < (size_t)1 << self->log2_cells; i++) {
        linear_cell *cell = &f->cells[i];
        uint64_t hash = agb_hash_word(self->exchange.packing.hash, cell->key);
        if (cell->count > 0 && !adaptive_push(self, w, hash, cell->count))
            return false;
        cell->count = 0;
    }
    f->on = true;
    f->trial = TRIAL_BEGINS;
    return true;
}

/* Counts n keys, with weights or none, and sends on what the front does not take. */
static bool adaptive_count(adaptive *self, unsigned worker, const uint64_t *keys, const uint64_t *weights, size_t n)
{
    front *f = &self->front[worker];
    exchange_worker *w = &self->exchange.worker[worker];
    const packing *p = &self->exchange.packing;
    agb_hash usual = {~UINT64_C(0), p->hash.multiplier};    /* a constant fold is an instruction less */
    unsigned shift = 64 - self->log2_cells;
    size_t misses = ~p->hash.fold != 0 ? front_count_as(f, shift, p->hash, keys, weights, n)
                    : weights          ? front_count_as(f, shift, usual, keys, weights, n)
                                       : front_count_as(f, shift, usual, keys, NULL, n);
    f->foreseen = misses * FORESEEN < n;
    f->tried += n;
    f->missed += misses;
    agb_batch rest = {.rows = misses, .keys = f->keys, .weights = weights ? f->weights : NULL};
    return misses == 0 || packed_add_batch(&w->lists, &w->arena, p, &rest);
}

/* How many cells are taken, by a sixteenth of them. */
static uint64_t front_claimed(const front *f, unsigned log2_cells)
{
    size_t cells = (size_t)1 << log2_cells, some = cells < 1024 ? cells : cells / 16;
    uint64_t claimed = 0;
    for (size_t i = 0; i < some; i++)
        claimed += f->cells[i].count != 0;
    return claimed * (cells / some);
}

/* Is the front worth its while? It is told after a window, or as soon as it can only be no. May_miss: of PACKED_SAMPLE
 * rows or runs. In the first window, those that find an empty cell tell nothing; and where at its beginning more are
 * missed than found again, there are far too many groups. */
static void adaptive_judge(const adaptive *self, front *f, uint64_t may_miss)
{
    bool early = f->trial == TRIAL_BEGINS && f->tried >= self->window / 8;
    bool lost = f->missed * PACKED_SAMPLE >= self->window * may_miss;
    if (f->tried < self->window && !early && !lost)
        return;
    uint64_t told = f->tried - (f->trial == TRIAL_OVER || lost ? 0 : front_claimed(f, self->log2_cells));
    if (early && f->tried < self->window && f->missed * 2 <= told) {
        f->trial = TRIAL_GOES_ON;
        return;
    }
    f->seen_tried += f->tried;
    f->seen_taken += f->tried - f->missed;
    f->on = !lost && f->missed * PACKED_SAMPLE < told * may_miss;
    f->trial = TRIAL_OVER;
    if (f->on) {
        f->pause = FIRST_PAUSE;
    } else {
        f->pause_left = f->pause * self->window;
        f->pause = f->pause < LONGEST_PAUSE ? f->pause * 2 : f->pause;
    }
    f->tried = f->missed = 0;
}

/* From row *at on, which moves, until the batch ends or the front is switched off. */
static bool adaptive_through_front(adaptive *self, unsigned worker, const agb_batch *batch, unsigned starts, size_t *at)
{
    front *f = &self->front[worker];
    bool collapse = front_collapses(starts);
    uint64_t may_miss = front_may_miss(starts);
    while (f->on && *at < batch->rows) {
        size_t n = batch->rows - *at < BLOCK_ROWS ? batch->rows - *at : BLOCK_ROWS;
        const uint64_t *keys = collapse ? f->keys : batch->keys + *at;
        if (collapse)
            n = front_collapse(f, batch->keys, batch->rows, at);
        else
            *at += n;
        if (!adaptive_count(self, worker, keys, collapse ? f->weights : NULL, n))
            return false;
        adaptive_judge(self, f, may_miss);
    }
    return true;
}

/* ---- The report ---- */

static void adaptive_note(adaptive *self)
{
    front sum = {0};
    for (size_t i = 0; i < self->fronts; i++) {
        front *f = &self->front[i];
        sum.seen_front += f->seen_front;
        sum.seen_runs += f->seen_runs;
        sum.seen_tried += f->seen_tried + f->tried;
        sum.seen_taken += f->seen_taken + f->tried - f->missed;
        sum.seen_straight += f->seen_straight;
    }
    uint64_t all = sum.seen_front + sum.seen_straight;
    char text[256], *to = note_text(text, "rows collapsed as runs: ");
    to = note_percent(to, sum.seen_runs, all);
    to = note_text(to, "; through the front table: ");
    to = note_percent(to, sum.seen_front, all);
    to = note_text(to, ", which took ");
    to = note_percent(to, sum.seen_taken, sum.seen_tried);
    to = note_text(to, " of what came; straight to the parts: ");
    note_percent(to, sum.seen_straight, all);
    agb_note(self->host, text);
}

/* ---- The contract ---- */

static agb_status adaptive_create(agb_host *host, const agb_config *config, void **out)
{
    adaptive *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    agb_status status = exchange_open(&self->exchange, host, config, 0, STANDARD_OVERSIZE);
    if (status != AGB_OK)
        return status;
    /* Half as many cells, of twice the size, as the parts' tables have slots: half of L2. */
    self->log2_cells = log2_up(self->exchange.worker[0].tables.most_slots) - 1;
    self->window = (uint64_t)4 << self->log2_cells;
    self->front = agb_alloc(host, config->workers * sizeof *self->front, AGB_ZEROED);
    if (!self->front)
        return AGB_ERR_MEMORY;
    self->fronts = config->workers;
    for (size_t i = 0; i < self->fronts; i++) {
        front *f = &self->front[i];
        f->cells = agb_alloc(host, sizeof *f->cells << self->log2_cells, AGB_ZEROED);
        f->keys = agb_alloc(host, MOST_RUNS * sizeof *f->keys, 0);
        f->weights = agb_alloc(host, MOST_RUNS * sizeof *f->weights, 0);
        if (!f->cells || !f->keys || !f->weights)
            return AGB_ERR_MEMORY;
        f->on = true;
        f->pause = FIRST_PAUSE;
    }
    return AGB_OK;
}

static agb_status adaptive_consume(void *state, unsigned worker, const agb_batch *batch)
{
    adaptive *self = state;
    front *f = &self->front[worker];
    exchange_worker *w = &self->exchange.worker[worker];
    unsigned starts = packed_sample_starts(batch->keys, batch->rows);
    size_t at = 0;
    if (!batch->weights && (f->on || f->pause_left == 0)) {
        if (!f->on && !adaptive_drain(self, worker))
            return AGB_ERR_MEMORY;
        if (!adaptive_through_front(self, worker, batch, starts, &at))
            return AGB_ERR_MEMORY;
        f->seen_front += at;
        f->seen_runs += front_collapses(starts) ? at : 0;
    }
    agb_batch rest = *batch;
    rest.rows -= at;
    rest.keys += at;
    f->seen_straight += rest.rows;
    f->seen_runs += !batch->weights && packed_runs_pay(starts) ? rest.rows : 0;
    uint64_t runs = rest.rows * starts / PACKED_SAMPLE;
    f->pause_left -= f->pause_left < runs ? f->pause_left : runs;
    return packed_add_batch(&w->lists, &w->arena, &self->exchange.packing, &rest) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status adaptive_finish(void *state)
{
    adaptive *self = state;
    for (unsigned i = 0; i < self->fronts; i++)
        if (!adaptive_drain(self, i))
            return AGB_ERR_MEMORY;
    adaptive_note(self);
    return exchange_finish(&self->exchange);
}

static void adaptive_destroy(void *state)
{
    adaptive *self = state;
    for (size_t i = 0; i < self->fronts; i++) {
        front *f = &self->front[i];
        agb_release(self->host, f->cells, sizeof *f->cells << self->log2_cells);
        agb_release(self->host, f->keys, MOST_RUNS * sizeof *f->keys);
        agb_release(self->host, f->weights, MOST_RUNS * sizeof *f->weights);
    }
    agb_release(self->host, self->front, self->fronts * sizeof *self->front);
    exchange_close(&self->exchange);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_adaptive = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "adaptive",
    .summary = "best, with a table in front of it for as long as the rows show that it pays",
    .prediction = "retiring above 50 %: few groups stay in the caches, many are partitioned as by best",
    .phases = exchange_phases,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = adaptive_create,
    .consume = adaptive_consume,
    .finish = adaptive_finish,
    .destroy = adaptive_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 7e6},
};
