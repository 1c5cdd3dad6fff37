/* SPDX-License-Identifier: MIT */
/* libpfm4, or the reason why it is not there: exactly one of pfm_present.c and pfm_missing.c is built. The slot tables
 * need no library, their codes are written out; this is for events that a user names, and for the proof that the
 * written codes are the library's. */
#ifndef AGB_PFM_H
#define AGB_PFM_H

#include "status.h"

#include <stdbool.h>
#include <stdint.h>

typedef struct agb_pfm_code {
    uint32_t type;               /* of perf_event_attr */
    uint64_t config, config1;
    bool kernel;                 /* kernel mode is asked for, by a modifier such as :k */
    char pmu[32];                /* the library's name of the counters that have it: "spr", "perf" */
    bool present;                /* the library finds those in this machine; many newer processors it does not know */
    char name[128];              /* as the library understands it, "spr::TOPDOWN:SLOTS_P:e=0..."; cut to fit */
} agb_pfm_code;

/* A name that libpfm4 4.13.0 takes for another event than the maker's list does. */
typedef struct agb_pfm_mistake {
    const char *name;            /* in full, without modifiers */
    uint64_t wrong, wrong1;      /* config and config1 that it gives */
    uint64_t right, right1;
    const char *cure;
} agb_pfm_mistake;

extern const agb_pfm_mistake agb_pfm_mistakes[];    /* ended by an entry with name NULL */
/* The mistake that this code is, or NULL: a version of the library that has it right passes. event: as it was given. */
const agb_pfm_mistake *agb_pfm_mistake_of(const char *event, const agb_pfm_code *code);

bool agb_pfm_is_built_in(void);
/* "amd64_fam19h_zen4::RETIRED_OPS", or short when the event is of this machine: "RETIRED_OPS". Any family's events
 * can be encoded on any machine. Fails with AGB_ERR_ARGUMENT and the sentence about --events. Not to be called by two
 * threads at once. */
agb_status agb_pfm_encode(const char *event, agb_pfm_code *out, agb_error *err);

#endif
