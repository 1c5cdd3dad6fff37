/* SPDX-License-Identifier: MIT */
#include "parquet/hybrid.h"

#include "parquet/bits.h"
#include "parquet/thrift.h"

void agb_parquet_hybrid_open(agb_parquet_hybrid *hybrid, const unsigned char *at, const unsigned char *end,
                             unsigned width)
{
    *hybrid = (agb_parquet_hybrid){.at = at, .end = end, .width = width};
}

void agb_parquet_hybrid_open_packed(agb_parquet_hybrid *hybrid, const unsigned char *at, const unsigned char *end,
                                    unsigned width)
{
    *hybrid = (agb_parquet_hybrid){.at = end, .end = end, .width = width, .packed = at};
    hybrid->left = (uint64_t)(end - at) * 8 / width;
}

static bool start_repeated(agb_parquet_hybrid *hybrid, uint64_t count)
{
    size_t bytes = (hybrid->width + 7) / 8;
    if ((size_t)(hybrid->end - hybrid->at) < bytes)
        return false;
    hybrid->value = 0;
    memcpy(&hybrid->value, hybrid->at, bytes);
    hybrid->at += bytes;
    hybrid->repeated = true;
    hybrid->left = count;
    return true;
}

/* Some writers cut the padding of the last group off: the run then has as many numbers as its bytes hold. */
static bool start_packed(agb_parquet_hybrid *hybrid, uint64_t groups)
{
    uint64_t available = (uint64_t)(hybrid->end - hybrid->at);
    hybrid->packed = hybrid->at;
    hybrid->next = 0;
    hybrid->repeated = false;
    if (hybrid->width == 0 || groups <= available / hybrid->width) {
        hybrid->left = groups * 8;
        hybrid->at += groups * hybrid->width;
    } else {
        hybrid->left = available * 8 / hybrid->width;
        hybrid->at = hybrid->end;
    }
    return true;
}

bool agb_parquet_hybrid_run(agb_parquet_hybrid *hybrid)
{
    while (hybrid->left == 0) {
        if (hybrid->at == hybrid->end) {
            if (hybrid->width != 0)
                return false;
            /* No bits are needed to say "0" any number of times, and some writers then leave the run's head out. */
            hybrid->repeated = true;
            hybrid->value = 0;
            hybrid->left = UINT32_MAX;
            return true;
        }
        agb_thrift head = {.at = hybrid->at, .end = hybrid->end};
        uint64_t count = agb_thrift_varint(&head);
        if (head.bad || count > UINT32_MAX)
            return false;
        hybrid->at = head.at;
        if (!(count & 1 ? start_packed(hybrid, count >> 1) : start_repeated(hybrid, count >> 1)))
            return false;
    }
    return true;
}

/* Number by number up to a byte, then 32 by 32, then the rest. */
void agb_parquet_hybrid_unpack(agb_parquet_hybrid *hybrid, size_t n, uint32_t *out)
{
    const unsigned char *packed = hybrid->packed;
    unsigned width = hybrid->width;
    size_t i = 0, next = hybrid->next;
    for (; i < n && (next & 7); i++)
        out[i] = (uint32_t)agb_parquet_bits_at(packed, width, next++);
    for (; i + 32 <= n; i += 32, next += 32)
        agb_parquet_unpack_32(packed + next / 8 * width, width, out + i);
    for (; i < n; i++)
        out[i] = (uint32_t)agb_parquet_bits_at(packed, width, next++);
    hybrid->next = next;
    hybrid->left -= n;
}
