/* SPDX-License-Identifier: MIT */
/* chained: an array of list heads, and a node per group. What std::unordered_map and most textbooks do.
 *
 * Idea
 *   Colliding keys share a linked list, so a table is never full and a node never moves. The nodes are cut from slabs:
 *   a malloc per node would measure the allocator instead. Knuth, The Art of Computer Programming 3, 6.4, "separate
 *   chaining".
 *
 * Layout
 *     heads   [ *-][ 0 ][ *-][ 0 ] ...              8 bytes a head, as many as groups or up to twice that
 *               |          '-> [next|count|key] -> [0|count|key]
 *               '-> [0|count|key]                   24 bytes a node of a word, 32 of a pair, in order of arrival; the
 *                                                   bytes of a string stand in its node (chain_part.h)
 *
 * Cost per row
 *   Two dependent lines where naive has one: the head, and then the node that it points to; a third for each node that
 *   was in front of it (half a node on average). The core cannot ask for the second before it has the first.
 *   What it has for it: 32 bytes a group, without empty cells, and heads that are dense: eight of them to a line.
 *
 * Where the slots should go
 *   Memory-bound above even naive's share, by latency: two trips to DRAM one after the other.
 *
 * Try
 *   aggbench run synth:uniform,rows=10M --sweep groups=1000,100000,10000000 --aggregator naive,chained
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator chained,amac     (the same table, asked differently)
 *
 * Strings: predicted was that chained draws level with naive, which there has a second line to fetch, too: the string.
 * 3 million rows, 1 million strings of 35 bytes, one Zen 4 core: 1.06 times naive (pairs 0.84), amac 1.6 times. */
#include "chain_part.h"

typedef struct chained {
    chain_table table;
} chained;

static const char *const phases[] = {"build", NULL};

enum { START };
static const agb_param params[] = {
    {"start", 10, 4, 32, "log2 of the number of heads at the beginning"},
    {0},
};

PER_KIND bool chained_add_row(chain_table *table, agb_key key, uint64_t hash, uint64_t weight, agb_key_kind kind)
{
    chain_node **link = chain_head(table, hash);
    for (chain_node *node; (node = *link); link = &node->next) {
        if (chain_node_is(node, key, hash, kind)) {
            node->count += weight;
            return true;
        }
    }
    return chain_append(table, link, key, hash, weight, kind) && chain_settle(table);
}

/* weights is a constant NULL where words count once, and the compiler then drops the load. */
PER_KIND agb_status chained_add(chain_table *table, agb_batch batch, const uint64_t *weights, agb_key_kind kind)
{
    uint64_t ahead[HASHED_ROWS];
    agb_hash hash = table->hash;
    for (size_t i = 0; i < batch.rows; i++) {
        uint64_t hashed = batch_hash(table->host, hash, &batch, i, ahead, kind);
        if (!chained_add_row(table, batch_key(&batch, i, kind), hashed, weights ? weights[i] : 1, kind))
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

static agb_status chained_create(agb_host *host, const agb_config *config, void **out)
{
    chained *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    return chain_open(&self->table, host, (unsigned)config->params[START], config) ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status chained_consume(void *state, unsigned worker, const agb_batch *batch)
{
    (void)worker;
    chain_table *table = &((chained *)state)->table;
    if (table->kind == AGB_KEYS_PAIR)
        return chained_add(table, *batch, batch->weights, AGB_KEYS_PAIR);
    if (table->kind == AGB_KEYS_BYTES)
        return chained_add(table, *batch, batch->weights, AGB_KEYS_BYTES);
    return batch->weights ? chained_add(table, *batch, batch->weights, AGB_KEYS_WORD)
                          : chained_add(table, *batch, NULL, AGB_KEYS_WORD);
}

static agb_status chained_finish(void *state)
{
    chained *self = state;
    return chain_emit(&self->table);
}

static void chained_destroy(void *state)
{
    chained *self = state;
    agb_host *host = self->table.host;
    chain_close(&self->table);
    agb_release(host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_chained = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "chained",
    .summary = "the classic table of linked nodes",
    .prediction = "memory-bound even above naive: a head, then the node it points to, one after the other",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS,
    .create = chained_create,
    .consume = chained_consume,
    .finish = chained_finish,
    .destroy = chained_destroy,
    .need = {.bytes_per_group = 66, .fixed_bytes = 300e3},
};
