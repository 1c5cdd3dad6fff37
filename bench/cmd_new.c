/* SPDX-License-Identifier: MIT */
/* aggbench new: a strategy's file to start from, and the commands that build, check and compare it. Its text is that of
 * aggregators/template.c, which the build puts into the program. */
#include "commands.h"
#include "output.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char agb_template_text[];    /* made by the Makefile */

enum { MOST_NAME = 64 };

/* ---- The name ---------------------------------------------------------------------------------------------------- */

static bool is_identifier(const char *name)
{
    static const char letters[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz_", digits[] = "0123456789";
    char both[sizeof letters + sizeof digits];
    snprintf(both, sizeof both, "%s%s", letters, digits);
    return strchr(letters, *name) && name[strspn(name, both)] == '\0' && strlen(name) <= MOST_NAME;
}

static agb_status check_name(const char *name, agb_error *err)
{
    if (!is_identifier(name))
        return agb_fail(err, AGB_ERR_ARGUMENT, "new: %s: is no C identifier: give a letter, then letters, digits and "
                        "_, at most %d in all", name, MOST_NAME);
    if (strcmp(name, "all") == 0)
        return agb_fail(err, AGB_ERR_ARGUMENT, "new: all: means every strategy there is: choose another name");
    agb_registry *registry;
    agb_status status = agb_registry_create(&registry, err);
    if (status == AGB_OK && agb_registry_find_aggregator(registry, name))
        status = agb_fail(err, AGB_ERR_ARGUMENT, "new: %s: a built-in strategy has that name: choose another", name);
    agb_registry_destroy(registry);
    return status;
}

/* ---- The file ---------------------------------------------------------------------------------------------------- */

/* The template under another name, and no longer marked as an example that takes no part in comparisons. */
static void write_renamed(FILE *to, const char *name)
{
    static const char old_name[] = "template", mark[] = " | AGB_EXAMPLE";
    for (const char *at = agb_template_text; *at;) {
        if (strncmp(at, old_name, strlen(old_name)) == 0) {
            fputs(name, to);
            at += strlen(old_name);
        } else if (strncmp(at, mark, strlen(mark)) == 0) {
            at += strlen(mark);
        } else {
            fputc(*at++, to);
        }
    }
}

static agb_status write_file(const char *path, const char *name, agb_error *err)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    if (fd < 0 && errno == EEXIST)
        return agb_fail(err, AGB_ERR_IO, "new: %s: is there already: choose another name, or move it away", path);
    FILE *file = fd < 0 ? NULL : fdopen(fd, "w");
    if (!file)
        return agb_cannot_write(path, errno, err);
    write_renamed(file, name);
    int reason = agb_write_error(file);
    if (fclose(file) != 0 && reason == 0)
        reason = errno;
    if (reason == 0)
        return AGB_OK;
    unlink(path);
    return agb_cannot_write(path, reason, err);
}

/* ---- The commands ------------------------------------------------------------------------------------------------ */

typedef struct place {
    char program[PATH_MAX];         /* how this program can be called from here */
    char folder[PATH_MAX];          /* that it stands in */
    char here[PATH_MAX];
} place;

static bool same_file(const char *a, const char *b)
{
    struct stat left, right;
    return stat(a, &left) == 0 && stat(b, &right) == 0 && left.st_dev == right.st_dev && left.st_ino == right.st_ino;
}

/* Whether the shell would find this program by its bare name. */
static bool is_in_path(const char *program)
{
    const char *path = getenv("PATH");
    while (path && *path) {
        char candidate[PATH_MAX];
        int length = (int)strcspn(path, ":");
        snprintf(candidate, sizeof candidate, "%.*s/aggbench", length, path);
        if (access(candidate, X_OK) == 0)
            return same_file(candidate, program);
        path += length + (path[length] == ':');
    }
    return false;
}

static void find_place(place *out)
{
    char program[PATH_MAX] = "aggbench";
    ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
    program[length < 0 ? 0 : length] = '\0';
    if (!getcwd(out->here, sizeof out->here))
        *out->here = '\0';
    snprintf(out->program, sizeof out->program, "%s", is_in_path(program) ? "aggbench" : program);
    if (same_file("build/aggbench", program))
        snprintf(out->program, sizeof out->program, "build/aggbench");
    snprintf(out->folder, sizeof out->folder, "%s", dirname(program));
}

/* In single quotes where the shell would not take it as one word. */
static void print_word(const char *prefix, const char *word)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.-+,:=@%";
    bool quoted = word[strspn(word, plain)] != '\0';
    printf(" %s%s", prefix, quoted ? "'" : "");
    for (; *word; word++)
        printf(quoted && *word == '\'' ? "'\\''" : "%c", *word);
    printf("%s", quoted ? "'" : "");
}

/* PATH/../REST, if that is there, without the dots. */
static bool find_above(const place *place, const char *above, const char *header, char *out)
{
    char path[2 * PATH_MAX];
    snprintf(path, sizeof path, "%s/%s/%s", place->folder, above, header);
    if (access(path, R_OK) != 0)
        return false;
    snprintf(path, sizeof path, "%s/%s", place->folder, above);
    return realpath(path, out) != NULL;
}

/* Where the contract's header is: in the source tree that this program was built in, in the tree it was installed in,
 * or wherever pkg-config knows it. Relative in the root of the source tree. */
static void print_includes(const place *place)
{
    char root[PATH_MAX], folder[2 * PATH_MAX];
    if (find_above(place, "../..", "engine/aggregator.h", root)) {
        const char *folders[] = {"engine", "aggregators"};
        for (size_t i = 0; i < 2; i++) {
            snprintf(folder, sizeof folder, "%s/%s", root, folders[i]);
            print_word("-I", strcmp(root, place->here) == 0 ? folders[i] : folder);
        }
    } else if (find_above(place, "..", "include/aggbench/aggregator.h", root) && strcmp(root, "/usr") != 0 &&
               strcmp(root, "/usr/local") != 0) {
        snprintf(folder, sizeof folder, "%s/include/aggbench", root);
        print_word("-I", folder);
    } else {
        printf(" $(pkg-config --cflags aggbench)");
    }
}

static void print_commands(const char *name)
{
    place place;
    find_place(&place);
    printf("%s.c counts right as it is. Build it as the built-in ones are, check it, compare it:\n\n"
           "    cc %s -shared -fPIC", name, AGB_PLUGIN_FLAGS);
    print_includes(&place);
    printf(" %s.c -o %s.so\n   ", name, name);
    print_word("", place.program);
    printf(" verify --plugin ./%s.so\n   ", name);
    print_word("", place.program);
    printf(" run synth:hits,rows=10M --plugin ./%s.so --aggregator naive,radix,%s\n\n"
           "Moved into aggregators/ of the source tree it is built in by the next `make`. The guide is\n"
           "README.md there.\n",
           name, name);
}

static int new(const agb_options *options, agb_error *err)
{
    char path[MOST_NAME + sizeof ".c"];
    agb_status status = check_name(options->operand, err);
    if (status == AGB_OK) {
        snprintf(path, sizeof path, "%s.c", options->operand);
        status = write_file(path, options->operand, err);
    }
    if (status == AGB_OK)
        print_commands(options->operand);
    return agb_exit_of(status);
}

const agb_command agb_command_new = {
    .name = "new", .operand = "NAME", .needs_operand = true,
    .summary = "a strategy of your own: NAME.c to start from, and how to build it",
    .about = "Writes NAME.c, a strategy that counts right, into the current folder, and prints the commands that\n"
             "build it as a plug-in, verify it, and compare it with others. Nothing is ever written over.",
    .example = "aggbench new mine",
    .options = agb_no_options, .run = new};
