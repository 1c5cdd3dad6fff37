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
 *   Pairs and strings go the same ways: runs are collapsed first, the front is naive's table, which grows to twice L2
 *   and then takes nobody in, and behind it are radix's parts.
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
 * foreseen).
 *
 * Strings of 35 bytes, 3 million rows, one Zen 4 core, behind the best fixed strategy: 30,000 groups 1.06, 1 million
 * 1.18 (runs of three to four: 0.65), 1000 groups 1.3, as preagg's front has no probes. A full front that took 70 %
 * lost 14 % to radix, so here it must take three quarters. */
#include "note_part.h"
#include "packed_exchange_part.h"
#include "partitions_part.h"
#include "runs_part.h"

enum { BLOCK_ROWS = 2048, FEW_ROWS = 4, FIRST_PAUSE = 16, LONGEST_PAUSE = 128, SAMPLE_ROWS = 64 };

typedef struct front {             /* one a worker */
    linear_cell *cells;            /* count 0 = empty */
    uint64_t *missed;              /* BLOCK_ROWS keys */
    wide_table table;              /* pairs and strings have these two instead */
    run_block runs;
    bool on;
    uint64_t rows, misses;         /* in the window under way */
    uint64_t starts;               /* of runs among them, by the samples */
    uint64_t pause_rows;           /* until the next try */
    uint64_t pause;                /* its length, in windows */
    uint64_t seen_runs, seen_front, seen_straight;    /* rows, for the note */
    uint64_t seen_offered, seen_taken;                /* rows, or runs of pairs and strings */
    char apart[64];                /* workers share no cache line */
} front;

typedef struct adaptive {
    agb_host *host;
    exchange exchange;             /* of words */
    partitions parts;              /* of pairs and strings */
    agb_key_kind kind;
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
static agb_status adaptive_drain(adaptive *self, unsigned worker)
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
            return AGB_ERR_MEMORY;
        f->cells[i].count = 0;
    }
    return AGB_OK;
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

/* At the end of a window. */
static void adaptive_judge(const adaptive *self, front *f, bool pays)
{
    f->seen_offered += f->rows;
    f->seen_taken += f->rows - f->misses;
    f->on = pays;
    if (f->on) {
        f->pause = FIRST_PAUSE;
    } else {
        f->pause_rows = f->pause * self->window_rows;
        f->pause = f->pause < LONGEST_PAUSE ? f->pause * 2 : f->pause;
    }
    f->rows = f->misses = f->starts = 0;
}

/* ---- Pairs and strings: the front is naive's table, grown to twice L2; then who has no cell goes on to a part ---- */

PER_KIND agb_status adaptive_through_full_table(adaptive *self, front *f, writer *w, const agb_batch *block,
                                                agb_key_kind kind)
{
    const partitions *p = &self->parts;
    uint64_t ahead[HASHED_ROWS];
    f->rows += block->rows;
    for (size_t i = 0; i < block->rows; i++) {
        agb_key key = batch_key(block, i, kind);
        uint64_t hash = batch_hash(p->host, p->hash, block, i, ahead, kind);
        uint64_t weight = block->weights ? block->weights[i] : 1;
        wide_cell *cell = wide_table_find(&f->table, hash, key, kind);
        if (cell->count) {
            cell->count += weight;
            continue;
        }
        f->misses++;
        if (!row_push(&w->store, &w->far, &w->place[hash >> (64 - p->bits)], key, hash, weight, kind, true))
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

/* Only a full table is judged: as long as there is room, every row is taken. */
PER_KIND agb_status adaptive_through_table(adaptive *self, front *f, writer *w, const agb_batch *block,
                                           agb_key_kind kind)
{
    wide_table *t = &f->table;
    while (t->limit - t->groups < block->rows && (t->mask + 1) >> self->log2_cells == 0)
        if (!wide_table_grow(t))
            return AGB_ERR_MEMORY;
    if (t->limit - t->groups < block->rows)
        return adaptive_through_full_table(self, f, w, block, kind);
    f->seen_offered += block->rows;
    f->seen_taken += block->rows;
    return wide_table_count_kind(t, block, block->rows, false, kind);
}

/* The table's groups become rows of their parts; it is empty then. */
PER_KIND agb_status adaptive_empty_table(adaptive *self, unsigned worker, agb_key_kind kind)
{
    const partitions *p = &self->parts;
    writer *w = &p->writer[worker];
    wide_table *t = &self->front[worker].table;
    for (size_t i = 0; i <= t->mask; i++) {
        wide_cell *cell = &t->cells[i];
        uint64_t **place = &w->place[cell->hash >> (64 - p->bits)];
        if (cell->count && !row_push(&w->store, &w->far, place, cell->key, cell->hash, cell->count, kind, true))
            return AGB_ERR_MEMORY;
        cell->count = 0;
    }
    t->groups = 0;
    bytes_store_close(&t->store, t->host);
    return AGB_OK;
}

/* Of a sample of the batch's rows: how many repeat the one before? */
PER_KIND bool adaptive_has_runs(const agb_batch *batch, agb_key_kind kind)
{
    size_t step = batch->rows / SAMPLE_ROWS, repeats = 0;
    for (size_t row = step; step && row < batch->rows; row += step)
        repeats += keys_equal(batch_key(batch, row, kind), batch_key(batch, row - 1, kind), kind);
    return repeats > SAMPLE_ROWS / 4;
}

PER_KIND agb_status adaptive_add_wide(adaptive *self, unsigned worker, const agb_batch *batch, agb_key_kind kind)
{
    front *f = &self->front[worker];
    writer *w = &self->parts.writer[worker];
    bool runs = adaptive_has_runs(batch, kind), through = f->on || f->pause_rows <= batch->rows;
    *(runs ? &f->seen_runs : through ? &f->seen_front : &f->seen_straight) += batch->rows;
    f->pause_rows -= f->pause_rows < batch->rows ? f->pause_rows : batch->rows;
    if (through && !f->on && adaptive_empty_table(self, worker, kind) != AGB_OK)
        return AGB_ERR_MEMORY;
    f->on = through;
    agb_status status = AGB_OK;
    for (size_t first = 0; first < batch->rows && status == AGB_OK; first += RUN_ROWS) {
        agb_batch block = batch_part(batch, first, RUN_ROWS, kind);
        if (runs)
            block = runs_collapse(&f->runs, &block, kind);
        status = through ? adaptive_through_table(self, f, w, &block, kind)
                         : partitions_scatter_kind(&self->parts, w, &block, block.weights, kind, true);
    }
    if (f->rows >= self->window_rows / 4)
        adaptive_judge(self, f, f->misses * 4 < f->rows);
    return status;
}

/* ---- The report ---- */

static void adaptive_note(adaptive *self)
{
    front sum = {0};
    for (size_t i = 0; i < self->fronts; i++) {
        front *f = &self->front[i];
        sum.seen_runs += f->seen_runs;
        sum.seen_front += f->seen_front;
        sum.seen_offered += f->seen_offered + f->rows;
        sum.seen_taken += f->seen_taken + f->rows - f->misses;
        sum.seen_straight += f->seen_straight;
    }
    uint64_t all = sum.seen_runs + sum.seen_front + sum.seen_straight;
    char text[256], *to = note_text(text, "rows collapsed as runs: ");
    to = note_percent(to, sum.seen_runs, all);
    to = note_text(to, "; through the front table: ");
    to = note_percent(to, sum.seen_front, all);
    to = note_text(to, ", which took ");
    to = note_percent(to, sum.seen_taken, sum.seen_offered);
    to = note_text(to, " of them; straight to the parts: ");
    note_percent(to, sum.seen_straight, all);
    agb_note(self->host, text);
}

/* ---- The contract ---- */

static agb_status adaptive_open_words(adaptive *self, const agb_config *config)
{
    agb_status status = exchange_open(&self->exchange, self->host, config, 0, STANDARD_OVERSIZE);
    if (status != AGB_OK)
        return status;
    /* Half as many cells, of twice the size, as the parts' tables have slots: a quarter of L2. */
    self->log2_cells = log2_up(self->exchange.worker[0].tables.most_slots) - 1;
    self->window_rows = (uint64_t)4 << self->log2_cells;
    for (size_t i = 0; i < self->fronts; i++) {
        front *f = &self->front[i];
        f->cells = agb_alloc(self->host, sizeof *f->cells << self->log2_cells, AGB_ZEROED);
        f->missed = agb_alloc(self->host, BLOCK_ROWS * sizeof *f->missed, 0);
        if (!f->cells || !f->missed)
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

static agb_status adaptive_open_wide(adaptive *self, const agb_config *config)
{
    enum { FIRST_BITS = 10, LOAD = 60 };
    if (!partitions_open(&self->parts, self->host, config, partitions_bits(config), LOAD))
        return AGB_ERR_MEMORY;
    self->parts.weighted = true;
    size_t l2 = config->caches.l2 ? config->caches.l2 : 256 << 10;
    self->log2_cells = log2_of(2 * l2 / sizeof(wide_cell));
    self->window_rows = (uint64_t)1 << self->log2_cells;
    for (size_t i = 0; i < self->fronts; i++)
        if (!wide_table_open(&self->front[i].table, (table_plan){self->host, FIRST_BITS, 0, LOAD, config->hash, true}))
            return AGB_ERR_MEMORY;
    return AGB_OK;
}

static agb_status adaptive_create(agb_host *host, const agb_config *config, void **out)
{
    adaptive *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->host = host;
    self->kind = config->kind;
    self->front = agb_alloc(host, config->workers * sizeof *self->front, AGB_ZEROED);
    if (!self->front)
        return AGB_ERR_MEMORY;
    self->fronts = config->workers;
    for (size_t i = 0; i < self->fronts; i++) {
        self->front[i].on = true;
        self->front[i].pause = FIRST_PAUSE;
    }
    return self->kind == AGB_KEYS_WORD ? adaptive_open_words(self, config) : adaptive_open_wide(self, config);
}

static agb_status adaptive_consume(void *state, unsigned worker, const agb_batch *batch)
{
    adaptive *self = state;
    if (self->kind == AGB_KEYS_PAIR)
        return adaptive_add_wide(self, worker, batch, AGB_KEYS_PAIR);
    if (self->kind == AGB_KEYS_BYTES)
        return adaptive_add_wide(self, worker, batch, AGB_KEYS_BYTES);
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
    if (!f->on && adaptive_drain(self, worker) != AGB_OK)
        return AGB_ERR_MEMORY;
    f->on = true;
    if (!adaptive_through_front(self, worker, batch))
        return AGB_ERR_MEMORY;
    f->seen_front += batch->rows;
    f->starts += batch->rows * starts / PACKED_SAMPLE;
    if (f->rows >= self->window_rows)    /* misses < 4/7 (starts - 3/10), as shares of the rows */
        adaptive_judge(self, f, f->misses * 35 + f->rows * 6 < f->starts * 20);
    return AGB_OK;
}

static agb_status adaptive_finish(void *state)
{
    adaptive *self = state;
    agb_status status = AGB_OK;
    for (unsigned i = 0; i < self->fronts && status == AGB_OK; i++)
        status = self->kind == AGB_KEYS_WORD   ? adaptive_drain(self, i)
                 : self->kind == AGB_KEYS_PAIR ? adaptive_empty_table(self, i, AGB_KEYS_PAIR)
                                               : adaptive_empty_table(self, i, AGB_KEYS_BYTES);
    if (status == AGB_OK)
        status = self->kind == AGB_KEYS_WORD ? exchange_finish(&self->exchange)
                                             : partitions_aggregate(&self->parts, EXCHANGE_AGGREGATE);
    adaptive_note(self);    /* the last one wins */
    return status;
}

static void adaptive_destroy(void *state)
{
    adaptive *self = state;
    for (size_t i = 0; i < self->fronts; i++) {
        front *f = &self->front[i];
        agb_release(self->host, f->cells, sizeof *f->cells << self->log2_cells);
        agb_release(self->host, f->missed, BLOCK_ROWS * sizeof *f->missed);
        wide_table_close(&f->table);
    }
    agb_release(self->host, self->front, self->fronts * sizeof *self->front);
    exchange_close(&self->exchange);
    partitions_close(&self->parts);
    agb_release(self->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_adaptive = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "adaptive",
    .summary = "best, with a table in front of it for as long as the rows show that it pays",
    .prediction = "retiring above 50 %: few groups stay in the caches, many are partitioned as by best",
    .phases = exchange_phases,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = adaptive_create,
    .consume = adaptive_consume,
    .finish = adaptive_finish,
    .destroy = adaptive_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 13e6},
};
