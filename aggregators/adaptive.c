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
 *     front      first come, first served, half of L2; never probes, never evicts (adaptive_front_part.h)
 *
 *   Pairs and strings go the same ways, but their front is naive's table, sparse, which grows to four times L2 and then
 *   takes nobody in, and behind it are radix's parts, to which runs come collapsed, too.
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
 * Giant of 10^8 groups needs 10^9 rows. In between, over best, two times 15 to 17 pairs on a noisier day: uniform,
 * 20,000 groups 1.06 and 1.09, 50,000 1.05 and 0.95; zipf 0.8, 50,000 1.06 and 1.12, 200,000 1.14 and 1.09.
 *
 * Pairs, 5 million rows, and strings of 35 bytes, 2 or 3 million, the same core, over the best of preagg, swiss
 * and radix, which r is here:
 *     groups          1000     10^4   40,000     10^5     10^6       (strings: 160,000 for 10^5)
 *     pairs         0.72 s   0.73 s   0.87 s   1.02 s   0.88 r       hits, 10^6: 0.67 r; zipf 1.0, 10^6: 0.94 p
 *     strings       0.87 p   0.83 s   0.79 s   0.89 r   0.93 r       zipf 1.0, 10^6: 1.14 p
 *
 * Tried and lost: runs past the front and always to the lists: 1.3 to 1.45 times the time with up to 1000 groups in
 * hits order, 1.16 times that of runs with one giant group, whose entries wait for each other in one slot.
 *     Of pairs, in ms: a front that fills to 60 % before it grows, 1000 groups 47 against 26, as a walk's end cannot be
 * foreseen; one of twice L2 that is full at 60 %, 40,000 groups 75 against 43, where the parts alone take 60; one that
 * is full at 30 %, of four times L2 or eight, 50,000 groups 73 or 80,000 to 90,000 groups 61 to 73, against 48 and 57.
 * Full, it may miss an eighth: with a quarter 62,000 uniform groups 74 against 56, with a sixteenth zipf 60 against 46.
 * Parts as few as fit L2, 256 or 512 of them: a million groups 87 against 80, strings 136 against 129. To fill a front
 * before giving up a million groups: 79 against 74, with two workers 46 against 41. */
#include "adaptive_front_part.h"
#include "note_part.h"
#include "packed_exchange_part.h"
#include "partitions_part.h"

enum { FEW_ROWS = 4, SAMPLE_ROWS = 64 };

typedef struct adaptive {
    agb_host *host;
    exchange exchange;             /* of words */
    partitions parts;              /* of pairs and strings */
    agb_key_kind kind;
    unsigned log2_cells;
    uint64_t window;               /* a verdict on the front needs so many rows or runs */
    size_t fronts;                 /* as many as workers; 0 until they are there */
    front *front;
} adaptive;

/* ---- Words ---- */

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
static agb_status adaptive_drain(adaptive *self, unsigned worker)
{
    front *f = &self->front[worker];
    exchange_worker *w = &self->exchange.worker[worker];
    for (size_t i = 0; i < (size_t)1 << self->log2_cells; i++) {
        linear_cell *cell = &f->cells[i];
        uint64_t hash = agb_hash_word(self->exchange.packing.hash, cell->key);
        if (cell->count > 0 && !adaptive_push(self, w, hash, cell->count))
            return AGB_ERR_MEMORY;
        cell->count = 0;
    }
    f->on = true;
    f->trial = TRIAL_BEGINS;
    return AGB_OK;
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
        front_judge(f, self->log2_cells, self->window, may_miss);
    }
    return true;
}

static agb_status adaptive_add_words(adaptive *self, unsigned worker, const agb_batch *batch)
{
    front *f = &self->front[worker];
    exchange_worker *w = &self->exchange.worker[worker];
    unsigned starts = packed_sample_starts(batch->keys, batch->rows);
    size_t at = 0;
    if (!batch->weights && (f->on || f->pause_left == 0)) {
        if (!f->on && adaptive_drain(self, worker) != AGB_OK)
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

/* ---- Pairs and strings: the front is naive's table, grown to four times L2; then who has no cell goes on ---- */

PER_KIND agb_status adaptive_through_full_table(adaptive *self, front *f, writer *w, const agb_batch *block,
                                                agb_key_kind kind)
{
    const partitions *p = &self->parts;
    uint64_t ahead[HASHED_ROWS];
    f->tried += block->rows;
    for (size_t i = 0; i < block->rows; i++) {
        agb_key key = batch_key(block, i, kind);
        uint64_t hash = batch_hash(p->host, p->hash, block, i, ahead, kind);
        uint64_t weight = block->weights ? block->weights[i] : 1;
        wide_cell *cell = wide_table_find(&f->table, hash, key, kind);
        if (cell->count) {
            cell->count += weight;
            continue;
        }
        f->missed++;
        if (!row_push(&w->store, &w->far, &w->place[hash >> (64 - p->bits)], key, hash, weight, kind, true))
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

/* A table is judged when it is full, and before it grows for the last time: if hardly any key has come again by then,
 * there are far too many. It grows early: groups take up about as many lines far apart as close together, and where one
 * cell in eight is taken, the core foresees the end of a walk. */
PER_KIND agb_status adaptive_through_table(adaptive *self, front *f, writer *w, const agb_batch *block,
                                           agb_key_kind kind)
{
    enum { SPARSE = 8, HARDLY = 32 };
    wide_table *t = &f->table;
    while ((t->groups + block->rows) * SPARSE > t->mask && (t->mask + 1) >> self->log2_cells == 0) {
        if (2 * (t->mask + 1) >> self->log2_cells && (f->entered - t->groups) * HARDLY < t->groups) {
            front_decide(f, self->window, false);
            return partitions_scatter_kind(&self->parts, w, block, block->weights, kind, true);
        }
        if (!wide_table_grow(t))
            return AGB_ERR_MEMORY;
    }
    if (t->limit - t->groups < block->rows)
        return adaptive_through_full_table(self, f, w, block, kind);
    f->entered += block->rows;
    f->seen_tried += block->rows;
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
    self->front[worker].entered = 0;
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
    bool runs = adaptive_has_runs(batch, kind), again = !f->on && f->pause_left == 0;
    f->seen_runs += runs ? batch->rows : 0;
    f->pause_left -= f->pause_left < batch->rows ? f->pause_left : batch->rows;
    if (again && adaptive_empty_table(self, worker, kind) != AGB_OK)
        return AGB_ERR_MEMORY;
    f->on = f->on || again;
    agb_status status = AGB_OK;
    for (size_t first = 0; first < batch->rows && status == AGB_OK; first += RUN_ROWS) {
        agb_batch block = batch_part(batch, first, RUN_ROWS, kind);
        *(f->on ? &f->seen_front : &f->seen_straight) += block.rows;
        if (runs)
            block = runs_collapse(&f->runs, &block, kind);
        status = f->on ? adaptive_through_table(self, f, w, &block, kind)
                       : partitions_scatter_kind(&self->parts, w, &block, block.weights, kind, true);
        if (f->tried >= self->window / 4)    /* as the table filled up before, fewer rows tell */
            front_decide(f, self->window, f->missed * 8 < f->tried);
    }
    return status;
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

static agb_status adaptive_open_words(adaptive *self, const agb_config *config)
{
    agb_status status = exchange_open(&self->exchange, self->host, config, 0, STANDARD_OVERSIZE);
    if (status != AGB_OK)
        return status;
    /* Half as many cells, of twice the size, as the parts' tables have slots: half of L2. */
    self->log2_cells = log2_up(self->exchange.worker[0].tables.most_slots) - 1;
    self->window = (uint64_t)4 << self->log2_cells;
    for (size_t i = 0; i < self->fronts; i++)
        if (!front_open_words(&self->front[i], self->host, self->log2_cells))
            return AGB_ERR_MEMORY;
    return AGB_OK;
}

static agb_status adaptive_open_wide(adaptive *self, const agb_config *config)
{
    enum { FIRST_BITS = 10, FRONT_LOAD = 40, LOAD = 60, CHEAP_BITS = 10 };
    /* As many places as cost a row nothing: a part and its table then take up a quarter of L2. */
    unsigned bits = partitions_bits(config), finer = bits + 2 < CHEAP_BITS ? bits + 2 : CHEAP_BITS;
    if (!partitions_open(&self->parts, self->host, config, bits > finer ? bits : finer, LOAD))
        return AGB_ERR_MEMORY;
    self->parts.weighted = true;
    size_t l2 = config->caches.l2 ? config->caches.l2 : 256 << 10;
    self->log2_cells = log2_of(4 * l2 / sizeof(wide_cell));
    self->window = (uint64_t)1 << (self->log2_cells - 1);
    table_plan plan = {self->host, FIRST_BITS, 0, FRONT_LOAD, config->hash, true};
    for (size_t i = 0; i < self->fronts; i++)
        if (!wide_table_open(&self->front[i].table, plan))
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
    return self->kind == AGB_KEYS_WORD   ? adaptive_add_words(self, worker, batch)
           : self->kind == AGB_KEYS_PAIR ? adaptive_add_wide(self, worker, batch, AGB_KEYS_PAIR)
                                         : adaptive_add_wide(self, worker, batch, AGB_KEYS_BYTES);
}

static agb_status adaptive_finish_words(adaptive *self)
{
    agb_status status = AGB_OK;
    for (unsigned i = 0; i < self->fronts && status == AGB_OK; i++)
        status = adaptive_drain(self, i);
    return status == AGB_OK ? exchange_finish(&self->exchange) : status;
}

/* One worker whose parts are empty has the result in its table. */
PER_KIND agb_status adaptive_finish_wide(adaptive *self, agb_key_kind kind)
{
    agb_status status = AGB_OK;
    if (self->fronts == 1 && !self->parts.writer->store.slabs)
        return wide_table_emit(&self->front->table, 0, kind);
    for (unsigned i = 0; i < self->fronts && status == AGB_OK; i++)
        status = adaptive_empty_table(self, i, kind);
    return status == AGB_OK ? partitions_aggregate(&self->parts, EXCHANGE_AGGREGATE) : status;
}

static agb_status adaptive_finish(void *state)
{
    adaptive *self = state;
    agb_status status = self->kind == AGB_KEYS_WORD   ? adaptive_finish_words(self)
                        : self->kind == AGB_KEYS_PAIR ? adaptive_finish_wide(self, AGB_KEYS_PAIR)
                                                      : adaptive_finish_wide(self, AGB_KEYS_BYTES);
    adaptive_note(self);    /* the last one wins */
    return status;
}

static void adaptive_destroy(void *state)
{
    adaptive *self = state;
    for (size_t i = 0; i < self->fronts; i++)
        front_close(&self->front[i], self->host, self->log2_cells);
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
    .need = {.bytes_per_row = 8, .fixed_bytes = 16e6},
};
