/* SPDX-License-Identifier: MIT */
/* The text of an input, whatever it is packed in: a plain file, gzip, zstd, or a pipe of any of these. */
#ifndef AGB_TEXT_SOURCE_H
#define AGB_TEXT_SOURCE_H

#include "loader.h"

typedef struct agb_text_source agb_text_source;

/* Starts at the first byte; a seekable file is read by offset, so any number of sources can read it. input is
 * borrowed. */
agb_status agb_text_source_open(agb_text_source **out, const agb_input *input, agb_error *err);
void agb_text_source_close(agb_text_source *source);

/* The next bytes of text: fills all of [to, to + bytes) unless the text ends; *got says how many there were. A
 * compressed stream that ends inside a member, or has anything but members in it, is an error. */
agb_status agb_text_source_read(agb_text_source *source, unsigned char *to, size_t bytes, size_t *got, agb_error *err);

/* A plain regular file: its text can also be read anywhere, by several threads at once. A file that has become shorter
 * than it was when it was opened is an error. */
bool agb_text_source_is_flat(const agb_text_source *source, uint64_t *bytes);
agb_status agb_text_source_read_at(const agb_text_source *source, uint64_t offset, unsigned char *to, size_t bytes,
                                   agb_error *err);

/* "gzip", "zstd" or "plain". */
const char *agb_text_source_packing(const agb_text_source *source);

bool agb_text_is_packed(const agb_input *input);

/* What the input is and what to do, when it is packed or encoded in a way that is known and not read; else NULL. */
const char *agb_text_foreign(const agb_input *input);

/* As much of the text's beginning as can be had without taking anything out of a pipe: for probing. Errors end it. */
size_t agb_text_peek(const agb_input *input, unsigned char *to, size_t bytes);

#endif
