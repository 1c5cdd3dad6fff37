/* SPDX-License-Identifier: MIT */
/* radix_combine: radix, but rows are gathered to whole cache lines before they go to memory. Software write-combining.
 *
 * Idea
 *   radix keeps 4096 places open at once, each on a page of its own: more pages than the first-level TLB knows, more
 *   lines than L1 holds, and each line is read from memory only to be overwritten. So give every part one line in a
 *   dense buffer; when it is full, write it out with streaming stores, which do not read first. Satish et al., "Fast
 *   Sort on CPUs and GPUs" (2010); Balkesen, Teubner, Alonso, Ozsu, "Main-Memory Hash Joins on Multi-Core CPUs" (2013).
 *
 * Layout
 *     buffer    [k k k . . . . .][k k . . . . . .] ...      one line a part, dense: 256 KiB for 4096 parts
 *                       | full
 *                       v streaming stores
 *     part p    chunk <- chunk <- chunk                     radix's; a chunk's first line brings the link with it
 *     place[p]  where the next key would go in memory; its low bits say where it goes in the buffer
 *     Larger rows go the same way, word by word, over as many lines as they take.
 *
 * Cost per row
 *   radix's, plus an eighth of a line copied, and a branch taken every eighth time that it is asked for this part:
 *   to the predictor, which sees the parts in random order, taken at random. That misprediction is the price.
 *
 * Where the slots should go
 *   Partition phase: fewer waits for stores than radix, more lost to bad speculation. Aggregate phase: radix's, with
 *   chunks that come from memory instead of the cache when the input is small.
 *
 * Try
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator radix,radix_combine --sweep bits=6..14
 *   aggbench run synth:uniform,rows=10M,groups=5M --aggregator radix,radix_combine --pages 4k
 *
 * Tried: on a 2-core Zen 4 virtual machine with 2 MiB pages, 4096 parts: as fast as radix within 5 % either way. With
 * up to about 1024 parts and 2 MiB pages it loses to plain stores (1.5 against 2.8 ns a row in a study on a 2-core Zen
 * 3 machine): L1 and TLB have room for them, and the misprediction is all that is left. */
#include "partitions_part.h"
#include "stream_part.h"

typedef union line {
    uint64_t words[LINE_WORDS];
} line;

typedef struct radix_combine {
    partitions partitions;
    line **buffer;            /* of each worker: a line of each part */
} radix_combine;

enum { PARTITION, AGGREGATE };
static const char *const phases[] = {"partition", "aggregate", NULL};

enum { BITS, LOAD };
static const agb_param params[] = {
    {"bits", 12, 1, 16, "log2 of the number of parts"},
    {"load", 60, 10, 90, "most occupied cells of a part's table before it grows, in percent"},
    {0},
};

/* How many words of its line are behind this place. */
static inline size_t words_in_line(const uint64_t *place)
{
    return (uintptr_t)place / sizeof *place % LINE_WORDS;
}

/* A place in a new chunk. The line that streams over the chunk's beginning has to bring the link with it. */
static uint64_t *combine_next_chunk(writer *w, line *buffer, uint64_t *full)
{
    uint64_t *place = chunk_append(&w->store, full);
    if (place)
        memcpy(buffer->words, place - HEADER_WORDS, sizeof(void *));
    return place;
}

/* What of a line that is not full stands in the buffer. */
static void combine_flush_line(const line *buffer, uint64_t *place)
{
    size_t words = words_in_line(place);
    if (words)
        memcpy(place - words, buffer->words, words * sizeof *place);
}

PER_KIND uint64_t *combine_put(line *buffer, uint64_t *place, uint64_t word)
{
    buffer->words[words_in_line(place++)] = word;
    if (words_in_line(place) == 0)
        stream_line(place - LINE_WORDS, buffer->words);
    return place;
}

/* Room for `words` words in one chunk, at the place that is returned; NULL: no memory. */
PER_KIND uint64_t *combine_room(writer *w, line *buffer, uint64_t *place, size_t words, agb_key_kind kind)
{
    if (__builtin_expect(!row_needs_chunk(place, words, kind), 1))
        return place;
    if (!is_chunk_end(place))
        combine_flush_line(buffer, combine_put(buffer, place, 0));
    return combine_next_chunk(w, buffer, place);
}

/* weights is a constant NULL where words count once, and the compiler then drops what belongs to them. */
PER_KIND agb_status combine_scatter(radix_combine *self, unsigned worker, agb_batch batch, const uint64_t *weights,
                                    agb_key_kind kind)
{
    partitions *p = &self->partitions;
    writer *w = &p->writer[worker];
    line *buffer = self->buffer[worker];
    unsigned shift = 64 - p->bits;
    agb_hash hash = p->hash;
    uint64_t ahead[HASHED_ROWS], row[MOST_ROW_WORDS];
    for (size_t i = 0; i < batch.rows; i++) {
        uint64_t hashed = batch_hash(p->host, hash, &batch, i, ahead, kind);
        size_t part = hashed >> shift;
        agb_key key = batch_key(&batch, i, kind);
        size_t words = row_words(key, kind, weights != NULL);
        uint64_t *place = row_keep_far(&w->far, p->host, &key, kind)
                              ? combine_room(w, &buffer[part], w->place[part], words, kind) : NULL;
        if (!place)
            return AGB_ERR_MEMORY;
        row_write(row, key, hashed, weights ? weights[i] : 1, kind, weights != NULL);
        for (size_t j = 0; j < words; j++)
            place = combine_put(&buffer[part], place, row[j]);
        w->place[part] = place;
    }
    stream_close();
    return AGB_OK;
}

/* Lines that never became full. */
static void combine_flush(radix_combine *self, unsigned worker)
{
    for (size_t part = 0; part < self->partitions.parts; part++)
        combine_flush_line(&self->buffer[worker][part], self->partitions.writer[worker].place[part]);
}

static agb_status combine_create(agb_host *host, const agb_config *config, void **out)
{
    radix_combine *self = agb_alloc(host, sizeof *self, AGB_ZEROED);
    *out = self;
    if (!self)
        return AGB_ERR_MEMORY;
    partitions *p = &self->partitions;
    if (!partitions_open(p, host, config, (unsigned)config->params[BITS], (unsigned)config->params[LOAD]))
        return AGB_ERR_MEMORY;
    self->buffer = agb_alloc(host, p->workers * sizeof *self->buffer, AGB_ZEROED);
    for (unsigned i = 0; self->buffer && i < p->workers; i++) {
        self->buffer[i] = agb_alloc(host, p->parts * sizeof(line), AGB_ZEROED);
        if (!self->buffer[i])
            return AGB_ERR_MEMORY;
    }
    return self->buffer ? AGB_OK : AGB_ERR_MEMORY;
}

static agb_status combine_consume(void *state, unsigned worker, const agb_batch *batch)
{
    agb_key_kind kind = ((radix_combine *)state)->partitions.kind;
    if (kind == AGB_KEYS_PAIR)
        return combine_scatter(state, worker, *batch, batch->weights, AGB_KEYS_PAIR);
    if (kind == AGB_KEYS_BYTES)
        return combine_scatter(state, worker, *batch, batch->weights, AGB_KEYS_BYTES);
    return batch->weights ? combine_scatter(state, worker, *batch, batch->weights, AGB_KEYS_WORD)
                          : combine_scatter(state, worker, *batch, NULL, AGB_KEYS_WORD);
}

static agb_status combine_finish(void *state)
{
    radix_combine *self = state;
    for (unsigned i = 0; i < self->partitions.workers; i++)
        combine_flush(self, i);
    return partitions_aggregate(&self->partitions, AGGREGATE);
}

static void combine_destroy(void *state)
{
    radix_combine *self = state;
    partitions *p = &self->partitions;
    for (unsigned i = 0; self->buffer && i < p->workers; i++)
        agb_release(p->host, self->buffer[i], p->parts * sizeof(line));
    agb_release(p->host, self->buffer, p->workers * sizeof *self->buffer);
    partitions_close(p);
    agb_release(p->host, self, sizeof *self);
}

const agb_aggregator agb_aggregator_radix_combine = {
    .abi = AGB_AGGREGATOR_ABI,
    .size = sizeof(agb_aggregator),
    .name = "radix_combine",
    .summary = "radix, with whole lines written by streaming stores",
    .prediction = "partition phase: fewer waits for stores than radix, more lost to bad speculation",
    .phases = phases,
    .params = params,
    .traits = AGB_TAKES_WORDS | AGB_TAKES_PAIRS | AGB_TAKES_BYTES | AGB_TAKES_WEIGHTS | AGB_PARALLEL,
    .create = combine_create,
    .consume = combine_consume,
    .finish = combine_finish,
    .destroy = combine_destroy,
    .need = {.bytes_per_row = 8, .fixed_bytes = 34e6},
};
