/* SPDX-License-Identifier: MIT */
/* zstd by libzstd, which itself goes on from frame to frame and passes over skippable frames (RFC 8878). A frame that
 * needs a window of more than 128 MiB is refused by the library's own limit, so memory does not follow a claim. */
#include "codec.h"

#include <stdint.h>
#include <stdlib.h>
#include <zstd.h>

typedef struct zstd_decoder {
    ZSTD_DCtx *context;
    size_t expects;    /* 0 exactly when a frame has ended and all of it was given out */
} zstd_decoder;

static bool zstd_knows(const unsigned char *head, size_t bytes)
{
    if (bytes < 4)
        return false;
    uint32_t magic = head[0] | (uint32_t)head[1] << 8 | (uint32_t)head[2] << 16 | (uint32_t)head[3] << 24;
    return magic == 0xFD2FB528u || (magic & 0xFFFFFFF0u) == 0x184D2A50u;    /* a frame, or one to be skipped */
}

static void *zstd_create(void)
{
    zstd_decoder *self = calloc(1, sizeof *self);
    if (self && !(self->context = ZSTD_createDCtx())) {
        free(self);
        return NULL;
    }
    return self;
}

static void zstd_destroy(void *decoder)
{
    zstd_decoder *self = decoder;
    ZSTD_freeDCtx(self->context);
    free(self);
}

static bool zstd_step(void *decoder, const unsigned char **in, const unsigned char *in_end, unsigned char **out,
                      unsigned char *out_end, const char **reason)
{
    zstd_decoder *self = decoder;
    if (self->expects == 0 && *in == in_end)
        return true;
    ZSTD_inBuffer input = {*in, (size_t)(in_end - *in), 0};
    ZSTD_outBuffer output = {*out, (size_t)(out_end - *out), 0};
    size_t result = ZSTD_decompressStream(self->context, &output, &input);
    *in += input.pos;
    *out += output.pos;
    if (ZSTD_isError(result)) {
        *reason = ZSTD_getErrorName(result);
        return false;
    }
    self->expects = result;
    return true;
}

static bool zstd_complete(const void *decoder)
{
    return ((const zstd_decoder *)decoder)->expects == 0;
}

const agb_text_codec agb_text_zstd = {
    .name = "zstd",
    .knows = zstd_knows,
    .create = zstd_create,
    .destroy = zstd_destroy,
    .step = zstd_step,
    .complete = zstd_complete,
};
