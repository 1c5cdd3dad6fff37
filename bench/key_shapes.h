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
/* Copies an integer column of a loaded table. */
agb_status agb_sample_of_table(agb_sample *out, const agb_table *table, const char *column, agb_error *err);
void agb_sample_release(agb_sample *sample);
/* A table that borrows the sample; *columns: what to group it by. */
agb_status agb_sample_lend(const agb_sample *sample, agb_table **table, const char **columns, agb_error *err);

#endif
