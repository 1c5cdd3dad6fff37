/* SPDX-License-Identifier: MIT */
/* What lies below the text formats: packed and piped bytes, probing, many windows, progress, scanning. */
#include "text_fixture.h"

#include "text/scan.h"
#include "text/source.h"

extern const agb_loader agb_loader_tsv, agb_loader_csv, agb_loader_jsonl;

typedef struct buffer {
    unsigned char bytes[1 << 16];
    size_t size;
} buffer;

static void add_gzip(buffer *to, const char *text)
{
    z_stream stream = {0};
    assert_int_equal(deflateInit2(&stream, 6, Z_DEFLATED, 16 + MAX_WBITS, 8, Z_DEFAULT_STRATEGY), Z_OK);
    stream.next_in = (unsigned char *)text;
    stream.avail_in = (unsigned)strlen(text);
    stream.next_out = to->bytes + to->size;
    stream.avail_out = (unsigned)(sizeof to->bytes - to->size);
    assert_int_equal(deflate(&stream, Z_FINISH), Z_STREAM_END);
    to->size += stream.total_out;
    deflateEnd(&stream);
}

static void add_zstd(buffer *to, const char *text)
{
    size_t size = ZSTD_compress(to->bytes + to->size, sizeof to->bytes - to->size, text, strlen(text), 3);
    assert_false(ZSTD_isError(size));
    to->size += size;
}

static void add_skippable_frame(buffer *to)
{
    static const unsigned char frame[] = {0x5a, 0x2a, 0x4d, 0x18, 3, 0, 0, 0, 'a', 'b', 'c'};
    memcpy(to->bytes + to->size, frame, sizeof frame);
    to->size += sizeof frame;
}

static agb_status load_user_ids(agb_table **table, const buffer *from, agb_error *err)
{
    return test_load_bytes(table, from->bytes, from->size, (const char *[]){"UserID"}, 1, NULL, err);
}

/* ---- packing ---- */

static void gzip_members_are_read_to_the_last(void **state)
{
    (void)state;
    buffer packed = {.size = 0};
    agb_table *table;
    add_gzip(&packed, "UserID\n1\n2\n");
    add_gzip(&packed, "");
    add_gzip(&packed, "2\n3\n");
    assert_ok(load_user_ids(&table, &packed, err));
    assert_numbers(table, "UserID", 1, 2, 2, 3);
    agb_table_destroy(table);
    memset(packed.bytes + packed.size, 0, 512);    /* a tape's padding */
    packed.size += 512;
    assert_ok(load_user_ids(&table, &packed, err));
    assert_numbers(table, "UserID", 1, 2, 2, 3);
    agb_table_destroy(table);
}

static void zstd_frames_are_read_to_the_last_and_skippable_ones_passed(void **state)
{
    (void)state;
    buffer packed = {.size = 0};
    agb_table *table;
    add_skippable_frame(&packed);
    add_zstd(&packed, "UserID\n1\n2\n");
    add_skippable_frame(&packed);
    add_zstd(&packed, "2\n3\n");
    add_skippable_frame(&packed);
    assert_ok(load_user_ids(&table, &packed, err));
    assert_numbers(table, "UserID", 1, 2, 2, 3);
    agb_table_destroy(table);
}

/* A stream that is cut anywhere must not pass as a whole one: only a cut between members cannot be told from an end. */
static void cut_streams_are_refused_at_every_byte(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        buffer packed = {.size = 0};
        void (*add)(buffer *, const char *) = kind ? add_zstd : add_gzip;
        add(&packed, "UserID\n1\n2\n");
        size_t whole = packed.size;
        add(&packed, "2\n3\n");
        for (size_t size = packed.size - 1; size >= 4; size--) {
            agb_table *table;
            if (size == whole)
                continue;
            packed.size = size;
            assert_fails(AGB_ERR_FORMAT, kind ? "zstd|ends in the middle" : "gzip|ends in the middle",
                         load_user_ids(&table, &packed, err));
        }
    }
}

static void damaged_streams_are_refused(void **state)
{
    (void)state;
    for (int kind = 0; kind < 2; kind++) {
        buffer packed = {.size = 0};
        agb_table *table;
        kind ? add_zstd(&packed, "UserID\n1\n2\n") : add_gzip(&packed, "UserID\n1\n2\n");
        memcpy(packed.bytes + packed.size, "junk", 4);
        packed.size += 4;
        assert_fails(AGB_ERR_FORMAT, kind ? "zstd|byte" : "gzip|byte", load_user_ids(&table, &packed, err));
        packed.size -= 4;
        packed.bytes[packed.size - 6] ^= 0x55;    /* the checksum of gzip; data of zstd */
        agb_error err = {0};
        agb_status status = load_user_ids(&table, &packed, &err);
        if (status == AGB_OK)
            agb_table_destroy(table);
        else
            assert_int_equal(status, AGB_ERR_FORMAT);
        assert_true(status != AGB_OK || kind == 1);
    }
}

/* 260 MiB of text in a file of some 10 kB: refused at the limit of a row, before memory follows. */
static void bomb_without_line_ends_is_refused(void **state)
{
    (void)state;
    enum { FRAME_BYTES = 4 << 20, FRAMES = 65 };
    buffer packed = {.size = 0};
    agb_table *table;
    char *zeros = malloc(FRAME_BYTES + 1);
    memset(zeros, '0', FRAME_BYTES);
    zeros[FRAME_BYTES] = '\0';
    add_zstd(&packed, "UserID\n");
    for (int i = 0; i < FRAMES; i++)
        add_zstd(&packed, zeros);
    free(zeros);
    assert_fails(AGB_ERR_FORMAT, "line 2|longer than 256 MiB", load_user_ids(&table, &packed, err));
}

/* ---- the same table from every format ---- */

static void check_same_column(const agb_table *left, const agb_table *right, const char *name)
{
    agb_column l = test_column(left, name), r = test_column(right, name);
    assert_int_equal(l.type, r.type);
    for (uint64_t row = 0; row < agb_table_rows(left); row++) {
        test_key a = test_key_at(&l, row), b = test_key_at(&r, row);
        if (test_compare_keys(&a, &b) != 0)
            fail_msg("column %s, row %" PRIu64 " differs", name, row);
    }
}

static void check_same_hits(const char *const *samples, size_t n, uint64_t rows)
{
    char path[512];
    const char *names[AGB_TEXT_HITS_COLUMNS];
    agb_table *first = NULL, *other;
    for (size_t i = 0; i < AGB_TEXT_HITS_COLUMNS; i++)
        names[i] = agb_text_hits[i].name;
    for (size_t i = 0; i < n; i++) {
        snprintf(path, sizeof path, "%s/%s", test_samples(), samples[i]);
        assert_ok(test_load(&other, path, names, AGB_TEXT_HITS_COLUMNS, NULL, 2, err));
        assert_int_equal(agb_table_rows(other), rows);
        for (size_t j = 0; first && j < AGB_TEXT_HITS_COLUMNS; j++)
            check_same_column(first, other, names[j]);
        if (first)
            agb_table_destroy(other);
        else
            first = other;
    }
    agb_table_destroy(first);
}

static void all_105_columns_are_the_same_in_every_format(void **state)
{
    (void)state;
    check_same_hits((const char *[]){"hits/hits_2k.csv", "hits/hits_2k.jsonl", "hits/hits_2k.tsv.gz",
                                     "hits/hits_2k.tsv.zst"}, 4, 2000);
    check_same_hits((const char *[]){"hits/nano_hits.parquet", "hits/hits_nano.tsv.zst"}, 2, 24586);
}

/* ---- pipes ---- */

/* Loads from a pipe that another process fills in small portions, as standard input. */
static agb_status load_piped(agb_table **table, const buffer *from, const char *loader, agb_error *err)
{
    int ends[2], saved = dup(STDIN_FILENO);
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        for (size_t at = 0; at < from->size; at += 7)
            if (write(ends[1], from->bytes + at, from->size - at < 7 ? from->size - at : 7) < 0)
                _exit(1);
        _exit(0);
    }
    close(ends[1]);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    agb_status status = test_load(table, "-", (const char *[]){"UserID"}, 1, loader, 1, err);
    dup2(saved, STDIN_FILENO);
    close(saved);
    waitpid(child, NULL, 0);
    return status;
}

static void pipes_of_every_packing_give_the_same(void **state)
{
    (void)state;
    const char *text = "UserID\tURL\n1\ta\n2\tb\n2\tc\n";
    buffer forms[3] = {{.size = strlen(text)}};
    memcpy(forms[0].bytes, text, strlen(text));
    add_gzip(&forms[1], text);
    add_zstd(&forms[2], text);
    for (int i = 0; i < 3; i++) {
        agb_table *table;
        assert_ok(load_piped(&table, &forms[i], NULL, err));
        assert_numbers(table, "UserID", 1, 2, 2);
        agb_table_destroy(table);
    }
}

static void a_pipe_is_longer_than_its_head(void **state)
{
    (void)state;
    buffer text = {.size = 0};
    agb_table *table;
    text.size = (size_t)sprintf((char *)text.bytes, "UserID\n");
    for (int i = 0; i < 9000; i++)
        text.size += (size_t)sprintf((char *)text.bytes + text.size, "%d\n", i);
    assert_ok(load_piped(&table, &text, NULL, err));
    assert_int_equal(agb_table_rows(table), 9000);
    assert_int_equal(((const int64_t *)test_column(table, "UserID").values)[8999], 8999);
    agb_table_destroy(table);
}

/* ---- probing ---- */

static const char *known_as(const char *path, const char *text)
{
    static const agb_loader *const loaders[] = {&agb_loader_tsv, &agb_loader_csv, &agb_loader_jsonl};
    agb_input input = {.path = path, .fd = -1, .head = (const unsigned char *)text, .head_bytes = strlen(text)};
    const char *name = "none";
    int best = 0;
    for (size_t i = 0; i < 3; i++) {
        int sure = loaders[i]->probe(&input);
        if (sure > best) {
            best = sure;
            name = loaders[i]->name;
        }
    }
    return name;
}

static void formats_are_known_by_their_first_line(void **state)
{
    (void)state;
    assert_string_equal(known_as("x", "UserID\tURL\n1\ta,b,c\n"), "tsv");
    assert_string_equal(known_as("x", "UserID,URL\n1,a\tb\n"), "csv");
    assert_string_equal(known_as("x", "\"User\tID\",URL\n"), "csv");
    assert_string_equal(known_as("x", "\"UserID\"\n1\n"), "csv");
    assert_string_equal(known_as("x", "\xef\xbb\xbf{\"UserID\":1}\n"), "jsonl");
    assert_string_equal(known_as("x.json", "UserID\r\n1\r\n"), "tsv");
    assert_string_equal(known_as("x", "UserID\n\"7\"\n"), "csv");
    assert_string_equal(known_as("x", "UserID\r\n\"7\"\r\n"), "csv");
    assert_string_equal(known_as("x", "UserID\r\n7\r\n"), "tsv");
    assert_string_equal(known_as("x", "  {\"UserID\":1}\n"), "jsonl");
    assert_string_equal(known_as("x", "\xef\xbb\xbf\n\r\n \t{\"UserID\":1}\n"), "jsonl");
    assert_string_equal(known_as("x", "[\n  {\"UserID\":1}\n]\n"), "jsonl");
    assert_string_equal(known_as("x", "\nUserID,URL\n1,a\n"), "csv");
    assert_string_equal(known_as("x", "UserID\r1\r2\r"), "tsv");
    assert_string_equal(known_as("x", "[a],[b]\n1,2\n"), "csv");
    assert_string_equal(known_as("x.tsv", "this is no table"), "none");
    assert_string_equal(known_as("x.csv", "this is no table"), "none");
    assert_string_equal(known_as("x.tsv", "12\n13\n"), "none");
    assert_string_equal(known_as("x.parquet", "UserID,URL\n1,a\n"), "none");
}

/* One column may be either, and a quoted field may come late. */
static void of_one_column_the_name_of_the_file_tells(void **state)
{
    (void)state;
    static const char text[] = "URL\nx\n\"x\"\n";
    assert_string_equal(known_as("x", text), "tsv");
    assert_string_equal(known_as("x.tsv", text), "tsv");
    assert_string_equal(known_as("x.csv", text), "csv");
    assert_string_equal(known_as("a/x.csv.gz", text), "csv");
    assert_string_equal(known_as("x.csv", "URL\tx\n\"x\"\n"), "tsv");
    assert_string_equal(known_as("x.csv", "{\"URL\":1}\n"), "jsonl");
    agb_input input = {.path = "x.csv", .fd = -1, .head = (const unsigned char *)"a b\n\"x\"\n", .head_bytes = 8,
                       .schema = "URL bytes"};
    assert_true(agb_loader_csv.probe(&input) > agb_loader_tsv.probe(&input));
}

static void quoted_numbers_of_one_column_are_read(void **state)
{
    (void)state;
    agb_table *table;
    assert_ok(test_load_column(&table, "UserID\n\"1\"\n\"2\"\n2\n", "UserID", err));
    assert_numbers(table, "UserID", 1, 2, 2);
    agb_table_destroy(table);
    assert_ok(test_load_column(&table, "  {\"UserID\":1}\n {\"UserID\":2}\n\t{\"UserID\":2}", "UserID", err));
    assert_numbers(table, "UserID", 1, 2, 2);
    agb_table_destroy(table);
}

/* What people bring along, and what they are to do about it. */
static void forms_that_are_not_read_are_called_by_name(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t bytes;
        agb_status status;
        const char *words;
    } forms[] = {
        {"UserID\r1\r2\r", 11, AGB_ERR_FORMAT, "carriage return alone|tr '\\r' '\\n'"},
        {"UserID,URL\r1,a\r", 15, AGB_ERR_FORMAT, "carriage return alone"},
        {"{\"UserID\":1}\r{\"UserID\":2}", 25, AGB_ERR_FORMAT, "carriage return alone"},
        {"\n{\"UserID\":1}\n", 14, AGB_ERR_FORMAT, "line 1: the line is blank"},
        {"\nUserID,URL\n1,a\n", 16, AGB_ERR_FORMAT, "line 1|is empty: put a line of names first"},
        {"[\n{\"UserID\":1}\n]\n", 18, AGB_ERR_FORMAT, "line 1: an array begins|jq -c '.[]'"},
        {"[{\"UserID\":1}]\n", 15, AGB_ERR_FORMAT, "an array begins"},
        {"\xfd" "7zXZ\0\0\4junk", 12, AGB_ERR_UNSUPPORTED, "compressed with xz: unpack it first: xz -d"},
        {"BZh91AY&SYjunk", 14, AGB_ERR_UNSUPPORTED, "compressed with bzip2: unpack it first"},
        {"\x04\x22\x4d\x18junk", 8, AGB_ERR_UNSUPPORTED, "compressed with lz4"},
        {"PK\3\4junk", 8, AGB_ERR_UNSUPPORTED, "a zip archive"},
        {"7z\xbc\xaf\x27\x1cjunk", 10, AGB_ERR_UNSUPPORTED, "a 7z archive"},
        {"\x1f\x9djunk", 6, AGB_ERR_UNSUPPORTED, "uncompress"},
        {"\xff\xfeU\0s\0", 6, AGB_ERR_UNSUPPORTED, "UTF-16|iconv"},
        {"\xfe\xff\0U\0s", 6, AGB_ERR_UNSUPPORTED, "UTF-16|iconv"},
        {"PAR1\0\0\0\0PAR1", 12, AGB_ERR_FORMAT, "parquet|footer length 0|get a whole copy"},
    };
    for (size_t i = 0; i < sizeof forms / sizeof forms[0]; i++) {
        agb_table *table;
        assert_fails(forms[i].status, forms[i].words,
                     test_load_bytes(&table, forms[i].text, forms[i].bytes, (const char *[]){"UserID"}, 1, NULL, err));
    }
    agb_table *table;    /* letters that only begin like one of them */
    assert_ok(test_load_column(&table, "BZh\tUserID\na\t1\nb\t2\nc\t2\n", "UserID", err));
    assert_numbers(table, "UserID", 1, 2, 2);
    agb_table_destroy(table);
}

/* ---- windows ---- */

static void second_load_begins_at_the_first_row_again(void **state)
{
    (void)state;
    const char *path = test_file("UserID\n1\n2\n2\n", 13);
    unsigned char head[13];
    int fd = open(path, O_RDONLY);
    assert_int_equal(pread(fd, head, sizeof head, 0), 13);
    agb_input input = {.path = path, .fd = fd, .seekable = true, .bytes = 13, .head = head, .head_bytes = 13};
    void *self = NULL;
    assert_ok(agb_loader_tsv.open(&input, &self, err));
    for (int round = 0; round < 2; round++) {
        agb_table *table;
        agb_load load = {0};
        assert_ok(agb_table_create(&table, err));
        assert_ok(agb_table_add(table, "UserID", AGB_TYPE_INT64, AGB_PAGES_DEFAULT, err));
        assert_ok(agb_loader_tsv.load(self, &(size_t){0}, 1, table, &load, err));
        assert_numbers(table, "UserID", 1, 2, 2);
        agb_table_destroy(table);
    }
    agb_loader_tsv.close(self);
    close(fd);
    unlink(path);
}

static void count_rows_so_far(void *context, uint64_t done, uint64_t total)
{
    uint64_t *most = context;
    assert_true(done >= *most);
    assert_int_equal(total, 0);
    *most = done;
}

static void progress_ends_at_all_rows(void **state)
{
    (void)state;
    uint64_t done = 0;
    agb_registry *registry;
    agb_table *table;
    agb_load_options options = {.progress = count_rows_so_far, .context = &done};
    const char *path = test_file("UserID\n1\n2\n2\n", 13);
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_table_load(&table, registry, path, (const char *[]){"UserID"}, 1, &options, err));
    assert_int_equal(done, 3);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    unlink(path);
}

/* ---- scanning ---- */

static void blocks_find_every_byte_and_nothing_past_the_end(void **state)
{
    (void)state;
    unsigned char *text = malloc(100);    /* a block of its own, so that a sanitizer sees a byte too far */
    for (int byte = 0; byte < 256; byte++)
        for (size_t length = 1; length <= 100; length += 9) {
            for (size_t i = 0; i < length; i++)
                text[i] = (unsigned char)(i % 3 ? byte : byte ^ (1 << i % 8));
            unsigned char *end = text + length;
            uint64_t count = 0;
            for (size_t i = 0; i < length; i++)
                count += text[i] == byte;
            assert_int_equal(agb_text_count(text, end, (unsigned char)byte), count);
            assert_ptr_equal(agb_text_find_either(text, end, (unsigned char)byte, (unsigned char)byte),
                             length > 1 ? text + 1 : end);
        }
    free(text);
    assert_int_equal(agb_text_nth_bit(0x8000000000000101, 0), 0);
    assert_int_equal(agb_text_nth_bit(0x8000000000000101, 2), 63);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gzip_members_are_read_to_the_last),
        cmocka_unit_test(zstd_frames_are_read_to_the_last_and_skippable_ones_passed),
        cmocka_unit_test(cut_streams_are_refused_at_every_byte),
        cmocka_unit_test(damaged_streams_are_refused),
        cmocka_unit_test(bomb_without_line_ends_is_refused),
        cmocka_unit_test(all_105_columns_are_the_same_in_every_format),
        cmocka_unit_test(pipes_of_every_packing_give_the_same),
        cmocka_unit_test(a_pipe_is_longer_than_its_head),
        cmocka_unit_test(formats_are_known_by_their_first_line),
        cmocka_unit_test(of_one_column_the_name_of_the_file_tells),
        cmocka_unit_test(quoted_numbers_of_one_column_are_read),
        cmocka_unit_test(forms_that_are_not_read_are_called_by_name),
        cmocka_unit_test(second_load_begins_at_the_first_row_again),
        cmocka_unit_test(progress_ends_at_all_rows),
        cmocka_unit_test(blocks_find_every_byte_and_nothing_past_the_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
