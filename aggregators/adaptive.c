/* SPDX-License-Identifier: MIT */
/* adaptive: best, with a small table in front for as long as the rows show that it pays.
 *
 * Idea
 *   Three shapes of data want three treatments, and one column can have all three in turn. Runs of equal keys:
 *   collapse them. Few groups, or a few heavy ones among many: count them where they stand, in a table in L2, and
 *   partition only what it does not take. Many groups, none heavy: partition everything. So each batch is looked at.
 *   Where a sample shows that half of the rows repeat the one before, runs are collapsed. Else the rows meet the front
 *   table, and the share that it takes is at once the answer and the measurement: too little (without runs: below
 *   three fifths) and it is switched off, and tried again, empty, after a while; each time in vain, twice the while.
 *
 * Layout
 *     batch ---- runs? ------------------------------------> lists of best (packed_list_part.h)
 *          \---- front on?  [key|count][key|count] ... ----> what the front does not take
 *           \--- else --------------------------------------> all of it
 *     front       first come, first served, a quarter of L2; never probes, never evicts (see packed_table_part.h)
 *
 *   No row is lost when it changes its mind: the front's groups go to the lists as entries, like rows of that weight,
 *   and the parts add up what belongs together.
 *
 * Cost per row
 *   Taken by the front: 12 instructions and one line in L1 or L2. Not taken: those, and best's. Front off: best's.
 *
 * Where the slots should go
 *   As best: instructions. With few groups hardly anything else.
 *
 * Try
 *   aggbench run synth:zipf,rows=20M,groups=1M --aggregator naive,best,adaptive
 *   aggbench run synth:uniform,rows=20M --aggregator naive,best,adaptive --sweep groups=10,1000,100000,10000000
 *
 * Why three fifths: a row taken by the front saves its way through partition and tables, about three times the
 * front's instructions. If the front is as hot as L1 it pays from two fifths on; if its rows come from L2, from three
 * quarters. Between the two, either choice costs less than 15 %. Where rows repeat by chance, as those of few groups
 * do, the other choice is an entry for each run: the fewer rows start one, the less the front may miss, and at three
 * tenths it may miss nothing. These are ratios of work, not times of one machine; sizes come from the caches. Tried
 * and lost: a selection instead of the branch on an empty cell (7 to 20 % slower: in a table that stays, the branch is
 * foreseen). */
#include "note_part.h"
#include "packed_exchange_part.h"

enum { BLOCK_ROWS = 2048, FEW_ROWS = 4, FIRST_PAUSE = 16, LONGEST_PAUSE = 128 };

typedef struct front {             /* one a worker */
    linear_cell *cells;            /* count 0 = empty */
    uint64_t *missed;              /* BLOCK_ROWS keys */
    bool on;
    uint64_t rows, misses;         /* in the window under way */
    uint64_t starts;               /* of runs among them, by the samples */
    uint64_t pause_rows;           /* until the next try */
    uint64_t pause;                /* its length, in windows */
    uint64_t seen_runs, seen_front, seen_taken, seen_straight;    /* rows, for the note */
    char apart[64];                /* workers share no cache line */
} front;

typedef struct adaptive {
    agb_host *host;
    exchange exchange;
    unsigned log2_cells;
    uint64_t window_rows;          /* a verdict on the front needs so many */
    size_t fronts;                 /* as many as workers; 0 until they are there */
    front *front;
} adaptive;

/* ---- The front ---- */

/* Counts rows; keys whose cell belongs to another are written to `missed`; returns how many. */
PACKED_INLINE size_t front_count(linear_cell *cells, unsigned shift, agb_hash hash, const uint64_t *keys, size_t rows,
                                 uint64_t *missed)
{
    uint64_t *miss = missed;
#pragma GCC unroll 4
    for (size_t i = 0; i < rows; i++) {
        uint64_t key = keys[i];
        linear_cell *cell = &cells[agb_hash_word(hash, key) >> shift];
        if (packed_unlikely(cell->count == 0))
            cell->key = key;
        uint64_t ours = cell->key == key;
        cell->count += ours;
        *miss = key;
        miss += 1 - ours;
    }
    return (size_t)(miss - missed);
}

/* The front's groups become entries; it is empty then. Few rows become so many entries of one row, which do not make
 * the lists' other entries slower to count; more become an entry and a pair. */
static bool adaptive_drain(adaptive *self, unsigned worker)
{
    front *f = &self->front[worker];
    exchange_worker *w = &self->exchange.worker[worker];
    const packing *p = &self->exchange.packing;
    for (size_t i = 0; i < (size_t)1 << self->log2_cells; i++) {
        linear_cell cell = f->cells[i];
        uint64_t hash = agb_hash_word(p->hash, cell.key);
        bool pushed = cell.count <= FEW_ROWS || packed_push_many(&w->lists, &w->arena, p, hash, cell.count);
        for (uint64_t row = 0; pushed && cell.count <= FEW_ROWS && row < cell.count; row++)
            pushed = packed_push(&w->lists, w->lists.place, &w->arena, hash >> (64 - p->bits), hash << p->bits);
        if (!pushed)
            return false;
        f->cells[i].count = 0;
    }
    return true;
}

static bool adaptive_through_front(adaptive *self, unsigned worker, const agb_batch *batch)
{
    front *f = &self->front[worker];
    exchange_worker *w = &self->exchange.worker[worker];
    const packing *p = &self->exchange.packing;
    agb_hash usual = {~UINT64_C(0), p->hash.multiplier};    /* a constant fold is an instruction less */
    unsigned shift = 64 - self->log2_cells;
    for (size_t at = 0; at < batch->rows; at += BLOCK_ROWS) {
        size_t rows = batch->rows - at < BLOCK_ROWS ? batch->rows - at : BLOCK_ROWS;
        size_t misses = ~p->hash.fold == 0 ? front_count(f->cells, shift, usual, batch->keys + at, rows, f->missed)
                                           : front_count(f->cells, shift, p->hash, batch->keys + at, rows, f->missed);
        f->rows += rows;
        f->misses += misses;
        if (!packed_add_batch(&w->lists, &w->arena, p, &(agb_batch){.rows = misses, .keys = f->missed}))
            return false;
    }
    return true;
}

/* After a window: is the front worth its while? */
static void adaptive_judge(const adaptive *self, front *f)
{
    if (f->rows < self->window_rows)
        return;
    f->seen_front += f->rows;
    f->seen_taken += f->rows - f->misses;
    f->on = f->misses * 35 + f->rows * 6 < f->starts * 20;    /* misses < 4/7 (starts - 3/10), as shares of the rows */
    if (f->on) {
        f->pause = FIRST_PAUSE;
    } else {
        f->pause_rows = f->pause * self->window_rows;
        f->pause = f->pause < LONGEST_PAUSE ? f->pause * 2 : f->pause;
    }
    f->rows = f->misses = f->starts = 0;
}

/* ---- The report ---- */

static void adaptive_note(adaptive *self)
{
    front sum = {0};
    for (size_t i = 0; i < self->fronts; i++) {
        front *f = &self->front[i];
        sum.seen_runs += f->seen_runs;
        sum.seen_front += f->seen_front + f->rows;
        sum.seen_taken += f->seen_taken + f->rows - f->misses;
        sum.seen_straight += f->seen_straight;
    }
    uint64_t all = sum.seen_runs + sum.seen_front + sum.seen_straight;
    char text[256], *to = note_text(text, "rows collapsed as runs: ");
    to = note_percent(to, sum.seen_runs, all);
    to = note_text(to, "; through the front table: ");
    to = note_percent(to, sum.seen_front, all);
    to = note_text(to, ", which took ");
    to = note_percent(to, sum.seen_taken, sum.seen_front);
    to = note_text(to, " of them; straight to the parts: ");
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
    /* Half as many cells, of twice the size, as the parts' tables have slots: a quarter of L2. */
    self->log2_cells = log2_up(self->exchange.worker[0].tables.most_slots) - 1;
    self->window_rows = (uint64_t)4 << self->log2_cells;
    self->front = agb_alloc(host, config->workers * sizeof *self->front, AGB_ZEROED);
    if (!self->front)
        return AGB_ERR_MEMORY;
    self->fronts = config->workers;
    for (size_t i = 0; i < self->fronts; i++) {
        front *f = &self->front[i];
        f->cells = agb_alloc(host, sizeof *f->cells << self->log2_cells, AGB_ZEROED);
        f->missed = agb_alloc(host, BLOCK_ROWS * sizeof *f->missed, 0);
        if (!f->cells || !f->missed)
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
    bool runs = packed_runs_pay(starts);
    bool front_first = !batch->weights && starts > PACKED_SAMPLE / 2 && (f->on || f->pause_rows <= batch->rows);
    if (!front_first) {
        *(runs ? &f->seen_runs : &f->seen_straight) += batch->rows;
        f->pause_rows -= f->pause_rows < batch->rows ? f->pause_rows : batch->rows;
        return packed_add_batch(&w->lists, &w->arena, &self->exchange.packing, batch) ? AGB_OK : AGB_ERR_MEMORY;
    }
    if (!f->on && !adaptive_drain(self, worker))
        return AGB_ERR_MEMORY;
    f->on = true;
    if (!adaptive_through_front(self, worker, batch))
        return AGB_ERR_MEMORY;
    f->starts += batch->rows * starts / PACKED_SAMPLE;
    adaptive_judge(self, f);
    return AGB_OK;
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
        agb_release(self->host, f->missed, BLOCK_ROWS * sizeof *f->missed);
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
