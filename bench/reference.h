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
    uint64_t peak_rss_bytes;    /* of the process that counted it */
    agb_key_kind kind;
    agb_group *groups;          /* in the order of agb_key_compare_raw; strings stand behind them */
    size_t n;
    size_t bytes;               /* of the mapping that holds all that; 0 = no mapping */
} agb_reference;

/* Name of the aggregator that is taken at its word. */
extern const char agb_reference_aggregator[];

/* query: table, column and filter. */
agb_status agb_reference_count(agb_reference *out, const agb_registry *registry, const agb_plan *query,
                               double timeout_s, agb_error *err);
void agb_reference_release(agb_reference *reference);

/* In the order of agb_key_compare_raw. */
void agb_sort_groups(agb_key_kind kind, agb_group *groups, size_t n);
/* The groups of a collect sink in that order; strings are borrowed from the sink. free() them. NULL without memory. */
agb_group *agb_sorted_groups(const agb_sink *sink, size_t *n);
bool agb_same_group(agb_key_kind kind, const agb_group *a, const agb_group *b);

bool agb_reference_agrees(const agb_reference *reference, const agb_digest *digest, const agb_stats *stats);
/* Finds the first difference: "wrong at key 5: counted 3, right is 2". layout: how keys are written. */
void agb_reference_explain(const agb_reference *reference, const agb_sink *sink, const agb_stats *stats,
                           const agb_key_layout *layout, agb_error *err);

#endif
