/* SPDX-License-Identifier: MIT */
/* Strategies under valgrind: models of caches, determinism, reasons, and the instructions of every built-in aggregator
 * held to tests/instructions.baseline. `make baseline` writes that file anew: do it when a change of the figures is
 * meant, and say why in the commit. */
#include "machine.h"
#include "simulate.h"
#include "test.h"
#include "tool.h"

#include <inttypes.h>
#include <math.h>

static const char baseline_file[] = "tests/instructions.baseline";
static const char source[] = "synth:hits,rows=100000";
static const double tolerance = 0.01;
enum { MOST = 64 };

static char program[4096];
static agb_registry *registry;
static agb_table *table;

static int set_up(void **state)
{
    (void)state;
    const char *build = getenv("BUILD"), *columns[] = {"UserID"};
    snprintf(program, sizeof program, "%s/aggbench", build ? build : "build");
    return agb_registry_create(&registry, NULL) || agb_table_load(&table, registry, source, columns, 1, NULL, NULL);
}

static int tear_down(void **state)
{
    (void)state;
    agb_table_destroy(table);
    agb_registry_destroy(registry);
    return 0;
}

static void skip_where_it_cannot_be(void)
{
    agb_machine machine;
    char reason[320];
    agb_machine_read(&machine);
    agb_simulate_reason(machine.flags, reason, sizeof reason);
    if (!reason[0])
        return;
    printf("skipped: no simulation: %s\n", reason);
    skip();
}

/* Caches of no machine in particular: strategies that look at them do the same everywhere. */
static agb_simulated_run run_of(uint64_t most_rows)
{
    return (agb_simulated_run){.program = program, .query = {.table = table, .group_by = "UserID"}, .hash = "fold",
                               .batch_rows = 65536, .most_rows = most_rows, .timeout_s = 600,
                               .caches = {.l1d = 32 << 10, .l2 = 1 << 20, .l3 = 32 << 20, .line = 64}};
}

static void sizes_become_ones_that_valgrind_can_simulate(void **state)
{
    (void)state;
    static const struct { uint64_t bytes, ways, sets; } cases[] = {
        {32 << 10, 8, 64}, {48 << 10, 12, 64}, {64 << 10, 8, 128}, {32 << 20, 8, 65536}, {30 << 20, 15, 32768},
        {36608 << 10, 8, 65536}, {192 << 20, 12, 262144}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        agb_model model = agb_model_of(cases[i].bytes, 0, 64);
        assert_int_equal(model.ways, cases[i].ways);
        assert_int_equal(model.bytes, cases[i].ways * cases[i].sets * 64);
        assert_true(model.bytes <= cases[i].bytes && model.bytes * 9 >= cases[i].bytes * 8);
    }
}

static void the_same_simulation_gives_the_same_counts(void **state)
{
    (void)state;
    skip_where_it_cannot_be();
    agb_simulated_run run = run_of(4096);
    agb_simulation first = {0}, second = {0};
    agb_simulated entries[] = {{"radix", "bits=4", &first}, {"radix", "bits=4", &second}};
    assert_ok(agb_simulate(&run, registry, entries, 2, err));
    assert_string_equal(first.reason, "");
    assert_true(first.has && second.has);
    assert_int_equal(first.rows, 4096);
    assert_int_equal(first.instructions, second.instructions);
    assert_int_equal(first.mispredictions, second.mispredictions);
    assert_int_equal(first.l1_misses, second.l1_misses);
    assert_int_equal(first.last_misses, second.last_misses);
    assert_true(first.instructions > 4096 && first.l1_misses >= first.last_misses && first.last_misses > 0);
}

static void only_the_counted_region_is_simulated(void **state)
{
    (void)state;
    skip_where_it_cannot_be();
    agb_simulation few = {0}, many = {0};
    agb_simulated entry = {"naive", "", &few};
    agb_simulated_run run = run_of(1024);
    assert_ok(agb_simulate(&run, registry, &entry, 1, err));
    run = run_of(16384);
    entry.out = &many;
    assert_ok(agb_simulate(&run, registry, &entry, 1, err));
    assert_true(few.has && many.has);
    assert_true(few.instructions < 1024 * 200);    /* the program's start alone takes millions */
    assert_true(many.instructions > 8 * few.instructions);
}

static void strings_several_columns_and_filters_are_simulated_too(void **state)
{
    (void)state;
    const char *columns[] = {"SearchPhrase", "UserID"};
    char path[] = "/tmp/agb_rows_XXXXXX.jsonl";
    agb_table *wide;
    agb_filter *filter;
    agb_simulation all = {0}, some = {0};
    agb_simulated entry = {"naive", "", &all};
    agb_simulated_run run = run_of(100000);
    skip_where_it_cannot_be();
    int file = mkstemps(path, 6);
    for (int row = 0; row < 3000; row++)
        dprintf(file, "{\"UserID\":%d,\"SearchPhrase\":\"phrase %d\"}\n", row % 7, row % 100);
    close(file);
    assert_ok(agb_table_load(&wide, registry, path, columns, 2, NULL, err));
    unlink(path);
    run.query = (agb_job_query){.table = wide, .group_by = "SearchPhrase,UserID"};
    assert_ok(agb_simulate(&run, registry, &entry, 1, err));
    assert_string_equal(all.reason, "");
    assert_int_equal(all.groups, 700);
    assert_ok(agb_filter_parse(&filter, "UserID > 5 AND SearchPhrase <> 'phrase 9'", err));
    run.query.where = "UserID > 5 AND SearchPhrase <> 'phrase 9'";
    run.query.filter = filter;
    entry.out = &some;
    assert_ok(agb_simulate(&run, registry, &entry, 1, err));
    assert_string_equal(some.reason, "");
    assert_int_equal(some.groups, 99);
    assert_int_equal(some.rows, 3000);
    agb_filter_destroy(filter);
    agb_table_destroy(wide);
}

static void what_cannot_be_simulated_says_why(void **state)
{
    (void)state;
    skip_where_it_cannot_be();
    agb_simulation unknown = {0}, wrong = {0};
    agb_simulated_run run = run_of(1024);
    agb_simulated entry = {"nosuch", "", &unknown};
    assert_ok(agb_simulate(&run, registry, &entry, 1, err));
    assert_false(unknown.has);
    assert_non_null(strstr(unknown.reason, "aggregator"));
    run.program = "/nonexistent/aggbench";
    entry = (agb_simulated){"naive", "", &wrong};
    assert_ok(agb_simulate(&run, registry, &entry, 1, err));
    assert_false(wrong.has);
    assert_non_null(strstr(wrong.reason, "under valgrind it ended with exit status"));
}

static void machines_without_valgrind_are_told_how_to_get_it(void **state)
{
    (void)state;
    char reason[320], *path = strdup(getenv("PATH"));
    agb_simulate_reason("-O2 -fsanitize=address", reason, sizeof reason);
    assert_true(strstr(reason, "sanitizers") || strstr(reason, "apt-get install valgrind"));
    setenv("PATH", "/nonexistent", 1);
    agb_simulate_reason("-O2", reason, sizeof reason);
    setenv("PATH", path, 1);
    free(path);
    assert_non_null(strstr(reason, "apt-get install valgrind"));
    assert_false(agb_tool_exists("no-such-program-anywhere"));
}

/* ---- The baseline ------------------------------------------------------------------------------------------------ */

typedef struct figures {
    agb_simulated entries[MOST];
    agb_simulation counts[MOST];
    size_t n;
    char build[300];    /* what the figures depend on */
} figures;

static void simulate_all(figures *out)
{
    agb_machine machine;
    const agb_aggregator *aggregator;
    agb_simulated_run run = run_of(UINT64_MAX);
    memset(out, 0, sizeof *out);
    agb_machine_read(&machine);
    snprintf(out->build, sizeof out->build, "%s %s", machine.compiler, machine.flags);
    for (size_t i = 0; out->n < MOST && (aggregator = agb_registry_aggregator_at(registry, i)); i++) {
        if (aggregator->traits & AGB_TAKES_WORDS) {
            out->entries[out->n] = (agb_simulated){aggregator->name, "", &out->counts[out->n]};
            out->n++;
        }
    }
    assert_ok(agb_simulate(&run, registry, out->entries, out->n, err));
}

static double per_row(const figures *figures, size_t i)
{
    return (double)figures->counts[i].instructions / (double)figures->counts[i].rows;
}

static void write_baseline(const figures *figures)
{
    FILE *file = fopen(baseline_file, "w");
    assert_non_null(file);
    fprintf(file, "# Instructions a row of %s, by valgrind. Made by `make baseline`.\n# build: %s\n", source,
            figures->build);
    for (size_t i = 0; i < figures->n; i++)
        fprintf(file, "%s %.3f\n", figures->entries[i].aggregator, per_row(figures, i));
    fclose(file);
    printf("wrote %s\n", baseline_file);
}

/* Of the aggregator's line; NAN when it has none. */
static double baseline_of(const char *text, const char *name)
{
    char line[128];
    snprintf(line, sizeof line, "\n%s ", name);
    const char *found = strstr(text, line);
    return found ? strtod(found + strlen(line), NULL) : NAN;
}

static void read_baseline(char *text, size_t size)
{
    FILE *file = fopen(baseline_file, "r");
    assert_non_null(file);
    text[fread(text, 1, size - 1, file)] = '\0';
    fclose(file);
}

static void every_aggregator_keeps_its_instructions_a_row(void **state)
{
    (void)state;
    static figures now;
    char text[8192], build[400];
    agb_machine machine;
    bool good = true;
    skip_where_it_cannot_be();
    agb_machine_read(&machine);
    snprintf(build, sizeof build, "\n# build: %s %s\n", machine.compiler, machine.flags);
    if (!getenv("AGB_RENEW_BASELINE")) {
        read_baseline(text, sizeof text);
        if (!strstr(text, build)) {
            printf("skipped: the baseline of instructions is of another compiler or other flags than %s %s\n",
                   machine.compiler, machine.flags);
            skip();
        }
    }
    simulate_all(&now);
    if (getenv("AGB_RENEW_BASELINE")) {
        write_baseline(&now);
        return;
    }
    for (size_t i = 0; i < now.n; i++) {
        const char *name = now.entries[i].aggregator;
        double was = baseline_of(text, name), is = per_row(&now, i);
        if (now.counts[i].has && isnan(was))    /* adding a strategy is adding one file: no other edit is asked for */
            printf("skipped: %s has no line in the baseline yet: make baseline\n", name);
        if (now.counts[i].has && (isnan(was) || fabs(is - was) <= tolerance * was))
            continue;
        good = false;
        print_error("%s: %.3f instructions a row, the baseline says %.3f%s%s: if that is meant: make baseline\n", name,
                    is, was, now.counts[i].reason[0] ? ": " : "", now.counts[i].reason);
    }
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sizes_become_ones_that_valgrind_can_simulate),
        cmocka_unit_test(the_same_simulation_gives_the_same_counts),
        cmocka_unit_test(only_the_counted_region_is_simulated),
        cmocka_unit_test(strings_several_columns_and_filters_are_simulated_too),
        cmocka_unit_test(what_cannot_be_simulated_says_why),
        cmocka_unit_test(machines_without_valgrind_are_told_how_to_get_it),
        cmocka_unit_test(every_aggregator_keeps_its_instructions_a_row),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
