/* SPDX-License-Identifier: MIT */
/* --head and --every: part of a source instead of all of it, and what must be said with its figures. */
#ifndef AGB_SAMPLING_H
#define AGB_SAMPLING_H

#include "options.h"
#include "results.h"
#include "text.h"

#include <jansson.h>

agb_row_sample agb_sampling_of(const agb_options *options);
/* Puts the sample in the place of a table that was loaded with the sample's head; all rows: changes nothing. *of_rows
 * comes as the source's description has it, and goes as the table has it, if it knows; UINT64_MAX: nobody knows. */
agb_status agb_sampling_take(agb_table **table, const agb_row_sample *sample, agb_pages pages, uint64_t *of_rows,
                             agb_error *err);

/* " of 99,997,497, one in 100", or ", one in 100"; "" where all were taken. */
agb_text agb_sampling_words(const agb_row_sample *sample, uint64_t rows, uint64_t of_rows);
/* null where all were taken, else {"of_rows": n or null, "head": n or null, "every": k}. */
json_t *agb_sampling_json(const agb_row_sample *sample, uint64_t rows, uint64_t of_rows);
/* What the sample does to the figures; nothing where all rows were taken. */
void agb_sampling_note(agb_results *results, const agb_source_info *source);

#endif
