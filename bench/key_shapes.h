/* SPDX-License-Identifier: MIT */
/* Key columns that hash tables get wrong, and their right counts, found by sorting: no code of an aggregator in it. */
#ifndef AGB_KEY_SHAPES_H
#define AGB_KEY_SHAPES_H

#include "aggbench.h"

typedef struct agb_shape {
    const char *name;
    uint64_t (*key)(uint64_t row, uint64_t random);    /* random: 64 bits drawn for this row */
} agb_shape;

extern const agb_shape agb_shapes[];    /* ended by an entry with name NULL */
/* Keys that stand for "nothing" in many a table, each alone in a column and all of them together. */
extern const uint64_t agb_edge_keys[];
extern const size_t agb_edge_key_count;

/* A key column in memory with what every aggregator must answer. Words of a shape become pairs or strings that are
 * hostile in their own ways: words of 0, common prefixes, NULs, empty strings and long ones. */
typedef struct agb_sample {
    agb_key_kind kind;
    agb_type type;               /* of words: how they stand in the table */
    unsigned char *narrow;       /* words of narrower types, as they stand there; or NULL */
    bool guarded;                /* all but text and groups: see agb_sample_guard */
    uint64_t *keys;              /* rows words; of pairs the first words */
    uint64_t *seconds;           /* of pairs */
    agb_bytes *strings;          /* their bytes stand in `text` */
    unsigned char *text;
    uint64_t *weights;           /* or NULL */
    size_t rows;
    agb_group *groups;           /* in the order of agb_key_compare_raw */
    size_t n_groups;
} agb_sample;

agb_status agb_sample_of_shape(agb_sample *out, const agb_shape *shape, agb_key_kind kind, size_t rows, bool weighted,
                               agb_error *err);
agb_status agb_sample_of_key(agb_sample *out, uint64_t key, size_t rows, agb_error *err);
/* Copies columns of a loaded table: one of integers or strings, or two of 64-bit integers; weight: a 64-bit one, or
 * NULL. */
agb_status agb_sample_of_table(agb_sample *out, const agb_table *table, const char *name, const char *second,
                               const char *weight, agb_error *err);
/* The n rows of another sample with these numbers, or NULL: its first n; weighted: with their weights, if it has some.
 */
agb_status agb_sample_of_rows(agb_sample *out, const agb_sample *from, const size_t *rows, size_t n, bool weighted,
                              agb_error *err);
/* Cuts words to a column type, and counts them anew. */
agb_status agb_sample_narrow(agb_sample *sample, agb_type type, agb_error *err);
/* What is lent becomes read-only and ends at a page that cannot be touched. */
agb_status agb_sample_guard(agb_sample *sample, agb_error *err);
/* To plain memory; false when it does not fit. And back. */
bool agb_sample_store(const agb_sample *sample, void *to, size_t size);
agb_status agb_sample_restore(agb_sample *out, const void *from, agb_error *err);
/* To a file (.agb) with columns key, second and weight, as far as it has them. */
agb_status agb_sample_save(const agb_sample *sample, const agb_registry *registry, const char *path, agb_error *err);
void agb_sample_release(agb_sample *sample);
/* A table that borrows the sample; *columns: what to group it by. */
agb_status agb_sample_lend(const agb_sample *sample, agb_table **table, const char **columns, agb_error *err);

#endif
