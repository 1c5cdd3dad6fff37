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

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

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
        agb_status status = is_folder(path) ? AGB_OK : add_path(files, path, err);
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
        return agb_fail(err, AGB_ERR_IO, "%s: cannot list the folder: %s", folder, strerror(errno));
    agb_status status = add_folder_entries(files, folder, dir, err);
    closedir(dir);
    if (status == AGB_OK && files->count == 0)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "%s: the folder holds no files", folder);
    return status;
}

static agb_status add_matches(agb_files *files, const char *pattern, agb_error *err)
{
    glob_t matches = {0};
    agb_status status = AGB_OK;
    if (glob(pattern, 0, NULL, &matches) != 0)
        status = agb_fail(err, AGB_ERR_NOT_FOUND, "%s: no file matches this pattern", pattern);
    for (size_t i = 0; status == AGB_OK && i < matches.gl_pathc; i++)
        if (!is_folder(matches.gl_pathv[i]))
            status = add_path(files, matches.gl_pathv[i], err);
    globfree(&matches);
    if (status == AGB_OK && files->count == 0)
        return agb_fail(err, AGB_ERR_NOT_FOUND, "%s: only folders match this pattern", pattern);
    return status;
}

agb_status agb_files_find(agb_files *files, const char *source, agb_error *err)
{
    struct stat found;
    agb_status status;
    *files = (agb_files){0};
    if (*source == '\0')
        status = agb_fail(err, AGB_ERR_ARGUMENT, "source: the name is empty: give a file, a folder or a glob");
    else if (strcmp(source, "-") == 0 || stat(source, &found) == 0)
        status = is_folder(source) ? add_folder(files, source, err) : add_path(files, source, err);
    else if (strpbrk(source, "*?["))
        status = add_matches(files, source, err);
    else
        status = agb_fail(err, errno == ENOENT ? AGB_ERR_NOT_FOUND : AGB_ERR_IO, "%s: %s", source,
                          errno == ENOENT ? "no such file: check the name, or use synth:hits for generated rows"
                                          : strerror(errno));
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
