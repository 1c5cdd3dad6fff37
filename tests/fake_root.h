/* SPDX-License-Identifier: MIT */
/* A small /proc and /sys of the test's own, in a temporary folder. */
#ifndef AGB_FAKE_ROOT_H
#define AGB_FAKE_ROOT_H

#include "test.h"

#include <dirent.h>
#include <limits.h>
#include <sys/stat.h>

typedef struct fake_root {
    char path[64];
} fake_root;

static inline fake_root fake_root_create(void)
{
    fake_root root = {"/tmp/agb_root_XXXXXX"};
    assert_non_null(mkdtemp(root.path));
    return root;
}

/* Makes the folders on the way. */
static inline void fake_root_write(const fake_root *root, const char *path, const char *text)
{
    char full[PATH_MAX];
    snprintf(full, sizeof full, "%s%s", root->path, path);
    for (char *slash = full + strlen(root->path) + 1; (slash = strchr(slash, '/')); slash++) {
        *slash = '\0';
        mkdir(full, 0700);
        *slash = '/';
    }
    FILE *file = fopen(full, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static inline void fake_root_remove_below(const char *path)
{
    DIR *folder = opendir(path);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        char below[PATH_MAX];
        snprintf(below, sizeof below, "%s/%s", path, entry->d_name);
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (entry->d_type == DT_DIR)
            fake_root_remove_below(below);
        unlink(below);
    }
    if (folder)
        closedir(folder);
    rmdir(path);
}

static inline void fake_root_destroy(const fake_root *root)
{
    fake_root_remove_below(root->path);
}

#endif
