/* SPDX-License-Identifier: MIT */
/* The ends of an .agb file, header, footer and tail: from bytes to structs with every claim checked, and back. */
#ifndef AGB_NATIVE_FOOTER_H
#define AGB_NATIVE_FOOTER_H

#include "agb/format.h"
#include "loader.h"

/* Reads and checks all but the blocks' bytes. Sentences are complete but for "agb: PATH: ". Release it in any case. */
agb_status agb_native_footer_read(agb_native_file *out, const agb_input *input, agb_error *err);
void agb_native_file_release(agb_native_file *file);

/* Footer and tail of a file whose blocks end at `offset`; the caller frees them. NULL when memory is refused. */
unsigned char *agb_native_footer_make(const agb_native_file *file, uint64_t offset, size_t *bytes);
void agb_native_header_make(unsigned char *header);
uint32_t agb_native_type_number(agb_type type);    /* as the file has it; 0 when it cannot */

#endif
