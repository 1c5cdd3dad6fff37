/* SPDX-License-Identifier: MIT */
/* Byte strings. Where the page holds them whole, the table points into the page, which stands in the table's heap;
 * where a string is a shared beginning and a rest, it is put together in the heap. */
#include "parquet/values.h"

#include <string.h>

enum {
    BATCH = 256,
    MOST_EXPANDED_BYTES = 1 << 30    /* what the strings of one page may become, the limit of any page */
};

static agb_status past_page(uint64_t length, const agb_parquet_values *values, agb_error *err)
{
    return agb_fail(err, AGB_ERR_FORMAT, "a string of %llu bytes runs past its page, which has %zu left",
                    (unsigned long long)length, (size_t)(values->end - values->at));
}

static agb_status next_plain(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    const unsigned char *at = values->at, *end = values->end;
    agb_bytes *to = out;
    agb_status status = AGB_OK;
    for (size_t i = 0; i < n; i++) {
        uint32_t length;
        if (end - at < (ptrdiff_t)sizeof length) {
            status = agb_parquet_values_end_early(err);
            break;
        }
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        if (length > (size_t)(end - at)) {
            values->at = at;
            status = past_page(length, values, err);
            break;
        }
        to[i] = (agb_bytes){.data = at, .length = length};
        at += length;
    }
    values->at = at;
    return status;
}

static agb_status next_fixed(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    agb_bytes *to = out;
    if (n > (size_t)(values->end - values->at) / values->width)
        return agb_parquet_values_end_early(err);
    for (size_t i = 0; i < n; i++, values->at += values->width)
        to[i] = (agb_bytes){.data = values->at, .length = values->width};
    return AGB_OK;
}

/* ---- DELTA_LENGTH_BYTE_ARRAY: all lengths, then all bytes ---- */

static agb_status next_delta_length(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    agb_bytes *to = out;
    while (n) {
        uint64_t length[BATCH];
        size_t take = n < BATCH ? n : BATCH;
        agb_status status = agb_parquet_delta_next(&values->delta, take, length, err);
        if (status != AGB_OK)
            return status;
        for (size_t i = 0; i < take; i++) {
            if (length[i] > (size_t)(values->end - values->at))
                return past_page(length[i], values, err);
            to[i] = (agb_bytes){.data = values->at, .length = (size_t)length[i]};
            values->at += length[i];
        }
        to += take;
        n -= take;
    }
    return AGB_OK;
}

/* Opens the reader of the lengths and moves `at` to what follows them. */
static agb_status open_lengths(agb_parquet_values *values, agb_parquet_delta *lengths, agb_error *err)
{
    agb_status status = agb_parquet_delta_open(lengths, values->at, values->end, err);
    return status == AGB_OK ? agb_parquet_delta_end(lengths, &values->at, err) : status;
}

/* ---- DELTA_BYTE_ARRAY: how much of the string before is shared; lengths of the rests; the rests ---- */

/* Checks the parts of a batch and adds up what it needs of the heap. A string that only shares needs nothing: it
 * points into the one before. */
static agb_status measure(agb_parquet_values *values, size_t n, const uint64_t *prefix, const uint64_t *rest,
                          uint64_t *bytes, agb_error *err)
{
    uint64_t before = values->last.length, rests = 0;
    *bytes = 0;
    for (size_t i = 0; i < n; i++) {
        if (prefix[i] > before)
            return agb_fail(err, AGB_ERR_FORMAT, "a string shares %llu bytes with one of %llu bytes",
                            (unsigned long long)prefix[i], (unsigned long long)before);
        if (rest[i] > (uint64_t)(values->end - values->at) - rests)
            return past_page(rest[i], values, err);
        rests += rest[i];
        before = prefix[i] + rest[i];
        *bytes += rest[i] ? before : 0;
        if (*bytes > MOST_EXPANDED_BYTES - values->expanded_bytes)
            return agb_fail(err, AGB_ERR_UNSUPPORTED, "the strings of the page are larger than the limit of %d bytes",
                            MOST_EXPANDED_BYTES);
    }
    values->expanded_bytes += *bytes;
    return AGB_OK;
}

static agb_status put_together(agb_parquet_values *values, size_t n, const uint64_t *prefix, const uint64_t *rest,
                               agb_bytes *to, agb_error *err)
{
    uint64_t bytes;
    agb_status status = measure(values, n, prefix, rest, &bytes, err);
    if (status != AGB_OK)
        return status;
    unsigned char *heap = bytes ? agb_table_heap(values->table, (size_t)bytes) : NULL;
    if (bytes && !heap)
        return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for strings");
    agb_bytes last = values->last;
    for (size_t i = 0; i < n; i++) {
        if (rest[i]) {
            if (prefix[i])
                memcpy(heap, last.data, prefix[i]);
            memcpy(heap + prefix[i], values->at, rest[i]);
            values->at += rest[i];
            last.data = heap;
            heap += prefix[i] + rest[i];
        }
        last.length = (size_t)(prefix[i] + rest[i]);
        to[i] = last;
    }
    values->last = last;
    return AGB_OK;
}

static agb_status next_shared(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    agb_bytes *to = out;
    agb_status status = AGB_OK;
    while (n && status == AGB_OK) {
        uint64_t prefix[BATCH], rest[BATCH];
        size_t take = n < BATCH ? n : BATCH;
        status = agb_parquet_delta_next(&values->prefixes, take, prefix, err);
        if (status == AGB_OK)
            status = agb_parquet_delta_next(&values->delta, take, rest, err);
        if (status == AGB_OK)
            status = put_together(values, take, prefix, rest, to, err);
        to += take;
        n -= take;
    }
    return status;
}

static agb_status next_shared_fixed(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    const agb_bytes *made = out;
    agb_status status = next_shared(values, n, out, err);
    for (size_t i = 0; i < n && status == AGB_OK; i++)
        if (made[i].length != values->width)
            status = agb_fail(err, AGB_ERR_FORMAT, "a string of %zu bytes in a column of fixed length %zu",
                              made[i].length, values->width);
    return status;
}

agb_status agb_parquet_strings_open(agb_parquet_values *values, const agb_parquet_column *column, int encoding,
                                    agb_error *err)
{
    bool fixed = column->type == AGB_PARQUET_FIXED;
    agb_status status = AGB_OK;
    if (encoding == AGB_PARQUET_PLAIN) {
        values->next = fixed ? next_fixed : next_plain;
    } else if (encoding == AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY && !fixed) {
        values->next = next_delta_length;
        status = open_lengths(values, &values->delta, err);
    } else if (encoding == AGB_PARQUET_DELTA_BYTE_ARRAY) {
        values->next = fixed ? next_shared_fixed : next_shared;
        status = open_lengths(values, &values->prefixes, err);
        if (status == AGB_OK)
            status = open_lengths(values, &values->delta, err);
    } else {
        status = agb_parquet_encoding_refused(column, encoding, err);
    }
    return status;
}
