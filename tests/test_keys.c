/* SPDX-License-Identifier: MIT */
/* Keys made from columns: which kind they get, that different rows stay different, that values come back out of them,
 * in which order they stand, and what NULL is. */
#include "internal.h"
#include "loader.h"
#include "test.h"

typedef struct fixture {
    agb_registry *registry;
    agb_table *table;
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    assert_ok(agb_registry_create(&f->registry, err));
    assert_ok(agb_table_create(&f->table, err));
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    agb_table_destroy(f->table);
    agb_registry_destroy(f->registry);
    free(f);
    return 0;
}

static agb_bytes text(const char *words)
{
    return (agb_bytes){(const unsigned char *)words, strlen(words)};
}

/* A table with NULLs has memory of its own: all columns at once. */
typedef struct source {
    const char *name;
    agb_type type;
    const void *values;
    const uint8_t *nulls;    /* or NULL */
} source;

static void fill(fixture *f, const source *sources, size_t n, size_t rows)
{
    for (size_t i = 0; i < n; i++)
        assert_ok(agb_table_add(f->table, sources[i].name, sources[i].type, AGB_PAGES_DEFAULT, err));
    assert_ok(agb_table_extend(f->table, rows, err));
    for (size_t i = 0; i < n; i++) {
        memcpy(agb_table_values(f->table, i), sources[i].values, rows * agb_type_bytes(sources[i].type));
        if (sources[i].nulls)
            memcpy(agb_table_nulls(f->table, i), sources[i].nulls, rows);
    }
    agb_table_loaded(f->table, "test", 0, agb_table_rows(f->table));
}

/* Groups as text, "a,1 x2; b,NULL x1", in the order of their keys, by every aggregator that takes them. */
static void print_groups(const agb_sink *sink, const agb_key_layout *layout, uint64_t nulls, char *out, size_t size)
{
    agb_group groups[64];
    size_t n = agb_sink_top_groups(sink, groups, 64, layout), at = 0;
    out[0] = '\0';
    for (size_t i = 0; i < n; i++) {
        for (size_t c = 0; c < layout->columns; c++) {
            agb_value value = agb_key_value(layout, &groups[i].key, c);
            const char *comma = c ? "," : "";
            if (value.null)
                at += (size_t)snprintf(out + at, size - at, "%sNULL", comma);
            else if (value.type == AGB_TYPE_BYTES)
                at += (size_t)snprintf(out + at, size - at, "%s%.*s", comma, (int)value.bytes.length,
                                       value.bytes.length ? (const char *)value.bytes.data : "");
            else
                at += (size_t)snprintf(out + at, size - at, agb_type_is_signed(value.type) ? "%s%lld" : "%s%llu", comma,
                                       (unsigned long long)value.word);
        }
        at += (size_t)snprintf(out + at, size - at, " x%llu%s", (unsigned long long)groups[i].count,
                               i + 1 < n ? "; " : "");
    }
    if (nulls)
        snprintf(out + at, size - at, "; and NULL x%llu", (unsigned long long)nulls);
}

static void count_by(const fixture *f, const char *columns, const char *where, const char *hash, const char *wanted)
{
    char got[2000];
    agb_key_layout *layout;
    agb_filter *filter = NULL;
    const agb_aggregator *a;
    size_t counted = 0;
    assert_ok(agb_key_layout_create(&layout, f->table, columns, err));
    if (where)
        assert_ok(agb_filter_parse(&filter, where, err));
    for (size_t i = 0; (a = agb_registry_aggregator_at(f->registry, i)); i++) {
        agb_sink *sink;
        agb_stats stats;
        agb_plan plan = {.table = f->table, .column = columns, .filter = filter, .aggregator = a, .hash = hash,
                         .batch_rows = i % 4 + 1};
        if (agb_key_kind_refusal(a, layout->kind))
            continue;
        assert_ok(agb_sink_collect(&sink, err));
        assert_ok(agb_count_groups(&plan, sink, &stats, err));
        print_groups(sink, layout, stats.nulls, got, sizeof got);
        if (strcmp(got, wanted) != 0)
            fail_msg("%s, %s: got %s, must be %s", a->name, columns, got, wanted);
        agb_sink_destroy(sink);
        counted++;
    }
    assert_true(counted >= 4);
    agb_filter_destroy(filter);
    agb_key_layout_destroy(layout);
}

static agb_key_kind kind_of(const fixture *f, const char *columns)
{
    agb_key_layout *layout;
    assert_ok(agb_key_layout_create(&layout, f->table, columns, err));
    agb_key_kind kind = layout->kind;
    agb_key_layout_destroy(layout);
    return kind;
}

/* ---- Kinds ---- */

static const int64_t longs[] = {1, -1, 1, INT64_MIN};
static const int32_t ints[] = {7, -7, 7, INT32_MAX};
static const uint32_t unsigneds[] = {UINT32_MAX, 0, UINT32_MAX, 5};
static const uint8_t bools[] = {1, 0, 1, 0};
static const uint8_t second_null[] = {0, 1, 0, 0};

static void keys_take_the_narrowest_kind_that_holds_them(void **state)
{
    fixture *f = *state;
    const agb_bytes strings[4] = {0};
    fill(f, (source[]){{"l", AGB_TYPE_INT64, longs, NULL}, {"i", AGB_TYPE_INT32, ints, NULL},
                       {"u", AGB_TYPE_UINT32, unsigneds, NULL}, {"b", AGB_TYPE_BOOL, bools, NULL},
                       {"n", AGB_TYPE_INT32, ints, second_null}, {"s", AGB_TYPE_BYTES, strings, NULL}}, 6, 4);
    assert_int_equal(kind_of(f, "l"), AGB_KEYS_WORD);
    assert_int_equal(kind_of(f, "b"), AGB_KEYS_WORD);
    assert_int_equal(kind_of(f, "n"), AGB_KEYS_WORD);
    assert_int_equal(kind_of(f, "i,u"), AGB_KEYS_WORD);
    assert_int_equal(kind_of(f, "i,n"), AGB_KEYS_PAIR);    /* 65 bits: one for NULL */
    assert_int_equal(kind_of(f, "i,u,b"), AGB_KEYS_PAIR);
    assert_int_equal(kind_of(f, "l,i"), AGB_KEYS_PAIR);
    assert_int_equal(kind_of(f, "i,l,u"), AGB_KEYS_PAIR);    /* 128 bits */
    assert_int_equal(kind_of(f, "i,l,u,b"), AGB_KEYS_BYTES);
    assert_int_equal(kind_of(f, "s"), AGB_KEYS_BYTES);
    assert_int_equal(kind_of(f, "i,s"), AGB_KEYS_BYTES);
    assert_int_equal(kind_of(f, "i-1,u"), AGB_KEYS_PAIR);    /* what is computed has 64 bits */
}

static void values_come_back_out_of_every_kind(void **state)
{
    fixture *f = *state;
    const agb_bytes strings[] = {text("x"), text(""), text("x"), text("y,z")};
    fill(f, (source[]){{"l", AGB_TYPE_INT64, longs, NULL}, {"i", AGB_TYPE_INT32, ints, NULL},
                       {"u", AGB_TYPE_UINT32, unsigneds, NULL}, {"b", AGB_TYPE_BOOL, bools, NULL},
                       {"n", AGB_TYPE_INT32, ints, second_null}, {"s", AGB_TYPE_BYTES, strings, NULL}}, 6, 4);
    count_by(f, "l", NULL, NULL, "1 x2; -9223372036854775808 x1; -1 x1");
    count_by(f, "i,u", NULL, NULL, "7,4294967295 x2; -7,0 x1; 2147483647,5 x1");
    count_by(f, "b,l,i", NULL, NULL, "1,1,7 x2; 0,-9223372036854775808,2147483647 x1; 0,-1,-7 x1");
    count_by(f, "n,b", NULL, NULL, "7,1 x2; NULL,0 x1; 2147483647,0 x1");
    count_by(f, "i,l,u,b,n", NULL, NULL,
             "7,1,4294967295,1,7 x2; -7,-1,0,0,NULL x1; 2147483647,-9223372036854775808,5,0,2147483647 x1");
    count_by(f, "s,n,s,b", NULL, NULL, "x,7,x,1 x2; ,NULL,,0 x1; y,z,2147483647,y,z,0 x1");
    count_by(f, "i - 8,i,+3", NULL, NULL, "-1,7,3 x2; -15,-7,3 x1; 2147483639,2147483647,3 x1");
    count_by(f, "i+1", NULL, NULL, "8 x2; -6 x1; 2147483648 x1");
}

/* ---- Strings ---- */

static void joined_strings_stay_apart(void **state)
{
    fixture *f = *state;
    const agb_bytes left[] = {text("ab"), text("a"), text("aba"), text(""), text("abab"), text("ab")};
    const agb_bytes right[] = {text("ab"), text("bab"), text("b"), text("abab"), text(""), text("ab")};
    fill(f, (source[]){{"l", AGB_TYPE_BYTES, left, NULL}, {"r", AGB_TYPE_BYTES, right, NULL}}, 2, 6);
    static const char wanted[] = "ab,ab x2; ,abab x1; a,bab x1; aba,b x1; abab, x1";
    count_by(f, "l,r", NULL, NULL, wanted);
    count_by(f, "l,r", NULL, "constant", wanted);
}

static void null_and_the_empty_string_are_two_groups(void **state)
{
    fixture *f = *state;
    const agb_bytes strings[] = {text(""), {0}, text("a"), {0}, text("")};
    const int32_t ones[] = {1, 1, 1, 1, 2};
    const uint8_t nulls[] = {0, 1, 0, 1, 0};
    fill(f, (source[]){{"s", AGB_TYPE_BYTES, strings, nulls}, {"i", AGB_TYPE_INT32, ones, nulls}}, 2, 5);
    count_by(f, "s", NULL, NULL, " x2; a x1; and NULL x2");
    count_by(f, "s", NULL, "constant", " x2; a x1; and NULL x2");
    count_by(f, "s,s", NULL, NULL, "NULL,NULL x2; , x2; a,a x1");
    count_by(f, "i,s", NULL, NULL, "NULL,NULL x2; 1, x1; 1,a x1; 2, x1");
    count_by(f, "i", NULL, NULL, "1 x2; 2 x1; and NULL x2");
    count_by(f, "s", "i = 1", NULL, " x1; a x1");
}

static void strings_stand_in_the_order_of_their_bytes(void **state)
{
    fixture *f = *state;
    const agb_bytes strings[] = {text("b"), text("a"), text("ab"), text("\xff"), text(""),
                                 {(const unsigned char *)"a", 2}};
    fill(f, (source[]){{"s", AGB_TYPE_BYTES, strings, NULL}}, 1, 6);
    agb_key_layout *layout;
    assert_ok(agb_key_layout_create(&layout, f->table, "s", err));
    const size_t order[] = {4, 1, 5, 2, 0, 3};
    for (size_t i = 0; i + 1 < 6; i++) {
        agb_key a = {.bytes = strings[order[i]]}, b = {.bytes = strings[order[i + 1]]};
        assert_true(agb_key_compare(layout, &a, &b) < 0);
        assert_true(agb_key_compare(layout, &b, &a) > 0);
        assert_int_equal(agb_key_compare(layout, &a, &a), 0);
    }
    agb_key_layout_destroy(layout);
}

/* ---- Names ---- */

static void a_name_with_a_comma_is_found_whole(void **state)
{
    fixture *f = *state;
    fill(f, (source[]){{"a,b", AGB_TYPE_INT64, longs, NULL}, {"a", AGB_TYPE_INT32, ints, NULL},
                       {"b", AGB_TYPE_BOOL, bools, NULL}, {"a-1", AGB_TYPE_UINT32, unsigneds, NULL}}, 4, 4);
    assert_int_equal(kind_of(f, "a,b"), AGB_KEYS_WORD);
    count_by(f, "a,b", NULL, NULL, "1 x2; -9223372036854775808 x1; -1 x1");
    count_by(f, "b,a", NULL, NULL, "1,7 x2; 0,-7 x1; 0,2147483647 x1");
    count_by(f, "a-1", NULL, NULL, "4294967295 x2; 0 x1; 5 x1");
    count_by(f, "a - 1", NULL, NULL, "6 x2; -8 x1; 2147483646 x1");
}

static void wrong_keys_are_answered_with_one_sentence(void **state)
{
    fixture *f = *state;
    const agb_bytes strings[4] = {0};
    agb_key_layout *layout;
    fill(f, (source[]){{"UserID", AGB_TYPE_INT64, longs, NULL}, {"URL", AGB_TYPE_BYTES, strings, NULL}}, 2, 4);
    assert_fails(AGB_ERR_NOT_FOUND, "no column 'UserId'|did you mean 'UserID'",
                 agb_key_layout_create(&layout, f->table, "URL,UserId", err));
    assert_fails(AGB_ERR_ARGUMENT, "column number 2 is an empty name",
                 agb_key_layout_create(&layout, f->table, "URL,,UserID", err));
    assert_fails(AGB_ERR_ARGUMENT, "URL - 1|holds strings", agb_key_layout_create(&layout, f->table, "URL-1", err));
    assert_null(layout);
}

/* ---- The checksum ---- */

static void aggregators_agree_on_the_checksum_of_every_kind(void **state)
{
    fixture *f = *state;
    const agb_bytes strings[] = {text("x"), text(""), text("x"), text("y")};
    fill(f, (source[]){{"l", AGB_TYPE_INT64, longs, NULL}, {"i", AGB_TYPE_INT32, ints, NULL},
                       {"s", AGB_TYPE_BYTES, strings, NULL}}, 3, 4);
    static const char *const keys[] = {"l", "l,i", "s", "s,i"};
    for (size_t k = 0; k < 4; k++) {
        const agb_aggregator *a;
        uint64_t checksum = 0;
        for (size_t i = 0; (a = agb_registry_aggregator_at(f->registry, i)); i++) {
            agb_sink *sinks[2];
            agb_plan plan = {.table = f->table, .column = keys[k], .aggregator = a};
            if (agb_key_kind_refusal(a, kind_of(f, keys[k])))
                continue;
            assert_ok(agb_sink_collect(&sinks[0], err));
            assert_ok(agb_sink_checksum(&sinks[1], err));
            for (size_t s = 0; s < 2; s++) {
                assert_ok(agb_count_groups(&plan, sinks[s], NULL, err));
                agb_digest digest = agb_sink_digest(sinks[s]);
                assert_true(digest.groups == 3 && digest.rows == 4 && digest.max_count == 2);
                assert_true(checksum == 0 || digest.checksum == checksum);
                checksum = digest.checksum;
                agb_sink_destroy(sinks[s]);
            }
        }
    }
}

static void a_top_sink_keeps_strings_of_its_own(void **state)
{
    fixture *f = *state;
    enum { ROWS = 300 };
    static char names[ROWS][8];
    static agb_bytes strings[ROWS];
    for (size_t i = 0; i < ROWS; i++) {
        sprintf(names[i], "%zu", i * i % 50);
        strings[i] = text(names[i]);
    }
    fill(f, (source[]){{"s", AGB_TYPE_BYTES, strings, NULL}}, 1, ROWS);
    agb_key_layout *layout;
    agb_sink *top, *all;
    agb_group some[5], right[5];
    assert_ok(agb_key_layout_create(&layout, f->table, "s", err));
    assert_ok(agb_sink_top(&top, 5, layout, err));
    assert_ok(agb_sink_collect(&all, err));
    agb_plan plan = {.table = f->table, .column = "s",
                     .aggregator = agb_registry_find_aggregator(f->registry, "sort")};
    assert_ok(agb_count_groups(&plan, top, NULL, err));
    assert_ok(agb_count_groups(&plan, all, NULL, err));
    assert_int_equal(agb_sink_top_groups(top, some, 5, layout), 5);
    assert_int_equal(agb_sink_top_groups(all, right, 5, layout), 5);
    for (size_t i = 0; i < 5; i++) {
        assert_int_equal(agb_key_compare(layout, &some[i].key, &right[i].key), 0);
        assert_true(some[i].count == right[i].count);
    }
    agb_sink_destroy(top);
    agb_sink_destroy(all);
    agb_key_layout_destroy(layout);
}

/* ---- Hashes ---- */

/* 2^20 pairs of small numbers in 4096 parts: 256 each; far from that, they would pile up in few parts. */
static void pairs_of_small_numbers_spread_over_the_top_bits(void **state)
{
    (void)state;
    enum { SIDE = 1024, PARTS = 4096 };
    static const unsigned shifts[] = {0, 16, 32, 44};
    agb_hash hash;
    assert_true(agb_hash_named("fold", &hash));
    for (size_t s = 0; s < 16; s++) {
        unsigned *counts = calloc(PARTS, sizeof *counts), most = 0;
        for (uint64_t i = 0; i < SIDE * SIDE; i++) {
            uint64_t pair[2] = {i / SIDE << shifts[s / 4], i % SIDE << shifts[s % 4]};
            unsigned count = ++counts[agb_hash_pair(hash, pair) >> 52];
            most = count > most ? count : most;
        }
        free(counts);
        if (most > 2048)
            fail_msg("shifts %u and %u: %u of %d pairs in one of %d parts", shifts[s / 4], shifts[s % 4], most,
                     SIDE * SIDE, PARTS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(keys_take_the_narrowest_kind_that_holds_them),
        TEST(values_come_back_out_of_every_kind),
        TEST(joined_strings_stay_apart),
        TEST(null_and_the_empty_string_are_two_groups),
        TEST(strings_stand_in_the_order_of_their_bytes),
        TEST(a_name_with_a_comma_is_found_whole),
        TEST(wrong_keys_are_answered_with_one_sentence),
        TEST(aggregators_agree_on_the_checksum_of_every_kind),
        TEST(a_top_sink_keeps_strings_of_its_own),
        TEST(pairs_of_small_numbers_spread_over_the_top_bits),
#undef TEST
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
