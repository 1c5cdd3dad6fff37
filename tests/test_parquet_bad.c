/* SPDX-License-Identifier: MIT */
/* Wrong Parquet files: each is refused with one clear sentence, at once, and without memory out of proportion. */
#include "parquet_check.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <time.h>

static void refused(made_file *file, agb_status status, const char *words)
{
    agb_table *table;
    assert_fails(status, words, made_load(&table, made_registry, file, "k", err));
    assert_null(table);
}

static const int64_t numbers[] = {11, 12, 13, 14};

/* A good file of four rows: a dictionary, a page of indices, a page of plain values. */
static made_file *good_file(void)
{
    made_file *file = made_start();
    made_add_column(file, "k", AGB_PARQUET_INT64, AGB_PARQUET_REQUIRED, 0);
    made_add_dictionary(file, 0, 2, numbers, 16);
    made_add_data(file, 0, 2, AGB_PARQUET_RLE_DICTIONARY, "\1\3\2", 3);
    made_add_data(file, 0, 2, AGB_PARQUET_PLAIN, numbers + 2, 16);
    return file;
}

static made_file *page_file(made_page page)
{
    made_file *file = made_start();
    made_add_column(file, "k", AGB_PARQUET_INT64, AGB_PARQUET_REQUIRED, 0);
    made_add_page(file, 0, page);
    file->chunk[0][0].values = 4;
    file->group_rows[0] = 4;
    return file;
}

/* ---- Claims ---- */

/* Of processor time: other programs of a busy machine do not count. */
static double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

/* File number i of those that claim `claim` in one place; NULL when there are no more. */
static made_file *claiming_file(size_t i, int64_t claim, const char **place)
{
    static const char *const places[] = {"page size", "stored size", "values of a page", "values of a dictionary",
                                         "values of a chunk", "bytes of a chunk", "rows of a row group",
                                         "rows of the file", "columns", "row groups", "length of a name",
                                         "level bytes", "chunk and row group", "everything", "length of the footer"};
    const made_page plain = {.values = 4, .bytes = numbers, .n = 32};
    made_page page = plain;
    made_file *file;
    if (i >= sizeof places / sizeof *places)
        return NULL;
    *place = places[i];
    switch (i) {
    case 0:
        page.unpacked = claim;
        return page_file(page);
    case 1:
        page.stored = claim;
        return page_file(page);
    case 2:
        page.values = claim;
        return page_file(page);
    case 3:
        page = (made_page){.type = AGB_PARQUET_DICTIONARY_PAGE, .values = claim, .bytes = numbers, .n = 32};
        file = page_file(page);
        made_add_page(file, 0, plain);
        file->chunk[0][0].values = 4;
        file->group_rows[0] = 4;
        return file;
    case 11:
        page = (made_page){.type = AGB_PARQUET_DATA_PAGE_V2, .values = 4, .bytes = numbers, .n = 32,
                           .definition_bytes = claim};
        return page_file(page);
    case 13:
        page.values = claim;
        file = page_file(page);
        file->chunk[0][0].values = file->group_rows[0] = claim;
        return file;
    default:
        break;
    }
    file = page_file(page);
    int64_t *const fields[] = {[4] = &file->chunk[0][0].values, [5] = &file->chunk[0][0].bytes,
                               [6] = &file->group_rows[0], [7] = &file->rows, [8] = &file->schema_list,
                               [9] = &file->group_list, [10] = &file->name_length, [12] = &file->group_rows[0],
                               [14] = &file->footer_length};
    *fields[i] = claim;
    if (i == 12)
        file->chunk[0][0].values = claim;
    return file;
}

static void huge_and_negative_claims_are_refused_at_once(void **state)
{
    (void)state;
    const int64_t claims[] = {INT32_MAX, -2, INT32_MAX / 64};
    struct rusage before, after;
    agb_table *good;
    assert_ok(made_load(&good, made_registry, good_file(), "k", err));    /* what only the first load costs */
    agb_table_destroy(good);
    getrusage(RUSAGE_SELF, &before);
    for (size_t c = 0; c < sizeof claims / sizeof *claims; c++) {
        made_file *file;
        const char *place = NULL;
        for (size_t i = 0; (file = claiming_file(i, claims[c], &place)) != NULL; i++) {
            agb_table *table;
            agb_error err = {0};
            double start = seconds();
            agb_status status = made_load(&table, made_registry, file, "k", &err);
            if (status == AGB_OK || !strstr(err.text, "parquet: /tmp/"))
                fail_msg("%s: claim %lld: %s", place, (long long)claims[c], err.text);
            if (seconds() - start > 0.1)
                fail_msg("%s: claim %lld: took %.3f s", place, (long long)claims[c], seconds() - start);
        }
    }
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 32 << 10);    /* KiB */
}

static void a_footer_that_disagrees_with_itself_is_refused(void **state)
{
    (void)state;
    made_file *file = good_file();
    file->rows = 5;
    refused(file, AGB_ERR_FORMAT, "the footer claims 5 rows, its 1 row groups have 4");
    file = good_file();
    file->chunk[0][0].values = 3;
    refused(file, AGB_ERR_FORMAT, "column k|row group 0|claims 3 values, its row group has 4 rows");
    file = good_file();
    file->chunk[0][0].type = AGB_PARQUET_INT32;
    refused(file, AGB_ERR_FORMAT, "has type INT32, the schema says INT64");
    file = good_file();
    file->chunk[0][0].undescribed = true;
    refused(file, AGB_ERR_FORMAT, "leaves out");
    file = good_file();
    file->chunk[0][0].data_offset = 1000000;
    file->chunk[0][0].dictionary_offset = -4;
    refused(file, AGB_ERR_FORMAT, "said to start at byte 1000000, allowed range is 4..");
    file = good_file();
    file->schema_list = 1;
    refused(file, AGB_ERR_FORMAT, "fewer elements");
    file = good_file();
    file->column[0].type = -7;
    refused(file, AGB_ERR_FORMAT, "column k: physical type -7, allowed range is 0..7");
    file = good_file();
    file->chunk[0][0].bytes = 60;
    file->group_rows[0] = file->chunk[0][0].values = 100 << 20;
    refused(file, AGB_ERR_FORMAT, "104857600 rows in a column chunk of 60 bytes");
}

/* ---- Pages ---- */

static void damaged_pages_are_named_by_place(void **state)
{
    (void)state;
    made_file *file = good_file();
    file->chunk[0][0].values = file->group_rows[0] = 5;
    refused(file, AGB_ERR_FORMAT, "column k: row group 0|page at byte|pages end after 4 of 5 rows");
    refused(page_file((made_page){.values = 4, .bytes = numbers, .n = 31}), AGB_ERR_FORMAT,
            "page at byte 4|fewer values");
    refused(page_file((made_page){.values = 4, .bytes = numbers, .n = 32, .crc = &(uint32_t){1}}), AGB_ERR_FORMAT,
            "page at byte 4|checksum|00000001");
    refused(page_file((made_page){.type = AGB_PARQUET_DICTIONARY_PAGE, .values = -3, .bytes = numbers, .n = 32}),
            AGB_ERR_FORMAT, "negative number of values (-3)");
    refused(page_file((made_page){.type = AGB_PARQUET_DATA_PAGE_V2, .values = 4, .bytes = numbers, .n = 32,
                                  .definition_bytes = 33}), AGB_ERR_FORMAT, "33 bytes of levels in a page of 32");
    file = good_file();
    int64_t first = file->chunk[0][0].dictionary_offset;
    made_add_dictionary(file, 0, 2, numbers, 16);
    made_add_data(file, 0, 1, AGB_PARQUET_PLAIN, numbers, 8);
    file->chunk[0][0].dictionary_offset = first;
    refused(file, AGB_ERR_FORMAT, "two dictionaries");
}

static void damaged_indices_are_refused(void **state)
{
    (void)state;
    made_page page = {.values = 4, .encoding = AGB_PARQUET_RLE_DICTIONARY};
    page.bytes = "\2\3\x24\0", page.n = 4;
    refused(page_file(page), AGB_ERR_FORMAT, "needs a dictionary and the chunk has none");
    const struct {
        const char *bytes, *words;
        size_t n, entries;
    } pages[] = {
        {"\2\3\x24\0", "dictionary index 2 is past the dictionary of 2 values", 4, 2},
        {"\2\x08\3", "dictionary index 3 is past the dictionary of 2 values", 3, 2},
        {"\0\x08", "dictionary index 0 is past the dictionary of 0 values", 2, 0},
        {"\0", "dictionary index 0 is past the dictionary of 0 values", 1, 0},
        {"\x21\3\0\0", "index of 33 bits, allowed range is 0..32", 4, 2},
        {"\1\4\1", "fewer values", 3, 2},
        {"\1\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "fewer values", 11, 2},
        {"", "fewer values", 0, 2},
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        made_file *file = made_start();
        made_add_column(file, "k", AGB_PARQUET_INT64, AGB_PARQUET_REQUIRED, 0);
        made_add_dictionary(file, 0, (int64_t)pages[i].entries, numbers, pages[i].entries * 8);
        made_add_data(file, 0, 4, AGB_PARQUET_RLE_DICTIONARY, pages[i].bytes, pages[i].n);
        refused(file, AGB_ERR_FORMAT, pages[i].words);
    }
}

static void damaged_levels_are_refused(void **state)
{
    (void)state;
    const struct {
        const char *bytes, *words;
        size_t n;
    } pages[] = {
        {"\2\0\0\0\4\0", "fewer levels", 6},
        {"\2\0\0\0\x08\2", "a definition level of 2, allowed range is 0..1", 6},
        {"\7\0\0\0\x08\1", "7 bytes of levels in a page that has 2 left", 6},
        {"\2\0", "ends inside its levels", 2},
        {"\2\0\0\0\x08\1", "fewer values", 6},
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        made_file *file = page_file((made_page){.values = 4, .bytes = pages[i].bytes, .n = pages[i].n});
        file->column[0].repetition = AGB_PARQUET_OPTIONAL;
        refused(file, AGB_ERR_FORMAT, pages[i].words);
    }
}

static void damaged_strings_are_refused(void **state)
{
    (void)state;
    const struct {
        int encoding;
        const char *bytes, *words;
        size_t n;
    } pages[] = {
        {AGB_PARQUET_PLAIN, "\1\0\0\0a\xff\xff\xff\x7f", "a string of 2147483647 bytes runs past its page", 9},
        {AGB_PARQUET_PLAIN, "\1\0\0\0a\1", "fewer values", 6},
        /* lengths of -1 */
        {AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY, "\x80\1\1\4\1\0\0", "runs past its page", 7},
        {AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY, "\x80\1\1\4\2\0\0", "a string of 1 bytes runs past its page", 7},
        {AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY, "\x80\1\1\1\0", "end early", 5},
        {AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY, "\x80\1\0\1\2", "delta blocks of 128 values in 0 miniblocks", 5},
        {AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY, "\x80\1\1\4\0\0\x41", "a delta width of 65 bits", 7},
        {AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY, "\x80\1\1\4\0\0\x20", "end early", 7},
        {AGB_PARQUET_DELTA_LENGTH_BYTE_ARRAY, "\x80", "ends early", 1},
        /* the first string shares 1 byte with nothing */
        {AGB_PARQUET_DELTA_BYTE_ARRAY, "\x80\1\1\4\2\0\0\x80\1\1\4\0\0\0", "shares 1 bytes with one of 0 bytes", 14},
    };
    for (size_t i = 0; i < sizeof pages / sizeof *pages; i++) {
        made_file *file = page_file((made_page){.values = 4, .encoding = pages[i].encoding, .bytes = pages[i].bytes,
                                                .n = pages[i].n});
        file->column[0].type = file->chunk[0][0].type = AGB_PARQUET_BYTE_ARRAY;
        refused(file, AGB_ERR_FORMAT, pages[i].words);
    }
}

static void damaged_packed_data_are_refused(void **state)
{
    (void)state;
    for (int codec = AGB_PARQUET_SNAPPY; codec < AGB_PARQUET_CODECS; codec++) {
        if (codec == AGB_PARQUET_LZO)
            continue;
        made_file *file = page_file((made_page){.values = 4, .bytes = "\x20zzzzzzzzzzzzz", .n = 14, .unpacked = 32});
        file->chunk[0][0].codec = codec;
        refused(file, AGB_ERR_FORMAT, "data are damaged");
        file = page_file((made_page){.values = 4, .bytes = "\x20zzzzzzzzzzzzz", .n = 14, .unpacked = INT32_MAX});
        file->chunk[0][0].codec = codec;
        refused(file, AGB_ERR_UNSUPPORTED, "a page of 2147483647 bytes is larger than the limit of 1073741824");
    }
    made_file *file = page_file((made_page){.values = 4, .bytes = "\x20zzz", .n = 4, .unpacked = 100000});
    file->chunk[0][0].codec = AGB_PARQUET_SNAPPY;
    refused(file, AGB_ERR_FORMAT, "4 bytes of codec SNAPPY cannot become 100000 bytes");
}

/* ---- What is valid, and not done ---- */

static void what_is_not_supported_is_named(void **state)
{
    (void)state;
    made_file *file = good_file();
    file->chunk[0][0].codec = AGB_PARQUET_LZO;
    refused(file, AGB_ERR_UNSUPPORTED, "column k: row group 0|codec LZO (3) is not supported");
    file = good_file();
    file->chunk[0][0].codec = 77;
    refused(file, AGB_ERR_UNSUPPORTED, "column k: row group 0|codec unknown (77) is not supported");
    refused(page_file((made_page){.values = 4, .encoding = 77, .bytes = numbers, .n = 32}), AGB_ERR_UNSUPPORTED,
            "column k: row group 0: page at byte 4|encoding unknown (77) of type INT64 is not supported");
    refused(page_file((made_page){.values = 4, .encoding = AGB_PARQUET_DELTA_BYTE_ARRAY, .bytes = numbers, .n = 32}),
            AGB_ERR_UNSUPPORTED, "encoding DELTA_BYTE_ARRAY (7) of type INT64 is not supported");
    file = good_file();
    file->chunk[0][0].encrypted = true;
    refused(file, AGB_ERR_UNSUPPORTED, "'k'|encrypted");
    file = good_file();
    file->chunk[0][0].elsewhere = true;
    refused(file, AGB_ERR_UNSUPPORTED, "in another file");
    file = good_file();
    file->column[0].repetition = AGB_PARQUET_REPEATED;
    refused(file, AGB_ERR_UNSUPPORTED, "'k'|nested or repeated");
    file = good_file();
    file->magic = "PARE";
    refused(file, AGB_ERR_UNSUPPORTED, "the footer is encrypted (magic PARE)");
}

static void a_nested_column_is_refused_by_its_path(void **state)
{
    (void)state;
    agb_table *table;
    made_file *file = good_file();
    file->column[0].parent = 1;
    assert_fails(AGB_ERR_UNSUPPORTED, "'group.k'|nested",
                 made_load(&table, made_registry, file, "group.k", err));
}

/* Zeros of either sign and NaNs of many kinds would need a rule of their own: hits has no such column. */
static void floating_point_is_refused_by_name(void **state)
{
    (void)state;
    const struct {
        int type;
        const char *words;
    } types[] = {
        {AGB_PARQUET_FLOAT, "'k'|FLOAT"},
        {AGB_PARQUET_DOUBLE, "'k'|DOUBLE"},
        {AGB_PARQUET_INT96, "'k'|INT96"},
    };
    for (size_t i = 0; i < 3; i++) {
        made_file *file = good_file();
        file->column[0].type = file->chunk[0][0].type = types[i].type;
        refused(file, AGB_ERR_UNSUPPORTED, types[i].words);
    }
}

static void a_misspelt_column_is_answered_with_the_right_one(void **state)
{
    (void)state;
    agb_table *table;
    made_file *file = good_file();
    file->column[0].name = "UserID";
    assert_fails(AGB_ERR_NOT_FOUND, "userid|UserID", made_load(&table, made_registry, file, "userid", err));
}

/* ---- Files ---- */

static void what_is_no_parquet_file_is_refused(void **state)
{
    (void)state;
    agb_table *table;
    assert_fails(AGB_ERR_FORMAT, "not a Parquet file: bad magic",
                 made_load_bytes(&table, made_registry, "UserID\n1\n2\n", 11, "k", err));
    assert_fails(AGB_ERR_FORMAT, "8 bytes are too few",
                 made_load_bytes(&table, made_registry, "PAR1PAR1", 8, "k", err));
    assert_fails(AGB_ERR_UNSUPPORTED, "encrypted",
                 made_load_bytes(&table, made_registry, "PARE____________PARE", 20, "k", err));
    assert_fails(AGB_ERR_FORMAT, "footer length 13 is larger than the file, which has room for 4",
                 made_load_bytes(&table, made_registry, "PAR1____\15\0\0\0PAR1", 16, "k", err));
}

/* Each start of a good file is refused: nothing that is cut short passes as a smaller whole. */
static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    made_file *file = good_file();
    made_end(file);
    for (size_t n = 1; n < file->bytes.n; n++) {
        agb_table *table;
        agb_error err = {0};
        if (made_load_bytes(&table, made_registry, file->bytes.data, n, "k", &err) == AGB_OK)
            fail_msg("the first %zu of %zu bytes are accepted", n, file->bytes.n);
        assert_true(err.text[0] != '\0');
    }
    made_free(file);
}

/* Every bit of a good file turned over, one at a time: read or refused with a sentence, under the sanitizers too. */
static void a_turned_bit_is_read_or_refused(void **state)
{
    (void)state;
    made_file *file = good_file();
    made_end(file);
    for (size_t bit = 0; bit < file->bytes.n * 8; bit++) {
        agb_table *table;
        agb_error err = {0};
        file->bytes.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        agb_status status = made_load_bytes(&table, made_registry, file->bytes.data, file->bytes.n, "k", &err);
        file->bytes.data[bit / 8] ^= (unsigned char)(1u << bit % 8);
        assert_true(status == AGB_OK || err.text[0] != '\0');
        agb_table_destroy(table);
    }
    made_free(file);
}

/* With several workers the first failure in the file is the one that is told. */
static void the_first_damaged_row_group_is_named(void **state)
{
    (void)state;
    made_file *file = good_file();
    for (size_t g = 1; g < MADE_GROUPS; g++) {
        file->groups++;
        made_add_data(file, 0, 4, AGB_PARQUET_PLAIN, numbers, 31);
    }
    made_end(file);
    char path[64];
    made_write(file->bytes.data, file->bytes.n, path);
    made_free(file);
    agb_pool *pool;
    assert_ok(agb_pool_create(&pool, 3, NULL, err));
    agb_load_options options = {.pool = pool};
    for (size_t round = 0; round < 20; round++) {
        agb_table *table;
        const char *name = "k";
        assert_fails(AGB_ERR_FORMAT, "row group 1: page at byte",
                     agb_table_load(&table, made_registry, path, &name, 1, &options, err));
    }
    unlink(path);
    agb_pool_destroy(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(huge_and_negative_claims_are_refused_at_once),
        cmocka_unit_test(a_footer_that_disagrees_with_itself_is_refused),
        cmocka_unit_test(damaged_pages_are_named_by_place),
        cmocka_unit_test(damaged_indices_are_refused),
        cmocka_unit_test(damaged_levels_are_refused),
        cmocka_unit_test(damaged_strings_are_refused),
        cmocka_unit_test(damaged_packed_data_are_refused),
        cmocka_unit_test(what_is_not_supported_is_named),
        cmocka_unit_test(a_nested_column_is_refused_by_its_path),
        cmocka_unit_test(floating_point_is_refused_by_name),
        cmocka_unit_test(a_misspelt_column_is_answered_with_the_right_one),
        cmocka_unit_test(what_is_no_parquet_file_is_refused),
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(a_turned_bit_is_read_or_refused),
        cmocka_unit_test(the_first_damaged_row_group_is_named),
    };
    return cmocka_run_group_tests(tests, made_set_up, made_tear_down);
}
