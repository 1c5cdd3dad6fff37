/* SPDX-License-Identifier: MIT */
/* The files that a SOURCE means: one file, all files of a folder, or those that match a glob, in natural order
 * (hits_2 before hits_10), so that partitions follow one another as they were cut. */
#include "internal.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int compare_naturally(const char *a, const char *b)
{
    while (*a && *b) {
        if (isdigit((unsigned char)*a) && isdigit((unsigned char)*b)) {
            a += strspn(a, "0");
            b += strspn(b, "0");
            size_t digits_a = strspn(a, "0123456789"), digits_b = strspn(b, "0123456789");
            if (digits_a != digits_b)
                return digits_a < digits_b ? -1 : 1;
            int order = strncmp(a, b, digits_a);
            if (order)
                return order;
            a += digits_a;
            b += digits_b;
        } else if (*a != *b) {
            break;
        } else {
            a++;
            b++;
        }
    }
    return (unsigned char)*a - (unsigned char)*b;
}

static int compare_paths(const void *a, const void *b)
{
    const char *left = *(char *const *)a, *right = *(char *const *)b;
    int order = compare_naturally(left, right);
    return order ? order : strcmp(left, right);
}

static agb_status add_path(agb_files *files, const char *path, agb_error *err)
{
    char **more = realloc(files->path, (files->count + 1) * sizeof *more);
    if (more)
        files->path = more;
    char *copy = more ? strdup(path) : NULL;
    if (!copy)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for the list of files", path);
    files->path[files->count++] = copy;
    return AGB_OK;
}

/* ---- What a path leads to ---- */

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

bool agb_source_is_stream(const char *source)
{
    struct stat status;
    return strcmp(source, "-") == 0 ||
           (stat(source, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

const char *agb_file_advice(int error)
{
    switch (error) {
    case ENOENT:
        return "check the name, or use synth:hits for generated rows";
    case EACCES:
    case EPERM:
        return "ask its owner for the right to read it, or name another source";
    case ELOOP:
        return "its symbolic links go round in a circle: name the file itself";
    case EMFILE:
    case ENFILE:
        return "close some files, or raise the limit (ulimit -n)";
    default:
        return "check the name and what it leads to";
    }
}

static agb_status cannot_be_found(const char *source, int error, agb_error *err)
{
    return agb_fail(err, AGB_ERR_IO, "%s: %s: %s", source, error == ENOENT ? "no such file" : strerror(error),
                    agb_file_advice(error));
}

/* One of many. Nothing is passed over in silence, and nothing is opened that may wait for ever, as a pipe does. */
static agb_status add_one_of_many(agb_files *files, const char *path, const char *source, agb_error *err)
{
    struct stat status;
    if (stat(path, &status) != 0)
        return cannot_be_found(path, errno, err);
    if (S_ISDIR(status.st_mode))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: the folder '%s' in it is not descended into: name the files by "
                        "a glob, as '%s/*' or '*.parquet'", source, path, path);
    if (!S_ISREG(status.st_mode))
        return agb_fail(err, AGB_ERR_UNSUPPORTED, "%s: '%s' in it is not a regular file: take it away, or name the "
                        "files by a glob without it", source, path);
    return add_path(files, path, err);
}

/* ---- Folders and globs ---- */

static agb_status add_folder_entries(agb_files *files, const char *folder, DIR *dir, agb_error *err)
{
    struct dirent *entry;
    while ((entry = readdir(dir))) {
        /* Hidden files and the bookkeeping of other tools (_SUCCESS, _metadata) are not data. */
        if (entry->d_name[0] == '.' || entry->d_name[0] == '_')
            continue;
        char *path;
        if (asprintf(&path, "%s%s%s", folder, folder[strlen(folder) - 1] == '/' ? "" : "/", entry->d_name) < 0)
            return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for the list of files", folder);
        agb_status status = add_one_of_many(files, path, folder, err);
        free(path);
        if (status != AGB_OK)
            return status;
    }
    return AGB_OK;
}

static agb_status add_folder(agb_files *files, const char *folder, agb_error *err)
{
    DIR *dir = opendir(folder);
    if (!dir)
        return agb_fail(err, AGB_ERR_IO, "%s: cannot list the folder: %s: %s", folder, strerror(errno),
                        agb_file_advice(errno));
    agb_status status = add_folder_entries(files, folder, dir, err);
    closedir(dir);
    if (status == AGB_OK && files->count == 0)
        return agb_fail(err, AGB_ERR_IO, "%s: the folder holds no files (names that begin with . or _ do not "
                        "count): name another one, or the files themselves", folder);
    return status;
}

/* A folder that cannot be listed could have held a match: without an answer from it there is no list. Not there, or
 * no folder, is no trouble: then there is nothing to match. */
static int stop_at_trouble(const char *path, int error)
{
    (void)path;
    return error != ENOENT && error != ENOTDIR;
}

static agb_status no_matches(int result, const char *pattern, int error, agb_error *err)
{
    if (result == GLOB_NOSPACE)
        return agb_fail(err, AGB_ERR_MEMORY, "%s: no memory for the list of files", pattern);
    if (result == GLOB_ABORTED)
        return agb_fail(err, AGB_ERR_IO, "%s: a folder of this pattern cannot be listed: %s: %s", pattern,
                        strerror(error), agb_file_advice(error));
    return agb_fail(err, AGB_ERR_IO, "%s: no file matches this pattern: check it with ls, and put quotes around it if "
                    "the shell should leave it alone", pattern);
}

static agb_status add_matches(agb_files *files, const char *pattern, agb_error *err)
{
    glob_t matches = {0};
    errno = 0;
    int result = glob(pattern, 0, stop_at_trouble, &matches);
    agb_status status = result == 0 ? AGB_OK : no_matches(result, pattern, errno, err);
    for (size_t i = 0; status == AGB_OK && i < matches.gl_pathc; i++)
        status = add_one_of_many(files, matches.gl_pathv[i], pattern, err);
    globfree(&matches);
    return status;
}

agb_status agb_files_find(agb_files *files, const char *source, agb_error *err)
{
    struct stat found;
    agb_status status;
    *files = (agb_files){0};
    if (*source == '\0') {
        status = agb_fail(err, AGB_ERR_ARGUMENT, "source: the name is empty: give a file, a folder or a glob");
    } else if (strcmp(source, "-") == 0 || stat(source, &found) == 0) {
        files->is_named = !is_folder(source);
        status = files->is_named ? add_path(files, source, err) : add_folder(files, source, err);
    } else {
        int error = errno;
        status = strpbrk(source, "*?[") ? add_matches(files, source, err) : cannot_be_found(source, error, err);
    }
    if (status != AGB_OK)
        agb_files_release(files);
    else
        qsort(files->path, files->count, sizeof *files->path, compare_paths);
    return status;
}

void agb_files_release(agb_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->path[i]);
    free(files->path);
    *files = (agb_files){0};
}
