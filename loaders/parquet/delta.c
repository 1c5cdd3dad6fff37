/* SPDX-License-Identifier: MIT */
#include "parquet/delta.h"

#include "parquet/bits.h"
#include "parquet/thrift.h"

agb_status agb_parquet_delta_open(agb_parquet_delta *delta, const unsigned char *at, const unsigned char *end,
                                  agb_error *err)
{
    agb_thrift head = {.at = at, .end = end};
    uint64_t block = agb_thrift_varint(&head);
    uint64_t miniblocks = agb_thrift_varint(&head);
    uint64_t values = agb_thrift_varint(&head);
    uint64_t first = (uint64_t)agb_thrift_unzigzag(agb_thrift_varint(&head));
    if (head.bad)
        return agb_fail(err, AGB_ERR_FORMAT, "the header of the delta encoding ends early");
    if (block == 0 || block > UINT32_MAX || miniblocks == 0 || block % miniblocks || block / miniblocks % 8)
        return agb_fail(err, AGB_ERR_FORMAT, "delta blocks of %llu values in %llu miniblocks",
                        (unsigned long long)block, (unsigned long long)miniblocks);
    *delta = (agb_parquet_delta){
        .at = head.at, .end = end, .left = values, .value = first, .first = true,
        .miniblocks = (uint32_t)miniblocks, .miniblock_values = (uint32_t)(block / miniblocks),
        .miniblock = (uint32_t)miniblocks - 1, .position = (uint32_t)(block / miniblocks),
    };
    return AGB_OK;
}

static agb_status ends_early(agb_error *err)
{
    return agb_fail(err, AGB_ERR_FORMAT, "the delta encoded values end early");
}

static unsigned width_of(const agb_parquet_delta *delta)
{
    return delta->widths[delta->miniblock];
}

/* Bytes of the current miniblock. The last one may be cut behind the last value that counts. */
static uint64_t miniblock_bytes(const agb_parquet_delta *delta, uint64_t values)
{
    return (values * width_of(delta) + 7) / 8;
}

/* Steps to the next miniblock, reading the head of a block where one starts. Its bits must be there. */
static agb_status next_miniblock(agb_parquet_delta *delta, agb_error *err)
{
    if (delta->widths) {
        uint64_t bytes = miniblock_bytes(delta, delta->miniblock_values);
        delta->at += bytes < (uint64_t)(delta->end - delta->at) ? bytes : (uint64_t)(delta->end - delta->at);
    }
    delta->position = 0;
    if (++delta->miniblock == delta->miniblocks) {
        agb_thrift head = {.at = delta->at, .end = delta->end};
        delta->least = (uint64_t)agb_thrift_unzigzag(agb_thrift_varint(&head));
        if (head.bad || (size_t)(delta->end - head.at) < delta->miniblocks)
            return ends_early(err);
        delta->widths = head.at;
        delta->at = head.at + delta->miniblocks;
        delta->miniblock = 0;
    }
    if (width_of(delta) > 64)
        return agb_fail(err, AGB_ERR_FORMAT, "a delta width of %u bits, allowed range is 0..64", width_of(delta));
    uint64_t needed = delta->left < delta->miniblock_values ? delta->left : delta->miniblock_values;
    if (miniblock_bytes(delta, needed) > (uint64_t)(delta->end - delta->at))
        return ends_early(err);
    return AGB_OK;
}

static void add_differences(agb_parquet_delta *delta, size_t n, uint64_t *out)
{
    unsigned width = width_of(delta);
    uint64_t value = delta->value, least = delta->least;
    size_t i = 0, position = delta->position;
    for (; width <= 32 && position % 32 == 0 && i + 32 <= n; position += 32) {
        uint32_t block[32];
        agb_parquet_unpack_32(delta->at + position / 8 * width, width, block);
        for (size_t j = 0; j < 32; j++)
            out[i++] = value += least + block[j];
    }
    for (; i < n; i++)
        out[i] = value += least + agb_parquet_bits_at(delta->at, width, position++);
    delta->position = (uint32_t)position;
    delta->value = value;
    delta->left -= n;
}

agb_status agb_parquet_delta_next(agb_parquet_delta *delta, size_t n, uint64_t *out, agb_error *err)
{
    if (n > delta->left)
        return ends_early(err);
    if (n && delta->first) {
        delta->first = false;
        delta->left--;
        *out++ = delta->value;
        n--;
    }
    while (n) {
        if (delta->position == delta->miniblock_values) {
            agb_status status = next_miniblock(delta, err);
            if (status != AGB_OK)
                return status;
        }
        size_t take = delta->miniblock_values - delta->position;
        if (take > n)
            take = n;
        add_differences(delta, take, out);
        out += take;
        n -= take;
    }
    return AGB_OK;
}

agb_status agb_parquet_delta_end(const agb_parquet_delta *delta, const unsigned char **end, agb_error *err)
{
    agb_parquet_delta walk = *delta;
    if (walk.left)
        walk.left--;    /* the one in the header */
    while (walk.left) {
        agb_status status = next_miniblock(&walk, err);
        if (status != AGB_OK)
            return status;
        walk.left -= walk.left < walk.miniblock_values ? walk.left : walk.miniblock_values;
    }
    if (walk.widths) {
        uint64_t bytes = miniblock_bytes(&walk, walk.miniblock_values);
        walk.at += bytes < (uint64_t)(walk.end - walk.at) ? bytes : (uint64_t)(walk.end - walk.at);
    }
    *end = walk.at;
    return AGB_OK;
}
