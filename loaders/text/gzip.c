/* SPDX-License-Identifier: MIT */
/* gzip by zlib: any number of members one after another (RFC 1952, section 2.2), each with its checksum; NUL bytes
 * that fill up the last block of a tape are passed over, as gzip itself does. */
#include "codec.h"

#include <limits.h>
#include <stdlib.h>
#include <zlib.h>

typedef struct gzip_decoder {
    z_stream stream;
    bool inside;    /* a member has begun and not ended */
} gzip_decoder;

static bool gzip_knows(const unsigned char *head, size_t bytes)
{
    return bytes >= 3 && head[0] == 0x1f && head[1] == 0x8b && head[2] == Z_DEFLATED;
}

static void *gzip_create(void)
{
    gzip_decoder *self = calloc(1, sizeof *self);
    if (self && inflateInit2(&self->stream, 16 + MAX_WBITS) != Z_OK) {
        free(self);
        return NULL;
    }
    return self;
}

static void gzip_destroy(void *decoder)
{
    gzip_decoder *self = decoder;
    inflateEnd(&self->stream);
    free(self);
}

static unsigned at_most_uint(size_t bytes)
{
    return bytes > UINT_MAX ? UINT_MAX : (unsigned)bytes;
}

static bool gzip_step(void *decoder, const unsigned char **in, const unsigned char *in_end, unsigned char **out,
                      unsigned char *out_end, const char **reason)
{
    gzip_decoder *self = decoder;
    z_stream *stream = &self->stream;
    if (!self->inside) {
        while (*in < in_end && **in == 0)
            ++*in;
        if (*in == in_end)
            return true;
        inflateReset(stream);
        self->inside = true;
    }
    stream->next_in = (unsigned char *)*in;
    stream->avail_in = at_most_uint((size_t)(in_end - *in));
    stream->next_out = *out;
    stream->avail_out = at_most_uint((size_t)(out_end - *out));
    int result = inflate(stream, Z_NO_FLUSH);
    *in = stream->next_in;
    *out = stream->next_out;
    if (result == Z_STREAM_END)
        self->inside = false;
    else if (result != Z_OK && result != Z_BUF_ERROR) {
        *reason = stream->msg ? stream->msg : "damaged data";
        return false;
    }
    return true;
}

static bool gzip_complete(const void *decoder)
{
    return !((const gzip_decoder *)decoder)->inside;
}

const agb_text_codec agb_text_gzip = {
    .name = "gzip",
    .knows = gzip_knows,
    .create = gzip_create,
    .destroy = gzip_destroy,
    .step = gzip_step,
    .complete = gzip_complete,
};
