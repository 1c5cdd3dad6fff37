/* SPDX-License-Identifier: MIT */
/* From the blocks of an .agb file to the columns of a table. */
#ifndef AGB_NATIVE_READ_H
#define AGB_NATIVE_READ_H

#include "agb/format.h"
#include "loader.h"

/* Appends the file's rows; as the load function of loader.h. */
agb_status agb_native_read(const agb_native_file *file, const agb_input *input, const size_t *column,
                           size_t n_columns, agb_table *table, const agb_load *load, agb_error *err);

#endif
