/* SPDX-License-Identifier: MIT */
/* Right Parquet files that no writer at hand makes: corners of the format that other readers have got wrong. */
#include "parquet_check.h"

#include <fcntl.h>
#include <zlib.h>

/* ---- Dictionaries ---- */

static void indices_of_no_bits_are_read_with_and_without_a_run(void **state)
{
    (void)state;
    const int64_t seven[] = {7, 7, 7, 7};
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_dictionary(file, 0, 1, seven, 8);
    made_add_data(file, 0, 4, AGB_PARQUET_RLE_DICTIONARY, "\0", 1);
    made_check_longs(file, AGB_TYPE_INT64, seven, 4);

    file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_dictionary(file, 0, 1, seven, 8);
    made_add_data(file, 0, 4, AGB_PARQUET_RLE_DICTIONARY, "\0\x08", 2);    /* a repeated run of 4 */
    made_check_longs(file, AGB_TYPE_INT64, seven, 4);

    file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_dictionary(file, 0, 1, seven, 8);
    made_add_data(file, 0, 4, AGB_PARQUET_RLE_DICTIONARY, "\0\x03", 2);    /* a packed run of 8 */
    made_check_longs(file, AGB_TYPE_INT64, seven, 4);
}

static void an_empty_dictionary_goes_with_rows_that_are_all_null(void **state)
{
    (void)state;
    const int64_t zeros[4] = {0};
    made_file *file = made_long_column(AGB_PARQUET_OPTIONAL, 0);
    made_add_dictionary(file, 0, 0, "", 0);
    made_add_data(file, 0, 4, AGB_PARQUET_RLE_DICTIONARY, "\2\0\0\0\x08\0", 6);    /* levels: 4 times 0; no values */
    agb_table *table;
    agb_column column = made_load_column(file, AGB_TYPE_INT64, 4, &table);
    assert_int_equal(column.null_count, 4);
    assert_memory_equal(column.values, zeros, sizeof zeros);
    agb_table_destroy(table);
}

/* The footer may leave the dictionary out, say 0, or name a wrong data page. */
static made_file *dictionary_file(void)
{
    static const int64_t entries[] = {-5, 1LL << 60, 9};
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_dictionary(file, 0, 3, entries, sizeof entries);
    made_add_data(file, 0, 4, AGB_PARQUET_PLAIN_DICTIONARY, "\2\3\x24\0", 4);    /* packed: 0 1 2 0 ... */
    made_add_data(file, 0, 2, AGB_PARQUET_PLAIN, entries, 16);                   /* fallback in the same chunk */
    return file;
}

static void pages_are_found_whatever_the_footer_says_of_the_dictionary(void **state)
{
    (void)state;
    const int64_t wanted[] = {-5, 1LL << 60, 9, 0 - 5, -5, 1LL << 60};
    made_check_longs(dictionary_file(), AGB_TYPE_INT64, wanted, 6);

    made_file *file = dictionary_file();    /* no dictionary offset, the data offset names the dictionary */
    file->chunk[0][0].data_offset = file->chunk[0][0].dictionary_offset;
    file->chunk[0][0].dictionary_offset = 0;
    made_check_longs(file, AGB_TYPE_INT64, wanted, 6);

    file = dictionary_file();    /* both name the dictionary */
    file->chunk[0][0].data_offset = file->chunk[0][0].dictionary_offset;
    made_check_longs(file, AGB_TYPE_INT64, wanted, 6);

    file = dictionary_file();    /* the data offset names the second data page */
    file->chunk[0][0].data_offset += 40;
    made_check_longs(file, AGB_TYPE_INT64, wanted, 6);

    file = dictionary_file();    /* the data offset is nowhere */
    file->chunk[0][0].data_offset = -1;
    made_check_longs(file, AGB_TYPE_INT64, wanted, 6);

    file = dictionary_file();    /* old writers: the size leaves out the dictionary's page header */
    file->chunk[0][0].bytes -= 16;
    made_check_longs(file, AGB_TYPE_INT64, wanted, 6);
}

static void pages_of_other_kinds_are_skipped(void **state)
{
    (void)state;
    const int64_t wanted[] = {1, 2};
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_page(file, 0, (made_page){.type = AGB_PARQUET_INDEX_PAGE, .bytes = "index", .n = 5});
    file->chunk[0][0].data_offset = 4;
    made_add_data(file, 0, 0, AGB_PARQUET_PLAIN, "", 0);
    made_add_data(file, 0, 2, AGB_PARQUET_PLAIN, wanted, 16);
    made_check_longs(file, AGB_TYPE_INT64, wanted, 2);
}

/* ---- Signs and widths ---- */

static void unsigned_columns_keep_their_sign(void **state)
{
    (void)state;
    const uint32_t ints[] = {3000000000u, 1, 40000, UINT32_MAX};
    const int64_t longs[] = {-1, 1};    /* 2^64 - 1 in memory */
    const int old_types[] = {11, 12, 13};
    for (size_t i = 0; i < 3; i++) {
        made_file *file = made_start();
        made_add_column(file, "k", AGB_PARQUET_INT32, AGB_PARQUET_REQUIRED, 0);
        file->column[0].converted = old_types[i];
        made_add_data(file, 0, 4, AGB_PARQUET_PLAIN, ints, sizeof ints);
        made_check_ints(file, AGB_TYPE_UINT32, ints, 4);
    }
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    file->column[0].converted = 14;
    made_add_data(file, 0, 2, AGB_PARQUET_PLAIN, longs, 16);
    made_check_longs(file, AGB_TYPE_UINT64, longs, 2);

    file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    file->column[0].unsigned_bits = 64;
    made_add_data(file, 0, 2, AGB_PARQUET_PLAIN, longs, 16);
    made_check_longs(file, AGB_TYPE_UINT64, longs, 2);

    file = made_start();
    made_add_column(file, "k", AGB_PARQUET_INT32, AGB_PARQUET_REQUIRED, 0);
    file->column[0].unsigned_bits = 16;
    made_add_data(file, 0, 4, AGB_PARQUET_PLAIN, ints, sizeof ints);
    made_check_ints(file, AGB_TYPE_UINT32, ints, 4);

    file = made_start();    /* -1 in a signed column is another type */
    made_add_column(file, "k", AGB_PARQUET_INT32, AGB_PARQUET_REQUIRED, 0);
    file->column[0].converted = 17;
    made_add_data(file, 0, 4, AGB_PARQUET_PLAIN, ints, sizeof ints);
    made_check_ints(file, AGB_TYPE_INT32, ints, 4);
}

static void differences_of_ints_may_need_33_bits(void **state)
{
    (void)state;
    const uint32_t wanted[] = {0x7fffffff, 0x80000000, 0x7fffffff};    /* 2147483647, -2147483648, 2147483647 */
    made_bytes bytes = {0};
    made_varint(&bytes, 128);
    made_varint(&bytes, 1);
    made_varint(&bytes, 3);
    made_zigzag(&bytes, 2147483647);
    made_zigzag(&bytes, -4294967295LL);
    made_byte(&bytes, 34);
    const uint64_t differences[2] = {UINT64_C(8589934590) << 34, UINT64_C(8589934590) >> 30};    /* 0, then 2^33 - 2 */
    made_put(&bytes, differences, 9);
    made_file *file = made_start();
    made_add_column(file, "k", AGB_PARQUET_INT32, AGB_PARQUET_REQUIRED, 0);
    made_add_data(file, 0, 3, AGB_PARQUET_DELTA_BINARY_PACKED, bytes.data, bytes.n);
    free(bytes.data);
    made_check_ints(file, AGB_TYPE_INT32, wanted, 3);
}

static void booleans_are_bits_or_runs(void **state)
{
    (void)state;
    const uint8_t wanted[] = {1, 0, 1, 1, 0, 0, 0, 1, 1, 1};
    const struct {
        int encoding;
        const char *bytes;
        size_t n;
    } forms[] = {
        {AGB_PARQUET_PLAIN, "\x8d\x03", 2},
        {AGB_PARQUET_RLE, "\4\0\0\0\3\x8d\4\1", 8},
    };
    for (size_t i = 0; i < 2; i++) {
        made_file *file = made_start();
        agb_table *table;
        made_add_column(file, "k", AGB_PARQUET_BOOLEAN, AGB_PARQUET_REQUIRED, 0);
        made_add_data(file, 0, 10, forms[i].encoding, forms[i].bytes, forms[i].n);
        agb_column column = made_load_column(file, AGB_TYPE_BOOL, 10, &table);
        assert_memory_equal(column.values, wanted, 10);
        agb_table_destroy(table);
    }
}

/* ---- NULLs ---- */

static void null_is_neither_zero_nor_minus_one(void **state)
{
    (void)state;
    struct __attribute__((packed)) {
        char levels[6];
        int64_t values[2];
    } page = {{2, 0, 0, 0, 3, 9}, {0, -1}};    /* packed levels 1 0 0 1 */
    made_file *file = made_long_column(AGB_PARQUET_OPTIONAL, 0);
    made_add_data(file, 0, 4, AGB_PARQUET_PLAIN, &page, sizeof page);
    agb_table *table;
    agb_column column = made_load_column(file, AGB_TYPE_INT64, 4, &table);
    const int64_t *got = column.values;
    assert_memory_equal(column.nulls, "\0\1\1\0", 4);
    assert_true(got[0] == 0 && got[1] == 0 && got[2] == 0 && got[3] == -1);
    agb_table_destroy(table);
}

static void null_and_the_empty_string_stay_apart(void **state)
{
    (void)state;
    const char *wanted[] = {"", NULL, "a", NULL, NULL, ""};
    made_file *file = made_start();
    made_add_column(file, "k", AGB_PARQUET_BYTE_ARRAY, AGB_PARQUET_OPTIONAL, 0);
    made_add_data(file, 0, 6, AGB_PARQUET_PLAIN, "\2\0\0\0\3\x25\0\0\0\0\1\0\0\0a\0\0\0\0", 19);
    made_check_strings(file, wanted, 6);
}

static void old_bit_packed_levels_start_at_the_highest_bit(void **state)
{
    (void)state;
    const char *wanted[] = {"x", NULL, "y", NULL, NULL, NULL, NULL, NULL, NULL, "z"};
    made_file *file = made_start();
    made_add_column(file, "k", AGB_PARQUET_BYTE_ARRAY, AGB_PARQUET_OPTIONAL, 0);
    made_add_page(file, 0, (made_page){.values = 10, .level_encoding = AGB_PARQUET_BIT_PACKED,
                                       .bytes = "\xa0\x40\1\0\0\0x\1\0\0\0y\1\0\0\0z", .n = 17});
    made_check_strings(file, wanted, 10);
}

/* ---- Files ---- */

static void a_right_checksum_is_accepted(void **state)
{
    (void)state;
    const int64_t wanted[] = {1, 2};
    uint32_t crc = (uint32_t)crc32(0, (const unsigned char *)wanted, 16);
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_page(file, 0, (made_page){.values = 2, .bytes = wanted, .n = 16, .crc = &crc});
    made_check_longs(file, AGB_TYPE_INT64, wanted, 2);
}

static void row_groups_follow_one_another_and_may_be_empty(void **state)
{
    (void)state;
    const int64_t wanted[] = {1, 2, 3};
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_data(file, 0, 2, AGB_PARQUET_PLAIN, wanted, 16);
    file->groups++;
    file->chunk[1][0] = (made_chunk){.type = AGB_PARQUET_INT64};
    file->groups++;
    made_add_data(file, 0, 1, AGB_PARQUET_PLAIN, wanted + 2, 8);
    made_check_longs(file, AGB_TYPE_INT64, wanted, 3);
}

/* A column that cannot be read does not stand in the way of one that can. */
static void other_columns_are_not_looked_at(void **state)
{
    (void)state;
    const int64_t wanted[] = {1, 2};
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_column(file, "lzo", AGB_PARQUET_INT64, AGB_PARQUET_REQUIRED, AGB_PARQUET_LZO);
    made_add_column(file, "deep", AGB_PARQUET_INT64, AGB_PARQUET_REQUIRED, 77);
    file->column[2].parent = 1;
    made_add_column(file, "odd", AGB_PARQUET_INT64, AGB_PARQUET_REQUIRED, 0);
    made_add_data(file, 0, 2, AGB_PARQUET_PLAIN, wanted, 16);
    made_add_data(file, 1, 2, AGB_PARQUET_PLAIN, wanted, 16);
    made_add_data(file, 3, 2, 77, wanted, 16);
    file->chunk[0][3].values = -1;
    made_check_longs(file, AGB_TYPE_INT64, wanted, 2);
}

/* Only the ends of the file are there; between them is a hole of 5 GiB. */
static void a_chunk_behind_5_gib_is_found(void **state)
{
    (void)state;
    const int64_t wanted[] = {1LL << 33, -1, 7};
    const uint64_t hole = UINT64_C(5) << 30;
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_data(file, 0, 3, AGB_PARQUET_PLAIN, wanted, sizeof wanted);
    file->chunk[0][0].data_offset += (int64_t)hole;
    made_end(file);
    char path[64];
    made_write("PAR1", 4, path);
    int fd = open(path, O_WRONLY);
    size_t rest = file->bytes.n - 4;
    bool written = pwrite(fd, file->bytes.data + 4, rest, (off_t)hole + 4) == (ssize_t)rest;
    close(fd);
    made_free(file);
    agb_table *table = NULL;
    agb_error err = {0};
    const char *name = "k";
    agb_status status = written ? agb_table_load(&table, made_registry, path, &name, 1, NULL, &err) : AGB_ERR_IO;
    unlink(path);
    if (!written) {
        printf("skipped: /tmp takes no sparse file of 5 GiB\n");
        skip();
    }
    if (status != AGB_OK)
        fail_msg("%s", err.text);
    agb_column column;
    assert_true(agb_table_find_column(table, "k", &column));
    assert_memory_equal(column.values, wanted, sizeof wanted);
    agb_table_destroy(table);
}

static void note_progress(void *context, uint64_t done, uint64_t total)
{
    uint64_t *last = context;
    assert_true(done >= *last && done <= total);
    *last = done;
}

static void progress_ends_at_all_rows(void **state)
{
    (void)state;
    const int64_t values[] = {1, 2, 3};
    made_file *file = made_long_column(AGB_PARQUET_REQUIRED, 0);
    made_add_data(file, 0, 1, AGB_PARQUET_PLAIN, values, 8);
    file->groups++;
    made_add_data(file, 0, 2, AGB_PARQUET_PLAIN, values, 16);
    made_end(file);
    char path[64];
    made_write(file->bytes.data, file->bytes.n, path);
    made_free(file);
    uint64_t last = 0;
    agb_table *table;
    const char *name = "k";
    agb_load_options options = {.progress = note_progress, .context = &last};
    assert_ok(agb_table_load(&table, made_registry, path, &name, 1, &options, err));
    unlink(path);
    agb_table_destroy(table);
    assert_int_equal(last, 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(indices_of_no_bits_are_read_with_and_without_a_run),
        cmocka_unit_test(an_empty_dictionary_goes_with_rows_that_are_all_null),
        cmocka_unit_test(pages_are_found_whatever_the_footer_says_of_the_dictionary),
        cmocka_unit_test(pages_of_other_kinds_are_skipped),
        cmocka_unit_test(unsigned_columns_keep_their_sign),
        cmocka_unit_test(differences_of_ints_may_need_33_bits),
        cmocka_unit_test(booleans_are_bits_or_runs),
        cmocka_unit_test(null_is_neither_zero_nor_minus_one),
        cmocka_unit_test(null_and_the_empty_string_stay_apart),
        cmocka_unit_test(old_bit_packed_levels_start_at_the_highest_bit),
        cmocka_unit_test(a_right_checksum_is_accepted),
        cmocka_unit_test(row_groups_follow_one_another_and_may_be_empty),
        cmocka_unit_test(other_columns_are_not_looked_at),
        cmocka_unit_test(a_chunk_behind_5_gib_is_found),
        cmocka_unit_test(progress_ends_at_all_rows),
    };
    return cmocka_run_group_tests(tests, made_set_up, made_tear_down);
}
