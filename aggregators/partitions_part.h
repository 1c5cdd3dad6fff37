/* SPDX-License-Identifier: MIT */
/* Shared by the strategies that partition: one level of parts, each a list of chunks, and the tables that count a part
 * at the end. Each worker has a writer: no two workers ever write to one chunk, and nothing is locked. */
#ifndef AGB_PARTITIONS_PART_H
#define AGB_PARTITIONS_PART_H

#include "linear_table.h"
#include "note_part.h"
#include "wide_rows_part.h"

/* ---- Counting a list ---- */

/* A part's table lies in L2, unless keys are made to meet in one part: then its cells are asked for ahead. */
static inline bool count_words(linear_table *table, agb_host *host, const uint64_t *words, size_t n, bool weighted,
                               size_t l2_bytes)
{
    if (linear_table_bytes(table) <= l2_bytes)
        return weighted ? linear_table_count(table, host, words, n, true, false)
                        : linear_table_count(table, host, words, n, false, false);
    return weighted ? linear_table_count(table, host, words, n, true, true)
                    : linear_table_count(table, host, words, n, false, true);
}

/* false: no memory. */
static inline bool count_chunks(linear_table *table, agb_host *host, uint64_t *place, bool weighted, size_t l2_bytes)
{
    while (place) {
        uint64_t *words, *older;
        size_t n = chunk_words(place, &words, &older);
        if (!count_words(table, host, words, n, weighted, l2_bytes))
            return false;
        place = older;
    }
    return true;
}

/* ---- One level of parts, written by several workers ---- */

enum { FIRST_TABLE_BITS = 10 };

typedef struct writer {
    uint64_t **place;       /* of each part */
    chunk_store store;
    bytes_store far;        /* of strings too long for a chunk */
    linear_table table;     /* counts one part after another: of words, */
    wide_table wide;        /* of pairs or strings */
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
        bool opened = w->place && (p->kind == AGB_KEYS_WORD
            ? linear_table_open(&w->table, host, FIRST_TABLE_BITS, bits, load, config->hash)
            : wide_table_open(&w->wide, (wide_table_plan){host, FIRST_TABLE_BITS, bits, load, config->hash, false}));
        if (!opened)
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
        linear_table_close(&w->table, p->host);
        wide_table_close(&w->wide);
        agb_release(p->host, w->place, p->parts * sizeof *w->place);
    }
    agb_release(p->host, p->writer, p->workers * sizeof(writer));
}

/* weights is a constant NULL where rows count once, and the compiler then drops what belongs to them. */
static inline agb_status partitions_scatter_rows(partitions *p, writer *w, const uint64_t *keys,
                                                 const uint64_t *weights, size_t rows)
{
    uint64_t **places = w->place;
    unsigned shift = 64 - p->bits;
    agb_hash hash = p->hash;
    for (size_t i = 0; i < rows; i++) {
        size_t part = agb_hash_word(hash, keys[i]) >> shift;
        if (!chunk_push(&w->store, &places[part], keys[i], weights ? weights[i] : 1, weights != NULL))
            return AGB_ERR_MEMORY;
    }
    return AGB_OK;
}

static inline agb_status partitions_scatter_wide(partitions *p, writer *w, const agb_batch *batch, bool pairs)
{
    uint64_t hashes[MOST_WIDE_BLOCK];
    unsigned shift = 64 - p->bits;
    for (size_t first = 0; first < batch->rows; first += MOST_WIDE_BLOCK) {
        size_t rows = batch->rows - first < MOST_WIDE_BLOCK ? batch->rows - first : MOST_WIDE_BLOCK;
        wide_hash(p->host, p->hash, batch, first, rows, hashes, pairs);
        for (size_t i = 0; i < rows; i++) {
            uint64_t **place = &w->place[hashes[i] >> shift];
            const uint64_t *weight = batch->weights ? &batch->weights[first + i] : NULL;
            agb_key key = wide_key_of(batch, first + i, pairs);
            if (!(pairs ? wide_row_push_pair(&w->store, place, key, weight)
                        : wide_row_push_string(&w->store, &w->far, place, key.bytes, hashes[i], weight)))
                return AGB_ERR_MEMORY;
        }
    }
    return AGB_OK;
}

static inline agb_status partitions_scatter(partitions *p, unsigned worker, const agb_batch *batch)
{
    writer *w = &p->writer[worker];
    if (p->kind != AGB_KEYS_WORD)
        return p->kind == AGB_KEYS_PAIR ? partitions_scatter_wide(p, w, batch, true)
                                        : partitions_scatter_wide(p, w, batch, false);
    return batch->weights ? partitions_scatter_rows(p, w, batch->keys, batch->weights, batch->rows)
                          : partitions_scatter_rows(p, w, batch->keys, NULL, batch->rows);
}

static inline bool partitions_count_list(partitions *p, writer *w, uint64_t *place)
{
    return p->kind == AGB_KEYS_WORD ? count_chunks(&w->table, p->host, place, p->weighted, p->l2_bytes)
                                    : wide_count_chunks(&w->wide, place, p->kind == AGB_KEYS_PAIR, p->weighted);
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
        if (!partitions_count_list(p, w, p->writer[i].place[part])) {
            w->status = AGB_ERR_MEMORY;
            return;
        }
    }
    w->words += words;
    w->most = words > w->most ? words : w->most;
    if (w->table.groups)
        w->status = linear_table_emit(&w->table, p->host, worker);
    else if (w->wide.groups)
        w->status = wide_table_emit(&w->wide, worker, p->kind);
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
