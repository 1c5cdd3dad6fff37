/* SPDX-License-Identifier: MIT */
/* Packed pages and strings in forms that no writer at hand makes. */
#include "parquet_check.h"

#include "parquet/snappy.h"

#include <lz4.h>
#include <snappy-c.h>
#include <zlib.h>
#include <zstd.h>

/* Version 2: a page of NULLs has no value bytes, whatever the codec; and the codec's own empty form is taken too. */
static void a_second_version_page_of_nulls_has_no_values(void **state)
{
    (void)state;
    const int64_t zeros[8] = {0};
    const int codecs[] = {AGB_PARQUET_SNAPPY, AGB_PARQUET_ZSTD, AGB_PARQUET_GZIP, AGB_PARQUET_BROTLI};
    unsigned char page[64] = {0x08, 0};    /* levels: 4 times 0 */
    size_t packed = ZSTD_compress(page + 2, sizeof page - 2, "", 0, 1);
    for (size_t i = 0; i < 4; i++) {
        made_file *file = made_long_column(AGB_PARQUET_OPTIONAL, codecs[i]);
        for (size_t n = 2; n <= 2 + packed; n += packed)
            made_add_page(file, 0, (made_page){.type = AGB_PARQUET_DATA_PAGE_V2, .values = 4, .bytes = page, .n = n,
                                               .unpacked = 2, .definition_bytes = 2});
        made_check_longs(file, AGB_TYPE_INT64, zeros, 8);
    }
}

static void a_page_may_be_left_uncompressed_in_a_compressed_column(void **state)
{
    (void)state;
    const int64_t wanted[] = {5, -6, 5, -6};
    char packed[64];
    size_t n = sizeof packed;
    assert_int_equal(snappy_compress((const char *)wanted, 16, packed, &n), SNAPPY_OK);
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, AGB_PARQUET_SNAPPY);
    made_add_page(file, 0, (made_page){.type = AGB_PARQUET_DATA_PAGE_V2, .values = 2, .bytes = wanted, .n = 16,
                                       .plain = true});
    made_add_page(file, 0, (made_page){.type = AGB_PARQUET_DATA_PAGE_V2, .values = 2, .bytes = packed, .n = n,
                                       .unpacked = 16});
    made_check_longs(file, AGB_TYPE_INT64, wanted, 4);
}

/* ---- Codecs ---- */

static void joined_gzip_members_are_one_page(void **state)
{
    (void)state;
    const int64_t wanted[] = {1, 2, 3, 4};
    made_bytes page = {0};
    for (size_t i = 0; i < 2; i++) {
        unsigned char member[128];
        z_stream stream = {.next_in = (unsigned char *)(wanted + 2 * i), .avail_in = 16, .next_out = member,
                           .avail_out = sizeof member};
        assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
        assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
        made_put(&page, member, stream.total_out);
        deflateEnd(&stream);
    }
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, AGB_PARQUET_GZIP);
    made_add_page(file, 0, (made_page){.values = 4, .bytes = page.data, .n = page.n, .unpacked = 32});
    free(page.data);
    made_check_longs(file, AGB_TYPE_INT64, wanted, 4);
}

static void put_big_endian(made_bytes *to, uint32_t value)
{
    made_put(to, &(uint32_t){__builtin_bswap32(value)}, 4);
}

/* Two Hadoop frames, the first of two blocks; and a bare block, which some writers called LZ4 too. */
static void both_forms_of_the_old_lz4_are_read(void **state)
{
    (void)state;
    const int64_t wanted[] = {1, 2, 3, 4};
    const size_t part[] = {8, 8, 16};
    made_bytes page = {0};
    char block[64];
    for (size_t i = 0, from = 0; i < 3; from += part[i++]) {
        int n = LZ4_compress_default((const char *)wanted + from, block, (int)part[i], sizeof block);
        if (i != 1)
            put_big_endian(&page, 16);
        put_big_endian(&page, (uint32_t)n);
        made_put(&page, block, (size_t)n);
    }
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, AGB_PARQUET_LZ4);
    made_add_page(file, 0, (made_page){.values = 4, .bytes = page.data, .n = page.n, .unpacked = 32});
    free(page.data);
    made_check_longs(file, AGB_TYPE_INT64, wanted, 4);

    int n = LZ4_compress_default((const char *)wanted, block, 32, sizeof block);
    file = made_long_column(AGB_PARQUET_REQUIRED, AGB_PARQUET_LZ4);
    made_add_page(file, 0, (made_page){.values = 4, .bytes = block, .n = (size_t)n, .unpacked = 32});
    made_check_longs(file, AGB_TYPE_INT64, wanted, 4);
}

/* Our Snappy decoder against the library's encoder, over data that makes every kind of step. */
static void snappy_unpacks_what_the_library_packs(void **state)
{
    (void)state;
    enum { MOST = 100000 };
    unsigned char *data = malloc(MOST), *out = malloc(MOST);
    char *packed = malloc(snappy_max_compressed_length(MOST));
    uint64_t random = 88172645463325252u;
    for (size_t round = 0; round < 400; round++) {
        size_t n = round < 100 ? round : random % MOST, period = 1 + round % 40;
        for (size_t i = 0; i < n; i++) {
            random = random * UINT64_C(6364136223846793005) + 1442695040888963407u;
            data[i] = i >= period && random >> 58 ? data[i - period] : (unsigned char)(random >> 50);
        }
        size_t packed_bytes = snappy_max_compressed_length(n);
        snappy_compress((const char *)data, n, packed, &packed_bytes);
        assert_true(agb_parquet_snappy((const unsigned char *)packed, packed_bytes, out, n));
        assert_memory_equal(out, data, n);
        if (n) {
            assert_false(agb_parquet_snappy((const unsigned char *)packed, packed_bytes - 1, out, n));
            assert_false(agb_parquet_snappy((const unsigned char *)packed, packed_bytes, out, n - 1));
        }
    }
    free(data);
    free(out);
    free(packed);
}

/* ---- Strings ---- */

static void put_delta(made_bytes *to, uint64_t count, int64_t first)    /* count numbers that are all equal */
{
    made_varint(to, 128);
    made_varint(to, 1);
    made_varint(to, count);
    made_zigzag(to, first);
    if (count > 1) {
        made_zigzag(to, 0);
        made_byte(to, 0);
    }
}

static void check_page_of_strings(int encoding, made_bytes *page, const char *const *wanted, size_t n)
{
    made_file *file = made_start();
    made_add_column(file, "k", AGB_PARQUET_BYTE_ARRAY, AGB_PARQUET_REQUIRED, 0);
    made_add_data(file, 0, (int64_t)n, encoding, page->data, page->n);
    free(page->data);
    made_check_strings(file, wanted, n);
}

/* Four numbers: the first, and three differences of 2 bits above the smallest. */
static void put_four(made_bytes *to, int64_t first, int64_t smallest, const char *differences)
{
    const unsigned char padding[31] = {0};    /* a miniblock is whole */
    made_varint(to, 128);
    made_varint(to, 1);
    made_varint(to, 4);
    made_zigzag(to, first);
    made_zigzag(to, smallest);
    made_byte(to, 2);
    made_put(to, differences, 1);
    made_put(to, padding, sizeof padding);
}

static void strings_share_their_beginnings(void **state)
{
    (void)state;
    const char *wanted[] = {"abc", "abcx", "abcy", "abcz"};
    made_bytes page = {0};
    put_four(&page, 0, 0, "\3");       /* prefixes 0 3 3 3: differences 3 0 0 above 0 */
    put_four(&page, 3, -2, "\x28");    /* rests of 3 1 1 1: differences 0 2 2 above -2 */
    made_put(&page, "abcxyz", 6);
    check_page_of_strings(AGB_PARQUET_DELTA_BYTE_ARRAY, &page, wanted, 4);
}

static void strings_of_fixed_length_are_bytes(void **state)
{
    (void)state;
    const char *wanted[] = {"abc", "abc", "def"};
    made_file *file = made_start();
    made_add_column(file, "k", AGB_PARQUET_FIXED, AGB_PARQUET_REQUIRED, 0);
    file->column[0].length = 3;
    made_add_dictionary(file, 0, 1, "abc", 3);
    made_add_data(file, 0, 1, AGB_PARQUET_RLE_DICTIONARY, "\0\2", 2);
    made_add_data(file, 0, 1, AGB_PARQUET_PLAIN, "abc", 3);
    made_add_data(file, 0, 1, AGB_PARQUET_BYTE_STREAM_SPLIT, "def", 3);
    made_check_strings(file, wanted, 3);
}

static void lengths_stand_before_the_strings(void **state)
{
    (void)state;
    const char *wanted[] = {"ab", "cd", "ef"};
    made_bytes page = {0};
    put_delta(&page, 3, 2);
    made_put(&page, "abcdef", 6);
    check_page_of_strings(AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY, &page, wanted, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_second_version_page_of_nulls_has_no_values),
        cmocka_unit_test(a_page_may_be_left_uncompressed_in_a_compressed_column),
        cmocka_unit_test(joined_gzip_members_are_one_page),
        cmocka_unit_test(both_forms_of_the_old_lz4_are_read),
        cmocka_unit_test(snappy_unpacks_what_the_library_packs),
        cmocka_unit_test(strings_share_their_beginnings),
        cmocka_unit_test(strings_of_fixed_length_are_bytes),
        cmocka_unit_test(lengths_stand_before_the_strings),
    };
    return cmocka_run_group_tests(tests, made_set_up, made_tear_down);
}
