/* SPDX-License-Identifier: MIT */
#include "parquet/codec.h"

#include "parquet/snappy.h"

#include <brotli/decode.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <limits.h>

enum { ALWAYS_ALLOWED = 64 << 10, MOST_PAGE_BYTES = 1 << 30 };

/* The most that one packed byte can become, from each format: snappy copies 64 bytes with 3; deflate 258 with 2 bits;
 * LZ4 255 with 1; a zstd block is 128 KiB from 4 bytes; brotli copies 16 MiB with some ten bytes. 0: no such codec. */
static uint64_t most_growth(int codec)
{
    switch (codec) {
    case AGB_PARQUET_UNCOMPRESSED:
        return 1;
    case AGB_PARQUET_SNAPPY:
        return 22;
    case AGB_PARQUET_GZIP:
        return 1032;
    case AGB_PARQUET_LZ4:
    case AGB_PARQUET_LZ4_RAW:
        return 255;
    case AGB_PARQUET_ZSTD:
        return 32768;
    case AGB_PARQUET_BROTLI:
        return 1 << 20;
    default:
        return 0;
    }
}

agb_status agb_parquet_unpack_check(int codec, uint64_t packed, uint64_t bytes, agb_error *err)
{
    uint64_t growth = most_growth(codec);
    if (growth == 0)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "codec %s (%d) is not supported", agb_parquet_codec_name(codec),
                        codec);
    if (codec == AGB_PARQUET_UNCOMPRESSED && packed != bytes)
        return agb_fail(err, AGB_ERR_FORMAT, "an uncompressed page has %llu bytes, its header says %llu",
                        (unsigned long long)packed, (unsigned long long)bytes);
    if (bytes > MOST_PAGE_BYTES)
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "a page of %llu bytes is larger than the limit of %d",
                        (unsigned long long)bytes, MOST_PAGE_BYTES);
    if (bytes > ALWAYS_ALLOWED && bytes > packed * growth)
        return agb_fail(err, AGB_ERR_FORMAT, "%llu bytes of codec %s cannot become %llu bytes",
                        (unsigned long long)packed, agb_parquet_codec_name(codec), (unsigned long long)bytes);
    return AGB_OK;
}

void agb_parquet_unpacker_release(agb_parquet_unpacker *unpacker)
{
    ZSTD_freeDCtx(unpacker->zstd);
    unpacker->zstd = NULL;
}

static agb_status damaged(int codec, agb_error *err)
{
    return agb_fail(err, AGB_ERR_FORMAT, "the %s data are damaged", agb_parquet_codec_name(codec));
}

/* Members may follow one another (RFC 1952); a zlib header is taken too, as some old writers made them. */
static bool unpack_gzip(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t bytes)
{
    enum { ANY_HEADER = 32 };
    if (packed_bytes > UINT_MAX)
        return false;
    z_stream stream = {.next_in = (unsigned char *)packed, .avail_in = (uInt)packed_bytes, .next_out = out,
                       .avail_out = (uInt)bytes};
    if (inflateInit2(&stream, MAX_WBITS + ANY_HEADER) != Z_OK)
        return false;
    int result = Z_STREAM_END;
    while (result == Z_STREAM_END && stream.avail_in > 0) {
        inflateReset(&stream);
        result = inflate(&stream, Z_FINISH);
    }
    inflateEnd(&stream);
    return result == Z_STREAM_END && stream.avail_out == 0;
}

static bool unpack_lz4_block(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t bytes)
{
    return packed_bytes <= INT_MAX &&
           LZ4_decompress_safe((const char *)packed, (char *)out, (int)packed_bytes, (int)bytes) == (int)bytes;
}

static uint32_t big_endian(const unsigned char *at)
{
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

/* Hadoop's frames: [unpacked length, big-endian] and then blocks of [packed length, big-endian][bytes] until that many
 * have come out. */
static bool unpack_lz4_frames(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t bytes)
{
    const unsigned char *end = packed + packed_bytes;
    size_t done = 0;
    while (end - packed >= 4) {
        size_t frame = big_endian(packed);
        packed += 4;
        if (frame > bytes - done)
            return false;
        for (size_t frame_end = done + frame; done < frame_end;) {
            if (end - packed < 4)
                return false;
            size_t block = big_endian(packed);
            packed += 4;
            if (block == 0 || block > (size_t)(end - packed) || block > INT_MAX)
                return false;
            int got = LZ4_decompress_safe((const char *)packed, (char *)out + done, (int)block,
                                          (int)(frame_end - done));
            if (got <= 0)
                return false;
            packed += block;
            done += (size_t)got;
        }
    }
    return packed == end && done == bytes;
}

static bool unpack_zstd(agb_parquet_unpacker *unpacker, const unsigned char *packed, size_t packed_bytes,
                        unsigned char *out, size_t bytes)
{
    return ZSTD_decompressDCtx(unpacker->zstd, out, bytes, packed, packed_bytes) == bytes;    /* errors are huge */
}

static bool unpack_brotli(const unsigned char *packed, size_t packed_bytes, unsigned char *out, size_t bytes)
{
    size_t length = bytes;
    return BrotliDecoderDecompress(packed_bytes, packed, &length, out) == BROTLI_DECODER_RESULT_SUCCESS &&
           length == bytes;
}

agb_status agb_parquet_unpack(agb_parquet_unpacker *unpacker, int codec, const unsigned char *packed,
                              size_t packed_bytes, unsigned char *out, size_t bytes, agb_error *err)
{
    bool good = false;
    switch (codec) {
    case AGB_PARQUET_SNAPPY:
        good = agb_parquet_snappy(packed, packed_bytes, out, bytes);
        break;
    case AGB_PARQUET_GZIP:
        good = unpack_gzip(packed, packed_bytes, out, bytes);
        break;
    case AGB_PARQUET_BROTLI:
        good = unpack_brotli(packed, packed_bytes, out, bytes);
        break;
    case AGB_PARQUET_LZ4:
        good = unpack_lz4_frames(packed, packed_bytes, out, bytes) ||
               unpack_lz4_block(packed, packed_bytes, out, bytes);
        break;
    case AGB_PARQUET_LZ4_RAW:
        good = unpack_lz4_block(packed, packed_bytes, out, bytes);
        break;
    case AGB_PARQUET_ZSTD:
        if (!unpacker->zstd && !(unpacker->zstd = ZSTD_createDCtx()))
            return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for zstd");
        good = unpack_zstd(unpacker, packed, packed_bytes, out, bytes);
        break;
    default:
        break;
    }
    return good ? AGB_OK : damaged(codec, err);
}
