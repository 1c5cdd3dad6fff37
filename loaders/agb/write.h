/* SPDX-License-Identifier: MIT */
/* From the columns of a table to an .agb file. */
#ifndef AGB_NATIVE_WRITE_H
#define AGB_NATIVE_WRITE_H

#include "loader.h"

/* As the save function of loader.h. */
agb_status agb_native_write(const agb_table *table, const char *const *columns, size_t n_columns, const char *path,
                            const agb_save_options *options, agb_error *err);

#endif
