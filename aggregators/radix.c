/* SPDX-License-Identifier: MIT */
/* radix: split the rows by the top bits of their hash first, then count each part in a table that fits the cache. The
 * partitioned contestant of the published experiment (12 bits, 4096 parts).
 *
 * Idea
 *   A table of millions of groups misses the cache on nearly every row. 4096 tables of a few thousand groups each do
 *   not, if they are used one after another. The price is one more pass: every key is written to its part and read
 *   back, in order, which memory is good at. Shatdal, Kant, Naughton, "Cache Conscious Algorithms for Relational Query
 *   Processing" (1994); Boncz, Manegold, Kersten, "Database Architecture Optimized for the New Bottleneck" (1999).
 *
 * Layout
 *     hash(key) = pppppppppppp ssssssssss....        p: part, top `bits` bits;  s: slot in the part's table
 *     part p      chunk -> chunk -> chunk            4 KiB each: [link|-|key key key ...], aligned to 4 KiB, so that a
 *                                                    write place at a 4 KiB boundary says that its chunk is full
 *     table       [key|count][key|count] ...         one a worker, emptied after each part
 *     Pairs are two words a key; strings lie in the chunks with their length and hash (rows_part.h).
 *
 * Cost per row
 *   Two passes. Partition: a hash, a load and a store of the write place, a store of the key, one never-taken branch;
 *   4096 open lines and pages press on L1 and the TLB (the reason why more bits are not always better). Aggregate: a
 *   sequential load, a hash, a look-up that hits L1 or L2.
 *
 * Where the slots should go
 *   More operations than naive (about 1.7 times), far fewer stalls: retiring doubled, memory-bound halved.
 *
 * Try
 *   aggbench run synth:hits,rows=10M --aggregator naive,radix --sweep bits=6..14
 *   aggbench run synth:same,rows=10M --aggregator naive,radix      (one group: the extra pass buys nothing)
 *
 * Strings: a row takes its bytes along, so the pass costs more. Of 3 million rows of 35 bytes on a Zen 4 core, a
 * million groups are counted twice as fast as by naive, but 30,000 at 0.58 of its speed. */
#include "partitions_part.h"

typedef struct radix {
    partitions partitions;
} radix;

enum { PARTITION, AGGREGATE };
static const char *const phases[] = {"partition", "aggregate", NULL};

enum { BITS, LOAD };
static const agb_param params[] = {
    {"bits", 12, 1, 16, "log2 of the number of parts"},
    {"load", 60, 10, 90, "most occupied cells of a part's table before it grows, in percent"},
    {0},
};

static agb_status radix_create(agb_host *host, const agb_config *config, void **out)
{
    radix *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    bool opened = partitions_open(&self->partitions, host, config, (unsigned)config->params[BITS],
                                  (unsigned)config->params[LOAD]);
    return opened ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status radix_consume(void *state, unsigned worker, const agb_batch *batch)
{
    radix *self = state;
    return partitions_scatter(&self->partitions, worker, batch);
}

static agb_status radix_finish(void *state)
{
    radix *self = state;
    return partitions_aggregate(&self->partitions, AGGREGATE);
}

static void radix_destroy(void *state)
{
    radix *self = state;
    agb_host *host = self->partitions.host;
    partitions_close(&self->partitions);
    agb_release(host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_radix = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "radix",
    .summary = "partition by the top hash bits, then one cache-sized table per part",
    .prediction = "more operations than naive, retiring doubled, memory-bound halved",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = radix_create,
    .consume = radix_consume,
    .finish = radix_finish,
    .destroy = radix_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 34e6},
};
