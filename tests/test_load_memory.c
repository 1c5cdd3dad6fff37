/* SPDX-License-Identifier: MIT */
/* The most memory that a load holds at once: 1.2 times the columns that it loads, and 64 MiB for all that it needs
 * meanwhile. Measured on the command itself, in a process of its own, for every format; the columns are so large that
 * to hold them twice would be too much. */
#include "test.h"

#include <fcntl.h>
#include <limits.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <zlib.h>

enum { LEAST_LOADED_BYTES = 100 << 20, ALLOWANCE_BYTES = 64 << 20 };

static char folder[64];

static int set_up(void **state)
{
    (void)state;
    strcpy(folder, "/tmp/agb_memory_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int tear_down(void **state)
{
    char command[96];
    (void)state;
    snprintf(command, sizeof command, "rm -rf '%s'", folder);
    return system(command);
}

/* Runs the command with words, its output to a file; the most it held. */
static uint64_t run(const char *const *words, const char *output)
{
    char program[512];
    snprintf(program, sizeof program, "%s/aggbench", getenv("BUILD") ? getenv("BUILD") : "build");
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        int fd = open(output, O_WRONLY | O_CREAT | O_TRUNC, 0600);
        dup2(fd, STDOUT_FILENO);
        execv(program, (char *const *)words);
        _exit(127);
    }
    int status;
    struct rusage used;
    assert_int_equal(wait4(child, &status, 0, &used), child);
    assert_int_equal(status, 0);
    return (uint64_t)used.ru_maxrss * 1024;
}

static void check(const char *source, const char *columns)
{
    char output[96], text[4096] = "";
    const char *words[] = {"aggbench", "load", source, "--dry-run", "--threads", "2", "--format", "json", "--quiet",
                           columns ? "--columns" : NULL, columns, NULL};
    snprintf(output, sizeof output, "%s/out", folder);
    uint64_t held = run(words, output);
    FILE *file = fopen(output, "r");
    size_t n = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[n] = '\0';
    const char *bytes = strstr(text, "\"bytes\": ");
    assert_non_null(bytes);
    uint64_t loaded = strtoull(bytes + 9, NULL, 10);
    if (loaded < LEAST_LOADED_BYTES || held > loaded + loaded / 5 + ALLOWANCE_BYTES)
        fail_msg("%s: %llu MiB loaded, %llu MiB held", source, (unsigned long long)loaded >> 20,
                 (unsigned long long)held >> 20);
}

/* A text of `times` times a sample, packed when the name ends in .gz. */
static void repeat_sample(const char *sample, size_t times, const char *to)
{
    char path[512];
    snprintf(path, sizeof path, "%s/%s", test_samples(), sample);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    char *bytes = malloc(8 << 20);
    size_t n = fread(bytes, 1, 8 << 20, file);
    fclose(file);
    bool packed = strstr(to, ".gz") != NULL;
    gzFile out = gzopen(to, packed ? "wb1" : "wbT");
    for (size_t i = 0; i < times; i++)
        assert_int_equal(gzwrite(out, bytes, (unsigned)n), (int)n);
    gzclose(out);
    free(bytes);
}

static void check_text(const char *sample, size_t times, const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    repeat_sample(sample, times, path);
    check(path, NULL);
    unlink(path);
}

static void text_is_held_once(void **state)
{
    (void)state;
    check_text("hits/hits_8k.tsv", 12, "hits.tsv");
    check_text("hits/hits_8k.tsv", 12, "hits.tsv.gz");
    check_text("hits/hits_2k.csv", 44, "hits.csv");
    check_text("hits/hits_2k.jsonl", 44, "hits.jsonl");
}

/* Many columns, and one. */
static void column_files_are_held_once(void **state)
{
    (void)state;
    char tsv[96], agb[96], parquet[96];
    snprintf(tsv, sizeof tsv, "%s/hits.tsv", folder);
    repeat_sample("hits/hits_8k.tsv", 12, tsv);
    for (int i = 0; i < 2; i++) {
        snprintf(agb, sizeof agb, "%s/hits%d.agb", folder, i);
        run((const char *[]){"aggbench", "load", tsv, "--codec", i ? "zstd" : "none", "--output", agb, "--quiet", NULL},
            "/dev/null");
        check(agb, NULL);
        unlink(agb);
    }
    check("synth:hits,rows=16M", "UserID");
    snprintf(parquet, sizeof parquet, "%s/hits", folder);
    mkdir(parquet, 0700);
    for (int i = 0; i < 5; i++) {
        char from[512], to[PATH_MAX];
        snprintf(from, sizeof from, "%s/hits/nano_hits.parquet", test_samples());
        assert_non_null(realpath(from, to));
        snprintf(from, sizeof from, "%s/hits_%d.parquet", parquet, i);
        assert_int_equal(symlink(to, from), 0);
    }
    check(parquet, NULL);
}

/* What a load of all would hold is more than the allowance. */
static void check_head(const char *source, const char *columns)
{
    uint64_t held = run((const char *[]){"aggbench", "load", source, "--dry-run", "--threads", "2", "--head", "1000",
                                         "--quiet", columns ? "--columns" : NULL, columns, NULL}, "/dev/null");
    if (held > ALLOWANCE_BYTES)
        fail_msg("%s: %llu MiB held for 1000 rows", source, (unsigned long long)held >> 20);
}

static void of_a_head_nothing_else_is_held(void **state)
{
    (void)state;
    static const char *const names[] = {"none.agb", "zstd.agb", "hits.raw"};
    char path[128];
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        snprintf(path, sizeof path, "%s/%s", folder, names[i]);
        run((const char *[]){"aggbench", "load", "synth:hits,rows=16M", "--columns", "UserID", "--output", path,
                             "--quiet", i < 2 ? "--codec" : NULL, i ? "zstd" : "none", NULL}, "/dev/null");
        check_head(path, "UserID");
        unlink(path);
    }
    check_head("synth:hits,rows=1e11", "UserID");
    snprintf(path, sizeof path, "%s/hits", folder);
    check_head(path, NULL);    /* the Parquet files of the test before */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_held_once),
        cmocka_unit_test(column_files_are_held_once),
        cmocka_unit_test(of_a_head_nothing_else_is_held),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
