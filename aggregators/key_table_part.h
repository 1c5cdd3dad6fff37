/* SPDX-License-Identifier: MIT */
/* Shared: the table that the run's keys want, linear_table.h's for words or wide_table_part.h's, behind one name. */
#ifndef AGB_KEY_TABLE_PART_H
#define AGB_KEY_TABLE_PART_H

#include "wide_table_part.h"

typedef struct key_table {
    agb_key_kind kind;
    linear_table words;
    wide_table wide;      /* pairs or strings */
} key_table;

/* false: no memory; key_table_close is due all the same. */
static inline bool key_table_open(key_table *t, agb_key_kind kind, table_plan plan)
{
    *t = (key_table){.kind = kind};
    return kind == AGB_KEYS_WORD
               ? linear_table_open(&t->words, plan.host, plan.bits, plan.skip, plan.load, plan.hash)
               : wide_table_open(&t->wide, plan);
}

static inline void key_table_close(key_table *t, agb_host *host)
{
    linear_table_close(&t->words, host);
    wide_table_close(&t->wide);
}

static inline size_t key_table_groups(const key_table *t)
{
    return t->kind == AGB_KEYS_WORD ? t->words.groups : t->wide.groups;
}

static inline size_t key_table_cells(const key_table *t)
{
    return (t->kind == AGB_KEYS_WORD ? t->words.mask : t->wide.mask) + 1;
}

/* Of the hash: whose slot a key has is the top bits of their product. May be set while the table is empty. */
static inline uint64_t *key_table_multiplier(key_table *t)
{
    return t->kind == AGB_KEYS_WORD ? &t->words.multiplier : &t->wide.multiplier;
}

/* Room for `rows` more keys, all of them new at worst; false: no memory. */
PER_KIND bool key_table_reserve(key_table *t, agb_host *host, size_t rows, agb_key_kind kind)
{
    return kind == AGB_KEYS_WORD ? linear_table_reserve(&t->words, host, rows) : wide_table_reserve(&t->wide, rows);
}

/* Adds weight to the key's group; the caller has made room. false: no memory for a string. */
PER_KIND bool key_table_add(key_table *t, uint64_t hash, agb_key key, uint64_t weight, agb_key_kind kind)
{
    if (kind != AGB_KEYS_WORD)
        return wide_table_add(&t->wide, hash, key, weight, kind);
    linear_table_add(&t->words, hash, key.word, weight);
    return true;
}

/* Adds weight to the key's group, growing when that is due; false: no memory. */
PER_KIND bool key_table_put(key_table *t, agb_host *host, uint64_t hash, agb_key key, uint64_t weight,
                            agb_key_kind kind)
{
    return key_table_reserve(t, host, 1, kind) && key_table_add(t, hash, key, weight, kind);
}

/* What is in a cell, as if it were a wide one. */
PER_KIND wide_cell key_table_cell(const key_table *t, size_t i, agb_key_kind kind)
{
    if (kind != AGB_KEYS_WORD)
        return t->wide.cells[i];
    linear_cell cell = t->words.cells[i];
    return (wide_cell){{.word = cell.key}, agb_hash_word(t->words.hash, cell.key), cell.count};
}

/* As many cells, by another multiplier; false: no memory, and the table is as it was. */
static inline bool key_table_spread(key_table *t, agb_host *host, uint64_t multiplier)
{
    bool crowded;
    return t->kind == AGB_KEYS_WORD
               ? linear_table_move(&t->words, host, 64 - t->words.shift, multiplier, &crowded)
               : wide_table_move(&t->wide, 64 - t->wide.shift, multiplier, &crowded);
}

/* Emits every group and leaves the table empty; copies of strings stay until the table is closed. */
static inline agb_status key_table_emit(key_table *t, agb_host *host, unsigned worker)
{
    return t->kind == AGB_KEYS_WORD ? linear_table_emit(&t->words, host, worker)
                                    : wide_table_emit(&t->wide, worker, t->kind);
}

#endif
