/* SPDX-License-Identifier: MIT */
/* What the parts of verify share: verify.c the child processes and their outcome, verify_trial.c one run and its
 * judgement, verify_kinds.c what is tried, verify_shrink.c the smallest input that fails. */
#ifndef AGB_VERIFY_PARTS_H
#define AGB_VERIFY_PARTS_H

#include "crash.h"
#include "key_shapes.h"
#include "verify.h"

/* How a run is made; plain data. Zero is the default of every field. */
typedef struct agb_setup {
    uint64_t batch_rows, workers, budget, fail_at;
    char hash[24];
    bool guarded;    /* blocks and input end at pages that cannot be touched */
    bool again;      /* a second time, in the memory that the first run left */
} agb_setup;

/* What a child leaves behind, in memory that it shares with its parent: the case it was in, with its input. */
typedef struct agb_place {
    char what[256];
    agb_last_word last;
    uint64_t cases;
    agb_setup setup;
    bool has_input;                     /* it did fit */
    unsigned char input[64 << 20];      /* of agb_sample_store */
} agb_place;

typedef struct agb_verify_session {
    const agb_verify *verify;
    const agb_verify_kind *kind;
    agb_place *place;
    agb_error error;
    bool skipped;
    const agb_sample *given;     /* of a replay: its input */
    agb_setup setup;             /* and its setup */
} agb_verify_session;

struct agb_verify_kind {
    const char *name, *about;
    bool (*run)(agb_verify_session *self);    /* false: self->error says why, or self->skipped */
};

/* ---- verify_trial.c ---- */

/* One run of the aggregator over a sample. */
typedef struct agb_trial {
    const agb_sample *sample;
    agb_key_kind kind;             /* of a sample that is made of a shape */
    agb_setup setup;
    agb_memory *memory;            /* used instead of one of its own; or NULL */
    uint64_t peak, allocations;    /* out */
    bool refused;                  /* out: it ran out of memory, which its setup makes a right answer */
    agb_key_layout *layout;        /* of the running trial's table */
} agb_trial;

/* The case's name must have been set. */
bool agb_try(agb_verify_session *self, agb_trial *trial);
/* Makes a sample of a shape and tries it. */
bool agb_try_shape(agb_verify_session *self, const agb_shape *shape, size_t rows, bool weighted, agb_trial trial);
__attribute__((format(printf, 2, 3))) void agb_name_case(agb_verify_session *self, const char *format, ...);
bool agb_verify_fails(agb_verify_session *self, const char *why);

/* ---- verify.c ---- */

/* Memory that child processes share with this one; NULL when there is none. munmap() it. */
agb_place *agb_place_share(void);
/* Runs self->kind in a child process; self->place must be there. */
agb_verify_outcome agb_verify_in_child(agb_verify_session *self, double timeout_s);

/* ---- verify_shrink.c ---- */

/* After a failure: makes its input smaller while it still fails, saves it, and says so in outcome->input. */
void agb_verify_shrink(const agb_verify_session *failed, agb_verify_outcome *outcome);

#endif
