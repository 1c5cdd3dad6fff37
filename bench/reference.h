/* SPDX-License-Identifier: MIT */
/* The right answer, and why another one is wrong. The slowest and plainest aggregator (`sort`) counts once, in a child
 * process of its own; its groups, sorted by key, stay mapped where later children can read them. */
#ifndef AGB_REFERENCE_H
#define AGB_REFERENCE_H

#include "aggbench.h"

typedef struct agb_reference {
    agb_digest digest;
    uint64_t nulls, rows;
    double seconds;             /* what counting it took */
    agb_group *groups;          /* sorted by key as an unsigned word */
    size_t n;
} agb_reference;

/* Name of the aggregator that is taken at its word. */
extern const char agb_reference_aggregator[];

agb_status agb_reference_count(agb_reference *out, const agb_registry *registry, const agb_table *table,
                               const char *column, double timeout_s, agb_error *err);
void agb_reference_release(agb_reference *reference);

/* By key as unsigned words. */
void agb_sort_groups(agb_group *groups, size_t n);
/* The groups of a collect sink, sorted by key as unsigned words. free() them. NULL without memory. */
agb_group *agb_sorted_groups(const agb_sink *sink, size_t *n);

bool agb_reference_agrees(const agb_reference *reference, const agb_digest *digest, const agb_stats *stats);
/* Finds the first difference: "wrong at key 5: counted 3, right is 2". signed_keys: how keys are written. */
void agb_reference_explain(const agb_reference *reference, const agb_sink *sink, const agb_stats *stats,
                           bool signed_keys, agb_error *err);

#endif
