/* SPDX-License-Identifier: MIT */
/* One table in every form that it can come in. A day is a number in Parquet and a date in text: the groups, the text of
 * their keys and the checksum are the same. */
#include "key_text.h"
#include "parquet_build.h"
#include "text_fixture.h"

static agb_registry *registry;

static int set_up(void **state)
{
    (void)state;
    return agb_registry_create(&registry, NULL) == AGB_OK ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    agb_registry_destroy(registry);
    return 0;
}

/* 15901, 15901, 15902 as the public hits hold it: UINT_16 in 32 bits; the string beside it has no annotation. */
static agb_table *load_parquet(const char *const *columns, size_t n)
{
    static const uint32_t days[] = {15901, 15901, 15902};
    static const unsigned char urls[] = "\1\0\0\0a\0\0\0\0\1\0\0\0a";
    made_file *file = made_start();
    made_add_column(file, "EventDate", AGB_PARQUET_INT32, AGB_PARQUET_REQUIRED, 0);
    made_add_column(file, "URL", AGB_PARQUET_BYTE_ARRAY, AGB_PARQUET_REQUIRED, 0);
    file->column[0].converted = 12;    /* UINT_16 */
    made_add_data(file, 0, 3, AGB_PARQUET_PLAIN, days, sizeof days);
    made_add_data(file, 1, 3, AGB_PARQUET_PLAIN, urls, sizeof urls - 1);
    made_end(file);
    agb_table *table;
    char path[64];
    made_write(file->bytes.data, file->bytes.n, path);
    assert_ok(agb_table_load(&table, registry, path, columns, n, NULL, err));
    unlink(path);
    made_free(file);
    return table;
}

/* Saved as .agb, and loaded from there. */
static agb_table *load_saved(const agb_table *table, const char *const *columns, size_t n)
{
    agb_table *saved;
    char path[64];
    snprintf(path, sizeof path, "/tmp/agb_formats_%d.agb", (int)getpid());
    assert_ok(agb_table_save(table, registry, path, columns, n, NULL, err));
    assert_ok(agb_table_load(&saved, registry, path, columns, n, NULL, err));
    unlink(path);
    return saved;
}

/* The answer as text: "KEY COUNT; KEY COUNT; CHECKSUM". Destroys the table. */
static void answer(agb_table *table, const char *columns, char *text, size_t size)
{
    agb_sink *sink;
    agb_key_layout *layout;
    agb_group groups[8];
    assert_ok(agb_sink_collect(&sink, err));
    assert_ok(agb_key_layout_create(&layout, table, columns, err));
    agb_memory *memory;
    assert_ok(agb_memory_create(&memory, NULL, err));
    agb_plan plan = {.table = table, .column = columns, .memory = memory,
                     .aggregator = agb_registry_find_aggregator(registry, "naive")};
    assert_ok(agb_count_groups(&plan, sink, NULL, err));
    size_t n = agb_sink_top_groups(sink, groups, 8, layout), at = 0;
    for (size_t i = 0; i < n; i++)
        at += (size_t)snprintf(text + at, size - at, "%s %llu; ", agb_text_key(layout, &groups[i].key).s,
                               (unsigned long long)groups[i].count);
    snprintf(text + at, size - at, "%016llx", (unsigned long long)agb_sink_digest(sink).checksum);
    agb_sink_destroy(sink);
    agb_memory_destroy(memory);
    agb_key_layout_destroy(layout);
    agb_table_destroy(table);
}

static void the_same_days_are_the_same_groups_in_every_format(void **state)
{
    (void)state;
    static const char *const names[] = {"EventDate", "URL"};
    static const char *const texts[] = {
        "EventDate\tURL\n2013-07-15\ta\n2013-07-15\t\n2013-07-16\ta\n",
        "EventDate,URL\r\n2013-07-15,a\r\n\"2013-07-15\",\"\"\r\n2013-07-16,a\r\n",
        ("{\"EventDate\":\"2013-07-15\",\"URL\":\"a\"}\n{\"URL\":\"\",\"EventDate\":\"2013-07-15\"}\n"
         "{\"EventDate\":\"2013-07-16\",\"URL\":\"a\"}\n"),    /* in parentheses: clang takes it for a lost comma */
    };
    static const char *const questions[] = {"EventDate", "URL", "EventDate,URL"};
    for (size_t q = 0; q < 3; q++) {
        char wanted[256], found[256];
        answer(load_parquet(names, 2), questions[q], wanted, sizeof wanted);
        if (q == 0)
            assert_memory_equal(wanted, "15901 2; 15902 1; ", 18);
        for (size_t i = 0; i < 3; i++) {
            agb_table *text;
            assert_ok(test_load_bytes(&text, texts[i], strlen(texts[i]), names, 2, NULL, err));
            answer(text, questions[q], found, sizeof found);
            assert_string_equal(found, wanted);
        }
        agb_table *table = load_parquet(names, 2);
        answer(load_saved(table, names, 2), questions[q], found, sizeof found);
        agb_table_destroy(table);
        assert_string_equal(found, wanted);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_same_days_are_the_same_groups_in_every_format),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
