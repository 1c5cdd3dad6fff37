/* SPDX-License-Identifier: MIT */
/* A compressed stream as a pull: what the byte source needs from gzip and zstd, and nothing more. */
#ifndef AGB_TEXT_CODEC_H
#define AGB_TEXT_CODEC_H

#include <stdbool.h>
#include <stddef.h>

typedef struct agb_text_codec {
    const char *name;
    bool (*knows)(const unsigned char *head, size_t bytes);    /* by magic */
    void *(*create)(void);                                     /* NULL when the system refuses memory */
    void (*destroy)(void *self);

    /* Takes from *in and writes to *out as far as it can, and moves both. False when the stream is damaged: *reason is
     * then static text. */
    bool (*step)(void *self, const unsigned char **in, const unsigned char *in_end, unsigned char **out,
                 unsigned char *out_end, const char **reason);

    /* Whether the stream may end here: at the end of a member or frame, not inside one. */
    bool (*complete)(const void *self);
} agb_text_codec;

extern const agb_text_codec agb_text_gzip, agb_text_zstd;

#endif
