/* SPDX-License-Identifier: MIT */
/* The files that a run may write: its report, all groups, and what was counted. */
#ifndef AGB_OUTPUTS_H
#define AGB_OUTPUTS_H

#include "options.h"
#include "output.h"

typedef struct agb_outputs {
    agb_output report, groups, record;
    bool has_groups, has_record;
} agb_outputs;

/* agb_output_prepare, but refused where that would replace a file that one of the sources means; option: its name. */
agb_status agb_output_prepare_apart(agb_output *out, const char *option, const char *path, const char *const *sources,
                                    size_t n_sources, agb_error *err);

/* Before the work: can they be written, and does none replace another or one of the sources' files? After a
 * failure, too, release it. */
agb_status agb_outputs_prepare(agb_outputs *out, const agb_options *options, char *const *sources, size_t n_sources,
                               agb_error *err);
void agb_outputs_release(agb_outputs *outputs);

#endif
