/* SPDX-License-Identifier: MIT */
/* What is saved as .agb is loaded again, of every type and from every sample; and an unfinished file never stands
 * under the right name. */
#include "agb_fixture.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

static const char *const codecs[] = {"auto", "zstd", "none"};

/* ---- Round trips ---- */

static void round_trip(const fixture *f, uint64_t rows, size_t n, agb_pool *pool)
{
    agb_table *saved = fixture_table(rows, n);
    for (size_t i = 0; i < 3; i++) {
        agb_table *loaded;
        agb_save_options save = {.codec = codecs[i], .pool = pool};
        agb_load_options load = {.pool = pool};
        assert_ok(agb_table_save(saved, f->registry, f->path, fixture_names, n, &save, err));
        assert_ok(agb_table_load(&loaded, f->registry, f->path, fixture_names, n, &load, err));
        assert_string_equal(agb_table_format(loaded), "agb");
        assert_same(saved, loaded, fixture_names, n);
        agb_table_destroy(loaded);
    }
    assert_int_equal(fixture_files(f), 1);
    agb_table_destroy(saved);
}

static void every_type_comes_back(void **state)
{
    round_trip(*state, 1000, FIXTURE_COLUMNS, NULL);
}

static void several_chunks_come_back(void **state)
{
    round_trip(*state, 300001, FIXTURE_COLUMNS, NULL);
    round_trip(*state, 2 << 17, 7, NULL);
}

static void one_row_comes_back(void **state)
{
    round_trip(*state, 1, FIXTURE_COLUMNS, NULL);
}

static void no_rows_come_back(void **state)
{
    round_trip(*state, 0, FIXTURE_COLUMNS, NULL);
}

static void three_workers_save_and_load_the_same(void **state)
{
    agb_pool *pool;
    assert_ok(agb_pool_create(&pool, 3, NULL, err));
    round_trip(*state, 300001, FIXTURE_COLUMNS, pool);
    agb_pool_destroy(pool);
}

static void long_strings_come_back(void **state)
{
    enum { LONG = 5000000 };
    fixture *f = *state;
    const char *name = "bytes";
    unsigned char *text = malloc(LONG);
    for (size_t i = 0; i < LONG; i++)
        text[i] = (unsigned char)(i * i >> 7);
    const agb_bytes values[] = {{text, LONG}, {NULL, 0}, {text + 1, LONG - 1}, {text, 1}, {text, 2 << 20}, {text, 0}};
    agb_table *saved = fixture_strings(values, 6), *loaded;
    for (size_t i = 0; i < 3; i++) {
        fixture_save(f, saved, &name, 1, codecs[i]);
        assert_ok(fixture_load(f, &loaded, &name, 1, err));
        assert_same(saved, loaded, &name, 1);
        agb_table_destroy(loaded);
    }
    agb_table_destroy(saved);
    free(text);
}

static void a_string_beyond_the_limit_is_refused_by_its_row(void **state)
{
    fixture *f = *state;
    const char *name = "bytes";
    const agb_bytes values[] = {{NULL, 0}, {(const unsigned char *)"never read", (1u << 30) + 1}};
    agb_table *table = fixture_strings(values, 2);
    assert_fails(AGB_ERR_UNSUPPORTED, "t.agb: column bytes: row 1|1073741825 bytes|limit of 1073741824",
                 agb_table_save(table, f->registry, f->path, &name, 1, NULL, err));
    assert_int_equal(fixture_files(f), 0);
    agb_table_destroy(table);
}

static void only_wanted_columns_in_any_order(void **state)
{
    fixture *f = *state;
    const char *names[] = {"bytes with NULL", "int32"};
    agb_table *saved = fixture_table(1000, FIXTURE_COLUMNS), *loaded;
    fixture_save(f, saved, fixture_names, FIXTURE_COLUMNS, NULL);
    assert_ok(fixture_load(f, &loaded, names, 2, err));
    assert_same(saved, loaded, names, 2);
    agb_table_destroy(loaded);
    agb_table_destroy(saved);
    assert_fails(AGB_ERR_NOT_FOUND, "no column 'INT32'|'int32'",
                 fixture_load(f, &loaded, (const char *[]){"INT32"}, 1, err));
}

/* The first file's columns are mapped; the second one makes them grow. */
static void a_folder_of_files_is_one_table(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < 3; i++) {
        agb_table *saved = fixture_table(150000, FIXTURE_COLUMNS), *loaded;
        for (int part = 1; part <= 3; part++) {
            snprintf(f->path, sizeof f->path, "%s/part%d.agb", f->folder, part);
            fixture_save(f, saved, fixture_names, FIXTURE_COLUMNS, codecs[i]);
        }
        agb_load_options options = {.may_map = i % 2 == 0};
        assert_ok(agb_table_load(&loaded, f->registry, f->folder, fixture_names, FIXTURE_COLUMNS, &options, err));
        for (size_t c = 0; c < FIXTURE_COLUMNS; c++)
            assert_true(fixture_same(saved, loaded, fixture_names[c], 3));
        agb_table_destroy(loaded);
        agb_table_destroy(saved);
    }
}

static void a_load_into_huge_pages_is_the_same(void **state)
{
    fixture *f = *state;
    agb_table *saved = fixture_table(300001, 7), *loaded;
    fixture_save(f, saved, fixture_names, 7, "none");
    agb_load_options options = {.pages = AGB_PAGES_HUGE, .may_map = true};
    assert_ok(agb_table_load(&loaded, f->registry, f->path, fixture_names, 7, &options, err));
    assert_same(saved, loaded, fixture_names, 7);
    agb_table_destroy(loaded);
    agb_table_destroy(saved);
}

/* A table that is mapped from a file stays what it is when that file is written again. */
static void a_file_can_be_replaced_while_it_is_mapped(void **state)
{
    fixture *f = *state;
    agb_table *first = fixture_table(300001, 7), *other = fixture_table(5, 7), *loaded;
    fixture_save(f, first, fixture_names, 7, "none");
    assert_ok(fixture_load(f, &loaded, fixture_names, 7, err));
    fixture_save(f, other, fixture_names, 7, "none");
    fixture_save(f, loaded, fixture_names, 7, "none");
    assert_same(first, loaded, fixture_names, 7);
    agb_table_destroy(loaded);
    assert_ok(fixture_load(f, &loaded, fixture_names, 7, err));
    assert_same(first, loaded, fixture_names, 7);
    agb_table_destroy(loaded);
    agb_table_destroy(other);
    agb_table_destroy(first);
}

/* ---- A file that another program writes over while it is in use ---- */

/* With no leave to map, a table has nothing to do with its file any more. */
static void a_copied_table_outlives_its_file_s_bytes(void **state)
{
    fixture *f = *state;
    agb_table *saved = fixture_table(300001, 7), *loaded;
    fixture_save(f, saved, fixture_names, 7, "none");
    assert_ok(agb_table_load(&loaded, f->registry, f->path, fixture_names, 7, NULL, err));
    assert_int_equal(truncate(f->path, 0), 0);
    assert_same(saved, loaded, fixture_names, 7);
    agb_table_destroy(loaded);
    agb_table_destroy(saved);
}

static void cut_file(void *context, uint64_t done, uint64_t total)
{
    (void)done, (void)total;
    assert_int_equal(truncate(context, 5000), 0);
}

static void a_file_cut_while_it_is_loaded_is_an_error(void **state)
{
    fixture *f = *state;
    agb_table *saved = fixture_table(1000001, FIXTURE_COLUMNS), *loaded;
    for (size_t i = 0; i < 6; i++) {
        fixture_save(f, saved, fixture_names, FIXTURE_COLUMNS, codecs[i / 2]);
        agb_load_options options = {.may_map = i % 2 == 0, .progress = cut_file, .context = f->path};
        assert_fails(AGB_ERR_IO, "agb: |rows |became shorter while it was read|load it again",
                     agb_table_load(&loaded, f->registry, f->path, fixture_names, FIXTURE_COLUMNS, &options, err));
    }
    agb_table_destroy(saved);
}

/* ---- Samples ---- */

static void round_trip_source(const fixture *f, const char *source)
{
    agb_schema schema;
    agb_table *saved, *loaded;
    size_t n = 0;
    assert_ok(agb_source_describe(&schema, f->registry, source, err));
    const char **names = calloc(schema.columns, sizeof *names);
    for (size_t i = 0; i < schema.columns; i++)
        if (schema.column[i].type != AGB_TYPE_OTHER)
            names[n++] = schema.column[i].name;
    assert_ok(agb_table_load(&saved, f->registry, source, names, n, NULL, err));
    for (size_t i = 0; i < 3; i++) {
        fixture_save(f, saved, names, n, codecs[i]);
        assert_ok(fixture_load(f, &loaded, names, n, err));
        assert_same(saved, loaded, names, n);
        agb_table_destroy(loaded);
    }
    agb_table_destroy(saved);
    assert_int_equal(n, 105);
    free(names);
    agb_schema_release(&schema);
}

static void all_columns_of_the_samples_come_back(void **state)
{
    static const char *const samples[] = {"hits/nano_hits.parquet", "hits/hits_8k.tsv", "hits/hits_2k.csv",
                                          "hits/hits_2k.jsonl"};
    char source[1024];
    for (size_t i = 0; i < sizeof samples / sizeof samples[0]; i++) {
        snprintf(source, sizeof source, "%s/%s", test_samples(), samples[i]);
        round_trip_source(*state, source);
    }
}

/* ---- Unfinished files ---- */

static bool give_up(void *context, uint64_t done, uint64_t total)
{
    unsigned *calls = context;
    assert_true(done <= total);
    return ++*calls < 3;
}

static void a_save_that_is_stopped_leaves_nothing(void **state)
{
    fixture *f = *state;
    unsigned calls = 0;
    agb_save_options options = {.progress = give_up, .context = &calls};
    agb_table *table = fixture_table(1000, FIXTURE_COLUMNS);
    assert_fails(AGB_ERR_IO, "t.agb|stopped", agb_table_save(table, f->registry, f->path, fixture_names,
                                                              FIXTURE_COLUMNS, &options, err));
    assert_int_equal(calls, 3);
    assert_int_equal(fixture_files(f), 0);
    agb_table_destroy(table);
}

static bool die(void *context, uint64_t done, uint64_t total)
{
    (void)total;
    if (done >= *(uint64_t *)context)
        raise(SIGKILL);
    return true;
}

/* Kills a process at each step of saving `table`. */
static void kill_at_every_step(const fixture *f, const agb_table *table, void (*check)(const fixture *))
{
    for (uint64_t step = 0; step <= FIXTURE_COLUMNS; step++) {
        uint64_t at = step * agb_table_rows(table);
        agb_save_options options = {.progress = die, .context = &at};
        pid_t child = fork();
        if (child == 0) {
            agb_table_save(table, f->registry, f->path, fixture_names, FIXTURE_COLUMNS, &options, NULL);
            _exit(0);
        }
        int status;
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
        check(f);
    }
}

static void assert_no_file(const fixture *f)
{
    assert_int_not_equal(access(f->path, F_OK), 0);
}

static void assert_old_file(const fixture *f)
{
    agb_table *old = fixture_table(10, FIXTURE_COLUMNS), *loaded;
    /* The folder, too, is still that one file: what the dead left is hidden. */
    assert_ok(agb_table_load(&loaded, f->registry, f->folder, fixture_names, FIXTURE_COLUMNS, NULL, err));
    assert_same(old, loaded, fixture_names, FIXTURE_COLUMNS);
    agb_table_destroy(loaded);
    agb_table_destroy(old);
}

static void a_killed_save_leaves_nothing_under_the_name(void **state)
{
    agb_table *table = fixture_table(1000, FIXTURE_COLUMNS);
    kill_at_every_step(*state, table, assert_no_file);
    agb_table_destroy(table);
}

static void a_killed_save_leaves_the_old_file(void **state)
{
    agb_table *old = fixture_table(10, FIXTURE_COLUMNS), *table = fixture_table(1000, FIXTURE_COLUMNS);
    fixture_save(*state, old, fixture_names, FIXTURE_COLUMNS, NULL);
    kill_at_every_step(*state, table, assert_old_file);
    agb_table_destroy(table);
    agb_table_destroy(old);
}

/* A limit of the file's size stands for a full disk: both refuse the bytes that are too many. */
static void a_disk_that_is_full_is_told_and_nothing_is_left(void **state)
{
    fixture *f = *state;
    struct rlimit old, limit;
    agb_table *table = fixture_table(10000, FIXTURE_COLUMNS);
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    for (rlim_t room = 0; room < 300000; room += 40000) {
        limit = (struct rlimit){room, old.rlim_max};
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &limit), 0);
        agb_error err = {0};
        agb_status status = agb_table_save(table, f->registry, f->path, fixture_names, FIXTURE_COLUMNS, NULL, &err);
        assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
        assert_int_equal(status, AGB_ERR_IO);
        assert_non_null(strstr(err.text, "t.agb: File too large"));
        assert_int_equal(fixture_files(f), 0);
    }
    agb_table_destroy(table);
}

static agb_status save_to(const fixture *f, const char *path, const char *name, agb_error *err)
{
    agb_table *table = fixture_table(10, 1);
    agb_status status = agb_table_save(table, f->registry, path, &name, 1, NULL, err);
    agb_table_destroy(table);
    return status;
}

static void what_cannot_be_written_is_refused(void **state)
{
    fixture *f = *state;
    char path[128], link[128];
    assert_fails(AGB_ERR_ARGUMENT, "x.parquet: its ending is of no format|end it in .agb",
                 save_to(f, "/tmp/x.parquet", "int32", err));
    assert_fails(AGB_ERR_ARGUMENT, "/tmp.agb/x|no format", save_to(f, "/tmp.agb/x", "int32", err));
    assert_fails(AGB_ERR_ARGUMENT, "(empty)", save_to(f, "", "int32", err));
    assert_fails(AGB_ERR_NOT_FOUND, "no column 'other'", save_to(f, f->path, "other", err));
    snprintf(path, sizeof path, "%s/none/t.agb", f->folder);
    assert_fails(AGB_ERR_IO, "none/t.agb: No such file or directory", save_to(f, path, "int32", err));
    snprintf(path, sizeof path, "%s/folder.agb", f->folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_fails(AGB_ERR_ARGUMENT, "folder.agb: it is a folder", save_to(f, path, "int32", err));
    snprintf(path, sizeof path, "%s/pipe.agb", f->folder);
    assert_int_equal(mkfifo(path, 0666), 0);
    assert_fails(AGB_ERR_ARGUMENT, "pipe.agb: it is no regular file", save_to(f, path, "int32", err));
    snprintf(link, sizeof link, "%s/dangling.agb", f->folder);
    assert_int_equal(symlink("nothing", link), 0);
    assert_fails(AGB_ERR_ARGUMENT, "dangling.agb: it is a link to nothing", save_to(f, link, "int32", err));
    assert_int_equal(fixture_files(f), 3);
    agb_table *table = fixture_table(10, 1);
    agb_save_options options = {.codec = "lzo"};
    assert_fails(AGB_ERR_ARGUMENT, "codec 'lzo'|auto, zstd or none",
                 agb_table_save(table, f->registry, f->path, fixture_names, 1, &options, err));
    agb_table_destroy(table);
}

static void a_link_stays_and_its_target_is_replaced(void **state)
{
    fixture *f = *state;
    char link[128];
    struct stat there;
    snprintf(link, sizeof link, "%s/link.agb", f->folder);
    assert_ok(save_to(f, f->path, "int32", err));
    assert_int_equal(symlink("t.agb", link), 0);
    assert_ok(save_to(f, link, "int32", err));
    assert_int_equal(lstat(link, &there), 0);
    assert_true(S_ISLNK(there.st_mode));
    assert_int_equal(fixture_files(f), 2);
}

#define WITH_FIXTURE(test) cmocka_unit_test_setup_teardown(test, fixture_set_up, fixture_tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        WITH_FIXTURE(every_type_comes_back),
        WITH_FIXTURE(several_chunks_come_back),
        WITH_FIXTURE(one_row_comes_back),
        WITH_FIXTURE(no_rows_come_back),
        WITH_FIXTURE(three_workers_save_and_load_the_same),
        WITH_FIXTURE(long_strings_come_back),
        WITH_FIXTURE(a_string_beyond_the_limit_is_refused_by_its_row),
        WITH_FIXTURE(only_wanted_columns_in_any_order),
        WITH_FIXTURE(a_folder_of_files_is_one_table),
        WITH_FIXTURE(a_load_into_huge_pages_is_the_same),
        WITH_FIXTURE(a_file_can_be_replaced_while_it_is_mapped),
        WITH_FIXTURE(a_copied_table_outlives_its_file_s_bytes),
        WITH_FIXTURE(a_file_cut_while_it_is_loaded_is_an_error),
        WITH_FIXTURE(all_columns_of_the_samples_come_back),
        WITH_FIXTURE(a_save_that_is_stopped_leaves_nothing),
        WITH_FIXTURE(a_killed_save_leaves_nothing_under_the_name),
        WITH_FIXTURE(a_killed_save_leaves_the_old_file),
        WITH_FIXTURE(a_disk_that_is_full_is_told_and_nothing_is_left),
        WITH_FIXTURE(what_cannot_be_written_is_refused),
        WITH_FIXTURE(a_link_stays_and_its_target_is_replaced),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
