/* SPDX-License-Identifier: MIT */
/* The two files that a run may write: its report and all groups. */
#ifndef AGB_OUTPUTS_H
#define AGB_OUTPUTS_H

#include "options.h"
#include "output.h"

typedef struct agb_outputs {
    agb_output report, groups;
    bool has_groups;
} agb_outputs;

/* Before the work: can they be written, and does neither replace the other or one of the sources' files? After a
 * failure, too, release it. */
agb_status agb_outputs_prepare(agb_outputs *out, const agb_options *options, char *const *sources, size_t n_sources,
                               agb_error *err);
void agb_outputs_release(agb_outputs *outputs);

#endif
