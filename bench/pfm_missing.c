/* SPDX-License-Identifier: MIT */
/* Built in place of pfm_present.c where libpfm4 is not installed. */
#include "pfm.h"

bool agb_pfm_is_built_in(void)
{
    return false;
}

agb_status agb_pfm_encode(const char *event, agb_pfm_code *out, agb_error *err)
{
    *out = (agb_pfm_code){0};
    return agb_fail(err, AGB_ERR_ARGUMENT, "--events: %s: built without libpfm4, which knows events by name: install "
                    "libpfm4-dev and build again, or write a raw code as r01c0", event);
}
