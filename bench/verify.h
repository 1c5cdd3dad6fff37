/* SPDX-License-Identifier: MIT */
/* Holds one aggregator to the contract: right answers for every shape of keys, and a clean refusal when memory ends. */
#ifndef AGB_VERIFY_H
#define AGB_VERIFY_H

#include "plugins.h"

typedef struct agb_verify {
    const agb_registry *registry;
    const agb_plugins *plugins;    /* or NULL */
    const agb_aggregator *aggregator;
    const char *params;
    double timeout_s;    /* for one kind of check */
    const char *spill_folder;    /* or NULL */
} agb_verify;

/* One kind of check, such as "key shapes", with all its cases. */
typedef struct agb_verify_kind agb_verify_kind;

typedef enum agb_verify_state { AGB_VERIFY_OK, AGB_VERIFY_FAILED, AGB_VERIFY_SKIPPED } agb_verify_state;

typedef struct agb_verify_outcome {
    agb_verify_state state;
    uint64_t cases;      /* that were tried; the last of them failed */
    char text[1200];     /* why not ok: "case: reason" */
} agb_verify_outcome;

/* NULL past the end. */
const agb_verify_kind *agb_verify_kind_at(size_t i);
const char *agb_verify_kind_name(const agb_verify_kind *kind);
const char *agb_verify_kind_about(const agb_verify_kind *kind);
/* In a child process: a crash or a hang is an outcome, too. */
agb_verify_outcome agb_verify_run(const agb_verify *verify, const agb_verify_kind *kind);

#endif
