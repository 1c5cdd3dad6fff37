/* SPDX-License-Identifier: MIT */
/* One block: see block.h. The checksum is of the stored bytes and is looked at before anything else touches them, so
 * that no damage reaches the decoder. */
#include "agb/block.h"

#include "agb/runs.h"
#include "common/file.h"

#include <inttypes.h>
#include <stdlib.h>
#define XXH_INLINE_ALL    /* with the instructions this is built for: the library has only the oldest ones */
#include <xxhash.h>
#include <zstd.h>

enum {
    ALWAYS_ALLOWED = 64 << 10,    /* unpacked bytes that need no explanation */
    VERIFY_BYTES = 256 << 10,     /* read at a time to be hashed only: stays in the second-level cache */
    ZSTD_LEVEL = 3
};

unsigned char *agb_native_room_of(agb_native_room *room, size_t bytes)
{
    if (!room->bytes || room->capacity < bytes) {
        free(room->bytes);
        room->bytes = malloc(bytes ? bytes : 1);
        room->capacity = room->bytes ? bytes : 0;
    }
    return room->bytes;
}

void agb_native_room_release(agb_native_room *room)
{
    free(room->bytes);
    *room = (agb_native_room){0};
}

void agb_native_unpacker_release(agb_native_unpacker *unpacker)
{
    ZSTD_freeDCtx(unpacker->zstd);
    agb_native_room_release(&unpacker->stored);
    agb_native_room_release(&unpacker->unpacked);
    *unpacker = (agb_native_unpacker){0};
}

void agb_native_packer_release(agb_native_packer *packer)
{
    ZSTD_freeCCtx(packer->zstd);
    agb_native_room_release(&packer->runs);
    agb_native_room_release(&packer->packed);
    *packer = (agb_native_packer){0};
}

/* ---- Claims ---- */

static agb_status check_codec(const agb_native_block *block, agb_error *err)
{
    uint64_t stored = block->stored_bytes, unpacked = block->unpacked_bytes;
    if (block->codec >= AGB_NATIVE_CODECS)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "codec number %u is not known: take a newer program or write the "
                        "file again", block->codec);
    if (unpacked > AGB_NATIVE_MOST_BLOCK_BYTES)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "a block of %" PRIu64 " unpacked bytes is larger than the limit of "
                        "%d", unpacked, AGB_NATIVE_MOST_BLOCK_BYTES);
    if (block->codec == AGB_NATIVE_NONE && stored != unpacked)
        return agb_fail(err, AGB_ERR_FORMAT, "an uncompressed block of %" PRIu64 " bytes claims to have %" PRIu64,
                        stored, unpacked);
    if (stored > ZSTD_COMPRESSBOUND(unpacked) ||
        (unpacked > ALWAYS_ALLOWED && unpacked / AGB_NATIVE_MOST_GROWTH > stored))
        return agb_fail(err, AGB_ERR_FORMAT, "%" PRIu64 " stored bytes cannot become %" PRIu64, stored, unpacked);
    return AGB_OK;
}

agb_status agb_native_block_check(const agb_native_block *block, uint64_t n, size_t width, agb_error *err)
{
    uint64_t unpacked = block->unpacked_bytes, runs = unpacked / (width + 1);
    if (agb_native_block_is_absent(block))
        return agb_fail(err, AGB_ERR_FORMAT, "there is no block of its values");
    agb_status status = check_codec(block, err);
    if (status != AGB_OK)
        return status;
    switch (block->coding) {
    case AGB_NATIVE_PLAIN:
        return unpacked == n * width ? AGB_OK
                                     : agb_fail(err, AGB_ERR_FORMAT, "%" PRIu64 " values of %zu bytes in a block of %"
                                                PRIu64 " unpacked bytes", n, width, unpacked);
    case AGB_NATIVE_RUNS:
        return unpacked % (width + 1) == 0 && runs <= n && n <= runs * UINT8_MAX
                   ? AGB_OK
                   : agb_fail(err, AGB_ERR_FORMAT, "%" PRIu64 " values of %zu bytes in runs of %" PRIu64
                              " unpacked bytes", n, width, unpacked);
    default:
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "coding number %u is not known: take a newer program or write the "
                        "file again", block->coding);
    }
}

/* ---- Unpacking ---- */

static agb_status no_memory(uint64_t bytes, agb_error *err)
{
    return agb_fail(err, AGB_ERR_MEMORY, "the system refused %" PRIu64 " bytes of memory", bytes);
}

static agb_status compare_hash(const agb_native_block *block, uint64_t hash, agb_error *err)
{
    if (hash == block->hash)
        return AGB_OK;
    return agb_fail(err, AGB_ERR_FORMAT, "the %" PRIu64 " bytes at offset %" PRIu64 " are damaged: their checksum is "
                    "%016" PRIx64 ", it should be %016" PRIx64 ": get a good copy", block->stored_bytes, block->offset,
                    hash, block->hash);
}

void agb_native_unpacker_prepare(agb_native_unpacker *unpacker, const agb_native_block *block)
{
    if (block->codec == AGB_NATIVE_ZSTD) {
        (void)agb_native_room_of(&unpacker->stored, block->stored_bytes);
        if (!unpacker->zstd)
            unpacker->zstd = ZSTD_createDCtx();
    }
    if (block->coding == AGB_NATIVE_RUNS)
        (void)agb_native_room_of(&unpacker->unpacked, block->unpacked_bytes);
}

agb_status agb_native_block_verify(agb_native_unpacker *unpacker, int fd, const agb_native_block *block,
                                   agb_error *err)
{
    unsigned char *stored = agb_native_room_of(&unpacker->stored, VERIFY_BYTES);
    XXH3_state_t state;
    if (!stored)
        return no_memory(VERIFY_BYTES, err);
    XXH3_64bits_reset(&state);
    for (uint64_t at = 0; at < block->stored_bytes; at += VERIFY_BYTES) {
        uint64_t left = block->stored_bytes - at, bytes = left < VERIFY_BYTES ? left : VERIFY_BYTES;
        agb_status status = agb_file_read(fd, block->offset + at, stored, bytes, err);
        if (status != AGB_OK)
            return status;
        XXH3_64bits_update(&state, stored, bytes);
    }
    return compare_hash(block, XXH3_64bits_digest(&state), err);
}

static agb_status read_stored(int fd, const agb_native_block *block, void *out, agb_error *err)
{
    agb_status status = agb_file_read(fd, block->offset, out, block->stored_bytes, err);
    return status == AGB_OK ? compare_hash(block, XXH3_64bits(out, block->stored_bytes), err) : status;
}

static agb_status read_zstd(agb_native_unpacker *unpacker, int fd, const agb_native_block *block, void *out,
                            agb_error *err)
{
    unsigned char *stored = agb_native_room_of(&unpacker->stored, block->stored_bytes);
    if (!unpacker->zstd)
        unpacker->zstd = ZSTD_createDCtx();
    if (!stored || !unpacker->zstd)
        return no_memory(block->stored_bytes, err);
    agb_status status = read_stored(fd, block, stored, err);
    if (status != AGB_OK)
        return status;
    size_t got = ZSTD_decompressDCtx(unpacker->zstd, out, block->unpacked_bytes, stored, block->stored_bytes);
    if (ZSTD_isError(got))
        return agb_fail(err, AGB_ERR_FORMAT, "the zstd frame at offset %" PRIu64 " is damaged: %s", block->offset,
                        ZSTD_getErrorName(got));
    if (got != block->unpacked_bytes)
        return agb_fail(err, AGB_ERR_FORMAT, "the zstd frame at offset %" PRIu64 " has %zu bytes, it should have %"
                        PRIu64, block->offset, got, block->unpacked_bytes);
    return AGB_OK;
}

agb_status agb_native_block_read(agb_native_unpacker *unpacker, int fd, const agb_native_block *block, void *out,
                                 uint64_t n, size_t width, agb_error *err)
{
    bool runs = block->coding == AGB_NATIVE_RUNS;
    void *unpacked = runs ? agb_native_room_of(&unpacker->unpacked, block->unpacked_bytes) : out;
    if (!unpacked)
        return no_memory(block->unpacked_bytes, err);
    agb_status status = block->codec == AGB_NATIVE_ZSTD ? read_zstd(unpacker, fd, block, unpacked, err)
                                                        : read_stored(fd, block, unpacked, err);
    if (status == AGB_OK && runs &&
        !agb_native_runs_expand(unpacked, block->unpacked_bytes / (width + 1), width, out, n))
        return agb_fail(err, AGB_ERR_FORMAT, "its runs are not those of %" PRIu64 " values", n);
    return status;
}

/* ---- Packing ---- */

/* Runs are taken where they save a quarter; below that zstd does as well, and plain values are faster to read. */
static bool as_runs(agb_native_packer *packer, const void **values, size_t n, size_t width, agb_native_block *block)
{
    size_t runs = agb_native_runs_count(*values, n, width), bytes = runs * (width + 1);
    if (bytes > n * width / 4 * 3)
        return true;
    unsigned char *out = agb_native_room_of(&packer->runs, bytes);
    if (!out)
        return false;
    agb_native_runs_make(*values, n, width, runs, out);
    *values = out;
    block->coding = AGB_NATIVE_RUNS;
    block->unpacked_bytes = bytes;
    return true;
}

/* A frame is taken where it saves a sixteenth: what hardly shrinks is read faster as it is. */
static bool as_frame(agb_native_packer *packer, const void **values, agb_native_block *block)
{
    size_t bound = ZSTD_compressBound(block->unpacked_bytes);
    unsigned char *out = agb_native_room_of(&packer->packed, bound);
    if (!packer->zstd)
        packer->zstd = ZSTD_createCCtx();
    if (!out || !packer->zstd)
        return false;
    size_t got = ZSTD_compressCCtx(packer->zstd, out, bound, *values, block->unpacked_bytes, ZSTD_LEVEL);
    if (ZSTD_isError(got))
        return false;
    if (got <= block->unpacked_bytes / 16 * 15) {
        *values = out;
        block->codec = AGB_NATIVE_ZSTD;
        block->stored_bytes = got;
    }
    return true;
}

const void *agb_native_block_pack(agb_native_packer *packer, agb_native_codec codec, bool may_be_runs,
                                  const void *values, uint64_t n, size_t width, agb_native_block *block)
{
    *block = (agb_native_block){.unpacked_bytes = n * width};
    if (may_be_runs && !as_runs(packer, &values, n, width, block))
        return NULL;
    block->stored_bytes = block->unpacked_bytes;
    if (codec == AGB_NATIVE_ZSTD && !as_frame(packer, &values, block))
        return NULL;
    block->hash = XXH3_64bits(values, block->stored_bytes);
    return values;
}
