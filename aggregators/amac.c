/* SPDX-License-Identifier: MIT */
/* amac: chained's table, with a ring of look-ups in flight. Asynchronous memory access chaining.
 *
 * Idea
 *   prefetch asks for a block of first lines; that is no help when a look-up needs an unknown number of lines, one
 *   after the other. So keep a ring of look-ups, each with its own little state. Visit them in turn: take the line that
 *   came, ask for the next one, go on to the neighbour. A look-up that has ended makes room for the next row at once,
 *   and none waits for the slowest of its block. Kocberber, Falsafi, Grot, "Asynchronous Memory Access Chaining"
 *   (2015).
 *
 * Layout
 *     ring    [link|node|key|weight] x width      stays in L1
 *              link  where the look-up is: a head, or the `next` of a node
 *              node  what was requested last; NULL while it is the link itself that is on its way
 *     table   chained's (chain_part.h)
 *
 * Cost per row
 *   chained's lines, but of `width` rows at a time; about 15 instructions more for state kept in memory instead of in
 *   registers, and a branch that guesses whether a look-up has ended.
 *
 * Where the slots should go
 *   As with prefetch: retiring up by the factor of the speed-up, memory-bound still large. On small tables, worse than
 *   chained: all of the bookkeeping and nothing to hide.
 *
 * Try
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator chained,amac --sweep width=1,2,4,8,16,32
 *   aggbench run synth:uniform,rows=10M,groups=1000 --aggregator chained,amac
 *
 * Tried: on a 2-core Zen 4 virtual machine, 4 million uniform groups: 1.75 times chained, and with that before
 * prefetch; 16 in flight are better than 8 (1.3) or 32 (1.6). With 100,000 groups, all in L3: 0.75 of chained. */
#include "chain_part.h"

enum { WIDEST = 64 };

typedef struct look_up {
    _Alignas(64) chain_node **link;    /* a line each */
    chain_node *node;
    agb_key key;
    uint64_t hash, weight;    /* hash: of strings */
} look_up;

typedef struct amac {
    size_t width;
    chain_table table;
    look_up ring[WIDEST];
    uint64_t ahead[HASHED_ROWS];    /* hashes of strings */
} amac;

typedef enum progress { WAITING, ENDED, REFUSED } progress;

static const char *const phases[] = {"build", NULL};

enum { WIDTH, START };
static const agb_param params[] = {
    {"width", 16, 1, WIDEST, "look-ups in flight"},
    {"start", 10, 4, 32, "log2 of the number of heads at the beginning"},
    {0},
};

/* weights is a constant NULL where words count once. */
PER_KIND void amac_begin(amac *self, look_up *l, agb_hash hash, const agb_batch *batch, const uint64_t *weights,
                         size_t row, agb_key_kind kind)
{
    uint64_t hashed = batch_hash(self->table.host, hash, batch, row, self->ahead, kind);
    agb_key key = batch_key(batch, row, kind);
    l->link = chain_head(&self->table, hashed);
    l->node = NULL;
    if (kind == AGB_KEYS_WORD)
        l->key.word = key.word;
    else
        l->key = key;
    if (kind == AGB_KEYS_BYTES)
        l->hash = hashed;
    l->weight = weights ? weights[row] : 1;
    __builtin_prefetch(l->link);
}

/* One visit. Two look-ups of one new key may be in flight: the end of a chain is read and extended in the same visit,
 * so the second one finds the node of the first. */
PER_KIND progress amac_visit(amac *self, look_up *l, agb_key_kind kind)
{
    if (l->node) {
        if (chain_node_is(l->node, l->key, l->hash, kind)) {
            l->node->count += l->weight;
            return ENDED;
        }
        l->link = &l->node->next;
    }
    l->node = *l->link;
    if (!l->node)
        return chain_append(&self->table, l->link, l->key, l->hash, l->weight, kind) ? ENDED : REFUSED;
    __builtin_prefetch(l->node, 1);
    return WAITING;
}

/* Ends all look-ups in flight, so that the table may move its heads. */
PER_KIND agb_status amac_drain(amac *self, size_t in_flight, agb_key_kind kind)
{
    for (size_t i = 0; i < in_flight; i++) {
        progress p;
        while ((p = amac_visit(self, &self->ring[i], kind)) == WAITING)
            ;
        if (p == REFUSED)
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

PER_KIND agb_status amac_block(amac *self, agb_batch block, const uint64_t *weights, agb_key_kind kind)
{
    size_t rows = block.rows, in_flight = rows < self->width ? rows : self->width, next = in_flight, at = 0;
    agb_hash hash = self->table.hash;
    for (size_t i = 0; i < in_flight; i++)
        amac_begin(self, &self->ring[i], hash, &block, weights, i, kind);
    while (next < rows) {
        progress p = amac_visit(self, &self->ring[at], kind);
        if (p == REFUSED)
            return AGB_ERR_MEMORY;
        if (p == ENDED)
            amac_begin(self, &self->ring[at], hash, &block, weights, next++, kind);
        at = at + 1 == in_flight ? 0 : at + 1;
    }
    return amac_drain(self, in_flight, kind);
}

static agb_status amac_count(amac *self, agb_batch block)
{
    if (self->table.kind == AGB_KEYS_PAIR)
        return amac_block(self, block, block.weights, AGB_KEYS_PAIR);
    if (self->table.kind == AGB_KEYS_BYTES)
        return amac_block(self, block, block.weights, AGB_KEYS_BYTES);
    return block.weights ? amac_block(self, block, block.weights, AGB_KEYS_WORD)
                          : amac_block(self, block, NULL, AGB_KEYS_WORD);
}

static agb_status amac_create(agb_host *host, const agb_config *config, void **out)
{
    amac *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    self->width = (size_t)config->params[WIDTH];
    return chain_open(&self->table, host, (unsigned)config->params[START], config) ? AGB_OK : AGB_ERR_MEMORY;
}

/* In blocks of at most as many rows as there are heads: chains stay short although growth waits for the block's end. */
static agb_status amac_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    amac *self = state;
    agb_status status = AGB_OK;
    for (size_t first = 0; first < batch->rows && status == AGB_OK;) {
        agb_batch block = batch_part(batch, first, chain_heads(&self->table), self->table.kind);
        status = amac_count(self, block);
        if (status == AGB_OK && !chain_settle(&self->table))
            status = AGB_ERR_MEMORY;
        first += block.rows;
    }
    return status;
}

static agb_status amac_finish(void *state)
{
    amac *self = state;
    return chain_emit(&self->table);
}

static void amac_destroy(void *state)
{
    amac *self = state;
    agb_host *host = self->table.host;
    chain_close(&self->table);
    agb_release(host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_amac = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "amac",
    .summary = "chained's table, with a ring of look-ups in flight",
    .prediction = "retiring higher than chained's by the factor of the speed-up; still memory-bound",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = amac_create,
    .consume = amac_consume,
    .finish = amac_finish,
    .destroy = amac_destroy,
    .need = {.bytes_per_group = 66, .fixed_bytes = 300e3},
};
