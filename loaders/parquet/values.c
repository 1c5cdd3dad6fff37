/* SPDX-License-Identifier: MIT */
#include "parquet/values.h"

#include "parquet/bits.h"

enum { BATCH = 256 };    /* values that are held in between; a multiple of 32 */

agb_status agb_parquet_encoding_refused(const agb_parquet_column *column, int encoding, agb_error *err)
{
    return agb_fail(err, AGB_ERR_UNSUPPORTED, "encoding %s (%d) of type %s is not supported",
                    agb_parquet_encoding_name(encoding), encoding, agb_parquet_type_name(column->type));
}

/* ---- PLAIN ---- */

static agb_status next_plain_number(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    if (n > (size_t)(values->end - values->at) / values->width)
        return agb_parquet_values_end_early(err);
    memcpy(out, values->at, n * values->width);
    values->at += n * values->width;
    return AGB_OK;
}

static agb_status next_plain_bool(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    uint8_t *to = out;
    if (n > (uint64_t)(values->end - values->at) * 8 - values->position)
        return agb_parquet_values_end_early(err);
    for (size_t i = 0; i < n; i++, values->position++)
        to[i] = values->at[values->position / 8] >> (values->position & 7) & 1;
    return AGB_OK;
}

/* ---- RLE: booleans ---- */

static agb_status next_run_bool(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    agb_parquet_hybrid *runs = &values->runs;
    uint8_t *to = out;
    while (n) {
        uint32_t bits[BATCH];
        if (!agb_parquet_hybrid_run(runs))
            return agb_parquet_values_end_early(err);
        size_t take = n < runs->left ? n : (size_t)runs->left;
        if (runs->repeated) {
            memset(to, runs->value & 1, take);
            runs->left -= take;
        } else {
            take = take < BATCH ? take : BATCH;
            agb_parquet_hybrid_unpack(runs, take, bits);
            for (size_t i = 0; i < take; i++)
                to[i] = (uint8_t)bits[i];
        }
        to += take;
        n -= take;
    }
    return AGB_OK;
}

static agb_status open_run_bool(agb_parquet_values *values, agb_error *err)
{
    uint32_t bytes;
    if (values->end - values->at < (ptrdiff_t)sizeof bytes)
        return agb_parquet_values_end_early(err);
    memcpy(&bytes, values->at, sizeof bytes);
    values->at += sizeof bytes;
    if (bytes > (size_t)(values->end - values->at))
        return agb_fail(err, AGB_ERR_FORMAT, "%u bytes of boolean runs in a page that has %zu left", bytes,
                        (size_t)(values->end - values->at));
    agb_parquet_hybrid_open(&values->runs, values->at, values->at + bytes, 1);
    values->next = next_run_bool;
    return AGB_OK;
}

/* ---- Dictionary ----
 * One function for all widths of an entry: `bytes` is a constant where it is called, so copying an entry is one load
 * and one store. */

static agb_status index_refused(uint32_t index, const agb_parquet_dictionary *dictionary, agb_error *err)
{
    if (!dictionary->entries)
        return agb_fail(err, AGB_ERR_FORMAT, "the page needs a dictionary and the chunk has none");
    return agb_fail(err, AGB_ERR_FORMAT, "dictionary index %u is past the dictionary of %u values", index,
                    dictionary->count);
}

/* The largest of the indices decides whether all of them are good; the loop has no branch and is vectorised. */
static uint32_t largest_of(const uint32_t *index, size_t n)
{
    uint32_t largest = 0;
    size_t i = 0;
    for (; i + 32 <= n; i += 32)
        for (size_t j = 0; j < 32; j++)
            largest = index[i + j] > largest ? index[i + j] : largest;
    for (; i < n; i++)
        largest = index[i] > largest ? index[i] : largest;
    return largest;
}

__attribute__((always_inline)) static inline agb_status look_up(agb_parquet_values *values, size_t n, void *out,
                                                                const size_t bytes, agb_error *err)
{
    agb_parquet_hybrid *runs = &values->runs;
    const agb_parquet_dictionary *dictionary = values->dictionary;
    const unsigned char *entries = dictionary->entries;
    unsigned char *to = out;
    while (n) {
        if (!agb_parquet_hybrid_run(runs))
            return agb_parquet_values_end_early(err);
        size_t take = n < runs->left ? n : (size_t)runs->left;
        if (runs->repeated) {
            if (runs->value >= dictionary->count)
                return index_refused(runs->value, dictionary, err);
            const unsigned char *entry = entries + (size_t)runs->value * bytes;
            for (size_t i = 0; i < take; i++)
                memcpy(to + i * bytes, entry, bytes);
            runs->left -= take;
        } else {
            uint32_t index[BATCH];
            take = take < BATCH ? take : BATCH;
            agb_parquet_hybrid_unpack(runs, take, index);
            uint32_t largest = largest_of(index, take);
            if (largest >= dictionary->count)
                return index_refused(largest, dictionary, err);
            for (size_t i = 0; i < take; i++)
                memcpy(to + i * bytes, entries + (size_t)index[i] * bytes, bytes);
        }
        to += take * bytes;
        n -= take;
    }
    return AGB_OK;
}

static agb_status look_up_4(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    return look_up(values, n, out, 4, err);
}

static agb_status look_up_8(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    return look_up(values, n, out, 8, err);
}

static agb_status look_up_string(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    return look_up(values, n, out, sizeof(agb_bytes), err);
}

/* A byte with the width of the indices, then their runs. */
static agb_status open_dictionary(agb_parquet_values *values, const agb_parquet_column *column, int encoding,
                                  agb_error *err)
{
    if (values->at == values->end)
        return agb_parquet_values_end_early(err);
    unsigned width = *values->at++;
    if (width > 32)
        return agb_fail(err, AGB_ERR_FORMAT, "a dictionary index of %u bits, allowed range is 0..32", width);
    switch (agb_type_bytes(column->as)) {
    case 4:
        values->next = look_up_4;
        break;
    case 8:
        values->next = look_up_8;
        break;
    case sizeof(agb_bytes):
        values->next = look_up_string;
        break;
    default:
        return agb_parquet_encoding_refused(column, encoding, err);
    }
    agb_parquet_hybrid_open(&values->runs, values->at, values->end, width);
    return AGB_OK;
}

/* ---- DELTA_BINARY_PACKED ---- */

static agb_status next_delta_8(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    return agb_parquet_delta_next(&values->delta, n, out, err);
}

/* Differences of 32-bit numbers can need 33 bits, and DuckDB writes them so: the sum is made in 64 bits. */
static agb_status next_delta_4(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    uint32_t *to = out;
    agb_status status = AGB_OK;
    while (n && status == AGB_OK) {
        uint64_t wide[BATCH];
        size_t take = n < BATCH ? n : BATCH;
        status = agb_parquet_delta_next(&values->delta, take, wide, err);
        for (size_t i = 0; i < take && status == AGB_OK; i++)
            to[i] = (uint32_t)wide[i];
        to += take;
        n -= take;
    }
    return status;
}

/* ---- BYTE_STREAM_SPLIT: byte j of every value stands in stream j ---- */

__attribute__((always_inline)) static inline agb_status join(agb_parquet_values *values, size_t n, unsigned char *out,
                                                             const size_t bytes, agb_error *err)
{
    if (n > values->count - values->position)
        return agb_parquet_values_end_early(err);
    for (size_t j = 0; j < bytes; j++) {
        const unsigned char *stream = values->at + j * values->count + values->position;
        for (size_t i = 0; i < n; i++)
            out[i * bytes + j] = stream[i];
    }
    values->position += n;
    return AGB_OK;
}

static agb_status next_split_4(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    return join(values, n, out, 4, err);
}

static agb_status next_split_8(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    return join(values, n, out, 8, err);
}

static agb_status next_split_fixed(agb_parquet_values *values, size_t n, void *out, agb_error *err)
{
    agb_bytes *to = out;
    if (n > values->count - values->position)
        return agb_parquet_values_end_early(err);
    unsigned char *strings = agb_table_heap(values->table, n * values->width);
    if (!strings)
        return agb_fail(err, AGB_ERR_MEMORY, "the system refused memory for strings");
    for (size_t i = 0; i < n; i++)
        to[i] = (agb_bytes){.data = strings + i * values->width, .length = values->width};
    return join(values, n, strings, values->width, err);
}

static agb_status open_split(agb_parquet_values *values, const agb_parquet_column *column, agb_error *err)
{
    size_t bytes = (size_t)(values->end - values->at);
    if (bytes % values->width)
        return agb_fail(err, AGB_ERR_FORMAT, "%zu bytes are no whole number of split values of %zu bytes", bytes,
                        values->width);
    values->count = bytes / values->width;
    values->next = column->type == AGB_PARQUET_FIXED ? next_split_fixed
                   : values->width == 4              ? next_split_4
                                                     : next_split_8;
    return AGB_OK;
}

/* ---- Which reader ---- */

static bool is_string(const agb_parquet_column *column)
{
    return column->type == AGB_PARQUET_BYTE_ARRAY || column->type == AGB_PARQUET_FIXED;
}

bool agb_parquet_values_stay(const agb_parquet_column *column, int encoding)
{
    return is_string(column) &&
           (encoding == AGB_PARQUET_PLAIN || encoding == AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY);
}

static agb_status open_number(agb_parquet_values *values, const agb_parquet_column *column, int encoding,
                              agb_error *err)
{
    bool wide = column->type == AGB_PARQUET_INT64;
    switch (encoding) {
    case AGB_PARQUET_PLAIN:
        values->next = next_plain_number;
        return AGB_OK;
    case AGB_PARQUET_DELTA_BINARY_PACKED:
        values->next = wide ? next_delta_8 : next_delta_4;
        return agb_parquet_delta_open(&values->delta, values->at, values->end, err);
    case AGB_PARQUET_BYTE_STREAM_SPLIT:
        return open_split(values, column, err);
    default:
        return agb_parquet_encoding_refused(column, encoding, err);
    }
}

static agb_status open_bool(agb_parquet_values *values, const agb_parquet_column *column, int encoding, agb_error *err)
{
    if (encoding == AGB_PARQUET_RLE)
        return open_run_bool(values, err);
    if (encoding != AGB_PARQUET_PLAIN)
        return agb_parquet_encoding_refused(column, encoding, err);
    values->next = next_plain_bool;
    return AGB_OK;
}

agb_status agb_parquet_values_open(agb_parquet_values *values, const agb_parquet_column *column, int encoding,
                                   const unsigned char *from, const unsigned char *end,
                                   const agb_parquet_dictionary *dictionary, agb_table *table, agb_error *err)
{
    *values = (agb_parquet_values){
        .at = from, .end = end, .dictionary = dictionary, .table = table,
        .width = column->type == AGB_PARQUET_FIXED ? column->length : agb_type_bytes(column->as),
    };
    if (encoding == AGB_PARQUET_PLAIN_DICTIONARY || encoding == AGB_PARQUET_RLE_DICTIONARY)
        return open_dictionary(values, column, encoding, err);
    if (column->type == AGB_PARQUET_FIXED && encoding == AGB_PARQUET_BYTE_STREAM_SPLIT)
        return open_split(values, column, err);
    if (is_string(column))
        return agb_parquet_strings_open(values, column, encoding, err);
    return column->type == AGB_PARQUET_BOOLEAN ? open_bool(values, column, encoding, err)
                                               : open_number(values, column, encoding, err);
}
