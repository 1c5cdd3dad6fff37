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
} agb_pfm_code;

bool agb_pfm_is_built_in(void);
/* "amd64_fam19h_zen4::RETIRED_OPS", or short when the event is of this machine: "RETIRED_OPS". Any family's events
 * can be encoded on any machine. Not to be called by two threads at once. */
agb_status agb_pfm_encode(const char *event, agb_pfm_code *out, agb_error *err);

#endif
