/* SPDX-License-Identifier: MIT */
/* Holds one aggregator to the contract: right answers for every shape of keys, and a clean refusal when memory ends. */
#ifndef AGB_VERIFY_H
#define AGB_VERIFY_H

#include "key_shapes.h"
#include "plugins.h"

typedef struct agb_verify {
    const agb_registry *registry;
    const agb_plugins *plugins;    /* or NULL */
    const agb_aggregator *aggregator;
    const char *params;
    double timeout_s;    /* for one kind of check */
    const char *spill_folder;    /* or NULL */
    const char *input, *group_by;    /* a SOURCE to be tried in every setup, and its column; or NULL */
    const agb_sample *rows;          /* of the input */
    const char *only;    /* the name of the one kind to check; NULL: all */
    const char *save;    /* where the smallest failing input goes, a file that ends in .agb; NULL: nowhere */
} agb_verify;

/* One kind of check, such as "key shapes", with all its cases. */
typedef struct agb_verify_kind agb_verify_kind;

typedef enum agb_verify_state { AGB_VERIFY_OK, AGB_VERIFY_FAILED, AGB_VERIFY_SKIPPED } agb_verify_state;

typedef struct agb_verify_outcome {
    agb_verify_state state;
    uint64_t cases;      /* that were tried; the last of them failed */
    char text[1200];     /* why not ok: "case: reason" */
    char input[1200];    /* "" or the smallest input that was found to fail, and why */
    bool saved;          /* and it stands in the file */
} agb_verify_outcome;

/* Loads the input, without weights where the aggregator takes none. Release it, also after a failure. */
agb_status agb_verify_load_input(const agb_verify *verify, agb_sample *out, agb_error *err);

/* NULL past the end. With verify->rows there is one kind: that input, in every setup. */
const agb_verify_kind *agb_verify_kind_at(const agb_verify *verify, size_t i);
const char *agb_verify_kind_name(const agb_verify_kind *kind);
const char *agb_verify_kind_about(const agb_verify_kind *kind);
/* In a child process: a crash or a hang is an outcome, too. shrink: look for the smallest failing input, which takes at
 * most a quarter of a minute. */
agb_verify_outcome agb_verify_run(const agb_verify *verify, const agb_verify_kind *kind, bool shrink);

#endif
