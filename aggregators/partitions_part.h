/* SPDX-License-Identifier: MIT */
/* Shared by the strategies that partition: one level of parts, each a list of chunks, and the tables that count a part
 * at the end. Each worker has a writer: no two workers ever write to one chunk, and nothing is locked. */
#ifndef AGB_PARTITIONS_PART_H
#define AGB_PARTITIONS_PART_H

#include "note_part.h"
#include "rows_part.h"

enum { FIRST_TABLE_BITS = 10 };

typedef struct writer {
    uint64_t **place;       /* of each part */
    chunk_store store;
    bytes_store far;        /* of strings too long for a chunk */
    key_table table;        /* counts one part after another */
    agb_status status;      /* of the aggregate phase */
    uint64_t words, most;   /* in the parts that it counted, and in the largest of them: of several workers */
} writer;

typedef struct partitions {
    agb_host *host;
    unsigned bits, workers, phase;
    size_t parts, l2_bytes;
    agb_key_kind kind;
    agb_hash hash;
    bool weighted;          /* behind each key stands its weight */
    writer *writer;         /* workers entries */
} partitions;

static inline unsigned log2_of(uint64_t value)
{
    return value ? 63 - (unsigned)__builtin_clzll(value) : 0;
}

/* So many parts, as a power of two, that a part's groups fit L2 if every second row is new. Not more places than a
 * quarter of L2's lines can keep open; not fewer than the workers can share out. A string is taken for a short one. */
static inline unsigned partitions_bits(const agb_config *config)
{
    enum { LEAST = 4, MOST = 12 };
    size_t l2 = config->caches.l2 ? config->caches.l2 : 256 << 10;
    size_t line = config->caches.line ? config->caches.line : 64;
    size_t group_bytes = config->kind == AGB_KEYS_WORD ? sizeof(linear_cell) : 2 * sizeof(wide_cell);
    unsigned most = log2_of(l2 / line / 4);
    unsigned bits = config->rows ? log2_of(config->rows * group_bytes / l2) + 1 : most;
    bits = bits < most ? bits : most;
    return bits < LEAST ? LEAST : bits > MOST ? MOST : bits;
}

/* false: no memory; partitions_close is due all the same. */
static inline bool partitions_open(partitions *p, agb_host *host, const agb_config *config, unsigned bits,
                                   unsigned load)
{
    *p = (partitions){.host = host, .bits = bits, .parts = (size_t)1 << bits, .kind = config->kind,
                       .l2_bytes = config->caches.l2 ? config->caches.l2 : 256 << 10,
                       .hash = config->hash, .weighted = config->weighted};
    p->writer = (writer *)agb_alloc(host, config->workers * sizeof(writer), AGB_ZEROED);
    if (!p->writer)
        return false;
    p->workers = config->workers;
    for (unsigned i = 0; i < p->workers; i++) {
        writer *w = &p->writer[i];
        chunk_store_open(&w->store, host);
        w->place = (uint64_t **)agb_alloc(host, p->parts * sizeof *w->place, AGB_ZEROED);
        table_plan plan = {host, FIRST_TABLE_BITS, bits, load, config->hash, false};
        if (!w->place || !key_table_open(&w->table, p->kind, plan))
            return false;
    }
    return true;
}

static inline void partitions_close(partitions *p)
{
    for (unsigned i = 0; i < p->workers; i++) {
        writer *w = &p->writer[i];
        chunk_store_close(&w->store);
        bytes_store_close(&w->far, p->host);
        key_table_close(&w->table, p->host);
        agb_release(p->host, w->place, p->parts * sizeof *w->place);
    }
    agb_release(p->host, p->writer, p->workers * sizeof(writer));
}

/* weights is a constant NULL where words count once, and the compiler then drops what belongs to them. */
PER_KIND agb_status partitions_scatter_kind(partitions *p, writer *w, const agb_batch *batch, const uint64_t *weights,
                                            agb_key_kind kind, bool weighted)
{
    uint64_t **places = w->place, ahead[HASHED_ROWS];
    unsigned shift = 64 - p->bits;
    agb_hash hash = p->hash;
    for (size_t i = 0; i < batch->rows; i++) {
        uint64_t hashed = batch_hash(p->host, hash, batch, i, ahead, kind);
        if (!row_push(&w->store, &w->far, &places[hashed >> shift], batch_key(batch, i, kind), hashed,
                      weights ? weights[i] : 1, kind, weighted))
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

static inline agb_status partitions_scatter(partitions *p, unsigned worker, const agb_batch *batch)
{
    writer *w = &p->writer[worker];
    if (p->kind == AGB_KEYS_PAIR)
        return partitions_scatter_kind(p, w, batch, batch->weights, AGB_KEYS_PAIR, p->weighted);
    if (p->kind == AGB_KEYS_BYTES)
        return partitions_scatter_kind(p, w, batch, batch->weights, AGB_KEYS_BYTES, p->weighted);
    return batch->weights ? partitions_scatter_kind(p, w, batch, batch->weights, AGB_KEYS_WORD, true)
                          : partitions_scatter_kind(p, w, batch, NULL, AGB_KEYS_WORD, false);
}

static inline void partitions_count_part(void *argument, unsigned worker, size_t part)
{
    partitions *p = (partitions *)argument;
    writer *w = &p->writer[worker];
    if (w->status != AGB_OK)
        return;
    agb_phase(p->host, worker, p->phase);
    uint64_t words = 0;
    for (unsigned i = 0; i < p->workers; i++) {
        if (p->workers > 1)
            words += chunk_list_words(p->writer[i].place[part]);
        if (!rows_count_list(&w->table, p->host, p->l2_bytes, p->writer[i].place[part], p->weighted)) {
            w->status = AGB_ERR_MEMORY;
            return;
        }
    }
    w->words += words;
    w->most = words > w->most ? words : w->most;
    if (key_table_groups(&w->table))
        w->status = key_table_emit(&w->table, p->host, worker);
}

/* The first failure of any worker. */
static inline agb_status partitions_status(const partitions *p)
{
    for (unsigned i = 0; i < p->workers; i++)
        if (p->writer[i].status != AGB_OK)
            return p->writer[i].status;
    return AGB_OK;
}

/* A part is counted by one worker alone: one that is more than half of what each has to do holds the others up. */
static inline void partitions_note_largest(const partitions *p)
{
    enum { LEAST_WORDS = 1 << 16 };    /* fewer are counted before anybody has waited */
    uint64_t words = 0, most = 0;
    for (unsigned i = 0; i < p->workers; i++) {
        words += p->writer[i].words;
        most = p->writer[i].most > most ? p->writer[i].most : most;
    }
    if (most < LEAST_WORDS || most <= words / 2 / p->workers)
        return;
    char text[128], *to = note_text(text, "the largest part has ");
    to = note_percent(to, most, words);
    note_text(to, " of what was partitioned, and one worker counts it alone");
    agb_note(p->host, text);
}

/* Counts and emits all parts; `phase` is what the report calls that. */
static inline agb_status partitions_aggregate(partitions *p, unsigned phase)
{
    p->phase = phase;
    agb_status status = agb_parallel_for(p->host, p->parts, partitions_count_part, p);
    if (p->workers > 1)
        partitions_note_largest(p);
    return status == AGB_OK ? partitions_status(p) : status;
}

#endif
