/* SPDX-License-Identifier: MIT */
/* Damaged, cut and hostile .agb files: each is refused with one sentence that says where. Hostile files are made by
 * giving wrong numbers a right checksum. */
#include "agb/block.h"
#include "agb/footer.h"
#include "agb_fixture.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <xxhash.h>

/* ---- Accidents ---- */

enum { SMALL = 6 };
static const char *const small_names[SMALL] = {"int64", "bytes", "runs", "bool with NULL", "bytes with NULL",
                                               "runs with NULL"};

/* Whether a damaged file is refused with a sentence that names it, or its data are all as they were. */
static bool is_refused(const fixture *f, const agb_table *saved, size_t columns, bool *same)
{
    agb_table *loaded;
    agb_error err = {0};
    *same = false;
    if (fixture_load(f, &loaded, small_names, columns, &err) != AGB_OK) {
        assert_non_null(strstr(err.text, "t.agb"));
        return true;
    }
    *same = true;
    for (size_t i = 0; i < columns; i++)
        *same &= fixture_same(saved, loaded, small_names[i], 1);
    agb_table_destroy(loaded);
    return false;
}

static int open_file(const fixture *f)
{
    int fd = open(f->path, O_RDWR);
    assert_true(fd >= 0);
    return fd;
}

static void flip(int fd, size_t at, unsigned char mask)
{
    unsigned char byte;
    assert_int_equal(pread(fd, &byte, 1, (off_t)at), 1);
    byte ^= mask;
    assert_int_equal(pwrite(fd, &byte, 1, (off_t)at), 1);
}

/* Flips bits of each byte, one byte at a time; how many flips went unnoticed. */
static size_t flip_all(const fixture *f, const agb_table *saved, size_t columns, unsigned char mask)
{
    size_t n, unnoticed = 0;
    free(fixture_bytes(f, &n));
    int fd = open_file(f);
    for (size_t i = 0; i < n; i++) {
        bool same;
        flip(fd, i, mask);
        if (!is_refused(f, saved, columns, &same)) {
            unnoticed++;
            if (!same)
                fail_msg("byte %zu of %zu: flipped, and other data are loaded", i, n);
        }
        flip(fd, i, mask);
    }
    close(fd);
    return unnoticed;
}

static void every_flipped_byte_of_a_compressed_file_is_refused(void **state)
{
    agb_table *saved = fixture_table(40, FIXTURE_COLUMNS);
    fixture_save(*state, saved, small_names, SMALL, "zstd");
    assert_int_equal(flip_all(*state, saved, SMALL, 0x01), 0);
    assert_int_equal(flip_all(*state, saved, SMALL, 0x80), 0);
    agb_table_destroy(saved);
}

/* Here there are gaps, in which a flip changes nothing that is data. */
static void every_flipped_byte_of_a_mapped_file_is_refused_or_in_a_gap(void **state)
{
    fixture *f = *state;
    agb_table *saved = fixture_table(600, FIXTURE_COLUMNS);
    fixture_save(f, saved, small_names, 2, "none");
    size_t n, zeros = 0;
    unsigned char *bytes = fixture_bytes(f, &n);
    for (size_t i = 0; i < n; i++)
        zeros += bytes[i] == 0;
    free(bytes);
    size_t unnoticed = flip_all(f, saved, 2, 0xff);
    assert_true(unnoticed > 0 && unnoticed < zeros);
    agb_table_destroy(saved);
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    fixture *f = *state;
    agb_table *saved = fixture_table(40, FIXTURE_COLUMNS);
    fixture_save(f, saved, small_names, SMALL, NULL);
    size_t n;
    free(fixture_bytes(f, &n));
    int fd = open_file(f);
    for (size_t length = n; length-- > 0;) {
        bool same;
        assert_int_equal(ftruncate(fd, (off_t)length), 0);
        if (!is_refused(f, saved, SMALL, &same))
            fail_msg("the first %zu of %zu bytes are accepted", length, n);
    }
    close(fd);
    agb_table_destroy(saved);
}

static void bytes_behind_the_end_are_refused(void **state)
{
    fixture *f = *state;
    agb_table *saved = fixture_table(40, FIXTURE_COLUMNS), *loaded;
    fixture_save(f, saved, small_names, SMALL, NULL);
    FILE *file = fopen(f->path, "ab");
    fputs("AGBEND\r\n", file);
    fclose(file);
    assert_fails(AGB_ERR_FORMAT, "t.agb: a footer of|does not end where the tail begins",
                 fixture_load(f, &loaded, small_names, SMALL, err));
    agb_table_destroy(saved);
}

static void a_damaged_block_is_named_by_column_and_rows(void **state)
{
    fixture *f = *state;
    agb_pool *pool;
    agb_table *saved = fixture_table(300001, 7), *loaded;
    assert_ok(agb_pool_create(&pool, 3, NULL, err));
    for (size_t mapped = 0; mapped < 2; mapped++) {
        fixture_save(f, saved, (const char *[]){"int64", "int32"}, 2, mapped ? "none" : "zstd");
        int fd = open_file(f);
        flip(fd, AGB_NATIVE_PAGE_BYTES + 150000 * 8, 1);    /* uncompressed also under zstd: the numbers are random */
        flip(fd, AGB_NATIVE_PAGE_BYTES + 280000 * 8, 1);
        close(fd);
        agb_load_options options = {.pool = pool};
        const char *name = "int64";
        assert_fails(AGB_ERR_FORMAT, "column int64: rows 131072..262143: |are damaged: their checksum is",
                     agb_table_load(&loaded, f->registry, f->path, &name, 1, &options, err));
        assert_null(loaded);
        name = "int32";    /* what is not wanted does not matter */
        assert_ok(agb_table_load(&loaded, f->registry, f->path, &name, 1, &options, err));
        assert_same(saved, loaded, &name, 1);
        agb_table_destroy(loaded);
    }
    agb_pool_destroy(pool);
    agb_table_destroy(saved);
}

static void what_is_no_agb_file_is_refused(void **state)
{
    fixture *f = *state;
    agb_table *loaded;
    fixture_put_bytes(f, (const unsigned char *)"\1\2\3\0\0", 5);
    assert_fails(AGB_ERR_FORMAT, "agb: |t.agb: not an .agb file: bad magic",
                 fixture_load(f, &loaded, small_names, 1, err));
    fixture_put_bytes(f, (const unsigned char *)"AGBCOL\r\n\1\0\0\0\0\0\0\0", 16);
    assert_fails(AGB_ERR_FORMAT, "cut short: 16 bytes are too few, the least is 48",
                 fixture_load(f, &loaded, small_names, 1, err));
}

/* ---- Hostile files ---- */

/* A file of one column "c" of two chunks, whose footer a test may change before it is sealed. */
typedef struct made {
    agb_native_file file;
    agb_native_column column[2];
    agb_native_chunk chunk[2];
    unsigned char blocks[1 << 10];
    size_t bytes;
} made;

static agb_native_block *made_block(made *m, size_t chunk, agb_native_kind kind)
{
    return &m->chunk[chunk].block[kind];
}

static void made_add(made *m, size_t chunk, agb_native_kind kind, const void *values, size_t n)
{
    memcpy(m->blocks + m->bytes, values, n);
    *made_block(m, chunk, kind) = (agb_native_block){.offset = AGB_NATIVE_HEADER_BYTES + m->bytes, .stored_bytes = n,
                                                     .unpacked_bytes = n, .hash = XXH3_64bits(values, n)};
    m->bytes += n;
}

static void made_start(made *m, agb_type type, uint64_t rows)
{
    *m = (made){.file = {.rows = 2 * rows, .columns = 1}};
    m->file.column = m->column;
    m->column[0] = (agb_native_column){"c", type, agb_native_type_number(type), 2, m->chunk};
    m->chunk[0].rows = m->chunk[1].rows = rows;
}

/* Two chunks of two 64-bit numbers. */
static made made_numbers(void)
{
    static const int64_t values[4] = {1, 2, 3, 4};
    made m;
    made_start(&m, AGB_TYPE_INT64, 2);
    made_add(&m, 0, AGB_NATIVE_VALUES, values, 16);
    made_add(&m, 1, AGB_NATIVE_VALUES, values + 2, 16);
    m.column[0].chunk = NULL;    /* set when it is written: the struct is copied about */
    return m;
}

static agb_status made_load(const fixture *f, made *m, agb_error *err)
{
    unsigned char header[AGB_NATIVE_HEADER_BYTES];
    size_t footer_bytes;
    agb_table *loaded;
    m->file.column = m->column;
    for (size_t i = 0; i < 2; i++)
        m->column[i].chunk = m->chunk;
    unsigned char *footer = agb_native_footer_make(&m->file, AGB_NATIVE_HEADER_BYTES + m->bytes, &footer_bytes);
    agb_native_header_make(header);
    FILE *file = fopen(f->path, "wb");
    fwrite(header, 1, sizeof header, file);
    fwrite(m->blocks, 1, m->bytes, file);
    fwrite(footer, 1, footer_bytes, file);
    fclose(file);
    free(footer);
    agb_status status = fixture_load(f, &loaded, (const char *[]){"c"}, 1, err);
    agb_table_destroy(loaded);
    return status;
}

#define REFUSED(status, words, m) assert_fails(status, words, made_load(*state, m, err))

static void a_made_file_is_good_before_it_is_spoilt(void **state)
{
    made m = made_numbers();
    assert_ok(made_load(*state, &m, err));
}

static void a_newer_version_is_refused(void **state)
{
    fixture *f = *state;
    agb_table *saved = fixture_table(40, FIXTURE_COLUMNS), *loaded;
    fixture_save(f, saved, small_names, SMALL, NULL);
    int fd = open_file(f);
    flip(fd, AGB_NATIVE_MAGIC_BYTES, AGB_NATIVE_VERSION ^ (AGB_NATIVE_VERSION + 1));
    close(fd);
    assert_fails(AGB_ERR_UNSUPPORTED, "version 2 of the format, this program reads up to 1",
                 fixture_load(f, &loaded, small_names, 1, err));
    agb_table_destroy(saved);
}

static void a_footer_that_contradicts_itself_is_refused(void **state)
{
    made m = made_numbers();
    m.file.rows = 5;
    REFUSED(AGB_ERR_FORMAT, "column c: its chunks have 4 rows, the footer says 5", &m);
    m = made_numbers();
    m.chunk[1].rows = 0;
    REFUSED(AGB_ERR_FORMAT, "chunk 2 claims 0 rows, allowed range is 1..1048576", &m);
    m = made_numbers();
    m.chunk[0].rows = UINT64_MAX;
    REFUSED(AGB_ERR_FORMAT, "chunk 1 claims 18446744073709551615 rows", &m);
    m = made_numbers();
    m.column[1] = m.column[0];
    m.file.columns = 2;
    REFUSED(AGB_ERR_FORMAT, "column c stands there twice", &m);
    m.column[1].name = "d";
    REFUSED(AGB_ERR_FORMAT, "column d: rows 0..1: |overlaps its neighbour", &m);
    m = made_numbers();
    m.column[0].name = "";
    REFUSED(AGB_ERR_FORMAT, "column number 1: its name is empty", &m);
    m = made_numbers();
    m.file.columns = 0;
    REFUSED(AGB_ERR_FORMAT, "claims 0 columns, allowed range is 1..10000", &m);
}

static void blocks_outside_their_place_are_refused(void **state)
{
    const struct {
        uint64_t offset, bytes;
    } places[] = {{31, 16}, {0, 16}, {47, 16}, {48, 1}, {1000, 16}, {UINT64_MAX, 16}, {32, UINT64_MAX},
                  {UINT64_MAX - 7, 16}, {32, 1 << 30}};
    for (size_t i = 0; i < sizeof places / sizeof places[0]; i++) {
        made m = made_numbers();
        agb_native_block *block = made_block(&m, 1, AGB_NATIVE_VALUES);
        block->offset = places[i].offset;
        block->stored_bytes = block->unpacked_bytes = places[i].bytes;
        REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3|overlaps its neighbour or the footer|allowed range is 32..48", &m);
    }
}

static void sizes_that_cannot_be_are_refused(void **state)
{
    made m = made_numbers();
    made_block(&m, 1, AGB_NATIVE_VALUES)->unpacked_bytes = 24;
    REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3: an uncompressed block of 16 bytes claims to have 24", &m);
    m = made_numbers();
    m.chunk[0].rows = 3, m.file.rows = 5;
    REFUSED(AGB_ERR_FORMAT, "column c: rows 0..2: 3 values of 8 bytes in a block of 16 unpacked bytes", &m);
    m = made_numbers();
    m.chunk[1].block[AGB_NATIVE_VALUES] = (agb_native_block){0};
    REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3: there is no block of its values", &m);
    m = made_numbers();
    made_add(&m, 1, AGB_NATIVE_BYTES, "abc", 3);
    REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3: a block of string bytes in a column that has no strings", &m);
    m = made_numbers();
    made_block(&m, 0, AGB_NATIVE_VALUES)->codec = AGB_NATIVE_ZSTD;
    made_block(&m, 0, AGB_NATIVE_VALUES)->unpacked_bytes = UINT64_C(1) << 40;
    REFUSED(AGB_ERR_UNSUPPORTED, "a block of 1099511627776 unpacked bytes is larger than the limit of 1073741824", &m);
    made_block(&m, 0, AGB_NATIVE_VALUES)->unpacked_bytes = 8 << 20;
    m.chunk[0].rows = 1 << 20, m.file.rows = (1 << 20) + 2;
    REFUSED(AGB_ERR_FORMAT, "column c: rows 0..1048575: 16 stored bytes cannot become 8388608", &m);
}

static void what_is_not_known_is_refused_by_number(void **state)
{
    made m = made_numbers();
    made_block(&m, 1, AGB_NATIVE_VALUES)->codec = 7;
    REFUSED(AGB_ERR_UNSUPPORTED, "column c: rows 2..3: codec number 7 is not known", &m);
    m = made_numbers();
    made_block(&m, 1, AGB_NATIVE_VALUES)->coding = 9;
    REFUSED(AGB_ERR_UNSUPPORTED, "column c: rows 2..3: coding number 9 is not known", &m);
    m = made_numbers();
    m.column[0].type_number = 99;
    REFUSED(AGB_ERR_UNSUPPORTED, "'c'|of type number 99, which is not known", &m);
    made_start(&m, AGB_TYPE_BYTES, 1);
    made_add(&m, 0, AGB_NATIVE_VALUES, "\2\0\0\0", 4);
    made_add(&m, 1, AGB_NATIVE_VALUES, "\0\0\0\0", 4);
    made_add(&m, 0, AGB_NATIVE_BYTES, "a\2", 2);
    made_block(&m, 0, AGB_NATIVE_BYTES)->coding = AGB_NATIVE_RUNS;
    REFUSED(AGB_ERR_UNSUPPORTED, "column c: rows 0..0: string bytes of coding number 1", &m);
}

static void runs_that_are_not_those_of_the_rows_are_refused(void **state)
{
    static const char *const runs[] = {"\1\0\0\0\0\0\0\0\1", "\1\0\0\0\0\0\0\0\3", "\1\0\0\0\0\0\0\0\0",
                                       "\1\0\0\0\0\0\0\0\xff"};
    made m;
    for (size_t i = 0; i < 4; i++) {
        made_start(&m, AGB_TYPE_INT64, 2);
        made_add(&m, 0, AGB_NATIVE_VALUES, "\1\0\0\0\0\0\0\0\2", 9);
        made_add(&m, 1, AGB_NATIVE_VALUES, runs[i], 9);
        made_block(&m, 0, AGB_NATIVE_VALUES)->coding = made_block(&m, 1, AGB_NATIVE_VALUES)->coding = AGB_NATIVE_RUNS;
        REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3: its runs are not those of 2 values", &m);
    }
    m.chunk[1].rows = 256, m.file.rows = 258;
    REFUSED(AGB_ERR_FORMAT, "column c: rows 2..257: 256 values of 8 bytes in runs of 9 unpacked bytes", &m);
    m.chunk[1].rows = 2, m.file.rows = 4;
    made_block(&m, 1, AGB_NATIVE_VALUES)->stored_bytes = made_block(&m, 1, AGB_NATIVE_VALUES)->unpacked_bytes = 8;
    REFUSED(AGB_ERR_FORMAT, "2 values of 8 bytes in runs of 8 unpacked bytes", &m);
}

static void frames_of_another_size_are_refused(void **state)
{
    agb_native_packer packer = {0};
    enum { VALUES = 512 };
    int64_t values[VALUES + 1] = {0};
    for (int more = -1; more <= 1; more++) {
        agb_native_block block;
        made m;
        made_start(&m, AGB_TYPE_INT64, VALUES);
        const void *frame = agb_native_block_pack(&packer, AGB_NATIVE_ZSTD, false, values, (uint64_t)(VALUES + more), 8,
                                                  &block);
        for (size_t i = 0; i < 2; i++) {
            made_add(&m, i, AGB_NATIVE_VALUES, frame, block.stored_bytes);
            made_block(&m, i, AGB_NATIVE_VALUES)->codec = AGB_NATIVE_ZSTD;
            made_block(&m, i, AGB_NATIVE_VALUES)->unpacked_bytes = VALUES * sizeof values[0];
        }
        if (more)
            REFUSED(AGB_ERR_FORMAT, "column c: rows 0..511: the zstd frame at offset 16", &m);
        else
            assert_ok(made_load(*state, &m, err));
    }
    agb_native_packer_release(&packer);
    made m = made_numbers();
    made_block(&m, 1, AGB_NATIVE_VALUES)->codec = AGB_NATIVE_ZSTD;
    REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3: the zstd frame at offset 32 is damaged", &m);
}

static void values_that_break_a_rule_are_refused(void **state)
{
    made m;
    made_start(&m, AGB_TYPE_BOOL, 2);
    made_add(&m, 0, AGB_NATIVE_VALUES, "\0\1", 2);
    made_add(&m, 1, AGB_NATIVE_VALUES, "\0\2", 2);
    REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3: a boolean that is neither 0 nor 1", &m);
    m = made_numbers();
    made_add(&m, 1, AGB_NATIVE_NULLS, "\0\2", 2);
    REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3: a NULL byte that is neither 0 nor 1", &m);
    m = made_numbers();
    made_add(&m, 1, AGB_NATIVE_NULLS, "\0\1", 2);
    REFUSED(AGB_ERR_FORMAT, "column c: rows 2..3: row 3 is NULL and has a value", &m);
    for (unsigned length = 0; length < 5; length++) {
        uint32_t lengths[2] = {1, length == 4 ? UINT32_MAX : length};
        made_start(&m, AGB_TYPE_BYTES, 1);
        made_add(&m, 0, AGB_NATIVE_VALUES, &lengths[0], 4);
        made_add(&m, 1, AGB_NATIVE_VALUES, &lengths[1], 4);
        made_add(&m, 0, AGB_NATIVE_BYTES, "a", 1);
        made_add(&m, 1, AGB_NATIVE_BYTES, "bc", 2);
        if (length == 2)
            assert_ok(made_load(*state, &m, err));
        else
            REFUSED(AGB_ERR_FORMAT, "column c: rows 1..1: its strings have 2 bytes, their lengths say", &m);
    }
    made_block(&m, 1, AGB_NATIVE_BYTES)->stored_bytes = 0;
    REFUSED(AGB_ERR_FORMAT, "column c: rows 1..1: no stored bytes cannot become 2", &m);
    made_block(&m, 1, AGB_NATIVE_BYTES)->unpacked_bytes = 0;
    REFUSED(AGB_ERR_FORMAT, "column c: rows 1..1: its strings have 0 bytes, their lengths say 4294967295", &m);
}

/* Claims of any size cost neither time nor memory. */
static void claims_cost_nothing(void **state)
{
    struct rusage before, after;
    getrusage(RUSAGE_SELF, &before);
    for (unsigned bit = 0; bit < 64; bit++)
        for (size_t field = 0; field < 5; field++) {
            made m = made_numbers();
            agb_native_block *block = made_block(&m, 1, AGB_NATIVE_VALUES);
            uint64_t *const fields[] = {&block->offset, &block->stored_bytes, &block->unpacked_bytes, &m.chunk[1].rows,
                                        &m.file.rows};
            *fields[field] += UINT64_C(1) << bit;
            block->codec = AGB_NATIVE_ZSTD;
            agb_error err = {0};
            assert_int_not_equal(made_load(*state, &m, &err), AGB_OK);
            assert_non_null(strstr(err.text, "t.agb: "));
        }
    getrusage(RUSAGE_SELF, &after);
    assert_true(after.ru_maxrss - before.ru_maxrss < 32 << 10);    /* KiB */
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(every_flipped_byte_of_a_compressed_file_is_refused),
        WITH_FIXTURE(every_flipped_byte_of_a_mapped_file_is_refused_or_in_a_gap),
        WITH_FIXTURE(a_file_cut_anywhere_is_refused),
        WITH_FIXTURE(bytes_behind_the_end_are_refused),
        WITH_FIXTURE(a_damaged_block_is_named_by_column_and_rows),
        WITH_FIXTURE(what_is_no_agb_file_is_refused),
        WITH_FIXTURE(a_made_file_is_good_before_it_is_spoilt),
        WITH_FIXTURE(a_newer_version_is_refused),
        WITH_FIXTURE(a_footer_that_contradicts_itself_is_refused),
        WITH_FIXTURE(blocks_outside_their_place_are_refused),
        WITH_FIXTURE(sizes_that_cannot_be_are_refused),
        WITH_FIXTURE(what_is_not_known_is_refused_by_number),
        WITH_FIXTURE(runs_that_are_not_those_of_the_rows_are_refused),
        WITH_FIXTURE(frames_of_another_size_are_refused),
        WITH_FIXTURE(values_that_break_a_rule_are_refused),
        WITH_FIXTURE(claims_cost_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
