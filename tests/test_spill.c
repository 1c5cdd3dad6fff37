/* SPDX-License-Identifier: MIT */
/* Spilling: any budget that the parts' open chunks fit into is enough, what was written is read back whole or refused,
 * and nothing stays behind. */
#include "internal.h"
#include "test.h"

#include <inttypes.h>
#include <sys/resource.h>
#include <signal.h>

enum { ROWS = 600000 };

static uint64_t *keys;

static int set_up(void **state)
{
    (void)state;
    keys = malloc(ROWS * sizeof *keys);
    for (uint64_t i = 0; i < ROWS; i++)
        keys[i] = i % 400000 * UINT64_C(0x9e3779b97f4a7c15);
    return keys ? 0 : -1;
}

static int tear_down(void **state)
{
    (void)state;
    free(keys);
    return 0;
}

static agb_status count_table(const char *aggregator, uint64_t budget, const char *folder, agb_type type,
                              const void *values, uint64_t rows, agb_digest *digest, agb_stats *stats, agb_error *err)
{
    agb_registry *registry;
    agb_table *table;
    agb_memory *memory;
    agb_sink *sink;
    assert_ok(agb_registry_create(&registry, err));
    assert_ok(agb_table_create(&table, err));
    assert_ok(agb_table_lend(table, "key", type, values, rows, err));
    assert_ok(agb_memory_create(&memory, &(agb_memory_options){.budget = budget}, err));
    assert_ok(agb_sink_checksum(&sink, err));
    agb_plan plan = {.table = table, .column = "key", .memory = memory, .spill_folder = folder,
                     .aggregator = agb_registry_find_aggregator(registry, aggregator)};
    agb_status status = agb_count_groups(&plan, sink, stats, err);
    *digest = agb_sink_digest(sink);
    agb_sink_destroy(sink);
    agb_memory_destroy(memory);
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    return status;
}

static agb_status count(const char *aggregator, uint64_t budget, const char *folder, agb_digest *digest,
                        agb_stats *stats, agb_error *err)
{
    return count_table(aggregator, budget, folder, AGB_TYPE_UINT64, keys, ROWS, digest, stats, err);
}

static agb_status count_strings(const char *aggregator, uint64_t budget, const agb_bytes *strings, uint64_t rows,
                                agb_digest *digest, agb_stats *stats, agb_error *err)
{
    return count_table(aggregator, budget, NULL, AGB_TYPE_BYTES, strings, rows, digest, stats, err);
}

static void every_sufficient_budget_gives_the_right_answer(void **state)
{
    (void)state;
    agb_digest right, digest;
    agb_stats stats;
    assert_ok(count("sort", 0, NULL, &right, &stats, err));
    assert_ok(count("spill", 0, NULL, &digest, &stats, err));
    assert_memory_equal(&digest, &right, sizeof right);
    assert_int_equal(stats.spilled_bytes, 0);
    for (uint64_t budget = 16 << 20; budget >= (2600 << 10); budget = budget * 3 / 4) {
        assert_ok(count("spill", budget, NULL, &digest, &stats, err));
        assert_memory_equal(&digest, &right, sizeof right);
        assert_true(stats.peak_bytes <= budget);
    }
    assert_true(stats.spilled_bytes > ROWS * sizeof *keys / 2);
}

/* Short ones, which lie in chunks, and long ones, which go to memory or file by themselves. */
static void strings_of_all_lengths_come_back_from_the_file(void **state)
{
    (void)state;
    enum { STRINGS = 20000, LONGEST = 5000 };
    static char text[STRINGS / 2 + LONGEST];
    static agb_bytes strings[STRINGS];
    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)('a' + i % 7 * i % 23);
    for (size_t i = 0; i < STRINGS; i++)
        strings[i] = (agb_bytes){(unsigned char *)text + i % (STRINGS / 2), i % 10 == 0 ? LONGEST - i % 100 : i % 90};
    agb_digest right, digest;
    agb_stats stats;
    assert_ok(count_strings("sort", 0, strings, STRINGS, &right, &stats, err));
    assert_ok(count_strings("spill", 0, strings, STRINGS, &digest, &stats, err));
    assert_memory_equal(&digest, &right, sizeof right);
    assert_int_equal(stats.spilled_bytes, 0);
    assert_ok(count_strings("spill", 3 << 20, strings, STRINGS, &digest, &stats, err));
    assert_memory_equal(&digest, &right, sizeof right);
    assert_true(stats.peak_bytes <= 3 << 20);
    assert_true(stats.spilled_bytes > STRINGS / 10 * (LONGEST - 100) / 2);
}

static void the_refusal_names_the_least_budget_that_is_enough(void **state)
{
    (void)state;
    agb_digest right, digest;
    agb_stats stats;
    agb_error refused;
    uint64_t least_k;
    assert_int_equal(count("spill", 100000, NULL, &digest, &stats, &refused), AGB_ERR_BUDGET);
    const char *advice = strstr(refused.text, ": raise it to ");
    assert_non_null(advice);
    assert_int_equal(sscanf(advice, ": raise it to %" SCNu64 "k at least", &least_k), 1);
    assert_ok(count("sort", 0, NULL, &right, &stats, err));
    assert_ok(count("spill", least_k << 10, NULL, &digest, &stats, err));
    assert_memory_equal(&digest, &right, sizeof right);
    assert_fails(AGB_ERR_BUDGET, "spill: memory budget exceeded|: raise it to 1801k at least",
                 count("spill", (least_k << 10) - 1024, NULL, &digest, &stats, err));
}

/* The slab for strings must not be what the chunks leave: they take as much of the budget as comes in whole slabs. */
static void what_is_enough_for_strings_stays_so_with_more(void **state)
{
    (void)state;
    enum { STRINGS = 60000, CELLS = 8 };
    static char text[STRINGS][CELLS];
    static agb_bytes strings[STRINGS];
    agb_digest right, digest;
    agb_stats stats;
    for (size_t i = 0; i < STRINGS; i++)
        strings[i] = (agb_bytes){(unsigned char *)text[i], (size_t)snprintf(text[i], CELLS, "s%zu", i)};
    assert_ok(count_strings("sort", 0, strings, STRINGS, &right, &stats, err));
    assert_fails(AGB_ERR_BUDGET, ": raise it to 2061k at least",
                 count_strings("spill", 2060 << 10, strings, STRINGS, &digest, &stats, err));
    for (uint64_t budget_k = 2061; budget_k < 8500; budget_k += budget_k / 20) {
        assert_ok(count_strings("spill", budget_k << 10, strings, STRINGS, &digest, &stats, err));
        assert_memory_equal(&digest, &right, sizeof right);
        assert_true(stats.peak_bytes <= budget_k << 10);
    }
}

static void a_folder_that_cannot_be_written_is_named(void **state)
{
    (void)state;
    agb_digest digest;
    agb_stats stats;
    assert_fails(AGB_ERR_IO, "/no/such/folder|temporary file",
                 count("spill", 2 << 20, "/no/such/folder", &digest, &stats, err));
}

static void a_full_disk_is_a_sentence(void **state)
{
    (void)state;
    agb_digest digest;
    agb_stats stats;
    struct rlimit before, small;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 1 << 20;    /* as a full disk: no more than this can be written */
    void (*handler)(int) = signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    agb_error err;
    agb_status status = count("spill", 2 << 20, NULL, &digest, &stats, &err);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, handler);
    assert_int_equal(status, AGB_ERR_IO);
    assert_non_null(strstr(err.text, "spill: spill: /var/tmp: cannot write"));
}

static void nothing_is_left_in_the_folder(void **state)
{
    (void)state;
    char folder[] = "/tmp/aggbench-spill-test-XXXXXX";
    agb_digest digest;
    agb_stats stats;
    assert_non_null(mkdtemp(folder));
    assert_ok(count("spill", 2 << 20, folder, &digest, &stats, err));
    assert_true(stats.spilled_bytes > 0);
    assert_int_equal(rmdir(folder), 0);    /* fails when the folder is not empty */
}

static void changed_blocks_are_noticed(void **state)
{
    (void)state;
    agb_spill_file *file;
    uint64_t first, second;
    char back[16];
    assert_ok(agb_spill_file_create(&file, "/tmp", err));
    assert_int_equal(agb_spill_file_write(file, "fifteen letters", 16, &first), AGB_OK);
    assert_int_equal(agb_spill_file_write(file, "another block..", 16, &second), AGB_OK);
    assert_int_equal(agb_spill_file_read(file, first, back, 16), AGB_OK);
    assert_string_equal(back, "fifteen letters");
    assert_int_equal(agb_spill_file_read(file, first, back, 8), AGB_ERR_IO);
    assert_int_equal(agb_spill_file_read(file, first + 1, back, 16), AGB_ERR_IO);
    assert_int_equal(agb_spill_file_read(file, second + 1000, back, 16), AGB_ERR_IO);
    assert_non_null(agb_spill_file_failure(file));
    assert_int_equal(agb_spill_file_bytes(file), 32);
    agb_spill_file_destroy(file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_sufficient_budget_gives_the_right_answer),
        cmocka_unit_test(strings_of_all_lengths_come_back_from_the_file),
        cmocka_unit_test(the_refusal_names_the_least_budget_that_is_enough),
        cmocka_unit_test(what_is_enough_for_strings_stays_so_with_more),
        cmocka_unit_test(a_folder_that_cannot_be_written_is_named),
        cmocka_unit_test(a_full_disk_is_a_sentence),
        cmocka_unit_test(nothing_is_left_in_the_folder),
        cmocka_unit_test(changed_blocks_are_noticed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
