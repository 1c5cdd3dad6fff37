/* SPDX-License-Identifier: MIT */
/* Bytes in, text out. Below is the file (or pipe: first the head that the engine took out of it); above it, where the
 * first bytes say so, a decoder. Memory is one buffer of compressed bytes and the decoder's own, never the text. */
#include "source.h"

#include "codec.h"
#include "common/file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PACKED_BYTES = 256 << 10 };

struct agb_text_source {
    const agb_input *input;
    const agb_text_codec *codec;    /* NULL: plain */
    void *decoder;
    uint64_t offset;                /* bytes of the file taken so far */
    bool head_only;                 /* peeking: leave a pipe alone */
    bool ended;                     /* the file has no more bytes */
    unsigned char *packed;               /* PACKED_BYTES of compressed text; NULL: plain */
    const unsigned char *in, *in_end;    /* in it: what is not decoded yet */
};

/* ---- the file ---- */

/* Some next bytes of the file as it is; *got 0 at its end. */
static agb_status read_file(agb_text_source *self, unsigned char *to, size_t bytes, size_t *got, agb_error *err)
{
    const agb_input *input = self->input;
    *got = 0;
    if (!input->seekable && self->offset < input->head_bytes) {
        size_t left = input->head_bytes - self->offset;
        *got = left < bytes ? left : bytes;
        memcpy(to, input->head + self->offset, *got);
    } else if (input->seekable || !self->head_only) {
        ssize_t result;
        do
            result = input->seekable ? pread(input->fd, to, bytes, (off_t)self->offset) : read(input->fd, to, bytes);
        while (result < 0 && errno == EINTR);
        if (result < 0)
            return agb_fail(err, AGB_ERR_IO, "%s: byte %" PRIu64 " cannot be read: %s", input->path, self->offset,
                            strerror(errno));
        *got = (size_t)result;
    }
    self->offset += *got;
    self->ended = *got == 0;
    return AGB_OK;
}

static agb_status read_plain(agb_text_source *self, unsigned char *to, size_t bytes, size_t *got, agb_error *err)
{
    *got = 0;
    while (*got < bytes && !self->ended) {
        size_t more;
        agb_status status = read_file(self, to + *got, bytes - *got, &more, err);
        if (status != AGB_OK)
            return status;
        *got += more;
    }
    return AGB_OK;
}

/* ---- the decoder above it ---- */

static uint64_t packed_offset(const agb_text_source *self)    /* of the next byte to be decoded */
{
    return self->offset - (uint64_t)(self->in_end - self->in);
}

static agb_status refill(agb_text_source *self, agb_error *err)
{
    size_t got;
    agb_status status = read_file(self, self->packed, PACKED_BYTES, &got, err);
    self->in = self->packed;
    self->in_end = self->packed + got;
    return status;
}

static agb_status read_packed(agb_text_source *self, unsigned char *to, size_t bytes, size_t *got, agb_error *err)
{
    unsigned char *out = to, *out_end = to + bytes;
    *got = 0;
    while (out < out_end) {
        if (self->in == self->in_end && !self->ended) {
            agb_status status = refill(self, err);
            if (status != AGB_OK)
                return status;
        }
        const unsigned char *in_before = self->in, *out_before = out;
        const char *reason;
        if (!self->codec->step(self->decoder, &self->in, self->in_end, &out, out_end, &reason))
            return agb_fail(err, AGB_ERR_FORMAT, "%s: %s: byte %" PRIu64 ": %s: get the file again",
                            self->input->path, self->codec->name, packed_offset(self), reason);
        if (self->ended && self->in == in_before && out == out_before) {    /* nothing is left inside the decoder */
            if (!self->codec->complete(self->decoder))
                return agb_fail(err, AGB_ERR_FORMAT,
                                "%s: %s: the stream ends in the middle, after %" PRIu64
                                " bytes: get the file again", self->input->path, self->codec->name, self->offset);
            break;
        }
        *got = (size_t)(out - to);
    }
    return AGB_OK;
}

agb_status agb_text_source_read(agb_text_source *self, unsigned char *to, size_t bytes, size_t *got, agb_error *err)
{
    return self->codec ? read_packed(self, to, bytes, got, err) : read_plain(self, to, bytes, got, err);
}

/* ---- opening ---- */

static const agb_text_codec *find_codec(const agb_input *input)
{
    static const agb_text_codec *const codecs[] = {&agb_text_gzip, &agb_text_zstd};
    for (size_t i = 0; i < sizeof codecs / sizeof codecs[0]; i++)
        if (codecs[i]->knows(input->head, input->head_bytes))
            return codecs[i];
    return NULL;
}

bool agb_text_is_packed(const agb_input *input)
{
    return find_codec(input) != NULL;
}

static bool create_decoder(agb_text_source *self)
{
    self->packed = malloc(PACKED_BYTES);
    self->in = self->in_end = self->packed;
    self->decoder = self->packed ? self->codec->create() : NULL;
    return self->decoder != NULL;
}

agb_status agb_text_source_open(agb_text_source **out, const agb_input *input, agb_error *err)
{
    const char *foreign = agb_text_foreign(input);
    *out = NULL;
    if (foreign)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: %s", input->path, foreign);
    agb_text_source *self = calloc(1, sizeof *self);
    if (!self)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses %zu bytes", input->path, sizeof *self);
    self->input = input;
    self->codec = find_codec(input);
    if (self->codec && !create_decoder(self)) {
        agb_text_source_close(self);
        return agb_fail(err, AGB_ERR_MEMORY, "%s: the system refuses memory for a decoder", input->path);
    }
    *out = self;
    return AGB_OK;
}

void agb_text_source_close(agb_text_source *self)
{
    if (!self)
        return;
    if (self->decoder)
        self->codec->destroy(self->decoder);
    free(self->packed);
    free(self);
}

bool agb_text_source_is_flat(const agb_text_source *self, uint64_t *bytes)
{
    *bytes = self->input->bytes;
    return !self->codec && self->input->seekable;
}

agb_status agb_text_source_read_at(const agb_text_source *self, uint64_t offset, unsigned char *to, size_t bytes,
                                   agb_error *err)
{
    agb_error inner;
    agb_status status = agb_file_read(self->input->fd, offset, to, bytes, &inner);
    return status == AGB_OK ? AGB_OK : agb_fail(err, status, "%s: %s", self->input->path, inner.text);
}

const char *agb_text_source_packing(const agb_text_source *self)
{
    return self->codec ? self->codec->name : "plain";
}

size_t agb_text_peek(const agb_input *input, unsigned char *to, size_t bytes)
{
    agb_text_source *source;
    size_t got = 0;
    if (agb_text_source_open(&source, input, NULL) != AGB_OK)
        return 0;
    source->head_only = true;
    (void)agb_text_source_read(source, to, bytes, &got, NULL);    /* what was read before an error is enough */
    agb_text_source_close(source);
    return got;
}
